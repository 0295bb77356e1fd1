"""Which tables hold which type of record, and which of their columns are counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from stores.models import (
    Activation,
    AuditRecord,
    Decision,
    Edge,
    Event,
    Flow,
    ForeignRecord,
    GraphItem,
    Mem0Operation,
    MemoryMd,
    MemoryPath,
    MirroredRecord,
    Node,
    PreferenceFile,
    Problem,
    ProblemSolution,
    Profile,
    QueueOperation,
    SessionEvent,
)


class RecordType(NamedTuple):
    """The table of a record type and its counted columns (FacetCount)."""

    model: type[MirroredRecord]
    facets: tuple[str, ...]
    parts: Mapping[str, str] = {}
    """Where one table holds several types of the outside world (ruling 59): their names by the value of the first counted column."""


RECORD_TYPES: dict[str, RecordType] = {
    "decision": RecordType(Decision, ("type", "category", "said_by", "machine", "project", "source", "shape")),
    "queue_operation": RecordType(QueueOperation, ("operation", "standing")),
    "problem": RecordType(Problem, ("status", "project")),
    "problem_solution": RecordType(ProblemSolution, ("tool", "project")),
    "flow": RecordType(Flow, ("pattern", "standing")),
    "session_event": RecordType(SessionEvent, ("event_type", "name", "outcome")),
    "graph_entity": RecordType(
        GraphItem, ("what", "item_type"), {"entity": "graph_entity", "relation": "graph_relation", "foreign": "foreign"}
    ),
    "mem0_operation": RecordType(Mem0Operation, ("standing", "category")),
    "preference_file": RecordType(PreferenceFile, ("form",)),
    "memory_md": RecordType(MemoryMd, ("form", "agent")),
    "foreign": RecordType(ForeignRecord, ("form",)),
    "node": RecordType(Node, ("kind", "phase", "state", "label", "agent", "session", "path_id", "review")),
    "edge": RecordType(Edge, ("kind", "state", "agent")),
    "path": RecordType(MemoryPath, ("state",)),
    "activation": RecordType(Activation, ("profile_id", "graph_id")),
    "profile": RecordType(Profile, ("durable_writes",)),
    "event": RecordType(Event, ("kind", "actor", "session", "path_id")),
    "audit": RecordType(AuditRecord, ("operation", "decision", "actor")),
}
