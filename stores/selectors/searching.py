"""Search over all types of record at once: how many of each have the words, and the newest of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from django.db.models import Value
from django.urls import reverse

from stores.accounts import Visitor, visible_stores
from stores.formats import storable
from stores.formats.search_text import QUERY_LIMIT, Term, parse_query
from stores.lists.graphs import GraphQuery
from stores.lists.queries import ListQuery
from stores.lists.registry import SPECS
from stores.lists.specs import ListSpec
from stores.mirror.text_index import matching_statement
from stores.models import Store
from stores.selectors.entity_search import ENTITIES, EntitySection, entity_rows, matching_entities
from stores.selectors.origins import decision_key
from stores.selectors.records import CAP, any_of
from stores.selectors.walks import Sql, at_once

SEARCHED = tuple(SPECS.values())
SHOWN = 20
COLUMNS = ("id", "store_id", "title", "at_ms", "line", "fault_count", "natural_id")


class Hit(NamedTuple):
    """One record that has the words."""

    id: int
    store: Store
    title: str
    at_ms: int
    line: int
    """0 for an entity, which has none of its own."""
    faults: int
    natural_id: str
    url: str


class Section(NamedTuple):
    """What was found of one type of record."""

    spec: ListSpec | EntitySection
    hits: list[Hit]
    """The newest of them by their own time, behind the records whose id was asked for."""
    number: int
    more: bool
    """There are more than `number`."""
    url: str
    """The list of all of them; "" where there is none."""


class Search:
    """One question to everything that an account may see. At most three queries, however much is found."""

    def __init__(self, user: Visitor, text: str) -> None:
        self._user = user
        self.text = " ".join(storable.text(text)[:QUERY_LIMIT].split())

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The words that are searched for."""
        return parse_query(self.text)

    @cached_property
    def stores(self) -> dict[int, Store]:
        """Every store that the account sees. One query."""
        return {store.pk: store for store in visible_stores(self._user).only("pk", "slug", "name")}

    @cached_property
    def sections(self) -> list[Section]:
        """What was found, type by type; types without a hit are there too."""
        if not self.text or not self.stores:
            return []
        statements = [matching_statement(spec.model, self.terms, list(self.stores), CAP + 1) for spec in SEARCHED]
        found = at_once([*statements, matching_entities(self.terms, self.stores, CAP + 1)])
        *ids, entities = [[row[0] for row in rows] for rows in found]
        selects = [self._rows(spec, newest[:SHOWN]) for spec, newest in zip(SEARCHED, ids, strict=True)]
        *rows, entity_hits = at_once([*selects, entity_rows(entities[:SHOWN]) if entities else None])
        sections = [self._section(spec, newest, found) for spec, newest, found in zip(SEARCHED, ids, rows, strict=True)]
        return [*sections, self._entities(entities, entity_hits)]

    @property
    def number(self) -> int:
        """How many records are listed on the page."""
        return sum(len(section.hits) for section in self.sections)

    def _rows(self, spec: ListSpec, newest: Sequence[int]) -> Sql:
        """Give the SELECT of the newest hits, and of records whose id is the text as it was typed."""
        live = spec.model._default_manager.filter(gone_at__isnull=True).order_by()
        by_words = live.filter(pk__in=any_of(newest)).annotate(named=Value(0)).values_list(*COLUMNS, "named")
        by_id = (
            live.filter(
                file__store_id__in=list(self.stores),
                file__record_type=spec.record_type,
                key=decision_key(self.text),
                natural_id=storable.name(self.text),
            )
            .annotate(named=Value(1))
            .values_list(*COLUMNS, "named")
        )
        sql, parameters = by_words.union(by_id, all=True).query.sql_with_params()
        return sql, list(parameters)

    def _section(self, spec: ListSpec, newest: Sequence[int], rows: Sequence[tuple[int, int, str, int, int, int, str, int]]) -> Section:
        named = {row[0] for row in rows if row[-1]}
        in_order = sorted({row[:-1] for row in rows}, key=lambda row: (row[0] not in named, -row[3], -row[0]))
        hits = [self._hit(spec, row) for row in in_order if row[1] in self.stores]
        url = ListQuery(spec, text=self.text).address(reverse(f"{spec.name}_list"))
        number = min(len(newest), CAP) + len(named - set(newest))
        return Section(spec, hits[:SHOWN], number, len(newest) > CAP, url)

    def _entities(self, ids: Sequence[int], rows: Sequence[tuple[int, int, str, int, int, int, str, int]]) -> Section:
        hits = []
        for pk, store_id, title, at_ms, line, faults, name, _ in sorted(rows, key=lambda row: ids.index(row[0])):
            store = self.stores[store_id]
            hits.append(Hit(pk, store, title, at_ms, line, faults, name, reverse("entity_detail", args=[store.slug, pk])))
        # Where more was found than is shown, the others may be of any store.
        slugs = {store.slug for store in self.stores.values()} if len(ids) > len(hits) else {hit.store.slug for hit in hits}
        url = GraphQuery(text=self.text).address(reverse("store_graph", args=[*slugs])) if len(slugs) == 1 else ""
        return Section(ENTITIES, hits, min(len(ids), CAP), len(ids) > CAP, url)

    def _hit(self, spec: ListSpec, row: tuple[int, int, str, int, int, int, str]) -> Hit:
        pk, store_id, title, at_ms, line, faults, natural_id = row
        return Hit(pk, self.stores[store_id], title, at_ms, line, faults, natural_id, reverse(f"{spec.name}_detail", args=[pk]))
