"""The pager offers the pages that there are, in words that claim no more than was counted."""

from __future__ import annotations

import pytest
from django.core.paginator import Paginator
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from stores.pager import Pager, make_pager, pager_of


def texts(pager: Pager) -> list[str]:
    """Give the words of the pages, the current one in brackets."""
    return [f"[{page.text}]" if page.current else page.text for page in pager.pages]


def test_the_first_page_of_two() -> None:
    pager = make_pager(QueryDict("area=database"), number_now=1, per_page=50, count=97)
    assert pager.text == "1 – 50 of 97"
    assert texts(pager) == ["[1]", "2"]
    assert (pager.previous_url, pager.next_url) == ("", "?area=database&page=2")


def test_the_last_page_ends_where_the_rows_end() -> None:
    pager = make_pager(QueryDict("page=2"), number_now=2, per_page=50, count=97)
    assert pager.text == "51 – 97 of 97"
    assert (pager.previous_url, pager.next_url) == ("?", "")


def test_one_row_is_no_span() -> None:
    pager = make_pager(QueryDict(), number_now=1, per_page=50, count=1)
    assert (pager.text, pager.count) == ("1 of 1", 1)
    assert make_pager(QueryDict(), number_now=2, per_page=50, count=51).text == "51 of 51"


def test_pages_far_off_are_left_out() -> None:
    assert texts(make_pager(QueryDict(), number_now=10, per_page=10, count=1000)) == ["1", "…", "9", "[10]", "11", "…", "100"]


def test_a_list_that_nobody_counted_offers_no_last_page() -> None:
    pager = make_pager(QueryDict(), number_now=200, per_page=50, count=10_000, capped=True)
    assert pager.text == "9,951 – 10,000 of more than 10,000"
    assert texts(pager) == ["1", "…", "199", "[200]", "201"]
    assert pager.next_url == "?page=201"


@pytest.mark.parametrize(("count", "text"), [(0, "0 of 0"), (1, "1 of 1"), (50, "1 – 50 of 50")])
def test_one_page_needs_no_numbers(count: int, text: str) -> None:
    pager = make_pager(QueryDict(), number_now=1, per_page=50, count=count)
    assert (pager.text, pager.pages, pager.next_url) == (text, (), "")


def test_a_paginator_with_a_cap_says_more_than() -> None:
    for rows, text in ((31, "11 – 20 of more than 30"), (30, "11 – 20 of 30")):
        paginator = Paginator(list(range(rows)), 10)
        setattr(paginator, "cap", 30)  # noqa: B010
        assert pager_of(paginator.page(2), QueryDict()).text == text


@given(st.integers(1, 400), st.integers(1, 100), st.integers(0, 20_000), st.booleans())
def test_every_page_that_is_offered_exists(number: int, per_page: int, count: int, capped: bool) -> None:
    pages = max(-(-count // per_page), 1)
    if number > pages:
        return
    pager = make_pager(QueryDict(), number_now=number, per_page=per_page, count=count, capped=capped)
    offered = [int(page.text.replace(",", "")) for page in pager.pages if page.url]
    assert offered == sorted(set(offered))
    assert all(1 <= page <= pages + capped for page in offered)
    assert not pager.pages or number in offered
