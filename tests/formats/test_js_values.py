"""Values as JavaScript writes them; the expectations were taken from Node."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.js_values import (
    UNDEFINED,
    JsTypeError,
    compact_line,
    cut,
    number_text,
    stringify,
    text_of,
    to_number,
    units,
    whole_text,
)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.1, "0.1"),
        (100, "100"),
        (1.0, "1"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (123456789012345678901, "123456789012345680000"),
        (9007199254740993, "9007199254740992"),
        (1e-7, "1e-7"),
        (0.000001, "0.000001"),
        (1.5e300, "1.5e+300"),
        (5e-324, "5e-324"),
        (-2.5, "-2.5"),
        (10**400, "Infinity"),
        (math.nan, "NaN"),
    ],
)
def test_numbers_are_written_as_javascript_does(number: float, text: str) -> None:
    assert number_text(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.855 * 100, "86"),
        (0.345 * 100, "35"),
        (0.125 * 100, "13"),
        (0.005 * 100, "1"),
        (0.285 * 100, "28"),
        (-0.5, "-1"),
        (0.49999999999999994, "0"),
        (1e21, "1e+21"),
    ],
)
def test_halves_are_rounded_away_from_zero(number: float, text: str) -> None:
    assert whole_text(number) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (UNDEFINED, "undefined"),
        (True, "true"),
        ([None, UNDEFINED, [1, [2]], {}, True, 1.0], ",,1,2,[object Object],true,1"),
        ({"a": 1}, "[object Object]"),
        ("x", "x"),
    ],
)
def test_values_in_a_text(value: object, text: str) -> None:
    assert text_of(value) == text


def test_an_object_with_its_own_to_string_throws() -> None:
    with pytest.raises(JsTypeError):
        text_of({"toString": 1})


def test_numbers_of_values() -> None:
    assert [to_number(value) for value in (None, True, "0.5", " 7 ", "", [3])] == [0, 1, 0.5, 7, 0, 3]
    nothing: tuple[object, ...] = (UNDEFINED, {}, "x", [1, 2])
    assert all(math.isnan(to_number(value)) for value in nothing)


def test_an_emoji_counts_two_and_may_be_cut_in_half() -> None:
    assert units("a😀") == 3
    assert cut("a😀b", 2) == "a\ud83d"
    assert cut("a😀b", 3) == "a😀"
    assert cut("abc", 2) == "ab"


def test_a_line_escapes_half_surrogates_and_nothing_else_beyond_need() -> None:
    assert compact_line({"a": 'ü\u2028\ud83d"\n\u0000\x7f', "b": [1.0, None, "😀"], "c": UNDEFINED}) == (
        '{"a":"ü\u2028\\ud83d\\"\\n\\u0000\x7f","b":[1,null,"😀"]}\n'.encode()
    )


def test_halves_that_meet_are_a_whole_character() -> None:
    assert stringify("\ud83d\ude00") == '"😀"'


def test_indices_come_first_among_keys() -> None:
    assert stringify({"b": 1, "10": 2, "2": 3, "01": 4, "4294967295": 5}) == '{"2":3,"10":2,"b":1,"01":4,"4294967295":5}'


def test_indented_json() -> None:
    assert stringify({"a": [], "b": {}, "c": [1, {"d": 2}]}, 2) == (
        '{\n  "a": [],\n  "b": {},\n  "c": [\n    1,\n    {\n      "d": 2\n    }\n  ]\n}'
    )


json_values: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(json_values)
def test_what_was_written_reads_back(value: object) -> None:
    assert json.loads(stringify(value)) == value
    assert json.loads(stringify(value, 2)) == value
