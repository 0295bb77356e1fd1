"""The admin: accounts and groups only, for superusers, by the one sign-in page, audited (ruling 22)."""

from __future__ import annotations

import pytest
from django.contrib import admin as django_admin
from django.contrib.auth.models import Group
from django.test import Client

from stores import admin
from stores.models import AuditEvent, User
from tests.factories import PASSWORD, make_store, make_superuser, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def root() -> Client:
    client = Client()
    client.force_login(make_superuser("root"))
    return client


def test_nothing_but_accounts_and_groups_is_registered() -> None:
    assert set(admin.site._registry) == {User, Group}
    assert not any(model._meta.app_label == "stores" for model in django_admin.site._registry)


def test_strangers_sign_in_where_attempts_are_counted_and_come_back() -> None:
    client = Client()
    make_superuser("root")
    assert client.post("/admin/login/", {"username": "root", "password": PASSWORD}).headers["Location"].startswith("/sign-in/")
    where = client.get("/admin/stores/user/").headers["Location"]
    assert where == "/sign-in/?next=%2Fadmin%2Fstores%2Fuser%2F"
    response = client.post(where, {"username": "root", "password": PASSWORD, "next": "/admin/stores/user/"})
    assert response.headers["Location"] == "/admin/stores/user/"
    assert client.get("/admin/login/?next=/admin/auth/group/").headers["Location"] == "/admin/auth/group/"
    assert client.get("/admin/login/?next=//evil.example").headers["Location"] == "/admin/"


@pytest.mark.parametrize("groups", [["viewer"], ["reviewer"], ["operator"]])
def test_others_than_superusers_are_refused_even_as_staff(groups: list[str]) -> None:
    client = Client()
    client.force_login(make_user(groups=groups, is_staff=True))
    assert client.get("/admin/", follow=True).status_code == 403
    assert client.get("/admin/stores/user/", follow=True).status_code == 403


def test_every_page_of_the_admin_opens(root: Client) -> None:
    user = make_user("ines")
    group = Group.objects.get(name="viewer")
    for where in (
        "",
        "stores/user/",
        "stores/user/add/",
        f"stores/user/{user.pk}/change/",
        f"stores/user/{user.pk}/password/",
        f"stores/user/{user.pk}/history/",
        "auth/group/",
        f"auth/group/{group.pk}/change/",
    ):
        assert root.get(f"/admin/{where}").status_code == 200, where


def test_adding_changing_and_removing_an_account_is_audited(root: Client) -> None:
    added = {"username": "Tomasz", "usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    assert root.post("/admin/stores/user/add/", added).status_code == 302
    user = User.objects.get(username="tomasz")
    fields = {
        "username": "tomasz",
        "first_name": "Tomasz",
        "last_name": "",
        "email": "",
        "is_active": "on",
        "groups": [str(Group.objects.get(name="reviewer").pk)],
        "_save": "1",
    }
    assert root.post(f"/admin/stores/user/{user.pk}/change/", fields).status_code == 302
    assert root.post(f"/admin/stores/user/{user.pk}/delete/", {"post": "yes"}).status_code == 302
    events = list(AuditEvent.objects.filter(event__startswith="account_").order_by("number"))
    assert [(event.event, event.actor_label, event.object_label) for event in events] == [
        ("account_added", "root", "tomasz"),
        ("account_changed", "root", "tomasz"),
        ("account_removed", "root", "tomasz"),
    ]
    assert events[1].detail["groups"] == ["reviewer"]
    assert set(events[1].detail["fields"]) >= {"Groups", "First name"}


def test_a_name_in_other_case_is_taken(root: Client) -> None:
    make_user("ines")
    response = root.post(
        "/admin/stores/user/add/", {"username": "INES", "usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    )
    assert response.status_code == 200
    assert User.objects.filter(username__iexact="ines").count() == 1


def test_a_group_that_limits_a_store_stays(root: Client) -> None:
    make_store("harbor", groups=["platform"])
    group = Group.objects.get(name="platform")
    assert root.post(f"/admin/auth/group/{group.pk}/delete/", {"post": "yes"}).status_code == 409
    root.post("/admin/auth/group/", {"action": "delete_selected", "_selected_action": [group.pk], "post": "yes"})
    assert Group.objects.filter(name="platform").exists()
    assert not AuditEvent.objects.filter(event="group_removed").exists()
