"""Keeps an effect between its computing and its applying: a small JSON document, and the bytes by their sha256.

What is unpacked is what was packed, or nothing: a piece that is not there or not what its hash says raises Damaged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from stores.lifecycle.changes import (
    Append,
    AppendLines,
    Change,
    Create,
    EditLog,
    EndLine,
    LineEdit,
    MakeFolder,
    Move,
    Replace,
    TakeOut,
)
from stores.lifecycle.effects import Effect, TargetEffect

Document = dict[str, Any]


class Damaged(ValueError):
    """What was kept of an effect is not what was packed."""


@dataclass(slots=True)
class Packed:
    """An effect as it is kept."""

    document: Document
    """JSON-able."""
    pieces: dict[str, bytes] = field(default_factory=dict)
    """Bytes by the hex digits of their sha256; equal ones stand once."""

    def keep(self, data: bytes) -> str:
        """Keep bytes and give their name."""
        name = sha256(data).hexdigest()
        self.pieces[name] = data
        return name


def pack(effect: Effect) -> Packed:
    """Take an effect apart."""
    packed = Packed({})
    packed.document = {
        "changes": [_packed(change, packed.keep) for change in effect.changes],
        "targets": [[one.record_type, one.id, one.before_digest, one.after_digest] for one in effect.targets],
        "sentence": effect.sentence,
        "event": effect.event,
        "undo": effect.undo,
    }
    return packed


def unpack(document: Document, piece: Callable[[str], bytes | None]) -> Effect:
    """Put an effect together again; `piece` gives bytes by their name. Raises Damaged."""

    def checked(name: str) -> bytes:
        data = piece(name)
        if data is None or sha256(data).hexdigest() != name:
            raise Damaged(f"The bytes {name[:12]} of the change are missing or damaged: nothing can be written from them.")
        return data

    try:
        return Effect(
            changes=tuple(_unpacked(one, checked) for one in document["changes"]),
            targets=tuple(TargetEffect(*one) for one in document["targets"]),
            sentence=document["sentence"],
            event=document["event"],
            undo=document["undo"],
        )
    except (KeyError, TypeError, AttributeError) as err:
        raise Damaged("What was kept of the change cannot be read.") from err


def _packed(change: Change, keep: Callable[[bytes], str]) -> Document:
    head: Document = {"do": _NAMES[type(change)], "path": change.path}
    if isinstance(change, Replace):
        return head | {"before": keep(change.before), "after": keep(change.after)}
    if isinstance(change, Create):
        return head | {"after": keep(change.after)}
    if isinstance(change, Append):
        return head | {"record": dict(change.record)}
    if isinstance(change, AppendLines):
        return head | {"lines": [keep(line) for line in change.lines]}
    if isinstance(change, Move):
        return head | {"to": change.to, "before": keep(change.before)}
    if isinstance(change, TakeOut):
        return head | {"before": keep(change.before)}
    if isinstance(change, EditLog):
        return head | {"edits": [[keep(edit.before), [keep(line) for line in edit.after], edit.ordinal] for edit in change.edits]}
    return head


def _unpacked(given: Mapping[str, Any], piece: Callable[[str], bytes]) -> Change:
    make = _MAKERS.get(given["do"])
    if make is None:
        raise Damaged("What was kept of the change is of no known sort.")
    return make(given["path"], given, piece)


_NAMES: Final[Mapping[type[Change], str]] = {
    Replace: "replace",
    Create: "create",
    MakeFolder: "make_folder",
    Append: "append",
    AppendLines: "append_lines",
    EndLine: "end_line",
    Move: "move",
    TakeOut: "take_out",
    EditLog: "edit",
}
_MAKERS: Final[Mapping[str, Callable[[str, Mapping[str, Any], Callable[[str], bytes]], Change]]] = {
    "replace": lambda path, given, piece: Replace(path, piece(given["before"]), piece(given["after"])),
    "create": lambda path, given, piece: Create(path, piece(given["after"])),
    "make_folder": lambda path, given, piece: MakeFolder(path),
    "append": lambda path, given, piece: Append(path, given["record"]),
    "append_lines": lambda path, given, piece: AppendLines(path, tuple(piece(line) for line in given["lines"])),
    "end_line": lambda path, given, piece: EndLine(path),
    "move": lambda path, given, piece: Move(path, given["to"], piece(given["before"])),
    "take_out": lambda path, given, piece: TakeOut(path, piece(given["before"])),
    "edit": lambda path, given, piece: EditLog(
        path,
        tuple(LineEdit(piece(before), tuple(piece(line) for line in after), ordinal) for before, after, ordinal in given["edits"]),
    ),
}
