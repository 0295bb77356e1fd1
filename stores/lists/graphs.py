"""What one address asks of the entities of a store: read from its parameters, written back into addresses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlencode

from django.http import QueryDict

from stores.formats import storable
from stores.formats.search_text import QUERY_LIMIT
from stores.lists.queries import LAST_PAGE, PAGE_SIZE, PAGE_SIZES, VALUE_LENGTH, VALUES_LIMIT

FACETS = ("type", "told", "dated")
TOLD = {
    "file": "in the graph file",
    "queue": "waiting in the queue",
    "decisions": "in decisions",
    "relations": "only in relations",
}
DATED = {
    "fresh": "less than 30 d ago",
    "30": "30 d and more",
    "90": "90 d and more",
    "180": "180 d and more",
    "none": "no date",
}
"""How long ago the newest date is that anything said of an entity carries; each older class stands in the younger ones too."""
SORTS = {"name": "words", "type": "type", "degree": "degree", "decisions": "decisions", "dated": "newest_ms"}
"""Offered orders, and the indexed column of each."""
DEFAULT_SORT = "-degree"
PICTURE_SIZES = (50, 150, 300, 600)
PICTURE_SIZE = 150


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """One question to the entities of a store."""

    text: str = ""
    type: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    dated: tuple[str, ...] = ()
    sort: str = DEFAULT_SORT
    page: int = 1
    per_page: int = PAGE_SIZE
    nodes: int = PICTURE_SIZE
    """Entities of the picture, at most."""

    def values(self, facet: str) -> tuple[str, ...]:
        """Give the values chosen in a facet."""
        return tuple(getattr(self, facet))

    @property
    def takes_all(self) -> bool:
        """Whether every entity fits."""
        return not (self.text or self.type or self.told or self.dated)

    def changed(self, **changes: Any) -> Self:
        """Give the same question with other parts, from its first page unless `page` is given."""
        return replace(self, **{"page": 1, **changes})

    def parameters(self, *, without: Iterable[str] = ()) -> list[tuple[str, str]]:
        """Give the parameters of the address in fixed order, defaults left out."""
        said = [("q", self.text)] if self.text else []
        said += [(facet, value) for facet in FACETS for value in self.values(facet)]
        said += [("sort", self.sort)] if self.sort != DEFAULT_SORT else []
        said += [("nodes", str(self.nodes))] if self.nodes != PICTURE_SIZE else []
        said += [("per_page", str(self.per_page))] if self.per_page != PAGE_SIZE else []
        said += [("page", str(self.page))] if self.page != 1 else []
        left_out = frozenset(without)
        return [(name, value) for name, value in said if name not in left_out]

    def address(self, path: str = "", *, without: Iterable[str] = ()) -> str:
        """Give the address of this question at `path`; without a path one that leads to it from the page itself."""
        said = urlencode(self.parameters(without=without))
        return f"{path}?{said}" if said else path or "?"


def read_graph(given: QueryDict) -> GraphQuery:
    """Read what an address asks; what is not offered is passed over.

    Parameters: q, type, told and dated (repeatable), sort (a column, "-" before it for falling order), page, per_page, nodes.
    """
    sort = given.get("sort", "")
    return GraphQuery(
        text=" ".join(storable.text(given.get("q", ""))[:QUERY_LIMIT].split()),
        type=tuple(dict.fromkeys(storable.text(value)[:VALUE_LENGTH] for value in given.getlist("type")[:VALUES_LIMIT])),
        told=tuple(value for value in TOLD if value in given.getlist("told")),
        dated=tuple(value for value in DATED if value in given.getlist("dated")),
        sort=sort if sort.removeprefix("-") in SORTS else DEFAULT_SORT,
        page=_number(given.get("page", ""), 1, LAST_PAGE),
        per_page=_number(given.get("per_page", ""), PAGE_SIZE, PAGE_SIZES[-1]),
        nodes=_number(given.get("nodes", ""), PICTURE_SIZE, PICTURE_SIZES[-1]),
    )


def _number(text: str, otherwise: int, at_most: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text)):
        return otherwise
    return min(int(text), at_most)
