"""What an action would do, computed by us from what is in the store: files, the event, one sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from stores.formats import secrets, storable, visible
from stores.formats.phase_memory.aliases import Record
from stores.lifecycle.changes import Append, AppendLines, Change, Create, EditLog, EndLine, LineMissing, MakeFolder, Move, Replace, TakeOut


class EffectRefused(ValueError):
    """What is in the store does not allow the action; the message says why."""


@dataclass(frozen=True, slots=True)
class TargetEffect:
    """What becomes of one record."""

    record_type: str
    id: str
    before_digest: str | None
    """None where it is made."""
    after_digest: str | None
    """None where it is taken away."""


@dataclass(frozen=True, slots=True)
class Effect:
    """All that an action does."""

    changes: tuple[Change, ...]
    """Whole files first, then logs and moves: the order in which they are carried out."""
    targets: tuple[TargetEffect, ...]
    sentence: str
    """For people; ids in it are short and on one line."""
    event: Record | None = None
    """What the last change appends to the event log, None where it appends nothing."""
    undo: str = ""
    """Why it cannot be undone; "" where it can."""


class FileNow(NamedTuple):
    """A file of the store, or the one in which a record stands."""

    path: str
    data: bytes


Find = Callable[[str, str], FileNow | None]
"""Finds the file of a record by its type and id, of several the one that counts; of the type `file` by its path."""


def found(find: Find, record_type: str, given: str) -> FileNow:
    """Give the file of a record; raises EffectRefused where there is none."""
    there = find(record_type, given)
    if there is None:
        raise EffectRefused(f"{said(given)} is not there.")
    return there


def said(given: str) -> str:
    """Give an id or a path as a sentence may hold it: short, on one line, nothing unseen and no secret."""
    return secrets.mask(visible.one_line(storable.name(given)))


def counted(number: int, noun: str, plural: str = "") -> str:
    """Give a number with its noun."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural or f'{noun}s'}"


def undo_of(change: Change, today: bytes | None) -> tuple[Change, ...]:
    """Give what takes a change back, given what its file holds today; raises EffectRefused where nothing can.

    It is a proposal like any other: what was written since is its `before`, and shown.
    """
    if isinstance(change, Create | MakeFolder):
        raise EffectRefused(f"{said(change.path)} was made new: it is archived, never deleted.")
    if isinstance(change, Append | AppendLines | EndLine):
        raise EffectRefused("A log keeps what was appended: a later event says otherwise.")
    if isinstance(change, Move):
        raise EffectRefused(f"{said(change.path)} was moved to {said(change.to)}, where it stays.")
    if isinstance(change, TakeOut):
        if today is not None:
            raise EffectRefused(f"There is another {said(change.path)} now.")
        return (Create(change.path, change.before),)
    if today is None:
        raise EffectRefused(f"{said(change.path)} is not there any more.")
    if isinstance(change, EditLog):
        try:
            return change.undone(today)
        except LineMissing as err:
            raise EffectRefused(str(err)) from err
    if today == change.before:
        raise EffectRefused(f"{said(change.path)} is as it was already.")
    return (Replace(change.path, today, change.before),)
