"""The verdict of a store at a moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from stores.models import Store, Worker
from stores.selectors import verdicts

NOW = datetime(2025, 11, 30, 12, 4, 34, tzinfo=UTC)


def store(verdict: str = "healthy", age_s: float | None = 3, *, name: str = "shop-api", sentence: str = "", sweep_s: float = 5) -> Store:
    return Store(
        slug=name,
        name=name,
        verdict=verdict,
        sentence=sentence,
        measured_at=None if age_s is None else NOW - timedelta(seconds=age_s),
        worker=Worker(label="build-01", sweep_s=sweep_s, seen_at=NOW),
    )


def verdict_of(one: Store) -> tuple[str, str]:
    return verdicts.current_verdict(one, one.worker, NOW)


def test_a_fresh_measurement_is_told_as_it_was_measured() -> None:
    assert verdict_of(store("degraded", 119, sentence="2 corrupt lines in decisions.jsonl")) == (
        "degraded",
        "2 corrupt lines in decisions.jsonl",
    )


def test_a_measurement_older_than_two_minutes_is_unmeasured_and_names_the_last_verdict() -> None:
    assert verdict_of(store("healthy", 121)) == ("unmeasured", "unmeasured since 12:02, last: healthy")


def test_slow_sweeps_stretch_how_long_a_measurement_counts() -> None:
    assert verdict_of(store("healthy", 179, sweep_s=60))[0] == "healthy"
    assert verdict_of(store("healthy", 181, sweep_s=60))[0] == "unmeasured"


def test_a_store_that_was_never_measured_says_so() -> None:
    assert verdict_of(store("unmeasured", None)) == ("unmeasured", "not measured yet")


def test_a_measurement_from_the_future_does_not_count_for_ever() -> None:
    assert verdict_of(store("healthy", -3600)) == ("unmeasured", "clock of worker build-01 ahead by 1 h")
    assert verdict_of(store("healthy", -5))[0] == "healthy"


def test_stores_stand_worst_first_then_by_name() -> None:
    stores = [
        store("healthy", name="b"),
        store("degraded", name="z"),
        store("unavailable", name="y"),
        store("healthy", 500, name="x"),
        store("healthy", name="A"),
    ]
    for number, one in enumerate(stores):
        one.pk = number
    judged = verdicts.worst_first(verdicts.judge(one, NOW) for one in stores)
    assert [(one.store.name, one.verdict) for one in judged] == [
        ("y", "unavailable"),
        ("z", "degraded"),
        ("x", "unmeasured"),
        ("A", "healthy"),
        ("b", "healthy"),
    ]
    assert verdicts.tally(judged) == {"unavailable": 1, "degraded": 1, "unmeasured": 1, "healthy": 2}
    assert verdicts.overall(one.verdict for one in judged) == "unavailable"
    assert verdicts.headline(judged) == "Attention: y is unavailable, z is degraded, x is unmeasured"


def test_without_a_store_nothing_is_measured() -> None:
    assert verdicts.overall([]) == "unmeasured"


def test_only_healthy_stores_are_called_healthy() -> None:
    assert verdicts.headline([verdicts.judge(store("healthy"), NOW)]) == "The store is healthy"
    assert verdicts.headline([verdicts.judge(store("healthy"), NOW)] * 3) == "All 3 stores are healthy"


def test_a_worker_is_silent_after_two_minutes_or_when_it_has_stopped() -> None:
    assert not verdicts.is_silent(Worker(seen_at=NOW - timedelta(seconds=119)), NOW)
    assert verdicts.is_silent(Worker(seen_at=NOW - timedelta(seconds=121)), NOW)
    assert verdicts.is_silent(Worker(seen_at=NOW, stopped_at=NOW), NOW)
    assert not verdicts.is_silent(Worker(seen_at=NOW, stopped_at=NOW - timedelta(hours=1)), NOW)
    assert verdicts.is_silent(Worker(label="lab"), NOW)
    assert verdicts.silence(Worker(label="lab"), NOW) == "worker lab never seen"


def test_the_page_says_as_of_when_its_picture_is() -> None:
    worker = Worker(label="build-01", seen_at=NOW)
    assert verdicts.freshness(worker, NOW - timedelta(seconds=3), NOW) == (
        True,
        NOW - timedelta(seconds=3),
        "as of 12:04:31 (worker, 3 s ago)",
    )
    worker.seen_at = NOW - timedelta(hours=3)
    assert verdicts.freshness(worker, NOW - timedelta(hours=3), NOW).text == "not checked since 09:04"
    assert verdicts.freshness(worker, None, NOW).text == "not checked yet"


def test_of_several_stores_the_one_that_was_checked_longest_ago_is_told() -> None:
    fresh, old = store(name="fresh"), store(name="old")
    fresh.imported_at = NOW - timedelta(seconds=3)
    old.imported_at = NOW - timedelta(hours=3)
    judged = [verdicts.judge(one, NOW) for one in (fresh, old)]
    assert verdicts.stalest([], NOW) is None
    assert verdicts.stalest(judged[:1], NOW) == (True, fresh.imported_at, "as of 12:04:31 (worker, 3 s ago)")
    assert verdicts.stalest(judged, NOW) == (False, old.imported_at, "old not checked since 09:04")
    old.imported_at = None
    assert verdicts.stalest(judged, NOW) == (False, None, "old not checked yet")
