"""What an approved action on a queue leaves to be looked after: which lines went into the graph, and what came late to the archive (ruling 53)."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from stores.apply import carrying
from stores.apply.draining import check_graph
from stores.apply.graph_location import GraphLocation, UnknownGraph, graph_location, require_a_graph
from stores.apply.place import Place
from stores.apply.reading import read_if_there
from stores.formats.orchestkit import Graph, aggregate_operations, merge_graph, parse_graph, queue, read_operations
from stores.lifecycle.changes import Create, Move, Replace
from stores.lifecycle.effects import Effect
from stores.lifecycle.orchestkit.effects import GRAPH
from stores.lifecycle.vocabulary import ORCHESTKIT
from stores.models import LifecycleAction, Store
from stores.review import keeping

DRAINS = "drain_queue"
REPLAYS = "replay_decisions"


class QueueMove:
    """The queue that an action archives, and the graph that it writes of it, if it does."""

    def __init__(self, row: LifecycleAction, effect: Effect, move: Move) -> None:
        self._effect, self._move = effect, move
        self._drains = row.verb == DRAINS
        self._lines = read_operations(carrying.whole_lines(move.before))
        written = next((change for change in effect.changes if isinstance(change, Create | Replace)), None)
        parameters = keeping.record_of(row).get("parameters")
        named = parameters.get("graph") if isinstance(parameters, dict) else None
        self._graph_path = written.path if written is not None else named if isinstance(named, str) and named else GRAPH
        before = parse_graph(written.before if isinstance(written, Replace) else b"")
        self._wanted = aggregate_operations(self._lines.operations, before.graph.nodes.keys()).graph if self._drains else Graph()
        self._merge = merge_graph(before, self._wanted)
        self._location = GraphLocation("", self._graph_path, self._graph_path, "")

    def require_the_agents_graph(self, store: Store, place: Place) -> None:
        """Refuse to drain into a graph that the agents do not use; raises UnknownGraph, OutsideRoots, StoreUnreadable."""
        if self._drains:
            require_the_agents_graph(store, place, self._graph_path)

    def document(self) -> dict[str, Any]:
        """Give what a Drain is made of; lines behind those that were approved are late ones, for the next drain."""
        whole = carrying.whole_lines(self._move.before)
        piece = {
            "archive": self._move.to,
            "from_byte": 0,
            "to_byte": len(whole),
            "sha256": sha256(whole).hexdigest(),
            "operations": len(self._lines.operations) if self._drains else 0,
            "left_out": len(self._lines.unreadable),
        }
        return {
            "graph_folder": "",
            "graph_path": self._graph_path,
            "entities": len(self._merge.entities),
            "relations": len(self._merge.relations),
            "observations": self._merge.observations,
            "state": "verifying" if self._drains else "kept",
            "pieces": [piece],
        }

    def check(self, place: Place) -> None:
        """Re-read the graph before the queue moves; raises CannotWrite unless it says everything."""
        if self._drains:
            check_graph(place, self._location, self._wanted)


def require_the_agents_graph(store: Store, place: Place, path: str) -> None:
    """Refuse to write a graph that the agents do not use; raises UnknownGraph, OutsideRoots, StoreUnreadable."""
    used = graph_location(store)
    if (used.folder, used.name) != ("", path):
        raise UnknownGraph(f"The agents of {store.slug} use the graph {used.path} by now ({used.reason}): propose it for that one.")
    require_a_graph(used, parse_graph(read_if_there(place.root, path) or b""))


def replayed_graph(row: LifecycleAction, effect: Effect) -> str:
    """Give the path of the graph that a replay of the decisions writes; "" for every other action."""
    written = [change.path for change in effect.changes if isinstance(change, Create | Replace)]
    return written[0] if written and row.kind == ORCHESTKIT and row.verb == REPLAYS else ""


def queue_move(row: LifecycleAction, effect: Effect) -> QueueMove | None:
    """Give what an action does to the queue; None where it does nothing to it."""
    moves = [change for change in effect.changes if isinstance(change, Move) and change.path == queue.PATH]
    return QueueMove(row, effect, moves[0]) if moves and row.kind == ORCHESTKIT else None
