"""An action proposed otherwise: its form is filled in, a new one takes its place, and who changed it cannot approve it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from stores.lifecycle.vocabulary import VERBS
from stores.mirror.importing import import_store
from stores.models import AuditEvent, LifecycleAction, Review, Store, User
from stores.review import deciding
from stores.review.approving import approve, refusals
from stores.review.submitting import Proposer, submit
from stores.selectors.proposal_words import says
from tests.factories import make_user
from tests.phase_memory_folders import node, path, put
from tests.review.conftest import data_folder
from tests.review.queues import AGENT, NOW, by_page, imported, queued, reviewer
from tests.views.parsing import text
from tests.views.queue_scenes import button, state_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_folder")]
__all__ = ["data_folder"]


def tree(tmp_path: Path) -> Store:
    """Make a store with nodes and paths in the states from which verbs lead on."""
    store, root = imported(tmp_path)
    put(root, "node", node("node.d", lifecycle_state="stale"))
    put(root, "node", node("node.e", lifecycle_state="archived"))
    put(root, "path", path("path.b"))
    import_store(store)
    return store


def handed_in(store: Store, proposer: Proposer = AGENT, **record: object) -> LifecycleAction:
    """Queue what an agent proposes in its own words."""
    (result,) = submit(store, [{"reason": "an agent's", **record}], proposer, NOW)
    assert result.action is not None, result
    return LifecycleAction.objects.get(pk=result.action.pk)


def filled_in(client: Client, action: LifecycleAction) -> dict[str, Any]:
    """Give the form as its page shows it: what a browser would send."""
    form = client.get(f"/review/{action.pk}/edit/").context["form"]
    values = {field.html_name: field.value() for field in form}
    return {name: ("on" if value is True else value) for name, value in values.items() if value not in (None, False, "", [])}


def edited(client: Client, action: LifecycleAction, **changes: object) -> LifecycleAction:
    answer = client.post(f"/review/{action.pk}/edit/", {**filled_in(client, action), **changes})
    assert answer.status_code == 302, text(answer)
    made = LifecycleAction.objects.order_by("-pk")[0]
    assert answer.headers["Location"] == f"/review/{made.pk}/"
    return made


SOURCE = "sha256:" + "ab" * 32
CASES: list[tuple[dict[str, Any], dict[str, str], dict[str, Any]]] = [
    ({"action": "transition_phase", "target_ids": ["node.b"], "to_phase": "stabilized"}, {"to_phase": "rigid"}, {"to_phase": "rigid"}),
    (
        {"action": "mark_stale", "target_ids": ["node.b"], "parameters": {"strength_to": 0.5, "note": "kept"}},
        {"strength_to": "0.25"}, {"parameters": {"strength_to": 0.25, "note": "kept"}},
    ),
    (
        {"action": "refresh", "target_ids": ["node.d"], "parameters": {"source_digest": SOURCE}},
        {"source_digest": SOURCE.replace("ab", "cd")}, {"parameters": {"source_digest": SOURCE.replace("ab", "cd")}},
    ),
    (
        {"action": "merge", "target_ids": ["node.a", "node.b"], "parameters": {"into": "node.a"}},
        {"into": "node.b"}, {"parameters": {"into": "node.b"}, "target_ids": ["node.a", "node.b"]},
    ),
    (
        {"action": "compact", "target_ids": ["node.a", "node.b"], "parameters": {"strategy": "summarize", "preserve_originals": True}},
        {"summary_text": "Both."}, {"parameters": {"strategy": "summarize", "preserve_originals": True, "summary_text": "Both."}},
    ),
    (
        {"action": "supersede", "target_ids": ["node.b"], "parameters": {"superseded_by": "node.a"}},
        {"superseded_by": "node.c"}, {"parameters": {"superseded_by": "node.c"}},
    ),
    ({"action": "request_delete", "target_ids": ["node.b"], "parameters": {"delete_after_days": 30}},
     {"delete_after_days": "60"}, {"parameters": {"delete_after_days": 60}}),
    ({"action": "archive", "target_ids": ["node.c"]}, {}, {"parameters": {}}),
    ({"action": "restore", "target_ids": ["node.e"]}, {}, {"parameters": {}}),
    ({"action": "create_path", "target_ids": ["path.new"], "parameters": {"title": "One"}}, {"title": "Two"}, {"parameters": {"title": "Two"}}),
    (
        {"action": "branch_path", "target_ids": ["path.new"], "parameters": {"parent_path_id": "path.b", "title": "One"}},
        {"new_id": "path.other"}, {"target_ids": ["path.other"], "parameters": {"parent_path_id": "path.b", "title": "One"}},
    ),
    (
        {"action": "merge_path", "target_ids": ["path.b"], "parameters": {"merge_target": "path.a"}},
        {}, {"parameters": {"merge_target": "path.a"}},
    ),
    (
        {"action": "abandon_path", "target_ids": ["path.b"], "parameters": {"abandoned_reason": "slow"}},
        {"abandoned_reason": "too slow"}, {"parameters": {"abandoned_reason": "too slow"}},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("given", "changes", "expected"), CASES, ids=[str(one[0]["action"]) for one in CASES])
def test_the_form_is_filled_in_and_what_was_changed_takes_its_place(
    client: Client, ana: User, tmp_path: Path, given: dict[str, Any], changes: dict[str, str], expected: dict[str, Any]
) -> None:
    action = handed_in(tree(tmp_path), **given)
    made = edited(client, action, **{**changes, "reason": "said better"})
    record = json.loads(made.record)
    assert {name: record[name] for name in expected} == expected
    assert (made.verb, record["reason"], made.renewed_from, made.proposer) == (action.verb, "said better", action, ana)
    assert state_of(action) == "withdrawn"


def test_nobody_who_proposed_or_changed_it_can_approve_it(client: Client, ana: User, tmp_path: Path) -> None:
    bob = reviewer("bob", email="bob@example.org")
    owner = reviewer("owner")
    action = handed_in(
        tree(tmp_path), Proposer("Bob", "agent", "API", owner), action="transition_phase", target_ids=["node.b"], to_phase="stabilized"
    )
    made = edited(client, action, to_phase="rigid")
    for one in (ana, bob, owner):
        assert refusals(one, [made], by_page(password_given=True))[made.pk].code == "four_eyes"
    assert "disabled" in button(client.get(f"/review/{made.pk}/"))
    assert approve(reviewer("rita"), made.pk, made.digest, by_page(password_given=True)).code == "approved"


def test_an_edit_of_an_edit_bars_all_who_took_part(client: Client, ana: User, tmp_path: Path) -> None:
    action = handed_in(tree(tmp_path), action="archive", target_ids=["node.c"])
    first = edited(client, action, reason="one")
    ben = reviewer("ben")
    client.force_login(ben)
    second = edited(client, first, reason="two")
    assert second.barred == sorted([ana.pk, ben.pk])
    assert "it was proposed or changed by you" in text(client.get(f"/review/{second.pk}/"))


def test_what_is_not_changed_is_in_the_queue_already_and_nothing_is_withdrawn(client: Client, ana: User, tmp_path: Path) -> None:
    action = queued(tree(tmp_path), proposer=Proposer("ana", "page", "page", ana))
    made = edited(client, action, reason="anew")
    again = client.post(f"/review/{made.pk}/edit/", filled_in(client, made))
    assert again.status_code == 409 and "in the queue already" in text(again)
    assert state_of(made) == "pending"
    assert LifecycleAction.objects.count() == 2


def test_what_the_intake_refuses_leaves_the_old_action_as_it_was(client: Client, ana: User, tmp_path: Path) -> None:
    action = handed_in(tree(tmp_path), action="supersede", target_ids=["node.b"], parameters={"superseded_by": "node.a"})
    answer = client.post(f"/review/{action.pk}/edit/", {**filled_in(client, action), "superseded_by": "node.b"})
    assert answer.status_code == 422 and "joins at least two different records" in text(answer)
    assert state_of(action) == "pending" and LifecycleAction.objects.count() == 1


def test_an_action_that_was_decided_meanwhile_is_not_replaced(client: Client, ana: User, tmp_path: Path) -> None:
    action = queued(tree(tmp_path))
    form = filled_in(client, action)
    approve(reviewer("rita"), action.pk, action.digest, by_page())
    assert client.post(f"/review/{action.pk}/edit/", {**form, "reason": "late"}).status_code == 409
    assert state_of(action) == "approved" and LifecycleAction.objects.count() == 1
    assert client.get(f"/review/{action.pk}/edit/").status_code == 409


def test_a_form_of_another_version_is_refused(client: Client, ana: User, tmp_path: Path) -> None:
    action = queued(tree(tmp_path))
    answer = client.post(f"/review/{action.pk}/edit/", {**filled_in(client, action), "seen": "0" * 64, "reason": "x"})
    assert answer.status_code == 409 and state_of(action) == "pending"


def test_what_is_over_is_proposed_otherwise_too_and_stays_as_it_is(client: Client, ana: User, tmp_path: Path) -> None:
    action = queued(tree(tmp_path))
    LifecycleAction.objects.filter(pk=action.pk).update(state="stale", closed_at=NOW)
    made = edited(client, action, reason="today")
    assert (state_of(action), made.state) == ("stale", "pending")
    deciding.reject(reviewer("rita"), made.pk, made.digest, by_page("no"))
    assert client.get(f"/review/{made.pk}/edit/").status_code == 409


def test_both_pages_lead_to_each_other_and_the_audit_says_who_did_it(client: Client, ana: User, tmp_path: Path) -> None:
    action = queued(tree(tmp_path))
    page = client.get(f"/review/{action.pk}/")
    assert f'href="/review/{action.pk}/edit/"' in page.content.decode()
    made = edited(client, action, reason="said better")
    assert f"edits #{action.pk}" in text(client.get(f"/review/{made.pk}/"))
    old = client.get(f"/review/{action.pk}/")
    assert "Edited as" in text(old) and f'href="/review/{made.pk}/"' in old.content.decode()
    event = AuditEvent.objects.get(event="action_withdrawn")
    assert (event.actor, event.detail["reason"]) == (ana, f"proposed otherwise as #{made.pk}")
    assert not Review.objects.exists()


def test_viewers_change_what_they_proposed_and_nothing_else(client: Client, tmp_path: Path) -> None:
    store = tree(tmp_path)
    vera = make_user("vera", groups=("viewer",))
    client.force_login(vera)
    mine = handed_in(store, Proposer("vera", "page", "page", vera), action="archive", target_ids=["node.c"])
    other = queued(store)
    assert client.get(f"/review/{other.pk}/edit/").status_code == 403
    assert client.post(f"/review/{other.pk}/edit/", {"reason": "x"}).status_code == 403
    assert edited(client, mine, reason="better").proposer == vera


def test_a_repair_that_leaves_nothing_to_choose_is_not_offered(client: Client, ana: User, tmp_path: Path) -> None:
    store = tree(tmp_path)
    action = queued(store)
    LifecycleAction.objects.filter(pk=action.pk).update(verb="rename_file")
    assert "data-edit" not in client.get(f"/review/{action.pk}/").content.decode()
    assert client.get(f"/review/{action.pk}/edit/").status_code == 409
    assert not says("undo") and "undo" in VERBS["phase-memory"]
