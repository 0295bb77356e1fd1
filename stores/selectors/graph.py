"""The graph of a store for its pages: which entities fit a question, how many of each sort there are, and what is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.db.models import Case, Count, F, IntegerField, Q, QuerySet, Value, When

from stores.display import DAY
from stores.formats.search_text import search_text
from stores.lists.graphs import SORTS, GraphQuery
from stores.models import GraphEntity, GraphRelation, GraphSource, Store
from stores.models.graph import NO_RECORDS

STALE_DAYS = (30, 90, 180)
RELATIONS_DRAWN = 2_000
SOURCES = {"graph_entity": "filed", "queue_operation": "queued", "decision": "decisions"}
_TOLD = {
    "file": Q(filed__gt=0),
    "queue": Q(queued__gt=0),
    "decisions": Q(decisions__gt=0),
    "relations": Q(filed=0, queued=0, decisions=0),
}


class Kind(NamedTuple):
    """One sort of entities: everything that the facets ask."""

    type: str
    told: frozenset[str]
    dated: frozenset[str]


class SourceState(NamedTuple):
    """How far the records of one type are in the graph."""

    record_type: str
    taken: int
    left_out: int
    complete: bool
    at: datetime | None
    is_object: bool = False
    """The graph file is one object, or has such among its lines."""


def source_states(store: Store) -> list[SourceState]:
    """Say how far the graph is built, source by source. One query."""
    found = GraphSource.objects.filter(store=store).values_list("record_type", "taken", "left_out", "complete", "at", "seen_id")
    by_type = {row[0]: SourceState(*row[:-1], is_object=row[-1] == NO_RECORDS) for row in found}
    return [by_type.get(name, SourceState(name, 0, 0, False, None)) for name in SOURCES]


def dated_classes(newest_ms: int, now: datetime) -> frozenset[str]:
    """Give the classes of age of an entity (lists.graphs.DATED)."""
    if newest_ms <= 0:
        return frozenset({"none"})
    days = (now.timestamp() - newest_ms / 1000) / DAY
    return frozenset(str(limit) for limit in STALE_DAYS if days >= limit) or frozenset({"fresh"})


@dataclass
class EntityList:
    """The entities of one store that fit a question; the store is one that the asker sees."""

    store: Store
    query: GraphQuery
    now: datetime

    @cached_property
    def kinds(self) -> Counter[Kind]:
        """Count all entities that fit the words, by sort. One query."""
        classes = {name: Case(When(which, then=1), default=0, output_field=IntegerField()) for name, which in _TOLD.items()}
        age = Case(
            When(newest_ms__lte=0, then=Value(-1)),
            *(When(newest_ms__lte=self._before(days), then=Value(days)) for days in reversed(STALE_DAYS)),
            default=Value(0),
            output_field=IntegerField(),
        )
        rows = self._with_words().annotate(age=age, **{f"is_{name}": told for name, told in classes.items()})
        counted = rows.order_by().values_list("type", "age", *(f"is_{name}" for name in classes)).annotate(number=Count("pk"))
        kinds: Counter[Kind] = Counter()
        for kind, age_class, *told, number in counted:
            kinds[Kind(kind, frozenset(name for name, holds in zip(classes, told, strict=True) if holds), _classes(age_class))] += number
        return kinds

    def counts(self, facet: str) -> Counter[str]:
        """Count by the values of a facet what fits all other ones."""
        counted: Counter[str] = Counter()
        for kind, number in self.kinds.items():
            if self._fits(kind, without=facet):
                counted.update(dict.fromkeys({kind.type} if facet == "type" else getattr(kind, facet), number))
        return counted

    @property
    def count(self) -> int:
        """How many entities fit."""
        return sum(number for kind, number in self.kinds.items() if self._fits(kind))

    @property
    def page(self) -> int:
        """The page that is shown: the last one where a later one is asked for."""
        return min(self.query.page, max(1, -(-self.count // self.query.per_page)))

    @property
    def page_rows(self) -> list[GraphEntity]:
        """The entities of the page, in its order. One query."""
        first = (self.page - 1) * self.query.per_page
        sign = "-" if self.query.sort.startswith("-") else ""
        order = f"{sign}{SORTS[self.query.sort.removeprefix('-')]}"
        return list(
            self.entities().order_by(order, *(() if order == "-degree" else ("-degree",)), "pk")[first : first + self.query.per_page]
        )

    def entities(self) -> QuerySet[GraphEntity]:
        """Give all entities that fit, unordered."""
        found = self._with_words()
        if self.query.type:
            found = found.filter(type__in=self.query.type)
        if self.query.told:
            found = found.filter(_any(_TOLD[value] for value in self.query.told))
        if self.query.dated:
            found = found.filter(_any(self._dated(value) for value in self.query.dated))
        return found

    def _with_words(self) -> QuerySet[GraphEntity]:
        found = GraphEntity.objects.filter(store=self.store)
        for word in search_text(self.query.text).split():
            found = found.filter(words__contains=f" {word}")
        if self.query.text and not search_text(self.query.text).split():
            # Emoji and signs are no words: they are looked for as they are.
            found = found.filter(Q(name__contains=self.query.text) | Q(title__contains=self.query.text))
        return found

    def _fits(self, kind: Kind, without: str = "") -> bool:
        query = self.query
        return (
            (without == "type" or not query.type or kind.type in query.type)
            and (without == "told" or not query.told or not kind.told.isdisjoint(query.told))
            and (without == "dated" or not query.dated or not kind.dated.isdisjoint(query.dated))
        )

    def _before(self, days: int) -> int:
        return int((self.now.timestamp() - days * DAY) * 1000)

    def _dated(self, value: str) -> Q:
        if value == "none":
            return Q(newest_ms__lte=0)
        if value == "fresh":
            return Q(newest_ms__gt=self._before(STALE_DAYS[0]))
        return Q(newest_ms__gt=0, newest_ms__lte=self._before(int(value)))


def _classes(age: int) -> frozenset[str]:
    if age < 0:
        return frozenset({"none"})
    return frozenset(str(days) for days in STALE_DAYS if days <= age) or frozenset({"fresh"})


def _any(parts: Iterable[Q]) -> Q:
    whole = Q()
    for part in parts:
        whole |= part
    return whole


class Picture(NamedTuple):
    """Entities and relations that are drawn, and how many of each there are."""

    nodes: list[GraphEntity]
    relations: list[GraphRelation]
    all_nodes: int
    all_relations: int | None
    """None where there are more than are drawn and nobody counted them."""


def picture(found: EntityList) -> Picture:
    """Give the most connected of what fits, and what holds between them: three queries."""
    nodes = list(found.entities().order_by("-degree", "pk")[: found.query.nodes])
    relations, more = _between([node.pk for node in nodes])
    return Picture(nodes, relations, found.count, None if more else len(relations))


def neighbourhood(entity: GraphEntity, depth: int, limit: int) -> Picture:
    """Give an entity with what is one or two relations away, the most connected first: at most four queries."""
    near = _around([entity.pk])
    number = near.count()
    nodes = [entity, *near.exclude(pk=entity.pk).order_by("-degree", "pk")[: limit - 1]]
    if depth > 1 and len(nodes) < limit:
        known = [node.pk for node in nodes]
        nodes += _around(known).exclude(pk__in=known).order_by("-degree", "pk")[: limit - len(nodes)]
    relations, more = _between([node.pk for node in nodes])
    return Picture(nodes, relations, max(number, len(nodes)), None if more else len(relations))


def _around(entities: Sequence[int]) -> QuerySet[GraphEntity]:
    ends = GraphRelation.objects.filter(start__in=entities).values("end")
    starts = GraphRelation.objects.filter(end__in=entities).values("start")
    return GraphEntity.objects.filter(pk__in=ends.union(starts))


def _between(entities: Sequence[int]) -> tuple[list[GraphRelation], bool]:
    """Give the relations among some entities, what is said most often first, and whether there are more."""
    found = GraphRelation.objects.filter(start__in=entities, end__in=entities)
    rows = list(found.order_by(F("decisions").desc(), "pk")[: RELATIONS_DRAWN + 1])
    return rows[:RELATIONS_DRAWN], len(rows) > RELATIONS_DRAWN
