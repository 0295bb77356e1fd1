"""Rows of a list in groups: by the values of a facet, by month, and only in an order in which a group stands together."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import pytest
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext

from stores.lists.queries import read
from stores.lists.specs import DECISIONS, PROBLEMS
from tests.factories import AT, make_store
from tests.lists.rows import fill
from tests.views.parsing import assert_harmless

pytestmark = pytest.mark.django_db
SECRET = "ghp_" + "a1B2" * 9
AREAS = ("database", "", "<b>api</b>", "backend", "database", "api")
_SEEN = re.compile(
    r'class="group-name"(?P<attrs>[^>]*)>(?P<group>.*?)</(?:a|span)><span class="group-facts">(?P<facts>.*?)</span></th>|class="row-link"[^>]*>(?P<row>.*?)</a>'
)


def plain(markup: str) -> str:
    return html.unescape(re.sub("<[^>]+>", "", markup)).strip()


def shown(answer: Any) -> list[tuple[str, str, list[str]]]:
    """Give name and facts of each group with the titles of its rows."""
    groups: list[tuple[str, str, list[str]]] = []
    for found in _SEEN.finditer(answer.content.decode()):
        if found["row"] is None:
            groups.append((plain(found["group"]), plain(found["facts"]), []))
        else:
            groups[-1][2].append(plain(found["row"]))
    return groups


def links(answer: Any) -> list[str]:
    return [html.unescape(one) for one in re.findall(r'<a class="group-name" href="([^"]*)"', answer.content.decode())]


def ms(*day: int) -> int:
    return int(datetime(*day, tzinfo=UTC).timestamp() * 1000)  # type: ignore[misc,arg-type]


def decisions(number: int) -> list[dict[str, Any]]:
    return [{"title": f"text {n:03d}", "category": AREAS[n % len(AREAS)], "at_ms": ms(2026, 1 + n % 5, 3)} for n in range(number)]


def test_rows_stand_below_their_area_with_its_number_on_every_page(page: Client) -> None:
    rows = decisions(60)
    fill(DECISIONS, make_store("one"), rows)
    ordered = sorted(enumerate(rows), key=lambda one: (one[1]["category"], -one[1]["at_ms"], -one[0]))
    seen = []
    for number in (1, 2, 3):
        part = [row for _, row in ordered[25 * (number - 1) : 25 * number]]
        expected = [(area or "not given", [row["title"] for row in some]) for area, some in groupby(part, key=lambda row: row["category"])]
        answer = page.get(f"/decisions/?group=category&per_page=25&page={number}")
        assert_harmless(answer)
        found = shown(answer)
        assert [(name, titles) for name, _, titles in found] == expected
        seen += found
    assert {name: facts for name, facts, _ in seen} == {
        "not given": "10 decisions", "<b>api</b>": "10 decisions", "api": "10 decisions", "backend": "10 decisions", "database": "20 decisions",
    }  # fmt: skip


def test_the_number_of_a_group_leads_to_what_it_counts(page: Client) -> None:
    store = make_store("one")
    fill(DECISIONS, store, [*decisions(12), *({"title": "other", "category": "api", "type": "preference"} for _ in range(5))])
    answer = page.get("/decisions/?group=category&type=decision")
    counted = [facts.split()[0] for _, facts, _ in shown(answer)]
    assert counted == ["2", "2", "2", "2", "4"]
    for number, address in zip(counted, links(answer), strict=True):
        narrowed = page.get(f"/decisions/{address}")
        assert f"<b>{number} of 17</b>" in narrowed.content.decode()
        assert shown(page.get(f"/decisions/{address}&group=category"))[0][1] == f"{number} decisions"


def test_rows_stand_below_the_month_in_which_they_were_written(page: Client) -> None:
    fill(
        PROBLEMS,
        make_store("one"),
        [{"title": f"in {n}", "at_ms": ms(2025, n, 1)} for n in (12, 1, 2)] + [{"title": "late", "at_ms": ms(2026, 1, 31)}],
    )
    fill(PROBLEMS, make_store("two"), [{"title": "no time", "at_ms": 0, "at_state": "missing"}])
    newest = [
        ("January 2026", "", ["late"]),
        ("December 2025", "", ["in 12"]),
        ("February 2025", "", ["in 2"]),
        ("January 2025", "", ["in 1"]),
    ]
    unknown = ("No time given", "", ["no time"])
    assert shown(page.get("/problems/?group=month&sort=-at")) == [*newest, unknown]
    assert shown(page.get("/problems/?group=month")) == [unknown, *reversed(newest)]


@pytest.mark.parametrize(
    "question", ["group=category&sort=-at", "group=month&sort=category", "group=session", "group=%00", "group=", "group=category&gone=1"]
)
def test_rows_stand_in_one_piece_where_a_group_would_be_parted(page: Client, question: str) -> None:
    store = make_store("one")
    fill(DECISIONS, store, decisions(12))
    fill(DECISIONS, store, [{"gone_at": AT}])
    answer = page.get(f"/decisions/?{question}")
    assert answer.status_code == 200
    assert 'class="group"' not in answer.content.decode()


def test_a_list_without_facets_to_group_by_offers_no_groups(page: Client) -> None:
    fill(DECISIONS, make_store("one"), decisions(3))
    assert 'aria-label="Group by"' in page.get("/decisions/").content.decode()
    assert 'aria-label="Group by"' not in page.get("/decisions/?gone=1").content.decode()
    assert 'aria-label="Group by"' not in page.get("/queue/").content.decode()
    assert 'class="group"' not in page.get("/queue/?group=month").content.decode()


def test_a_secret_names_no_group_and_stands_in_no_address(page: Client) -> None:
    fill(DECISIONS, make_store("one"), [{"title": "text", "category": SECRET}, {"title": "more", "category": "z"}])
    answer = page.get("/decisions/?group=category")
    assert SECRET not in answer.content.decode()
    assert [titles for _, _, titles in shown(answer)] == [["text"], ["more"]]
    assert len(links(answer)) == 1


def test_grouping_asks_the_database_no_more_often(page: Client) -> None:
    fill(DECISIONS, make_store("one"), decisions(200))
    with CaptureQueriesContext(connection) as queries:
        assert page.get("/decisions/?group=category&sort=-category").status_code == 200
    assert len(queries) <= 12


def test_groups_are_kept_with_the_question_and_left_out_of_files(page: Client) -> None:
    fill(DECISIONS, make_store("one"), decisions(5))
    asked = read(DECISIONS, QueryDict("group=category"))
    assert (asked.grouped, asked.order) == ("category", "category")
    assert read(DECISIONS, QueryDict(asked.address().removeprefix("?"))) == asked
    exports = re.findall(r'href="(/decisions/export\.[^"]*)"', page.get("/decisions/?group=category").content.decode())
    assert exports
    assert not [one for one in exports if "group" in one]
