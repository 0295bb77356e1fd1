"""Words that sentences about stores are made of."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

from stores.selectors import wording

NOW = datetime(2025, 11, 30, 14, 31, 52, tzinfo=UTC)


def test_counts_have_commas_and_the_right_noun() -> None:
    assert wording.counted(1, "line") == "1 line"
    assert wording.counted(1284, "line") == "1,284 lines"
    assert wording.counted(0, "line") == "0 lines"
    assert wording.counted(2, "directory", "directories") == "2 directories"


def test_a_list_of_names_ends_with_how_many_are_left_out() -> None:
    assert wording.listed([]) == ""
    assert wording.listed(["a"]) == "a"
    assert wording.listed(["a", "b", "c"]) == "a, b and c"
    assert wording.listed(["a", "b", "c", "d", "e"]) == "a, b and 3 more"


def test_a_moment_is_told_in_utc_whatever_its_zone() -> None:
    assert wording.moment(NOW - timedelta(hours=14), NOW) == "00:31"
    assert wording.moment(datetime(2025, 11, 30, 1, 0, tzinfo=timezone(timedelta(hours=5))), NOW) == "29 Nov 20:00"


def test_an_unknown_moment_has_no_age() -> None:
    assert wording.age_since(None, NOW) == "not known"
    assert wording.age_since(NOW - timedelta(seconds=8), NOW) == "8 s"


def test_a_day_has_no_leading_zero() -> None:
    assert wording.day(date(2025, 3, 9)) == "9 Mar"
