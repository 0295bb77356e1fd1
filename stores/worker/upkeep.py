"""What keeps the mirror small: old measurements become daily means, old changes, runs and tasks end (rulings 37, 60)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from stores.mirror import measuring
from stores.models import Change, ImportRun, Notice, Task, Worker

CHANGES_KEPT = timedelta(days=366)
RUNS_KEPT = timedelta(days=90)
TASKS_KEPT = timedelta(days=7)
NOTICES_KEPT = timedelta(days=90)
BATCH = 2_000


def prune(worker: Worker, now: datetime) -> None:
    """Thin out the history of measurements, of messages, and of this worker's stores and tasks, in short transactions."""
    measuring.thin_out(now)
    _delete(Change, {"store__worker": worker, "at__lt": now - CHANGES_KEPT})
    _delete(ImportRun, {"store__worker": worker, "started_at__lt": now - RUNS_KEPT})
    Notice.objects.filter(created_at__lt=now - NOTICES_KEPT).delete()
    _delete(Task, {"worker": worker, "state__in": ("done", "failed"), "finished_at__lt": now - TASKS_KEPT})


def _delete(model: type[Change | ImportRun | Task], which: Mapping[str, object]) -> None:
    rows = model._default_manager.filter(**which).order_by("pk").values_list("pk", flat=True)
    while some := list(rows[:BATCH]):
        model._default_manager.filter(pk__in=some).delete()
