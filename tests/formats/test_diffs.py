"""Two wordings of one record, compared: nothing is lost from either, and only what differs is marked."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from stores.formats.diffs import DiffLine, diff, readable

texts = st.text(alphabet=st.sampled_from(list('ab ,:\n{}"é')), max_size=60)


def side(lines: tuple[DiffLine, ...], signs: str) -> str:
    return "\n".join("".join(run.text for run in line.runs) for line in lines if line.sign in signs)


@given(earlier=texts, later=texts)
def test_both_wordings_can_be_put_together_again_from_the_difference(earlier: str, later: str) -> None:
    lines = diff(earlier, later)
    assert side(lines, " -") == earlier
    assert side(lines, " +") == later


@given(text=texts)
def test_equal_wordings_have_no_changed_word(text: str) -> None:
    assert not any(run.changed for line in diff(text, text) for run in line.runs)


def test_only_the_changed_word_of_a_reworded_line_is_marked() -> None:
    lines = diff('"status": "open"', '"status": "solved"')
    assert [[run.text for run in line.runs if run.changed] for line in lines] == [["open"], ["solved"]]


def test_a_line_of_json_is_spread_over_lines_and_says_the_same() -> None:
    raw = b'{"b":1,"a":{"text":"\\u00e9"}}'
    shown = readable(raw)
    assert json.loads(shown) == json.loads(raw)
    assert shown.split("\n")[1] == '  "b": 1,'


@given(raw=st.binary(max_size=80))
def test_no_bytes_raise(raw: bytes) -> None:
    assert isinstance(readable(raw), str)
