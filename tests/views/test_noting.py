"""Pages on which people note something beside records, lists narrowed by it, and what exports and the API say of it."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from stores import accounts
from stores.lists.specs import DECISIONS, PROBLEMS, ListSpec
from stores.models import Decision, MirroredRecord, RecordNote, User
from stores.noting import note_decision, note_of, note_problem, supersede
from tests.factories import AT, make_decision, make_problem, make_store, make_user
from tests.lists.rows import fill
from tests.views.parsing import assert_harmless, elements, text

pytestmark = pytest.mark.django_db
HOSTILE = "<img src=x onerror=alert(1)> \u202e {{ 7|add:7 }} \"' password=hunter2secret"
SECRET = "hunter2secret"
TODAY = timezone.now().date()


@pytest.fixture
def rita() -> User:
    return make_user("rita", groups=["reviewer"])


@pytest.fixture
def page(rita: User) -> Client:
    return client_of(rita)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    client.get("/account/")  # the first use of a session is written down
    return client


def _titles(response: Any) -> list[str]:
    content = response.content.decode()
    return [part.partition("</a>")[0].rpartition("<bdi>")[2].partition("<")[0] for part in content.split('class="row-link"')[1:]]


def test_a_reviewer_notes_owner_due_day_and_text_on_the_problem_s_page(page: Client, rita: User) -> None:
    problem = make_problem(make_store("shop-api"))
    address = f"/problems/{problem.pk}/"
    assert 'action="/problems/' in page.get(address).content.decode()
    given = {"owner": "rita", "due_on": (TODAY + timedelta(days=3)).isoformat(), "note": "ask the\nvendor", "revision": "0"}
    answer = page.post(f"{address}note/", given, follow=True)
    assert answer.redirect_chain == [(address, 302)]
    said = text(answer)
    assert "in 3 d" in said
    assert "vendor" in said
    note = note_of(problem)
    assert note is not None
    assert (note.owner, note.due_on, note.note) == (rita, TODAY + timedelta(days=3), "ask the\nvendor")
    assert {element[1].get("value") for element in elements(answer) if element[1].get("name") == "revision"} == {"1"}


@pytest.mark.parametrize("groups", [("viewer",), ("operator",)])
def test_others_see_what_is_noted_and_no_form(rita: User, groups: tuple[str, ...]) -> None:
    store = make_store("shop-api")
    problem, decision = make_problem(store), make_decision(store)
    note_problem(rita, problem, owner=rita, due_on=TODAY, note="ask the vendor", revision=0)
    note_decision(rita, decision, standing="retired", tags=["db"], note="too slow", revision=0)
    client = client_of(make_user("walker", groups=groups))
    for address, said in ((f"/problems/{problem.pk}/", "ask the vendor"), (f"/decisions/{decision.pk}/", "too slow")):
        answer = client.get(address)
        assert said in text(answer)
        assert "note/" not in answer.content.decode()
        assert client.post(f"{address}note/", {"revision": "1", "note": "x", "standing": "current"}).status_code == 403
    assert client.get(f"/decisions/{decision.pk}/successor/").status_code == 403


def test_what_was_typed_is_kept_where_a_note_is_refused(page: Client, rita: User) -> None:
    problem = make_problem(make_store())
    address = f"/problems/{problem.pk}/note/"
    wrong = page.post(address, {"owner": "nobody-known", "due_on": "soon", "note": "mine", "revision": "0"})
    assert wrong.status_code == 422
    assert "mine" in text(wrong)
    note_problem(make_user("sven", groups=["reviewer"]), problem, owner=None, due_on=None, note="first", revision=0)
    late = page.post(address, {"owner": "", "due_on": "", "note": "mine", "revision": "0"})
    assert late.status_code == 409
    assert "changed by sven" in text(late)
    assert "mine" in text(late)


def test_the_decision_that_took_another_s_place_is_found_by_words_of_its_store(page: Client) -> None:
    store, other = make_store("shop-api"), make_store("elsewhere")
    old, new = fill(DECISIONS, store, [{"title": "use offset pagination"}, {"title": "use cursor pagination"}])
    fill(DECISIONS, other, [{"title": "use cursor somewhere else"}])
    address = f"/decisions/{old.pk}/successor/"
    found = page.get(f"{address}?q=cursor")
    assert "use cursor pagination" in text(found)
    assert "somewhere else" not in text(found)
    answer = page.post(address, {"by": str(new.pk)}, follow=True)
    assert answer.redirect_chain == [(f"/decisions/{old.pk}/", 302)]
    assert "superseded" in answer.content.decode().partition('class="under-title"')[2].partition("</p>")[0]
    for record in (old, new):
        chain = page.get(f"/decisions/{record.pk}/").content.decode().partition('<ol class="chain"')[2].partition("</ol>")[0]
        assert chain.count("<li>") == 2
        other_one = new if record is old else old
        assert f'href="/decisions/{other_one.pk}/"' in chain
    for by in ("", "x", "999999", str(old.pk)):
        assert page.post(address, {"by": by}).status_code in (400, 404)
    assert page.post(f"/decisions/{new.pk}/successor/", {"by": str(old.pk)}).status_code == 400


def test_a_chain_is_shown_from_the_oldest_to_the_present_one(page: Client, rita: User) -> None:
    chain = fill(DECISIONS, make_store(), [{"title": f"step {n}"} for n in range(5)])
    for old, new in ((3, 4), (0, 1), (2, 3), (1, 2)):
        supersede(rita, _decision(chain[old]), _decision(chain[new]))
    shown = page.get(f"/decisions/{chain[2].pk}/").content.decode().partition('<ol class="chain"')[2].partition("</ol>")[0]
    places = [shown.index(f"/decisions/{chain[n].pk}/") for n in (0, 1, 3, 4)]
    assert places == sorted(places)
    assert places[1] < shown.index("this one") < places[2]


def _decision(record: MirroredRecord) -> Decision:
    assert isinstance(record, Decision)
    return record


def test_lists_are_narrowed_by_owner_due_day_standing_and_tags(page: Client, rita: User) -> None:
    store = make_store("shop-api")
    mine, theirs, solved = (
        make_problem(store, word, status=status) for word, status in (("mine", "open"), ("theirs", "open"), ("done", "solved"))
    )
    make_problem(store, "nobody's")
    sven = make_user("sven", groups=["viewer"])
    note_problem(rita, mine, owner=rita, due_on=TODAY - timedelta(days=1), note="", revision=0)
    note_problem(rita, theirs, owner=sven, due_on=TODAY, note="", revision=0)
    note_problem(rita, solved, owner=rita, due_on=TODAY - timedelta(days=1), note="", revision=0)
    assert sorted(_titles(page.get("/problems/"))) == ["mine", "nobody&#x27;s", "theirs"]
    assert _titles(page.get("/problems/?owner=me")) == ["mine"]
    assert _titles(page.get("/problems/?owner=sven")) == ["theirs"]
    assert sorted(_titles(page.get("/problems/?owner=me&owner=sven"))) == ["mine", "theirs"]
    assert sorted(_titles(page.get("/problems/?owner=me&all=1"))) == ["done", "mine"]
    assert _titles(page.get("/problems/?due=overdue&all=1")) == ["mine"]
    assert _titles(page.get("/problems/?due=soon")) == ["theirs"]
    assert _titles(page.get("/problems/?due=overdue&owner=sven")) == []
    old, new, tagged = (make_decision(store, f"use {word}") for word in ("offsets", "cursors", "redis"))
    supersede(rita, old, new)
    note_decision(rita, tagged, standing="retired", tags=["db", "cache"], note="", revision=0)
    assert _titles(page.get("/decisions/?standing=superseded")) == ["use offsets"]
    assert sorted(_titles(page.get("/decisions/?standing=superseded&standing=retired"))) == ["use offsets", "use redis"]
    assert _titles(page.get("/decisions/?tag=db&tag=other")) == ["use redis"]
    assert _titles(page.get("/decisions/?tag=db&standing=superseded")) == []
    assert _titles(page.get("/decisions/?tag=db&category=never")) == []


def test_a_standing_that_is_not_the_usual_one_is_told_once_beside_its_decision(page: Client, rita: User) -> None:
    store = make_store("shop-api")
    old, new, tagged = (make_decision(store, f"use {word}") for word in ("offsets", "cursors", "redis"))
    supersede(rita, old, new)
    note_decision(rita, tagged, standing="retired", tags=[], note="", revision=0)
    for address, words in (
        ("/decisions/", {"superseded": 1, "retired": 1}),
        ("/decisions/?cols=standing", {"superseded": 1, "retired": 1, "current": 1}),
    ):
        body = text(page.get(address)).partition("When")[2]
        assert {word: body.count(word) for word in words} == words


def counts(client: Client, address: str, name: str) -> dict[str, str]:
    """Give the numbers of a facet's values."""
    content = client.get(address).content.decode()
    found = {}
    for label in content.split("<label>")[1:]:
        if f'name="{name}"' in label:
            value = label.partition('value="')[2].partition('"')[0]
            found[value] = label.partition('class="count">')[2].partition("<")[0]
    return found


