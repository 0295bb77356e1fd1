"""What takes back an applied change: the bytes that it displaced, as a change of what stands there today (ruling 66)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final

from stores.formats.phase_memory.aliases import Record
from stores.formats.phase_memory.layout import EVENTS, FOLDERS
from stores.formats.phase_memory.reading import read_record
from stores.formats.phase_memory.vocabulary import EVENT_VERSION
from stores.lifecycle.changes import Append, AppendLines, Change, Create, EditLog, MakeFolder, Replace, bytes_digest
from stores.lifecycle.effects import Effect, EffectRefused, TargetEffect, counted, said, undo_of
from stores.lifecycle.vocabulary import PHASE_MEMORY

ACTOR: Final = "memoryui"


def effect(kind: str, action_id: str, applied: Effect, today: Callable[[str], bytes | None], now: datetime) -> Effect:
    """Compute what takes back an effect; files that it made new and lines that it appended stay. Raises EffectRefused for nothing."""
    changes: list[Change] = []
    stays: list[str] = []
    refused = ""
    for change in applied.changes:
        if isinstance(change, Append | AppendLines | Create | MakeFolder):
            stays += [change.path] if isinstance(change, Create | MakeFolder) else []
            refused = refused or "What it made new or appended stays: records are archived, never deleted."
            continue
        changes += undo_of(change, today(change.path))
    if not changes:
        raise EffectRefused(refused or "There is nothing to take back.")
    paths = sorted({change.path for change in changes})
    sentence = f"Gives back to {counted(len(paths), 'file')} what an applied action took: {', '.join(map(said, paths[:3]))}"
    sentence += f" and {len(paths) - 3:,} more." if len(paths) > 3 else "."
    if stays:
        sentence += f" {counted(len(stays), 'file')} that it made new {'stays' if len(stays) == 1 else 'stay'}."
    event = _event(action_id, changes, now) if kind == PHASE_MEMORY else None
    if event is not None:
        changes.append(Append(EVENTS, event))
    return Effect(tuple(changes), tuple(_target(path, changes, today) for path in paths), sentence, event)


def _target(path: str, changes: list[Change], today: Callable[[str], bytes | None]) -> TargetEffect:
    data = today(path)
    after = next((bytes_digest(change.after) for change in changes if isinstance(change, Replace | Create) and change.path == path), None)
    if after is None and data is not None:
        edits = [change for change in changes if isinstance(change, EditLog) and change.path == path]
        after = bytes_digest(edits[0].apply(data)) if edits else None
    return TargetEffect("file", path, None if data is None else bytes_digest(data), after)


def _event(action_id: str, changes: list[Change], now: datetime) -> Record | None:
    """Make the event that says what was taken back; None where no record is touched."""
    updates: dict[str, list[Record]] = {}
    for change in changes:
        folder = change.path.partition("/")[0]
        record_type = FOLDERS.get(folder, "")
        if isinstance(change, Replace | Create) and record_type in ("node", "edge", "path"):
            read = read_record(record_type, change.after)
            updates.setdefault(f"{record_type}_updates", []).append({f"{record_type}_id": read.id, "operation": "restore"})
    if not updates:
        return None
    at = f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    name = sha256(f"undo {action_id} {at}".encode()).hexdigest()[:16]
    event: Record = {
        "schema_version": EVENT_VERSION,
        "id": f"event.memoryui-{name}",
        "kind": "updated",
        "timestamp": at,
        "path_id": None,
        "actor": ACTOR,
        "undoes": action_id,
    }
    return event | updates
