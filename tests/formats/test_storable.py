"""What goes into the database is what both engines hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats import storable

ANY_TEXT = st.text(st.characters(codec=None), max_size=400)


@given(ANY_TEXT)
def test_any_text_can_be_stored_by_both_engines(given_text: str) -> None:
    for cleaned in (storable.text(given_text), storable.name(given_text), storable.title(given_text)):
        assert "\0" not in cleaned
        cleaned.encode("utf-8")
    assert len(storable.name(given_text)) <= 209
    assert len(storable.title(given_text)) <= 300
    assert "\n" not in storable.title(given_text)


def test_nul_and_lone_surrogates_are_shown_by_stand_ins() -> None:
    assert storable.text("a\0b\ud83dc") == "a␀b\ufffdc"
    assert storable.text("fine 😀") == "fine 😀"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (5, "5"),
        (10**30, "1" + "0" * 30),
        (["a", {"b": None}], '["a",{"b":null}]'),
        (0.5, "0.5"),
        (float("inf"), "Infinity"),
    ],
)
def test_what_is_no_text_comes_as_json(value: object, text: str) -> None:
    assert storable.text(value) == text


def test_a_long_name_is_cut_and_told_apart_by_its_hash() -> None:
    long, longer = "x" * 201, "x" * 202
    assert storable.name("x" * 200) == "x" * 200
    assert storable.name(long) == "x" * 200 + "…" + sha256(long.encode()).hexdigest()[:8]
    assert storable.name(long) != storable.name(longer)
    assert storable.name("\ud800" * 201).startswith("\ufffd" * 200 + "…")


def test_a_title_is_one_line_of_at_most_300_characters() -> None:
    assert storable.title("never use\n❌ 30+ agents\twith  overlap") == "never use ❌ 30+ agents with overlap"
    assert storable.title("y" * 400) == "y" * 300
    assert storable.title(None) == ""


def test_signed64_takes_the_first_eight_bytes_big_end_first() -> None:
    assert storable.signed64(b"\0" * 7 + b"\x05rest") == 5
    assert storable.signed64(b"\xff" * 8) == -1
    assert storable.signed64(b"\x80" + b"\0" * 7) == -(2**63)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0.5, 0.5),
        (1, 1.0),
        (10**400, None),
        (float("nan"), None),
        (float("inf"), None),
        (True, None),
        ("0.5", None),
        (None, None),
        ([], None),
    ],
)
def test_only_finite_numbers_are_numbers(value: object, number: float | None) -> None:
    assert storable.number(value) == number


def ms(*parts: int) -> int:
    return round(datetime(*parts, tzinfo=UTC).timestamp() * 1000)  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-02-10T10:35:24.351Z", (ms(2026, 2, 10, 10, 35, 24) + 351, "ok")),
        ("2026-02-10T12:35:24+02:00", (ms(2026, 2, 10, 10, 35, 24), "ok")),
        ("2026-02-10T10:35:24", (ms(2026, 2, 10, 10, 35, 24), "naive")),
        ("2026-02-10", (ms(2026, 2, 10), "naive")),
        (1_770_719_724, (1_770_719_724_000, "ok")),
        (1_770_719_724.5, (1_770_719_724_500, "ok")),
        (1_770_719_724_351, (1_770_719_724_351, "ok")),
        (None, (0, "missing")),
        ("", (0, "missing")),
        ("yesterday", (0, "odd")),
        ("2026-13-45T99:99:99Z", (0, "odd")),
        ("2026-02-06T10:30:60Z", (0, "odd")),
        ("2026-02-06T10:30:00+99:99", (0, "odd")),
        ("0000-00-00T00:00:00Z", (0, "odd")),
        ("0001-01-01T00:00:00+14:00", (0, "odd")),
        ("9999-12-31T23:59:59-14:00", (0, "odd")),
        ("\u0662\u0660\u0662\u0666-02-06T10:30:00Z", (0, "odd")),
        (1e18, (0, "odd")),
        (float("inf"), (0, "odd")),
        (True, (0, "odd")),
        (["2026"], (0, "odd")),
    ],
)
def test_a_moment_is_read_with_how_far_it_can_be_trusted(value: object, expected: tuple[int, str]) -> None:
    assert storable.moment(value) == expected


@given(
    st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)),
    st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)
def test_a_moment_with_any_offset_is_the_same_instant(naive: datetime, zone: timezone) -> None:
    aware = naive.replace(tzinfo=zone)
    since = aware - datetime(1970, 1, 1, tzinfo=UTC)
    assert storable.moment(aware.isoformat()) == (since // timedelta(milliseconds=1), "ok")
