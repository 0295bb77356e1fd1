"""What a drain would write into the graph, from the operations that the mirror keeps; and the drains that were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from stores.formats import storable
from stores.formats.javascript import TOO_DEEP
from stores.formats.orchestkit import graph_items, graph_key, queue
from stores.formats.orchestkit.aggregate import aggregate
from stores.formats.orchestkit.classic_aggregate import Trouble
from stores.formats.orchestkit.graph import Graph
from stores.formats.orchestkit.values import parse_raw
from stores.formats.record_keys import record_key
from stores.models import Drain, GraphEntity, GraphItem, GraphRelation, GraphSource, QueueOperation, SourceFile
from stores.models.graph import NO_RECORDS
from stores.selectors import wording
from stores.selectors.backlog import WaitingOperation, waiting_operation
from stores.selectors.records import any_of
from stores.selectors.store_page import StoreFrame

OPERATIONS_AT_MOST = 500
BYTES_AT_MOST = 512 * 1024
"""So much of a queue is looked at for a page; the command looks at all of it."""
SHOWN = 50
NAMES_SHOWN = 20
DRAINS_SHOWN = 10
_DRAIN_STATES = {"verifying": "applying", "kept": "ok", "lost": "failing"}
_IN_STORE = frozenset({"", "expected", "no server"})


class Target(NamedTuple):
    """Where the graph is that a drain writes to."""

    path: str
    """"" where only the worker's host can tell."""
    reason: str
    refused: bool
    """A drain needs to be told the file."""


class Loss(NamedTuple):
    """What the classic drain would not write about an entity."""

    name: str
    contents: Sequence[str]
    more: int


class PastDrain(NamedTuple):
    """A drain that was, with the state whose shape it takes."""

    drain: Drain
    state: str
    words: str


class DrainPreview(NamedTuple):
    """What the page shows."""

    file: SourceFile | None
    """None: the store has no queue file."""
    target: Target
    drains: list[PastDrain]
    total: int
    """Operations that wait."""
    looked_at: int
    """How many of them, the oldest, are counted here."""
    sentence: str = ""
    new_entities: int = 0
    existing: Sequence[str] = ()
    """Names of entities that the graph has already."""
    new_relations: int = 0
    missing_ends: Sequence[str] = ()
    """Names that only relations use, and that the graph does not have."""
    poison: Sequence[Trouble] = ()
    skipped: Sequence[Trouble] = ()
    unreadable: int = 0
    """Lines that are no JSON; they go to the archive with the others."""
    losses: Sequence[Loss] = ()
    lost: int = 0
    """Observations that the classic drain would lose."""
    operations: Sequence[WaitingOperation] = ()

    @property
    def is_part(self) -> bool:
        """Whether the queue is longer than what is counted here."""
        return self.looked_at < self.total


def drain_preview(frame: StoreFrame) -> DrainPreview:
    """Give what a drain would write now: 5 queries at most, 7 where the graph is one object, however long the queue is."""
    store = frame.store
    file = next((one for one in frame.line_files if one.path == queue.PATH), None)
    total = frame.facts.count(store.pk, "queue_operation")
    target = _target(frame)
    drains = [PastDrain(one, _DRAIN_STATES[one.state], _drain_words(one)) for one in Drain.objects.filter(store=store)[:DRAINS_SHOWN]]
    if file is None or not file.exists or not total:
        unreadable = file.corrupt_lines if file and file.exists else 0
        return DrainPreview(file if file and file.exists else None, target, drains, 0, 0, unreadable=unreadable)
    operations = _oldest(store.pk)
    raws = dict(QueueOperation.text_model._default_manager.filter(pk__in=any_of([one.pk for one in operations])).values_list("pk", "raw"))
    values = ((one.line, parse_raw(bytes(raws[one.pk])).value) for one in operations if one.pk in raws)
    made = aggregate((line, value) for line, value in values if value is not TOO_DEEP)
    known = _known(frame, made.graph) if target.path else set()
    existing = [name for name in made.graph.nodes if storable.name(name) in known]
    missing = tuple(name for name in made.account.missing_ends if storable.name(name) not in known)
    account = made.account
    stopping = {trouble.line for trouble in account.poison}
    losses = [Loss(name, contents[:NAMES_SHOWN], max(0, len(contents) - NAMES_SHOWN)) for name, contents in account.classic_loses]
    new_relations = sum(_edge_id(*edge) not in known for edge in made.graph.edges)
    return DrainPreview(
        file=file,
        target=target,
        drains=drains,
        total=total,
        looked_at=len(operations),
        sentence=_sentence(len(made.graph.nodes) - len(existing), len(existing), new_relations, len(missing), len(account.poison)),
        new_entities=len(made.graph.nodes) - len(existing),
        existing=existing,
        new_relations=new_relations,
        missing_ends=missing,
        poison=account.poison,
        skipped=[trouble for trouble in account.skipped if trouble.line not in stopping],
        unreadable=file.corrupt_lines,
        losses=losses[:NAMES_SHOWN],
        lost=sum(len(loss.contents) for loss in account.classic_loses),
        operations=[waiting_operation(one) for one in operations[:SHOWN]],
    )


