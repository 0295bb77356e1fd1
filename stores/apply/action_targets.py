"""What the changes of an action are to the disk: targets with the bytes that were approved, and nothing that was computed anew (ruling 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from stores.apply.disk_source import DiskSource
from stores.apply.edited_logs import read_quiet
from stores.apply.place import Place
from stores.apply.reading import read_if_there, size_of
from stores.apply.targets import Append, EndLine, ExchangeLog, MakeFolder, Move, Put, TakeOut, Target
from stores.errors import CannotWrite, ChangedMeanwhile
from stores.files import StoreRoot, printable_name
from stores.formats.canonical import log_line
from stores.formats.phase_memory.layout import EVENTS, FOLDERS, may_be_created, named_id
from stores.lifecycle import changes
from stores.lifecycle.changes import Change, Standing
from stores.lifecycle.effects import Effect

_LOG_CHANGES: Final = (changes.Append, changes.AppendLines)


def targets_of(effect: Effect, source: DiskSource, root: StoreRoot, now: datetime, *, files_done: bool = False) -> tuple[Target, ...]:
    """Give what is still to be written of an effect: whole files first, then logs and names.

    Raises Conflict while somebody writes to a log that is to be edited, ChangedMeanwhile, CannotWrite, StoreUnreadable.
    """
    wanted = [change for change in effect.changes if isinstance(change, _LOG_CHANGES) or source.standing(change) is not Standing.AFTER]
    return () if files_done else tuple(_MAKERS[type(change)](change, root, now) for change in wanted)


def check_files(place: Place, targets: tuple[Target, ...]) -> None:
    """Re-read what was written before the point of no return; raises ChangedMeanwhile where it is not what was approved."""
    for target in targets:
        if isinstance(target, Put) and read_if_there(place.at(target.folder), target.path) != target.after:
            raise ChangedMeanwhile(f"{printable_name(target.path)} was changed by somebody else while it was being written.")


def _create(change: changes.Create, root: StoreRoot, now: datetime) -> Target:
    _require_name(change.path)
    return Put(change.path, None, change.after)


def _move(change: changes.Move, root: StoreRoot, now: datetime) -> Target:
    _require_name(change.to)
    return Move(change.path, change.to)


def _edit(change: changes.EditLog, root: StoreRoot, now: datetime) -> Target:
    before = read_quiet(root, change.path, now)
    try:
        return ExchangeLog(change.path, before, change.apply(before))
    except changes.LineMissing as err:
        raise ChangedMeanwhile(str(err)) from err


def _append(change: changes.Append, root: StoreRoot, now: datetime) -> Target:
    record = dict(change.record)
    if change.path == EVENTS:
        # A log tells when something was written to it; that it was planned earlier, the record files say.
        record["timestamp"] = f"{now:%Y-%m-%dT%H:%M:%SZ}"
    return Append(change.path, log_line(record), size_of(root, change.path))


def _append_lines(change: changes.AppendLines, root: StoreRoot, now: datetime) -> Target:
    return Append(change.path, b"".join(line + b"\n" for line in change.lines), size_of(root, change.path))


def _require_name(path: str) -> None:
    """Refuse a new name that other systems could not hold, or would take for another (ruling 27)."""
    folder, _, name = path.rpartition("/")
    if folder in FOLDERS and (not name.endswith(".json") or not may_be_created(named_id(path))):
        raise CannotWrite(f"{printable_name(path)} may not become the name of a file, so nothing was written.")


_MAKERS: Final[Mapping[type[Change], Callable[[Any, StoreRoot, datetime], Target]]] = {
    changes.Replace: lambda change, root, now: Put(change.path, change.before, change.after),
    changes.Create: _create,
    changes.Append: _append,
    changes.AppendLines: _append_lines,
    changes.EndLine: lambda change, root, now: EndLine(change.path),
    changes.MakeFolder: lambda change, root, now: MakeFolder(change.path),
    changes.TakeOut: lambda change, root, now: TakeOut(change.path, change.before),
    changes.Move: _move,
    changes.EditLog: _edit,
}
