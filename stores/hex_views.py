"""Changes of what is no text: rows of 16 bytes with what differs marked, secrets masked, and what stays folded."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from stores import display
from stores.diff_rows import SPOKEN, DiffRow, Shown
from stores.formats.byte_diffs import ROW, ByteRow
from stores.formats.secret_bytes import characters_of, digits_of, secret_places
from stores.lifecycle.differences import Place
from stores.selectors.byte_view import CONTEXT_BYTES

CONTEXT: Final = 2
"""Rows that stay on both sides of what differs."""
SHOWN_AT_FIRST: Final = 64
"""Rows of a file: a person reads a screen of bytes, not a hundred of them."""
_HALF: Final = ROW // 2


class Fold(NamedTuple):
    """Rows that stay and are not shown."""

    length: int
    """Bytes."""


Laid = ByteRow | Fold


def folded(every: Sequence[ByteRow], shown: Shown, file: int = 0) -> list[Laid]:
    """Give the rows of a change, long runs of what stays as one that counts their bytes; `file` is its position where its rows can be named."""
    if shown.context:
        return list(every)
    noted = shown.noted | ({shown.at} if shown.at is not None else set())
    return list(_folded(every, noted, file))


def drawn(lines: Sequence[Laid], before: bytes | None, after: bytes | None, file: int = 0) -> list[DiffRow]:
    """Give rows for a page; secrets are looked for around what is shown."""
    shown = [one for one in lines if isinstance(one, ByteRow)]
    old = _hidden(before or b"", [(one.old, len(one.data)) for one in shown if one.old is not None])
    new = _hidden(after or b"", [(one.new, len(one.data)) for one in shown if one.new is not None and one.old is None])
    width = max(4, len(f"{max(len(before or b''), len(after or b''), 1) - 1:x}"))
    return [_fold(one) if isinstance(one, Fold) else _row(one, old if one.old is not None else new, width, file) for one in lines]


def places_of(row: ByteRow, file: int) -> tuple[Place | None, Place | None]:
    """Give what a row is named by on both sides; nothing where `file` is 0."""
    old = Place(file, "before", row.old // ROW + 1) if file and row.old is not None else None
    return old, Place(file, "after", row.new // ROW + 1) if file and row.new is not None and old is None else None


def _folded(every: Sequence[ByteRow], noted: Collection[Place], file: int) -> Iterator[Laid]:
    def stays(row: ByteRow) -> bool:
        return row.sign == " " and not any(place in noted for place in places_of(row, file))

    groups = [(same, list(some)) for same, some in groupby(every, key=stays)]
    for place, (same, group) in enumerate(groups):
        head, tail = CONTEXT if place else 0, CONTEXT if place < len(groups) - 1 else 0
        if not same or len(group) <= head + tail + 1:
            yield from group
            continue
        yield from group[:head]
        yield Fold(sum(len(row.data) for row in group[head : len(group) - tail]))
        yield from group[len(group) - tail :] if tail else ()


def _fold(one: Fold) -> DiffRow:
    return DiffRow("fold", " ", html=f"{display.number(one.length)} unchanged bytes")


def _row(row: ByteRow, hidden: frozenset[int], width: int, file: int) -> DiffRow:
    start = row.old if row.old is not None else row.new or 0
    old_place, new_place = places_of(row, file)
    return DiffRow(
        "bytes",
        row.sign,
        "" if row.old is None else f"{row.old:0{width}x}",
        "" if row.new is None else f"{row.new:0{width}x}",
        _halves(row, digits_of(row.data, start, hidden), " "),
        _halves(row, characters_of(row.data, start, hidden), ""),
        spoken=SPOKEN[row.sign],
        old_place=old_place,
        new_place=new_place,
    )


def _halves(row: ByteRow, texts: Sequence[str], between: str) -> SafeString:
    """Give what stands for the bytes of a row in two halves, which a narrow page puts under each other."""
    changed = {place for first, last in row.changed for place in range(first, last)}
    halves = [range(start, min(start + _HALF, len(texts))) for start in range(0, len(texts), _HALF)]
    return format_html_join(
        " ", '<span class="hex-half">{}</span>', ((_marked(row.sign, half, texts, changed, between),) for half in halves)
    )


def _marked(sign: str, places: range, texts: Sequence[str], changed: Collection[int], between: str) -> SafeString:
    runs = [(marked, [texts[place] for place in some]) for marked, some in groupby(places, key=lambda place: place in changed)]
    tag = "<del>{}</del>" if sign == "-" else "<ins>{}</ins>"
    return format_html_join(
        between, "{}", ((format_html(tag, between.join(one)) if marked else between.join(one),) for marked, one in runs)
    )


def _hidden(data: bytes, shown: Sequence[tuple[int, int]]) -> frozenset[int]:
    """Give the places of secrets in the shown pieces of a content and around them."""
    hidden: set[int] = set()
    windows: list[list[int]] = []
    for start, length in shown:
        first, last = max(0, start - CONTEXT_BYTES), start + length + CONTEXT_BYTES
        if windows and first <= windows[-1][1]:
            windows[-1][1] = last
        else:
            windows.append([first, last])
    for first, last in windows:
        hidden |= {first + place for place in secret_places(data[first:last])}
    return frozenset(hidden)
