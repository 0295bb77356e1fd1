"""The lists of decisions, problems and queue operations as pages, fragments and exports."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from stores.lists.specs import DECISIONS, PROBLEMS, QUEUE, ListSpec
from stores.models import SourceFile
from stores.selectors.origins import decision_key
from tests.factories import AT, make_problem, make_store, make_superuser
from tests.lists.rows import fill
from tests.views.parsing import assert_harmless, elements
from tests.views.parsing import text as plain_text

pytestmark = pytest.mark.django_db
LISTS = pytest.mark.parametrize("spec", [DECISIONS, PROBLEMS, QUEUE], ids=lambda spec: spec.section)
HTMX = {"HX-Request": "true", "HX-Target": "list"}


def text_of(response: Any) -> str:
    return b"".join(response).decode() if response.streaming else response.content.decode()


@LISTS
@pytest.mark.parametrize("question", ["", "?sort=-at", "?q=record", "?gone=1", "?per_page=25&page=2", "?store=one&store=none"])
def test_a_list_asks_the_database_at_most_12_times_and_as_often_for_3_records_as_for_300(
    page: Client, spec: ListSpec, question: str
) -> None:
    store = make_store("one")
    asked = []
    for size in (60, 400):
        fill(spec, store, [{} for _ in range(size)] + [{"gone_at": AT} for _ in range(size)])
        with CaptureQueriesContext(connection) as queries:
            assert page.get(f"/{spec.section}/{question}").status_code == 200
        asked.append(len(queries))
    assert asked[0] == asked[1] <= 12, [query["sql"][:200] for query in queries]


@LISTS
def test_a_list_of_3_asks_as_often_as_one_of_300(page: Client, spec: ListSpec) -> None:
    store = make_store("one")
    first, second = spec.facets[0].column, spec.facets[1].column
    asked = []
    for size in (3, 297):
        fill(spec, store, [{first: "a", second: "b"} for _ in range(size)])
        counts = []
        for question in ("?all=1", f"?{first}=a", f"?{first}=a&{second}=b"):
            with CaptureQueriesContext(connection) as queries:
                assert page.get(f"/{spec.section}/{question}").status_code == 200
            counts.append(len(queries))
        asked.append(counts)
    assert asked[0] == asked[1]
    assert max(asked[1]) <= 13


@LISTS
def test_the_fragment_is_what_the_page_holds(page: Client, spec: ListSpec) -> None:
    fill(spec, make_store("one"), [{"title": f"text {n}"} for n in range(3)])
    whole = text_of(page.get(f"/{spec.section}/"))
    fragment = text_of(page.get(f"/{spec.section}/", headers=HTMX))
    assert "<html" not in fragment
    assert 'id="list"' in fragment
    assert fragment.count("<tr") == 4
    assert "Vary" in page.get(f"/{spec.section}/", headers=HTMX)
    restored = text_of(page.get(f"/{spec.section}/", headers={**HTMX, "HX-History-Restore-Request": "true"}))
    assert "<html" in restored
    assert "<html" in whole


@LISTS
@pytest.mark.parametrize(
    "question",
    [
        "page=0", "page=-5", "page=1e9", "page=99999999999999999999", "page=%00", "per_page=999999999", "per_page=-1", "per_page=x",
        "sort=a.b.c", "sort=--at", "sort=user__password", "sort=%00", "q=%00", "q=%ff%fe", "q=" + "%22" * 50, "q=" + "x" * 60_000, "q=*)(:^-",
        "cols=x,y", "cols=" + "a," * 5000, "gone=2", "store=%00", "store=../..", "more=x", "all=%00", "view=1", "q=AND+OR+NOT+NEAR(",
    ],
)  # fmt: skip
def test_odd_parameters_are_answered(page: Client, spec: ListSpec, question: str) -> None:
    fill(spec, make_store("one"), [{}, {}])
    assert page.get(f"/{spec.section}/?{question}").status_code == 200
    assert page.get(f"/{spec.section}/export.csv?{question}").status_code == 200


@LISTS
def test_too_many_values_are_refused_in_words(page: Client, spec: ListSpec) -> None:
    column = spec.facets[0].column
    many = "&".join(f"{column}={n}" for n in range(60))
    answer = page.get(f"/{spec.section}/?{many}")
    assert answer.status_code == 400
    assert "at most 50 values" in text_of(answer)
    assert page.get(f"/{spec.section}/?" + "a=1&" * 2000).status_code == 400


@LISTS
def test_an_export_is_the_filtered_set_in_the_order_of_the_list(page: Client, spec: ListSpec) -> None:
    column = spec.facets[0].column
    records = fill(spec, make_store("one"), [{column: "ab"[n % 2], "title": f"text {n}"} for n in range(9)])
    wanted = [record.pk for record in records if getattr(record, column) == "a"][::-1]
    question = f"{column}=a&sort=-at&page=3&per_page=1"
    table = page.get(f"/{spec.section}/export.csv?{question}")
    assert table["Content-Type"] == "text/csv; charset=utf-8"
    assert table["Content-Disposition"] == f'attachment; filename="memoryui-{spec.section}.csv"'
    assert table["X-Content-Type-Options"] == "nosniff"
    rows = list(csv.DictReader(io.StringIO(text_of(table), newline="")))
    array = json.loads(text_of(page.get(f"/{spec.section}/export.json?{question}")))
    lines = [json.loads(line) for line in text_of(page.get(f"/{spec.section}/export.jsonl?{question}")).splitlines()]
    assert [int(row["id"]) for row in rows] == [row["id"] for row in array] == [row["id"] for row in lines] == wanted
    assert array == lines
    assert array[0]["title"] == "text 8"
    assert page.get(f"/{spec.section}/export.xls").status_code == 404


def test_an_empty_export_is_still_a_table_and_an_array(page: Client) -> None:
    make_store("one")
    assert text_of(page.get("/decisions/export.csv")).startswith("id,record_type,store,file,line,byte")
    assert json.loads(text_of(page.get("/decisions/export.json"))) == []
    assert text_of(page.get("/decisions/export.jsonl")) == ""


def test_cells_that_a_spreadsheet_would_compute_are_written_as_text(page: Client) -> None:
    texts = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "plain", '"quoted", with comma', "line\nbreak"]
    fill(DECISIONS, make_store("one"), [{"title": text, "category": text} for text in texts])
    rows = list(csv.DictReader(io.StringIO(text_of(page.get("/decisions/export.csv?sort=at")), newline="")))
    assert [row["title"] for row in rows] == [f"'{text}" if text[0] in "=+-@\t\r" else text for text in texts]
    assert [row["category"] for row in rows] == [row["title"] for row in rows]


def test_secrets_are_masked_on_the_page_and_in_every_export(page: Client) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    fill(DECISIONS, make_store("one"), [{"title": f"use {secret} for the api", "category": secret, "said_by": secret, "machine": secret}])
    for address in ("?cols=machine,category,said_by", "?q=api", "export.csv", "export.json", "export.jsonl"):
        text = text_of(page.get(f"/decisions/{address}"))
        assert "masked, " in text, address
        assert secret not in text, address


def test_facets_say_how_many_without_their_own_choice_and_lead_to_the_filtered_list(page: Client) -> None:
    store = make_store("one")
    fill(DECISIONS, store, [{"category": f"area-{n}", "said_by": "ines"} for n in range(9) for _ in range(9 - n)])
    text = text_of(page.get("/decisions/?category=area-1&said_by=ines"))
    assert text.count('id="facet-category-') == 7
    assert "2 more areas" in text
    assert "area-0" in text
    assert "<b>8 of 45</b> decisions match." in text
    assert 'href="?said_by=ines"' in text
    assert text_of(page.get("/decisions/?more=category")).count('id="facet-category-') == 9


def test_a_list_says_what_could_not_be_read(page: Client) -> None:
    store = make_store("shop-api")
    fill(DECISIONS, store, [{} for _ in range(3)])
    SourceFile.objects.filter(store=store).update(lines_refused=2)
    text = text_of(page.get("/decisions/"))
    assert "2 of 5 lines of shop-api cannot be read and may hold more:" in text
    assert "/stores/shop-api/faults/?file=decisions.jsonl" in text


def test_gone_records_are_shown_only_when_asked_for_with_when_and_why(page: Client) -> None:
    fill(DECISIONS, make_store("one"), [{"title": "still there"}, {"title": "no longer", "gone_at": AT, "gone_reason": "truncated"}])
    assert "no longer" not in text_of(page.get("/decisions/"))
    text = text_of(page.get("/decisions/?gone=1"))
    assert "no longer" in text
    assert "gone: truncated" in text
    assert "still there" not in text


def test_problems_begin_with_the_open_ones_oldest_first(page: Client) -> None:
    fill(
        PROBLEMS, make_store("one"), [{"title": "newer", "at_ms": 2}, {"title": "older", "at_ms": 1}, {"title": "done", "status": "solved"}]
    )
    text = text_of(page.get("/problems/"))
    assert text.index("older") < text.index("newer")
    assert "done" not in text
    assert "done" in text_of(page.get("/problems/?all=1"))
    assert "done" in text_of(page.get("/problems/?status=solved&all=1"))


def test_four_nothings_look_different(page: Client) -> None:
    assert 'data-outcome="empty"' in text_of(page.get("/decisions/"))
    store = make_store("one")
    fill(DECISIONS, store, [])
    SourceFile.objects.filter(store=store).update(read_at=None)
    assert 'data-outcome="unmeasured"' in text_of(page.get("/decisions/"))
    SourceFile.objects.filter(store=store).update(state="unreadable", error="Permission denied")
    assert "Permission denied" in text_of(page.get("/decisions/"))
    assert 'data-outcome="unreadable"' in text_of(page.get("/decisions/"))
    SourceFile.objects.filter(store=store).update(state="ok", error="", read_at=AT)
    fill(DECISIONS, store, [{}])
    assert 'data-outcome="filtered"' in text_of(page.get("/decisions/?category=nothing"))


def test_the_page_size_is_kept_by_the_browser(page: Client) -> None:
    fill(DECISIONS, make_store("one"), [{} for _ in range(30)])
    assert text_of(page.get("/decisions/")).count('role="row"') == 31
    assert text_of(page.get("/decisions/?per_page=25")).count('role="row"') == 26
    assert text_of(page.get("/decisions/")).count('role="row"') == 26
    page.get("/decisions/?per_page=50")
    assert text_of(page.get("/decisions/")).count('role="row"') == 31


def test_chosen_columns_are_shown(page: Client) -> None:
    fill(DECISIONS, make_store("one"), [{"machine": "build-vm"}])
    assert "build-vm" not in text_of(page.get("/decisions/"))
    text = text_of(page.get("/decisions/?cols=machine&cols=at"))
    assert "build-vm" in text
    assert "Said by</a></th>" not in text


def test_operations_name_the_decision_that_they_come_from(page: Client) -> None:
    store = make_store("one")
    name = "decision-mx3a2c3b-7r3d13"
    fill(DECISIONS, store, [{"natural_id": name, "key": decision_key(name), "title": "use uuid v7 as primary key"}])
    fill(
        QUEUE,
        store,
        [
            {"decision_id": name},
            {"operation": "create_relations", "decision_id": "decision-00000000-gone"},
            {"standing": "poison", "reason": "entities holds null"},
        ],
    )
    text = text_of(page.get("/queue/"))
    assert "use uuid v7 as primary key" in text
    assert "decision-00000000-gone" in text
    assert "not known" in text
    assert "entities holds null" in text


def test_a_stranger_s_store_is_told_of_nowhere(page: Client) -> None:
    hidden = make_store("hidden-shop", groups=["others"])
    for spec in (DECISIONS, PROBLEMS, QUEUE):
        fill(spec, hidden, [{"title": "hidden zebra", spec.facets[0].column: "hidden-value"}])
        SourceFile.objects.filter(store=hidden).update(lines_refused=2)
        for address in (
            "",
            "?store=hidden-shop",
            "?q=hidden",
            "?gone=1",
            "export.csv",
            "export.json?store=hidden-shop",
            "export.jsonl?all=1",
        ):
            text = text_of(page.get(f"/{spec.section}/{address}"))
            for word in ("zebra", "hidden-value"):
                assert word not in text, address
    assert "zebra" not in text_of(page.get("/search/?q=hidden"))
    seen = Client()
    seen.force_login(make_superuser())
    assert "zebra" in text_of(seen.get("/search/?q=hidden"))


@LISTS
def test_hostile_words_stay_words(page: Client, spec: ListSpec) -> None:
    nasty = '"><img src=x onerror=alert(1)>\u202e<script>{{ 7|add:7 }}<div hx-get=/evil hx-trigger=load>'
    first, second = spec.facets[0].column, spec.facets[1].column
    fill(spec, make_store("one", name=nasty), [{"title": nasty, first: nasty[:16], second: nasty, "gone_reason": nasty[:40]}])
    fill(spec, make_store("two"), [{"title": nasty, "gone_at": AT, "gone_reason": nasty[:40]}])
    columns = ",".join(column.name for column in spec.columns)
    for question in (
        "all=1",
        f"all=1&cols={columns}",
        "gone=1",
        "all=1&q=img",
        f"{first}=%22%3E%3Cimg",
        "sort=-at&store=%22%3E%3Cscript%3E",
    ):
        for headers in ({}, HTMX):
            assert_harmless(page.get(f"/{spec.section}/?{question}", headers=headers))


def test_a_list_that_filters_leave_empty_names_them_and_says_what_one_step_back_shows(page: Client) -> None:
    store = make_store("shop-api")
    fill(DECISIONS, store, [{"category": "database"} for _ in range(3)])
    fill(DECISIONS, make_store("other"), [{"category": "security"}])
    shown = text_of(page.get("/decisions/?q=zeppelin&store=shop-api"))
    assert "Words &quot;zeppelin&quot; in shop-api: without the words 3 match." in shown
    assert "Show without the words" in shown
    shown = text_of(page.get("/decisions/?category=security&store=shop-api"))
    assert "Area security in shop-api: without the area 3 match." in shown
    assert "Area nothing: without the area 4 match." in text_of(page.get("/decisions/?category=nothing"))
    assert "Words &quot;zeppelin&quot;, area database: without the words 3 match." in text_of(
        page.get("/decisions/?q=zeppelin&category=database")
    )
    assert "Words &quot;zeppelin&quot;, area nothing in shop-api." in text_of(
        page.get("/decisions/?q=zeppelin&category=nothing&store=shop-api")
    )


def test_problems_over_two_weeks_are_those_that_the_overview_counts(page: Client) -> None:
    now = int(timezone.now().timestamp() * 1000)
    store = make_store("one")
    make_problem(store, "waited long", at_ms=now - 15 * 86_400_000)
    make_problem(store, "waited long too", at_ms=now - 400 * 86_400_000)
    make_problem(store, "came just now", at_ms=now)
    make_problem(store, "without a time", at_ms=0)
    overview = page.get("/")
    [link] = [tag["href"] for _, tag in elements(overview) if tag.get("class") == "needs-fact" and "href" in tag]
    assert "2 over 14 d" in plain_text(overview)
    text = plain_text(page.get(link))
    assert [words in text for words in ("waited long", "waited long too", "came just now", "without a time")] == [True, True, False, False]
    assert "2 of 4 problems match" in text
    assert "Age over 14 d" in text
    assert "over 500 d old" in plain_text(page.get("/problems/?older=500"))


def test_a_project_is_marked_as_said_where_it_is_named_as_its_store(page: Client) -> None:
    store = make_store("shop-api")
    make_problem(store, "here")
    make_problem(store, "elsewhere", project="billing <core>")
    answer = page.get("/problems/")
    assert [attributes.get("class") for tag, attributes in elements(answer) if tag == "span"].count("again") == 1
    marked = text_of(answer).partition('<span class="again">')[2].partition("</span>")[0]
    assert "shop-api" in marked
    assert "billing &lt;core&gt;" in text_of(answer)
