"""Who does a task: claims are conditional UPDATEs of exactly one row, with a lease that the doer renews (rulings 39, 40)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q

from stores.models import Task, Worker

LEASE = timedelta(seconds=60)
RENEW_AFTER = timedelta(seconds=20)
NEED_THE_LOCK = ("import", "relocate")
MAX_TAKEOVERS = 2
"""A task whose doer died more often than this is given up: it may be the task that kills it."""


def claim_due(worker: Worker, now: datetime, *, busy: int | None = None) -> Task | None:
    """Claim the oldest due task of `worker`, or give None: one query when nothing is due.

    Due is what waits, and what runs under a lease that has ended; what needs the lock of the store `busy` is left waiting.
    """
    due = Task.objects.filter(Q(state="waiting") | Q(state="running", lease_until__lt=now), worker=worker)
    if busy is not None:
        due = due.exclude(store_id=busy, kind__in=NEED_THE_LOCK)
    for task in due.order_by("id")[:8]:
        if task.state == "running":
            if not _take_over(task, now):
                continue
        elif not _claim(task, now):
            continue
        return task
    return None


def _claim(task: Task, now: datetime) -> bool:
    claimed = Task.objects.filter(pk=task.pk, state="waiting").update(state="running", lease_until=now + LEASE, started_at=now)
    return _moved(task, claimed, "running", now + LEASE)


def _take_over(task: Task, now: datetime) -> bool:
    """Claim a task whose doer let its lease end; gives it up as failed when that happened too often."""
    takeovers = int(task.result.get("takeovers", 0)) + 1
    mine = Task.objects.filter(pk=task.pk, state="running", lease_until=task.lease_until)
    if takeovers > MAX_TAKEOVERS:
        mine.update(
            state="failed",
            error=f"The worker stopped {takeovers} times while it did this, so it is not tried again. The worker's log says more.",
            finished_at=now,
            lease_until=None,
        )
        return False
    task.result = {**task.result, "takeovers": takeovers}
    return _moved(task, mine.update(lease_until=now + LEASE, started_at=now, result=task.result), "running", now + LEASE)


def _moved(task: Task, rows: int, state: str, lease_until: datetime | None) -> bool:
    if rows == 1:
        task.state, task.lease_until = state, lease_until
    return rows == 1


def end_leases(worker: Worker, now: datetime) -> int:
    """End the lease of every running task of `worker`, so that they are taken over at once; give their number.

    Only for the process that holds the lock of the worker's data folder: the lock proves that no other doer lives.
    """
    return Task.objects.filter(worker=worker, state="running", lease_until__gte=now).update(lease_until=now - timedelta(seconds=1))


def renew(task_id: int, now: datetime) -> bool:
    """Move the end of a running task's lease; False when the task is no longer running."""
    return Task.objects.filter(pk=task_id, state="running").update(lease_until=now + LEASE) == 1


def put_back(task: Task) -> bool:
    """Let a claimed task wait again, since its doer stops before the end."""
    return Task.objects.filter(pk=task.pk, state="running").update(state="waiting", lease_until=None, started_at=None) == 1


def finish(task: Task, now: datetime, result: dict[str, object], content: bytes = b"") -> bool:
    """Store what a task gave; False when it was taken over meanwhile."""
    return _end(task, state="done", finished_at=now, result=result, content=content, error="")


def fail(task: Task, now: datetime, error: str) -> bool:
    """Store why a task could not be done; False when it was taken over meanwhile."""
    return _end(task, state="failed", finished_at=now, error=error)


def _end(task: Task, **values: object) -> bool:
    return Task.objects.filter(pk=task.pk, state="running").update(lease_until=None, **values) == 1
