"""Roles, visible stores, personal tokens, sign-in and the throttle (rulings 20 and 22)."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.contrib.auth.models import AnonymousUser, Group
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.test import Client, RequestFactory, override_settings
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from memoryui import settings as installed
from stores import accounts, sign_ins
from stores.errors import BadRequest, Conflict, NotAllowed, NotFound
from stores.models import ApiToken, AuditEvent, Store, User
from tests.factories import PASSWORD, make_group, make_store, make_superuser, make_user

pytestmark = pytest.mark.django_db

SIGN_IN = "/sign-in/"


def seen(user: Any) -> list[str]:
    return sorted(accounts.visible_stores(user).values_list("slug", flat=True))


# Roles and visible stores


def test_the_three_roles_are_made_by_a_migration() -> None:
    assert set(Group.objects.values_list("name", flat=True)) >= set(accounts.ROLES)


@pytest.mark.parametrize("role", accounts.ROLES)
def test_every_role_sees_stores_without_groups(role: str) -> None:
    make_store("open")
    assert seen(make_user(groups=[role])) == ["open"]


def test_an_account_without_role_sees_nothing_even_in_the_store_s_group() -> None:
    make_store("open")
    make_store("team", groups=["platform"])
    assert seen(make_user(groups=[])) == []
    assert seen(make_user(groups=["platform"])) == []


def test_a_store_with_groups_is_seen_by_those_groups_and_superusers_only() -> None:
    make_store("open")
    make_store("team", groups=["platform", "search"])
    make_store("other", groups=["payments"])
    assert seen(make_user(groups=["viewer", "platform", "search"])) == ["open", "team"]
    assert seen(make_user(groups=["operator"])) == ["open"]
    assert seen(make_superuser()) == ["open", "other", "team"]


def test_nobody_inactive_or_anonymous_sees_a_store() -> None:
    make_store("open")
    assert seen(AnonymousUser()) == []
    assert seen(make_user(is_active=False)) == []
    assert seen(make_superuser(is_active=False)) == []


def test_visible_stores_is_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    make_store("team", groups=["platform"])
    user = make_user(groups=["viewer", "platform"])
    with django_assert_num_queries(1):
        assert seen(user) == ["team"]


def test_stores_open_to_all_are_those_without_groups() -> None:
    make_store("open")
    make_store("team", groups=["platform"])
    assert [store.slug for store in accounts.stores_open_to_all()] == ["open"]


def test_rights_of_the_roles() -> None:
    viewer, reviewer, operator, root = make_user(), make_user(groups=["reviewer"]), make_user(groups=["operator"]), make_superuser()
    assert [accounts.is_reviewer(user) for user in (viewer, reviewer, operator, root)] == [False, True, False, True]
    assert [accounts.is_operator(user) for user in (viewer, reviewer, operator, root)] == [False, False, True, True]
    assert accounts.require_operator(operator) == operator
    with pytest.raises(NotAllowed):
        accounts.require_operator(reviewer)
    with pytest.raises(NotAllowed):
        accounts.require_reviewer(AnonymousUser())


def test_a_group_that_limits_a_store_cannot_be_deleted_for_the_store_would_be_open() -> None:
    make_store("team", groups=["platform"])
    with pytest.raises(Conflict), transaction.atomic():
        make_group("platform").delete()
    with pytest.raises(Conflict), transaction.atomic():
        Group.objects.filter(name="viewer").delete()
    make_group("unused").delete()
    assert Store.objects.get().groups.count() == 1


# Names


@pytest.mark.parametrize("other", ["Ines", "INES", "\uff49\uff4e\uff45\uff53"])
def test_a_name_is_one_whatever_its_case_and_width(other: str) -> None:
    make_user("ines")
    assert User.objects.get_by_natural_key(other).username == "ines"
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user(other, password=PASSWORD)


def test_case_is_one_also_beyond_ascii() -> None:
    make_user("élise")
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user("ÉLISE", password=PASSWORD)
    with pytest.raises(ValidationError):
        User(username="ÉLISE", password="x").full_clean()


# Tokens


def test_a_token_is_found_by_its_text_and_kept_as_a_digest_only() -> None:
    user = make_user()
    token, text = accounts.make_token(user, "dashboard", "read", 30)
    assert text.startswith(f"{token.prefix}_")
    secret = text.removeprefix(f"{token.prefix}_")
    assert len(secret) >= 43
    assert secret not in str(ApiToken.objects.values().get())
    assert accounts.token_owner(text) == (user, token)
    assert AuditEvent.objects.get().event == "token_made"


@pytest.mark.parametrize("change", ["x", "", " "])
def test_any_other_text_is_no_token(change: str) -> None:
    token, text = accounts.make_token(make_user(), "dashboard", "read", 30)
    for wrong in (
        text[:-1] + change,
        text + "x",
        token.prefix,
        f"{token.prefix}_",
        "mui_",
        "",
        "mui__",
        "\ud83d",
        text.replace("mui", "MUI"),
        "x" * 5000,
    ):
        assert accounts.token_owner(wrong) is None


def test_a_revoked_or_expired_token_and_one_of_a_deactivated_account_open_nothing() -> None:
    user = make_user()
    revoked, revoked_text = accounts.make_token(user, "a", "read", 30)
    _, expiring_text = accounts.make_token(user, "b", "read", 1)
    accounts.revoke_token(user, revoked.pk)
    assert accounts.token_owner(revoked_text) is None
    assert accounts.token_owner(expiring_text) is not None
    with time_machine.travel(timezone.now() + timedelta(days=1, seconds=1)):
        assert accounts.token_owner(expiring_text) is None
    user.is_active = False
    user.save()
    assert accounts.token_owner(expiring_text) is None


def test_revoking_twice_is_audited_once_and_only_the_owner_revokes() -> None:
    user = make_user()
    token, _ = accounts.make_token(user, "a", "read", 30)
    with pytest.raises(NotFound):
        accounts.revoke_token(make_user(), token.pk)
    accounts.revoke_token(user, token.pk)
    accounts.revoke_token(user, token.pk)
    assert AuditEvent.objects.filter(event="token_revoked").count() == 1


@pytest.mark.parametrize(
    ("label", "scope", "days"),
    [("", "read", 30), ("  ", "read", 30), ("x" * 81, "read", 30), ("a", "write", 30), ("a", "read", 0), ("a", "read", 367)],
)
def test_what_makes_no_token(label: str, scope: str, days: int) -> None:
    with pytest.raises(BadRequest):
        accounts.make_token(make_superuser(), label, scope, days)


def test_the_scope_review_needs_the_role() -> None:
    with pytest.raises(NotAllowed):
        accounts.make_token(make_user(), "a", "review", 30)
    assert accounts.make_token(make_user(groups=["reviewer"]), "a", "review", 30)[0].scope == "review"


def test_the_last_use_is_written_at_most_every_five_minutes(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    _, text = accounts.make_token(make_user(), "a", "read", 30)
    accounts.token_owner(text)
    with django_assert_num_queries(1):
        accounts.token_owner(text)
    with time_machine.travel(timezone.now() + timedelta(minutes=5, seconds=1)), django_assert_num_queries(2):
        accounts.token_owner(text)


# Sign-in


def sign_in(client: Client, username: str, password: str = PASSWORD, **more: str) -> Any:
    return client.post(SIGN_IN, {"username": username, "password": password, **more})


def test_signing_in_leads_to_the_overview_and_is_audited(client: Client) -> None:
    user = make_user("ines")
    response = sign_in(client, "Ines")
    assert (response.status_code, response.headers["Location"]) == (302, reverse("overview"))
    event = AuditEvent.objects.get()
    assert (event.event, event.actor, event.object_label, event.through) == ("signed_in", user, "from 127.0.0.1", "page")


def test_a_hash_of_another_size_is_made_anew_at_sign_in(client: Client) -> None:
    user = make_user("ada")
    with override_settings(PASSWORD_HASHERS=installed.PASSWORD_HASHERS):
        user.password = Argon2PasswordHasher().encode(PASSWORD, "0123456789abcdef0123456789abcdef")
        user.save()
        assert client.post(SIGN_IN, {"username": "ada", "password": PASSWORD}).status_code == 302
        user.refresh_from_db()
        # OWASP's password storage cheat sheet: Argon2id with 19 MiB, two iterations, one degree of parallelism.
        assert user.password.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
        assert user.check_password(PASSWORD)
        assert not user.check_password(PASSWORD + "x")


def test_the_session_id_changes_at_sign_in(client: Client) -> None:
    make_user("ines")
    session = client.session
    session["planted"] = "by somebody else"
    session.save()
    client.cookies[settings.SESSION_COOKIE_NAME] = str(session.session_key)
    sign_in(client, "ines")
    assert client.cookies[settings.SESSION_COOKIE_NAME].value != session.session_key
    assert not client.session.exists(str(session.session_key))


def test_unknown_name_wrong_password_and_deactivated_account_get_one_answer(client: Client) -> None:
    make_user("ines")
    make_user("former", is_active=False)
    answers = []
    for name, password in (("nobody", PASSWORD), ("ines", "wrong"), ("former", PASSWORD)):
        response = sign_in(Client(), name, password)
        assert response.status_code == 422
        answers.append(response.content.decode().replace(name, "NAME"))
    assert len({without_csrf(answer) for answer in answers}) == 1
    assert PASSWORD not in answers[0]


def without_csrf(html: str) -> str:
    return re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", html)


def test_sign_in_keeps_to_this_site(client: Client) -> None:
    make_user("ines")
    for target in ("//evil.example", "/\\evil.example", "https://evil.example/", "javascript:alert(1)", "\\\\evil"):
        response = sign_in(Client(), "ines", next=target)
        assert response.headers["Location"] == reverse("overview")
    assert sign_in(Client(), "ines", next="/stores/?a=1").headers["Location"] == "/stores/?a=1"


def test_eight_failures_lock_the_name_out_for_this_address_whatever_its_case(client: Client) -> None:
    make_user("ines")
    for attempt in range(7):
        assert sign_in(client, "iNeS" if attempt % 2 else "Ines", "wrong").status_code == 422
    assert sign_in(client, "INES", "wrong").status_code == 429
    assert sign_in(client, "ines").status_code == 429
    other = Client(REMOTE_ADDR="10.0.0.9")
    assert sign_in(other, "ines").status_code == 302
    with time_machine.travel(timezone.now() + timedelta(minutes=16)):
        assert sign_in(client, "ines").status_code == 302


def test_the_throttle_answers_alike_for_names_that_no_account_has(client: Client) -> None:
    make_user("ines")
    texts = []
    for name in ("ines", "nobody"):
        for _ in range(8):
            response = sign_in(client, name, "wrong")
        texts.append(response.content)
        assert response.status_code == 429
    assert texts[0] == texts[1]


def test_failures_are_audited_the_lock_out_once_and_unknown_names_not_kept(client: Client) -> None:
    make_user("ines")
    for _ in range(11):
        sign_in(client, "ines", "wrong")
    events = list(AuditEvent.objects.order_by("number"))
    assert [event.event for event in events] == ["sign_in_failed"] * 8
    assert [event.detail for event in events] == [{}] * 7 + [{"locked_out_minutes": 15}]
    assert {event.actor_label for event in events} == {"ines"}
    sign_in(client, PASSWORD, "ines")
    assert AuditEvent.objects.first().actor_label == "a name that no account has"  # type: ignore[union-attr]
    assert not AuditEvent.objects.filter(actor_label__contains="horse").exists()


def test_signing_in_forgets_earlier_failures(client: Client) -> None:
    make_user("ines")
    for _ in range(7):
        sign_in(client, "ines", "wrong")
    assert sign_in(client, "ines").status_code == 302
    client.logout()
    assert sign_in(client, "ines", "wrong").status_code == 422


def test_signing_out_takes_a_post_and_ends_the_session(client: Client) -> None:
    make_user("ines")
    sign_in(client, "ines")
    assert client.get("/sign-out/").status_code == 405
    response = client.post("/sign-out/")
    assert (response.status_code, response.headers["Location"]) == (302, SIGN_IN)
    assert client.get("/account/").status_code == 302
    assert AuditEvent.objects.first().event == "signed_out"  # type: ignore[union-attr]


def test_who_is_signed_in_is_led_on_from_the_sign_in_page(client: Client) -> None:
    client.force_login(make_user())
    assert client.get(SIGN_IN).headers["Location"] == reverse("overview")


def test_a_session_that_ended_is_named_on_the_sign_in_page(client: Client) -> None:
    client.force_login(make_user())
    with time_machine.travel(timezone.now() + timedelta(hours=settings.SESSION_HOURS, minutes=1)):
        page = client.get("/account/", follow=True)
    assert "Your session ended after 12 hours" in page.content.decode()
    assert "session ended" not in Client().get("/account/", follow=True).content.decode()


def address(**meta: str) -> str:
    return sign_ins.client_address(RequestFactory().get("/", **meta))  # type: ignore[arg-type]


def test_forwarded_addresses_count_only_behind_a_trusted_proxy_and_only_its_own_word() -> None:
    assert address(HTTP_X_FORWARDED_FOR="1.2.3.4") == "127.0.0.1"
    with override_settings(TRUSTED_PROXY=True):
        assert address(HTTP_X_FORWARDED_FOR="1.2.3.4, 5.6.7.8") == "5.6.7.8"
        assert address(HTTP_X_FORWARDED_FOR="rubbish") == "127.0.0.1"
        assert address(REMOTE_ADDR="") == sign_ins.NO_ADDRESS


# Idle time-out


def writes(client: Client, path: str) -> list[str]:
    assert connection.features.supports_json_field  # which Django finds out once a process, in a savepoint
    with CaptureQueriesContext(connection) as captured:
        client.get(path)
    return [query["sql"] for query in captured.captured_queries if not query["sql"].lstrip("( ").upper().startswith(("SELECT", "WITH"))]


def test_reading_writes_the_session_at_most_every_five_minutes(client: Client) -> None:
    make_user("ines")
    sign_in(client, "ines")
    assert writes(client, "/account/") == []
    with time_machine.travel(timezone.now() + timedelta(minutes=5, seconds=1)):
        assert any("django_session" in statement for statement in writes(client, "/account/"))
        assert writes(client, "/account/") == []


def test_the_polled_strip_keeps_no_session_alive(client: Client) -> None:
    make_user("ines")
    sign_in(client, "ines")
    hours = settings.SESSION_HOURS
    begin = timezone.now()
    for passed in (0.5, 0.9):
        with time_machine.travel(begin + timedelta(hours=hours * passed)):
            assert writes(client, "/status/") == []
    with time_machine.travel(begin + timedelta(hours=hours, minutes=1)):
        assert client.get("/account/").status_code == 302


def test_use_keeps_a_session_alive(client: Client) -> None:
    make_user("ines")
    sign_in(client, "ines")
    begin = timezone.now()
    for passed in (0.5, 1.2, 1.9):
        with time_machine.travel(begin + timedelta(hours=settings.SESSION_HOURS * passed)):
            assert client.get("/account/").status_code == 200
