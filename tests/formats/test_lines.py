"""Physical lines are cut at line feeds only, whatever the chunks."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from stores.formats.lines import HEAD, Zeros, split_lines

RAGGED = st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n", b"\xff\xfe", b"\xe2\x80\xa8", b"\0", b""]), max_size=40).map(
    b"".join
)


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]


@given(st.one_of(st.binary(max_size=200), RAGGED), st.lists(st.integers(0, 1000), max_size=8))
def test_any_bytes_in_any_chunks_give_the_lines_of_a_naive_split(data: bytes, cuts: list[int]) -> None:
    pieces = data.split(b"\n")
    expected = [(piece, True) for piece in pieces[:-1]] + ([(pieces[-1], False)] if pieces[-1] else [])
    lines = list(split_lines(chunks(data, cuts)))
    assert [(line.data, line.terminated) for line in lines] == expected
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    for line in lines:
        assert data[line.offset : line.offset + line.length] == line.data
        assert line.sha256 == sha256(line.data).digest()
        assert not line.oversize


@given(RAGGED, st.lists(st.integers(0, 1000), max_size=8), st.integers(1, 6))
def test_a_line_beyond_the_cap_keeps_its_place_its_length_and_its_hash(data: bytes, cuts: list[int], cap: int) -> None:
    whole = list(split_lines([data]))
    capped = list(split_lines(chunks(data, cuts), cap=cap))
    assert [(line.number, line.offset, line.length, line.sha256, line.terminated) for line in capped] == [
        (line.number, line.offset, line.length, line.sha256, line.terminated) for line in whole
    ]
    for line, uncut in zip(capped, whole, strict=True):
        assert line.oversize == (line.length > cap)
        assert (line.data, line.head) == ((b"", uncut.data[:HEAD]) if line.oversize else (uncut.data, b""))


def test_a_line_of_five_megabytes_is_passed_over_and_the_next_one_read() -> None:
    parts = [b"first\n", *(b"A" * 65536 for _ in range(80)), b"\nlast\n"]
    first, long, last = split_lines(parts)
    assert (first.data, last.data) == (b"first", b"last")
    assert (long.oversize, long.length, len(long.head), long.data) == (True, 80 * 65536, HEAD, b"")
    assert long.sha256 == sha256(b"A" * 80 * 65536).digest()
    assert last.offset == 6 + 80 * 65536 + 1


def test_reading_can_start_in_the_middle_of_a_file() -> None:
    (line,) = split_lines([b"tail"], number=7, offset=100)
    assert (line.number, line.offset, line.terminated) == (7, 100, False)


def test_no_bytes_give_no_line() -> None:
    assert list(split_lines([])) == list(split_lines([b""])) == []


def test_a_hole_belongs_to_the_line_in_which_it_lies_and_is_not_read() -> None:
    hole = 1 << 40
    first, long, last = split_lines([b"first\nlo", Zeros(hole), b"ng\nlast"])
    assert (first.data, last.data, last.offset, last.number) == (b"first", b"last", 6 + 2 + hole + 3, 3)
    assert (long.oversize, long.length, long.head) == (True, 2 + hole + 2, b"lo" + bytes(HEAD - 2))
    (other,) = split_lines([b"lo", Zeros(hole + 1), b"ng"])
    assert other.sha256 != long.sha256
    assert [line.terminated for line in split_lines([Zeros(hole)])] == [False]
