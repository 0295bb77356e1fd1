"""The list of the review queue: tabs, folds, filters, order, what is new, exports, the four nothings."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from stores.models import LifecycleAction, Snooze, User
from tests.factories import make_store, make_user
from tests.views.parsing import assert_harmless, elements, text
from tests.views.queue_scenes import made_action, made_actions

pytestmark = pytest.mark.django_db
ALIKE = "ab" * 32
HTMX = {"HX-Request": "true", "HX-Target": "list"}


def rows(client: Client, address: str = "/review/") -> list[int]:
    """Give the keys of the rows of a list, in their order."""
    response = client.get(address)
    assert response.status_code == 200
    return [int(attributes["data-row"]) for _, attributes in elements(response) if "data-row" in attributes]


def streamed(response: Any) -> str:
    """Give the text of a download."""
    return b"".join(response.streaming_content).decode()


def tab_counts(client: Client) -> dict[str, int]:
    """Give the number beside each tab."""
    said = re.search(r"Mine ?(\d+) All ?(\d+) Overdue ?(\d+) Stale ?(\d+) Cannot apply ?(\d+) Decided", text(client.get("/review/")))
    assert said is not None
    return dict(zip(("mine", "all", "overdue", "stale", "blocked"), map(int, said.groups()), strict=True))


def test_what_is_overdue_comes_first_then_what_is_at_stake_then_age(client: Client, ana: User) -> None:
    store, now = make_store("atlas"), timezone.now()
    young = made_action(store, 1, tier="high", created_at=now)
    old = made_action(store, 2, tier="high", created_at=now - timedelta(hours=5))
    low = made_action(store, 3, tier="low", created_at=now - timedelta(days=2))
    late = made_action(store, 4, tier="low", due_at=now - timedelta(hours=1))
    assert rows(client) == [late.pk, old.pk, young.pk, low.pk]
    assert rows(client, "/review/?sort=risk") == [young.pk, old.pk, late.pk, low.pk]
    assert rows(client, "/review/?sort=oldest") == [low.pk, old.pk, young.pk, late.pk]
    assert rows(client, "/review/?sort=newest&singly=1")[-1] == low.pk


def test_each_tab_holds_as_many_as_it_says(client: Client, ana: User) -> None:
    store, now = make_store("atlas"), timezone.now()
    made_action(store, 1, assigned_to=ana)
    made_action(store, 2, due_at=now - timedelta(days=1))
    made_action(store, 3, state="stale", closed_at=now)
    made_action(store, 4, state="stale", closed_at=now - timedelta(days=200))
    made_action(store, 5, state="failed", reason_code="io_error")
    made_action(store, 6, state="approved", reason_code="store_blocked")
    made_action(store, 7, state="ready")
    made_action(store, 8, adds_secret=True)
    made_action(store, 9, state="applied", closed_at=now)
    renewed = made_action(store, 10, state="stale", closed_at=now)
    made_action(store, 11, renewed_from=renewed)
    counts = tab_counts(client)
    assert counts == {"mine": 1, "all": 6, "overdue": 1, "stale": 1, "blocked": 3}
    assert {tab: len(rows(client, f"/review/?tab={tab}&singly=1")) for tab in counts} == counts
    assert len(rows(client, "/review/?tab=decided")) == 4


def test_alike_actions_stand_in_one_row_that_opens_the_group(client: Client, ana: User) -> None:
    store = make_store("atlas")
    alike = made_actions(store, range(4), alike=ALIKE, verb="archive")
    ready = made_action(store, 9, alike=ALIKE, verb="archive", state="ready")
    other = made_action(store, 10)
    assert rows(client) == [alike[0].pk, ready.pk, other.pk]
    response = client.get("/review/")
    assert "×4 alike" in text(response) and "6 actions in 3 rows" in text(response)
    (group,) = [attributes["href"] for tag, attributes in elements(response) if tag == "a" and "alike=" in attributes.get("href", "")]
    assert rows(client, group) == [one.pk for one in alike]
    (box,) = [attributes for _, attributes in elements(response) if attributes.get("name") == "fold"]
    confirm = client.get("/review/bulk/", {"decision": "reject", "fold": box["value"]})
    assert "Reject 4 actions" in text(confirm)


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("verb=merge", {2}),
        ("verb=merge&verb=archive", {2, 3}),
        ("tier=high", {3}),
        ("state=ready", {4}),
        ("state=approved", {5}),
        ("store=harbour", {6}),
        ("proposer=agent+7", {2}),
        ("assigned=me", {3}),
        ("assigned=nobody", {1, 2, 4, 6}),
        ("older=3", {1}),
        ("q=GIST+of+node+2", {2}),
        ("q=because+it", {6}),
        ("q=straße", {4}),
        ("q=node.3", {3}),
        ("verb=merge&tier=high", set()),
    ],
)
def test_filters_and_words_narrow_the_queue(client: Client, ana: User, asked: str, wanted: set[int]) -> None:
    store, other, now = make_store("atlas"), make_store("harbour"), timezone.now()
    made = {
        1: made_action(store, 1, created_at=now - timedelta(days=9)),
        2: made_action(store, 2, verb="merge", proposed_by="agent 7"),
        3: made_action(store, 3, verb="archive", tier="high", assigned_to=ana),
        4: made_action(store, 4, state="ready", gist="Die STRASSE bleibt"),
        5: made_action(store, 5, state="approved"),
        6: made_action(other, 6, reason="Because it was agreed"),
    }
    assert set(rows(client, f"/review/?{asked}")) == {made[number].pk for number in wanted}


def test_a_number_leads_to_its_action(client: Client, ana: User) -> None:
    one, _ = made_actions(make_store(), range(2))
    assert rows(client, f"/review/?q=%23{one.pk}") == [one.pk]
    LifecycleAction.objects.filter(pk=one.pk).update(state="stale", closed_at=timezone.now())
    assert rows(client, f"/review/?q=%23{one.pk}") == [one.pk], "wherever it stands"


def test_the_numbers_beside_a_filter_leave_its_own_choice_out_of_account(client: Client, ana: User) -> None:
    store = make_store("atlas")
    made_actions(store, range(3), verb="archive", tier="low")
    made_actions(store, range(3, 5), verb="merge", tier="high")
    said = text(client.get("/review/?verb=archive"))
    assert re.search(r"Action archive ?3 merge ?2", said)
    assert re.search(r"Risk low ?3 State", said)


def test_what_i_snoozed_is_hidden_from_my_list_only(client: Client, ana: User) -> None:
    one, other = made_actions(make_store(), range(2))
    Snooze.objects.create(action=one, user=ana, until=timezone.now() + timedelta(hours=1))
    Snooze.objects.create(action=other, user=make_user("tom"), until=timezone.now() + timedelta(hours=1))
    assert rows(client) == [other.pk]
    assert rows(client, "/review/?snoozed=1") == [one.pk]
    assert tab_counts(client)["all"] == 1


def test_the_number_of_queries_does_not_grow_with_the_queue(client: Client, ana: User) -> None:
    store = make_store()
    made_actions(store, range(3))

    def queries(address: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert client.get(address).status_code == 200
        return len(captured)

    addresses = ("/review/", "/review/?tab=decided", "/review/?singly=1&verb=supersede")
    client.get("/review/")  # What is noted once a session is noted here.
    few = [queries(address) for address in addresses]
    made_actions(store, range(3, 303))
    made_actions(store, range(303, 603), alike=ALIKE, state="applied", closed_at=timezone.now())
    assert [queries(address) for address in addresses] == few
    assert max(few) <= 12


def test_pages_hold_every_row_once(client: Client, ana: User) -> None:
    made = made_actions(make_store(), range(120))
    seen = [pk for page in (1, 2, 3) for pk in rows(client, f"/review/?page={page}")]
    assert sorted(seen) == [one.pk for one in made]
    assert rows(client, "/review/?page=99") == rows(client, "/review/?page=3")


def test_new_actions_are_told_and_nothing_while_there_are_none(client: Client, ana: User) -> None:
    store = make_store()
    first = made_action(store, 1)
    (poll,) = [attributes["hx-get"] for _, attributes in elements(client.get("/review/?verb=supersede")) if attributes.get("id") == "newer"]
    assert f"since={first.pk}" in poll
    assert client.get(poll, headers=HTMX).status_code == 204
    made_action(store, 2)
    made_action(store, 3, verb="archive")
    told = client.get(poll, headers=HTMX)
    assert told.status_code == 200 and "1 new since you opened" in text(told)
    again = next(attributes["hx-get"] for _, attributes in elements(told) if "hx-get" in attributes)
    assert client.get(again, headers=HTMX).status_code == 204


def test_the_list_alone_is_the_same_text_as_in_the_page(client: Client, ana: User) -> None:
    made_action(make_store(), 1)
    part = client.get("/review/", headers=HTMX).content.decode()
    assert 'id="list"' in part and "<html" not in part
    assert "Gist of node 1" in part


def test_an_export_holds_all_that_fits_safe_to_open_and_masked(client: Client, ana: User) -> None:
    store = make_store("atlas")
    made_action(store, 1, gist="=HYPERLINK(1)", reason="password = Sup3rS3cretValue99")
    made_action(store, 2, verb="archive")
    answered = client.get("/review/export.csv?verb=supersede")
    lines = list(csv.DictReader(io.StringIO(streamed(answered))))
    assert [line["gist"] for line in lines] == ["'=HYPERLINK(1)"]
    assert "Sup3rS3cret" not in lines[0]["reason"]
    documents = json.loads(streamed(client.get("/review/export.json")))
    assert {one["action"] for one in documents} == {"supersede", "archive"}
    assert client.get("/review/export.xlsx").status_code == 404


def test_each_of_the_nothings_says_which_it_is(client: Client, ana: User) -> None:
    assert "No store for your eyes" in text(client.get("/review/"))
    store = make_store()
    assert "Nothing was ever proposed" in text(client.get("/review/"))
    done = made_action(store, 1, state="applied", closed_at=timezone.now(), requires_review=False)
    said = text(client.get("/review/"))
    assert "Nothing waits for you" in said and "1 applied without review" in said
    LifecycleAction.objects.filter(pk=done.pk).update(state="pending", closed_at=None)
    filtered = text(client.get("/review/?verb=merge"))
    assert "No action matches" in filtered and "none of 1 action" in filtered
    assert "Nothing is overdue" in text(client.get("/review/?tab=overdue"))


@pytest.mark.parametrize(
    ("groups", "boxes", "buttons"),
    [(("viewer",), 0, []), (("reviewer",), 1, ["approve", "reject", "assign"]), (("operator",), 1, ["apply"])],
)
def test_only_who_may_decide_selects(client: Client, groups: tuple[str, ...], boxes: int, buttons: list[str]) -> None:
    made_action(make_store(), 1)
    client.force_login(make_user("someone", groups=groups))
    found = elements(client.get("/review/"))
    assert sum(attributes.get("name") == "pick" for _, attributes in found) == boxes
    assert [attributes["value"] for _, attributes in found if attributes.get("name") == "decision"] == buttons


def test_actions_of_stores_that_are_not_for_my_eyes_are_nowhere(client: Client, ana: User) -> None:
    hidden = make_store("vault", groups=("leads",))
    action = made_action(hidden, 1, gist="The vault is in the cellar")
    shown = [client.get(address) for address in ("/review/", "/review/?singly=1", "/review/?tab=decided", "/review/newer/?since=0")]
    shown.append(client.get("/review/bulk/?decision=approve&every=1"))
    assert not any("cellar" in text(answer) or "vault" in text(answer) for answer in shown)
    assert "No action matches" in text(client.get("/review/?q=cellar"))
    assert json.loads(streamed(client.get("/review/export.json"))) == []
    assert client.get(f"/review/{action.pk}/").status_code == 404


def test_nobody_who_is_not_signed_in_sees_the_queue(client: Client) -> None:
    action = made_action(make_store(), 1)
    for address in ("/review/", "/review/bulk/?decision=approve", f"/review/{action.pk}/", "/review/newer/", "/review/export.csv"):
        assert client.get(address).headers["Location"].startswith("/sign-in/"), address


def test_single_keys_are_turned_off_from_the_sheet_and_the_page_stays(client: Client, ana: User) -> None:
    def is_off() -> bool:
        return any("data-keys-off" in attributes for _, attributes in elements(client.get("/review/")))

    assert not is_off()
    form = next(one for tag, one in elements(client.get("/review/?tab=all")) if tag == "form" and one.get("action") == "/account/keys/")
    assert form["method"] == "post"
    then = [one["value"] for _, one in elements(client.get("/review/?tab=all")) if one.get("name") == "next"]
    assert "/review/?tab=all" in then
    assert client.post("/account/keys/", {"keys": "off", "next": "/review/?tab=all"}).headers["Location"] == "/review/?tab=all"
    assert is_off()
    assert client.post("/account/keys/", {"keys": "on", "next": "//elsewhere.example/"}).headers["Location"] == "/account/"
    assert not is_off()


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", "\u202egnp.exe", "a\u200bb", '"><img src=x onerror=alert(1)>', "{{ 7*7 }}"]
)
def test_hostile_texts_are_harmless_in_the_list(client: Client, ana: User, hostile: str) -> None:
    made_action(make_store(), 1, gist=hostile, first_target=hostile, proposed_by=hostile, reason=hostile, message=hostile)
    response = client.get("/review/")
    assert_harmless(response)
    body = response.content.decode()
    assert "\u202e" not in text(response) and "\u200b" not in text(response) and "<img" not in body
    assert_harmless(client.get("/review/", {"q": hostile, "proposer": hostile}))


def test_a_view_of_the_queue_is_kept_and_comes_back(client: Client, ana: User) -> None:
    merge, _ = made_action(make_store("atlas"), 1, verb="merge"), made_action(make_store(), 2)
    kept = {"section": "review", "name": "Merges of atlas", "query": "verb=merge&store=atlas&colour=red&page=7"}
    answer = client.post("/views/save/", kept)
    assert answer.headers["Location"] == "/review/?verb=merge&store=atlas"
    menu = client.get("/views/review/?verb=merge")
    assert "Merges of atlas" in text(menu)
    (address,) = [attributes["href"] for tag, attributes in elements(menu) if tag == "a" and "store=atlas" in attributes.get("href", "")]
    assert rows(client, address) == [merge.pk]
