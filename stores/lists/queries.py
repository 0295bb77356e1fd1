"""What one address asks of a list: read from its parameters, written back into addresses (DESIGN §10: the same on page and API)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlencode

from django.http import QueryDict

from stores.errors import BadRequest
from stores.formats import storable
from stores.formats.search_text import QUERY_LIMIT
from stores.lists.specs import MONTH, Facet, ListSpec

PAGE_SIZES = (25, 50, 100, 250)
PAGE_SIZE = 50
LAST_PAGE = 10_000
"""Beyond it a list asks for a narrower filter (ruling 42)."""
VALUES_LIMIT = 50
"""Values that may be chosen in one facet."""
OLDEST_DAYS = 36_500
VALUE_LENGTH = 220
"""Longest value of a column that is a facet."""

Chosen = tuple[tuple[str, tuple[str, ...]], ...]
"""Facet column -> wanted values, in the order of the list's facets; never without a value."""


@dataclass(frozen=True, slots=True)
class ListQuery:
    """One question to a list, clean of everything that the list does not offer."""

    spec: ListSpec
    text: str = ""
    stores: tuple[str, ...] = ()
    """Slugs; none means every store that the account sees."""
    chosen: Chosen = ()
    noted: Chosen = ()
    """The same of what people note beside the records."""
    older: int = 0
    """Only what was written more than so many days ago by its own word; 0 for all."""
    gone: bool = False
    """Records that are gone from disk instead of those that are there (ruling 29)."""
    grouped: str = ""
    """The facet, or month, by which rows stand in groups; the order is always one in which a group stands together."""
    sort: str = ""
    page: int = 1
    per_page: int = PAGE_SIZE
    columns: tuple[str, ...] = ()
    """Chosen columns of the table; none means the list's own choice."""
    count_all: bool = False
    """Count to the end where a count would stop at its cap."""

    @property
    def order(self) -> str:
        """The sort that is asked for, or the list's own; gone records come by when they went."""
        return self.sort or ("-gone" if self.gone else self.spec.sort)

    @property
    def takes_all(self) -> bool:
        """Whether every live record of every store fits."""
        return not (self.text or self.stores or self.chosen or self.noted or self.gone or self.older)

    def values(self, column: str) -> tuple[str, ...]:
        """Give the values chosen in a facet, for `store` the slugs."""
        return self.stores if column == "store" else dict((*self.chosen, *self.noted)).get(column, ())

    def changed(self, **changes: Any) -> Self:
        """Give the same question with other parts, from its first page unless `page` is given."""
        return replace(self, **{"page": 1, **changes})

    def choosing(self, column: str, values: Iterable[str]) -> Self:
        """Give the same question with other values in one facet, or in `store`."""
        wanted = tuple(values)
        if column == "store":
            return self.changed(stores=wanted, count_all=False)
        by_column = {**dict((*self.chosen, *self.noted)), column: wanted}
        return self.changed(count_all=False, chosen=_of(self.spec.facets, by_column), noted=_of(self.spec.notes, by_column))

    def parameters(self, *, without: Iterable[str] = ()) -> list[tuple[str, str]]:
        """Give the parameters of the address of this question in fixed order, defaults left out."""
        said = [("q", self.text)] if self.text else []
        said += [("store", slug) for slug in self.stores]
        said += [(column, value) for column, values in (*self.chosen, *self.noted) for value in values]
        said += [("older", str(self.older))] if self.older else []
        said += [("gone", "1")] if self.gone else []
        said += [("all", "1")] if self.spec.narrowed and not self.chosen and not self.gone else []
        said += [("group", self.grouped)] if self.grouped else []
        said += [("sort", self.sort)] if self.sort else []
        said += [("per_page", str(self.per_page))] if self.per_page != PAGE_SIZE else []
        said += [("cols", ",".join(self.columns))] if self.columns else []
        said += [("count", "all")] if self.count_all else []
        said += [("page", str(self.page))] if self.page != 1 else []
        left_out = frozenset(without)
        return [(name, value) for name, value in said if name not in left_out]

    def address(self, path: str = "", *, without: Iterable[str] = ()) -> str:
        """Give the address of this question at `path`; without a path one that leads to it from any page of the list."""
        said = urlencode(self.parameters(without=without))
        return f"{path}?{said}" if said else path or "?"


