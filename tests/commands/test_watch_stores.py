"""watch_stores --once: everything due, once. The worker that stays is tested in tests/worker/test_running_worker.py."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.utils import timezone

from stores.files import StoreRoot
from stores.models import Change, Decision, ImportRun, Measurement, SourceFile, Store, Task, Worker
from stores.tasks import asking
from tests.commands.conftest import Manage
from tests.memory_folders import decision, make_project


def test_everything_due_is_done_and_told(manage: Manage, tmp_path: Path) -> None:
    manage("add_store", make_project(tmp_path, "shop-api"))
    fresh = make_project(tmp_path, "billing", decisions=2)
    asking.ask_to_add_store(Worker.objects.get(), str(fresh), by=None)
    done = manage("watch_stores", "--once", "--json")
    assert done.code == 0
    runs = {run["store"]: run for run in done.document["runs"]}
    assert runs.keys() == {"shop-api", "billing"}
    assert runs["shop-api"]["records"]["decision"]["created"] == 3
    assert done.document["errors"] == []
    assert Task.objects.get(kind="add_store").state == "done"
    assert set(Task.objects.filter(kind="plan").values_list("store__slug", "state")) == {("shop-api", "done"), ("billing", "done")}
    assert Decision.objects.count() == 5
    assert manage("store_health").code == 0


def test_afterwards_the_worker_has_stopped(manage: Manage, tmp_path: Path) -> None:
    manage("add_store", make_project(tmp_path))
    manage("watch_stores", "--once")
    worker = Worker.objects.get()
    assert worker.started_at is not None
    assert worker.stopped_at == worker.seen_at


def test_a_task_left_by_a_dead_worker_is_done(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    manage("add_store", memory)
    left = asking.ask_for_import(Store.objects.get(), by=None)
    Task.objects.filter(pk=left.pk).update(state="running", lease_until=timezone.now() + timedelta(seconds=55))
    manage("watch_stores", "--once")
    left.refresh_from_db()
    assert left.state == "done"


def test_a_log_is_read_whole_once_a_day_and_a_silent_change_is_found(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path, decisions=0)
    log = memory / "decisions.jsonl"
    log.write_bytes(b"".join(decision(f"use cursors in part {number}", number) for number in range(400)))
    manage("add_store", memory)
    manage("import_stores")
    content, before = log.read_bytes(), log.stat()
    middle = content.index(b"part 200")
    with log.open("r+b") as out:
        out.seek(middle)
        out.write(b"PART 200")
    # As if nothing had been seen of the change: whoever wrote it put every time back.
    after = log.stat()
    SourceFile.objects.filter(path="decisions.jsonl").update(
        mtime_ns=after.st_mtime_ns, ctime_ns=after.st_ctime_ns, read_at=datetime.fromtimestamp(after.st_mtime, UTC) + timedelta(hours=1)
    )
    assert before.st_size == after.st_size
    manage("watch_stores", "--once")
    assert not Change.objects.filter(what="silent_rewrite").exists()
    SourceFile.objects.update(scrubbed_at=timezone.now() - timedelta(hours=25))
    manage("watch_stores", "--once")
    assert Change.objects.filter(what="silent_rewrite", path="decisions.jsonl").exists()
    assert Decision.objects.filter(gone_at=None, title="use cursors in PART 200").exists()


def test_a_store_that_stays_busy_is_told_and_the_others_are_done(manage: Manage, tmp_path: Path) -> None:
    busy = make_project(tmp_path, "busy")
    manage("add_store", busy)
    manage("add_store", make_project(tmp_path, "free"))
    with StoreRoot(busy.resolve()) as other, other.locked(0.0):
        done = manage("watch_stores", "--once", "--json")
    assert done.code == 1
    assert [run["store"] for run in done.document["runs"]] == ["free"]
    assert [error["store"] for error in done.document["errors"]] == ["busy"]


def test_old_history_is_thinned_out(manage: Manage, tmp_path: Path) -> None:
    manage("add_store", make_project(tmp_path))
    manage("import_stores")
    store, now = Store.objects.get(), timezone.now()
    day = (now - timedelta(days=95)).replace(hour=9, minute=0)
    for hour, value in enumerate((10.0, None, 20.0)):
        Measurement.objects.create(store=store, at=day + timedelta(hours=hour), verdict="healthy", values={"decisions": value})
    for days in (400, 10):
        Change.objects.create(store=store, path="decisions.jsonl", what="appended", at=now - timedelta(days=days))
        ImportRun.objects.create(
            store=store, mode="incremental", status="ok", trigger="sweep", started_at=now - timedelta(days=days), duration_s=0.1
        )
        Task.objects.create(kind="import", worker=store.worker, store=store, state="done", finished_at=now - timedelta(days=days))
    manage("watch_stores", "--once")
    old = Measurement.objects.get(at__lt=now - timedelta(days=90))
    assert (old.daily, old.values) == (True, {"decisions": 15.0})
    for model, field in ((Change, "at"), (ImportRun, "started_at"), (Task, "finished_at")):
        kept = model._default_manager.values_list(field, flat=True)
        assert not [moment for moment in kept if moment < now - timedelta(days=367)]
    assert ImportRun.objects.filter(started_at__lt=now - timedelta(days=9)).count() == 1
    assert not Task.objects.exclude(kind="plan").exists()


def test_json_without_once_is_refused(manage: Manage) -> None:
    done = manage("watch_stores", "--json")
    assert (done.code, done.out) == (2, "")
