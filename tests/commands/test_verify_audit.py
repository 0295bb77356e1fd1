"""verify_audit: the worker's own copy beside the table, and the audit log of a store on its disk."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from stores import audit
from stores.models import LifecycleAction, Store
from stores.worker.identity import this_worker
from tests.commands.conftest import Manage
from tests.factories import make_store as make_row
from tests.phase_memory_folders import append, make_store
from tests.phase_memory_folders import audit as audit_record
from tests.review.queues import archiving, queued


def test_the_copy_of_the_worker_is_checked_too(manage: Manage, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> None:
    assert manage("verify_audit", "--json").document["copy"] is None
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            audit.record("action_applied", actor=None, actor_label=f"worker {this_worker().label}", object_label="#1", through="worker")
    assert manage("verify_audit", "--json").document["copy"] == {"status": "intact", "events": 2, "foreign": 0, "first_bad": None}
    copy: Path = settings.DATA_DIR / audit.COPY
    copy.write_bytes(copy.read_bytes().splitlines(keepends=True)[0])
    done = manage("verify_audit")
    assert done.code == 1
    assert "copy truncated" in done.out


def atlas(manage: Manage, tmp_path: Path) -> tuple[Path, Store]:
    root = make_store(tmp_path.resolve() / "atlas")
    manage("add_store", root)
    manage("import_stores")
    return root, Store.objects.get()


def test_the_audit_log_of_a_store_is_checked_on_its_disk(manage: Manage, tmp_path: Path) -> None:
    root, _ = atlas(manage, tmp_path)
    done = manage("verify_audit", "atlas", "--json")
    assert (done.code, done.document["status"], done.document["records"], done.document["ours"]) == (0, "intact", 2, 0)
    log = root / "audit.jsonl"
    log.write_bytes(log.read_bytes() + b'{"torn')
    done = manage("verify_audit", "atlas")
    assert done.code == 1
    assert "torn_tail: the last line is cut off, as a crash leaves it" in done.out


def test_a_record_that_memoryui_wrote_and_that_is_gone_is_named(manage: Manage, tmp_path: Path) -> None:
    root, store = atlas(manage, tmp_path)
    action = queued(store, archiving())
    LifecycleAction.objects.filter(pk=action.pk).update(
        state="applied", applied_at=timezone.now(), receipt={"audit_id": "audit.memoryui-1"}
    )
    done = manage("verify_audit", "atlas", "--json")
    assert (done.code, done.document["status"], done.document["missing"]) == (1, "truncated", ["audit.memoryui-1"])
    append(root, "audit.jsonl", audit_record(9, audit_id="audit.memoryui-1", sequence=None, previous_digest=None))
    assert manage("verify_audit", "atlas").code == 0


def test_stores_that_keep_no_audit_and_those_of_other_hosts_are_refused(manage: Manage) -> None:
    make_row("shop-api", worker=this_worker())
    assert manage("verify_audit", "shop-api").code == 2
    make_row("far", kind="phase-memory")
    assert manage("verify_audit", "far").code == 2
    assert manage("verify_audit", "nowhere").code == 2
