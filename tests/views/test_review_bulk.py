"""Decisions on many actions: exactly on those that were shown, with what is left out and why, and a result for each."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from stores.mirror.importing import import_store
from stores.models import LifecycleAction, Review, Store, User, Worker
from stores.review import bulk
from stores.review.submitting import Proposer
from tests.factories import PASSWORD, make_user
from tests.lifecycle.cases import action as proposal
from tests.memory_folders import make_project
from tests.mirror.images import register
from tests.phase_memory_folders import Record, node, put
from tests.review.conftest import data_folder
from tests.review.queues import AGENT, imported, queued, reviewer
from tests.views.parsing import assert_harmless, elements, text
from tests.views.queue_scenes import made_actions

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_folder")]
__all__ = ["data_folder"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Give a store of fourteen nodes whose worker is alive."""
    made, root = imported(tmp_path)
    for number in range(14):
        put(root, "node", _node(number))
    import_store(made)
    Worker.objects.update(seen_at=timezone.now(), stopped_at=None)
    return made


def _node(number: int) -> Record:
    return node(f"node.{number}", text=f"Note {number}", policy={"labels": ["local", "draft"]})


def propose(store: Store, numbers: range, verb: str = "transition_phase", proposer: Proposer = AGENT) -> list[LifecycleAction]:
    """Queue one action for each node."""
    more = {"from_phase": "fluid", "to_phase": "stabilized"} if verb == "transition_phase" else {"to_state": "delete_requested"}
    return [queued(store, proposal(verb, _node(number), **more), proposer) for number in numbers]


def form_of(client: Client, address: str) -> dict[str, str]:
    """Give what the form of a confirm page carries."""
    response = client.get(address)
    assert response.status_code == 200
    names = ("decision", "digest", "count", "members", "shown")
    return {
        attributes["name"]: attributes.get("value", "")
        for tag, attributes in elements(response)
        if tag == "input" and attributes.get("name") in names
    }


def states(*actions: LifecycleAction) -> list[str]:
    """Give where actions stand now."""
    found = dict(LifecycleAction.objects.values_list("pk", "state"))
    return [found[one.pk] for one in actions]


ALL = "/review/bulk/?decision=approve&every=1"


def test_what_is_shown_is_decided_and_each_action_has_its_result(client: Client, ana: User, store: Store) -> None:
    actions = propose(store, range(3))
    page = client.get(ALL)
    assert "Approve 3 actions: change of phase" in text(page)
    assert_harmless(page)
    answer = client.post(ALL, {**form_of(client, ALL), "reason": "They held"})
    assert answer.status_code == 302 and states(*actions) == ["approved"] * 3
    batch = Review.objects.values_list("batch_id", flat=True).first() or ""
    assert answer.headers["Location"] == f"/review/batches/{batch}/"
    result = client.get(answer.headers["Location"])
    assert "3 approved" in text(result) and "Every action of the batch was decided" in text(result)
    assert {f"/review/{one.pk}/" for one in actions} <= {attributes.get("href") for _, attributes in elements(result)}
    assert {review.reason for review in Review.objects.all()} == {"They held"}


def test_a_batch_is_withdrawn_while_nothing_is_written(client: Client, ana: User, store: Store) -> None:
    actions = propose(store, range(2))
    result = client.post(ALL, form_of(client, ALL)).headers["Location"]
    LifecycleAction.objects.filter(pk=actions[0].pk).update(state="applying")
    assert "Withdraw 1 approval of this batch" in text(client.get(result))
    client.post(f"{result}withdraw/")
    assert states(*actions) == ["applying", "withdrawn"]
    assert client.post(f"{result}withdraw/").status_code == 409


def test_one_action_more_or_less_decides_nothing_and_is_named(client: Client, ana: User, store: Store) -> None:
    first, second = propose(store, range(2))
    body = form_of(client, ALL)
    (third,) = propose(store, range(2, 3))
    LifecycleAction.objects.filter(pk=first.pk).update(state="withdrawn")
    seen = body["members"].replace(f"{second.pk}:{second.digest.removeprefix('sha256:')[:12]}", f"{second.pk}:{'9' * 12}")
    answer = client.post(ALL, {**body, "members": seen, "reason": "typed with care"})
    said = text(answer)
    assert answer.status_code == 409 and "typed with care" in said
    assert "1 added" in said and "1 removed" in said and "1 changed" in said
    assert all(f"#{one.pk}" in said for one in (first, second, third))
    assert not Review.objects.exists()


