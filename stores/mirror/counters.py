"""Counts of live records by value, kept by the import so that no page has to count (rulings 29, 42)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from django.db import connection

from stores.models import FacetCount

FacetKey = tuple[str, str, str]
"""record type, facet ("" for all), value"""
VALUE_LENGTH = 220


class FacetDeltas:
    """Collects what an import adds to and takes from the counts."""

    def __init__(self) -> None:
        self._deltas: Counter[FacetKey] = Counter()

    def add(self, record_type: str, facets: Iterable[tuple[str, str]], sign: int) -> None:
        """Count one record in (+1) or out (-1) under all its facet values."""
        self._deltas[(record_type, "", "")] += sign
        for facet, value in facets:
            self._deltas[(record_type, facet, value[:VALUE_LENGTH])] += sign

    def move(self, record_type: str, facet: str, old: str, new: str) -> None:
        """Count one live record under another value of one facet."""
        self._deltas[(record_type, facet, old[:VALUE_LENGTH])] -= 1
        self._deltas[(record_type, facet, new[:VALUE_LENGTH])] += 1

    def add_counts(self, record_type: str, facet: str, counts: Mapping[str, int]) -> None:
        """Count in records by the values of one facet."""
        for value, count in counts.items():
            self._deltas[(record_type, facet, value[:VALUE_LENGTH])] += count

    def save(self, store_id: int) -> None:
        """Write the collected changes and forget them; call it inside the transaction that saves the records."""
        rows = [(store_id, *key, delta) for key, delta in sorted(self._deltas.items()) if delta]
        self._deltas.clear()
        if not rows:
            return
        table = FacetCount._meta.db_table
        with connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {table} (store_id, record_type, facet, value, count) VALUES (%s, %s, %s, %s, %s) "
                f"ON CONFLICT (store_id, record_type, facet, value) DO UPDATE SET count = {table}.count + excluded.count",
                rows,
            )
        if any(row[-1] < 0 for row in rows):
            FacetCount.objects.filter(store_id=store_id, count__lte=0).delete()
