"""What a change would show: for each file the lines that go and the lines that come, ready for a page."""

from __future__ import annotations

from typing import NamedTuple

from stores.formats import diffs, javascript, storable
from stores.formats.canonical import pretty
from stores.formats.diffs import DiffLine, Run
from stores.formats.secrets import find_secrets
from stores.lifecycle.changes import Append, AppendLines, Change, Create, EditLog, MakeFolder, Move, Replace, TakeOut


class FileDifference(NamedTuple):
    """What happens to one file."""

    path: str
    what: str
    """replaced, created, appended to, edited, moved or taken out."""
    lines: tuple[DiffLine, ...]
    to: str = ""
    """Where it is moved."""


def difference(change: Change) -> FileDifference:
    """Show a change; lines that are not touched are left out of a log, and whole records are spread over lines."""
    if isinstance(change, Replace):
        return FileDifference(change.path, "replaced", diffs.whole_diff(_text(change.before), _text(change.after)))
    if isinstance(change, Create):
        return FileDifference(change.path, "created", _all("+", _text(change.after)))
    if isinstance(change, Append):
        return FileDifference(change.path, "appended to", _all("+", _text(pretty(dict(change.record)))))
    if isinstance(change, AppendLines):
        return FileDifference(change.path, "appended to", tuple(line for one in change.lines for line in _all("+", diffs.readable(one))))
    if isinstance(change, EditLog):
        return FileDifference(change.path, "edited", tuple(line for edit in change.edits for line in _edit(edit.before, edit.after)))
    if isinstance(change, TakeOut):
        return FileDifference(change.path, "taken out", _all("-", _text(change.before)))
    if isinstance(change, Move):
        return FileDifference(change.path, "moved", (), change.to)
    return FileDifference(change.path, "created" if isinstance(change, MakeFolder) else "appended to", ())


def adds_secret(change: Change) -> bool:
    """Say whether a change writes something that looks like a secret and was not there before: then nobody may approve it."""
    before, after = _written(change)
    was = "\n".join(map(_words, before))
    known = {was[one.start : one.end] for one in find_secrets(was)}
    new = "\n".join(map(_words, after))
    return any(new[one.start : one.end] not in known for one in find_secrets(new))


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
    """Give the texts of a file as they read, nothing escaped: one record, or one a line."""
    return diffs.readable(data) if javascript.parse(data).accepted else "\n".join(map(diffs.readable, data.split(b"\n")))


def _edit(before: bytes, after: tuple[bytes, ...]) -> tuple[DiffLine, ...]:
    was = diffs.readable(before)
    if len(after) == 1:
        return diffs.whole_diff(was, diffs.readable(after[0]))
    return _all("-", was) + tuple(line for one in after for line in _all("+", diffs.readable(one)))


def _all(sign: str, text: str) -> tuple[DiffLine, ...]:
    return tuple(DiffLine(sign, (Run(line, True),)) for line in text.removesuffix("\n").split("\n"))


def _text(data: bytes) -> str:
    return storable.text(data.decode("utf-8", "replace"))
