"""The lists of flows, sessions, solutions, preferences, memory files, the retired queue, graph lines and others."""

from __future__ import annotations

import html
import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from stores.lists.specs import DECISIONS, EVENTS, FLOWS, FURTHER, MEM0, MEMORY_FILES, ListSpec
from stores.models import SessionEvent
from stores.selectors.record_documents import field_names
from tests.factories import AT, make_file, make_store
from tests.lists.rows import fill
from tests.views.parsing import assert_harmless, text

pytestmark = pytest.mark.django_db
LISTS = pytest.mark.parametrize("spec", FURTHER, ids=lambda spec: spec.section)
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
BODY = SECRET[4:14]
"""Stands in no page: neither the whole, nor a half, nor with spaces in it."""


def body(response: Any) -> str:
    return b"".join(response).decode() if response.streaming else response.content.decode()


@LISTS
def test_a_list_asks_the_database_as_often_for_3_records_as_for_300(page: Client, spec: ListSpec) -> None:
    store, first = make_store("one"), spec.facets[0].column
    asked = []
    for size in (3, 297):
        fill(spec, store, [{first: "a"} for _ in range(size)] + [{"gone_at": AT}])
        counts = []
        for question in ("?all=1", f"?{first}=a", "?all=1&q=record", "?gone=1", f"?all=1&sort={first}"):
            with CaptureQueriesContext(connection) as queries:
                assert page.get(f"/{spec.section}/{question}").status_code == 200
            counts.append(len(queries))
        asked.append(counts)
    assert asked[0] == asked[1]
    assert max(asked[1]) <= 12


@LISTS
def test_the_fragment_is_a_part_of_the_page(page: Client, spec: ListSpec) -> None:
    fill(spec, make_store("one"), [{"title": f"text {number}"} for number in range(3)])
    fragment = body(page.get(f"/{spec.section}/", headers={"HX-Request": "true", "HX-Target": "list"}))
    assert "<html" not in fragment
    assert fragment.count("<tr") == 4
    answer = page.get(f"/{spec.section}/")
    assert_harmless(answer)
    assert spec.intro in text(answer)


@LISTS
def test_every_column_can_be_shown_and_every_sort_sorts(page: Client, spec: ListSpec) -> None:
    store, column = make_store("one"), spec.facets[0].column
    fill(spec, store, [{column: value, "title": f"titled {value}"} for value in ("b", "a", "c")])
    every = ",".join(one.name for one in spec.columns)
    heads = html.unescape(body(page.get(f"/{spec.section}/?all=1&cols={every}")))
    assert all(f"{one.title}</" in heads or f"{one.title}<" in heads for one in spec.columns)
    for order, wanted in ((column, ["titled a", "titled b", "titled c"]), (f"-{column}", ["titled c", "titled b", "titled a"])):
        shown = text(page.get(f"/{spec.section}/?all=1&sort={order}"))
        assert sorted(wanted, key=shown.index) == wanted


@LISTS
def test_an_export_holds_what_the_list_holds_with_secrets_masked(page: Client, spec: ListSpec) -> None:
    fill(spec, make_store("one"), [{"title": f"key {SECRET}"}, {"title": "other"}])
    documents = json.loads(body(page.get(f"/{spec.section}/export.json?q=key")))
    assert [sorted(document) for document in documents] == [sorted(field_names(spec))]
    assert documents[0]["file"]
    assert BODY not in json.dumps(documents)
    assert page.get(f"/{spec.section}/export.csv").status_code == 200
    assert page.get(f"/{spec.section}/export.xls").status_code == 404


@LISTS
@pytest.mark.parametrize("text", [SECRET, f"token {SECRET}", f"a long text in front of {SECRET}"], ids=["alone", "behind a word", "cut"])
def test_a_secret_is_masked_in_every_column(page: Client, spec: ListSpec, text: str) -> None:
    texts = {one.name: text for one in spec.model._meta.fields if one.get_internal_type() == "CharField" and one.max_length == 220}
    fill(spec, make_store("one"), [{"title": text, **{name: value for name, value in texts.items() if name != "natural_id"}}])
    every = ",".join(one.name for one in spec.columns)
    shown = body(page.get(f"/{spec.section}/?all=1&cols={every}"))
    assert "masked" in shown
    assert BODY not in shown


@LISTS
def test_records_of_several_files_name_their_own(page: Client, spec: ListSpec) -> None:
    store = make_store("one")
    first, second = fill(spec, store, [{"title": "first"}, {"title": "second"}])
    other = make_file(store, "flows/other.json", record_type=spec.record_type)
    type(second)._default_manager.filter(pk=second.pk).update(file=other)
    documents = {one["title"]: one["file"] for one in json.loads(body(page.get(f"/{spec.section}/export.json?all=1")))}
    assert documents == {"first": first.file.path, "second": "flows/other.json"}


