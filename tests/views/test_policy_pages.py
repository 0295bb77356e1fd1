"""Policies are read by reviewers, changed by superusers, and say before they are saved what they would change."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from stores import checks
from stores.errors import BadRequest
from stores.models import AuditEvent, Installation, LifecycleAction, Node, Review, ReviewPolicy, Store, User
from stores.review import approving, keys, policies
from stores.review.deciding import Manner
from stores.review.installation import is_applying
from tests.factories import PASSWORD, make_store, make_superuser, make_user
from tests.review.queues import archiving, imported, promotion, queued
from tests.views.parsing import elements, text

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data_folder(settings: Settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path.resolve() / "data"
    settings.STORE_ROOTS = (tmp_path.resolve(),)
    return tmp_path / "data"


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def typed(client: Client, address: str, **changes: object) -> dict[str, object]:
    """Give the form as the page shows it, with some values changed."""
    form = client.get(address).context["form"]
    values = {name: field.value() for name, field in ((field.html_name, field) for field in form)}
    return {name: value for name, value in {**values, **changes}.items() if value not in (None, False, "", [])}


def approved(tmp_path: Path) -> tuple[Store, LifecycleAction, User]:
    store, _ = imported(tmp_path)
    action, user = queued(store), make_user("ines", groups=("reviewer",))
    approving.approve(user, action.pk, action.digest, Manner("page", timezone.now()))
    action.refresh_from_db()
    assert action.state == "approved"
    return store, action, user


def test_a_change_is_shown_before_it_is_saved(tmp_path: Path) -> None:
    store, action, _ = approved(tmp_path)
    client, address = signed_in(make_superuser()), f"/stores/{store.slug}/policy/"
    shown = client.post(address, typed(client, address, people__transition_phase=2))
    assert shown.status_code == 200
    assert "1 approved action would wait again" in text(shown)
    assert f"#{action.pk} transition_phase" in text(shown)
    assert not ReviewPolicy.objects.exists()
    looked = shown.context["looked"]
    saved = client.post(address, typed(client, address, people__transition_phase=2, looked=looked), follow=True)
    assert "is in force" in text(saved)
    row = ReviewPolicy.objects.get()
    assert (row.store, row.approvals, row.approvals_by_verb, row.number) == (store, 1, {"transition_phase": 2}, 1)
    event = AuditEvent.objects.get(event="policy_changed")
    assert event.detail["approvals_by_verb"] == {"from": "{}", "to": "{'transition_phase': 2}"}


def test_another_form_than_the_one_that_was_shown_is_shown_again() -> None:
    client, address = signed_in(make_superuser()), "/review/policy/"
    looked = client.post(address, typed(client, address, approvals=2)).context["looked"]
    again = client.post(address, typed(client, address, approvals=3, looked=looked))
    assert again.status_code == 200
    assert not ReviewPolicy.objects.exists()


def test_a_policy_that_somebody_else_changed_meanwhile_is_not_written_over() -> None:
    root = make_superuser()
    client, address = signed_in(root), "/review/policy/"
    old = typed(client, address, approvals=2)
    policies.change_policy(None, {"approvals": 3}, "default.0", root, timezone.now(), through="page")
    assert client.post(address, old).status_code == 409
    assert ReviewPolicy.objects.get().approvals == 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"denied__transition_phase": "on"}, "1 open action would no longer be allowed"),
        ({"review__archive": "on"}, "1 action that needs no review would need one"),
        ({"auto__archive": "on"}, "1 action that waits for an operator would be applied at once"),
        ({"people__transition_phase": 2}, "1 waiting action would need more people"),
        ({"lifetime_days": 2}, "No action that waits is concerned"),
    ],
)
def test_what_a_policy_changes_is_counted_for_every_way_of_changing_it(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    store, _ = imported(tmp_path)
    assert (queued(store, promotion()).state, queued(store, archiving()).state) == ("pending", "ready")
    client, address = signed_in(make_superuser()), f"/stores/{store.slug}/policy/"
    assert words in text(client.post(address, typed(client, address, **changes)))


def test_approvals_of_people_outside_the_named_groups_would_not_count(tmp_path: Path) -> None:
    store, _, user = approved(tmp_path)
    client, address = signed_in(make_superuser()), f"/stores/{store.slug}/policy/"
    make_user("lead", groups=("reviewer", "leads"))
    assert "would wait again" in text(client.post(address, typed(client, address, reviewer_groups=["leads"])))
    user.groups.add(make_user("other", groups=("leads",)).groups.get())
    assert "would wait again" not in text(client.post(address, typed(client, address, reviewer_groups=["leads"])))


def test_the_policy_for_all_concerns_only_stores_without_their_own(tmp_path: Path) -> None:
    store, _, _ = approved(tmp_path)
    root = make_superuser()
    client, address = signed_in(root), "/review/policy/"
    assert "1 approved action would wait again" in text(client.post(address, typed(client, address, approvals=2)))
    policies.change_policy(store, {"approvals": 1}, f"{store.pk}.0", root, timezone.now(), through="page")
    assert "No action that waits is concerned" in text(client.post(address, typed(client, address, approvals=2)))


def test_expired_and_withdrawn_approvals_count_for_nothing(tmp_path: Path) -> None:
    store, _, _ = approved(tmp_path)
    client, address = signed_in(make_superuser()), f"/stores/{store.slug}/policy/"
    Review.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "1 approved action would wait again" in text(client.post(address, typed(client, address, lifetime_days=3)))


def test_the_strict_preset_asks_for_two_people_where_much_is_at_stake(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    page = signed_in(make_superuser()).get(f"/stores/{store.slug}/policy/?preset=strict")
    form = page.context["form"]
    assert {row.name: row.people.value() for row in form.verb_rows if row.people.value()} == dict.fromkeys(
        ["undo", "request_delete", "merge", "restore", "set_file_aside", "replace_record"], 2
    )
    assert all(row.review_always.value() for row in form.verb_rows if row.review_always is not None)
    assert not ReviewPolicy.objects.exists()


def test_reviewers_read_and_do_not_change() -> None:
    store = make_store("shop-api")
    client = signed_in(make_user(groups=("reviewer",)))
    for address in ("/review/policy/", f"/stores/{store.slug}/policy/"):
        page = client.get(address)
        assert page.status_code == 200
        assert "Show what it would change" not in text(page)
        assert client.post(address, {"approvals": 1}).status_code == 403
    for groups in (("viewer",), ("operator",)):
        assert signed_in(make_user(groups=groups)).get("/review/policy/").status_code == 403


def test_what_cannot_be_is_refused_by_name() -> None:
    client, address = signed_in(make_superuser()), "/review/policy/"
    refused = client.post(address, typed(client, address, approvals=0, people__merge=99))
    assert refused.status_code == 422
    assert "People who approve merge:" in text(refused)
    assert not ReviewPolicy.objects.exists()


def test_a_single_reviewer_is_told_on_every_page_of_its_store_and_is_never_for_all(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    root = make_superuser()
    client = signed_in(root)
    assert "single_reviewer" not in client.get("/review/policy/").context["form"].fields
    with pytest.raises(BadRequest):
        policies.change_policy(None, {"single_reviewer": True}, "default.0", root, timezone.now(), through="page")
    pages = [f"/stores/{store.slug}/{tab}" for tab in ("", "faults/", "paths/", "phases/", "settings/", "files/", "policy/")]
    pages.append(Node.objects.filter(store=store).order_by("pk")[0].get_absolute_url())
    said = "A single reviewer decides on this store"
    assert not any(said in text(client.get(page)) for page in pages)
    policies.change_policy(store, {"single_reviewer": True}, f"{store.pk}.0", root, timezone.now(), through="page")
    assert [page for page in pages if said not in text(client.get(page))] == []
    assert said not in text(client.get("/stores/"))


def test_changes_and_keys_are_listed(tmp_path: Path) -> None:
    root = make_superuser()
    policies.change_policy(None, {"approvals": 2}, "default.0", root, timezone.now(), through="page")
    kid = keys.make_key(timezone.now())[0]
    page = text(signed_in(make_user(groups=("reviewer",))).get("/review/policy/"))
    assert "version default.1" in page
    assert kid in page


def test_a_key_whose_owner_keeps_memory_is_told_in_red(tmp_path: Path, settings: Settings) -> None:
    client = signed_in(make_superuser())
    warning = "an agent with a shell can approve"
    assert checks.check_key_custody(None) == []
    assert warning not in text(client.get("/review/policy/"))
    keys.make_key(timezone.now())
    for address in ("/review/policy/", "/health/", "/review/switch/"):
        assert warning in text(client.get(address)), address
    assert [one.id for one in checks.check_key_custody(None)] == ["stores.W004"]
    settings.STORE_ROOTS = (tmp_path / "gone",)
    assert checks.check_key_custody(None) == []


def test_the_switch_asks_for_the_password_and_stands_on_every_page() -> None:
    operator = make_user("olga", groups=("operator",), first_name="Olga", last_name="Berg")
    client = signed_in(operator)
    assert "Applying is off" in text(client.get("/"))
    assert client.post("/review/switch/", {"to": "on", "password": "not it"}).status_code == 422
    assert AuditEvent.objects.filter(event="sign_in_failed").exists()
    assert not is_applying()
    client.post("/review/switch/", {"to": "on", "password": PASSWORD, "reason": "ready"})
    assert is_applying()
    assert "Applying on" in text(client.get("/"))
    client.post("/review/switch/", {"to": "off", "password": PASSWORD, "reason": "a restore is under way"})
    assert "Applying stopped by Olga Berg" in text(client.get("/account/"))
    assert [event.event for event in AuditEvent.objects.filter(event__startswith="applying").order_by("number")] == [
        "applying_on", "applying_off",
    ]  # fmt: skip


def test_nobody_else_turns_the_switch() -> None:
    for groups in (("viewer",), ("reviewer",)):
        client = signed_in(make_user(groups=groups))
        assert client.get("/review/switch/").status_code == 200
        assert client.post("/review/switch/", {"to": "on", "password": PASSWORD}).status_code == 403
    assert not Installation.objects.filter(applying=True).exists()


def dropping(client: Client, store: Store) -> dict[str, str]:
    """Give what the form that drops a policy carries."""
    page = client.get(f"/stores/{store.slug}/policy/drop/")
    fields = [one for tag, one in elements(page) if tag == "input" and one.get("name") in ("seen", "instead")]
    return {one["name"]: one["value"] for one in fields}


def with_two_people(store: Store, root: User) -> ReviewPolicy:
    """Give a store a policy under which two people approve."""
    return policies.change_policy(store, {"approvals": 2}, f"{store.pk}.0", root, timezone.now(), through="page")


def test_a_policy_is_dropped_after_what_it_changes_was_said(tmp_path: Path) -> None:
    store, _, _ = approved(tmp_path)
    root = make_superuser()
    client = signed_in(root)
    policies.change_policy(None, {"approvals": 3}, "default.0", root, timezone.now(), through="page")
    own = policies.change_policy(store, {"approvals": 1}, f"{store.pk}.0", root, timezone.now(), through="page")
    address = f"/stores/{store.slug}/policy/"
    assert f"{address}drop/" in client.get(address).content.decode()
    assert "1 approved action would wait again" in text(client.get(f"{address}drop/"))
    assert policies.policy_for(store).version == own.version
    assert "Dropped: policy default.1" in text(client.post(f"{address}drop/", dropping(client, store), follow=True))
    assert policies.policy_for(store).version == "default.1" and policies.policy_for(store).approvals == 3
    event = AuditEvent.objects.get(event="policy_dropped")
    assert (event.actor, event.store_uid) == (root, store.uid)
    assert event.detail["approvals"] == {"from": "1", "to": "3"} and event.detail["instead"] == "default.1"
    page = client.get(address)
    assert "no policy of its own" in text(page) and "dropped" in text(page) and "policy/drop" not in page.content.decode()


def test_an_approval_that_falls_below_the_policy_for_all_does_not_count_any_more(tmp_path: Path) -> None:
    store, action, _ = approved(tmp_path)
    root = make_superuser()
    policies.change_policy(None, {"approvals": 2}, "default.0", root, timezone.now(), through="page")
    own = policies.change_policy(store, {"approvals": 1}, f"{store.pk}.0", root, timezone.now(), through="page")
    other = make_user("rita", groups=("reviewer",))
    nothing = approving.refusals(other, [action], Manner("page", timezone.now()))[action.pk]
    assert nothing.code == "moved", "one approval is enough"
    policies.drop_policy(store, own.version, "default.1", root, timezone.now(), through="page")
    assert approving.approve(other, action.pk, action.digest, Manner("page", timezone.now())).code == "counted"


def test_a_policy_made_after_one_was_dropped_has_a_version_of_its_own_and_nothing_of_the_old_one(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    root = make_superuser()
    first = policies.change_policy(
        store, {"approvals": 2, "single_reviewer": True, "auto_apply": ["archive"]}, f"{store.pk}.0", root, timezone.now(), through="page"
    )
    client, address = signed_in(root), f"/stores/{store.slug}/policy/"
    policies.drop_policy(store, first.version, "default.0", root, timezone.now(), through="page")
    assert "A single reviewer decides" not in text(client.get(address))
    looked = client.post(address, typed(client, address)).context["looked"]
    assert client.post(address, typed(client, address, looked=looked)).status_code == 302
    made = policies.policy_for(store)
    assert made.store == store and made.version not in (first.version, f"{store.pk}.2")
    assert (made.approvals, made.single_reviewer, made.auto_apply) == (1, False, [])
    assert ReviewPolicy.objects.count() == 1


def test_a_policy_that_was_changed_meanwhile_is_not_dropped(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    root = make_superuser()
    own = with_two_people(store, root)
    client, address = signed_in(root), f"/stores/{store.slug}/policy/drop/"
    old = dropping(client, store)
    policies.change_policy(None, {"approvals": 1}, "default.0", root, timezone.now(), through="page")
    assert client.post(address, old).status_code == 409, "that for all is another one now"
    policies.change_policy(store, {"approvals": 3}, own.version, root, timezone.now(), through="page")
    assert client.post(address, {**dropping(client, store), "seen": own.version}).status_code == 409
    assert policies.policy_for(store).approvals == 3
    assert client.post(address, dropping(client, store)).status_code == 302
    assert client.get(address).status_code == 409


def test_only_those_who_administer_drop_a_policy(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    own = with_two_people(store, make_superuser())
    client, address = signed_in(make_user("rita", groups=("reviewer", "operator"))), f"/stores/{store.slug}/policy/drop/"
    assert client.get(address).status_code == 403
    assert client.post(address, {"seen": own.version, "instead": "default.0"}).status_code == 403
    assert "policy/drop" not in client.get(f"/stores/{store.slug}/policy/").content.decode()
    assert policies.policy_for(store).version == own.version
