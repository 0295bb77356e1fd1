"""The account page: name, password, theme, tokens shown once."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from stores.models import ApiToken, AuditEvent, SavedView, User
from tests.factories import PASSWORD, make_superuser, make_user

pytestmark = pytest.mark.django_db
NEW = "another long enough phrase"


@pytest.fixture
def ines() -> User:
    return make_user("ines", first_name="Ines", last_name="Moreau")


@pytest.fixture
def page(ines: User) -> Client:
    client = Client()
    client.force_login(ines)
    return client


def test_the_page_shows_who_is_signed_in_with_their_role(page: Client) -> None:
    text = page.get("/account/").content.decode()
    assert "Ines Moreau" in text
    assert "<code>ines</code>" in text
    assert "viewer" in text
    assert "/admin/" not in text


def test_single_keys_are_turned_off_on_every_page_and_on_again(page: Client) -> None:
    def off_on(*pages: str) -> list[bool]:
        return ["data-keys-off" in page.get(address).content.decode().partition(">")[2].partition(">")[0] for address in pages]

    addresses = ("/account/", "/decisions/", "/review/")
    assert off_on(*addresses) == [False, False, False]
    assert page.post("/account/keys/", {"keys": "off"}).headers["Location"] == "/account/"
    assert off_on(*addresses) == [True, True, True]
    assert page.cookies["single_keys"]["samesite"] == "Lax"
    page.post("/account/keys/", {"keys": "on"})
    assert off_on(*addresses) == [False, False, False]


def test_a_superuser_finds_the_way_to_accounts() -> None:
    client = Client()
    client.force_login(make_superuser())
    assert "/admin/" in client.get("/account/").content.decode()


def test_changing_the_name_is_audited_with_both_names(page: Client, ines: User) -> None:
    assert (
        page.post("/account/name/", {"first_name": "Inès", "last_name": "Moreau", "is_superuser": "1", "username": "root"}).status_code
        == 302
    )
    ines.refresh_from_db()
    assert (ines.label, ines.is_superuser, ines.username) == ("Inès Moreau", False, "ines")
    assert AuditEvent.objects.get(event="name_changed").object_label == "Ines Moreau is now Inès Moreau"
    page.post("/account/name/", {"first_name": "Inès", "last_name": "Moreau"})
    assert AuditEvent.objects.filter(event="name_changed").count() == 1


def test_a_name_that_is_too_long_is_refused_and_kept_in_the_form(page: Client) -> None:
    response = page.post("/account/name/", {"first_name": "x" * 151, "last_name": ""})
    assert response.status_code == 422
    assert "x" * 151 in response.content.decode()


def test_changing_the_password_keeps_this_session_and_ends_the_others(page: Client, ines: User) -> None:
    other = Client()
    other.force_login(ines)
    response = page.post("/account/password/", {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW})
    assert response.status_code == 302
    assert page.get("/account/").status_code == 200
    assert other.get("/account/").status_code == 302
    ines.refresh_from_db()
    assert ines.check_password(NEW)
    assert AuditEvent.objects.get(event="password_changed").actor == ines


@pytest.mark.parametrize(("old", "new"), [("wrong", NEW), (PASSWORD, "elevenchars"), (PASSWORD, "password1234")])
def test_a_password_that_is_refused_changes_nothing(page: Client, ines: User, old: str, new: str) -> None:
    response = page.post("/account/password/", {"old_password": old, "new_password1": new, "new_password2": new})
    assert response.status_code == 422
    assert PASSWORD not in response.content.decode()
    ines.refresh_from_db()
    assert ines.check_password(PASSWORD)
    assert not AuditEvent.objects.filter(event="password_changed").exists()


def test_a_new_token_is_shown_once(page: Client) -> None:
    response = page.post("/account/tokens/", {"label": "grafana", "scope": "read", "days": "30"})
    assert response.status_code == 200
    shown = re.search(r'id="token-text">(mui_[^<]+)<', response.content.decode())
    assert shown is not None
    assert page.get("/metrics", headers={"Authorization": f"Bearer {shown[1]}"}).status_code == 200
    again = page.get("/account/").content.decode()
    assert shown[1] not in again
    assert "grafana" in again


def test_a_token_that_cannot_be_made_says_why(page: Client) -> None:
    assert page.post("/account/tokens/", {"label": "", "scope": "read", "days": "30"}).status_code == 422
    assert page.post("/account/tokens/", {"label": "a", "scope": "read", "days": "9999"}).status_code == 422
    assert page.post("/account/tokens/", {"label": "a", "scope": "review", "days": "30"}).status_code == 422
    assert not ApiToken.objects.exists()


def test_a_revoked_token_opens_nothing_and_another_account_s_is_not_there(page: Client) -> None:
    page.post("/account/tokens/", {"label": "grafana", "scope": "read", "days": "30"})
    token = ApiToken.objects.get()
    stranger = Client()
    stranger.force_login(make_user("tomasz"))
    assert stranger.post(f"/account/tokens/{token.pk}/revoke/").status_code == 404
    assert page.post(f"/account/tokens/{token.pk}/revoke/").status_code == 302
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert "revoked" in page.get("/account/").content.decode()


def test_names_and_labels_are_text(page: Client) -> None:
    payload = "<img src=x onerror=alert(1)>\"'"
    page.post("/account/name/", {"first_name": payload, "last_name": ""})
    page.post("/account/tokens/", {"label": payload, "scope": "read", "days": "30"})
    for where in ("/account/", "/audit/"):
        assert "<img" not in page.get(where).content.decode()


def test_saved_views_are_listed_with_their_list_and_can_be_dropped(page: Client, ines: User) -> None:
    view = SavedView.objects.create(owner=ines, section="decisions", name="<b>databases</b>", query="category=database", shared=True)
    SavedView.objects.create(owner=make_user("tomasz"), section="queue", name="not mine", query="", shared=True)
    text = page.get("/account/").content.decode()
    assert "&lt;b&gt;databases&lt;/b&gt;" in text
    assert "/decisions/?category=database" in text
    assert "not mine" not in text
    assert page.post(f"/views/{view.pk}/drop/").status_code == 302
    assert not SavedView.objects.filter(owner=ines).exists()
