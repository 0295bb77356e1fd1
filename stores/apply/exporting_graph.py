"""Makes the graph envelope of a phase-memory store from its disk."""

from __future__ import annotations

from typing import NamedTuple

from stores.apply.graph_reading import read_graph
from stores.apply.place import held
from stores.files import LOCK_WAIT_S
from stores.formats.phase_memory.exchange import Omitted, export_graph
from stores.mirror.record_trees.diagnosing import event_versions
from stores.models import Store


class Exported(NamedTuple):
    """An envelope, and what is in it."""

    envelope: bytes
    counts: dict[str, int]
    """By type of record."""
    omitted: tuple[Omitted, ...]


def export(store: Store, graph_id: str, *, wait_s: float = LOCK_WAIT_S) -> Exported:
    """Export a store while nobody of ours writes to it. Raises StoreUnreadable and Conflict."""
    with held(store, wait_s) as place:
        found = read_graph(place.root, event_versions()).sorted
    envelope = export_graph(graph_id, nodes=found.nodes, edges=found.edges, events=found.events, paths=found.paths, omitted=found.omitted)
    counts = {"node": len(found.nodes), "edge": len(found.edges), "path": len(found.paths), "event": len(found.events)}
    return Exported(envelope, counts, found.omitted)
