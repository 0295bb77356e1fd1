"""The changes of an action as pages show them: line by line, side by side, or word by word, complete and with nothing hidden."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from stores import display, hex_views
from stores.diff_markup import parts, rendered, secrets_in
from stores.diff_rows import SPOKEN, DiffRow, FileView, Shown
from stores.formats.byte_diffs import ByteRow
from stores.formats.byte_diffs import rows as byte_rows
from stores.formats.diffs import DiffLine
from stores.lifecycle.changes import Append, AppendLines, Change, Create, EditLog, EndLine, MakeFolder, Move, Replace, TakeOut
from stores.lifecycle.differences import Pair, Place, bytes_of, difference, parts_of, what_of

CONTEXT: Final = 3
"""Lines that stay on both sides of what differs."""
SHOWN_AT_FIRST: Final = 300
SHOWN_AT_ONCE: Final = 2_000
"""Rows of one file; the others are on further pages, none is left out."""
_FILES_AT_FIRST: Final = 20
_BLANKS: Final = 4
"""As many blank lines one behind the other are counted instead of shown."""


def file_views(changes: Sequence[Change], shown: Shown) -> list[FileView]:
    """Give all changes; of large ones the first rows, and all of the one file that is asked for by pages."""
    return [file_view(position, change, shown) for position, change in enumerate(changes, 1)]


def file_view(position: int, change: Change, shown: Shown) -> FileView:
    """Give one change."""
    what, to = what_of(change)
    asked = shown.file == position
    whole = bytes_of(change) if not isinstance(change, EditLog | AppendLines) else None
    at_first = hex_views.SHOWN_AT_FIRST if whole is not None else SHOWN_AT_FIRST
    wanted = position <= _FILES_AT_FIRST or asked or (shown.at is not None and shown.at.file == position)
    rows: list[DiffRow] = []
    if whole is not None:
        laid = list(byte_rows(*whole))
        signs = [one.sign for one in laid]
        listed = hex_views.folded(laid, shown, position) if wanted else []
        start, total = _first(listed, position, shown, at_first), len(listed)
        cut = listed[start - 1 : start - 1 + (SHOWN_AT_ONCE if asked else at_first)]
        rows = hex_views.drawn(cut, *whole, position)
    else:
        told = [(bytes_of(part), difference(part).lines) for part in parts_of(change)]
        signs = [line.sign for _, lines in told for line in lines]
        every = _rows(told, position, shown) if wanted else []
        start, total = _first(every, position, shown, at_first), len(every)
        rows = every[start - 1 : start - 1 + (SHOWN_AT_ONCE if asked else at_first)]
    return FileView(
        position,
        change.path,
        what,
        to,
        "created" if isinstance(change, Create) else "gone" if isinstance(change, TakeOut) else "changed",
        signs.count("+"),
        signs.count("-"),
        _sizes(change),
        rows,
        shown.mode,
        start,
        total if wanted else len(signs),
        _note(change),
        whole is not None,
    )


def _first(rows: Sequence[DiffRow | hex_views.Laid], position: int, shown: Shown, at_first: int) -> int:
    """Give the first row of the piece that is shown: the one that is asked for, or one before the line that is to be seen."""
    if shown.file == position:
        return min(shown.start, max(1, len(rows)))
    if shown.at is not None and shown.at.file == position:
        for number, row in enumerate(rows, 1):
            if shown.at in _places(row, position):
                return 1 if number <= at_first else number - CONTEXT
    return 1


def _places(row: DiffRow | hex_views.Laid, position: int) -> tuple[Place | None, ...]:
    if isinstance(row, DiffRow):
        return row.places
    return hex_views.places_of(row, position) if isinstance(row, ByteRow) else ()


def between(path: str, before: bytes, after: bytes, shown: Shown) -> FileView:
    """Give what differs between two versions of a file, however they came to be."""
    return file_view(0, Replace(path, before, after), shown)


def totals(views: Iterable[FileView]) -> str:
    """Give "3 files, +6 −3"."""
    listed = list(views)
    files = f"{display.number(len(listed))} file{'' if len(listed) == 1 else 's'}"
    return f"{files}, +{display.number(sum(one.added for one in listed))} −{display.number(sum(one.removed for one in listed))}"


def _sizes(change: Change) -> str:
    if isinstance(change, Replace):
        return f"{display.number(len(change.before))} → {display.number(len(change.after))} B"
    if isinstance(change, Create):
        return f"{display.size(len(change.after))}"
    if isinstance(change, TakeOut | Move):
        return f"{display.size(len(change.before))}"
    if isinstance(change, EditLog):
        return f"{display.number(len(change.edits))} line{'' if len(change.edits) == 1 else 's'}, every other one stays byte for byte"
    return ""


def _note(change: Change) -> str:
    """Say what the lines of a change cannot show, and how they are to be read."""
    if isinstance(change, MakeFolder):
        return "A folder is made."
    if isinstance(change, EndLine):
        return "A line break is added behind the last line, which has none."
    if isinstance(change, Append | AppendLines):
        return "Written at the end of the log; number and time are filled in then."
    if isinstance(change, EditLog):
        binary = any(bytes_of(part) is not None for part in parts_of(change))
        return f"Each record is one line of the log; it is spread over lines here.{' A line that is no text stands as its bytes.' if binary else ''}"
    return "It is no text: its bytes stand here, 16 a row." if bytes_of(change) is not None else ""


def _rows(told: Sequence[tuple[Pair | None, Sequence[DiffLine]]], position: int, shown: Shown) -> list[DiffRow]:
    """Give the rows of a change that is text, all of it or, of a log, most of its lines."""
    rows: list[DiffRow] = []
    numbers = _Numbers(position)
    for pair, lines in told:
        if pair is not None:
            rows += hex_views.drawn(hex_views.folded(list(byte_rows(*pair)), shown), *pair)
        else:
            rows += _text_rows(lines, numbers, shown)
    return rows


class _Numbers:
    """Numbers the lines of both sides of a change."""

    def __init__(self, position: int) -> None:
        self._position = position
        self._old = self._new = 0

    def of(self, line: DiffLine) -> _Number:
        """Give the numbers of the next line."""
        self._old += line.sign != "+"
        self._new += line.sign != "-"
        old = Place(self._position, "before", self._old) if line.sign != "+" else None
        return _Number(old, Place(self._position, "after", self._new) if line.sign != "-" else None)


class _Number(NamedTuple):
    """What a line is named by on either side."""

    old: Place | None
    new: Place | None


def _text_rows(lines: Sequence[DiffLine], numbers: _Numbers, shown: Shown) -> list[DiffRow]:
    numbered = [numbers.of(line) for line in lines]
    if shown.mode == "split":
        return list(_split(lines, numbered, shown))
    html = rendered(lines)
    if shown.mode == "words":
        return list(_folded(list(_by_words(lines, html, numbered)), shown))
    return list(_folded(list(_unified(lines, html, numbered)), shown))


class _Line(NamedTuple):
    row: DiffRow
    is_blank: bool


def _row(
    sign: str, old: Place | None, new: Place | None, html: SafeString | str, right: SafeString | str = "", right_sign: str = ""
) -> DiffRow:
    return DiffRow(
        "line",
        sign,
        str(old.line) if old is not None else "",
        str(new.line) if new is not None else "",
        html,
        right,
        right_sign,
        SPOKEN.get(sign, ""),
        old,
        new,
    )


def _unified(lines: Sequence[DiffLine], texts: Sequence[SafeString], numbers: Sequence[_Number]) -> Iterator[_Line]:
    for line, html, (old, new) in zip(lines, texts, numbers, strict=True):
        yield _Line(_row(line.sign, old, new, html), _is_blank(line))


def _by_words(lines: Sequence[DiffLine], texts: Sequence[SafeString], numbers: Sequence[_Number]) -> Iterator[_Line]:
    """Give reworded lines once, what goes and what comes beside each other in them."""
    spans = secrets_in(lines)
    place = 0
    while place < len(lines):
        line = lines[place]
        if _is_reworded(lines, place):
            later = lines[place + 1]
            html = _merged(line, spans[place], later, spans[place + 1])
            yield _Line(_row("~", numbers[place].old, numbers[place + 1].new, html), False)
            place += 2
            continue
        yield _Line(_row(line.sign, *numbers[place], texts[place]), _is_blank(line))
        place += 1


def _is_reworded(lines: Sequence[DiffLine], place: int) -> bool:
    """Say whether a line that goes and the next one, which comes, are two wordings of one."""
    if place + 1 >= len(lines) or lines[place].sign != "-" or lines[place + 1].sign != "+":
        return False
    return not all(run.changed for run in lines[place].runs) or not all(run.changed for run in lines[place + 1].runs)


def _merged(before: DiffLine, old_spans: Sequence[tuple[int, int]], after: DiffLine, new_spans: Sequence[tuple[int, int]]) -> SafeString:
    gone = parts(before.runs, old_spans, "del")
    come = parts(after.runs, new_spans, "ins")
    pieces: list[SafeString] = []
    left, right = 0, 0
    while left < len(gone) or right < len(come):
        if left < len(gone) and before.runs[left].changed:
            pieces.append(gone[left])
            left += 1
        elif right < len(come) and after.runs[right].changed:
            pieces.append(come[right])
            right += 1
        else:
            if left < len(gone):
                pieces.append(gone[left])
            left, right = left + 1, right + 1
    return format_html("<bdi>{}</bdi>", format_html_join("", "{}", ((one,) for one in pieces)))


def _folded(rows: Sequence[_Line], shown: Shown) -> Iterator[DiffRow]:
    """Give rows with long runs of unchanged and of blank ones as one row that counts them; what has something under it stays."""
    noted = shown.noted | ({shown.at} if shown.at is not None else set())

    def sort_of(one: _Line) -> tuple[bool, bool, bool]:
        kept = any(place in noted for place in one.row.places)
        return kept, one.row.sign == " " and not kept, one.row.sign != " " and one.is_blank and not kept

    groups = [(sort, list(some)) for sort, some in groupby(rows, key=sort_of)]
    for place, ((_, same, blank), group) in enumerate(groups):
        sign = group[0].row.sign
        if blank and len(group) >= _BLANKS:
            yield DiffRow("fold", sign, html=f"{display.number(len(group))} blank lines", spoken=SPOKEN[sign])
            continue
        if not same or shown.context:
            yield from (one.row for one in group)
            continue
        yield from _with_fold([one.row for one in group], first=place == 0, last=place == len(groups) - 1)


def _with_fold(rows: list[DiffRow], *, first: bool, last: bool) -> Iterator[DiffRow]:
    head = 0 if first else CONTEXT
    tail = 0 if last else CONTEXT
    if len(rows) <= head + tail + 1:
        yield from rows
        return
    yield from rows[:head]
    hidden = len(rows) - head - tail
    yield DiffRow("fold", " ", html=f"{display.number(hidden)} unchanged line{'' if hidden == 1 else 's'}")
    yield from rows[len(rows) - tail :] if tail else ()


def _split(lines: Sequence[DiffLine], numbers: Sequence[_Number], shown: Shown) -> Iterator[DiffRow]:
    """Give both sides beside each other: what goes and what comes in pairs."""
    texts = rendered(lines)
    rows: list[_Line] = []
    place = 0
    while place < len(lines):
        if lines[place].sign == " ":
            html = texts[place]
            rows.append(_Line(_row(" ", *numbers[place], html, html, " "), False))
            place += 1
            continue
        gone: list[int] = []
        come: list[int] = []
        while place < len(lines) and lines[place].sign != " ":
            (gone if lines[place].sign == "-" else come).append(place)
            place += 1
        for number in range(max(len(gone), len(come))):
            old = gone[number] if number < len(gone) else None
            new = come[number] if number < len(come) else None
            row = _row(
                "-" if old is not None else "",
                numbers[old].old if old is not None else None,
                numbers[new].new if new is not None else None,
                texts[old] if old is not None else "",
                texts[new] if new is not None else "",
                "+" if new is not None else "",
            )._replace(spoken="changed")
            rows.append(_Line(row, all(_is_blank(lines[one]) for one in (old, new) if one is not None)))
    yield from _folded(rows, shown)


def _is_blank(line: DiffLine) -> bool:
    return not any(run.text.strip() for run in line.runs)
