"""The pager of a list as plain values: which pages to offer and in which words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from stores.display import number


@dataclass(frozen=True, slots=True)
class PageLink:
    """A page to go to; a gap in the numbers has neither `url` nor `current`."""

    text: str
    url: str = ""
    current: bool = False


@dataclass(frozen=True, slots=True)
class Pager:
    """What stands under a list: `text` is "1 – 50 of 97", "1 of 1" or "1 – 50 of more than 10,000"; empty urls lead nowhere."""

    text: str
    pages: tuple[PageLink, ...]
    previous_url: str
    next_url: str
    count: int
    """Rows of the list, as far as they were counted."""


def make_pager(query: QueryDict, *, number_now: int, per_page: int, count: int, capped: bool = False, page_field: str = "page") -> Pager:
    """Give the pager of page `number_now` (from 1) of `count` rows.

    With `capped` the list has more than `count` rows and nobody counted them: pages go on, the last one is not offered.
    """
    pages = max(-(-count // per_page), 1)
    first, last = (number_now - 1) * per_page + 1, number_now * per_page
    last = last if capped else min(last, count)
    total = f"more than {number(count)}" if capped else number(count)
    span = number(first) if first == last else f"{number(first)} – {number(last)}"
    text = f"{span} of {total}" if count else "0 of 0"

    def url(page: int) -> str:
        wanted = query.copy()
        if page == 1:
            wanted.pop(page_field, None)
        else:
            wanted[page_field] = str(page)
        return f"?{wanted.urlencode()}"

    has_next = capped or number_now < pages
    offered = sorted(
        {1, number_now - 1, number_now, number_now + 1, *(() if capped else (pages,)), *((2, 3, 4, 5) if number_now < 4 else ())}
    )
    links: list[PageLink] = []
    previous = 0
    for page in offered:
        if page < 1 or (page > pages and not (capped and page == number_now + 1)):
            continue
        if page > previous + 1:
            links.append(PageLink("…"))
        links.append(PageLink(number(page), url(page), page == number_now))
        previous = page
    only_one = not has_next and number_now == 1
    return Pager(
        text,
        () if only_one else tuple(links),
        url(number_now - 1) if number_now > 1 else "",
        url(number_now + 1) if has_next else "",
        count,
    )


def pager_of(page: Any, query: QueryDict, page_field: str = "page") -> Pager:
    """Give the pager of a Django page; a paginator with a `cap` counts to cap + 1 and stops (ruling 42)."""
    paginator = page.paginator
    count = int(paginator.count)
    cap = int(getattr(paginator, "cap", count))
    return make_pager(
        query, number_now=page.number, per_page=paginator.per_page, count=min(count, cap), capped=count > cap, page_field=page_field
    )
