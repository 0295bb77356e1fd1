"""Drains a queue into the graph: aggregate, write, re-read, and only then put the queue into the archive (rulings 4, 53)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from stores.apply import carrying, steps
from stores.apply.graph_location import GraphLocation, graph_location, require_a_graph
from stores.apply.place import Place, held
from stores.apply.reading import inode_of, read_if_there
from stores.apply.steps import Actor, Plan
from stores.apply.targets import Move, Put, Target
from stores.errors import CannotWrite, Conflict
from stores.files import LOCK_WAIT_S
from stores.formats.orchestkit import (
    Aggregate,
    Graph,
    GraphFile,
    Merge,
    QueueLines,
    Trouble,
    aggregate_operations,
    graph_bytes,
    merge_graph,
    missing_from,
    parse_graph,
    queue,
    read_operations,
)
from stores.models import Store

ARCHIVE_FOLDER = "archive"
NOTHING_NEW = Merge((), (), 0)
MOST_ROUNDS = 3
"""A drain takes what came in meanwhile at once, this often."""


class NothingUsable(Conflict):
    """The queue holds lines, but none that a graph could take."""


class Source(NamedTuple):
    """Lines of the queue, or late ones of one that was archived before."""

    archive_path: str
    from_byte: int
    data: bytes
    is_queue: bool
    lines: QueueLines


@dataclass(slots=True)
class Draining:
    """What a drain does, or would do."""

    graph: GraphLocation
    sources: tuple[Source, ...] = ()
    aggregate: Aggregate = field(default_factory=Aggregate)
    merge: Merge = NOTHING_NEW
    unreadable: tuple[Trouble, ...] = ()
    graph_lines_left_out: int = 0
    """Lines of the graph that its server cannot take; the file that was displaced keeps them."""
    torn_bytes: int = 0
    """At the end of the queue: not taken, and archived with it."""
    change: str = ""
    """Id of the change; "" for a dry run, or when there was nothing to do."""

    @property
    def archive_path(self) -> str:
        """Where the queue goes; "" when there is none."""
        return next((source.archive_path for source in self.sources if source.is_queue), "")

    @property
    def operations(self) -> int:
        """How many operations are taken."""
        return self.aggregate.account.operations


def look(store: Store, *, graph: str = "", wait_s: float = LOCK_WAIT_S) -> Draining:
    """Say what a drain would do, without doing anything. Raises what `drain` raises."""
    with held(store, wait_s) as place:
        return _planned(store, place, graph, datetime.now(UTC))[0]


def drain(store: Store, actor: Actor, *, graph: str = "", wait_s: float = LOCK_WAIT_S) -> list[Draining]:
    """Drain the queue and what came late to those that were drained before; give what was done, nothing when nothing waited.

    Raises NothingUsable, UnknownGraph, and what `steps.change` raises; the queue then waits as before.
    """
    done: list[Draining] = []
    for _ in range(MOST_ROUNDS):
        draft: list[Draining] = []

        def plan(place: Place, draft: list[Draining] = draft) -> Plan:
            now = datetime.now(UTC)
            carrying.settle(store, place.root, now)
            draining, planned = _planned(store, place, graph, now)
            draft.append(draining)
            return planned

        try:
            change = steps.change(store, plan, actor, wait_s=wait_s)
        except NothingUsable:
            if done:
                break
            raise
        if not change:
            break
        draft[0].change = change
        done.append(draft[0])
    return done


def _planned(store: Store, place: Place, graph: str, now: datetime) -> tuple[Draining, Plan]:
    location = graph_location(store, graph)
    root = place.at(location.folder)
    sources, torn = _sources(store, place, now)
    if not sources:
        return Draining(location), Plan("queue_drained", (), {})
    before = read_if_there(root, location.name)
    found = parse_graph(before or b"")
    require_a_graph(location, found)
    draining = _aggregated(sources, found, Draining(location, sources, torn_bytes=torn))
    draining.merge = merge_graph(found, draining.aggregate.graph)
    draining.graph_lines_left_out = len(found.left_out)
    after = graph_bytes(found)
    targets: list[Target] = []
    if before is None or any(draining.merge) or found.is_to_be_written:
        targets.append(Put(location.name, before, after, location.folder))
    targets += [Move(queue.PATH, source.archive_path) for source in sources if source.is_queue]
    plan = Plan(
        event="queue_drained",
        targets=tuple(targets),
        detail=_detail(draining),
        drain=_drain(draining),
        verify=lambda place: check_graph(place, location, draining.aggregate.graph),
    )
    return draining, plan


def check_graph(place: Place, location: GraphLocation, graph: Graph) -> None:
    """Re-read the graph file; raises CannotWrite unless it says everything that was to be written."""
    found = parse_graph(read_if_there(place.at(location.folder), location.name) or b"")
    missing = missing_from(found, graph)
    if missing or found.is_to_be_written:
        raise CannotWrite(
            f"{location.path} does not say all that was just written: {len(missing.entities)} entities, {len(missing.observations)} "
            f"observations and {len(missing.relations)} relations are missing. Another writer is at work; nothing was archived."
        )


def _sources(store: Store, place: Place, now: datetime) -> tuple[tuple[Source, ...], int]:
    """Give what is to be taken, oldest first, and how many bytes of a torn line stay out of it."""
    sources = [
        Source(late.archive_path, late.from_byte, late.data, False, read_operations(late.data))
        for late in carrying.late_pieces(store, place.root)
    ]
    data = read_if_there(place.root, queue.PATH) or b""
    whole = carrying.whole_lines(data)
    if whole.strip():
        sources.append(Source(_free_archive_path(place, now), 0, whole, True, read_operations(whole)))
    return tuple(sources), len(data) - len(whole)


def _free_archive_path(place: Place, now: datetime) -> str:
    while True:
        stamp = f"{now.astimezone(UTC):%Y-%m-%dT%H-%M-%S}-{now.microsecond // 1000:03d}Z"
        path = f"{ARCHIVE_FOLDER}/{stamp}-{queue.PATH}"
        if inode_of(place.root, path) is None:
            return path
        now += timedelta(milliseconds=1)


def _aggregated(sources: tuple[Source, ...], found: GraphFile, draining: Draining) -> Draining:
    operations: list[tuple[int, object]] = []
    unreadable: list[Trouble] = []
    for source in sources:
        operations += source.lines.operations
        unreadable += source.lines.unreadable
    draining.aggregate = aggregate_operations(operations, found.graph.nodes.keys())
    draining.unreadable = tuple(unreadable)
    usable = draining.aggregate.graph.nodes or draining.aggregate.graph.edges
    if not usable and any(source.is_queue for source in sources):
        lines = len(operations) + len(unreadable)
        raise NothingUsable(f"None of the {lines:,} lines in the queue says anything that a graph can take; the queue was left as it is.")
    return draining


def aggregate_of(data: bytes) -> Graph:
    """Give the graph that drained lines ask for."""
    return aggregate_operations(read_operations(data).operations).graph


def _detail(draining: Draining) -> dict[str, Any]:
    return {
        "graph": draining.graph.path,
        "archive": draining.archive_path,
        "operations": draining.operations,
        "entities": len(draining.merge.entities),
        "relations": len(draining.merge.relations),
        "observations": draining.merge.observations,
        "unreadable_lines": len(draining.unreadable),
    }


def _drain(draining: Draining) -> dict[str, Any]:
    pieces = []
    for source in draining.sources:
        pieces.append(
            {
                "archive": source.archive_path,
                "from_byte": source.from_byte,
                "to_byte": source.from_byte + len(source.data),
                "sha256": hashlib.sha256(source.data).hexdigest() if source.is_queue else "",
                "operations": len(source.lines.operations),
                "left_out": len(source.lines.unreadable),
            }
        )
    return {
        "graph_folder": draining.graph.folder,
        "graph_path": draining.graph.name,
        "entities": len(draining.merge.entities),
        "relations": len(draining.merge.relations),
        "observations": draining.merge.observations,
        "pieces": pieces,
    }