def read(spec: ListSpec, given: QueryDict, *, narrowed: bool = True) -> ListQuery:
    """Read what the parameters of an address ask of a list; what the list does not know is passed over.

    Parameters: q, store (slug, repeatable), each facet's column and each note's (repeatable), older (days, where age counts), gone=1, all=1, sort (a column, "-" before it for falling
    order), group (one of the list's facets for that, or month; a sort that would part its groups wins), page, per_page (1 to 250), cols, count=all. With `narrowed` the list's own first choice of values holds where the address names none
    and does not say all=1. Raises BadRequest for more than 50 values of one parameter.
    """
    gone = given.get("gone") == "1"
    chosen = tuple((facet.column, values) for facet in spec.facets if (values := _values(given, facet.column)))
    if narrowed and not chosen and not gone and given.get("all") != "1":
        chosen = tuple((facet.column, spec.narrowed[facet.column]) for facet in spec.facets if facet.column in spec.narrowed)
    grouped, sort = _grouped(spec, given, gone=gone)
    return ListQuery(
        spec=spec,
        text=" ".join(storable.text(given.get("q", ""))[:QUERY_LIMIT].split()),
        stores=tuple(slug for slug in _values(given, "store") if slug),
        chosen=chosen,
        noted=tuple((facet.column, values) for facet in spec.notes if (values := tuple(filter(None, _values(given, facet.column))))),
        older=min(max(0, _number(given.get("older", ""), 0)), OLDEST_DAYS) if spec.late_after_days else 0,
        gone=gone,
        grouped=grouped,
        sort=sort,
        page=max(1, _number(given.get("page", ""), 1)),
        per_page=min(max(1, _number(given.get("per_page", ""), PAGE_SIZE)), PAGE_SIZES[-1]),
        columns=_columns(spec, given.getlist("cols")),
        count_all=given.get("count") == "all",
    )


def _of(facets: Iterable[Facet], by_column: Mapping[str, tuple[str, ...]]) -> Chosen:
    return tuple((one.column, by_column[one.column]) for one in facets if by_column.get(one.column))


def _values(given: QueryDict, name: str) -> tuple[str, ...]:
    """Give the values of a parameter once each, in their order, as the database would hold them."""
    values = tuple(dict.fromkeys(storable.text(value)[:VALUE_LENGTH] for value in given.getlist(name)))
    if len(values) > VALUES_LIMIT:
        raise BadRequest(f"{name} takes at most {VALUES_LIMIT} values at once; this address names {len(values):,}.")
    return values


def _grouped(spec: ListSpec, given: QueryDict, *, gone: bool) -> tuple[str, str]:
    """Give by what rows are grouped, and the sort."""
    wanted, sort = given.get("group", ""), _sort(spec, given.get("sort", ""), gone=gone)
    if gone or wanted not in (*spec.groups, MONTH) or not spec.groups:
        return "", sort
    column = "at" if wanted == MONTH else wanted
    if not given.get("sort") and spec.sort.removeprefix("-") != column:
        sort = _sort(spec, column, gone=gone)
    return (wanted, sort) if (sort or spec.sort).removeprefix("-") == column else ("", sort)


def _sort(spec: ListSpec, wanted: str, *, gone: bool) -> str:
    offered = {f"{sign}{column}" for column in (*spec.sorts, *(("gone",) if gone else ())) for sign in ("", "-")}
    own = "-gone" if gone else spec.sort
    return wanted if wanted in offered and wanted != own else ""


def _columns(spec: ListSpec, wanted: list[str]) -> tuple[str, ...]:
    names = {name for text in wanted[:VALUES_LIMIT] for name in text.split(",")}
    columns = tuple(column.name for column in spec.columns[1:] if column.name in names)
    return () if columns == tuple(column.name for column in spec.columns[1:] if column.shown) else columns


def _number(text: str, otherwise: int) -> int:
    """Read a whole number; what is none gives `otherwise`, what has more than 12 digits stands for one that is far too large."""
    text = text.strip()
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        return otherwise
    size = int(digits) if len(digits) <= 12 else 10**12
    return -size if text.startswith("-") else size
