"""Plans each store once a day (ruling 40)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q

from stores.models import Store, Task, Worker
from stores.tasks.asking import ask_for_plan

PLAN_EVERY = timedelta(days=1)


def ask_for_due_plans(worker: Worker, now: datetime) -> int:
    """Ask for a plan of each store of `worker` that was imported and has had none for a day; give how many. One query when none is due."""
    plans = Task.objects.filter(store=OuterRef("pk"), kind="plan")
    recent = plans.filter(Q(state__in=("waiting", "running")) | Q(created_at__gt=now - PLAN_EVERY))
    due = list(Store.objects.filter(~Exists(recent), worker=worker, imported_at__isnull=False).select_related("worker"))
    for store in due:
        ask_for_plan(store, by=None)
    return len(due)
