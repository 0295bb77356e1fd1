"""An approval is one person's, about exactly what was shown, signed, and void when anything moved."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from stores import audit
from stores.errors import BadRequest, CannotWrite, Conflict, MemoryUIError, NotAllowed, NotFound
from stores.lifecycle import gate
from stores.mirror.importing import import_store
from stores.models import AuditEvent, KeptBytes, LifecycleAction, Review, ReviewPolicy, SigningKey, Store, User
from stores.review import approving, deciding, keeping, keys, markers, policies, verdicts
from stores.review.deciding import NotFresh, PasswordNeeded
from stores.review.installation import installation
from stores.review.mirror_source import MirrorSource
from stores.review.submitting import Proposer
from tests.factories import make_group, make_superuser, make_user
from tests.lifecycle.cases import action
from tests.phase_memory_folders import node, put
from tests.review.queues import NODE, NOW, archiving, by_page, deletion, imported, queued, reviewer

pytestmark = pytest.mark.django_db


def approved(row: LifecycleAction, user: User | None = None, **more: Any) -> Review:
    user = user or reviewer()
    approving.approve(user, row.pk, row.digest, by_page(**more))
    row.refresh_from_db()
    return Review.objects.get(action=row, reviewer=user, decision="approved")


def refused_with(error: type[MemoryUIError], decide: Callable[[], object], code: str = "") -> None:
    before = list(LifecycleAction.objects.values_list("pk", "state", "revision"))
    with pytest.raises(error):
        decide()
    assert list(LifecycleAction.objects.values_list("pk", "state", "revision")) == before
    assert not Review.objects.filter(decision="approved").exists()
    if code:
        assert AuditEvent.objects.filter(event="decision_refused").latest("number").detail["code"] == code


def test_an_approval_is_a_signed_statement_about_one_action(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row = queued(store)
    lead = reviewer("ines", email="ines@example.test")
    review = approved(row, lead, reason="seen")
    assert (row.state, row.revision, review.digest) == ("approved", 2, row.digest)
    said = markers.read(review.marker, keys.trusted_keys())
    assert said == markers.Marker(
        iss=str(installation().uid),
        sub=str(lead.pk),
        jti=f"memoryui:{review.name}",
        aud=str(store.uid),
        action_id=row.action_id,
        digest=row.digest,
        policy_version="default.0",
        iat=NOW,
        exp=NOW + timedelta(days=7),
    )
    assert "ines" not in review.marker
    event = AuditEvent.objects.get(event="approved")
    assert (event.actor, event.detail["digest"], event.detail["review"]) == (lead, row.digest, review.review_id)
    assert audit.verify().status == "intact"


def test_the_gate_lets_exactly_what_was_approved_through(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row = queued(store)
    before, after = judged(row, store), judged(row, store, approved(row))
    assert (before.status, before.reason_code) == ("denied", "review_required")
    assert (after.status, after.reason_code) == ("applied", None)


def test_a_marker_counts_for_no_other_action_store_person_or_key(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row, other = (
        queued(store),
        queued(
            store,
            action(
                "transition_phase",
                node("node.a", provenance={"source_event_ids": ["event.0001"], "agent": "agent.planner"}),
                from_phase="fluid",
                to_phase="stabilized",
            ),
        ),
    )
    review = approved(row)
    assert judged(other, store, Review(**copied(review, action=other))).reason_code == "review_required"
    stranger = make_user("somebody", groups=("reviewer",))
    assert judged(row, store, Review(**copied(review, reviewer=stranger))).reason_code == "review_required"
    assert judged(row, store, Review(**copied(review, name="0" * 16))).reason_code == "review_required"
    assert judged(row, store, Review(**copied(review, marker="yes"))).reason_code == "review_required"
    assert judged(row, store, review, known={}).reason_code == "review_required"
    assert judged(row, store, review, at=NOW + timedelta(days=8)).reason_code == "review_required"


def test_a_reviewer_who_may_no_longer_does_not_count(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    lead = reviewer()
    row = queued(store)
    review = approved(row, lead)
    lead.groups.clear()
    assert judged(row, store, Review.objects.get(pk=review.pk)).reason_code == "policy_denied"
    lead.groups.add(make_group("reviewer"))
    assert judged(row, store, Review.objects.get(pk=review.pk)).reason_code is None
    store.groups.add(make_group("few"))
    assert judged(row, store, Review.objects.get(pk=review.pk)).reason_code == "policy_denied"


def test_where_the_key_is_missing_no_other_one_is_made(tmp_path: Path, data_folder: Path) -> None:
    store, _ = imported(tmp_path)
    row = queued(store)
    kid = keys.signing_key()[0]
    (data_folder / "keys/private" / f"{kid}.key").unlink()
    refused_with(CannotWrite, lambda: approving.approve(reviewer(), row.pk, row.digest, by_page()))
    assert list(SigningKey.objects.values_list("kid", "retired_at")) == [(kid, None)]
    assert set(keys.trusted_keys()) == {kid}
    assert not list((data_folder / "keys/private").iterdir())


def test_only_reviewers_who_see_the_store_approve(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row = queued(store)
    for groups in (("viewer",), ("operator",)):
        other = make_user(groups=groups)
        refused_with(NotAllowed, lambda other=other: approving.approve(other, row.pk, row.digest, by_page()), "not_allowed")  # type: ignore[misc]
    store.groups.add(make_group("few"))
    refused_with(NotFound, lambda: approving.approve(reviewer(), row.pk, row.digest, by_page()))


def test_what_was_on_the_screen_is_what_is_approved(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row = queued(store)
    refused_with(Conflict, lambda: approving.approve(reviewer(), row.pk, "sha256:" + "0" * 64, by_page()), "other_digest")


@pytest.mark.parametrize("named", ["Ines", "ines", "INES@example.test"])
def test_nobody_approves_what_a_record_says_is_theirs(tmp_path: Path, named: str) -> None:
    store, _ = imported(tmp_path)
    lead = reviewer("ines", email="ines@example.test")
    record = {"action": "promote", "target_ids": ["node.b"], "to_phase": "stabilized", "proposed_by": named}
    row = queued(store, record)
    refused_with(NotAllowed, lambda: approving.approve(lead, row.pk, row.digest, by_page()), "four_eyes")
    assert approved(row, reviewer("omar")).separation == "four_eyes"


def test_nobody_approves_an_own_proposal_unless_they_are_the_only_one(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    lead = reviewer("ines")
    row = queued(store, proposer=Proposer("somebody else", "page", "page", lead))
    refused_with(NotAllowed, lambda: approving.approve(lead, row.pk, row.digest, by_page()), "four_eyes")
    policies.change_policy(
        store, {"single_reviewer": True}, ReviewPolicy(store=store, number=0).version, make_superuser(), NOW, through="page"
    )
    review = approved(row, lead)
    assert review.separation == "none" and markers.read(review.marker, keys.trusted_keys()).sep == "none"
    assert judged(row, store, review).reason_code is None


def test_break_glass_is_a_superusers_with_a_reason_and_is_named(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    root = make_superuser()
    row = queued(store, proposer=Proposer("root", "page", "page", root))
    refused_with(NotAllowed, lambda: approving.approve(root, row.pk, row.digest, by_page(break_glass=True)))
    review = approved(row, root, reason="nobody else is there", break_glass=True)
    assert review.separation == "broken" and AuditEvent.objects.get(event="approved").detail["separation"] == "broken"
    assert judged(row, store, review).reason_code is None
    refused_with_lead = queued(store, archiving(requires_review=True), Proposer("ines", "page", "page", lead := reviewer("ines")))
    with pytest.raises(NotAllowed):
        approving.approve(lead, refused_with_lead.pk, refused_with_lead.digest, by_page("mine", break_glass=True))


def test_what_takes_something_away_asks_for_the_password(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row = queued(store, deletion())
    refused_with(PasswordNeeded, lambda: approving.approve(reviewer(), row.pk, row.digest, by_page()), "password_needed")
    assert approved(row, password_given=True)


def test_a_change_that_adds_a_secret_is_approved_by_nobody(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    secret = "ghp_" + "a1B2" * 9
    record = {"action": "compact", "target_ids": ["node.a", "node.b"], "parameters": {"strategy": "list", "summary_text": f"use {secret}"}}
    row = queued(store, record)
    refused_with(Conflict, lambda: approving.approve(make_superuser(), row.pk, row.digest, by_page(password_given=True)), "adds_secret")


def test_a_target_that_changed_makes_the_action_stale(tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    row = queued(store)
    put(root, "node", {**NODE, "tags": ["new"]})
    import_store(store)
    with pytest.raises(NotFresh, match=r"nodes/node\.b\.json"):
        approving.approve(reviewer(), row.pk, row.digest, by_page())
    row.refresh_from_db()
    assert (row.state, row.reason_code, Review.objects.count()) == ("stale", "stale_source", 0)
    assert AuditEvent.objects.filter(event="action_stale").count() == 1


def test_kept_bytes_that_were_altered_cannot_be_approved(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row = queued(store)
    replace = keeping.effect_of(row).changes[0]
    KeptBytes.objects.filter(content=replace.after).update(content=b"{}")  # type: ignore[union-attr]
    refused_with(Conflict, lambda: approving.approve(reviewer(), row.pk, row.digest, by_page()), "damaged")
    LifecycleAction.objects.filter(pk=row.pk).update(record=row.record.replace("tidy up", "tidy it"))
    refused_with(Conflict, lambda: approving.approve(reviewer(), row.pk, row.digest, by_page()), "damaged")


def test_two_people_where_the_policy_asks_for_two(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    policies.change_policy(store, {"approvals": 2}, ReviewPolicy(store=store, number=0).version, make_superuser(), NOW, through="page")
    row = queued(store)
    first, second = reviewer(), reviewer()
    assert approving.approve(first, row.pk, row.digest, by_page()).code == "counted"
    with pytest.raises(Conflict, match="already"):
        approving.approve(first, row.pk, row.digest, by_page())
    row.refresh_from_db()
    assert row.state == "pending"
    assert approving.approve(second, row.pk, row.digest, by_page()).code == "approved"
    row.refresh_from_db()
    assert (row.state, Review.objects.filter(action=row).count()) == ("approved", 2)


def test_a_policy_that_asks_for_more_voids_what_falls_below_it(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row = queued(store)
    review = approved(row)
    changed = policies.change_policy(
        store, {"approvals": 2}, ReviewPolicy(store=store, number=0).version, make_superuser(), NOW, through="page"
    )
    assert changed.version == f"{store.pk}.1" != review.policy_version
    assert judged(row, store, review).reason_code == "review_required"
    policies.change_policy(
        store, {"approvals": 1, "denied_verbs": ["transition_phase"]}, changed.version, make_superuser("adm"), NOW, through="page"
    )
    assert judged(row, store, review).reason_code == "policy_denied"


def test_what_a_policy_asks_more_for_takes_the_missing_approvals(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row, first = queued(store), reviewer()
    approved(row, first)
    with pytest.raises(Conflict, match="nothing to approve"):
        approving.approve(reviewer(), row.pk, row.digest, by_page())
    policies.change_policy(store, {"approvals": 2}, ReviewPolicy(store=store, number=0).version, make_superuser(), NOW, through="page")
    with pytest.raises(Conflict, match="already"):
        approving.approve(first, row.pk, row.digest, by_page())
    assert approving.approve(reviewer(), row.pk, row.digest, by_page()).code == "counted"
    row.refresh_from_db()
    assert row.state == "approved"
    assert judged(row, store, *Review.objects.filter(action=row)).reason_code is None


def test_a_rejection_needs_a_reason_and_is_final(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row, lead = queued(store), reviewer()
    with pytest.raises(BadRequest, match="reason"):
        deciding.reject(lead, row.pk, row.digest, by_page(" "))
    deciding.reject(lead, row.pk, row.digest, by_page("too early"))
    row.refresh_from_db()
    assert (row.state, row.closed_at) == ("rejected", NOW)
    refused_with(Conflict, lambda: approving.approve(reviewer(), row.pk, row.digest, by_page()), "moved")
    assert judged(row, store, *Review.objects.filter(action=row)).reason_code == "review_rejected"


def test_an_approval_is_withdrawn_while_nothing_is_applied(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row, lead = queued(store), reviewer()
    review = approved(row, lead)
    with pytest.raises(NotAllowed):
        deciding.withdraw(reviewer(), row.pk, by_page())
    deciding.withdraw(lead, row.pk, by_page("changed my mind"))
    row.refresh_from_db()
    review.refresh_from_db()
    assert (row.state, review.withdrawn_at) == ("withdrawn", NOW)
    assert judged(row, store, review).reason_code == "review_required"
    with pytest.raises(Conflict):
        deciding.withdraw(lead, row.pk, by_page())


def test_an_operator_lets_be_applied_what_needs_no_review(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row, operator = queued(store, archiving()), make_user(groups=("operator",))
    with pytest.raises(NotAllowed):
        deciding.allow_apply(reviewer(), [row], by_page())
    assert [one.code for one in deciding.allow_apply(operator, [row], by_page())] == ["allowed"]
    row.refresh_from_db()
    assert (row.state, row.apply_asked_by, row.apply_asked_at) == ("ready", operator, NOW)
    pending = queued(store)
    assert [one.code for one in deciding.allow_apply(operator, [pending], by_page())] == ["moved"]


@pytest.mark.django_db(transaction=True)
def test_of_many_who_decide_at_once_one_decision_stands(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row = queued(store)
    people = [reviewer(f"lead{number}") for number in range(20)]
    together = threading.Barrier(len(people))
    results: list[str] = []

    def decide(number: int) -> None:
        try:
            together.wait()
            if number % 2:
                results.append(approving.approve(people[number], row.pk, row.digest, by_page()).code)
            else:
                results.append(deciding.reject(people[number], row.pk, row.digest, by_page("no")).code)
        except Conflict:
            results.append("refused")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=decide, args=(number,)) for number in range(len(people))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    row.refresh_from_db()
    assert sorted(results) == sorted([row.state, *["refused"] * 19])
    assert list(Review.objects.values_list("decision", flat=True)) == [row.state]
    assert AuditEvent.objects.filter(event__in=("approved", "rejected")).count() == 1
    assert AuditEvent.objects.filter(event="decision_refused").count() == 19
    assert audit.verify().status == "intact"


def judged(row: LifecycleAction, store: Store, *reviews: Review, known: verdicts.Keys | None = None, at: object = NOW) -> gate.Verdict:
    """Ask the gate with the decisions that stand."""
    policy, source = policies.policy_for(store), MirrorSource(store)
    trusted = keys.trusted_keys() if known is None else known
    given = verdicts.approvals_of(row, reviews, trusted, policy, store, digest=row.digest)
    return verdicts.judge(row, keeping.effect_of(row), source, given, policy, at, standing_of=source.standing)  # type: ignore[arg-type]


def copied(review: Review, **changes: object) -> dict[str, object]:
    """Give what a review says, with something else in it: as somebody who can write the table might."""
    names = ("name", "action", "reviewer", "decision", "digest", "policy_version", "marker", "at", "expires_at")
    return {name: getattr(review, name) for name in names} | changes