def test_facets_count_what_is_noted(page: Client, rita: User) -> None:
    store, other = make_store("shop-api"), make_store("other")
    for n in range(3):
        note_decision(
            rita, make_decision(store, f"use {n}", category="db"), standing="retired", tags=["a", "b"][: n + 1], note="", revision=0
        )
    note_decision(rita, make_decision(other, "use 9", category="api"), standing="current", tags=["a"], note="", revision=0)
    make_decision(store, "use 10")
    gone = make_decision(store, "gone", gone_at=AT)
    note_decision(rita, gone, standing="retired", tags=["a"], note="", revision=0)
    assert counts(page, "/decisions/", "tag") == {"a": "4", "b": "2"}
    assert counts(page, "/decisions/", "standing") == {"retired": "3"}
    assert counts(page, "/decisions/?category=db", "tag") == {"a": "3", "b": "2"}
    assert counts(page, "/decisions/?store=other", "tag") == {"a": "1"}
    assert counts(page, "/decisions/?standing=retired", "tag") == {"a": "3", "b": "2"}
    assert counts(page, "/decisions/?standing=retired", "category") == {"db": "3"}
    assert counts(page, "/decisions/?tag=b", "standing") == {"retired": "2"}
    assert counts(page, "/decisions/?gone=1", "tag") == {"a": "1"}


