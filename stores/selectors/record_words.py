"""What the types of records are called on pages, and which list shows them."""

from __future__ import annotations

from typing import NamedTuple


class RecordWords(NamedTuple):
    """Nouns of a record type and the URL name of its list."""

    one: str
    many: str
    title: str
    list_name: str


RECORD_WORDS: dict[str, RecordWords] = {
    "decision": RecordWords("decision", "decisions", "Decisions", "decision_list"),
    "queue_operation": RecordWords("queued operation", "queued operations", "Queued operations", "queue_list"),
    "problem": RecordWords("problem", "problems", "Problems", "problem_list"),
    "problem_solution": RecordWords("solution", "solutions", "Solutions", "solution_list"),
    "flow": RecordWords("flow", "flows", "Flows", "flow_list"),
    "session_event": RecordWords("event of a session", "events of sessions", "Events of sessions", "event_list"),
    "graph_entity": RecordWords("graph line", "graph lines", "Lines of the graph", "graph_item_list"),
    "preference_file": RecordWords("preference file", "preference files", "Preferences", "preference_list"),
    "memory_md": RecordWords("memory file", "memory files", "Memory files", "memory_file_list"),
    "mem0_operation": RecordWords("mem0 operation", "mem0 operations", "Mem0 queue", "mem0_list"),
    "node": RecordWords("node", "nodes", "Nodes", "node_list"),
    "edge": RecordWords("edge", "edges", "Edges", "edge_list"),
    "path": RecordWords("path", "paths", "Paths", "path_list"),
    "activation": RecordWords("activation", "activations", "Activations", "activation_list"),
    "event": RecordWords("event", "events", "Events", "memory_event_list"),
    "audit": RecordWords("audit record", "audit records", "Audit records", "audit_record_list"),
    "profile": RecordWords("profile", "profiles", "Profiles", "profile_list"),
    "foreign": RecordWords("other record", "other records", "Other records", "other_list"),
}
