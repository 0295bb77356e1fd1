"""Each store is planned once a day, and only when there is something to plan from."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from stores.models import Task
from stores.tasks import claiming, doing
from stores.worker.planning import ask_for_due_plans
from tests.factories import make_store, make_worker

pytestmark = pytest.mark.django_db


def test_a_store_is_planned_once_a_day_by_its_own_worker() -> None:
    worker, now = make_worker(), timezone.now()
    store = make_store("shop-api", worker=worker)
    make_store("new", worker=worker, imported_at=None)
    make_store("elsewhere", worker=make_worker("build-02"))
    assert ask_for_due_plans(worker, now) == 1
    assert ask_for_due_plans(worker, now) == 0
    task = claiming.claim_due(worker, now)
    assert task is not None and (task.kind, task.store) == ("plan", store)
    doing.do(task)
    assert Task.objects.get().state == "done"
    assert ask_for_due_plans(worker, now + timedelta(hours=23)) == 0
    assert ask_for_due_plans(worker, now + timedelta(hours=25)) == 1


def test_a_plan_that_waits_for_a_silent_worker_is_asked_for_once() -> None:
    worker, now = make_worker(), timezone.now()
    make_store("shop-api", worker=worker)
    ask_for_due_plans(worker, now)
    Task.objects.update(created_at=now - timedelta(days=3))
    assert ask_for_due_plans(worker, now) == 0
