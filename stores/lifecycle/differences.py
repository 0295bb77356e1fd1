"""What a change would show: for each file the lines that go and the lines that come, ready for a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, TypeVar

from stores.formats import diffs, javascript, storable
from stores.formats.byte_diffs import ROW, is_text, rows
from stores.formats.canonical import pretty
from stores.formats.diffs import DiffLine, Run
from stores.formats.secret_bytes import row_text, secret_places
from stores.formats.secrets import find_secrets
from stores.lifecycle.changes import Append, AppendLines, Change, Create, EditLog, MakeFolder, Move, Replace, TakeOut

SIDES: Final = ("before", "after")
_PLACE: Final = re.compile(r"([1-9][0-9]{0,6})-(before|after)-([1-9][0-9]{0,8})")
Pair = tuple[bytes | None, bytes | None]
"""What stands there before and after; None where nothing does."""
_One = TypeVar("_One")


class Place(NamedTuple):
    """A line of one side of a change, as pages number them; of bytes that are no text a row of 16 of them."""

    file: int
    """Which of an action's changes, from 1."""
    side: str
    """before or after."""
    line: int
    """From 1."""

    def __str__(self) -> str:
        return f"{self.file}-{self.side}-{self.line}"

    @classmethod
    def read(cls, given: str) -> Place | None:
        """Read what `str` gives; None for anything else."""
        match = _PLACE.fullmatch(given)
        return cls(int(match[1]), match[2], int(match[3])) if match is not None else None


class FileDifference(NamedTuple):
    """What happens to one file."""

    path: str
    what: str
    """replaced, created, appended to, edited, moved or taken out."""
    lines: tuple[DiffLine, ...]
    to: str = ""
    """Where it is moved."""


def difference(change: Change) -> FileDifference:
    """Show a change; lines that are not touched are left out of a log, and whole records are spread over lines.

    What is no text comes as rows of its bytes, secrets in them masked.
    """
    what, to = what_of(change)
    return FileDifference(change.path, what, tuple(line for part in parts_of(change) for line in _lines(part)), to)


def what_of(change: Change) -> tuple[str, str]:
    """Say in words what happens to a file, and where it is moved."""
    words = {Replace: "replaced", EditLog: "edited", TakeOut: "taken out", Move: "moved", Create: "created", MakeFolder: "created"}
    return words.get(type(change), "appended to"), change.to if isinstance(change, Move) else ""


def sides(change: Change) -> Pair:
    """Give what a whole file holds before and after a change; None where it is not there, both for what is no change of a whole file."""
    if isinstance(change, Replace):
        return change.before, change.after
    return (change.before if isinstance(change, TakeOut) else None), (change.after if isinstance(change, Create) else None)


def is_bytes(change: Change) -> bool:
    """Say whether a whole file is shown as bytes, since it is no text before or after."""
    return not all(is_text(data) for data in sides(change) if data is not None)


def parts_of(change: Change) -> list[Change]:
    """Part a change of a log into runs of lines that are text and single ones that are none; any other change comes as it is."""
    if isinstance(change, EditLog):
        edits = [(is_text(one.before) and all(map(is_text, one.after)), one) for one in change.edits]
        return [EditLog(change.path, some) for some in _runs(edits)]
    if isinstance(change, AppendLines):
        return [AppendLines(change.path, some) for some in _runs([(is_text(line), line) for line in change.lines])]
    return [change]


def bytes_of(part: Change) -> Pair | None:
    """Give what a part replaces and puts in its place where it is shown as bytes; None where it is shown as text."""
    if isinstance(part, EditLog):
        ((before, after, _),) = part.edits if len(part.edits) == 1 else ((b"", (), 0),)
        return None if is_text(before) and all(map(is_text, after)) else (before, b"\n".join(after) if after else None)
    if isinstance(part, AppendLines):
        return None if all(map(is_text, part.lines)) else (None, part.lines[0])
    return sides(part) if is_bytes(part) else None


