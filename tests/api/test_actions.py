"""The review queue by the API: who may propose and decide, what a list and an action say, errors as problems."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from stores.accounts import make_token
from stores.mirror.importing import import_store
from stores.models import AuditEvent, LifecycleAction, Review, Store, User
from stores.review import keys, markers
from stores.review.submitting import Proposer
from tests.factories import make_store as make_row
from tests.factories import make_superuser, make_user
from tests.phase_memory_folders import Record, put
from tests.review.queues import NODE, archiving, deletion, imported, promotion, queued, reviewer

pytestmark = pytest.mark.django_db

URL = "/api/v1/actions/"
Send = Callable[..., Any]


@pytest.fixture(autouse=True)
def data_folder(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path.resolve() / "data"
    settings.STORE_ROOTS = (tmp_path.resolve(),)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return imported(tmp_path)[0]


def asking(user: User, scope: str, label: str = "script") -> Client:
    text = make_token(user, label, scope, 1)[1]
    return Client(headers={"Authorization": f"Bearer {text}"}, enforce_csrf_checks=True)


def signed_in(user: User, *, enforce_csrf_checks: bool = True) -> Client:
    client = Client(enforce_csrf_checks=enforce_csrf_checks)
    client.force_login(user)
    return client


def get(client: Client, path: str = "", status: int = 200) -> Any:
    response = client.get(f"{URL}{path}")
    assert response.status_code == status, response.content
    return response.json()


def post(client: Client, path: str, document: object, status: int = 200) -> Any:
    response = client.post(f"{URL}{path}", json.dumps(document), content_type="application/json")
    assert response.status_code == status, response.content
    return response.json()


def propose(client: Client, store: Store, document: object, status: int = 200) -> Any:
    return post(client, f"?store={store.slug}", document, status)


def decide(client: Client, action: LifecycleAction, word: str, status: int = 200, **more: object) -> Any:
    return post(client, f"{action.pk}/{word}", {"digest": action.digest, **more}, status)


def state_of(action: LifecycleAction) -> str:
    return LifecycleAction.objects.get(pk=action.pk).state


# Proposing


def test_an_agent_hands_in_proposals_and_each_is_told_by_itself(store: Store) -> None:
    owner = make_user("ines", groups=("reviewer",))
    agent = asking(owner, "propose", "planner on build-01")
    told = propose(agent, store, [promotion(), {"action": "exec", "target_ids": ["node.a"]}])
    assert [(one["position"], one["code"], one["state"]) for one in told["results"]] == [
        (0, "queued", "pending"),
        (1, "unsupported_action", None),
    ]
    assert (told["refused"], told["counts"]) == (1, {"queued": 1, "unsupported_action": 1})
    row = LifecycleAction.objects.get()
    assert (row.proposed_by, row.origin, row.proposer, row.token.label if row.token else "") == (
        "planner on build-01", "agent", owner, "planner on build-01",
    )  # fmt: skip
    assert set(AuditEvent.objects.filter(event="action_proposed").values_list("actor", "through")) == {(owner.pk, "API")}
    again = propose(agent, store, promotion())
    assert [(one["code"], one["id"]) for one in again["results"]] == [("already_queued", row.pk)]
    assert LifecycleAction.objects.count() == 1


def test_the_owner_of_an_agent_cannot_approve_what_it_proposed(store: Store) -> None:
    owner = reviewer("ines")
    propose(asking(owner, "propose"), store, promotion())
    action = LifecycleAction.objects.get()
    problem = decide(asking(owner, "review"), action, "approve", 403)
    assert "Four eyes" in problem["detail"]
    assert decide(asking(reviewer("omar"), "review"), action, "approve")["decision"] == "approved"


@pytest.mark.parametrize("scope", ["read", "review"])
def test_no_token_but_of_the_scope_propose_hands_in(store: Store, scope: str) -> None:
    assert "propose" in propose(asking(make_superuser("root"), scope), store, promotion(), 403)["detail"]
    assert not LifecycleAction.objects.exists()


def test_nothing_is_proposed_for_a_store_that_may_not_be_seen(store: Store) -> None:
    hidden = make_row("hidden", groups=["platform"])
    agent = asking(make_user("ines", groups=("viewer",)), "propose")
    assert propose(agent, hidden, promotion(), 404) == post(agent, "?store=nothing", promotion(), 404)
    assert propose(asking(make_user("nobody", groups=()), "propose"), store, promotion(), 403)["status"] == 403


def test_only_json_is_taken_and_a_session_needs_its_csrf_token(store: Store) -> None:
    user = reviewer("ines")
    agent = asking(user, "propose")
    body = json.dumps(promotion())
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        assert agent.post(f"{URL}?store={store.slug}", body, content_type=content_type).status_code == 415
        assert signed_in(user).post(f"{URL}?store={store.slug}", body, content_type=content_type).status_code == 403
    propose(signed_in(user), store, promotion(), 403)
    propose(Client(enforce_csrf_checks=True), store, promotion(), 401)
    assert not LifecycleAction.objects.exists()
    told = propose(signed_in(user, enforce_csrf_checks=False), store, promotion())
    assert told["counts"] == {"queued": 1}
    assert LifecycleAction.objects.get().origin == "page"


@pytest.mark.parametrize("body", [b" ", b"{", b"[" * 1000, b'{"action": "archive", "action": "forget"}', b"\xff\xfe", b"3" * 5000])
def test_what_cannot_be_read_is_a_400(store: Store, body: bytes) -> None:
    agent = asking(make_user("ines"), "propose")
    answer = agent.post(f"{URL}?store={store.slug}", body, content_type="application/json")
    told = answer.json()
    # A single number is JSON, and no action.
    assert answer.status_code == 400 or told["counts"] == {"invalid_action": 1}
    assert not LifecycleAction.objects.exists()


def test_a_long_list_is_taken_and_one_beyond_16_mib_is_not_even_read(store: Store) -> None:
    agent = asking(make_user("ines"), "propose")
    padded = json.dumps([archiving(), {"action": "exec", "reason": "x" * (2 * 2**20)}])
    assert len(padded) > 2 * 2**20
    answer = agent.post(f"{URL}?store={store.slug}", padded, content_type="application/json")
    assert answer.json()["counts"] == {"queued": 1, "unsupported_action": 1}
    answer = agent.post(f"{URL}?store={store.slug}", b"[]", content_type="application/json", CONTENT_LENGTH=str(16 * 2**20 + 1))
    assert answer.status_code == 413
    assert answer.headers["Content-Type"] == "application/problem+json"


# Reading


def test_a_list_takes_the_filters_of_the_page(store: Store) -> None:
    high, low = queued(store, deletion()), queued(store, archiving())
    client = asking(make_user("ines"), "read")
    page = get(client)
    assert (page["count"], {one["id"] for one in page["items"]}) == (2, {high.pk, low.pk})
    assert [one["id"] for one in get(client, "?tier=high")["items"]] == [high.pk]
    assert [one["id"] for one in get(client, "?state=ready&verb=archive&verb=merge")["items"]] == [low.pk]
    assert get(client, "?store=nothing")["items"] == []
    assert [one["id"] for one in get(client, "?sort=oldest")["items"]] == [high.pk, low.pk]
    assert get(client, "?per_page=7", 400)["status"] == 400
    assert get(client, "?older=soon", 422)["status"] == 422


def test_an_action_says_all_that_is_known_of_it(store: Store, tmp_path: Path) -> None:
    action = queued(store)
    approver = reviewer("omar")
    decide(asking(approver, "review"), action, "approve", reason="fits")
    document = get(asking(make_user("ines"), "read"), f"{action.pk}/")
    assert document["record"] == {**promotion(), "action_id": action.action_id}
    assert (document["state"], document["digest"], document["sentence"]) == ("approved", action.digest, action.sentence)
    replaced, appended = document["effect"]
    before = (tmp_path / "memory" / "nodes" / "node.b.json").read_bytes()
    assert (replaced["path"], replaced["what"], replaced["bytes_before"]) == ("nodes/node.b.json", "replaced", len(before))
    changed = [(line["sign"], line["text"].strip()) for line in replaced["lines"] if line["sign"] != " "]
    assert changed == [("-", '"phase": "fluid",'), ("+", '"phase": "stabilized",')]
    assert (appended["path"], appended["what"]) == ("events.jsonl", "appended to")
    assert [(one["id"], one["file"]) for one in document["targets"]] == [("node.b", "nodes/node.b.json")]
    (review,) = document["reviews"]
    assert (review["decision"], review["reviewer"], review["reason"], review["through"]) == ("approved", "omar", "fits", "API")
    # A marker that was not used could be carried elsewhere.
    assert review["marker"] == ""
    assert document["receipt"] == {}


def test_no_secret_is_told(store: Store) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    action = queued(store, promotion(reason=f"use {secret}", parameters={"note": [secret]}))
    client = asking(make_superuser("root"), "read")
    for path in ("", f"{action.pk}/"):
        assert secret[4:20] not in json.dumps(get(client, path))


def test_what_may_not_be_seen_and_what_is_not_there_get_one_answer(store: Store) -> None:
    action = queued(store)
    limited = make_row("limited", groups=["platform"])
    LifecycleAction.objects.filter(pk=action.pk).update(store=limited)
    client = asking(make_user("ines", groups=("reviewer",)), "review")
    assert get(client, f"{action.pk}/", 404) == get(client, "987654/", 404)
    for word in ("approve", "reject", "withdraw", "renew"):
        hidden = decide(client, action, word, 404, reason="x")
        assert hidden == post(client, f"987654/{word}", {"digest": "x", "reason": "x"}, 404)
    assert get(client)["items"] == []
    get(client, f"{2**63}/", 422)


def test_a_list_takes_as_many_queries_for_one_row_as_for_many(store: Store, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    client = asking(make_user("ines"), "read")
    queued(store)
    get(client)
    with django_assert_num_queries(5):
        get(client)
    queued(store, archiving())
    queued(store, deletion())
    with django_assert_num_queries(5):
        assert get(client)["count"] == 3


# Deciding


def test_a_decision_is_about_the_digest_that_was_seen(store: Store) -> None:
    action, client = queued(store), asking(reviewer("omar"), "review")
    post(client, f"{action.pk}/approve", {"digest": "sha256:" + "0" * 64}, 409)
    post(client, f"{action.pk}/approve", {"digest": ""}, 409)
    post(client, f"{action.pk}/approve", {}, 422)
    assert state_of(action) == "pending"
    told = decide(client, action, "approve", reason="fits", state="applied", approved_by=1, store=2)
    assert (told["decision"], told["action"]["state"]) == ("approved", "approved")
    said = markers.read(Review.objects.get().marker, keys.trusted_keys())
    assert said.digest == action.digest
    decide(client, action, "approve", 409)
    assert decide(client, action, "withdraw", reason="wrong")["action"]["state"] == "withdrawn"


def test_what_takes_something_away_is_decided_on_the_page(store: Store) -> None:
    action, client = queued(store, deletion()), asking(reviewer("omar"), "review")
    assert f"/review/{action.pk}/" in decide(client, action, "approve", 403)["detail"]
    assert state_of(action) == "pending"
    decide(client, action, "reject", 400)
    assert decide(client, action, "reject", reason="still needed")["action"]["state"] == "rejected"


def test_renewing_gives_a_new_action_that_waits_for_its_own_approval(store: Store) -> None:
    action, client = queued(store), asking(reviewer("omar"), "review")
    decide(client, action, "renew", 409)
    decide(client, action, "approve")
    decide(client, action, "withdraw")
    post(client, f"{action.pk}/renew", {"digest": "sha256:" + "0" * 64}, 409)
    renewed = post(client, f"{action.pk}/renew", {})
    assert (renewed["state"], renewed["action"], renewed["first_target"]) == ("pending", action.verb, "node.b")
    assert renewed["id"] != action.pk


@pytest.mark.parametrize("word", ["approve", "reject", "withdraw", "renew"])
def test_no_token_of_an_agent_or_a_reader_decides_whoever_owns_it(store: Store, word: str) -> None:
    action = queued(store, proposer=Proposer("x", "agent", "API"))
    root = make_superuser("root")
    for scope in ("read", "propose"):
        assert "review" in decide(asking(root, scope), action, word, 403, reason="x")["detail"]
    decide(asking(make_user("vera", groups=("viewer",)), "read"), action, word, 403, reason="x")
    decide(signed_in(root), action, word, 403, reason="x")
    decide(Client(enforce_csrf_checks=True), action, word, 401, reason="x")
    assert Client().get(f"{URL}{action.pk}/{word}").status_code == 405
    assert (state_of(action), Review.objects.count()) == ("pending", 0)


def test_a_token_of_a_person_who_lost_the_role_decides_nothing(store: Store) -> None:
    user = reviewer("omar")
    client, action = asking(user, "review"), queued(store)
    user.groups.clear()
    decide(client, action, "approve", 403)
    user.groups.set(make_user("vera").groups.all())
    decide(client, action, "approve", 403)
    assert state_of(action) == "pending"


# Keys


def test_the_keys_are_open_to_everybody_and_check_a_marker(store: Store) -> None:
    assert Client().get("/api/v1/keys").json() == {"keys": []}
    action = queued(store)
    decide(asking(reviewer("omar"), "review"), action, "approve")
    document = Client().get("/api/v1/keys").json()
    assert [set(one) for one in document["keys"]] == [{"kty", "crv", "alg", "use", "x", "kid"}]
    assert markers.read(Review.objects.get().marker, keys.keys_in(document)).action_id == action.action_id


def test_a_target_that_moved_is_a_409_and_the_action_is_stale(store: Store, tmp_path: Path) -> None:
    action = queued(store)
    changed: Record = {**NODE, "text": "Changed meanwhile."}
    put(tmp_path / "memory", "node", changed)
    import_store(store)
    problem = decide(asking(reviewer("omar"), "review"), action, "approve", 409)
    assert "nodes/node.b.json" in problem["detail"]
    assert state_of(action) == "stale"