def test_narrowing_the_filter_after_the_page_was_shown_decides_nothing_else(client: Client, ana: User, store: Store) -> None:
    propose(store, range(2))
    body = form_of(client, ALL)
    narrowed = f"{ALL}&verb=merge"
    assert client.post(narrowed, body).status_code == 409
    assert not Review.objects.exists()


def test_what_cannot_be_decided_is_left_out_with_the_reason(client: Client, ana: User, store: Store) -> None:
    fine = propose(store, range(2))
    (mine,) = propose(store, range(2, 3), proposer=Proposer("ana", "page", "page", ana))
    (secret,) = propose(store, range(3, 4))
    LifecycleAction.objects.filter(pk=secret.pk).update(adds_secret=True)
    (stale,) = propose(store, range(4, 5))
    (other,) = propose(store, range(5, 6), "request_delete")
    root = Path(store.path)
    put(root, "node", {**_node(4), "text": "Somebody wrote here"})
    import_store(store)
    said = text(client.get(ALL))
    assert "Approve 2 actions" in said
    for words in (
        "1 You proposed them; another reviewer has to decide",
        "1 They would write something that looks like a secret",
        "1 Stale: a target changed after the proposal",
        "1 Another action, or another kind of store: decided apart",
    ):
        assert words in said, words
    client.post(ALL, form_of(client, ALL))
    assert states(*fine, mine, secret, stale, other) == ["approved", "approved", "pending", "pending", "pending", "pending"]


def test_from_ten_on_the_phrase_is_typed(client: Client, ana: User, store: Store) -> None:
    actions = propose(store, range(10))
    body = form_of(client, ALL)
    assert "Type approve 10 to confirm" in text(client.get(ALL))
    assert client.post(ALL, body).status_code == 400
    assert client.post(ALL, {**body, "phrase": "approve 11"}).status_code == 400
    assert client.post(ALL, {**body, "phrase": "approve 10"}).status_code == 302
    assert states(*actions) == ["approved"] * 10


def test_what_takes_something_away_shows_every_effect_and_asks_for_phrase_and_password(client: Client, ana: User, store: Store) -> None:
    actions = propose(store, range(2), "request_delete")
    page = text(client.get(ALL))
    assert all(f"nodes/node.{number}.json" in page for number in range(2)) and "delete_requested" in page
    body = {**form_of(client, ALL), "phrase": "approve 2"}
    assert client.post(ALL, {**form_of(client, ALL), "password": PASSWORD}).status_code == 400
    assert client.post(ALL, body).status_code in (302, 403)
    assert client.post(ALL, {**body, "password": "wrong"}).status_code == 403
    assert states(*actions) == ["pending"] * 2
    assert client.post(ALL, {**body, "password": PASSWORD}).status_code == 302
    assert states(*actions) == ["approved"] * 2


def test_guessing_the_password_of_a_bulk_decision_is_throttled_like_a_sign_in(client: Client, ana: User, store: Store) -> None:
    actions = propose(store, range(2), "request_delete")
    body = {**form_of(client, ALL), "phrase": "approve 2"}
    answers = [client.post(ALL, {**body, "password": f"guess {number}"}).status_code for number in range(9)]
    assert answers[0] == 403 and answers[-1] == 429
    assert client.post(ALL, {**body, "password": PASSWORD}).status_code == 429
    assert states(*actions) == ["pending"] * 2


def test_more_than_twenty_five_that_take_something_away_are_decided_singly(client: Client, ana: User, store: Store) -> None:
    made_actions(store, range(100, 126), verb="request_delete", destructive=True)
    said = text(client.get("/review/bulk/?decision=reject&every=1"))
    assert "Reject 26 actions" in said
    LifecycleAction.objects.update(state="pending")
    answer = client.get(ALL)
    assert "disabled" in next(
        attributes
        for tag, attributes in elements(answer)
        if tag == "button" and attributes.get("type") == "button" and "disabled" in attributes
    )