def line_count(change: Change, side: str) -> int:
    """Give how many lines of a side of a change can be named by their number: of a log those that are text."""
    if is_bytes(change):
        data = sides(change)[SIDES.index(side)] or b""
        return -(-len(data) // ROW)
    other = "+" if side == "before" else "-"
    shown = [difference(part) for part in parts_of(change) if bytes_of(part) is None]
    return sum(line.sign != other for one in shown for line in one.lines)


def adds_secret(change: Change) -> bool:
    """Say whether a change writes something that looks like a secret and was not there before: then nobody may approve it."""
    before, after = _written(change)
    was = "\n".join(map(_words, before))
    known = {was[one.start : one.end] for one in find_secrets(was)}
    new = "\n".join(map(_words, after))
    return any(new[one.start : one.end] not in known for one in find_secrets(new))


def _runs(judged: Sequence[tuple[bool, _One]]) -> list[tuple[_One, ...]]:
    """Put neighbours that are text together; each of the others stands alone."""
    runs: list[list[_One]] = []
    was_text = False
    for text, one in judged:
        if text and was_text:
            runs[-1].append(one)
        else:
            runs.append([one])
        was_text = text
    return [tuple(run) for run in runs]


def _written(change: Change) -> tuple[list[bytes], list[bytes]]:
    """Give what a change takes out and what it writes."""
    if isinstance(change, Replace):
        return [change.before], [change.after]
    if isinstance(change, Create):
        return [], [change.after]
    if isinstance(change, Append):
        return [], [pretty(dict(change.record))]
    if isinstance(change, AppendLines):
        return [], list(change.lines)
    if isinstance(change, EditLog):
        return [edit.before for edit in change.edits], [line for edit in change.edits for line in edit.after]
    return [], []


def _words(data: bytes) -> str:
    """Give the texts of a file as they read, nothing escaped: one record, or one a line; where NULs part the letters, also without them."""
    if b"\0" in data:
        return f"{_text(data)}\n{data.replace(bytes(1), b'').decode('latin-1')}"
    return diffs.readable(data) if javascript.parse(data).accepted else "\n".join(map(diffs.readable, data.split(b"\n")))


def _lines(part: Change) -> Iterable[DiffLine]:
    pair = bytes_of(part)
    if pair is not None:
        return _byte_lines(*pair)
    if isinstance(part, Replace):
        return diffs.whole_diff(_text(part.before), _text(part.after))
    if isinstance(part, Create):
        return _all("+", _text(part.after))
    if isinstance(part, Append):
        return _all("+", _text(pretty(dict(part.record))))
    if isinstance(part, AppendLines):
        return (line for one in part.lines for line in _all("+", diffs.readable(one)))
    if isinstance(part, EditLog):
        return (line for edit in part.edits for line in _edit(edit.before, edit.after))
    return _all("-", _text(part.before)) if isinstance(part, TakeOut) else ()


def _byte_lines(before: bytes | None, after: bytes | None) -> Iterable[DiffLine]:
    old, new = secret_places(before or b""), secret_places(after or b"")
    for row in rows(before, after):
        yield DiffLine(row.sign, (Run(row_text(row, new if row.old is None else old), row.sign != " "),))


def _edit(before: bytes, after: tuple[bytes, ...]) -> tuple[DiffLine, ...]:
    was = diffs.readable(before)
    if len(after) == 1:
        return diffs.whole_diff(was, diffs.readable(after[0]))
    return _all("-", was) + tuple(line for one in after for line in _all("+", diffs.readable(one)))


def _all(sign: str, text: str) -> tuple[DiffLine, ...]:
    return tuple(DiffLine(sign, (Run(line, True),)) for line in text.removesuffix("\n").split("\n"))


def _text(data: bytes) -> str:
    return storable.text(data.decode("utf-8", "replace"))
