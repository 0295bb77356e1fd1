"""The words of a phase-memory store: schema versions, kinds, phases and states (docs/formats.md)."""

from __future__ import annotations

from typing import Final

STORE_VERSION: Final = "phase_memory.local_store.v1"
GRAPH_VERSION: Final = "markitect.memory.graph.v1"
EVENT_VERSION: Final = "phase_memory.memory.event.v1"
AUDIT_VERSION: Final = "phase_memory.audit.event.v1"
RECORD_VERSIONS: Final[dict[str, str]] = {
    "profile": "markitect.memory.profile.v1",
    "node": "phase_memory.node.v1",
    "edge": "phase_memory.edge.v1",
    "path": "phase_memory.path.v1",
    "activation": "markitect.memory.selection.v1",
}
"""By type of record; a record without a version is taken for one of these."""
EVENT_VERSIONS: Final = frozenset({EVENT_VERSION, "phase_memory.event.v1", "markitect.memory.event.v1"})
"""What is known without an operator's list."""

NODE_KINDS: Final = frozenset(
    [
        "question",
        "claim",
        "assumption",
        "evidence",
        "decision",
        "alternative",
        "outcome",
        "risk",
        "follow_up",
        "turn",
        "plan",
        "tool_call",
        "observation",
        "edit",
        "validation",
        "interruption",
        "activation",
        "task",
        "topic",
        "document",
        "entity",
        "artifact",
        "concept",
        "capability",
        "contract",
        "policy",
        "preference",
        "source_fact",
        "episode",
        "finding",
        "constraint",
        "profile",
        "context_package",
        "memory",
        "reasoning",
        "conversation",
        "knowledge",
        "package",
        "identity",
    ]
)
EDGE_KINDS: Final = frozenset(
    [
        "supports",
        "contradicts",
        "depends_on",
        "derived_from",
        "led_to",
        "affects",
        "references",
        "relates_to",
        "supersedes",
        "belongs_to",
        "mentions",
        "activates",
        "governs",
    ]
)
EVENT_KINDS: Final = frozenset(
    ["recorded", "updated", "activated", "deactivated", "refreshed", "compacted", "forgotten", "branched", "merged", "policy_decision"]
)
PHASES: Final = ("ephemeral", "fluid", "stabilized", "rigid")
"""From passing to fixed."""
ASSUMED_PHASE: Final = "fluid"
DURABLE: Final = frozenset({"stabilized", "rigid"})
LIFECYCLE_STATES: Final = ("active", "stale", "superseded", "compacted", "archived", "delete_requested")
PATH_STATES: Final = ("active", "merged", "abandoned", "compacted")
PATH_ENDS: Final[dict[str, str]] = {"merged": "merge_target", "abandoned": "abandoned_reason", "compacted": "compacted_summary_id"}
"""The field that goes with each final state of a path, and with no other."""