LISTS = pytest.mark.parametrize("spec", [DECISIONS, PROBLEMS], ids=lambda spec: spec.section)


@LISTS
def test_a_list_with_notes_asks_as_often_for_3_records_as_for_300_and_at_most_12_times(page: Client, rita: User, spec: ListSpec) -> None:
    store = make_store("one")
    asked = []
    for size in (3, 297):
        made = fill(spec, store, [{spec.facets[0].column: "open", "title": "record"} for _ in range(size)])
        _note_all(rita, made)
        counted = []
        for question in (
            "?all=1",
            "?all=1&owner=me&tag=db",
            "?all=1&owner=me&tag=db&q=record",
            f"?{spec.facets[0].column}=open",
            "?q=record&all=1",
        ):
            with CaptureQueriesContext(connection) as queries:
                assert page.get(f"/{spec.section}/{question}").status_code == 200
            counted.append(len(queries))
        asked.append(counted)
    assert asked[0] == asked[1]
    assert max(asked[0]) <= 12


def _note_all(user: User, records: list[MirroredRecord]) -> None:
    RecordNote.objects.bulk_create(
        RecordNote(
            store=one.store, store_uid=one.store.uid, record_type=one.record_type, path="x", key=one.key, ordinal=0,
            record_id=one.pk, owner=user, due_on=TODAY, standing="retired", tags=["db"], revision=1,
        )
        for one in records
    )  # fmt: skip


