"""Entities of graphs that are written as one object: no line of such a file is a record, so search would not find them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import IntegerField, Q, QuerySet, Value
from django.db.models.functions import Cast

from stores.formats.search_text import Term
from stores.models import GraphEntity, GraphItem, GraphSource
from stores.models.graph import NO_RECORDS
from stores.selectors.walks import Sql


@dataclass(frozen=True, slots=True)
class EntitySection:
    """The words of the section in which they are listed; as those of a list of records."""

    title: str = "Entities of graphs"
    one: str = "entity of a graph"
    many: str = "entities of graphs"
    record_type: str = "entity"


ENTITIES = EntitySection()


def matching_entities(terms: Sequence[Term], stores: Collection[int], limit: int) -> Sql | None:
    """Give the SELECT of the ids of entities that have the words, most connected first; None where nothing can match."""
    if not terms or not stores:
        return None
    objects = GraphSource.objects.filter(store__in=list(stores), record_type=GraphItem.record_type, seen_id=NO_RECORDS)
    found = GraphEntity.objects.filter(store__in=objects.values("store"), filed__gt=0)
    for term in terms:
        words = f" {' '.join(term.tokens)}"
        found = found.filter(Q(words__contains=words) if term.prefix else Q(words__contains=f"{words} ") | Q(words__endswith=words))
    return _sql(found.order_by("-degree", "pk").values_list("pk")[:limit])


def entity_rows(ids: Sequence[int]) -> Sql:
    """Give the SELECT of entities in the columns of records: id, store, title, time, line, faults, name, and whether it was asked for by id."""
    none = Cast(Value(0), IntegerField())
    found = GraphEntity.objects.filter(pk__in=list(ids)).order_by()
    return _sql(
        found.annotate(line=none, faults=none, named=none).values_list(
            "pk", "store_id", "title", "newest_ms", "line", "faults", "name", "named"
        )
    )


def _sql(found: QuerySet[GraphEntity, tuple[object, ...]]) -> Sql:
    sql, parameters = found.query.sql_with_params()
    return sql, list(parameters)
