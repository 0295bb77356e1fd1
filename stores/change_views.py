"""The changes of an action as pages show them: line by line, side by side, or word by word, complete and with nothing hidden."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, Literal, NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from stores import display
from stores.diff_markup import parts, rendered, secrets_in
from stores.formats import storable
from stores.formats.diffs import DiffLine
from stores.lifecycle.changes import Append, AppendLines, Change, Create, EditLog, EndLine, MakeFolder, Move, Replace, TakeOut
from stores.lifecycle.differences import FileDifference, difference

Mode = Literal["unified", "split", "words"]
MODES: Final[tuple[tuple[Mode, str], ...]] = (("unified", "Unified"), ("split", "Split"), ("words", "Words"))
CONTEXT: Final = 3
"""Lines that stay on both sides of what differs."""
SHOWN_AT_FIRST: Final = 300
SHOWN_AT_ONCE: Final = 2_000
"""Rows of one file; the others are on further pages, none is left out."""
_FILES_AT_FIRST: Final = 20
_BLANKS: Final = 4
"""As many blank lines one behind the other are counted instead of shown."""


class DiffRow(NamedTuple):
    """One row: a line of either side or of both, or a fold that says how many lines it stands for."""

    kind: str
    """line or fold."""
    sign: str = ""
    old: str = ""
    new: str = ""
    """Numbers of the line."""
    html: SafeString | str = ""
    right: SafeString | str = ""
    """The later side, where both stand beside each other."""
    right_sign: str = ""
    spoken: str = ""
    """What the sign says to readers."""


class FileView(NamedTuple):
    """What happens to one file."""

    position: int
    path: str
    what: str
    to: str
    state: str
    """created, gone or changed: whether all of it is green, or red."""
    added: int
    removed: int
    sizes: str
    rows: list[DiffRow]
    mode: Mode
    first: int
    """Number of the first row that is shown."""
    total: int
    """Rows that there are."""
    note: str = ""

    @property
    def last(self) -> int:
        """Number of the last row that is shown."""
        return self.first + len(self.rows) - 1

    @property
    def next_from(self) -> int:
        """Where the next page of rows begins; 0 where there is none."""
        return self.last + 1 if self.last < self.total else 0

    @property
    def left(self) -> int:
        """How many rows are not shown here."""
        return self.total - len(self.rows)


class Shown(NamedTuple):
    """What of the changes a page asks for."""

    mode: Mode = "unified"
    file: int = 0
    """The file of which more is wanted, from 1; 0 for none."""
    start: int = 1
    """Its first row."""
    context: bool = False
    """Unchanged lines are not folded."""


def file_views(changes: Sequence[Change], shown: Shown) -> list[FileView]:
    """Give all changes; of large ones the first rows, and all of the one file that is asked for by pages."""
    return [file_view(position, change, shown) for position, change in enumerate(changes, 1)]


def file_view(position: int, change: Change, shown: Shown) -> FileView:
    """Give one change."""
    told = difference(change)
    asked = shown.file == position
    if position > _FILES_AT_FIRST and not asked:
        rows: list[DiffRow] = []
        total = len(told.lines)
    else:
        every = _rows(told, _numbered(change), shown)
        total = len(every)
        start = min(shown.start, max(1, total)) if asked else 1
        rows = every[start - 1 : start - 1 + (SHOWN_AT_ONCE if asked else SHOWN_AT_FIRST)]
    return FileView(
        position,
        told.path,
        told.what,
        told.to,
        "created" if isinstance(change, Create) else "gone" if isinstance(change, TakeOut) else "changed",
        sum(line.sign == "+" for line in told.lines),
        sum(line.sign == "-" for line in told.lines),
        _sizes(change),
        rows,
        shown.mode,
        min(shown.start, max(1, total)) if asked else 1,
        total,
        _note(change),
    )


def between(path: str, before: bytes, after: bytes, shown: Shown) -> FileView:
    """Give what differs between two versions of a file, however they came to be."""
    return file_view(0, Replace(path, before, after), shown)


def totals(views: Iterable[FileView]) -> str:
    """Give "3 files, +6 −3"."""
    listed = list(views)
    files = f"{display.number(len(listed))} file{'' if len(listed) == 1 else 's'}"
    return f"{files}, +{display.number(sum(one.added for one in listed))} −{display.number(sum(one.removed for one in listed))}"


def _numbered(change: Change) -> bool:
    return isinstance(change, Replace | Create | TakeOut)


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
    """Say what the lines of a change cannot show."""
    if isinstance(change, MakeFolder):
        return "A folder is made."
    if isinstance(change, EndLine):
        return "A line break is added behind the last line, which has none."
    if isinstance(change, Append | AppendLines):
        return "Written at the end of the log; number and time are filled in then."
    written = [data for name in ("before", "after") if isinstance(data := getattr(change, name, None), bytes)]
    bad = sum(storable.text(data.decode("utf-8", "replace")).count("\ufffd") for data in written if not _decodes(data))
    return f"{display.number(bad)} bytes are no UTF-8; they stand as \ufffd." if bad else ""


def _decodes(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _rows(told: FileDifference, numbered: bool, shown: Shown) -> list[DiffRow]:
    lines = list(told.lines)
    if shown.mode == "split":
        return list(_split(lines, numbered, shown))
    html = rendered(lines)
    if shown.mode == "words":
        return list(_folded(list(_by_words(lines, html, numbered)), lines, shown, paired=True))
    return list(_folded(list(_unified(lines, html, numbered)), lines, shown))


class _Line(NamedTuple):
    row: DiffRow
    is_blank: bool


def _unified(lines: Sequence[DiffLine], texts: Sequence[SafeString], numbered: bool) -> Iterator[_Line]:
    for line, html, (old, new) in zip(lines, texts, _numbers(lines, numbered), strict=True):
        yield _Line(DiffRow("line", line.sign, old, new, html, spoken=_SPOKEN[line.sign]), _is_blank(line))


_SPOKEN: Final = {" ": "", "-": "taken out", "+": "put in", "~": "reworded"}


def _by_words(lines: Sequence[DiffLine], texts: Sequence[SafeString], numbered: bool) -> Iterator[_Line]:
    """Give reworded lines once, what goes and what comes beside each other in them."""
    numbers = _numbers(lines, numbered)
    spans = secrets_in(lines)
    place = 0
    while place < len(lines):
        line = lines[place]
        if _is_reworded(lines, place):
            later = lines[place + 1]
            html = _merged(line, spans[place], later, spans[place + 1])
            yield _Line(DiffRow("line", "~", numbers[place][0], numbers[place + 1][1], html, spoken=_SPOKEN["~"]), False)
            place += 2
            continue
        old, new = numbers[place]
        yield _Line(DiffRow("line", line.sign, old, new, texts[place], spoken=_SPOKEN[line.sign]), _is_blank(line))
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


def _folded(rows: Sequence[_Line], lines: Sequence[DiffLine], shown: Shown, *, paired: bool = False) -> Iterator[DiffRow]:
    """Give rows with long runs of unchanged and of blank ones as one row that counts them."""
    groups = [list(some) for _, some in groupby(rows, key=lambda one: (one.row.sign == " ", one.row.sign != " " and one.is_blank))]
    for place, group in enumerate(groups):
        sign = group[0].row.sign
        if sign != " " and group[0].is_blank and len(group) >= _BLANKS:
            yield DiffRow("fold", sign, html=f"{display.number(len(group))} blank lines", spoken=_SPOKEN[sign])
            continue
        if sign != " " or shown.context:
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


def _split(lines: Sequence[DiffLine], numbered: bool, shown: Shown) -> Iterator[DiffRow]:
    """Give both sides beside each other: what goes and what comes in pairs."""
    texts, numbers = rendered(lines), _numbers(lines, numbered)
    rows: list[_Line] = []
    place = 0
    while place < len(lines):
        if lines[place].sign == " ":
            html = texts[place]
            rows.append(_Line(DiffRow("line", " ", *numbers[place], html, html, " "), False))
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
            rows.append(
                _Line(
                    DiffRow(
                        "line",
                        "-" if old is not None else "",
                        numbers[old][0] if old is not None else "",
                        numbers[new][1] if new is not None else "",
                        texts[old] if old is not None else "",
                        texts[new] if new is not None else "",
                        "+" if new is not None else "",
                        "changed",
                    ),
                    all(_is_blank(lines[one]) for one in (old, new) if one is not None),
                )
            )
    yield from _folded(rows, lines, shown)


def _numbers(lines: Sequence[DiffLine], numbered: bool) -> list[tuple[str, str]]:
    if not numbered:
        return [("", "")] * len(lines)
    old = new = 0
    numbers = []
    for line in lines:
        old += line.sign != "+"
        new += line.sign != "-"
        numbers.append((str(old) if line.sign != "+" else "", str(new) if line.sign != "-" else ""))
    return numbers


def _is_blank(line: DiffLine) -> bool:
    return not any(run.text.strip() for run in line.runs)
