"""A list as plain values says what django-tables2 would say, at the cost of a plain loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import django_tables2 as tables
from django.core.paginator import Paginator
from django.http import QueryDict
from django.template.loader import render_to_string
from django.test import RequestFactory

from stores.table_view import Group, view_of


@dataclass
class Record:
    """A row to list."""

    pk: int
    what: str
    cited: int | None
    store: str = "shop-api"
    state: str = "active"


class RecordTable(tables.Table):  # type: ignore[misc]
    """Every way in which a column can say its cell."""

    what = tables.Column(attrs={"td": {"class": "lead elastic", "data-stack": "main"}})
    cited = tables.Column(default="not known", attrs={"td": {"class": "num", "data-word": "cited"}})
    store = tables.Column(orderable=False, attrs={"td": {"class": "short", "title": lambda record: record.what}, "th": {"class": "wide"}})
    linked = tables.Column(accessor="pk", linkify=lambda record: f"/records/{record.pk}/")
    absent = tables.Column(accessor="nowhere__at__all")

    class Meta:
        order_by_field = "sort"
        row_attrs = {"aria-current": lambda record: "true" if record.pk == 1 else None}

    caption = "Records"

    def render_cited(self, value: int, record: Record) -> str:
        return f"{value} by {record.store}"

    def state_of(self, record: Record) -> tuple[str, str]:
        return record.state, "active"

    def group_of(self, record: Record) -> Group:
        return Group(record.store, ("OrchestKit",))


RECORDS = [Record(1, "use <b>cursors</b>", 5), Record(2, "advisory locks", None), Record(3, "outbox", 0, store="atlas")]


def configured(query: str = "", per_page: int = 50) -> Any:
    """Give the table as a view would."""
    table = RecordTable(RECORDS, order_by=QueryDict(query).get("sort", ""))
    table.paginate(page=1, per_page=per_page, paginator_class=Paginator)
    return table


def test_cells_are_those_of_django_tables2() -> None:
    table = configured()
    ours = [[str(content) for _, content in row.cells] for row in view_of(table, QueryDict()).rows]
    theirs = [[str(cell) for cell in row] for row in configured().rows]
    assert ours == theirs
    assert ours[0] == ["use <b>cursors</b>", "5 by shop-api", "shop-api", '<a href="/records/1/">1</a>', "—"]


def test_attributes_of_cells_and_rows_may_ask_the_record() -> None:
    rows = list(view_of(configured(), QueryDict()).rows)
    assert str(rows[0].cells[1][0]) == ' class="num" data-word="cited"'
    assert str(rows[0].cells[2][0]) == ' class="short" title="use &lt;b&gt;cursors&lt;/b&gt;"'
    assert [str(row.attrs) for row in rows] == [' aria-current="true"', "", ""]


def test_a_group_is_named_where_it_begins() -> None:
    assert [row.group.name if row.group else None for row in view_of(configured(), QueryDict()).rows] == ["shop-api", None, "atlas"]


def test_a_head_sorts_and_goes_back_to_the_first_page() -> None:
    heads = view_of(configured("sort=-cited&page=3&area=x"), QueryDict("sort=-cited&page=3&area=x")).heads
    assert [(head.label, head.sorted) for head in heads[:3]] == [("What", ""), ("Cited", "descending"), ("Store", "")]
    assert heads[0].url == "?sort=what&area=x"
    assert heads[1].url == "?sort=cited&area=x"
    assert heads[2].url == ""
    assert str(heads[0].attrs) == ' class="lead elastic"'
    assert str(heads[2].attrs) == ' class="wide"'


def test_the_template_prints_rows_escaped_with_roles_and_pager() -> None:
    request = RequestFactory().get("/", {"sort": "-what"})
    page = render_to_string("tables/table.html", {"table": configured("sort=-what", per_page=2)}, request=request)
    heads, rows, groups = 1, 2, 2
    assert page.count('role="row"') == heads + rows + groups
    assert "use &lt;b&gt;cursors&lt;/b&gt;" in page
    assert 'aria-sort="descending"' in page
    assert "1 – 2 of 3" in page
    assert '<caption class="sr">Records</caption>' in page
    assert page.index("<thead") < page.index('hx-boost="true"') < page.index("<tbody") < page.index('hx-boost="false"')
