"""What stands around a list: facets with numbers, chips of what is chosen, the search field, saved views (ux.md, part 3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

from stores import display
from stores.formats.secrets import find_secrets
from stores.lists.queries import PAGE_SIZES, ListQuery
from stores.selectors.noted import LATER, OVERDUE, SOON, SOON_DAYS
from stores.selectors.records import RecordList, Tally
from stores.tables import shown_columns

SHOWN = 7
EXPANDED = 200
DUE_WORDS = {OVERDUE: "overdue", SOON: f"within {SOON_DAYS} d", LATER: "later"}
MORE = "more"
"""Parameter that names the facets of which all values are shown."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a facet."""

    value: str
    label: str
    count: str
    checked: bool


class Group(NamedTuple):
    """One facet with its values, the most frequent first."""

    legend: str
    name: str
    choices: list[Choice]
    more_text: str = ""
    more_url: str = ""


class Field(NamedTuple):
    """A parameter that a form passes on."""

    name: str
    value: str


class Facets(NamedTuple):
    """The form of facets."""

    url: str
    groups: list[Group]
    kept: list[Field]
    chosen: int
    found_text: str


class Chip(NamedTuple):
    """A value that is chosen, and the list without it."""

    name: str
    value: str
    url: str


class Find(NamedTuple):
    """The search field of a list."""

    url: str
    label: str
    value: str


class ColumnChoice(NamedTuple):
    """A column that can be shown or not."""

    name: str
    title: str
    shown: bool


class PageSize(NamedTuple):
    """A number of rows a page can have."""

    label: str
    url: str
    current: bool


class Narrowed(Protocol):
    """A question to a list, as far as its facets need it."""

    def values(self, facet: str) -> tuple[str, ...]:
        """Give the chosen values of a facet."""

    def changed(self) -> Narrowed:
        """Give the same question, from its first page on."""

    def address(self) -> str:
        """Give the address of this question."""


def facets_of(found: RecordList, path: str, expanded: Collection[str]) -> Facets:
    """Give the facets of a list; `expanded` names those that show all values."""
    query, spec = found.query, found.spec
    groups = [
        facet_group(query, facet.legend, facet.many, tally, expanded, without=facet.without)
        for facet, tally in zip(spec.facets, found.tallies, strict=True)
    ]
    for facet, tally in zip(spec.notes, found.note_tallies, strict=True):
        groups.append(facet_group(query, facet.legend, facet.many, tally, expanded, partial(note_words, found, facet.column)))
    if len(found.stores) > 1 or query.stores:
        names = {one.slug: one.name for one in found.stores}
        groups.append(facet_group(query, "Store", "stores", found.store_tally, expanded, lambda slug: names.get(slug, slug)))
    groups = [group for group in groups if group.choices]
    if spec.late_after_days:
        days = query.older or spec.late_after_days
        groups.append(Group("Age", "older", [Choice(str(days), _age_words(days), "", bool(query.older))]))
    groups.append(Group("On disk", "gone", [Choice("1", "gone from disk", "", query.gone)]))
    forms_own = {facet.column for facet in (*spec.facets, *spec.notes)} | {"q", "store", "older", "gone", "all", "page"}
    kept = [Field(name, value) for name, value in query.parameters() if name not in forms_own]
    kept += [Field("all", "1")] if spec.narrowed else []
    kept += [Field(MORE, name) for name in sorted(expanded)]
    chosen = sum(len(values) for _, values in (*query.chosen, *query.noted)) + len(query.stores) + query.gone + bool(query.older)
    return Facets(path, groups, kept, chosen, f"Show {count_text(found)}")


def note_words(found: RecordList, column: str, value: str) -> str:
    """Give a value that people noted, in words."""
    if column == "owner":
        return found.notes.owners.get(value, value)
    return DUE_WORDS.get(value, value) if column == "due" else value


