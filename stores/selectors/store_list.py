"""The list of stores: filtered by verdict and by what waits in them, worst first."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from stores.accounts import Visitor
from stores.selectors import stores as store_facts
from stores.selectors import verdicts
from stores.selectors.overview import NEEDS
from stores.selectors.stores import Facts, StoreRow
from stores.selectors.verdicts import Freshness

PER_PAGE = 50
VERDICTS = verdicts.WORST_FIRST

_NEED_WORDS = {
    "unreadable": "with unreadable lines",
    "queue": "with a queue that nobody drains in time",
    "stray": "with stray stores",
    "failed": "whose last import failed",
    "silent": "whose worker is silent",
}


class StoreListPage(NamedTuple):
    """One page of the list of stores."""

    rows: list[StoreRow]
    counts: dict[str, int]
    """"all" and each verdict that occurs, under the other filter."""
    matching: int
    total: int
    page: int
    per_page: int
    need_words: str
    freshness: Freshness | None


def store_list_page(user: Visitor, now: datetime, *, verdict: str = "", need: str = "", page: int = 1) -> StoreListPage:
    """Give a page of the visible stores: 4 queries, however many there are."""
    judged = store_facts.stores_with_last_run(user, now)
    facts = Facts(one.store.pk for one in judged)
    rows = [store_facts.row_of(one, facts, now) for one in judged]
    under_need = [row for row in rows if not need or NEEDS[need](row)]
    counts = {"all": len(under_need), **verdicts.tally(row.judged for row in under_need)}
    found = [row for row in under_need if verdict in ("", row.judged.verdict)]
    page = min(max(1, page), max(1, -(-len(found) // PER_PAGE)))
    shown = found[(page - 1) * PER_PAGE : page * PER_PAGE]
    return StoreListPage(shown, counts, len(found), len(rows), page, PER_PAGE, _NEED_WORDS.get(need, ""), verdicts.stalest(judged, now))
