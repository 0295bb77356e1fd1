"""What changes anything by the API, and every method beside GET and POST: who may, by which proof, in one table (promise D4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from pytest_django import Settings

from stores.accounts import make_token
from stores.models import LifecycleAction, Review, User
from stores.review.submitting import Proposer
from tests.factories import make_superuser, make_user
from tests.phase_memory_folders import Record
from tests.review.queues import archiving, imported, queued
from tests.routes import addresses
from tests.scenes import make_scene
from tests.test_access import API_RULES, NEVER, rule_of

pytestmark = pytest.mark.django_db

ROLES = ("anonymous", "no role", "viewer", "reviewer", "operator", "superuser")
TOKENS = ("read", "propose", "review")
MATRIX: dict[str, tuple[int, ...]] = {
    # Proof: a session with its CSRF token, then personal tokens. Columns: ROLES, for tokens those that may have one.
    "session propose": (401, 403, 200, 200, 200, 200),
    "session approve": (401, 403, 403, 200, 403, 200),
    "session reject": (401, 403, 403, 200, 403, 200),
    "session withdraw": (401, 403, 403, 403, 200, 200),
    "session renew": (401, 403, 403, 200, 200, 200),
    "read propose": (0, 403, 403, 403, 403, 403),
    "read approve": (0, 403, 403, 403, 403, 403),
    "read reject": (0, 403, 403, 403, 403, 403),
    "read withdraw": (0, 403, 403, 403, 403, 403),
    "read renew": (0, 403, 403, 403, 403, 403),
    "propose propose": (0, 403, 200, 200, 200, 200),
    "propose approve": (0, 403, 403, 403, 403, 403),
    "propose reject": (0, 403, 403, 403, 403, 403),
    "propose withdraw": (0, 403, 403, 403, 403, 403),
    "propose renew": (0, 403, 403, 403, 403, 403),
    "review propose": (0, 0, 0, 403, 0, 403),
    "review approve": (0, 0, 0, 200, 0, 200),
    "review reject": (0, 0, 0, 200, 0, 200),
    "review withdraw": (0, 0, 0, 403, 0, 200),
    "review renew": (0, 0, 0, 200, 0, 200),
}
"""Proof and what is asked -> the status each role gets; 0 where there is no such proof."""


@pytest.fixture(autouse=True)
def data_folder(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path.resolve() / "data"
    settings.STORE_ROOTS = (tmp_path.resolve(),)


def account(role: str) -> User | None:
    if role == "anonymous":
        return None
    return make_superuser("root") if role == "superuser" else make_user("walker", groups=() if role == "no role" else (role,))


def client_by(proof: str, user: User | None) -> Client | None:
    """Give a client that proves itself so; None where an account has no such proof."""
    if proof != "session":
        if user is None or (proof == "review" and not (user.is_superuser or user.groups.filter(name="reviewer").exists())):
            return None
        return Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {make_token(user, 'walk', proof, 1)[1]}"})
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


@pytest.mark.parametrize("role", ROLES)
def test_whoever_changes_anything_by_the_api_has_the_right_and_the_proof(role: str, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    waiting = queued(store, proposer=Proposer("somebody", "agent", "API"))
    over = queued(store, archiving())
    LifecycleAction.objects.filter(pk=over.pk).update(state="withdrawn")
    column, user = ROLES.index(role), account(role)
    proposal: Record = {"action": "archive", "target_ids": ["node.a"], "reason": "old"}
    asked: dict[str, tuple[str, object]] = {
        "propose": (f"/api/v1/actions/?store={store.slug}", proposal),
        "renew": (f"/api/v1/actions/{over.pk}/renew", {}),
        **{
            word: (f"/api/v1/actions/{waiting.pk}/{word}", {"digest": waiting.digest, "reason": "x"})
            for word in ("approve", "reject", "withdraw")
        },
    }
    got: dict[str, int] = {}
    for proof in ("session", *TOKENS):
        client = client_by(proof, user)
        for word, (address, document) in asked.items():
            got[f"{proof} {word}"] = 0 if client is None else status_of(client, address, document)
    assert got == {name: statuses[column] for name, statuses in MATRIX.items()}


def status_of(client: Client, address: str, document: object) -> int:
    """Ask, and take back whatever came of it."""
    with transaction.atomic():
        before = changed()
        answer: Any = client.post(address, json.dumps(document), content_type="application/json")
        assert (changed() != before) == (answer.status_code == 200), (address, answer.content)
        transaction.set_rollback(True)
    return int(answer.status_code)


def changed() -> list[object]:
    return [*LifecycleAction.objects.order_by("pk").values_list("pk", "state", "revision"), Review.objects.count()]


def test_every_route_of_the_api_that_takes_a_post_stands_in_the_table() -> None:
    posted = {name.partition("_")[2] for name, rule in API_RULES.items() if rule.post != NEVER}
    assert {word.replace("submit", "propose") for word in posted - {"list"}} == {name.split()[1] for name in MATRIX}


def test_no_other_method_changes_anything_and_a_session_needs_its_csrf_token(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, "zebrafish")
    client = Client(raise_request_exception=False)
    client.force_login(make_superuser("root"))
    careless = Client(raise_request_exception=False, enforce_csrf_checks=True)
    careless.force_login(User.objects.get(username="root"))
    for route, address in addresses(scene.values()):
        if route.name.startswith("admin:"):
            continue
        for method in ("put", "patch", "delete"):
            answer = getattr(client, method)(address)
            # Django's own sign-in view takes a PUT for a POST, which signs nobody in without name and password.
            assert answer.status_code == 405 or route.name == "sign_in" or (route.name == "api:api-root" and answer.status_code == 404), (
                method,
                route.name,
                answer.status_code,
            )
            assert getattr(careless, method)(address).status_code in (403, 404, 405), (method, route.name)
        if rule_of(route.name).post != NEVER:
            for content_type in ("text/plain", "application/json", "application/x-www-form-urlencoded"):
                assert careless.post(address, b"{}", content_type=content_type).status_code == 403, (route.name, content_type)
