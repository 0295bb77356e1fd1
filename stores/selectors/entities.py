"""One entity of a graph, or one relation, with everything that lies behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from stores.accounts import Visitor, visible_stores
from stores.errors import NotFound
from stores.formats import storable
from stores.formats.orchestkit import decision_graph, graph_key, operation_graph
from stores.formats.orchestkit.graph import Graph
from stores.formats.orchestkit.graph_items import graph_detail
from stores.models import Decision, GraphEntity, GraphItem, GraphMention, GraphRelation, MirroredRecord, QueueOperation
from stores.selectors.graph_object import observations_in_object

RELATIONS_SHOWN = 100
BEHIND_SHOWN = 50
OBSERVATIONS_SHOWN = 100
ITEMS_READ = 20
LIKE_SHOWN = 20

Record = TypeVar("Record", bound=MirroredRecord)


class Saying(NamedTuple):
    """One sentence about an entity, and who says it: words for people."""

    text: str
    sources: tuple[str, ...]


class Behind(NamedTuple):
    """The records that tell of an entity or a relation, the newest first, cut."""

    decisions: list[Decision]
    operations: list[QueueOperation]
    items: list[GraphItem]

    @property
    def sessions(self) -> list[tuple[str, int]]:
        """The sessions of the decisions shown, with how many of them each."""
        return Counter(one.session for one in self.decisions if one.session).most_common()


class Side(NamedTuple):
    """Relations that begin, or that end, at an entity: those that are said most often first, cut."""

    rows: list[GraphRelation]
    number: int


class FoundEntity(NamedTuple):
    """An entity of a visible store, and how many relations begin and end at it."""

    entity: GraphEntity
    outgoing: int
    incoming: int


def find_entity(user: Visitor, slug: str, pk: int) -> FoundEntity:
    """Give an entity of a visible store with its store; raises NotFound. One query."""
    found = (
        GraphEntity.objects.select_related("store__worker")
        .annotate(begin=_number("start"), end=_number("end"))
        .filter(pk=pk, store__slug=slug, store__in=visible_stores(user))
        .first()
    )
    if found is None:
        raise NotFound("No such entity, or none that your account may see. It may have gone from the graph.")
    return FoundEntity(found, found.begin, found.end)


def _number(column: str) -> Coalesce:
    counted = GraphRelation.objects.filter(**{column: OuterRef("pk")}).order_by().values(column).annotate(number=Count("pk"))
    return Coalesce(Subquery(counted.values("number")), 0)


def find_relation(user: Visitor, slug: str, pk: int) -> GraphRelation:
    """Give a relation of a visible store with its store and both ends; raises NotFound. One query."""
    found = (
        GraphRelation.objects.select_related("store__worker", "start", "end")
        .filter(pk=pk, store__slug=slug, store__in=visible_stores(user))
        .first()
    )
    if found is None:
        raise NotFound("No such relation, or none that your account may see. It may have gone from the graph.")
    return found


def entity_named(store_id: int, name: str) -> GraphEntity | None:
    """Give the entity of exactly this name. One query."""
    return GraphEntity.objects.filter(store=store_id, key=graph_key(storable.name(name))).first()


def side(found: FoundEntity, *, outgoing: bool) -> Side:
    """Give the relations on one side of an entity, with the other ends. One query."""
    here, there = ("start", "end") if outgoing else ("end", "start")
    rows = GraphRelation.objects.filter(**{here: found.entity}).select_related(there).order_by("-decisions", "-filed", "type", "pk")
    return Side(list(rows[:RELATIONS_SHOWN]), found.outgoing if outgoing else found.incoming)


def behind(entity: GraphEntity) -> Behind:
    """Give the records that tell of an entity: at most three queries."""
    mentions = GraphMention.objects.filter(entity=entity)
    items = _items(entity.store_id).filter(what="entity", start=entity.name)
    return Behind(
        _newest(Decision, mentions) if entity.decisions else [],
        _newest(QueueOperation, mentions) if entity.queued else [],
        list(items[:ITEMS_READ]) if entity.filed else [],
    )


def behind_relation(relation: GraphRelation) -> Behind:
    """Give the records that say a relation: of those that tell of both its ends the ones that say it. At most three queries."""
    edge = (relation.start.name, relation.end.name, relation.type)
    other = GraphMention.objects.filter(entity=relation.end_id)
    both = {
        model: GraphMention.objects.filter(
            entity=relation.start_id, record_id__in=other.filter(record_type=model.record_type).values("record_id")
        )
        for model in (Decision, QueueOperation)
    }
    items = _items(relation.store_id).filter(what="relation", start=edge[0], end=edge[1], item_type=edge[2])
    return Behind(
        [one for one in _newest(Decision, both[Decision]) if edge in _edges(decision_graph(raw_of(one)))],
        [one for one in _newest(QueueOperation, both[QueueOperation]) if edge in _edges(operation_graph(raw_of(one)))],
        list(items[:ITEMS_READ]) if relation.filed else [],
    )


def sayings(entity: GraphEntity, told: Behind) -> list[Saying]:
    """Give the different sentences about an entity in the records given: those of the graph file first."""
    sources: dict[str, dict[str, None]] = {}
    for item in told.items:
        for one in graph_detail(raw_of(item)).observations:
            sources.setdefault(one.text, {})["graph file"] = None
    if len(told.items) < min(entity.filed, ITEMS_READ):
        for text in observations_in_object(entity.store_id, entity.name):
            sources.setdefault(text, {})["graph file"] = None
    for word, records, read in (("queue", told.operations, operation_graph), ("decision", told.decisions, decision_graph)):
        for record in records:
            for text in _observations(read(raw_of(record)), entity.name):
                sources.setdefault(text, {})[word] = None
    return [Saying(text, tuple(words)) for text, words in sources.items()]


def written_alike(entity: GraphEntity) -> list[GraphEntity]:
    """Give other entities whose names differ only in case: for the memory server they are strangers. One query."""
    same = GraphEntity.objects.filter(store=entity.store_id, name__iexact=entity.name).exclude(pk=entity.pk)
    return list(same.order_by("-degree", "pk")[:LIKE_SHOWN])


def raw_of(record: MirroredRecord) -> bytes:
    """Give the line of a record whose text is loaded."""
    return bytes(record.text.raw)  # type: ignore[attr-defined]


def _items(store_id: int) -> QuerySet[GraphItem]:
    return GraphItem.objects.filter(store=store_id, gone_at__isnull=True).select_related("text").order_by("-pk")


def _newest(model: type[Record], mentions: QuerySet[GraphMention]) -> list[Record]:
    """Give the newest live records among those that mentions name. One query."""
    newest = mentions.filter(record_type=model.record_type).order_by("-record_id").values("record_id")[:BEHIND_SHOWN]
    live = model._default_manager.filter(pk__in=newest, gone_at__isnull=True)
    return list(live.select_related("text").order_by("-at_ms", "-pk"))


def _edges(graph: Graph) -> set[tuple[str, str, str]]:
    return {(storable.name(edge.start), storable.name(edge.end), storable.name(edge.kind)) for edge in graph.edges}


def _observations(graph: Graph, name: str) -> Iterable[str]:
    for node in graph.nodes.values():
        if storable.name(node.name) == name:
            yield from map(storable.text, node.observations)
