"""Which event changed what: the records that a row of events touched, each with what was done to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from stores.formats.phase_memory.records import Event


class Effect(NamedTuple):
    """One thing that was done to a record."""

    event_id: str
    operation: str
    target: str
    """What the operation names besides; see `records.Change`."""


def effects(events: Iterable[Event]) -> dict[tuple[str, str], tuple[Effect, ...]]:
    """Give what was done to each record, by its type and id, in the order of the events."""
    found: dict[tuple[str, str], list[Effect]] = {}
    for event in events:
        for change in event.changes:
            effect = Effect(event.id, change.operation, change.target)
            found.setdefault((change.record_type, change.id), []).append(effect)
    return {record: tuple(done) for record, done in found.items()}
