"""An approved action becomes exactly the bytes that were approved, one event and one audit record; anything else leaves the store alone."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import Group

from stores.files import StoreRoot
from stores.formats.canonical import digest
from stores.health.phase_memory import check_all
from stores.lifecycle.changes import Append, Replace
from stores.lifecycle.digests import approval_digest
from stores.lifecycle.states import State
from stores.models import AuditEvent, LifecycleAction, Review, Store
from stores.review import keeping, keys, markers
from stores.review.policies import change_policy, policy_for
from stores.review.renewing import undo
from tests import factories
from tests.apply.actions import (
    applied,
    approved,
    image,
    imported,
    later,
    lines,
    memory_store,
    now,
    proposed,
    reviewer,
    switch,
)
from tests.apply.places import open_journal
from tests.phase_memory_folders import append, audit
from tests.phase_memory_stores import read_facts

pytestmark = pytest.mark.django_db


def test_an_approved_change_is_written_with_its_event_and_its_audit_record(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    before = image(root)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    result = applied(store, action)
    assert (result.verdict.status, result.action.state) == ("applied", "applied")
    was = json.loads(before["nodes/node.a.json"])
    assert json.loads((root / "nodes/node.a.json").read_bytes()) == was | {"phase": "stabilized"}
    changed = {name for name, data in image(root).items() if data != before.get(name)}
    assert changed == {"nodes/node.a.json", "events.jsonl", "audit.jsonl"}
    for log in ("events.jsonl", "audit.jsonl"):
        assert (root / log).read_bytes().startswith(before[log])
    event = lines(root / "events.jsonl")[-1]
    assert (event["kind"], event["action_id"]) == ("updated", action.action_id)
    assert event["node_updates"] == [{"node_id": "node.a", "operation": "transition_phase"}]
    review = Review.objects.get()
    record = lines(root / "audit.jsonl")[-1]
    assert (record["decision"], record["operation"], record["subject_id"]) == ("applied", "lifecycle.apply", action.action_id)
    assert record["approval_marker"] == review.marker and record["review_id"] == review.review_id
    assert (record["actor"], record["event_ids"]) == (str(reviewer().pk), [event["id"]])
    assert record["targets"] == [
        {"record_type": "node", "id": "node.a", "before_digest": digest(was), "after_digest": digest(was | {"phase": "stabilized"})}
    ]
    assert (record["sequence"], record["previous_digest"]) == (3, digest(lines(root / "audit.jsonl")[-2]))


def test_the_row_keeps_the_receipt_and_spends_the_approval(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    result = applied(store, action)
    row = LifecycleAction.objects.get(pk=action.pk)
    assert row.receipt["as_approved"] is True and row.receipt["audit_id"] == lines(root / "audit.jsonl")[-1]["audit_id"]
    assert row.receipt["event_ids"] == [lines(root / "events.jsonl")[-1]["id"]]
    assert (row.change_id, row.applied_by, row.claimed_by, row.lease_until) == (result.change, "worker test", "", None)
    assert row.closed_at is not None and row.applied_at is not None
    assert Review.objects.get().spent_at is not None
    event = AuditEvent.objects.get(event="action_applied")
    assert (event.detail["action"], event.detail["change"], event.object_label) == (
        action.pk,
        result.change,
        f"#{action.pk} transition_phase",
    )
    assert open_journal() == []


def test_what_was_applied_leaves_nothing_to_find_fault_with(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    applied(store, approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized")))
    assert check_all(read_facts(root)).listed() == []


def test_an_action_is_applied_once(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    applied(store, action)
    after = image(root)
    with pytest.raises(Exception, match="nothing to apply"):
        applied(store, action)
    assert image(root) == after


def test_a_dry_run_says_what_would_happen_and_writes_nothing(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    before = image(root)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    result = applied(store, action, dry_run=True)
    assert (result.verdict.status, result.verdict.reason_code, result.verdict.would_status) == ("skipped", "dry_run", "applied")
    action.refresh_from_db()
    assert (action.state, image(root), AuditEvent.objects.filter(event__startswith="action_appl").count()) == ("approved", before, 0)


def test_without_an_approval_it_is_denied_and_the_store_tells_it_once(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    before = image(root)
    action = proposed(store, "transition_phase", "node.a", to_phase="stabilized")
    for _ in range(2):
        result = applied(store, action)
        assert (result.verdict.status, result.verdict.reason_code) == ("denied", "review_required")
    action.refresh_from_db()
    assert (action.state, action.reason_code) == ("pending", "review_required")
    assert image(root, ["audit.jsonl"]) == {name: data for name, data in before.items() if name != "audit.jsonl"}
    told = lines(root / "audit.jsonl")[2:]
    assert [(one["decision"], one["reason_code"], one.get("event_ids")) for one in told] == [("denied", "review_required", None)]
    assert AuditEvent.objects.filter(event="action_denied").count() == 1


def test_what_needs_no_review_is_applied_without_one(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = proposed(store, "mark_stale", "node.b", requires_review=False)
    assert action.state == "ready"
    result = applied(store, action)
    assert result.action.state == "applied"
    node = json.loads((root / "nodes/node.b.json").read_bytes())
    assert node["lifecycle_state"] == "stale"
    record = lines(root / "audit.jsonl")[-1]
    assert (record["requires_review"], record.get("approval_marker"), record["actor"]) == (False, None, "memoryui")


def test_a_switch_that_is_off_stops_everything_and_says_so(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    switch(on=False)
    before = image(root)
    result = applied(store, action)
    action.refresh_from_db()
    assert (result.verdict.reason_code, action.state, action.reason_code, image(root)) == (
        "switched_off",
        "approved",
        "switched_off",
        before,
    )
    switch()
    assert applied(store, action).action.state == "applied"


def test_while_the_switch_is_off_what_needs_no_review_stays_as_it_is(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = proposed(store, "mark_stale", "node.b", requires_review=False)
    switch(on=False)
    before = image(root)
    assert applied(store, action).verdict.reason_code == "switched_off"
    action.refresh_from_db()
    assert (action.state, action.revision, image(root)) == ("ready", 1, before)


def test_what_stands_in_the_store_is_no_approval(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = proposed(store, "transition_phase", "node.a", to_phase="stabilized")
    replace, appended = keeping.effect_of(action).changes
    assert isinstance(replace, Replace) and isinstance(appended, Append)
    (root / replace.path).write_bytes(replace.after)
    append(root, "events.jsonl", dict(appended.record))
    forged = {"operation": "lifecycle.apply", "subject_id": action.action_id, "event_ids": [appended.record["id"]]}
    append(root, "audit.jsonl", audit(3, lines(root / "audit.jsonl")[-1], timestamp="2099-01-01T00:00:00Z", **forged))
    result = applied(store, action)
    action.refresh_from_db()
    assert (result.verdict.status, result.verdict.reason_code, action.state) == ("denied", "review_required", "pending")
    assert not AuditEvent.objects.filter(event="action_applied").exists()


def test_what_comes_to_need_a_review_can_be_approved_and_is_applied_then(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = proposed(store, "mark_stale", "node.b", requires_review=False)
    policy = policy_for(store)
    own = type(policy)(store=store, number=0).version
    change_policy(store, {"review_verbs": ["mark_stale"]}, own, factories.make_superuser("adm"), now(), through="page")
    before = image(root, ["audit.jsonl"])
    assert applied(store, action).verdict.reason_code == "review_required"
    assert image(root, ["audit.jsonl"]) == before
    action.refresh_from_db()
    assert action.needs_review
    approved(action)
    action.refresh_from_db()
    assert action.requires_review
    assert applied(store, action).action.state == "applied"


def refused(store: Store, root: Path, action: LifecycleAction, state: str, code: str) -> None:
    """Apply an action that must not be, and look that no record and no event of the store moved."""
    before = image(root, ["audit.jsonl"])
    result = applied(store, action)
    action.refresh_from_db()
    assert (action.state, result.verdict.reason_code) == (state, code)
    assert image(root, ["audit.jsonl"]) == before
    assert not [one for one in lines(root / "audit.jsonl") if one["decision"] == "applied" and one.get("subject_id") == action.action_id]
    assert Review.objects.filter(spent_at__isnull=False).count() == 0
    assert open_journal() == []


def test_a_target_that_changed_since_is_stale(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    node = json.loads((root / "nodes/node.a.json").read_bytes())
    (root / "nodes/node.a.json").write_bytes(json.dumps(node | {"text": "Pages by offset."}).encode())
    refused(store, root, action, "stale", "stale_source")


def test_bytes_that_moved_though_they_say_the_same_are_stale(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    node = json.loads((root / "nodes/node.a.json").read_bytes())
    (root / "nodes/node.a.json").write_bytes(json.dumps(node, indent=4).encode())
    refused(store, root, action, "stale", "stale_source")


def test_a_target_that_is_gone_is_stale(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    (root / "nodes/node.a.json").unlink()
    refused(store, root, action, "stale", "target_missing")


@pytest.mark.parametrize("column", ["record", "effect", "digest"])
def test_what_was_swapped_in_the_database_is_not_written(tmp_path: Path, column: str) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    other = proposed(store, "request_delete", "node.b")
    LifecycleAction.objects.filter(pk=action.pk).update(**{column: getattr(other, column)})
    refused(store, root, action, "stale", "action_id_mismatch")


@pytest.mark.parametrize("column", ["record", "effect"])
@pytest.mark.parametrize("content", ["", "[]", "{}", '{"changes": [{"do": "replace", "path": 1}]}', "[" * 100_000])
def test_what_is_kept_and_cannot_be_read_is_not_written(tmp_path: Path, column: str, content: str) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    LifecycleAction.objects.filter(pk=action.pk).update(**{column: content})
    refused(store, root, action, "stale", "action_id_mismatch")


def test_a_whole_other_action_in_the_row_has_no_approval(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    other = proposed(store, "request_delete", "node.b")
    swapped = {name: getattr(other, name) for name in ("record", "effect", "digest", "verb")}
    LifecycleAction.objects.filter(pk=other.pk).delete()
    LifecycleAction.objects.filter(pk=action.pk).update(**swapped, action_id=other.action_id)
    refused(store, root, action, "approved", "review_required")


def test_a_state_that_nobody_decided_is_no_approval(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = proposed(store, "transition_phase", "node.a", to_phase="stabilized")
    LifecycleAction.objects.filter(pk=action.pk).update(state=State.APPROVED)
    refused(store, root, action, "approved", "review_required")


def test_an_unreviewed_action_writes_what_its_verb_makes_and_nothing_else(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = proposed(store, "mark_stale", "node.b", requires_review=False)
    document = json.loads(action.effect)
    other = json.loads(proposed(store, "transition_phase", "node.a", to_phase="stabilized").effect)
    document["changes"][0] = other["changes"][0]
    action.effect = json.dumps(document)
    digest_now = approval_digest(keeping.record_of(action), str(store.uid), keeping.effect_of(action).changes)
    LifecycleAction.objects.filter(pk=action.pk).update(effect=action.effect, digest=digest_now)
    refused(store, root, action, "stale", "action_id_mismatch")


def test_a_key_that_only_the_database_knows_signs_nothing(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    (kid,) = keys.trusted_keys()
    assert keys.distrust(kid)
    refused(store, root, action, "approved", "review_required")


def test_an_approval_counts_for_its_own_action_only(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    first = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    second = proposed(store, "request_delete", "node.b")
    LifecycleAction.objects.filter(pk=second.pk).update(state=State.APPROVED)
    Review.objects.filter(action=first).update(action=second)
    refused(store, root, second, "approved", "review_required")


def test_a_reviewer_who_lost_the_right_has_approved_nothing(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    reviewer().groups.set([Group.objects.get(name="viewer")])
    refused(store, root, action, "stale", "policy_denied")


@pytest.mark.parametrize(
    ("wanted", "state", "code"),
    [({"denied_verbs": ["transition_phase"]}, "stale", "policy_denied"), ({"approvals": 2}, "approved", "review_required")],
)
def test_the_policy_of_now_is_asked(tmp_path: Path, wanted: dict[str, object], state: str, code: str) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    change_policy(None, wanted, "default.0", switch(), now(), through="page")
    assert policy_for(store).number == 1
    refused(store, root, action, state, code)


def test_an_approval_that_ran_out_expires_the_action(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"), at=now() - timedelta(days=8))
    refused(store, root, action, "expired", "review_required")
    assert AuditEvent.objects.filter(event="action_expired").count() == 1


def test_a_row_that_says_longer_than_its_marker_does_not_make_it_longer(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"), at=now() - timedelta(days=8))
    Review.objects.update(expires_at=later(days=9))
    refused(store, root, action, "approved", "review_required")


def test_a_store_whose_folder_is_another_one_is_stale(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    root.rename(tmp_path / "aside")
    shutil.copytree(tmp_path / "aside", root)
    refused(store, root, action, "stale", "stale_source")


def test_a_store_that_became_a_link_is_left_alone(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    root.rename(tmp_path.resolve() / "aside")
    root.symlink_to(tmp_path.resolve() / "aside")
    refused(store, root, action, "approved", "store_blocked")


def test_a_folder_of_the_store_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    (root / "nodes").rename(tmp_path / "elsewhere")
    (root / "nodes").symlink_to(tmp_path / "elsewhere")
    before = image(tmp_path / "elsewhere")
    result = applied(store, action)
    assert result.action.state in ("failed", "stale")
    assert image(tmp_path / "elsewhere") == before


def test_a_torn_line_at_the_end_of_a_log_is_mended_first(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    with (root / "events.jsonl").open("ab") as opened:
        opened.write(b'{"id": "event.00')
    before = image(root)
    result = applied(store, action)
    action.refresh_from_db()
    assert (result.verdict.reason_code, action.state, image(root)) == ("store_blocked", "approved", before)
    assert action.lease_until is not None and action.lease_until > now()


def test_a_store_that_stays_locked_is_tried_again(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    with StoreRoot(root) as other, other.locked(0) as held:
        assert held
        result = applied(store, action, wait_s=0)
    action.refresh_from_db()
    assert (result.verdict.reason_code, action.state, "busy" in action.message) == ("store_busy", "approved", True)
    assert applied(store, action).action.state == "applied"


def test_the_lock_of_the_kinds_own_writers_is_respected(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    with StoreRoot(root) as other, other.locked_file("phase-memory.json", 0) as held:
        assert held
        result = applied(store, action, wait_s=0)
    assert result.verdict.reason_code == "store_busy"
    assert applied(store, action).action.state == "applied"


def test_a_change_made_already_by_another_hand_is_applied_without_writing(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    after = keeping.effect_of(action).changes[0].after  # type: ignore[union-attr]  # a node is replaced
    (root / "nodes/node.a.json").write_bytes(after)
    before = image(root, ["audit.jsonl"])
    result = applied(store, action)
    assert (result.verdict.reason_code, result.action.state) == ("already_applied", "applied")
    assert image(root, ["audit.jsonl"]) == before
    assert Review.objects.filter(spent_at__isnull=False).count() == 0


def test_a_marker_that_comes_with_the_call_is_an_approval(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    review = Review.objects.get()
    Review.objects.all().delete()
    LifecycleAction.objects.filter(pk=action.pk).update(state=State.PENDING)
    assert markers.read(review.marker, keys.trusted_keys()).action_id == action.action_id
    assert applied(store, action).verdict.reason_code == "review_required"
    assert applied(store, action, extra=[review]).action.state == "applied"
    assert lines(root / "audit.jsonl")[-1]["approval_marker"] == review.marker


def test_a_reason_in_any_language_is_applied(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized", reason="überholt, 古い"))
    assert applied(store, action).action.state == "applied"
    assert lines(root / "audit.jsonl")[-1]["reason"] == "überholt, 古い"
    imported(store)


def test_what_was_applied_is_taken_back_by_an_approved_undo(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    was = (root / "nodes/node.a.json").read_bytes()
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    applied(store, action)
    imported(store)
    back = approved(undo(reviewer("olga"), action.pk, "too early", now(), through="page"), "ines")
    result = applied(store, back)
    assert (result.action.state, (root / "nodes/node.a.json").read_bytes()) == ("applied", was)
    assert [one.get("undoes") for one in lines(root / "events.jsonl")][-1] == action.action_id
    assert check_all(read_facts(root)).listed() == []


def test_an_event_that_somebody_else_wrote_is_no_proof_of_an_apply(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    event = keeping.effect_of(action).event
    assert event is not None
    append(root, "events.jsonl", event)
    LifecycleAction.objects.filter(pk=action.pk).update(state=State.APPLYING, lease_until=None)
    refused(store, root, action, "failed", "io_error")


def test_a_store_that_no_import_has_seen_since_the_machine_started_waits(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    Store.objects.update(imported_at=now() - timedelta(days=10_000))
    refused(store, root, action, "approved", "store_unseen")
    imported(store)
    assert applied(store, action).action.state == "applied"
