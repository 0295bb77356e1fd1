"""What creating, branching, merging, abandoning and compacting a path writes: the path's new record and one event (docs/formats.md).

Nothing is written here and no clock is read: id and time of the event are given. A path's own `updated_at` stays as it is, the
event says when; a field is written under the name that the record has for it already.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from stores.formats.phase_memory.aliases import Record, field, spelling, stated_id, unwrapped
from stores.formats.phase_memory.reading import LONGEST_ID
from stores.formats.phase_memory.values import items, mapping, reference
from stores.formats.phase_memory.vocabulary import EVENT_VERSION, PATH_ENDS, RECORD_VERSIONS


class PathRefused(ValueError):
    """A change that the path's record does not allow; the message says why."""


class Occasion(NamedTuple):
    """When, by whom and under which id an event is recorded."""

    event_id: str
    timestamp: str
    actor: str
    action_id: str = ""
    session_id: str = ""
    task: str = ""


class PathChange(NamedTuple):
    """What is to be written."""

    path: Record
    event: Record


def create(path_id: str, occasion: Occasion, *, title: str = "", metadata: Mapping[str, object] | None = None) -> PathChange:
    """Begin a path that branches off nothing."""
    event = _event("recorded", path_id, occasion, {"operation": "create"})
    return PathChange(_new(path_id, None, occasion, title, metadata), event)


def branch(
    path_id: str, parent: Record, occasion: Occasion, *, title: str = "", metadata: Mapping[str, object] | None = None
) -> PathChange:
    """Begin a path that branches off another, given that one's record."""
    parent_id = _id_of(parent)
    if parent_id == path_id:
        raise PathRefused(f"Path {path_id} cannot branch off itself")
    event = _event("branched", path_id, occasion, {"operation": "branch", "parent_path_id": parent_id})
    return PathChange(_new(path_id, parent_id, occasion, title, metadata), event)


def merge(path: Record, target: Record, occasion: Occasion) -> PathChange:
    """End a path by merging it into another, given both records."""
    target_id = _id_of(target)
    if target_id == _id_of(path):
        raise PathRefused(f"Path {target_id} cannot be merged into itself")
    return _ended(path, "merged", target_id, "merged", "merge", occasion)


def abandon(path: Record, reason: str, occasion: Occasion) -> PathChange:
    """End a path that is not followed any more."""
    if not reason.strip():
        raise PathRefused("An abandoned path needs a reason")
    return _ended(path, "abandoned", reason, "deactivated", "abandon", occasion)


def compact(path: Record, summary_id: str, occasion: Occasion, *, retired: Iterable[str] = ()) -> PathChange:
    """End a path by a node that sums it up; `retired` are the nodes that were folded into it."""
    _check_id(summary_id)
    change = _ended(path, "compacted", summary_id, "compacted", "compact", occasion)
    folded = [{"node_id": node, "operation": "retire"} for node in sorted(set(retired))]
    return change._replace(event={**change.event, "node_updates": folded}) if folded else change


def _new(path_id: str, parent: str | None, occasion: Occasion, title: str, metadata: Mapping[str, object] | None) -> Record:
    _check_id(path_id)
    record: Record = {
        "schema_version": RECORD_VERSIONS["path"],
        "path_id": path_id,
        "parent_path_id": parent,
        "event_ids": [occasion.event_id],
        "state": "active",
        "merge_target": None,
        "abandoned_reason": None,
        "compacted_summary_id": None,
        "created_at": occasion.timestamp,
        "updated_at": occasion.timestamp,
        "metadata": dict(metadata or {}),
    }
    return {**record, "title": title} if title else record


def _ended(value: Record, state: str, end: str, kind: str, operation: str, occasion: Occasion) -> PathChange:
    path_id = _id_of(value)
    inner = mapping(value.get("path"))
    wrapped = unwrapped("path", value) is not value
    record = dict(inner if wrapped else value)
    if record.get("state") != "active":
        raise PathRefused(f"Path {path_id} is {record.get('state')}: only a reviewed restore leads back from there")
    events = items(record.get("event_ids"))
    if occasion.event_id in events:
        raise PathRefused(f"Event {occasion.event_id} is on path {path_id} already")
    left_over = [name for name in PATH_ENDS.values() if field("path", record, name)]
    if left_over:
        raise PathRefused(f"Path {path_id} is active and has a {left_over[0]}: its state has to be put right first")
    name = PATH_ENDS[state]
    record |= {"state": state, spelling("path", record, name): end, "event_ids": [*events, occasion.event_id]}
    event = _event(kind, path_id, occasion, {"operation": operation, name: end})
    return PathChange({**value, "path": record} if wrapped else record, event)


def _event(kind: str, path_id: str, occasion: Occasion, update: Record) -> Record:
    _check_id(occasion.event_id)
    event: Record = {
        "schema_version": EVENT_VERSION,
        "id": occasion.event_id,
        "kind": kind,
        "timestamp": occasion.timestamp,
        "path_id": path_id,
        "actor": occasion.actor,
        "path_updates": [{"path_id": path_id, **update}],
    }
    more = {"action_id": occasion.action_id, "session_id": occasion.session_id, "task": occasion.task}
    return {**event, **{name: given for name, given in more.items() if given}}


def _id_of(value: Record) -> str:
    given = reference(stated_id("path", value))
    _check_id(given)
    return given


def _check_id(given: str) -> None:
    if not given or len(given) > LONGEST_ID:
        raise PathRefused("An id has between 1 and 200 characters")