@LISTS
def test_exports_and_the_api_carry_what_is_noted(page: Client, rita: User, spec: ListSpec) -> None:
    store = make_store("shop-api")
    wanted: dict[str, Any]
    if spec is PROBLEMS:
        problem = make_problem(store)
        note_problem(rita, problem, owner=rita, due_on=TODAY - timedelta(days=1), note="ask password=hunter2secret", revision=0)
        wanted = {"owner": "rita", "due_on": (TODAY - timedelta(days=1)).isoformat(), "overdue": True}
        address = f"/api/v1/problems/{problem.pk}/"
    else:
        old, new = make_decision(store, "use offsets"), make_decision(store, "use cursors")
        supersede(rita, old, new)
        note_decision(rita, old, standing="superseded", tags=["db", "=1+1"], note="password=hunter2secret", revision=1)
        wanted = {"standing": "superseded", "superseded_by": new.natural_id, "superseded_by_id": new.pk, "tags": ["db", "=1+1"]}
        address = f"/api/v1/decisions/{old.pk}/"
    token = accounts.make_token(rita, "test", "read", 1)[1]
    api = Client(headers={"Authorization": f"Bearer {token}"})
    narrowed = "?owner=me" if spec is PROBLEMS else "?standing=superseded"
    listed = api.get(f"/api/v1/{spec.section}/{narrowed}").json()
    exported = b"".join(page.get(f"/{spec.section}/export.jsonl{narrowed}")).decode()
    assert listed["count"] == 1
    for document in (api.get(address).json(), listed["items"][0], json.loads(exported)):
        assert {name: document[name] for name in wanted} == wanted
        assert SECRET not in json.dumps(document)
        assert "password=" in document["note"]
    sheet = b"".join(page.get(f"/{spec.section}/export.csv{narrowed}")).decode()
    (line,) = csv.DictReader(io.StringIO(sheet))
    assert SECRET not in sheet
    if spec is DECISIONS:
        assert line["tags"] == "db, =1+1"
    else:
        assert (line["owner"], line["overdue"]) == ("rita", "true")


def test_hostile_and_secret_notes_are_shown_harmless(page: Client, rita: User) -> None:
    store = make_store("shop-api")
    problem, decision = make_problem(store), make_decision(store)
    nasty = make_user("nasty", groups=["reviewer"], first_name='"><script>alert(1)</script>')
    note_problem(nasty, problem, owner=nasty, due_on=TODAY, note=HOSTILE, revision=0)
    note_decision(nasty, decision, standing="retired", tags=["<b onclick=x>", "password=hunter2secret"], note=HOSTILE, revision=0)
    # As no form would leave them:
    RecordNote.objects.update(note=HOSTILE)
    RecordNote.objects.filter(record_type="decision").update(tags=["<b onclick=x>", "password=hunter2secret", "a\u202eb"])
    cols = "&cols=owner,due,standing,tags"
    for address in (
        f"/problems/{problem.pk}/",
        f"/decisions/{decision.pk}/",
        f"/problems/?all=1{cols}",
        f"/decisions/?all=1{cols}",
        "/decisions/?tag=%3Cb+onclick%3Dx%3E",
        f"/decisions/{decision.pk}/successor/?q=%3Cimg",
        "/audit/",
    ):
        answer = page.get(address)
        assert answer.status_code == 200, address
        assert_harmless(answer)
        content = answer.content.decode().replace('value="a\u202eb"', "")
        assert "<img src=x" not in content, address
        assert "\u202e" not in content, address
        assert SECRET not in content, address


def test_nothing_of_a_hidden_store_s_notes_is_told(rita: User) -> None:
    hidden = make_store("zebrafish", groups=["platform"])
    inside = make_user("zebra-owner", groups=["reviewer", "platform"])
    problem, decision, after = make_problem(hidden), make_decision(hidden), make_decision(hidden)
    note_problem(inside, problem, owner=inside, due_on=TODAY, note="zebra", revision=0)
    supersede(inside, decision, after)
    note_decision(inside, decision, standing="superseded", tags=["zebra"], note="zebra", revision=1)
    make_problem(make_store("open"))
    make_decision(make_store("open-too"))
    outsider = client_of(rita)
    for address in (
        "/problems/?all=1&cols=owner",
        "/problems/?due=soon",
        "/decisions/",
        "/decisions/?standing=superseded",
        "/decisions/?q=use",
    ):
        assert "zebra" not in outsider.get(address).content.decode(), address
    for address in (f"/problems/{problem.pk}/note/", f"/decisions/{decision.pk}/note/", f"/decisions/{decision.pk}/successor/"):
        assert outsider.post(address, {"note": "x", "revision": "1", "standing": "current", "by": str(after.pk)}).status_code == 404
    assert outsider.get(f"/decisions/{decision.pk}/successor/").status_code == 404
    own = make_decision(make_store("third"))
    assert outsider.post(f"/decisions/{own.pk}/successor/", {"by": str(after.pk)}).status_code == 404
