"""What an action does to files: bytes that are made once, when it enters the queue, and are written as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Final, NamedTuple

from stores.formats.canonical import digest

VOLATILE: Final = frozenset({"id", "timestamp", "sequence", "previous_digest", "approval_marker"})
"""What an appended record gets only when it is written, so that no approval can be about it."""


class Standing(StrEnum):
    """How a file stands to a change."""

    BEFORE = "before"
    AFTER = "after"
    OTHER = "other"
    """Neither: somebody else has written there."""


@dataclass(frozen=True, slots=True)
class Replace:
    """A file's content gives way to another."""

    path: str
    before: bytes
    after: bytes

    def standing(self, data: bytes | None) -> Standing:
        """Say which of both a file holds."""
        return Standing.AFTER if data == self.after else Standing.BEFORE if data == self.before else Standing.OTHER

    def binding(self) -> dict[str, object]:
        """Give what an approval is about."""
        return {"replace": self.path, "before": bytes_digest(self.before), "after": bytes_digest(self.after)}


@dataclass(frozen=True, slots=True)
class Create:
    """A file is made where none is."""

    path: str
    after: bytes

    def standing(self, data: bytes | None) -> Standing:
        """Say whether the file is there, and as it is made."""
        return Standing.BEFORE if data is None else Standing.AFTER if data == self.after else Standing.OTHER

    def binding(self) -> dict[str, object]:
        """Give what an approval is about."""
        return {"create": self.path, "after": bytes_digest(self.after)}


@dataclass(frozen=True, slots=True)
class MakeFolder:
    """A folder is made where none is."""

    path: str

    def binding(self) -> dict[str, object]:
        """Give what an approval is about."""
        return {"make_folder": self.path}


@dataclass(frozen=True, slots=True)
class Append:
    """A record is added at the end of a log."""

    path: str
    record: Mapping[str, object]
    """Its content; what is volatile in it may still change."""

    def binding(self) -> dict[str, object]:
        """Give what an approval is about: the content, and nothing about the log."""
        content = {name: value for name, value in self.record.items() if name not in VOLATILE}
        return {"append": self.path, "content": digest(content)}


@dataclass(frozen=True, slots=True)
class AppendLines:
    """Lines are added at the end of a log as they are."""

    path: str
    lines: tuple[bytes, ...]
    """Without line breaks."""

    def binding(self) -> dict[str, object]:
        """Give what an approval is about: the lines, and nothing about the log."""
        return {"append": self.path, "lines": [bytes_digest(line) for line in self.lines]}


@dataclass(frozen=True, slots=True)
class EndLine:
    """A line break is added at the end of a log that has none."""

    path: str

    def binding(self) -> dict[str, object]:
        """Give what an approval is about."""
        return {"end_line": self.path}


@dataclass(frozen=True, slots=True)
class Move:
    """A file gets another name in the store; lines that are appended to it meanwhile come along."""

    path: str
    to: str
    before: bytes
    """What it held when the action was made."""

    def standing(self, data: bytes | None) -> Standing:
        """Say whether a file still begins with what it held; what is not there has been moved, or is gone."""
        return Standing.AFTER if data is None else Standing.BEFORE if data.startswith(self.before) else Standing.OTHER

    def binding(self) -> dict[str, object]:
        """Give what an approval is about."""
        return {"move": self.path, "to": self.to, "before": bytes_digest(self.before), "length": len(self.before)}


@dataclass(frozen=True, slots=True)
class TakeOut:
    """A file is taken out of the store; its bytes are kept with the action."""

    path: str
    before: bytes

    def standing(self, data: bytes | None) -> Standing:
        """Say whether the file is still there as it was."""
        return Standing.AFTER if data is None else Standing.BEFORE if data == self.before else Standing.OTHER

    def binding(self) -> dict[str, object]:
        """Give what an approval is about."""
        return {"take_out": self.path, "before": bytes_digest(self.before)}


class LineEdit(NamedTuple):
    """One line of a log that is replaced or taken out."""

    before: bytes
    """The line without its line break."""
    after: tuple[bytes, ...]
    """The lines in its place, without line breaks; none to take it out."""
    ordinal: int = 0
    """Which of the lines with these bytes it is, in the order of the file."""


class LineMissing(ValueError):
    """A line that was to be changed is not in the log any more."""


