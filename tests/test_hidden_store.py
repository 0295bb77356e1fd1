"""A user who may see nothing of a store finds no byte of it on any address (ruling 20, threats G13 and W6).

The store is a real one: three files with lines of every class, imported, with faults, conditions, history, tasks, audit events and
a shared saved view. The walk takes its addresses from the URL resolver, so it covers routes that are added later.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.apps import apps
from django.db import models, transaction
from django.test import Client

from stores import accounts
from stores.lists.specs import FURTHER
from stores.models import User
from tests.factories import make_decision, make_group, make_problem, make_queue_operation, make_store, make_user
from tests.routes import Route, addresses
from tests.scenes import Scene, make_scene

pytestmark = pytest.mark.django_db

WORD = "zebrafish"
"""Stands in every text of the hidden store; nowhere else."""
FRAGMENTS: tuple[dict[str, str], ...] = (
    {},
    {"HX-Request": "true", "HX-Target": "list"},
    {"HX-Request": "true", "HX-Boosted": "true"},
    {"HX-Request": "true", "HX-History-Restore-Request": "true"},
)
QUERIES = (
    "",
    "gone=1&per_page=250&sort=at",
    "all=1&sort=-at&cols=machine,session,project,source,line",
    "q=measured",
    "all=1&q=use+for+part",
    "all=1&q=times+out",
    "standing=earlier&what=relation&form=index",
    "all=1&standing=retired&owner=me&tag=shared&due=soon",
    "severity=error&status=solved&standing=poison&segment=all",
    "open=1&check=whole&since=2020-01-01",
)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Give the hidden store, beside an open one with records that any filter leaves."""
    made = make_scene(tmp_path, WORD, groups=["platform"])
    open_store = make_store("open")
    make_decision(open_store, "use redis for part 1, measured")
    make_queue_operation(open_store)
    make_problem(open_store, "times out")
    return made


@pytest.fixture
def outsider() -> User:
    """Give an account with every role and no group."""
    return make_user("outsider", groups=["viewer", "reviewer", "operator"])


def asking(user: User) -> list[Client]:
    """Give the ways in which an account asks: by its session and by a token."""
    by_session, text = Client(raise_request_exception=False), accounts.make_token(user, "walk", "read", 1)[1]
    by_session.force_login(user)
    return [by_session, Client(raise_request_exception=False, headers={"Authorization": f"Bearer {text}"})]


CSRF = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"|csrftoken=[^;]*')


def body(answer: Any) -> str:
    return (b"".join(answer) if answer.streaming else answer.content).decode("utf-8", "replace")


def said(answer: Any, address: str) -> str:
    """Give all that an answer says, headers too, but for the address that was asked for itself."""
    text = "\n".join(
        [body(answer), *(f"{name}: {value}" for name, value in answer.headers.items() if name != "Content-Length"), answer.cookies.output()]
    )
    path = address.partition("?")[0]
    for echoed in (address, path):
        for form in (echoed, html.escape(echoed), quote(echoed), quote(echoed, safe="")):
            text = text.replace(form, "")
    return CSRF.sub("", text).casefold()


def walk(scene: Scene, client: Client, *, by_token: bool = False, plain: bool = False) -> Iterator[tuple[Route, str, Any]]:
    """Ask every address in every form, lists with every query; give what came. A token opens the API and the metrics only."""
    for route, address in addresses(scene.values()):
        if route.name.startswith("admin:") or (by_token and not route.name.startswith(("api:", "metrics"))):
            continue
        is_list = not route.parameters or "export" in route.name
        for headers in FRAGMENTS[:1] if plain else FRAGMENTS:
            for query in QUERIES if is_list and not (headers or plain) else QUERIES[:1]:
                where = f"{address}?{query}" if query else address
                yield route, where, client.get(where, headers=headers)


def test_no_address_says_a_byte_of_the_store_to_an_outsider(scene: Scene, outsider: User) -> None:
    hidden = {WORD, scene.store.slug, str(scene.store.uid)}
    for client, by_token in zip(asking(outsider), (False, True), strict=True):
        for route, where, answer in walk(scene, client, by_token=by_token):
            assert answer.status_code < 500, where
            text = said(answer, where)
            assert not any(word in text for word in hidden), (
                f"{where} ({route.name}) says {text[max(0, text.find(WORD) - 200) : text.find(WORD) + 60]}"
            )


def test_no_address_says_a_byte_of_the_store_to_a_stranger(scene: Scene) -> None:
    client = Client(raise_request_exception=False)
    for route, where, answer in walk(scene, client):
        assert WORD not in said(answer, where).replace(quote(where, safe="").casefold(), ""), f"{where} ({route.name})"