def test_flows_begin_with_the_last_of_each_session(page: Client) -> None:
    fill(FLOWS, make_store("one"), [{"title": "now", "standing": "last"}, {"title": "before", "standing": "earlier"}])
    assert "before" not in text(page.get("/flows/"))
    assert "before" in text(page.get("/flows/?all=1"))


def test_an_event_leads_to_its_session_but_not_by_a_secret(page: Client) -> None:
    fill(EVENTS, make_store("one"), [{"session": "main-0301"}, {"session": f"x {SECRET}"}])
    shown = body(page.get("/sessions/"))
    assert 'href="/sessions/one/timeline/?id=main-0301"' in shown
    assert shown.count("/timeline/?id=") == 1


def test_what_failed_and_what_is_not_loaded_is_said(page: Client) -> None:
    store = make_store("one")
    fill(EVENTS, store, [{"outcome": "failure", "duration_ms": 1234}])
    fill(MEMORY_FILES, store, [{"form": "index", "not_loaded": 31, "lines": 231}])
    fill(MEM0, store, [{"standing": "duplicate"}])
    assert "failure" in text(page.get("/sessions/"))
    assert "1.2 s" in text(page.get("/sessions/"))
    assert "31 lines never loaded" in text(page.get("/memory-files/"))
    assert "duplicate" in text(page.get("/mem0/"))


def test_a_saved_view_can_be_kept_of_each_list(page: Client) -> None:
    for spec in FURTHER:
        answer = page.post("/views/save/", {"section": spec.section, "name": "mine", "query": "gone=1"})
        assert answer.status_code == 302
        assert "mine" in text(page.get(f"/views/{spec.section}/"))


def test_the_page_of_a_store_counts_every_type(page: Client) -> None:
    store = make_store("one")
    for number, spec in enumerate(FURTHER, 1):
        fill(spec, store, [{"title": f"{spec.section} {place}"} for place in range(number)])
    shown = body(page.get("/stores/one/"))
    for number, spec in enumerate(FURTHER, 1):
        every = "&amp;all=1" if spec.narrowed else ""
        assert f'<a class="figure" href="/{spec.section}/?store=one{every}">{number}</a>' in shown
        assert f"{spec.section} 0" in shown


def test_sessions_of_a_store_are_counted_with_their_decisions(page: Client) -> None:
    store = make_store("one")
    hour = 3_600_000
    fill(EVENTS, store, [{"session": "a", "at_ms": 10 * hour}, {"session": "a", "at_ms": 11 * hour, "outcome": "failure"}])
    fill(EVENTS, store, [{"session": "b", "at_ms": 20 * hour}])
    fill(DECISIONS, store, [{"at_ms": 10 * hour + 5}, {"at_ms": 15 * hour}])
    found = text(page.get("/sessions/one/"))
    assert "All 2" in found
    assert "Without a decision 1" in found
    alone = body(page.get("/sessions/one/?decisions=none"))
    assert "timeline/?id=b" in alone
    assert "timeline/?id=a" not in alone


def test_the_number_of_failures_of_a_session_leads_to_them(page: Client) -> None:
    fill(EVENTS, make_store("one"), [{"session": "a", "outcome": "failure"}, {"session": "a"}, {"session": "b", "outcome": "failure"}])
    assert 'href="/sessions/one/timeline/?id=a&amp;outcome=failure"' in body(page.get("/sessions/one/")).replace("&outcome", "&amp;outcome")
    failed = text(page.get("/sessions/one/timeline/?id=a&outcome=failure"))
    assert "All 2" in failed
    assert "Failed 1" in failed
    assert "1 of 1" in failed
    assert "2 of 2" not in failed


def test_a_session_that_nobody_names_is_not_found(page: Client) -> None:
    fill(EVENTS, make_store("one"), [{"session": "a"}])
    assert page.get("/sessions/one/timeline/?id=a").status_code == 200
    assert page.get("/sessions/one/timeline/?id=b").status_code == 404
    assert page.get("/sessions/one/timeline/").status_code == 404
    assert page.get("/sessions/none/timeline/?id=a").status_code == 404


def test_a_timeline_asks_as_often_for_3_events_as_for_300_and_marks_shared_ids(page: Client) -> None:
    store = make_store("one")
    asked = []
    for size in (3, 297):
        fill(EVENTS, store, [{"session": "a", "natural_id": f"evt-{size}-{number // 2}"} for number in range(size)])
        with CaptureQueriesContext(connection) as queries:
            answer = page.get("/sessions/one/timeline/?id=a")
        asked.append(len(queries))
        assert "same id as another event" in text(answer)
    assert asked[0] == asked[1] <= 12
    assert SessionEvent.objects.count() == 300
    assert "1 – 200 of 300 events" in text(answer)
    assert "201 – 300 of 300 events" in text(page.get("/sessions/one/timeline/?id=a&page=9"))
