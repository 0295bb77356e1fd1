"""OrchestKit local memory: the files of a `.claude/memory` folder (docs/formats.md)."""

from __future__ import annotations

from typing import Final

from stores.formats.base import Kind
from stores.formats.orchestkit import (
    decisions,
    flows,
    foreign,
    graph_items,
    mem0,
    memory_md,
    preferences,
    problems,
    queue,
    session_events,
    solutions,
)
from stores.formats.orchestkit.aggregate import Account, Aggregate, LostObservations
from stores.formats.orchestkit.aggregate import aggregate as aggregate_operations
from stores.formats.orchestkit.classic_aggregate import (
    ClassicAggregate,
    QueueLines,
    Trouble,
    aggregate_classically,
    read_operations,
    recovery_message,
)
from stores.formats.orchestkit.decisions import injection_silenced
from stores.formats.orchestkit.details import (
    DecisionDetail,
    ProblemDetail,
    QueueDetail,
    decision_detail,
    problem_detail,
    queue_detail,
)
from stores.formats.orchestkit.graph import Edge, Graph, Node
from stores.formats.orchestkit.graph_file import (
    GraphFile,
    LeftOut,
    Merge,
    Missing,
    graph_bytes,
    merge_graph,
    missing_from,
    new_file,
    object_records,
    parse_graph,
)
from stores.formats.orchestkit.injection import CleanUp, Mended, Preview, Slot, after_clean_up, preview, preview_lines
from stores.formats.orchestkit.operations import build_operations, infer_entity_type
from stores.formats.orchestkit.remembering import Identity, Remembered, Said, remember, remembered
from stores.formats.orchestkit.replay import Replay, replay_decisions
from stores.formats.orchestkit.told_graph import decision_graph, graph_key, operation_graph, title_in
from stores.formats.orchestkit.whole_queue import QueueOp, WholeQueue, graph_names, queue_op

__all__ = [
    "KIND",
    "Account",
    "Aggregate",
    "ClassicAggregate",
    "CleanUp",
    "DecisionDetail",
    "Edge",
    "Graph",
    "GraphFile",
    "Identity",
    "LeftOut",
    "LostObservations",
    "Mended",
    "Merge",
    "Missing",
    "Node",
    "Preview",
    "ProblemDetail",
    "QueueDetail",
    "QueueLines",
    "QueueOp",
    "Remembered",
    "Replay",
    "Said",
    "Slot",
    "Trouble",
    "WholeQueue",
    "after_clean_up",
    "aggregate_classically",
    "aggregate_operations",
    "build_operations",
    "decision_detail",
    "decision_graph",
    "graph_bytes",
    "graph_key",
    "graph_names",
    "infer_entity_type",
    "injection_silenced",
    "merge_graph",
    "missing_from",
    "new_file",
    "object_records",
    "operation_graph",
    "parse_graph",
    "preview",
    "preview_lines",
    "problem_detail",
    "queue_detail",
    "queue_op",
    "read_operations",
    "recognises",
    "recovery_message",
    "remember",
    "remembered",
    "replay_decisions",
    "title_in",
]

_SIGNS: Final = frozenset({decisions.PATH, queue.PATH, problems.PATH})
"""Any folder that holds one of these directly is a store."""
_NAMES: Final = _SIGNS | {
    "analytics",
    "archive",
    "completed-flows.jsonl",
    "flows",
    "graph.html",
    "mem0-queue.jsonl",
    "memory.json",
    "playground.html",
    "problem-solutions.jsonl",
    "sessions",
    "tool-preferences.json",
    "users",
    "workflow-preferences.json",
}
"""What OrchestKit ever wrote into a `.claude/memory` folder."""


def recognises(folder: str, names: frozenset[str]) -> bool:
    """Say whether a folder, given by its path and the names in it, is an OrchestKit store."""
    if not _SIGNS.isdisjoint(names):
        return True
    return folder.rstrip("/").endswith("/.claude/memory") and not _NAMES.isdisjoint(names)


KIND: Final = Kind(
    name="orchestkit",
    title="OrchestKit",
    what="a `.claude/memory` folder with decisions, a graph queue or open problems",
    files=(
        decisions.SPEC,
        queue.SPEC,
        problems.SPEC,
        *flows.SPECS,
        solutions.SPEC,
        mem0.SPEC,
        session_events.SPEC,
        graph_items.SPEC,
        *preferences.SPECS,
        *memory_md.SPECS,
        *foreign.SPECS,
        memory_md.NOTES_SPEC,
        *foreign.GENERIC_SPECS,
    ),
    recognises=recognises,
    expected=_SIGNS,
)
