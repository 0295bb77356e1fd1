"""What lies around the records of a phase-memory store: both ends of an edge, the edges of a node, events, activations, audit records.

Records point at each other by ids that anything may be missing for, so every look-up gives what is there and leaves out what is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from django.db.models import Case, Q, Sum, When, Window

from stores.formats import storable
from stores.formats.record_keys import record_key
from stores.models import (
    Activation,
    ActivationItem,
    AuditRecord,
    AuditTarget,
    Edge,
    Event,
    EventUpdate,
    FileRecord,
    MemoryPath,
    MirroredRecord,
    Node,
    NodeSource,
    PathEvent,
    Profile,
)

EDGES_SHOWN = 100
ITEMS_SHOWN = 500
HAPPENED_SHOWN = 100
AUDITED_SHOWN = 50
PATHS_SHOWN = 20
MADE_SHOWN = 50
EDGES_DRAWN = 600

Record = TypeVar("Record", bound=MirroredRecord)


def named(model: type[Record], store_id: int, ids: Iterable[str]) -> dict[str, Record]:
    """Give the live records of a type that have one of these ids, the one that counts where several have it. One query, none without ids."""
    wanted = {one for one in ids if one}
    if not wanted:
        return {}
    keys = {record_key(one, b"") for one in wanted}
    found: Any = model._default_manager.filter(
        file__store_id=store_id, file__record_type=model.record_type, key__in=keys, gone_at__isnull=True
    )
    found = found.order_by(*(("is_duplicate",) if issubclass(model, FileRecord) else ()), "pk")
    by_id: dict[str, Record] = {}
    for record in found:
        if record.natural_id in wanted:
            by_id.setdefault(record.natural_id, record)
    return by_id


class EdgeSide(NamedTuple):
    """Edges that begin, or that end, at a node, with the nodes at their other ends."""

    edges: list[Edge]
    number: int
    others: dict[str, Node]


class Mention(NamedTuple):
    """An activation that chose a node or passed it over."""

    item: ActivationItem
    activation: Activation


class Mentions(NamedTuple):
    """Activations that speak of a node, the newest first."""

    rows: list[Mention]
    chosen: int
    omitted: int


class Happened(NamedTuple):
    """What an event did to a record."""

    event: Event
    update: EventUpdate


class Audited(NamedTuple):
    """What an audit record says of a record."""

    record: AuditRecord
    target: AuditTarget


class Source(NamedTuple):
    """An event that a record names as its source; None where the log has no such event."""

    event_id: str
    event: Event | None


class NodeAround(NamedTuple):
    """All that lies around a node."""

    outgoing: EdgeSide
    incoming: EdgeSide
    mentions: Mentions
    happened: list[Happened]
    sources: list[Source]
    audited: list[Audited]
    path: MemoryPath | None
    named: dict[str, Node]
    """Nodes that it names: what superseded it, what it was compacted into."""


def node_around(node: Node, source_ids: Sequence[str]) -> NodeAround:
    """Give what lies around a node whose record names these events as its source: at most 9 queries, however much there is."""
    outgoing, incoming, numbers = _edges(node)
    others = named(
        Node,
        node.store_id,
        [*(edge.target for edge in outgoing), *(edge.source for edge in incoming), node.superseded_by, node.compacted_into],
    )
    return NodeAround(
        EdgeSide(outgoing, numbers[0], others),
        EdgeSide(incoming, numbers[1], others),
        _mentions(node),
        happened("node", node),
        sources(node.store_id, source_ids),
        audited("node", node),
        named(MemoryPath, node.store_id, [node.path_id]).get(node.path_id),
        others,
    )


def sources(store_id: int, ids: Sequence[str]) -> list[Source]:
    """Give events that a record names, with those that the log has. One query."""
    shown = [storable.name(one) for one in ids[:MADE_SHOWN]]
    events = named(Event, store_id, shown)
    return [Source(one, events.get(one)) for one in shown]


def _edges(node: Node) -> tuple[list[Edge], list[Edge], tuple[int, int]]:
    """Give the edges that begin and those that end at a node, and how many there are of each; a loop is one of both."""
    touching = Edge.objects.filter(Q(source=node.natural_id) | Q(target=node.natural_id), store_id=node.store_id, gone_at__isnull=True)
    counted = touching.annotate(begin=_all(source=node.natural_id), end=_all(target=node.natural_id))
    rows: list[Any] = list(counted.order_by("kind", "-at_ms", "pk")[: 2 * EDGES_SHOWN])
    outgoing = [edge for edge in rows if edge.source == node.natural_id]
    incoming = [edge for edge in rows if edge.target == node.natural_id]
    return outgoing[:EDGES_SHOWN], incoming[:EDGES_SHOWN], (rows[0].begin, rows[0].end) if rows else (0, 0)


def _all(**condition: object) -> Window:
    """Count the rows that a condition fits, also those that are not taken."""
    return Window(Sum(Case(When(**condition, then=1), default=0)))


def _mentions(node: Node) -> Mentions:
    speaking = ActivationItem.objects.filter(store_id=node.store_id, node_id=node.natural_id, record__gone_at__isnull=True)
    counted = speaking.annotate(all_chosen=_all(chosen=True), all_omitted=_all(chosen=False)).select_related("record")
    rows: list[Any] = list(counted.order_by("-record__at_ms", "-record_id", "position")[:EDGES_SHOWN])
    numbers = (rows[0].all_chosen, rows[0].all_omitted) if rows else (0, 0)
    return Mentions([Mention(row, row.record) for row in rows], *numbers)


def happened(target_type: str, record: FileRecord) -> list[Happened]:
    """Give what events did to a record, the newest first. One query."""
    updates = EventUpdate.objects.filter(
        store_id=record.store_id, target_type=target_type, target_id=record.natural_id, record__gone_at__isnull=True
    )
    return [Happened(one.record, one) for one in updates.select_related("record").order_by("-record__line", "-pk")[:HAPPENED_SHOWN]]


def audited(target_type: str, record: FileRecord) -> list[Audited]:
    """Give the audit records that touched a record, the newest first. One query."""
    targets = AuditTarget.objects.filter(
        store_id=record.store_id, target_type=target_type, target_id=record.natural_id, record__gone_at__isnull=True
    )
    return [Audited(one.record, one) for one in targets.select_related("record").order_by("-record__line", "-pk")[:AUDITED_SHOWN]]


class EdgeAround(NamedTuple):
    """Both ends of an edge, and what is said of it."""

    ends: dict[str, Node]
    happened: list[Happened]
    sources: list[Source]
    audited: list[Audited]


def edge_around(edge: Edge, source_ids: Sequence[str]) -> EdgeAround:
    """Give what lies around an edge whose record names these events as its source: at most 4 queries."""
    return EdgeAround(
        named(Node, edge.store_id, [edge.source, edge.target]),
        happened("edge", edge),
        sources(edge.store_id, source_ids),
        audited("edge", edge),
    )


class Chosen(NamedTuple):
    """A node of an activation; None where the store has no such node."""

    item: ActivationItem
    node: Node | None


def activation_items(activation: Activation) -> tuple[list[Chosen], list[Chosen]]:
    """Give what an activation chose and what it passed over, in its order. Two queries."""
    items = list(ActivationItem.objects.filter(record=activation).order_by("position")[:ITEMS_SHOWN])
    nodes = named(Node, activation.store_id, [one.node_id for one in items])
    rows = [Chosen(one, nodes.get(one.node_id)) for one in items]
    return [one for one in rows if one.item.chosen], [one for one in rows if not one.item.chosen]


def profile_named(store_id: int, profile_id: str) -> Profile | None:
    """Give the live profile of this id, None where there is none. One query."""
    return named(Profile, store_id, [profile_id]).get(profile_id)


class Touched(NamedTuple):
    """A record that an event or an audit record names; None where the store has none of that id."""

    record_type: str
    id: str
    words: str
    """What was done."""
    named: str
    """What that names besides."""
    record: FileRecord | None


class EventAround(NamedTuple):
    """What lies around an event."""

    touched: list[Touched]
    paths: list[MemoryPath]
    """Those that list it."""
    made: list[Node]
    """Nodes that name it as their source."""
    path: MemoryPath | None
    audited: AuditRecord | None
    """The record that closed the lifecycle action which appended it."""


_TARGETS: dict[str, type[FileRecord]] = {"node": Node, "edge": Edge, "path": MemoryPath}


def event_around(event: Event) -> EventAround:
    """Give what lies around an event: at most 8 queries."""
    updates = list(EventUpdate.objects.filter(record=event).order_by("position")[:ITEMS_SHOWN])
    found = _targets(event.store_id, [(one.target_type, one.target_id) for one in updates])
    listing = PathEvent.objects.filter(store_id=event.store_id, event_id=event.natural_id, record__gone_at__isnull=True)
    made = NodeSource.objects.filter(store_id=event.store_id, event_id=event.natural_id, record__gone_at__isnull=True)
    return EventAround(
        [Touched(one.target_type, one.target_id, one.operation, one.named, found.get((one.target_type, one.target_id))) for one in updates],
        [one.record for one in listing.select_related("record").order_by("pk")[:PATHS_SHOWN]] if event.natural_id else [],
        [one.record for one in made.select_related("record").order_by("pk")[:MADE_SHOWN]] if event.natural_id else [],
        named(MemoryPath, event.store_id, [event.path_id]).get(event.path_id),
        _closing(event),
    )


def _closing(event: Event) -> AuditRecord | None:
    if not event.action_id:
        return None
    about = AuditRecord.objects.filter(store_id=event.store_id, subject_id=event.action_id, gone_at__isnull=True, applied=True)
    return about.order_by("-line").first()


def _targets(store_id: int, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], FileRecord]:
    """Give the live records of some types and ids. One query a type that is asked for."""
    ids: dict[str, set[str]] = {}
    for record_type, record_id in wanted:
        ids.setdefault(record_type, set()).add(record_id)
    found: dict[tuple[str, str], FileRecord] = {}
    for record_type, model in _TARGETS.items():
        for record_id, record in named(model, store_id, ids.get(record_type, ())).items():
            found[(record_type, record_id)] = record
    return found


class AuditAround(NamedTuple):
    """What lies around an audit record."""

    targets: list[tuple[AuditTarget, FileRecord | None]]
    sources: list[Source]
    """Events that the same action appended."""
    others: list[AuditRecord]
    """Other records about the same."""


def audit_around(record: AuditRecord, event_ids: Sequence[str]) -> AuditAround:
    """Give what lies around an audit record that names these events: at most 6 queries."""
    targets = list(AuditTarget.objects.filter(record=record).order_by("position")[:ITEMS_SHOWN])
    found = _targets(record.store_id, [(one.target_type, one.target_id) for one in targets])
    others = AuditRecord.objects.filter(store_id=record.store_id, subject_id=record.subject_id, gone_at__isnull=True)
    return AuditAround(
        [(one, found.get((one.target_type, one.target_id))) for one in targets],
        sources(record.store_id, event_ids),
        list(others.exclude(pk=record.pk).order_by("-line")[:PATHS_SHOWN]) if record.subject_id else [],
    )


class NodePicture(NamedTuple):
    """Nodes and edges that are drawn."""

    nodes: list[Node]
    edges: list[Edge]
    degrees: dict[str, int]
    """How many of the edges drawn each node has."""
    beyond: bool
    """There are more edges than are drawn."""


def node_picture(node: Node, depth: int, limit: int) -> NodePicture:
    """Give a node with what is one or two edges away: at most 5 queries."""
    ids = [node.natural_id]
    for _ in range(depth):
        near = Edge.objects.filter(Q(source__in=ids) | Q(target__in=ids), store_id=node.store_id, gone_at__isnull=True)
        rows = near.order_by("-at_ms", "pk").values_list("source", "target")[:EDGES_DRAWN]
        ids = list(dict.fromkeys([*ids, *(end for row in rows for end in row)]))[:limit]
    nodes = named(Node, node.store_id, ids)
    nodes.setdefault(node.natural_id, node)
    known = list(nodes)
    between = Edge.objects.filter(store_id=node.store_id, gone_at__isnull=True, source__in=known, target__in=known)
    edges = list(between.order_by("-at_ms", "pk")[: EDGES_DRAWN + 1])
    drawn, degrees = edges[:EDGES_DRAWN], dict.fromkeys(known, 0)
    for edge in drawn:
        for end in (edge.source, edge.target):
            degrees[end] += 1
    in_order = [nodes.pop(node.natural_id), *sorted(nodes.values(), key=lambda one: (-degrees[one.natural_id], one.pk))]
    return NodePicture(in_order, drawn, degrees, len(edges) > EDGES_DRAWN)
