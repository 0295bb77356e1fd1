"""What one address asks of the review queue: read from its parameters, written back into addresses; the same for page, export and API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self
from urllib.parse import urlencode

from django.http import QueryDict

from stores.errors import BadRequest
from stores.formats import storable
from stores.formats.search_text import QUERY_LIMIT
from stores.lists.queries import LAST_PAGE, OLDEST_DAYS, VALUE_LENGTH, VALUES_LIMIT
from stores.lists.specs import Facet

SECTION: Final = "review"
PAGE_SIZE: Final = 50
ALIKE_DIGITS: Final = 64
TABS: Final[Mapping[str, str]] = {
    "mine": "Mine",
    "all": "All",
    "overdue": "Overdue",
    "stale": "Stale",
    "blocked": "Cannot apply",
    "decided": "Decided",
}
FIRST_TAB: Final = "all"
SORTS: Final[Mapping[str, str]] = {"due": "Due", "risk": "Risk", "oldest": "Oldest", "newest": "Newest"}
FACETS: Final = (
    Facet("verb", "Action", "actions"),
    Facet("tier", "Risk", "risks"),
    Facet("state", "State", "states"),
    Facet("store", "Store", "stores", "removed"),
    Facet("kind", "Kind of store", "kinds"),
    Facet("proposer", "Proposer", "proposers"),
    Facet("assigned", "Assigned", "people"),
)
ASSIGNED: Final = ("me", "nobody", "others")
LATE_AFTER_DAYS: Final = 3
"""Age that the filter offers, where the address names none."""


@dataclass(frozen=True, slots=True)
class ActionQuery:
    """One question to the queue, clean of everything that it does not offer."""

    tab: str = FIRST_TAB
    text: str = ""
    chosen: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Facet -> wanted values, in the order of FACETS; never without a value."""
    older: int = 0
    """Only what was proposed more than so many days ago; 0 for all."""
    snoozed: bool = False
    """What the account has snoozed, instead of what it has not."""
    alike: str = ""
    """Only actions of this group, each in a row of its own."""
    batch: str = ""
    """Only actions that were decided together, or handed in together."""
    singly: bool = False
    """Alike actions are not folded into one row."""
    sort: str = ""
    page: int = 1

    @property
    def order(self) -> str:
        """The sort that is asked for, or that of the tab."""
        return self.sort or ("newest" if self.tab in ("decided", "stale") else "due")

    @property
    def folds(self) -> bool:
        """Whether alike actions stand in one row."""
        return not (self.alike or self.batch or self.singly or self.tab == "decided")

    @property
    def is_narrowed(self) -> bool:
        """Whether anything but the tab is asked for."""
        return bool(self.text or self.chosen or self.older or self.snoozed or self.alike or self.batch)

    @property
    def stores(self) -> tuple[str, ...]:
        """Slugs of the stores that are asked for; none means all."""
        return self.values("store")

    def values(self, facet: str) -> tuple[str, ...]:
        """Give the values that are wanted of a facet; none means all."""
        return dict(self.chosen).get(facet, ())

    def changed(self, **changes: Any) -> Self:
        """Give the same question with other parts, from its first page on."""
        return replace(self, **{"page": 1, **changes})

    def choosing(self, facet: str, values: Iterable[str]) -> Self:
        """Give the same question with these values of a facet."""
        wanted = {**dict(self.chosen), facet: tuple(values)}
        return self.changed(chosen=tuple((one.column, wanted[one.column]) for one in FACETS if wanted.get(one.column)))

    def parameters(self, *, without: Iterable[str] = ()) -> list[tuple[str, str]]:
        """Give the parameters of the address in fixed order, defaults left out."""
        said = [("tab", self.tab)] if self.tab != FIRST_TAB else []
        said += [("q", self.text)] if self.text else []
        said += [(facet, value) for facet, values in self.chosen for value in values]
        said += [("older", str(self.older))] if self.older else []
        said += [("snoozed", "1")] if self.snoozed else []
        said += [("alike", self.alike)] if self.alike else []
        said += [("batch", self.batch)] if self.batch else []
        said += [("singly", "1")] if self.singly else []
        said += [("sort", self.sort)] if self.sort else []
        said += [("page", str(self.page))] if self.page != 1 else []
        left_out = frozenset(without)
        return [(name, value) for name, value in said if name not in left_out]

    def address(self, path: str = "", *, without: Iterable[str] = ()) -> str:
        """Give the address of this question at `path`; without a path one that leads to it from any page of the list."""
        said = urlencode(self.parameters(without=without))
        return f"{path}?{said}" if said else path or "?"


def read_actions(given: QueryDict) -> ActionQuery:
    """Read what the parameters of an address ask of the queue; what it does not know is passed over.

    Parameters: tab, q, verb, tier, state, store (slug), kind, proposer, assigned (me, nobody, others), each repeatable, older (days),
    snoozed=1, alike, batch, singly=1, sort, page. Raises BadRequest for more than 50 values of one parameter.
    """
    tab = given.get("tab", FIRST_TAB)
    tab = tab if tab in TABS else FIRST_TAB
    query = ActionQuery(
        tab=tab,
        text=" ".join(storable.text(given.get("q", ""))[:QUERY_LIMIT].split()),
        chosen=tuple((facet.column, values) for facet in FACETS if (values := _values(given, facet.column))),
        older=min(_number(given.get("older", ""), 0), OLDEST_DAYS),
        snoozed=given.get("snoozed") in ("1", "true"),
        alike=_hexadecimal(given.get("alike", "")),
        batch=storable.text(given.get("batch", ""))[:40],
        singly=given.get("singly") == "1",
        page=min(max(1, _number(given.get("page", ""), 1)), LAST_PAGE),
    )
    sort = given.get("sort", "")
    return replace(query, sort=sort if sort in SORTS and sort != query.order else "")


def _values(given: QueryDict, name: str) -> tuple[str, ...]:
    values = tuple(dict.fromkeys(storable.text(value)[:VALUE_LENGTH] for value in given.getlist(name) if value))
    if len(values) > VALUES_LIMIT:
        raise BadRequest(f"{name} takes at most {VALUES_LIMIT} values at once; this address names {len(values):,}.")
    return tuple(value for value in values if value in ASSIGNED) if name == "assigned" else values


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 12 else otherwise


def _hexadecimal(text: str) -> str:
    return text if len(text) == ALIKE_DIGITS and all(digit in "0123456789abcdef" for digit in text) else ""
