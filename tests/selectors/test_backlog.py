"""How fast a queue moves, out of its measurements."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from stores.selectors.backlog import backlog, moved, rate
from stores.selectors.store_page import store_frame
from tests.factories import make_condition, make_measurement, make_queue_operation, make_store, make_superuser

HOUR = 3600


def test_what_comes_and_what_goes_is_counted_apart() -> None:
    come, gone, days = moved([(0, 10), (12 * HOUR, 14), (18 * HOUR, 4), (24 * HOUR, 6)])
    assert (come, gone, days) == (6, 10, 1)


def test_a_gap_is_neither_time_nor_movement() -> None:
    assert moved([(0, 10), (2 * HOUR, 12), (2 * HOUR, None), (90 * HOUR, 50), (92 * HOUR, 50)]) == (2, 0, 4 / 24)


def test_less_than_an_hour_tells_no_rate() -> None:
    assert moved([(0, 1), (60, 50)]) == (0, 0, 0)
    assert rate(0, 0) == "not known"
    assert rate(0, 2) == "0"
    assert rate(1, 4) == "0.2"
    assert rate(29, 2) == "14"


@pytest.mark.django_db
def test_the_strip_tells_depth_age_and_that_nothing_takes_what_comes() -> None:
    store = make_store("shop-api")
    now = datetime.now(UTC)
    for number in range(3):
        make_queue_operation(store, at_ms=int((now - timedelta(days=3 - number)).timestamp() * 1000))
    make_condition(store, "queue_depth")
    make_condition(store, "queue_oldest", value=3 * 86_400.0, value_text="3 d")
    for days_ago, depth in ((2, 1.0), (1.99, 2.0), (0.01, 3.0)):
        make_measurement(store, {"queue_depth": depth}, at=now - timedelta(days=days_ago))
    told = backlog(store_frame(make_superuser(), "shop-api", "backlog", now), now)
    figures = {figure.label: (figure.figure, figure.fact) for figure in told.figures}
    assert figures["Waiting"] == ("3", "limit 50")
    assert figures["Oldest"] == ("3 d", "")
    assert figures["Out"][0] in ("0", "not known")
    assert [operation.record.at_ms for operation in told.operations] == sorted(operation.record.at_ms for operation in told.operations)
    assert told.total == 3
    assert told.chart is not None
    assert "highest 3, now 3" in told.chart_text


@pytest.mark.django_db
def test_operations_are_told_in_the_words_of_the_list() -> None:
    store = make_store("shop-api")
    for standing, would_write in (("waiting", "1 decision"), ("poison", "1 decision"), ("ignored", "")):
        make_queue_operation(store, standing=standing, would_write=would_write)
    told = [
        (one.words, one.would_write)
        for one in backlog(store_frame(make_superuser(), "shop-api", "backlog", datetime.now(UTC)), datetime.now(UTC)).operations
    ]
    assert told == [("waits", "1 decision"), ("poison", "cannot be read as an operation"), ("ignored", "nothing")]


@pytest.mark.django_db
def test_a_store_without_a_queue_file_has_no_queue() -> None:
    make_store("shop-api")
    now = datetime.now(UTC)
    assert backlog(store_frame(make_superuser(), "shop-api", "backlog", now), now).file is None
