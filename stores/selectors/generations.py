"""Which versions of the tool wrote a store, as its files and some of its records show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

from stores.formats.orchestkit import decisions, graph_items, memory_md
from stores.formats.orchestkit.generation import Evidence, written_by
from stores.models import Decision, GraphItem, MemoryMd, SessionEvent, SourceFile, Store
from stores.selectors.stores import record_types
from stores.selectors.walks import Sql, at_once

LOOKED_AT = 100
"""Newest decisions, oldest ones, and newest events that are looked at."""
LENGTH_AT_MOST = 16_384
"""Longer records are passed over: a page may not cost what they hold."""
_EVENTS = "sessions/-/events.jsonl"
_RULES = f"project:{memory_md.RULES}"


def generations(store: Store, files: Iterable[SourceFile]) -> tuple[Evidence, ...]:
    """Give the signs of each version that wrote a store, the oldest first; `files` are all that it has. One query.

    None, without a query, for a kind that writes no decisions.
    """
    if Decision.record_type not in record_types(store):
        return ()
    raws = at_once(
        [
            _raws(Decision.objects.order_by("-at_ms", "-id"), store),
            _raws(Decision.objects.order_by("at_ms", "id"), store),
            _raws(SessionEvent.objects.order_by("-at_ms", "-id"), store),
            _raws(GraphItem.objects.order_by("-at_ms", "-id"), store),
            _raws(MemoryMd.objects.filter(form="rules").order_by("-at_ms", "-id"), store),
        ]
    )
    newest, oldest, events, graph, rules = ([bytes(row[0]) for row in rows] for rows in raws)
    samples = {decisions.PATH: [*newest, *oldest], _EVENTS: events, graph_items.PATH: graph, _RULES: rules}
    return written_by({file.path for file in files if file.exists}, samples)


def _raws(records: QuerySet[Any], store: Store) -> Sql:
    live = records.filter(store=store, gone_at__isnull=True, length__lte=LENGTH_AT_MOST)
    sql, parameters = live.values_list("text__raw")[:LOOKED_AT].query.sql_with_params()
    return sql, list(parameters)
