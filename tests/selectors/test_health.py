"""Conditions with their history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from stores.models import Condition, Measurement
from stores.selectors import health
from tests.factories import make_condition, make_measurement, make_store, make_superuser, make_user

NOW = datetime(2025, 11, 30, 12, 0, tzinfo=UTC)


def measurement(minutes_ago: int, values: dict[str, float | None], daily: bool = False) -> Measurement:
    return Measurement(at=NOW - timedelta(minutes=minutes_ago), values=values, daily=daily)


def test_a_silence_of_more_than_an_hour_is_a_gap() -> None:
    history = [measurement(200, {"queue_depth": 5}), measurement(141, {"queue_depth": 6}), measurement(10, {"queue_depth": 9})]
    values = [value for _, value in health.points_of(Condition(code="queue_depth"), history)]
    assert values == [5, 6, None, 9]


def test_what_was_not_measured_is_a_gap_and_no_zero() -> None:
    history = [measurement(20, {"queue_depth": 5}), measurement(10, {"queue_depth": None}), measurement(0, {})]
    assert [value for _, value in health.points_of(Condition(code="queue_depth"), history)] == [5, None, None]


def test_daily_means_may_lie_a_day_apart() -> None:
    history = [measurement(2880, {"a": 1}, daily=True), measurement(1440, {"a": 2}, daily=True)]
    assert [value for _, value in health.points_of(Condition(code="a"), history)] == [1, 2]


def test_a_code_that_stands_for_several_files_is_told_apart_by_its_path() -> None:
    history = [measurement(0, {"corrupt_lines:a.jsonl": 1, "corrupt_lines:b.jsonl": 2})]
    assert [value for _, value in health.points_of(Condition(code="corrupt_lines", path="b.jsonl"), history)] == [2]


@pytest.mark.django_db
def test_only_the_last_fifty_measurements_of_each_store_are_read_oldest_first() -> None:
    stores = [make_store(), make_store(), make_store()]
    for number in range(70):
        make_measurement(stores[0], {"queue_depth": float(number)}, at=NOW - timedelta(minutes=70 - number))
    make_measurement(stores[1], {"queue_depth": 1.0}, at=NOW)
    found = health.measurements(stores)
    assert [one.values["queue_depth"] for one in found[stores[0].pk]] == [float(number) for number in range(20, 70)]
    assert len(found[stores[1].pk]) == 1
    assert found[stores[2].pk] == []


@pytest.mark.django_db
def test_a_muted_condition_does_not_count_for_the_sentence_and_stays_listed() -> None:
    user = make_superuser()
    store = make_store("shop-api", verdict="degraded", sentence="61 operations wait")
    now = store.measured_at
    assert now is not None
    make_condition(store, muted_until=now + timedelta(days=1), muted_by=user, muted_why="known")
    make_condition(store, "queue_oldest", status="ok", path="")
    found = health.health_page(user, now, segment="all")
    assert found.verdict == "healthy"
    assert found.headline == "The store is healthy"
    assert found.failing == 0
    assert found.segments == {"not_ok": 0, "all": 2, "muted": 1}
    assert [row.status for row in found.groups[0].rows] == ["ok", "muted"]
    assert found.summary == "Of 2 checks: 1 muted, 1 ok."


@pytest.mark.django_db
def test_a_mute_that_has_ended_counts_again() -> None:
    store = make_store("shop-api", verdict="degraded", sentence="61 operations wait")
    now = store.measured_at
    assert now is not None
    make_condition(store, muted_until=now - timedelta(seconds=1))
    found = health.health_page(make_superuser(), now, segment="not_ok")
    assert found.verdict == "degraded"
    assert found.headline == "Attention: shop-api is degraded, 1 of its checks fails"
    assert found.worst is not None
    assert found.worst.text == "61 operations wait"


@pytest.mark.django_db
def test_the_worst_store_stands_first_and_a_silent_one_is_told_as_unmeasured() -> None:
    now = datetime.now(UTC)
    healthy = make_store("a-healthy")
    silent = make_store("b-silent", measured_at=now - timedelta(hours=3))
    degraded = make_store("c-degraded", verdict="degraded", sentence="x")
    for store in (healthy, silent, degraded):
        make_condition(store, status="ok" if store is healthy else "failing")
    found = health.health_page(make_superuser(), now, segment="all")
    assert [group.judged.store.slug for group in found.groups] == ["c-degraded", "b-silent", "a-healthy"]
    assert found.groups[1].rows == []
    assert found.groups[1].total == 1
    assert found.groups[1].facts == "1 unmeasured"
    assert found.segments == {"not_ok": 2, "all": 3, "muted": 0}


@pytest.mark.django_db
def test_the_number_of_queries_does_not_grow_with_stores_and_measurements() -> None:
    user = make_user()
    counts = []
    for size in (1, 12):
        for _ in range(size):
            store = make_store(verdict="degraded")
            make_condition(store)
            make_measurement(store)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            health.health_page(user, datetime.now(UTC), segment="all")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 4


@pytest.mark.django_db
def test_nothing_of_a_hidden_store_is_told() -> None:
    make_condition(make_store("hidden", groups=["others"], verdict="degraded"))
    make_condition(make_store("seen", verdict="healthy"), status="ok")
    found = health.health_page(make_user(), datetime.now(UTC), segment="all")
    assert [store.slug for store in found.stores] == ["seen"]
    assert found.headline == "The store is healthy"
    assert found.segments["all"] == 1