def test_the_walk_finds_the_store_where_it_may_be_seen(scene: Scene) -> None:
    """The test above means something: an insider finds the word on most of the same addresses."""
    client = asking(scene.insider)[0]
    found = {
        route.name for route, where, answer in walk(scene, client, plain=True) if answer.status_code == 200 and WORD in said(answer, where)
    }
    assert found >= {
        "overview",
        "store_list",
        "store_detail",
        "store_faults",
        "fault_detail",
        "store_backlog",
        "store_health_tab",
        "store_changes",
        "store_files",
        "store_raw",
        "store_settings",
        "store_add",
        "task_detail",
        "health",
        "audit",
        "audit_export",
        "account",
        "metrics",
        "decision_list",
        "decision_detail",
        "decision_export",
        "problem_list",
        "problem_detail",
        "problem_export",
        "queue_list",
        "queue_detail",
        "queue_export",
        "search",
        *(f"{spec.name}_{part}" for spec in FURTHER for part in ("list", "detail", "export")),
        *(f"api:{spec.name}_{part}" for spec in FURTHER for part in ("list", "detail")),
        "session_list",
        "api:store_list",
        "api:store_detail",
        "api:fault_list",
        "api:health",
        "api:audit_list",
        "api:decision_list",
        "api:decision_detail",
        "api:problem_list",
        "api:problem_detail",
        "api:queue_list",
        "api:queue_detail",
        "api:action_list",
        "api:action_detail",
        "review_list",
        "review_export",
        "action_detail",
    }


def test_what_lies_in_a_hidden_store_is_as_absent_as_what_never_was(scene: Scene, outsider: User) -> None:
    real = dict(addresses(scene.values()))
    never = dict(addresses({name: (lambda name, kept=value: kept(name)) for name, value in scene.values().items()} | NOTHING))
    client = asking(outsider)[0]
    compared = 0
    for route, address in real.items():
        if never[route] == address or route.name.startswith("admin:"):
            continue
        for method in ("get", "post"):
            # Of a problem htmx gets only its own part, without the ages around it.
            hidden, absent = (ask(client, method, where) for where in (address, never[route]))
            assert hidden.status_code == absent.status_code, (
                f"{method} {address}: {hidden.status_code}, {never[route]}: {absent.status_code}"
            )
            if hidden.status_code != 405:
                assert hidden.status_code == 404, f"{method} {address}: {hidden.status_code}"
                assert said(hidden, address) == said(absent, never[route]), address
                compared += 1
    assert compared > 20


def ask(client: Client, method: str, address: str) -> Any:
    """Ask an address; the API gets a decision to read, or it would complain of that first."""
    if method == "post" and address.startswith("/api/"):
        return client.post(address, {"digest": "sha256:0", "reason": "x"}, content_type="application/json", headers=FRAGMENTS[1])
    return getattr(client, method)(address, headers=FRAGMENTS[1])


NOTHING = {
    "slug": lambda name: "never-was",
    "pk": lambda name: 987_654,
    "fault_id": lambda name: 987_654,
    "condition_id": lambda name: 987_654,
    "task_id": lambda name: 987_654,
    "token_id": lambda name: 987_654,
    "view_id": lambda name: 987_654,
    "number": lambda name: 987_654,
    "batch": lambda name: "bulk:never",
}


def snapshot() -> dict[str, list[tuple[object, ...]]]:
    """Give every row of every table of ours but sessions."""
    return {model._meta.label: rows(model) for model in apps.get_app_config("stores").get_models(include_auto_created=True)}


def rows(model: type[models.Model]) -> list[tuple[object, ...]]:
    return [
        tuple(bytes(value) if isinstance(value, memoryview) else value for value in row)
        for row in model._default_manager.order_by("pk").values_list()
    ]


def test_no_post_of_an_outsider_changes_a_row_of_the_store(scene: Scene, outsider: User) -> None:
    client = asking(outsider)[0]
    before = snapshot()
    forms: tuple[dict[str, str], ...] = (
        {},
        {"name": "mine", "path": "/srv", "reason": "x", "why": "x", "note": "x", "hours": "1", "confirm": scene.store.slug},
    )
    for route, address in addresses(scene.values()):
        if not route.parameters or route.name.startswith(("admin:", "api:")):
            continue
        for form in forms:
            with transaction.atomic():
                answer = client.post(address, form)
            assert answer.status_code in (404, 405), f"{address}: {answer.status_code}"
    assert snapshot() == before


def test_a_store_that_is_limited_later_vanishes_at_once(scene: Scene, outsider: User) -> None:
    scene.store.groups.clear()
    client = asking(outsider)[0]
    address = scene.store.get_absolute_url()
    assert client.get(address).status_code == 200
    scene.store.groups.set([make_group("platform")])
    assert client.get(address).status_code == 404
