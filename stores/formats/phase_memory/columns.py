"""Names of the values that a record of each phase-memory type gives to the mirror, in order."""

from __future__ import annotations

_OF_FILES = ("title", "at_ms", "at_state", "created_ms", "updated_ms")

PROFILE = ("durable_writes", "memory_kinds", *_OF_FILES)
NODE = (
    "kind",
    "phase",
    "phase_assumed",
    "state",
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
    "stale_since_ms",
    "review",
    *_OF_FILES,
)
EDGE = ("kind", "source", "target", "state", "agent", "weight", "confidence", "valid_ms", "invalid_ms", *_OF_FILES)
PATH = ("state", "parent_path_id", "merge_target", "summary_id", "abandoned_reason", "event_count", *_OF_FILES)
ACTIVATION = (
    "graph_id",
    "profile_id",
    "intent",
    "max_items",
    "max_tokens",
    "used_items",
    "used_tokens",
    "node_count",
    "omitted_count",
    *_OF_FILES,
)
EVENT = (
    "kind",
    "actor",
    "session",
    "path_id",
    "task",
    "action_id",
    "schema_version",
    "update_count",
    "title",
    "at_ms",
    "at_state",
)
AUDIT = (
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
    "title",
    "at_ms",
    "at_state",
)
