"""Names of the values that a record of each OrchestKit file gives, in order."""

from __future__ import annotations

DECISION = (
    "shape",
    "type",
    "category",
    "title",
    "said_by",
    "machine",
    "session",
    "project",
    "source",
    "scope",
    "importance",
    "confidence",
    "at_ms",
    "at_state",
    "what_hash",
    "entities",
)
QUEUE_OPERATION = (
    "operation",
    "standing",
    "reason",
    "title",
    "would_write",
    "entities",
    "relations",
    "observations",
    "decision_id",
    "payload_hash",
    "at_ms",
    "at_state",
)
PROBLEM = ("status", "title", "project", "session", "confidence", "at_ms", "at_state", "solved_at_ms", "solved_by", "entities")
FLOW = (
    "session",
    "pattern",
    "standing",
    "title",
    "actions",
    "reads",
    "writes",
    "tests",
    "builds",
    "agent_spawns",
    "success_rate",
    "started_ms",
    "at_ms",
    "at_state",
)
PROBLEM_SOLUTION = ("problem_id", "title", "tool", "project", "session", "confidence", "entities", "at_ms", "at_state")
MEM0_OPERATION = (
    "standing",
    "title",
    "user_id",
    "type",
    "category",
    "project",
    "confidence",
    "text_hash",
    "at_ms",
    "at_state",
)
SESSION_EVENT = (
    "event_type",
    "name",
    "title",
    "session",
    "said_by",
    "machine",
    "identity_source",
    "outcome",
    "duration_ms",
    "shape",
    "at_ms",
    "at_state",
)
GRAPH_ITEM = ("what", "item_type", "title", "start", "end", "observations", "at_ms", "at_state")
PREFERENCE_FILE = ("form", "title", "samples", "at_ms", "at_state")
MEMORY_MD = (
    "form",
    "agent",
    "topic_type",
    "title",
    "lines",
    "characters",
    "not_loaded",
    "long_lines",
    "at_ms",
    "at_state",
)
FOREIGN = ("form", "title", "session", "at_ms", "at_state")
