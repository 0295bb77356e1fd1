"""Two contents that are no text, compared: nothing is lost from either, and only what differs is marked."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from stores.formats.byte_diffs import ByteRow, is_text, rows, stretches
from stores.formats.secret_bytes import secret_places

some = st.lists(st.sampled_from([b"\0", b"\xff", b"ab", b"0123456789abcdef", b"\n", b"zz\xfe"]), max_size=14).map(b"".join)


def side(listed: list[ByteRow], sign: str) -> list[ByteRow]:
    return [row for row in listed if row.sign in (" ", sign)]


def kept(listed: list[ByteRow]) -> bytes:
    """Give the bytes that are not marked."""
    return b"".join(
        bytes(byte for place, byte in enumerate(row.data) if not any(first <= place < last for first, last in row.changed))
        for row in listed
    )


@given(before=some, after=some)
def test_both_contents_can_be_put_together_again_from_the_rows(before: bytes, after: bytes) -> None:
    listed = list(rows(before, after))
    old, new = side(listed, "-"), side(listed, "+")
    assert (b"".join(row.data for row in old), b"".join(row.data for row in new)) == (before, after)
    assert all(before[row.old : row.old + len(row.data)] == row.data for row in old if row.old is not None)
    assert all(after[row.new : row.new + len(row.data)] == row.data for row in new if row.new is not None)
    assert all(row.old is not None for row in old) and all(row.new is not None for row in new)
    assert all(0 < len(row.data) <= 16 for row in listed)
    assert kept(old) == kept(new)


@given(before=some, after=some)
def test_rows_of_the_earlier_content_begin_at_multiples_of_sixteen(before: bytes, after: bytes) -> None:
    first_off = next((row for row in side(list(rows(before, after)), "-") if row.old is not None and row.old % 16), None)
    assert first_off is None


def test_one_byte_more_shows_one_byte_and_the_rest_goes_on() -> None:
    before = bytes(range(256)) * 2
    listed = list(rows(before, before[:100] + b"!" + before[100:]))
    assert stretches(before, before[:100] + b"!" + before[100:]) == [(100, 100, 100, 101)]
    assert [(row.sign, row.old, row.new, row.changed) for row in listed if row.sign != " "] == [
        ("-", 96, None, ()),
        ("+", None, 96, ((4, 5),)),
        ("+", None, 112, ()),
    ]
    assert [(row.old, row.new) for row in listed if row.sign == " "][6:8] == [(112, 113), (128, 129)]


def test_a_content_that_is_not_there_is_not_an_empty_one() -> None:
    assert [(row.sign, row.old, row.new) for row in rows(None, bytes(17))] == [("+", None, 0), ("+", None, 16)]
    assert [(row.sign, row.old, row.new) for row in rows(bytes(17), None)] == [("-", 0, None), ("-", 16, None)]
    assert list(rows(b"", b"")) == []


def test_large_contents_are_compared_too() -> None:
    content = os.urandom(300_000)
    changed = content[:1000] + b"x" + content[1001:200_000] + b"yy" + content[200_002:]
    marked = [row for row in rows(content, changed) if row.sign == "+"]
    assert 0 < len(marked) <= 4
    assert b"".join(row.data for row in rows(content, content[50_000:]) if row.sign != "-") == content[50_000:]


def test_text_is_what_is_utf_8_without_nul() -> None:
    assert is_text(b"") and is_text("é\n\t\x1b".encode())
    assert not is_text(b"\xff") and not is_text(b"a\0b") and not is_text("é".encode("latin-1")) and not is_text(b"\xed\xa0\xbd")


def test_places_of_secrets_are_those_of_their_bytes() -> None:
    token = b"ghp_" + b"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    data = b"\xff\xfe\xc3\xa9 " + token + b" \xff"
    assert secret_places(data) == frozenset(range(5, 5 + len(token)))
    wide = b"\xff\xfe" + token.decode().encode("utf-16-le")
    assert frozenset(range(2, 2 + 2 * len(token) - 1)) <= secret_places(wide)
    assert secret_places(bytes(range(256))) == frozenset()
