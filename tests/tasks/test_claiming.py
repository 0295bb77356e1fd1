"""Claims: one doer at a time, taken over when its lease ends, given up when it keeps dying."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from stores.models import Task, Worker
from stores.tasks import asking, claiming
from tests.factories import make_store, make_user, make_worker

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def worker() -> Worker:
    return make_worker()


def test_the_oldest_waiting_task_is_claimed_once(worker: Worker) -> None:
    first = asking.ask_for_discovery(worker, by=None)
    second = asking.ask_to_add_store(worker, "/srv/shop-api", by=None)
    assert [claiming.claim_due(worker, NOW), claiming.claim_due(worker, NOW), claiming.claim_due(worker, NOW)] == [first, second, None]
    first.refresh_from_db()
    assert (first.state, first.started_at, first.lease_until) == ("running", NOW, NOW + timedelta(seconds=60))


def test_tasks_of_another_worker_are_left_to_it(worker: Worker) -> None:
    asking.ask_for_discovery(make_worker("build-07"), by=None)
    assert claiming.claim_due(worker, NOW) is None


def test_a_claim_that_came_second_gets_nothing(worker: Worker) -> None:
    asking.ask_for_discovery(worker, by=None)
    seen_by_the_second = Task.objects.get()
    claiming.claim_due(worker, NOW)
    assert claiming._claim(seen_by_the_second, NOW) is False


def test_a_renewed_lease_is_not_taken_over_and_an_ended_one_is(worker: Worker) -> None:
    task = asking.ask_for_discovery(worker, by=None)
    claiming.claim_due(worker, NOW)
    later = NOW + timedelta(seconds=50)
    assert claiming.renew(task.pk, later)
    assert claiming.claim_due(worker, NOW + timedelta(seconds=90)) is None
    assert claiming.claim_due(worker, later + timedelta(seconds=61)) == task


def test_a_restarted_worker_takes_its_tasks_over_at_once(worker: Worker) -> None:
    task = asking.ask_for_discovery(worker, by=None)
    claiming.claim_due(worker, NOW)
    assert claiming.end_leases(worker, NOW) == 1
    assert claiming.claim_due(worker, NOW) == task


def test_a_task_whose_doer_keeps_dying_is_given_up(worker: Worker) -> None:
    asking.ask_for_discovery(worker, by=None)
    for _ in range(3):
        assert claiming.claim_due(worker, NOW) is not None
        claiming.end_leases(worker, NOW)
    assert claiming.claim_due(worker, NOW) is None
    task = Task.objects.get()
    assert (task.state, task.finished_at) == ("failed", NOW)
    assert "3 times" in task.error


def test_a_task_that_was_put_back_waits_again_and_counts_as_no_death(worker: Worker) -> None:
    task = asking.ask_for_discovery(worker, by=None)
    for _ in range(5):
        claimed = claiming.claim_due(worker, NOW)
        assert claimed == task
        assert claiming.put_back(claimed)


def test_what_is_finished_cannot_be_finished_again(worker: Worker) -> None:
    asking.ask_for_discovery(worker, by=None)
    task = claiming.claim_due(worker, NOW)
    assert task is not None
    assert claiming.finish(task, NOW, {"found": []})
    assert not claiming.fail(task, NOW, "too late")
    task.refresh_from_db()
    assert (task.state, task.result, task.error, task.lease_until) == ("done", {"found": []}, "", None)


def test_asking_twice_for_what_waits_makes_one_task(worker: Worker) -> None:
    store, ines = make_store(worker=worker), make_user()
    first = asking.ask_for_import(store, by=ines)
    assert asking.ask_for_import(store, by=None) == first
    assert asking.ask_for_import(store, by=None, full=True) != first
    claiming.claim_due(worker, NOW)
    assert asking.ask_for_import(store, by=None) != first


def test_looking_for_due_tasks_is_one_query(worker: Worker, django_assert_num_queries: pytest.FixtureRequest) -> None:
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert claiming.claim_due(worker, NOW) is None
