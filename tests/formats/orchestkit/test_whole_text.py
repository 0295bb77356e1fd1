"""A file's lines as JavaScript's `trim().split("\\n")` gives them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stores.formats.javascript import JS_WHITESPACE
from stores.formats.orchestkit.whole_text import lines, lines_from_the_end

pieces = st.sampled_from([b"a", b"\n", b"\n", b" ", b"\r", b"\xc2\xa0", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xff", b"\xc2", b"\xa0"])


def test_numbers_are_those_of_the_file() -> None:
    assert list(lines(b"\n \nfirst\n\n \nlast\n\n")) == [(3, b"first"), (5, b" "), (6, b"last")]
    assert list(lines(b"")) == list(lines(b" \n\xc2\xa0")) == []


@given(st.lists(pieces).map(b"".join))
def test_lines_are_those_of_the_trimmed_text(data: bytes) -> None:
    trimmed = data.decode("utf-8", "surrogateescape").strip(JS_WHITESPACE)
    expected = [line.encode("utf-8", "surrogateescape") for line in trimmed.split("\n") if line]
    assert [line for _, line in lines(data)] == expected
    physical = data.split(b"\n")
    assert all(line in physical[number - 1] for number, line in lines(data))


@given(st.lists(pieces).map(b"".join))
def test_from_the_end_the_same_lines_come_the_other_way_round(data: bytes) -> None:
    assert list(lines_from_the_end(data)) == list(lines(data))[::-1]
