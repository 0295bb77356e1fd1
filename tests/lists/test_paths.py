"""What an address asks of the tree of paths."""

from __future__ import annotations

import pytest
from django.http import QueryDict

from stores.lists.paths import OPENED_LIMIT, TreeQuery, read_tree


def test_an_address_says_again_what_was_read_from_it() -> None:
    said = "q=cursor+pages&state=merged&state=abandoned&path=7&open=1&open=2&shut=3&from=400&second=9"
    query = read_tree(QueryDict(said))
    assert query == TreeQuery("cursor pages", ("merged", "abandoned"), 7, (1, 2), (3,), 400, 9)
    assert query.address("/p/") == f"/p/?{said}"


def test_nothing_asked_is_the_page_itself() -> None:
    assert read_tree(QueryDict("")).address() == "?"
    assert read_tree(QueryDict("")).address("/p/") == "/p/"


@pytest.mark.parametrize("given", ["path=-1", "path=x", "path=%C2%B2", f"path={'9' * 30}", "state=nobody", "open=", "from=abc"])
def test_what_is_not_offered_is_passed_over(given: str) -> None:
    assert read_tree(QueryDict(given)) == TreeQuery()


def test_pages_begin_where_pages_begin() -> None:
    assert read_tree(QueryDict("from=399")).start == 200


def test_a_path_is_opened_and_closed() -> None:
    query = TreeQuery().toggled(5, is_open=False)
    assert (query.opened, query.shut) == ((5,), ())
    query = query.toggled(5, is_open=True)
    assert (query.opened, query.shut) == ((), (5,))


def test_an_address_stays_short() -> None:
    query = TreeQuery()
    for pk in range(1, 3 * OPENED_LIMIT):
        query = query.toggled(pk, is_open=False)
    assert len(query.opened) == OPENED_LIMIT
