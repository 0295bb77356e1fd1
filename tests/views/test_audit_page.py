"""The audit page: filters, one event opened, the chain's verdict, exports."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from stores import audit
from stores.models import AuditEvent, AuditHead, User
from tests.factories import make_store, make_superuser, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def ines() -> User:
    return make_user("ines", first_name="Ines", last_name="Moreau")


@pytest.fixture
def page(ines: User) -> Client:
    client = Client()
    client.force_login(ines)
    AuditEvent.objects.all().delete()
    AuditHead.objects.update(count=0, digest=audit.DIGEST_OF_NOTHING)
    return client


def text_of(response: Any) -> str:
    return b"".join(response).decode() if response.streaming else response.content.decode()


def add(count: int, actor: User | None = None, **changes: Any) -> None:
    for n in range(count):
        audit.record(**{"event": "muted", "actor": actor, "object_label": f"object {n}", "through": "page", **changes})


def numbers(response: Any) -> list[int]:
    return [row.event.number for row in response.context["rows"]]


def test_events_come_newest_first_with_the_chain_s_verdict_on_top(page: Client, ines: User) -> None:
    add(3, ines)
    response = page.get("/audit/")
    assert numbers(response) == [3, 2, 1]
    assert "3 events, chain intact" in text_of(response)
    assert "Ines Moreau" in text_of(response)


def test_the_first_broken_event_is_named(page: Client) -> None:
    add(5)
    AuditEvent.objects.filter(number=3).update(object_label="another")
    assert "Event 3 is not as it was written" in text_of(page.get("/audit/"))
    AuditEvent.objects.filter(number=3).delete()
    assert "Event 3 is missing from the chain" in text_of(page.get("/audit/"))
    AuditEvent.objects.filter(number__gte=2).delete()
    assert "The end of the chain is missing: 5 events were written, 1 are left" in text_of(page.get("/audit/"))


def test_each_filter_leaves_what_fits(page: Client, ines: User) -> None:
    store = make_store("shop-api")
    with time_machine.travel(datetime(2026, 11, 27, 12, tzinfo=UTC)):
        add(1, ines)
    with time_machine.travel(datetime(2026, 11, 28, 12, tzinfo=UTC)):
        add(1, ines, event="view_shared")
        add(1, None, event="store_added", store=store)
    assert numbers(page.get("/audit/?event=view_shared")) == [2]
    assert numbers(page.get("/audit/?actor=Ines")) == [2, 1]
    assert numbers(page.get("/audit/?actor=nobody")) == []
    assert numbers(page.get("/audit/?store=shop-api")) == [3]
    assert numbers(page.get("/audit/?since=2026-11-28")) == [3, 2]
    assert numbers(page.get("/audit/?since=2026-11-28&actor=ines")) == [2]
    assert numbers(page.get("/audit/?since=2027-01-01")) == []
    assert "28 Nov 2026" in text_of(page.get("/audit/?since=2026-11-28"))


@pytest.mark.parametrize(
    "query", ["since=yesterday", "page=0", "page=-1", "page=x", "page=201", "page=99999999999999999999", "open=x", "page=%00"]
)
def test_a_query_that_cannot_be_read_is_a_400(page: Client, query: str) -> None:
    assert page.get(f"/audit/?{query}").status_code == 400


def test_odd_filters_find_nothing_and_break_nothing(page: Client) -> None:
    add(1)
    for query in ("event=%00", "actor=%00%F0%9F", "store=" + "x" * 5000, "actor=" + "%" * 300, "event[]=a&event=b"):
        assert page.get(f"/audit/?{query}").status_code == 200


def test_an_opened_event_shows_what_it_says_besides(page: Client, ines: User) -> None:
    add(1, ines, detail={"groups": ["platform", "search"], "expires": "2027-01-01", "superuser": False})
    digest = AuditEvent.objects.get().digest
    text = text_of(page.get("/audit/?open=1"))
    assert "platform, search" in text
    assert "2027-01-01" in text
    assert digest in text
    assert "account" not in [line.label for row in page.get("/audit/?open=1").context["rows"] for line in row.details]


def test_pages_hold_fifty_events_and_keep_the_filter(page: Client) -> None:
    add(53)
    add(1, event="unmuted")
    assert numbers(page.get("/audit/?event=muted")) == list(range(53, 3, -1))
    assert numbers(page.get("/audit/?event=muted&page=2")) == [3, 2, 1]
    assert "event=muted&amp;page=2" in text_of(page.get("/audit/?event=muted"))


def test_exports_hold_the_filtered_events(page: Client, ines: User) -> None:
    add(60, ines, detail={"n": 1})
    add(1, event="unmuted")
    response = page.get("/audit/export.csv?event=muted")
    assert response.headers["Content-Disposition"] == 'attachment; filename="memoryui-audit.csv"'
    rows = list(csv.DictReader(io.StringIO(text_of(response))))
    assert [int(row["number"]) for row in rows] == list(range(60, 0, -1))
    assert rows[0]["actor"] == "Ines Moreau"
    response = page.get("/audit/export.jsonl?event=unmuted")
    events = [json.loads(line) for line in text_of(response).splitlines()]
    assert [(event["number"], event["event"]) for event in events] == [(61, "unmuted")]
    assert page.get("/audit/export.xml").status_code == 404


def test_the_export_of_all_can_be_checked_by_its_digests(page: Client) -> None:
    add(4)
    events = [json.loads(line) for line in text_of(page.get("/audit/export.jsonl")).splitlines()]
    assert [event["previous_digest"] for event in events[:-1]] == [event["digest"] for event in events[1:]]


def test_no_cell_of_the_csv_is_a_formula(page: Client) -> None:
    for payload in ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "|cmd", "%0A=1", "\uff1d1"):
        add(1, object_label=payload)
    rows = list(csv.DictReader(io.StringIO(text_of(page.get("/audit/export.csv")), newline="")))
    assert len(rows) == 10
    assert all(row["object"].startswith("'") for row in rows)


def test_events_of_a_store_are_seen_by_those_who_see_it() -> None:
    hidden = make_store("harbor", groups=["platform"])
    add(1, None, store=hidden, object_label="harbor was muted", event="muted")
    for user, sees in ((make_user(), False), (make_user(groups=["viewer", "platform"]), True), (make_superuser(), True)):
        client = Client()
        client.force_login(user)
        for where in ("/audit/", "/audit/?store=harbor", "/audit/export.csv", "/audit/export.jsonl", "/audit/?open=1"):
            said = text_of(client.get(where)).replace("store=harbor", "")
            assert ("harbor was muted" in said) is sees


def test_events_of_a_store_that_is_gone_are_seen_by_superusers() -> None:
    store = make_store("harbor")
    add(1, None, store=store, object_label="harbor", event="store_removed")
    store.delete()
    for user, sees in ((make_user(), False), (make_superuser(), True)):
        client = Client()
        client.force_login(user)
        assert ("harbor" in text_of(client.get("/audit/"))) is sees


def test_the_page_takes_as_many_queries_for_three_events_as_for_three_hundred(
    page: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make_store("shop-api")
    add(3)
    page.get("/audit/")
    with django_assert_num_queries(11):
        page.get("/audit/")
    add(297)
    with django_assert_num_queries(11):
        page.get("/audit/")


def test_a_long_chain_is_checked_at_its_end_and_whole_when_asked(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stores.selectors.audit.CHECKED_ON_PAGE", 4)
    add(10)
    AuditEvent.objects.filter(number=2).update(object_label="another")
    text = text_of(page.get("/audit/"))
    assert "Newest 4 of 10 events, chain intact" in text
    assert "check=whole" in text
    assert "Event 2 is not as it was written" in text_of(page.get("/audit/?check=whole"))


def test_times_are_told_in_utc_to_the_second(page: Client) -> None:
    with time_machine.travel(datetime.now(UTC).replace(hour=14, minute=31, second=52) - timedelta(days=400)):
        add(1)
    assert "14:31:52" in text_of(page.get("/audit/"))


def test_an_event_has_a_page_that_leads_on_among_those_of_its_filter(page: Client, ines: User) -> None:
    add(2, ines)
    add(1, event="view_shared")
    add(1, ines)
    shown = page.get("/audit/2/?event=muted")
    assert (shown.context["earlier_url"], shown.context["later_url"]) == ("/audit/1/?event=muted", "/audit/4/?event=muted")
    assert page.get("/audit/1/").context["earlier_url"] == ""
    assert page.get("/audit/99/").status_code == 404
    assert "/audit/2/?event=muted" in page.get("/audit/?event=muted&open=2").content.decode()


def test_what_an_event_changed_stands_beside_what_it_was(page: Client, ines: User) -> None:
    add(1, ines, event="policy_changed", detail={"version": "default.2", "approvals": {"from": "1", "to": "2"}})
    shown = page.get("/audit/1/").content.decode()
    assert "<del><bdi>1</bdi></del>" in shown
    assert "<ins><bdi>2</bdi></ins>" in shown


def test_all_events_of_a_batch_and_of_an_action_are_found(page: Client, ines: User) -> None:
    add(1, ines, event="approved", detail={"action": 7, "batch": "bulk:1"})
    add(1, ines, event="decision_refused", detail={"action": 8, "batch": "bulk:1", "code": "stale"})
    add(1, ines, event="approved", detail={"action": 9, "batch": "bulk:2"})
    add(1, None, event="action_applied", detail={"action": 7})
    assert numbers(page.get("/audit/?batch=bulk:1")) == [2, 1]
    assert numbers(page.get("/audit/?action=7")) == [4, 1]
    assert "?batch=bulk%3A1" in page.get("/audit/1/").content.decode()
    assert page.get("/audit/?action=x").status_code == 400


def test_the_export_as_one_json_document_holds_the_same_events(page: Client, ines: User) -> None:
    assert json.loads(text_of(page.get("/audit/export.json?event=muted"))) == []
    add(3, ines)
    lines = [json.loads(line) for line in text_of(page.get("/audit/export.jsonl")).splitlines()]
    assert json.loads(text_of(page.get("/audit/export.json"))) == lines
