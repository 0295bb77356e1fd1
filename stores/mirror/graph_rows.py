"""What the records of each source of the graph tell of entities and relations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from stores.formats import storable
from stores.formats.orchestkit import decision_graph, operation_graph, title_in
from stores.formats.orchestkit.graph import Graph
from stores.formats.orchestkit.graph_items import judge_item
from stores.mirror.slicing import number_within
from stores.models import Decision, GraphItem, MirroredRecord, QueueOperation


class TextRecord(NamedTuple):
    """A record whose line has to be read."""

    id: int
    at_ms: int
    raw: bytes


class ItemRecord(NamedTuple):
    """A line of the graph file, whose columns say enough."""

    id: int
    at_ms: int
    what: str
    item_type: str
    title: str
    start: str
    end: str
    observations: int


Record = TextRecord | ItemRecord
Relation = tuple[str, str, str]
"""Start, end, type."""


@dataclass(slots=True)
class ToldEntity:
    """What some records say of one entity."""

    type: str
    title: str
    times: int = 0
    observations: int = 0
    newest_ms: int = 0


@dataclass(slots=True)
class Told:
    """What some records say in all."""

    entities: dict[str, ToldEntity] = field(default_factory=dict)
    relations: Counter[Relation] = field(default_factory=Counter)
    mentions: list[tuple[str, int]] = field(default_factory=list)
    """Names of entities, each with the record that tells of it."""

    def entity(self, name: str, kind: str, title: str = "") -> ToldEntity:
        """Give what is said of an entity; its first type stays."""
        told = self.entities.get(name)
        if told is None:
            told = self.entities[name] = ToldEntity(kind, title or name)
        return told


@dataclass(frozen=True, slots=True)
class Part:
    """One source of the graph, and the columns that count it."""

    path: str
    model: type[MirroredRecord]
    times: str
    type: str
    observations: str
    newest: str
    mentions: bool
    """Whether the entity remembers each record; the lines of the graph file are found by name."""

    @property
    def record_type(self) -> str:
        """Name of its records."""
        return self.model.record_type

    def after(self, store_id: int, record_id: int, limit: int) -> tuple[Sequence[Record], bool]:
        """Give live records behind one of them, in the order in which they came, as many as may be held; and whether those are all."""
        live = self.model._default_manager.filter(store=store_id, gone_at__isnull=True, pk__gt=record_id).order_by("pk")
        if self.model is GraphItem:
            items = [ItemRecord(*row) for row in live.values_list(*ItemRecord._fields)[:limit]]
            return items, len(items) < limit
        found = list(live.values_list("pk", "at_ms", "length")[:limit])
        held = found[: number_within(length for _, _, length in found)]
        texts = self.model.text_model._default_manager.filter(pk__in=[pk for pk, _, _ in held])
        raws = {pk: bytes(raw) for pk, raw in texts.values_list("pk", "raw")}
        return [TextRecord(pk, at_ms, raws.get(pk, b"")) for pk, at_ms, _ in held], len(found) < limit and len(held) == len(found)

    def newest_but(self, store_id: int, number: int) -> int:
        """Give the key before the newest `number` live records."""
        live = self.model._default_manager.filter(store=store_id, gone_at__isnull=True).order_by("-pk")
        return int(live.values_list("pk", flat=True)[number : number + 1].get())


PARTS = (
    Part("memory.json", GraphItem, "filed", "file_type", "file_observations", "file_ms", mentions=False),
    Part("graph-queue.jsonl", QueueOperation, "queued", "queue_type", "queue_observations", "queue_ms", mentions=True),
    Part("decisions.jsonl", Decision, "decisions", "decision_type", "decision_observations", "decision_ms", mentions=True),
)
"""The graph file first: what it says an entity is holds against the others."""


_READERS: dict[str, Callable[[bytes], Graph]] = {"decision": decision_graph, "queue_operation": operation_graph}


def told_by(part: Part, records: Iterable[Record]) -> Told:
    """Put together what records of a source tell."""
    told = Told()
    for record in records:
        if isinstance(record, ItemRecord):
            _take_item(told, record)
        else:
            _take_graph(told, record, _READERS[part.record_type](record.raw))
    return told


def told_by_file(records: Iterable[dict[str, object]]) -> Told:
    """Put together what a graph file tells that is not written in lines, given what its lines would be."""
    told = Told()
    for record in records:
        values: Any = judge_item(record).values
        what, item_type, title, start, end, observations, at_ms, _ = values
        _take_item(told, ItemRecord(0, at_ms, what, item_type, title, start, end, observations))
    return told


def _take_item(told: Told, item: ItemRecord) -> None:
    if item.what == "entity":
        entity = told.entity(item.start, item.item_type, item.title)
        entity.times += 1
        entity.observations += item.observations
        entity.newest_ms = max(entity.newest_ms, item.at_ms)
    elif item.what == "relation":
        for name in (item.start, item.end):
            told.entity(name, "")
        told.relations[item.start, item.end, item.item_type] += 1


def _take_graph(told: Told, record: TextRecord, graph: Graph) -> None:
    for node in graph.nodes.values():
        name = storable.name(node.name)
        entity = told.entity(name, storable.name(node.kind), storable.title(title_in(node.observations)))
        entity.times += 1
        entity.observations += len(node.observations)
        entity.newest_ms = max(entity.newest_ms, record.at_ms)
        told.mentions.append((name, record.id))
    for edge in graph.edges:
        told.relations[storable.name(edge.start), storable.name(edge.end), storable.name(edge.kind)] += 1
