"""Counts of live records that the import keeps (ruling 42), as lists read them: by facet, value and store."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping

from django.db.models import Q, QuerySet

from stores.models import FacetCount
from stores.selectors.walks import Range, Sql, at_once

ROWS_LIMIT = 5_000
"""Rows that are read of one facet, the largest counts first: agents could write as many values as lines."""

TOTAL = ""
"""The facet that counts all records."""


class KeptCounts:
    """Counts of one type of record in some stores."""

    def __init__(self, record_type: str, store_ids: Collection[int], facets: Iterable[str], chosen: Mapping[str, Collection[str]]) -> None:
        """Read totals, the chosen values exactly, and of each facet in `facets` the most frequent values. One query."""
        self._counts: dict[str, dict[str, dict[int, int]]] = defaultdict(lambda: defaultdict(dict))
        self._cut: set[str] = set()
        kept = FacetCount.objects.filter(record_type=record_type, store_id__in=list(store_ids))
        exact = Q(facet=TOTAL)
        for facet, values in chosen.items():
            exact |= Q(facet=facet, value__in=list(values))
        parts = [kept.filter(exact), *(kept.filter(facet=facet).order_by("-count", "value", "store_id")[:ROWS_LIMIT] for facet in facets)]
        for found in at_once([_statement(part) for part in parts] if store_ids else []):
            for facet, value, store_id, count in found:
                self._counts[facet][value][store_id] = count
            if len(found) >= ROWS_LIMIT:
                self._cut.add(found[0][0])

    def total(self, store_ids: Iterable[int]) -> int:
        """Give the number of all live records in these stores."""
        return self.of(TOTAL, [""], store_ids)

    def of(self, facet: str, values: Iterable[str], store_ids: Iterable[int]) -> int:
        """Give the number of records that have one of these values; exact for totals and chosen values."""
        by_value, stores = self._counts[facet], list(store_ids)
        return sum(by_value[value].get(store_id, 0) for value in values for store_id in stores)

    def by_store(self, facet: str, values: Iterable[str]) -> Counter[int]:
        """Give the number of records with one of these values in each store."""
        found: Counter[int] = Counter()
        for value in values:
            found.update(self._counts[facet][value])
        return found

    def by_value(self, facet: str, store_ids: Iterable[int]) -> Counter[str]:
        """Give the number of records of each value, of the most frequent ones where `is_cut`."""
        stores = list(store_ids)
        found = {value: sum(by_store.get(store_id, 0) for store_id in stores) for value, by_store in self._counts[facet].items()}
        return Counter({value: count for value, count in found.items() if count})

    def is_cut(self, facet: str) -> bool:
        """Tell whether the facet has more values than were read, so that numbers of its values may be too low."""
        return facet in self._cut

    def ranges(self, facet: str, values: Iterable[str], store_ids: Iterable[int]) -> list[Range]:
        """Give the index ranges that hold anything: one a store, for a facet one a store and value."""
        stores = list(store_ids)
        by_value = self._counts[facet]
        return [Range(store_id, value) for value in values for store_id in stores if by_value[value].get(store_id)]


def _statement(part: QuerySet[FacetCount]) -> Sql:
    sql, parameters = part.values_list("facet", "value", "store_id", "count").query.sql_with_params()
    return sql, list(parameters)
