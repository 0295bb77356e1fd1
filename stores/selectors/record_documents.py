"""Records as exports and the API give them: flat documents, secrets masked (ruling 20), times in ISO 8601 UTC."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from stores import display
from stores.formats.secrets import mask
from stores.lists.specs import ListSpec
from stores.memory_words import whole_words
from stores.models import MirroredRecord
from stores.selectors.noted import NOTHING, OVERDUE, Noted, is_open, today_utc
from stores.selectors.records import ListedStore

OF_FILE = ("digest", "is_duplicate", "unreadable_since", "unreadable_cause")
"""What a record that is a file of its own has besides."""
PLACE = ("id", "record_type", "store", "file", "line", "byte", "length", "sha256", "natural_id", "at", "at_state", "title")
OWN: Mapping[str, tuple[str, ...]] = {
    "decision": (
        "shape",
        "type",
        "category",
        "said_by",
        "machine",
        "session",
        "project",
        "source",
        "scope",
        "importance",
        "confidence",
        "entities",
    ),
    "queue_operation": ("operation", "standing", "reason", "would_write", "entities", "relations", "observations", "decision_id"),
    "problem": ("status", "project", "session", "confidence", "solved_at", "solved_by", "entities"),
    "problem_solution": ("problem_id", "tool", "project", "session", "confidence", "entities"),
    "flow": (
        "session",
        "pattern",
        "standing",
        "actions",
        "reads",
        "writes",
        "tests",
        "builds",
        "agent_spawns",
        "success_rate",
        "started_at",
    ),
    "session_event": ("event_type", "name", "session", "said_by", "machine", "identity_source", "outcome", "duration_ms", "shape"),
    "graph_entity": ("what", "item_type", "start", "end", "observations"),
    "preference_file": ("form", "samples"),
    "memory_md": ("form", "agent", "topic_type", "lines", "characters", "not_loaded", "long_lines"),
    "mem0_operation": ("standing", "user_id", "type", "category", "project", "confidence"),
    "foreign": ("form", "session"),
    "node": (
        "kind",
        "phase",
        "phase_assumed",
        "state",
        "review",
        "label",
        "agent",
        "session",
        "path_id",
        "project",
        "task",
        "graph_id",
        "trust_zone",
        "secret",
        "tags",
        "confidence",
        "strength",
        "activation_count",
        "superseded_by",
        "compacted_into",
        "stale_since",
        "created_at",
        "updated_at",
        *OF_FILE,
    ),
    "edge": (
        "kind",
        "source",
        "target",
        "state",
        "agent",
        "weight",
        "confidence",
        "valid_at",
        "invalid_at",
        "created_at",
        "updated_at",
        *OF_FILE,
    ),
    "path": (
        "state",
        "parent_path_id",
        "merge_target",
        "summary_id",
        "abandoned_reason",
        "event_count",
        "created_at",
        "updated_at",
        *OF_FILE,
    ),
    "activation": (
        "graph_id",
        "profile_id",
        "intent",
        "max_items",
        "max_tokens",
        "used_items",
        "used_tokens",
        "node_count",
        "omitted_count",
        *OF_FILE,
    ),
    "event": ("kind", "actor", "session", "path_id", "task", "action_id", "schema_version", "update_count", "standing"),
    "audit": (
        "sequence",
        "operation",
        "decision",
        "actor",
        "subject_id",
        "reason",
        "reason_code",
        "review_id",
        "dry_run",
        "requires_review",
        "approved",
        "applied",
    ),
    "profile": ("durable_writes", "memory_kinds", *OF_FILE),
}
NOTED: Mapping[str, tuple[str, ...]] = {
    "decision": ("standing", "superseded_by", "superseded_by_id", "tags", "note"),
    "problem": ("owner", "due_on", "overdue", "note"),
}
"""What people noted beside it; nothing of this stands on disk."""
_TIMES: Mapping[str, str] = {
    "solved_at": "solved_at_ms",
    "started_at": "started_ms",
    "created_at": "created_ms",
    "updated_at": "updated_ms",
    "valid_at": "valid_ms",
    "invalid_at": "invalid_ms",
    "stale_since": "stale_since_ms",
}
SEEN = ("faults", "first_seen_at", "gone_at", "gone_reason")


def field_names(spec: ListSpec) -> tuple[str, ...]:
    """Give the fields of a document of this list, in their order."""
    return (*PLACE, *OWN[spec.record_type], *SEEN, *NOTED.get(spec.record_type, ()))


def record_document(record: MirroredRecord, store: ListedStore, noted: Noted = NOTHING) -> dict[str, Any]:
    """Give one record that has its file at hand, and what is noted beside it, its fields in the order of `field_names`.

    null stands where neither says it.
    """
    return {
        "id": record.pk,
        "record_type": record.record_type,
        "store": store.slug,
        "file": record.file_path,
        "line": record.line,
        "byte": record.offset,
        "length": record.length,
        "sha256": bytes(record.sha256).hex(),
        "natural_id": _masked(record.natural_id),
        "at": _milliseconds(record.at_ms),
        "at_state": record.at_state,
        "title": mask(whole_words(record.title)),
        **{name: _own(record, name) for name in OWN[record.record_type]},
        "faults": record.fault_count,
        "first_seen_at": _moment(record.first_seen_at),
        "gone_at": _moment(record.gone_at),
        "gone_reason": record.gone_reason,
        **{name: _noted(record, noted, name) for name in NOTED.get(record.record_type, ())},
    }


def _noted(record: MirroredRecord, noted: Noted, name: str) -> Any:
    if name == "superseded_by":
        return _masked(noted.successor) if noted.successor else None
    if name == "superseded_by_id":
        return noted.successor_id
    if name == "tags":
        return [_masked(tag) for tag in noted.tags]
    if name == "due_on":
        return noted.due_on.isoformat() if noted.due_on else None
    if name == "overdue":
        return is_open(record) and noted.due(today_utc()) == OVERDUE
    if name == "owner":
        return noted.owner or None
    return noted.standing if name == "standing" else mask(noted.note)


def _own(record: MirroredRecord, name: str) -> Any:
    if name in _TIMES:
        return _milliseconds(getattr(record, _TIMES[name]))
    value = getattr(record, name)
    if name == "digest":
        return f"sha256:{bytes(value).hex()}"
    if isinstance(value, datetime):
        return _moment(value)
    if name == "entities" and value < 0:
        return None
    return _masked(value) if isinstance(value, str) else value


@lru_cache(maxsize=4096)
def _masked(value: str) -> str:
    """Mask a short value; most come again and again."""
    return mask(value)


def _milliseconds(value: int | None) -> str | None:
    moment = display.moment_of(value)
    return None if moment is None else moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _moment(value: datetime | None) -> str | None:
    return None if value is None else value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
