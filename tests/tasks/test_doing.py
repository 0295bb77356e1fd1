"""What the worker does for the web: each kind of task, and what is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from stores.mirror.importing import import_store
from stores.models import AuditEvent, Decision, LifecycleAction, Store, Task, Worker
from stores.selectors.tasks import task_view
from stores.tasks import asking, claiming, doing
from tests.factories import make_store, make_user, make_worker
from tests.memory_folders import decision, make_project
from tests.phase_memory_folders import make_store as make_phase_store

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker(settings: Settings, tmp_path: Path) -> Worker:
    settings.STORE_ROOTS = (tmp_path.resolve(),)
    settings.DATA_DIR = tmp_path / "data"
    return make_worker()


def do_next(worker: Worker) -> Task:
    """Claim and do the next task, and give it as it stands then."""
    task = claiming.claim_due(worker, timezone.now())
    assert task is not None
    doing.do(task)
    task.refresh_from_db()
    return task


def add(worker: Worker, memory: Path) -> Store:
    asking.ask_to_add_store(worker, str(memory), by=None)
    assert do_next(worker).error == ""
    return Store.objects.get(path=str(memory.resolve()))


def test_a_store_is_added_imported_and_audited_for_whoever_asked(worker: Worker, tmp_path: Path) -> None:
    ines = make_user("ines", groups=("operator",))
    asking.ask_to_add_store(worker, str(make_project(tmp_path)), by=ines, name="Shop API")
    task = do_next(worker)
    assert (task.state, task.result["store"], task.result["status"]) == ("done", "shop-api", "ok")
    assert Store.objects.values_list("name", "created_by").get() == ("Shop API", ines.pk)
    assert Decision.objects.count() == 3
    event = AuditEvent.objects.get(event="store_added")
    assert (event.actor, event.through) == (ines, "page")


def test_what_cannot_be_added_fails_with_the_reason_and_leaves_nothing(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    asking.ask_to_add_store(worker, str(tmp_path / "empty"), by=None)
    task = do_next(worker)
    assert task.state == "failed"
    assert "holds no store" in task.error
    assert (Store.objects.count(), AuditEvent.objects.count()) == (0, 0)


def test_discovery_names_what_is_not_registered(worker: Worker, tmp_path: Path) -> None:
    add(worker, make_project(tmp_path, "known"))
    make_project(tmp_path, "fresh")
    asking.ask_for_discovery(worker, by=None)
    task = do_next(worker)
    assert [Path(found["project"]).name for found in task.result["found"]] == ["fresh"]
    assert task.result["looked_in"] == [str(tmp_path.resolve())]
    assert task.result["more"] is False


def test_an_import_reads_what_came(worker: Worker, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    store = add(worker, memory)
    with (memory / "decisions.jsonl").open("ab") as out:
        out.write(b"{broken\n")
    asking.ask_for_import(store, by=None, full=True)
    task = do_next(worker)
    assert (task.state, task.result["mode"], task.result["records"]["decision"]["total"]) == ("done", "full", 3)


def test_bytes_are_given_with_their_hash_and_no_more_than_a_mebibyte(worker: Worker, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    content = bytes(range(256)) * 8192
    (memory / "blob.bin").write_bytes(content)
    store = add(worker, memory)
    asking.ask_for_bytes(store, "blob.bin", 10, 2**40, by=None)
    task = do_next(worker)
    piece = content[10 : 10 + 1024 * 1024]
    assert bytes(task.content) == piece
    assert task.result == {
        "path": "blob.bin",
        "offset": 10,
        "length": len(piece),
        "size_bytes": len(content),
        "sha256": hashlib.sha256(piece).hexdigest(),
    }


@pytest.mark.parametrize("path", ["../secret", "a/../../secret", "/etc/hostname", "link", "missing", "", ".", "folder", "nul\0"])
def test_bytes_outside_the_store_are_never_read(worker: Worker, tmp_path: Path, path: str) -> None:
    memory = make_project(tmp_path)
    (memory.parent / "secret").write_text("secret")
    (memory / "link").symlink_to(memory.parent / "secret")
    (memory / "folder").mkdir()
    store = add(worker, memory)
    Task.objects.create(
        kind="read_bytes", worker=worker, store=store, arguments={"path": path.replace("\0", "\\0"), "offset": 0, "length": 99}
    )
    task = do_next(worker)
    assert (task.state, bytes(task.content)) == ("failed", b"")
    assert task.error


def test_bytes_of_a_companion_are_read_below_its_anchor_once_an_import_took_it(worker: Worker, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    rules = memory.parent / "rules"
    rules.mkdir()
    store = add(worker, memory)
    (rules / "recent-decisions.md").write_text("# Rules")
    (rules / "secret.md").write_text("secret")
    companion = "project:.claude/rules/recent-decisions.md"
    for path in (companion, "project:.claude/rules/secret.md", "home:.claude/projects/-other/memory/MEMORY.md"):
        asking.ask_for_bytes(store, path, 0, 99, by=None)
        assert do_next(worker).state == "failed"
    import_store(store)
    asking.ask_for_bytes(store, companion, 2, 99, by=None)
    assert bytes(do_next(worker).content) == b"Rules"


@pytest.mark.parametrize(
    "arguments", [{}, {"path": 7}, {"path": "x", "offset": -1, "length": 1}, {"path": "x", "offset": 0, "length": True}]
)
def test_odd_arguments_fail_and_do_not_raise(worker: Worker, tmp_path: Path, arguments: dict[str, Any]) -> None:
    store = add(worker, make_project(tmp_path))
    Task.objects.create(kind="read_bytes", worker=worker, store=store, arguments=arguments)
    assert do_next(worker).state == "failed"


def test_a_store_of_another_worker_is_not_touched(worker: Worker) -> None:
    Task.objects.create(kind="import", worker=worker, store=make_store(worker=make_worker("build-07")))
    assert do_next(worker).state == "failed"


def test_a_relocated_store_is_followed_and_imported(worker: Worker, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    store = add(worker, memory)
    keys = set(Decision.objects.values_list("pk", flat=True))
    memory.parents[1].rename(tmp_path / "moved")
    asking.ask_to_relocate(store, str(tmp_path / "moved"), by=None)
    task = do_next(worker)
    assert (task.state, task.result["status"]) == ("done", "ok")
    assert set(Decision.objects.filter(gone_at=None).values_list("pk", flat=True)) == keys
    assert AuditEvent.objects.filter(event="store_relocated").count() == 1


def test_a_task_that_breaks_something_of_ours_fails_and_is_logged(worker: Worker, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = add(worker, make_project(tmp_path))
    Store.objects.filter(pk=store.pk).update(kind="a kind of the future")
    asking.ask_for_import(store, by=None)
    task = do_next(worker)
    assert task.state == "failed"
    assert "KeyError" in task.error
    assert "Traceback" in caplog.text


def test_a_plan_is_queued_once_in_the_planner_s_name(worker: Worker, tmp_path: Path) -> None:
    memory = make_project(tmp_path, decisions=0)
    first = decision("use cursors", 1)
    second = first.replace(b"-0001", b"-0002").replace(b"10:00:00.000Z", b"10:00:00.050Z")
    (memory / "decisions.jsonl").write_bytes(first + second)
    store = add(worker, memory)
    ines = make_user("ines", groups=("operator",))
    assert asking.ask_for_plan(store, by=ines).pk == asking.ask_for_plan(store, by=ines).pk
    task = do_next(worker)
    assert (task.state, task.error) == ("done", "")
    rows = list(LifecycleAction.objects.all())
    assert [(row.verb, row.proposed_by, row.state) for row in rows] == [("merge_duplicates", "planner", "pending")]
    assert (task.result["planned"], task.result["counts"]) == (1, {"queued": 1})
    assert "1 new in the review queue" in task_view(task, timezone.now()).sentence
    asking.ask_for_plan(store, by=ines)
    assert do_next(worker).result["counts"] == {"already_queued": 1}
    assert LifecycleAction.objects.count() == 1


def test_a_store_without_rules_fails_only_a_plan_that_somebody_asked_for(worker: Worker, tmp_path: Path) -> None:
    store = add(worker, make_phase_store(tmp_path / "atlas"))
    (tmp_path / "atlas" / "profiles" / "profile.a.json").unlink()
    import_store(store)
    asking.ask_for_plan(store, by=None)
    task = do_next(worker)
    assert (task.state, task.result["planned"]) == ("done", 0)
    assert "no profile" in task.result["left_out"][0]
    asking.ask_for_plan(store, by=make_user("ines", groups=("operator",)))
    task = do_next(worker)
    assert task.state == "failed" and "no profile" in task.error