def _oldest(store_id: int) -> list[QueueOperation]:
    """Give the operations that are looked at, in the order of the file where these are all. One query."""
    waiting = QueueOperation.objects.filter(store_id=store_id, gone_at__isnull=True).order_by("at_ms", "id")
    taken: list[QueueOperation] = []
    size = 0
    for one in waiting[:OPERATIONS_AT_MOST]:
        size += one.length
        if taken and size > BYTES_AT_MOST:
            break
        taken.append(one)
    return sorted(taken, key=lambda one: one.line)


def _known(frame: StoreFrame, graph: Graph) -> set[str]:
    """Give the names of the entities, and the ids of the relations, that the store's graph file has already: two queries, two more where it is one object."""
    file = next((one for one in frame.line_files if one.path == graph_items.PATH), None)
    if file is None:
        return set()
    names = [*(storable.name(name) for name in graph.nodes), *(_edge_id(*edge) for edge in graph.edges)]
    items: Any = GraphItem.objects.filter(
        file=file, key__in=any_of([record_key(name, b"") for name in names if name]), gone_at__isnull=True
    )
    return {*items.values_list("natural_id", flat=True), *_known_in_object(frame.store.pk, graph)}


def _known_in_object(store_id: int, graph: Graph) -> set[str]:
    """Give the same of a graph file that is one object, whose lines are no records."""
    if not GraphSource.objects.filter(store=store_id, record_type=GraphItem.record_type, seen_id=NO_RECORDS).exists():
        return set()
    keys = [graph_key(storable.name(name)) for name in graph.nodes]
    entities: Any = GraphEntity.objects.filter(store=store_id, key__in=any_of(keys), filed__gt=0)
    edges = {graph_key(*map(storable.name, edge)): _edge_id(*edge) for edge in graph.edges}
    relations: Any = GraphRelation.objects.filter(store=store_id, key__in=any_of(list(edges)), filed__gt=0)
    return {*entities.values_list("name", flat=True), *(edges[key] for key in relations.values_list("key", flat=True))}


def _edge_id(start: str, end: str, kind: str) -> str:
    """Give the id under which the mirror keeps a relation of the graph file."""
    return storable.name(f"{start}|{kind}|{end}")


def _target(frame: StoreFrame) -> Target:
    place = frame.facts.condition(frame.store.pk, "graph_place")
    known = place.value_text if place and place.status != "unmeasured" else ""
    reason = place.message if place and known else "Nothing is known of a memory server"
    if known in _IN_STORE:
        return Target(f"{frame.store.path}/{graph_items.PATH}", reason, refused=False)
    return Target("", reason, refused=known != "elsewhere")


def _sentence(entities: int, existing: int, relations: int, missing: int, poison: int) -> str:
    """Say all of it in a sentence."""
    of_them = f", {missing:,} of which only relations name," if missing else ""
    said = [f"Creates {wording.counted(entities, 'entity', 'entities')}{of_them} and {wording.counted(relations, 'relation')}"]
    if existing:
        said.append(f"adds to {wording.counted(existing, 'entity', 'entities')} that exist{'s' if existing == 1 else ''} already")
    if poison:
        said.append(f"{wording.counted(poison, 'poison line')} would stop OrchestKit's own drain, not this one")
    return "; ".join(said)


def _drain_words(drain: Drain) -> str:
    again = f", written again {wording.counted(drain.rewritten, 'time')}" if drain.rewritten else ""
    return {"verifying": "being verified", "kept": "verified", "lost": "lost"}[drain.state] + again