def test_what_is_not_shown_whole_is_not_approved_at_once(client: Client, ana: User, tmp_path: Path) -> None:
    memory = make_project(tmp_path.resolve(), "shop-api", decisions=1)
    broken = [f"broken {number}".encode() for number in range(310)]
    with (memory / "decisions.jsonl").open("ab") as log:
        log.write(b"".join(line + b"\n" for line in broken))
    store = register(memory)
    import_store(store)
    store.refresh_from_db()
    ids = [hashlib.sha256(line).hexdigest() for line in broken]
    record = {
        "action": "set_aside_lines",
        "target_type": "line",
        "target_ids": ids,
        "parameters": {"file": "decisions.jsonl"},
        "reason": "x",
    }
    action = queued(store, record)
    Worker.objects.update(seen_at=timezone.now())
    said = text(client.get("/review/bulk/?decision=approve&every=1"))
    assert f"The change of #{action.pk} is too large to be shown whole here" in said
    members = [(action.pk, action.digest)]
    body = {
        **{"decision": "approve", "digest": bulk.set_digest(members), "count": "1", "members": "", "shown": "x"},
        **{"phrase": "approve 1", "password": PASSWORD, "reason": "all of it"},
    }
    assert client.post("/review/bulk/?decision=approve&every=1", body).status_code in (400, 409)
    assert states(action) == ["pending"]


def test_without_a_sign_of_life_of_the_worker_nothing_is_decided_at_once(client: Client, ana: User, store: Store) -> None:
    actions = propose(store, range(2))
    body = form_of(client, ALL)
    Worker.objects.update(seen_at=timezone.now() - timedelta(minutes=3))
    page = client.get(ALL)
    assert "2 Their worker gives no sign of life" in text(page) and "silent since" in text(page)
    assert client.post(ALL, body).status_code == 409
    assert states(*actions) == ["pending"] * 2


def test_only_what_is_picked_is_decided(client: Client, ana: User, store: Store) -> None:
    one, two, three = propose(store, range(3))
    address = f"/review/bulk/?decision=reject&pick={one.pk}&pick={three.pk}"
    body = form_of(client, address)
    assert client.post(address, body).status_code == 400, "a rejection needs a reason"
    assert client.post(address, {**body, "reason": "Still needed"}).status_code == 302
    assert states(one, two, three) == ["rejected", "pending", "rejected"]


def test_many_are_assigned_at_once(client: Client, ana: User, store: Store) -> None:
    actions = propose(store, range(3))
    tom = reviewer("tom")
    address = "/review/bulk/?decision=assign&every=1"
    assert "Assign 3 actions" in text(client.get(address))
    assert client.post(address, {"to": "tom"}).status_code == 302
    assert set(LifecycleAction.objects.values_list("assigned_to", flat=True)) == {tom.pk}
    assert client.post(address, {"to": "nobody-like-this"}).status_code == 400
    assert len(actions) == 3


def test_an_operator_lets_many_be_applied(client: Client, store: Store) -> None:
    client.force_login(make_user("olga", groups=("operator",)))
    actions = [queued(store, proposal("archive", _node(number), to_state="archived")) for number in range(2)]
    address = "/review/bulk/?decision=apply&every=1"
    assert client.post(address, form_of(client, address)).status_code == 302
    assert all(one.apply_asked_at is not None for one in LifecycleAction.objects.filter(pk__in=[one.pk for one in actions]))


@pytest.mark.parametrize(
    ("groups", "decision"),
    [(("viewer",), "approve"), (("operator",), "approve"), (("operator",), "reject"), (("reviewer",), "apply"), (("viewer",), "assign")],
)
def test_who_may_not_decide_sees_no_confirm_page(client: Client, store: Store, groups: tuple[str, ...], decision: str) -> None:
    actions = propose(store, range(1))
    client.force_login(make_user("someone", groups=groups))
    address = f"/review/bulk/?decision={decision}&every=1"
    assert client.get(address).status_code == 403
    assert client.post(address, {"decision": decision}).status_code == 403
    assert states(*actions) == ["pending"]


@pytest.mark.parametrize("forged", [{}, {"digest": "0" * 64, "count": "1", "decision": "approve"}, {"digest": "x", "count": "-1"}])
def test_forms_that_were_not_shown_decide_nothing(client: Client, ana: User, store: Store, forged: dict[str, Any]) -> None:
    actions = propose(store, range(1))
    assert client.post(ALL, forged).status_code in (400, 409)
    assert client.get("/review/bulk/?decision=destroy").status_code == 400
    assert states(*actions) == ["pending"]


def test_a_batch_of_others_stores_is_not_shown(client: Client, ana: User, store: Store) -> None:
    propose(store, range(1))
    result = client.post(ALL, form_of(client, ALL)).headers["Location"]
    store.groups.create(name="leads")
    client.force_login(reviewer("tom"))
    assert client.get(result).status_code == 404
    assert client.get("/review/batches/bulk:none/").status_code == 404
