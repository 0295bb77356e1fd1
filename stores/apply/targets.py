"""What a change does to files, told so that it can be carried out, taken up again after a crash, and taken back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Put:
    """A whole file takes the place of another, or of none."""

    path: str
    before: bytes | None
    """What must stand there; None where no file may be."""
    after: bytes
    folder: str = ""
    """The real path of the folder that `path` lies below; "" is the store."""


@dataclass(frozen=True, slots=True)
class Append:
    """Whole lines at the end of a log."""

    path: str
    lines: bytes
    size_before: int
    """Size of the log when the change was planned: what it holds from there on may be ours."""


@dataclass(frozen=True, slots=True)
class Move:
    """A file of the store gets another name in it."""

    path: str
    to: str


@dataclass(frozen=True, slots=True)
class EndLine:
    """A line break at the end of a log that lacks one."""

    path: str


@dataclass(frozen=True, slots=True)
class MakeFolder:
    """A folder of the store that is missing."""

    path: str


@dataclass(frozen=True, slots=True)
class TakeOut:
    """A file leaves the store; the journal keeps it."""

    path: str
    before: bytes


@dataclass(frozen=True, slots=True)
class ExchangeLog:
    """A log takes the place of another that began with the same lines; what is appended to that one is carried over (rulings 4, 38)."""

    path: str
    before: bytes
    """What the log held when the change was planned; it may have grown since."""
    after: bytes


Target = Put | Append | Move | EndLine | MakeFolder | TakeOut | ExchangeLog
"""The targets of a change are carried out in their order: files first, then logs, names and folders, from the first of which on there is no way back."""
