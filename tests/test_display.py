"""Times, numbers and sizes read as the design says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores import display

NOW = datetime(2026, 11, 30, 14, 31, 52, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "short", "exact"),
    [
        (0, "0 s", "0 s"),
        (8, "8 s", "8 s"),
        (59.9, "59 s", "59 s"),
        (41 * 60, "41 min", "41 min"),
        (3600, "1 h", "1 h"),
        (2 * 3600 + 13 * 60, "2 h", "2 h 13 min"),
        (23 * 3600 + 59 * 60, "23 h", "23 h"),
        (24 * 3600, "1 d", "1 d"),
        (4 * 86400 + 2 * 3600, "4 d", "4 d 2 h"),
        (1200 * 86400, "1,200 d", "1,200 d"),
    ],
)
def test_a_span_is_told_in_its_largest_unit(seconds: float, short: str, exact: str) -> None:
    assert display.span(seconds) == short
    assert display.span(seconds, exact=True) == exact


def test_a_clock_that_runs_ahead_is_named() -> None:
    assert display.age(NOW + timedelta(hours=2), NOW) == "2 h ahead"
    assert display.ago(NOW + timedelta(hours=2), NOW) == "2 h ahead"
    assert display.ago(NOW + timedelta(seconds=3), NOW) == "0 s ago"
    assert display.ago(NOW - timedelta(seconds=12), NOW) == "12 s ago"


@pytest.mark.parametrize(
    ("moment", "column", "clock"),
    [
        (datetime(2026, 11, 30, 12, 30, tzinfo=UTC), "2 h", "12:30"),
        (datetime(2026, 11, 27, 9, 5, tzinfo=UTC), "27 Nov", "27 Nov 09:05"),
        (datetime(2025, 11, 3, 9, 5, tzinfo=UTC), "Nov 2025", "3 Nov 2025 09:05"),
    ],
)
def test_today_is_an_age_or_a_time_and_other_days_are_named(moment: datetime, column: str, clock: str) -> None:
    assert display.day(moment, NOW) == column
    assert display.clock(moment, NOW) == clock


def test_the_audit_shows_seconds() -> None:
    assert display.clock(NOW, NOW, seconds=True) == "14:31:52"


def test_milliseconds_datetimes_and_naive_times_are_one_moment() -> None:
    moment = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    assert display.moment_of(int(moment.timestamp() * 1000)) == moment
    assert display.moment_of(moment.astimezone(timezone(timedelta(hours=5)))) == moment
    assert display.moment_of(datetime(2026, 11, 30, 12, 0)) == moment
    assert display.iso(moment.astimezone(timezone(timedelta(hours=5)))) == "2026-11-30T12:00:00Z"


@pytest.mark.parametrize("value", [None, 0, 10**20, -(10**20), float("inf"), float("nan")])
def test_what_no_calendar_holds_is_no_moment(value: float | None) -> None:
    assert display.moment_of(value) is None


@given(st.one_of(st.integers(), st.floats()))
def test_no_number_is_too_odd_to_be_asked_for_its_moment(value: float) -> None:
    moment = display.moment_of(value)
    assert moment is None or moment.tzinfo is UTC


@pytest.mark.parametrize(
    ("value", "text"), [(None, "not known"), (0, "0"), (1284, "1,284"), (12.0, "12"), (0.5, "0.5"), (1234.567, "1,234.57")]
)
def test_numbers_are_set_apart_by_thousands(value: float | None, text: str) -> None:
    assert display.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "not known"),
        (0, "0 B"),
        (812, "812 B"),
        (1000, "1 kB"),
        (286_104, "286 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (1_900_000, "1.9 MB"),
        (14_000_000, "14 MB"),
        (5_000_000_000, "5.0 GB"),
        (3 * 10**15, "3,000 TB"),
    ],
)
def test_sizes_are_decimal_with_a_space(value: int | None, text: str) -> None:
    assert display.size(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 ms"), (840, "840 ms"), (1_200, "1.2 s"), (9_990, "10.0 s"), (10_000, "10 s"), (4_000_000, "1 h")],
)
def test_short_times_are_told_in_milliseconds(value: float, text: str) -> None:
    assert display.milliseconds(value) == text


@pytest.mark.parametrize(("value", "text"), [(0, "0%"), (0.625, "62%"), (1, "100%"), (7.5, "7.5, no share"), (-1, "-1, no share")])
def test_only_a_share_is_told_as_one(value: float, text: str) -> None:
    assert display.percent(value) == text
