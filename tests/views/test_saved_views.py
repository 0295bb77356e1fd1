"""Saved views: kept, shared, dropped."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from stores.lists.specs import DECISIONS
from stores.models import AuditEvent, SavedView, User
from tests.factories import make_store, make_user
from tests.lists.rows import fill
from tests.views.parsing import assert_harmless, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def ines() -> User:
    return make_user("ines", first_name="Ines", last_name="Moreau")


@pytest.fixture
def page(ines: User) -> Client:
    return signed_in(ines)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def keep(page: Client, name: str = "Databases", query: str = "category=database", **changes: str) -> None:
    answer = page.post("/views/save/", {"section": "decisions", "name": name, "query": query, **changes})
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/decisions/?{query}")


def test_a_view_is_kept_and_offered_where_it_leads(page: Client) -> None:
    fill(DECISIONS, make_store("one"), [{"category": "database", "title": "use redis"}, {"category": "api", "title": "use rest"}])
    keep(page)
    shown = page.get("/views/decisions/?category=database")
    assert 'href="/decisions/?category=database"' in shown.content.decode()
    assert "Databases" in text(shown)
    menu = page.get("/views/decisions/", headers={"HX-Request": "true", "HX-Target": "views-menu"}).content.decode()
    assert "<html" not in menu
    assert "Databases" in menu


def test_only_what_the_list_knows_is_kept(page: Client) -> None:
    page.post("/views/save/", {"section": "decisions", "name": "odd", "query": "category=a&page=7&evil=1&sort=x&next=//evil.example"})
    assert SavedView.objects.get().query == "category=a"


def test_saving_under_the_same_name_replaces(page: Client) -> None:
    keep(page)
    keep(page, query="category=api")
    assert [view.query for view in SavedView.objects.all()] == ["category=api"]


def test_others_see_a_view_only_when_it_is_shared_and_the_audit_tells_of_that(page: Client) -> None:
    other = signed_in(make_user("tomasz"))
    keep(page)
    assert "Databases" not in text(other.get("/views/decisions/"))
    assert not AuditEvent.objects.filter(event="view_shared").exists()
    keep(page, shared="on")
    assert "Databases Ines Moreau" in text(other.get("/views/decisions/"))
    assert AuditEvent.objects.filter(event="view_shared").count() == 1


def test_a_shared_view_of_stores_is_audited_under_the_one_that_fewest_see(page: Client, ines: User) -> None:
    everybodys, limited = make_store("everybodys"), make_store("limited")
    group = Group.objects.create(name="payments")
    limited.groups.add(group)
    ines.groups.add(group)
    keep(page, query="store=everybodys&store=limited&category=api", shared="on")
    assert AuditEvent.objects.get(event="view_shared").store_uid == limited.uid
    keep(page, name="Another", query="store=everybodys", shared="on")
    assert AuditEvent.objects.filter(event="view_shared").latest("number").store_uid == everybodys.uid


def test_only_its_owner_drops_a_view(page: Client) -> None:
    keep(page, shared="on")
    view = SavedView.objects.get()
    assert signed_in(make_user("tomasz")).post(f"/views/{view.pk}/drop/").status_code == 404
    assert page.get(f"/views/{view.pk}/drop/").status_code == 405
    assert page.post(f"/views/{view.pk}/drop/").status_code == 302
    assert not SavedView.objects.exists()


@pytest.mark.parametrize(
    "given", [{"name": ""}, {"name": "x" * 81}, {"section": "users"}, {"query": "&".join(f"category={n}" for n in range(60))}]
)
def test_what_is_no_view_is_refused(page: Client, given: dict[str, str]) -> None:
    assert page.post("/views/save/", {"section": "decisions", "name": "a", "query": "", **given}).status_code == 400
    assert not SavedView.objects.exists()


def test_a_name_is_text(page: Client) -> None:
    keep(page, name='<img src=x onerror=alert(1)>"')
    assert_harmless(page.get("/views/decisions/"))
    assert page.get("/views/nothing/").status_code == 404
