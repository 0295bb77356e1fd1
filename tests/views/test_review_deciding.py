"""Decisions on the page of an action: only by the right person, and only on exactly what was shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from stores.models import AuditEvent, LifecycleAction, Review, User
from stores.review.submitting import Proposer
from tests.factories import PASSWORD, make_superuser, make_user
from tests.review.conftest import data_folder
from tests.review.queues import archiving, deletion, imported, queued, reviewer
from tests.views.parsing import elements, text
from tests.views.queue_scenes import BESIDE, button, change_node, decide, form_of, made_action, state_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_folder")]
__all__ = ["data_folder"]


def test_an_approval_counts_for_what_was_shown_and_leads_to_the_next_one(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action, other = queued(store), queued(store, deletion())
    address = f"/review/{action.pk}/?tab=all&sort=oldest"
    body = {**form_of(client, action.pk, address), "decision": "approve", "reason": "It held for a quarter"}
    assert body["list"] == "tab=all&sort=oldest"
    response = client.post(f"/review/{action.pk}/decide/", body)
    assert response.status_code == 302 and response.headers["Location"].startswith(f"/review/{other.pk}/?")
    review = Review.objects.get(action=action)
    assert (state_of(action), review.reviewer, review.reason, review.through, review.digest) == (
        "approved", ana, "It held for a quarter", "page", action.digest,
    )  # fmt: skip
    assert review.took_s is not None and 0 <= review.took_s < 60
    after = text(client.get(response.headers["Location"]))
    assert f"Approved #{action.pk}" in after
    assert "Applying is switched off" in text(client.get(f"/review/{action.pk}/"))


def test_beside_the_list_a_decision_leads_back_to_the_list(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action, other = queued(store), queued(store, deletion())
    part = client.get(f"/review/{action.pk}/?tab=all&sort=oldest", headers=BESIDE)
    assert "<html" not in part.content.decode() and "<h2" in part.content.decode()
    body = {
        attributes["name"]: attributes.get("value", "")
        for tag, attributes in elements(part)
        if tag == "input" and attributes.get("name") in ("digest", "revision", "shown", "list", "beside")
    }
    answer = client.post(f"/review/{action.pk}/decide/", {**body, "decision": "reject", "reason": "Still needed"})
    assert answer.headers["Location"] == f"/review/?sort=oldest&open={other.pk}"
    assert state_of(action) == "rejected"


@pytest.mark.parametrize("changes", [{"digest": "sha256:" + "0" * 64}, {"revision": "0"}])
def test_another_digest_or_revision_is_refused_and_what_was_typed_is_kept(
    client: Client, ana: User, tmp_path: Path, changes: dict[str, str]
) -> None:
    store, _ = imported(tmp_path)
    action = queued(store)
    response = decide(client, action, "approve", None, reason="My long and careful reason", **changes)
    assert response.status_code == 409 and "My long and careful reason" in response.content.decode()
    assert state_of(action) == "pending" and not Review.objects.exists()


def test_a_form_without_what_it_was_shown_decides_nothing(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action = queued(store)
    assert client.post(f"/review/{action.pk}/decide/", {"decision": "approve"}).status_code == 400
    assert client.post(f"/review/{action.pk}/decide/", {**form_of(client, action.pk), "decision": "apply"}).status_code == 400
    assert state_of(action) == "pending"


def test_how_long_a_decision_took_is_not_believed_without_our_signature(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action = queued(store)
    assert decide(client, action, "approve", shown="0:forged").status_code == 302
    assert Review.objects.get().took_s is None


def test_a_target_that_moved_stops_the_approval_and_can_be_renewed(client: Client, ana: User, tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    action = queued(store)
    body = form_of(client, action.pk)
    change_node(root, store, confidence=0.25)
    shown = client.get(f"/review/{action.pk}/")
    said = text(shown)
    assert "nodes/node.b.json changed after this was proposed" in said and "changed since it was proposed" in said
    assert "disabled" in button(shown) and "would not apply" in said
    assert "0.25" in said
    refused = client.post(f"/review/{action.pk}/decide/", {**body, "decision": "approve", "reason": "kept"})
    assert (refused.status_code == 409 and 'value="kept"' in refused.content.decode()) or "kept" in text(refused)
    assert state_of(action) == "stale" and not Review.objects.exists()
    answer = decide(client, LifecycleAction.objects.get(pk=action.pk), "renew")
    made = LifecycleAction.objects.get(renewed_from=action)
    assert answer.headers["Location"].startswith(f"/review/{made.pk}/") and made.state == "pending" and made.digest != action.digest
    assert f"Renewed as#{made.pk}" in text(client.get(f"/review/{action.pk}/"))


@pytest.mark.parametrize("headers", [{}, BESIDE])
def test_who_proposed_cannot_approve(client: Client, ana: User, tmp_path: Path, headers: dict[str, str]) -> None:
    store, _ = imported(tmp_path)
    action = queued(store, proposer=Proposer("ana", "page", "page", ana))
    shown = client.get(f"/review/{action.pk}/", headers=headers)
    assert "disabled" in button(shown) and "Four eyes: it was proposed or changed by you" in text(shown)
    response = decide(client, action, "approve", headers)
    assert response.status_code == 403 and "Four eyes" in text(response)
    assert state_of(action) == "pending" and not Review.objects.exists()
    assert AuditEvent.objects.filter(event="decision_refused", detail__code="four_eyes").count() == 1


def test_a_superuser_may_set_four_eyes_aside_with_a_reason(client: Client, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    root = make_superuser()
    client.force_login(root)
    action = queued(store, proposer=Proposer("root", "page", "page", root))
    assert decide(client, action, "approve", break_glass="1").status_code == 403
    assert decide(client, action, "approve", break_glass="1", reason="Nobody else is here").status_code == 302
    assert Review.objects.get().separation == "broken"
    assert "four eyes set aside" in text(client.get(f"/review/{action.pk}/"))


def test_what_takes_something_away_asks_for_the_password(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action = queued(store, deletion())
    assert any(attributes.get("type") == "password" for _, attributes in elements(client.get(f"/review/{action.pk}/")))
    without = decide(client, action, "approve", reason="old")
    assert without.status_code == 403 and "password" in text(without)
    wrong = decide(client, action, "approve", password="not it", reason="old")
    assert wrong.status_code == 403 and "not it" not in wrong.content.decode()
    assert AuditEvent.objects.filter(event="sign_in_failed").count() == 1
    assert state_of(action) == "pending"
    assert decide(client, action, "approve", password=PASSWORD).status_code == 302
    assert state_of(action) == "approved"


def test_guessing_the_password_is_throttled_like_a_sign_in(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action = queued(store, deletion())
    answers = [decide(client, action, "approve", password=f"guess {number}").status_code for number in range(9)]
    assert answers[0] == 403 and answers[-1] == 429
    assert decide(client, action, "approve", password=PASSWORD).status_code == 429
    assert state_of(action) == "pending"


def test_a_rejection_needs_a_reason(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action = queued(store)
    assert decide(client, action, "reject").status_code == 400
    assert state_of(action) == "pending"
    assert decide(client, action, "reject", reason="Still needed").status_code == 302
    assert (state_of(action), Review.objects.get().reason) == ("rejected", "Still needed")


def test_an_own_approval_is_withdrawn_before_it_is_applied(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action = queued(store)
    decide(client, action, "approve")
    assert decide(client, action, "withdraw").status_code == 302
    assert state_of(action) == "withdrawn"
    assert "withdrawn" in text(client.get(f"/review/{action.pk}/")) and "never written" in text(client.get(f"/review/{action.pk}/"))


def test_only_an_operator_lets_an_action_be_applied(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action = queued(store, archiving())
    assert decide(client, action, "allow").status_code == 403
    client.force_login(make_user("olga", groups=("operator",)))
    assert decide(client, action, "allow").status_code == 302
    assert LifecycleAction.objects.get(pk=action.pk).apply_asked_by is not None


ROUTES = ("decide", "comment", "assign", "snooze", "look")


@pytest.mark.parametrize("route", ROUTES)
def test_nothing_is_done_by_looking_or_by_strangers(client: Client, tmp_path: Path, route: str) -> None:
    action = made_action(imported(tmp_path)[0], 1)
    address = f"/review/{action.pk}/{route}/"
    assert client.post(address).headers["Location"].startswith("/sign-in/")
    client.force_login(reviewer("ana"))
    assert client.get(address).status_code == 405
    assert Client(enforce_csrf_checks=True).post(address).status_code == 403


@pytest.mark.parametrize(("groups", "status"), [(("viewer",), 403), (("operator",), 403), (("reviewer",), 302)])
@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_only_reviewers_decide(client: Client, tmp_path: Path, groups: tuple[str, ...], status: int, decision: str) -> None:
    store, _ = imported(tmp_path)
    action = queued(store)
    client.force_login(make_user("someone", groups=groups))
    assert decide(client, action, decision, reason="because").status_code == status
    assert state_of(action) == ({"approve": "approved", "reject": "rejected"}[decision] if status == 302 else "pending")


@pytest.mark.parametrize("decision", ["renew", "undo", "check"])
def test_viewers_propose_and_check_nothing(client: Client, tmp_path: Path, decision: str) -> None:
    store, _ = imported(tmp_path)
    action = queued(store)
    LifecycleAction.objects.filter(pk=action.pk).update(state="stale" if decision == "renew" else "applied", is_sample=True)
    client.force_login(make_user("someone", groups=("viewer",)))
    assert decide(client, action, decision).status_code == 403
    assert LifecycleAction.objects.count() == 1


def test_from_the_whole_queue_a_decision_leads_back_to_it(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    first, last = queued(store, deletion()), queued(store)
    body = {**form_of(client, first.pk, f"/review/{first.pk}/?tab=all"), "decision": "reject", "reason": "Still needed"}
    answer = client.post(f"/review/{first.pk}/decide/", {**body, "beside": "1"})
    assert answer.headers["Location"] == f"/review/?open={last.pk}"
    body = {**form_of(client, last.pk, f"/review/{last.pk}/?tab=all"), "decision": "reject", "reason": "Still needed"}
    assert client.post(f"/review/{last.pk}/decide/", body).headers["Location"] == "/review/"
