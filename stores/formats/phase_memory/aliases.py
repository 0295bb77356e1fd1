"""Reads the fields of records by the names that other writers give them too, and writes them back under the file's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Record = dict[str, object]

ALIASES: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "event": {"id": ("event_id",), "kind": ("type",), "timestamp": ("occurred_at", "created_at")},
    "node": {"text": ("content", "summary"), "lifecycle_state": ("state", "status")},
    "edge": {
        "kind": ("relation", "type"),
        "source": ("source_id", "from"),
        "target": ("target_id", "to"),
        "lifecycle_state": ("state", "status"),
    },
    "path": {
        "path_id": ("id",),
        "merge_target": ("merge_target_id", "merge_target_path_id", "merged_into"),
        "abandoned_reason": ("abandon_reason",),
        "compacted_summary_id": ("summary_id", "compacted_into"),
    },
    "audit": {
        "audit_id": ("id", "event_id", "operation_id"),
        "operation": ("operation_kind",),
        "actor": ("actor_label",),
        "timestamp": ("occurred_at",),
    },
}
"""Type of record to canonical name to the other names, in the order in which they are looked for."""
ID_FIELD: Final[dict[str, str]] = {
    "profile": "id",
    "node": "id",
    "edge": "id",
    "path": "path_id",
    "activation": "id",
    "event": "id",
    "audit": "audit_id",
}
_KEPT: Final = frozenset({("audit", "audit_id", "operation_id")})
"""Names that mean something of their own beside standing in for another."""
_NONE: Final[dict[str, tuple[str, ...]]] = {}
_VERSION: Final = "schema_version"


def unwrapped(record_type: str, value: Record) -> Record:
    """Give the record within `{"schema_version": …, "node": {…}}`, with the version of the outside; others as they are."""
    inner = value.get(record_type)
    if not isinstance(inner, dict) or not value.keys() <= {_VERSION, record_type}:
        return value
    return {**inner, _VERSION: value[_VERSION]} if _VERSION in value else inner


def field(record_type: str, record: Mapping[str, object], name: str) -> object:
    """Give a field by the first of its names that holds anything; None when none does."""
    found = record.get(name)
    if found is not None:
        return found
    for other in ALIASES.get(record_type, _NONE).get(name, ()):
        found = record.get(other)
        if found is not None:
            return found
    return None


def spelling(record_type: str, record: Mapping[str, object], name: str) -> str:
    """Give the name under which a record holds a field, for writing it back: the canonical one where it holds none."""
    names = (name, *ALIASES.get(record_type, _NONE).get(name, ()))
    for other in names:
        if record.get(other) is not None:
            return other
    return next((other for other in names if other in record), name)


def stated_id(record_type: str, value: Record) -> object:
    """Give what a record says as its id, wrapped or not; None when it says none."""
    return field(record_type, unwrapped(record_type, value), ID_FIELD[record_type])


def canonical_names(record_type: str, value: Record) -> Record:
    """Give a record unwrapped and with the canonical name of every field that was found under another one."""
    record = dict(unwrapped(record_type, value))
    for name in ALIASES.get(record_type, _NONE):
        used = spelling(record_type, record, name)
        if used != name and (record_type, name, used) not in _KEPT:
            record[name] = record.pop(used)
    return record
