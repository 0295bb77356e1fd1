"""What differs between two contents that are no text: stretches of bytes, laid out in rows of 16 as hex views show them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

ROW: Final = 16
MATCHED_AT_MOST: Final = 1024
"""Bytes of either side of a stretch in which common pieces are looked for; a longer one differs as a whole."""
PIECES_AT_MOST: Final = 400
"""Lines of either side of a stretch that are compared with each other."""
_SHORTEST_COMMON: Final = 4
"""Bytes that both sides have in common by chance are no common piece."""
_NOT_ZERO: Final = re.compile(rb"[^\x00]+")


class Stretch(NamedTuple):
    """A stretch that differs: these bytes of the earlier content give way to those of the later one."""

    old: int
    old_end: int
    new: int
    new_end: int


class ByteRow(NamedTuple):
    """Up to 16 bytes of either content, or of both where they are the same."""

    sign: str
    """"-" for what goes, "+" for what comes, " " for what stays."""
    old: int | None
    """Where it begins in the earlier content; None where it does not stand there."""
    new: int | None
    data: bytes
    changed: tuple[tuple[int, int], ...] = ()
    """Places within the row that differ from the other content."""


def is_text(data: bytes) -> bool:
    """Say whether bytes can be shown as text: UTF-8 without NUL."""
    if b"\0" in data:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def stretches(before: bytes, after: bytes) -> list[Stretch]:
    """Compare two contents: where they differ, in their order."""
    head = _common(before, after)
    tail = _common_end(before[head:], after[head:])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    found: list[Stretch] = []
    for one in _within(old, new):
        if one.old == one.old_end and one.new == one.new_end:
            continue
        moved = Stretch(one.old + head, one.old_end + head, one.new + head, one.new_end + head)
        if found and (found[-1].old_end, found[-1].new_end) == (moved.old, moved.new):
            moved = Stretch(found[-1].old, moved.old_end, found[-1].new, moved.new_end)
            found.pop()
        found.append(moved)
    return found


def rows(before: bytes | None, after: bytes | None) -> Iterator[ByteRow]:
    """Lay out a change in rows, what stays too; None for a content that is not there at all."""
    if before is None or after is None:
        data, sign = (after or b"", "+") if before is None else (before, "-")
        for start in range(0, len(data), ROW):
            yield ByteRow(sign, start if sign == "-" else None, start if sign == "+" else None, data[start : start + ROW])
        return
    old = new = 0
    for hunk in _hunks(stretches(before, after), len(before), len(after)):
        yield from _same(before, old, hunk.old, new)
        yield from _side("-", before, hunk.old, hunk.old_end, [(one.old, one.old_end) for one in hunk.parts])
        yield from _side("+", after, hunk.new, hunk.new_end, [(one.new, one.new_end) for one in hunk.parts])
        old, new = hunk.old_end, hunk.new_end
    yield from _same(before, old, len(before), new)


class _Hunk(NamedTuple):
    """Stretches that are shown together, from the begin of a row on."""

    old: int
    old_end: int
    new: int
    new_end: int
    parts: list[Stretch]


def _hunks(parts: Sequence[Stretch], old_length: int, new_length: int) -> Iterator[_Hunk]:
    """Join stretches between which no whole row stays; each hunk goes from row to row of the earlier content as far as it can."""
    place = 0
    old = 0
    while place < len(parts):
        first = parts[place]
        back = (first.old - old) % ROW
        together = [first]
        place += 1
        while place < len(parts) and parts[place].old - _up(together[-1].old_end) < ROW:
            together.append(parts[place])
            place += 1
        last = together[-1]
        room = (parts[place].old if place < len(parts) else old_length) - last.old_end
        on = min(_up(last.old_end) - last.old_end, room, new_length - last.new_end)
        hunk = _Hunk(first.old - back, last.old_end + on, first.new - back, last.new_end + on, together)
        yield hunk
        old = hunk.old_end


def _up(offset: int) -> int:
    """Give the begin of the next row."""
    return -(-offset // ROW) * ROW


def _same(data: bytes, start: int, end: int, new: int) -> Iterator[ByteRow]:
    for at in range(start, end, ROW):
        yield ByteRow(" ", at, new + at - start, data[at : min(at + ROW, end)])


def _side(sign: str, data: bytes, start: int, end: int, parts: Sequence[tuple[int, int]]) -> Iterator[ByteRow]:
    """Give the rows of one side of a hunk, what differs in each; both go through once, in their order."""
    place = 0
    for at in range(start, end, ROW):
        stop = min(at + ROW, end)
        while place < len(parts) and parts[place][1] <= at:
            place += 1
        changed = []
        for first, last in parts[place : place + ROW + 1]:
            if first >= stop:
                break
            if max(first, at) < min(last, stop):
                changed.append((max(first, at) - at, min(last, stop) - at))
        yield ByteRow(sign, at if sign == "-" else None, at if sign == "+" else None, data[at:stop], tuple(changed))


def _within(old: bytes, new: bytes) -> Iterator[Stretch]:
    """Compare what begins and ends otherwise on both sides: byte by byte, by common pieces, or line by line, as its size allows."""
    if len(old) == len(new):
        differing = (int.from_bytes(old, "big") ^ int.from_bytes(new, "big")).to_bytes(len(old), "big")
        yield from (Stretch(*match.span(), *match.span()) for match in _NOT_ZERO.finditer(differing))
    elif max(len(old), len(new)) <= MATCHED_AT_MOST:
        yield from _by_pieces(old, new)
    else:
        yield from _by_lines(old, new)


def _by_pieces(old: bytes, new: bytes) -> Iterator[Stretch]:
    at_old = at_new = 0
    for block in difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        if block.size < _SHORTEST_COMMON and block.size:
            continue
        yield Stretch(at_old, block.a, at_new, block.b)
        at_old, at_new = block.a + block.size, block.b + block.size


def _by_lines(old: bytes, new: bytes) -> Iterator[Stretch]:
    gone, come = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if max(len(gone), len(come)) > PIECES_AT_MOST:
        yield Stretch(0, len(old), 0, len(new))
        return
    old_at, new_at = _starts(gone), _starts(come)
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, gone, come, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        left, right = old[old_at[i1] : old_at[i2]], new[new_at[j1] : new_at[j2]]
        inner = _by_pieces(left, right) if max(len(left), len(right)) <= MATCHED_AT_MOST else [Stretch(0, len(left), 0, len(right))]
        for one in inner:
            yield Stretch(old_at[i1] + one.old, old_at[i1] + one.old_end, new_at[j1] + one.new, new_at[j1] + one.new_end)


def _starts(pieces: Sequence[bytes]) -> list[int]:
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + len(piece))
    return starts


def _common(one: bytes, other: bytes) -> int:
    """Give how many bytes both begin with, by halving: as fast as bytes are compared."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: bytes, other: bytes) -> int:
    """Give how many bytes both end with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
