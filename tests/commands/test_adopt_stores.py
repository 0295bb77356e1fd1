"""adopt_stores: the stores of another worker become this one's, if they lie here and nobody else is at work on them."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone
from pytest_django import Settings

from stores.models import AuditEvent, Decision, Store, Task, Worker
from tests.commands.conftest import Manage
from tests.memory_folders import decision, make_project


@pytest.fixture
def memory(manage: Manage, tmp_path: Path) -> Path:
    """A store of a worker whose data folder is then lost."""
    memory = make_project(tmp_path.resolve())
    manage("add_store", memory)
    manage("import_stores")
    shutil.rmtree(tmp_path / "data")
    Worker.objects.update(label="old-host", seen_at=timezone.now() - timedelta(minutes=3))
    return memory


def test_stores_are_taken_over_with_all_that_is_known_of_them(manage: Manage, memory: Path) -> None:
    store, old = Store.objects.get(), Worker.objects.get()
    keys = list(Decision.objects.order_by("pk").values_list("pk", flat=True))
    waiting = Task.objects.create(kind="import", worker=old, store=store)
    assert manage("import_stores", "shop-api").code == 2
    done = manage("adopt_stores", "--from", "old-host", "--json")
    assert done.code == 0
    new = Worker.objects.exclude(pk=old.pk).get()
    assert done.document == {
        "from": str(old.uid),
        "to": str(new.uid),
        "stores": [{"store": "shop-api", "path": str(memory), "adopted": True, "message": ""}],
    }
    store.refresh_from_db()
    waiting.refresh_from_db()
    assert (store.worker, waiting.worker) == (new, new)
    assert manage("import_stores", "shop-api").code == 0
    assert list(Decision.objects.filter(gone_at=None).order_by("pk").values_list("pk", flat=True)) == keys
    event = AuditEvent.objects.get(event="store_adopted")
    assert (event.store_uid, event.detail["from"], event.detail["to"]) == (store.uid, str(old.uid), str(new.uid))
    assert manage("adopt_stores", "--from", "old-host", "--json").document["stores"] == []


@pytest.mark.parametrize("by_id", [True, False])
def test_a_worker_that_was_just_seen_keeps_its_stores_unless_forced(manage: Manage, memory: Path, by_id: bool) -> None:
    Worker.objects.update(seen_at=timezone.now() - timedelta(seconds=90))
    old = Worker.objects.get()
    name = str(old.uid) if by_id else "old-host"
    refused = manage("adopt_stores", "--from", name)
    assert refused.code == 2
    assert "was seen 9" in refused.err
    assert Store.objects.get().worker == old
    assert manage("adopt_stores", "--from", name, "--force").code == 0
    assert Store.objects.get().worker != old


def test_a_worker_that_said_that_it_stopped_is_not_at_work(manage: Manage, memory: Path) -> None:
    now = timezone.now()
    Worker.objects.update(seen_at=now, stopped_at=now)
    assert manage("adopt_stores", "--from", "old-host").code == 0


def test_a_copy_with_the_mirrored_content_is_the_same_store_and_another_content_is_not(manage: Manage, memory: Path) -> None:
    copy = memory.with_name("copy")
    shutil.copytree(memory, copy)
    shutil.rmtree(memory)
    copy.rename(memory)
    with (memory / "decisions.jsonl").open("ab") as log:
        log.write(decision("one more", 9))
    Store.objects.update(root_inode=1)
    assert manage("adopt_stores", "--from", "old-host").code == 0
    Store.objects.update(worker=Worker.objects.get(label="old-host"))
    (memory / "decisions.jsonl").write_bytes(decision("something else", 5))
    refused = manage("adopt_stores", "--from", "old-host", "--json")
    assert refused.code == 1
    (told,) = refused.document["stores"]
    assert not told["adopted"]
    assert "other content" in told["message"]
    assert manage("adopt_stores", "--from", "old-host", "--force").code == 0


def test_what_does_not_lie_here_is_left_and_the_rest_is_taken(manage: Manage, memory: Path, tmp_path: Path) -> None:
    old = Worker.objects.get()
    far = Store.objects.get()
    far.pk, far.slug, far.path, far.given_path = None, "far", "/srv/elsewhere/.claude/memory", "/srv/elsewhere/.claude/memory"
    far.uid = uuid4()
    far.save()
    told = {one["store"]: one["adopted"] for one in manage("adopt_stores", "--from", "old-host", "--json").document["stores"]}
    assert told == {"far": False, "shop-api": True}
    assert Store.objects.get(slug="far").worker == old
    assert AuditEvent.objects.filter(event="store_adopted").count() == 1


def test_a_store_outside_the_allowed_folders_is_not_taken(manage: Manage, memory: Path, settings: Settings) -> None:
    settings.STORE_ROOTS = (memory.parents[2] / "other",)
    refused = manage("adopt_stores", "--from", "old-host", "--json")
    assert refused.code == 1
    assert "MEMORYUI_STORE_ROOTS" in refused.document["stores"][0]["message"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "nobody"], "No worker is called nobody"),
        (["--from", "00000000-0000-0000-0000-000000000000"], "No worker"),
        (["--from", "old-host", "unknown"], "No store is called unknown"),
    ],
)
def test_what_is_unknown_is_one_line(manage: Manage, memory: Path, arguments: list[str], said: str) -> None:
    refused = manage("adopt_stores", *arguments)
    assert refused.code == 2
    assert said in refused.err
    assert "\n" not in refused.err.strip()


def test_its_own_stores_and_those_of_a_third_are_not_to_be_had(manage: Manage, memory: Path) -> None:
    Worker.objects.create(label="third")
    assert "belongs to the worker old-host" in manage("adopt_stores", "--from", "third", "shop-api").err
    Worker.objects.create(label="third")
    assert "Several workers" in manage("adopt_stores", "--from", "third").err
    assert manage("adopt_stores", "--from", "old-host").code == 0
    own = str(Store.objects.get().worker.uid)
    assert "own worker" in manage("adopt_stores", "--from", own).err
