"""What pages ask of a worker: discovery, registering, bytes, relocating, resetting, removing; done by the worker's own code on real folders."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from stores.mirror.importing import import_store
from stores.mirror.registering import add_store
from stores.models import AuditEvent, Decision, Store, Task, Worker
from stores.tasks import claiming, doing
from tests.factories import make_store, make_user, make_worker
from tests.memory_folders import decision, make_project
from tests.views.parsing import assert_harmless, elements, text

pytestmark = pytest.mark.django_db(transaction=True)


def operator() -> Client:
    client = Client()
    client.force_login(make_user(groups=["operator"]))
    return client


def work(worker: Worker) -> list[Task]:
    """Let the worker do everything that waits for it."""
    done = []
    while (task := claiming.claim_due(worker, timezone.now())) is not None:
        doing.do(task)
        done.append(Task.objects.get(pk=task.pk))
    return done


def make_real_store(folder: Path, worker: Worker, name: str = "shop-api") -> Store:
    store = add_store(make_project(folder, name), worker=worker)
    import_store(store)
    store.refresh_from_db()
    return store


def test_looking_and_adding_lead_from_the_first_run_to_a_store_with_its_records(tmp_path: Path, settings: object) -> None:
    make_project(tmp_path)
    settings.STORE_ROOTS = (tmp_path,)  # type: ignore[attr-defined]
    worker, client = make_worker(), operator()
    assert client.post("/stores/add/look/", {"worker": worker.pk}).headers["Location"] == "/stores/add/"
    assert "Looking for stores: waits for worker build-01" in text(client.get("/stores/add/"))
    work(worker)
    path = str(tmp_path / "shop-api" / ".claude" / "memory")
    assert path in text(client.get("/stores/add/"))
    client.post("/stores/add/found/", {"worker": worker.pk, "path": [path]})
    assert f"Adding a store {path}: waits" in text(client.get("/stores/add/"))
    work(worker)
    assert "Added shop-api, records: 3 came" in text(client.get("/stores/add/"))
    assert Decision.objects.filter(store__slug="shop-api").count() == 3
    assert "3 decisions" in text(client.get("/"))
    assert AuditEvent.objects.filter(event="store_added", through="page").count() == 1


def test_only_what_was_found_can_be_ticked(tmp_path: Path) -> None:
    worker, client = make_worker(), operator()
    response = client.post("/stores/add/found/", {"worker": worker.pk, "path": ["/etc"]}, follow=True)
    assert "/etc is not one of the available choices" in text(response)
    assert "Tick at least one store" in text(client.post("/stores/add/found/", {"worker": worker.pk}, follow=True))
    assert client.post("/stores/add/found/", {"worker": "x"}).status_code == 302
    assert not Task.objects.exists()


def test_a_folder_that_is_no_store_fails_with_the_reason_on_the_page(tmp_path: Path) -> None:
    worker, client = make_worker(), operator()
    (tmp_path / "empty").mkdir()
    client.post("/stores/add/path/", {"worker": worker.pk, "path": str(tmp_path / "empty")})
    work(worker)
    told = text(client.get("/stores/add/"))
    assert "failed: " in told
    assert "holds no store that is recognised" in told


def test_a_relative_path_is_refused_in_the_form() -> None:
    response = operator().post("/stores/add/path/", {"worker": make_worker().pk, "path": "agents/shop"})
    assert response.status_code == 422
    assert "Give the whole path" in text(response)
    assert not Task.objects.exists()


def test_bytes_are_read_from_the_disk_with_secrets_masked_at_every_edge(tmp_path: Path) -> None:
    worker, client = make_worker(), operator()
    memory = make_project(tmp_path, decisions=0)
    line = decision("staging db is postgres://app:hunter2hunter2@10.2.0.7/x")
    (memory / "decisions.jsonl").write_bytes(line * 3)
    store = add_store(memory, worker=worker)
    import_store(store)
    place = line.index(b"hunter2") + 4
    response = client.post(f"/stores/{store.slug}/raw/read/", {"file": "decisions.jsonl", "offset": place, "length": 40})
    task_page = response.headers["Location"]
    assert "Reading bytes: waits for worker" in text(client.get(task_page))
    work(worker)
    shown = client.get(task_page)
    assert f"bytes {place:,} to {place + 39:,}" in text(shown)
    assert "masked, 14 characters" in text(shown)
    assert "@10.2.0.7/x" in text(shown)
    assert "er2" not in text(shown).partition("bytes ")[2]
    as_hex = text(client.get(f"{task_page}&as=hex"))
    assert "·· ·· ··" in as_hex
    assert f"{ord('@'):02x}" in as_hex
    assert_harmless(shown)


def test_bytes_of_a_file_that_is_no_file_of_the_store_cannot_be_asked_for(tmp_path: Path) -> None:
    store = make_real_store(tmp_path, make_worker())
    client = operator()
    for path in ("../../../../etc/passwd", "/etc/passwd", ""):
        assert client.post(f"/stores/{store.slug}/raw/read/", {"file": path}).status_code == 422
    assert client.post(f"/stores/{store.slug}/raw/read/", {"file": "decisions.jsonl", "length": 10**9}).status_code == 422
    assert not Task.objects.filter(kind="read_bytes").exists()


def test_a_line_comes_from_the_mirror_also_when_the_disk_is_gone(tmp_path: Path) -> None:
    store = make_real_store(tmp_path, make_worker())
    shutil.rmtree(tmp_path / "shop-api")
    client = operator()
    page = f"/stores/{store.slug}/raw/?file=decisions.jsonl"
    assert "use cursors in part 1" in text(client.get(f"{page}&line=2"))
    assert "The mirror keeps no line 9" in text(client.get(f"{page}&line=9"))
    assert client.get(f"{page}&line=-3").status_code == 422
    assert client.get(f"/stores/{store.slug}/raw/?file=/etc/passwd&line=1").status_code == 422


def test_bytes_that_another_store_was_asked_for_are_not_shown(tmp_path: Path) -> None:
    worker = make_worker()
    store, other = make_real_store(tmp_path, worker), make_real_store(tmp_path, worker, "other")
    client = operator()
    location = client.post(f"/stores/{other.slug}/raw/read/", {"file": "decisions.jsonl"}).headers["Location"]
    assert client.get(location.replace("/other/", f"/{store.slug}/")).status_code == 404


def test_a_store_is_followed_to_its_new_folder_and_keeps_its_records(tmp_path: Path) -> None:
    worker = make_worker()
    store = make_real_store(tmp_path, worker)
    keys = set(Decision.objects.values_list("pk", flat=True))
    moved = tmp_path / "moved"
    (tmp_path / "shop-api").rename(moved)
    client = operator()
    location = client.post(f"/stores/{store.slug}/settings/folder/", {"path": str(moved)}).headers["Location"]
    (task,) = work(worker)
    assert task.state == "done", task.error
    assert f"The store lies at {moved / '.claude' / 'memory'} now" in text(client.get(location))
    assert set(Decision.objects.filter(gone_at__isnull=True).values_list("pk", flat=True)) == keys
    assert AuditEvent.objects.filter(event="store_relocated", through="page").count() == 1


def test_resetting_needs_the_typed_slug_and_builds_the_mirror_anew(tmp_path: Path) -> None:
    worker, client = make_worker(), operator()
    store = make_real_store(tmp_path, worker)
    response = client.post(f"/stores/{store.slug}/settings/reset/", {"reset-slug": "shop"})
    assert response.status_code == 422
    assert "This is not the slug of the store" in text(response)
    location = client.post(f"/stores/{store.slug}/settings/reset/", {"reset-slug": store.slug}).headers["Location"]
    work(worker)
    assert "Mirror built anew: records: 3 came" in text(client.get(location))
    assert Decision.objects.filter(gone_at__isnull=True).count() == 3
    assert AuditEvent.objects.filter(event="mirror_reset", through="page").count() == 1


def test_removing_leaves_the_files_and_the_audit(tmp_path: Path) -> None:
    worker, client = make_worker(), operator()
    store = make_real_store(tmp_path, worker)
    assert client.post(f"/stores/{store.slug}/settings/remove/", {"remove-slug": "x"}).status_code == 422
    location = client.post(f"/stores/{store.slug}/settings/remove/", {"remove-slug": store.slug}).headers["Location"]
    work(worker)
    assert "Removed shop-api; its files on disk were not touched" in text(client.get(location))
    assert not Store.objects.exists()
    assert not Decision.objects.exists()
    assert (tmp_path / "shop-api" / ".claude" / "memory" / "decisions.jsonl").exists()
    assert AuditEvent.objects.filter(event="store_removed", store_slug="shop-api").count() == 1


def test_a_store_whose_worker_is_silent_is_removed_at_once() -> None:
    store = make_store("shop-api", worker=make_worker("gone", seen_at=timezone.now() - timedelta(days=3)))
    response = operator().post("/stores/shop-api/settings/remove/", {"remove-slug": "shop-api"}, follow=True)
    assert "Removed shop-api" in text(response)
    assert not Store.objects.filter(pk=store.pk).exists()
    assert not Task.objects.exists()


def test_a_task_is_seen_by_who_asked_or_sees_its_store_and_by_nobody_else() -> None:
    store = make_store("hidden", groups=["others"])
    asker = make_user(groups=["operator", "others"])
    mine = Task.objects.create(kind="discover", worker=store.worker, asked_by=asker)
    of_store = Task.objects.create(kind="import", worker=store.worker, store=store, asked_by=asker)
    client, stranger = Client(), operator()
    client.force_login(asker)
    for task in (mine, of_store):
        assert client.get(f"/tasks/{task.pk}/").status_code == 200
        assert stranger.get(f"/tasks/{task.pk}/").status_code == 404
    asker.groups.remove(*asker.groups.filter(name="others"))
    assert client.get(f"/tasks/{of_store.pk}/").status_code == 404


def test_the_fragment_of_a_task_asks_again_until_it_is_done() -> None:
    worker = make_worker()
    client = Client()
    asker = make_user(groups=["operator"])
    client.force_login(asker)
    task = Task.objects.create(kind="discover", worker=worker, asked_by=asker)
    response = client.get(f"/tasks/{task.pk}/", headers={"HX-Request": "true"})
    (first, *_) = elements(response)
    assert first[0] == "p"
    assert first[1]["hx-get"] == f"/tasks/{task.pk}/"
    Task.objects.filter(pk=task.pk).update(state="done", finished_at=timezone.now(), result={"found": [], "looked_in": ["/srv"]})
    response = client.get(f"/tasks/{task.pk}/", headers={"HX-Request": "true"})
    (first, *_) = elements(response)
    assert "hx-get" not in first[1]
    assert "Looked through 1 folder: 0 stores found" in text(response)
    assert text(response) in text(client.get(f"/tasks/{task.pk}/"))


def test_a_rewritten_file_keeps_its_earlier_contents_to_look_at(tmp_path: Path) -> None:
    worker, client = make_worker(), operator()
    memory = make_project(tmp_path)
    problem = b'{"id":"prob-mx3a2c3b-0001","text":"postgres://app:hunter2hunter2@db","status":"open"}\n'
    (memory / "open-problems.jsonl").write_bytes(problem)
    store = add_store(memory, worker=worker)
    import_store(store)
    (memory / "open-problems.jsonl").write_bytes(problem.replace(b"open", b"solved"))
    import_store(store)
    listed = client.get(f"/stores/{store.slug}/raw/?file=open-problems.jsonl")
    links = [
        attributes["href"] for tag, attributes in elements(listed) if tag == "a" and attributes.get("href", "").startswith("?version=")
    ]
    assert len(links) == 2
    shown = text(client.get(f"/stores/{store.slug}/raw/{links[1]}"))
    assert '"status":"open"' in shown
    assert "hunter2" not in shown
    assert "masked, 14 characters" in shown
    other = make_real_store(tmp_path, worker, "other")
    assert client.get(f"/stores/{other.slug}/raw/{links[0]}").status_code == 404
    assert "Contents kept" not in text(client.get(f"/stores/{store.slug}/raw/?file=decisions.jsonl"))