@dataclass(frozen=True, slots=True)
class EditLog:
    """Lines of a log are changed; every other line, also one appended later, stays byte for byte."""

    path: str
    edits: tuple[LineEdit, ...]

    def apply(self, data: bytes) -> bytes:
        """Give the log's bytes with the lines changed; raises LineMissing unless every one of them is there."""
        wanted = {(edit.before, edit.ordinal): edit.after for edit in self.edits}
        touched = {edit.before for edit in self.edits}
        met: dict[bytes, int] = {}
        pieces: list[bytes] = []
        done = 0
        for line, end in _lines(data):
            if line not in touched:
                pieces.append(line + end)
                continue
            ordinal = met.get(line, 0)
            met[line] = ordinal + 1
            after = wanted.get((line, ordinal))
            if after is None:
                pieces.append(line + end)
                continue
            done += 1
            pieces += (one + b"\n" for one in after)
        if done < len(wanted):
            raise LineMissing(f"{len(wanted) - done:,} of {len(wanted):,} lines are not in {self.path} any more.")
        return b"".join(pieces)

    def standing(self, data: bytes | None) -> Standing:
        """Say whether all lines are as they were, or none of them is and what takes their place is there."""
        if data is None:
            return Standing.OTHER
        there: dict[bytes, int] = {}
        for line, _ in _lines(data):
            there[line] = there.get(line, 0) + 1
        if all(there.get(edit.before, 0) > edit.ordinal for edit in self.edits):
            return Standing.BEFORE
        gone = all(there.get(edit.before, 0) <= edit.ordinal for edit in self.edits if edit.before not in edit.after)
        made = all(line in there for edit in self.edits for line in edit.after)
        return Standing.AFTER if gone and made else Standing.OTHER

    def binding(self) -> dict[str, object]:
        """Give what an approval is about: for each line its hash and the new bytes."""
        edits = [
            {"line": bytes_digest(edit.before), "ordinal": edit.ordinal, "after": [bytes_digest(line) for line in edit.after]}
            for edit in self.edits
        ]
        return {"edit": self.path, "lines": edits}

    def undone(self, data: bytes) -> tuple[Change, ...]:
        """Give what puts the lines back into a log that was changed; one that was taken out comes back at the end. Raises LineMissing."""
        back = {sha256(edit.after[0]).digest(): (edit.before,) for edit in self.edits if edit.after}
        if any(len(edit.after) > 1 for edit in self.edits):
            raise LineMissing("A line that was cut into several records cannot be glued together again.")
        changes: list[Change] = [EditLog(self.path, edits_of(data, back))] if back else []
        taken = tuple(edit.before for edit in self.edits if not edit.after)
        return (*changes, AppendLines(self.path, taken)) if taken else tuple(changes)


Change = Replace | Create | MakeFolder | Append | AppendLines | EndLine | Move | TakeOut | EditLog


def edits_of(data: bytes, wanted: Mapping[bytes, tuple[bytes, ...]], *, every: bool = False) -> tuple[LineEdit, ...]:
    """Make the edits of lines by their sha256; raises LineMissing for one that is not there.

    Of lines with the same bytes it is the last, so that a second look does not take another for it, or `every` one.
    """
    met: dict[bytes, int] = {}
    found: dict[tuple[bytes, int], LineEdit] = {}
    for line, _ in _lines(data):
        name = sha256(line).digest()
        if name not in wanted:
            continue
        ordinal = met.get(name, 0)
        met[name] = ordinal + 1
        found[name, ordinal if every else 0] = LineEdit(line, wanted[name], ordinal)
    if len(met) < len(wanted):
        raise LineMissing(f"{len(wanted) - len(met):,} of {len(wanted):,} lines are not there any more.")
    return tuple(found.values())


def line_of(data: bytes, name: bytes) -> bytes:
    """Give the line with a sha256; raises LineMissing."""
    for line, _ in _lines(data):
        if sha256(line).digest() == name:
            return line
    raise LineMissing("The line is not there any more.")


def bindings(changes: Iterable[Change]) -> list[dict[str, object]]:
    """Give what an approval of all changes is about, in their order."""
    return [change.binding() for change in changes]


def _lines(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Give each line and its line break, which the last one may lack."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        if end < 0:
            yield data[start:], b""
            return
        yield data[start:end], b"\n"
        start = end + 1


def bytes_digest(data: bytes) -> str:
    """Give `sha256:` and the hex digits of bytes: of a line without its line break, or of a whole file."""
    return f"sha256:{sha256(data).hexdigest()}"