def facet_group(
    query: Narrowed,
    legend: str,
    many: str,
    tally: Tally,
    expanded: Collection[str],
    label: Callable[[str], str] = lambda value: value,
    *,
    without: str = "not given",
) -> Group:
    wanted = query.values(tally.column)
    # A value that holds a secret is no choice: it would have to stand unmasked in an address.
    listed = [(value, count) for value, count in by_count(tally) if not find_secrets(value)]
    limit = EXPANDED if tally.column in expanded else SHOWN
    shown = [value for value, _ in listed[:limit]]
    shown += [value for value in wanted if value not in shown and not find_secrets(value)]
    choices = [
        Choice(value, label(value).strip() or without, display.at_least(tally.counts[value], tally.at_least), value in wanted)
        for value in shown
    ]
    rest = len(listed) - limit
    if rest <= 0:
        return Group(legend, tally.column, choices)
    if tally.column in expanded:
        return Group(legend, tally.column, choices, f"{display.number(rest)} more {many}: narrow the list to see them", "")
    address = query.changed().address()
    return Group(
        legend,
        tally.column,
        choices,
        f"{display.number(rest)} more {many}",
        f"{address}{'&' if address != '?' else ''}{MORE}={tally.column}",
    )


def by_count(tally: Tally) -> list[tuple[str, int]]:
    """Give values and numbers, the largest first, equal ones by value."""
    return sorted(((value, count) for value, count in tally.counts.items() if count), key=lambda item: (-item[1], item[0]))


def count_text(found: RecordList) -> str:
    """Give how many records fit, in words: "97", "more than 10,000"."""
    return f"more than {display.number(found.count)}" if found.capped else display.number(found.count)


def chips_of(found: RecordList) -> list[Chip]:
    """Give every value that is chosen, with the list without it."""
    query = found.query
    chips = [
        Chip(facet.legend, value.strip() or facet.without, query.choosing(facet.column, _without(values, value)).address())
        for facet in query.spec.facets
        for values in [query.values(facet.column)]
        for value in values
    ]
    chips += [
        Chip(facet.legend, note_words(found, facet.column, value), query.choosing(facet.column, _without(values, value)).address())
        for facet in query.spec.notes
        for values in [query.values(facet.column)]
        for value in values
    ]
    names = {one.slug: one.name for one in found.stores}
    chips += [
        Chip("Store", names.get(slug, slug), query.choosing("store", _without(query.stores, slug)).address()) for slug in query.stores
    ]
    if query.text:
        chips.append(Chip("Words", query.text, query.changed(text="").address()))
    if query.older:
        chips.append(Chip("Age", _age_words(query.older), query.changed(older=0).address()))
    if query.gone:
        chips.append(Chip("On disk", "gone", query.changed(gone=False, sort="").address()))
    return chips


def _without(values: Iterable[str], one: str) -> tuple[str, ...]:
    return tuple(value for value in values if value != one)


def cleared(query: ListQuery) -> str:
    """Give the address of the list with nothing chosen."""
    return query.changed(text="", chosen=(), noted=(), older=0, gone=False, sort="", stores=()).address()


def _age_words(days: int) -> str:
    return f"over {display.number(days)} d"


def find_of(found: RecordList, path: str) -> Find:
    """Give the search field."""
    total = f"{display.number(found.total)} " if found.total else ""
    return Find(path, f"Find in {total}{found.spec.one if found.total == 1 else found.spec.many}", found.query.text)


def column_choices(query: ListQuery) -> list[ColumnChoice]:
    """Give the columns that can be chosen; the first is always there."""
    shown = {column.name for column in shown_columns(query)}
    return [ColumnChoice(column.name, column.title, column.name in shown) for column in query.spec.columns[1:]]


def page_sizes(query: ListQuery) -> list[PageSize]:
    """Give the page sizes to choose from; an address always names its size, so that going back to the usual one is kept too."""
    return [PageSize(str(size), _with_size(query, size), size == query.per_page) for size in PAGE_SIZES]


def _with_size(query: ListQuery, size: int) -> str:
    address = query.changed().address(without=("per_page",))
    return f"{address}{'&' if address != '?' else ''}per_page={size}"


def passed_on(query: ListQuery, *without: str) -> list[Field]:
    """Give the parameters of the question as fields of a form, but for some."""
    return [Field(name, value) for name, value in query.parameters(without=(*without, "page"))]
