"""The rows of a list in groups: by the values of a facet, or by the month in which they were written."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from stores import display
from stores.formats.secrets import find_secrets
from stores.lists.queries import ListQuery
from stores.lists.specs import MONTH
from stores.memory_words import id_text
from stores.models import MirroredRecord
from stores.selectors.records import RecordList
from stores.table_view import Group

NAME_LENGTH = 60


def group_maker(found: RecordList) -> Callable[[MirroredRecord], Group] | None:
    """Give the function from a record of the list to its group; None where the list is asked for in one piece."""
    column = found.query.grouped
    if not column:
        return None
    if column == MONTH:
        return _of_month
    facet = next(one for one in found.spec.facets if one.column == column)
    tally = next(one for one in found.tallies if one.column == column)

    @cache
    def of_value(value: str) -> Group:
        name = id_text(value, NAME_LENGTH) if value.strip() else facet.without
        number = tally.counts[value]
        facts = (f"{display.at_least(number, tally.at_least)} {found.spec.one if number == 1 else found.spec.many}",) if number else ()
        # A value that holds a secret stands in no address.
        url = "" if find_secrets(value) else found.query.changed(grouped="", sort="").choosing(column, [value]).address()
        return Group(name, facts, url)

    return lambda record: of_value(getattr(record, column))


def segments(query: ListQuery) -> list[dict[str, Any]]:
    """Give the ways in which the list can be grouped, as links; none where it offers none."""
    if not query.spec.groups or query.gone:
        return []
    legends = {facet.column: facet.legend for facet in query.spec.facets} | {MONTH: "Month"}
    ways = ("", *query.spec.groups, MONTH)
    return [{"label": legends.get(way, "None"), "url": _way(query, way), "current": query.grouped == way} for way in ways]


def _way(query: ListQuery, way: str) -> str:
    if not way:
        return query.changed(grouped="", sort="").address()
    sort = way if way != MONTH else "" if query.spec.sort == "-at" else "-at"
    return query.changed(grouped=way, sort=sort).address()


def _of_month(record: MirroredRecord) -> Group:
    moment = display.moment_of(record.at_ms)
    return Group(f"{moment:%B %Y}" if moment is not None else "No time given")
