"""apply_actions: the verdict of every open action, and what may be applied is applied; enroll_worker: whose approvals count here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stores.formats.phase_memory.details import value_of
from stores.models import AuditEvent, LifecycleAction, Node, Review, Store
from stores.review import keys
from stores.review.submitting import submit
from stores.worker.identity import this_worker
from tests.apply.actions import PROPOSER, approved, image, imported, lines, now, proposed, switch
from tests.commands.conftest import Manage
from tests.phase_memory_folders import make_store


def atlas(manage: Manage) -> tuple[Store, Path]:
    """Make, register and import a store; applying is on."""
    root = make_store(manage.place / "atlas")
    assert manage("add_store", root).code == 0
    store = imported(Store.objects.get())
    switch()
    return store, root


def test_every_open_action_gets_its_verdict_in_one_envelope(manage: Manage) -> None:
    store, root = atlas(manage)
    waits = proposed(store, "request_delete", "node.b")
    may = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    done = manage("apply_actions", "atlas", "--json")
    assert done.code == 0
    said = done.document
    assert (said["schema_version"], said["operation"], said["dry_run"], said["subject"]) == (
        "phase_memory.runtime.envelope.v1", "lifecycle.apply", False, "atlas",
    )  # fmt: skip
    assert said["data"]["counts"] == {"applied": 1, "denied": 1, "skipped": 0, "failed": 0}
    by_id = {one["action_id"]: one for one in said["data"]["results"]}
    one, other = by_id[may.action_id], by_id[waits.action_id]
    assert (one["status"], one["reason_code"], one["state"], one["requires_review"]) == ("applied", None, "applied", True)
    assert one["approval_marker"] == Review.objects.get().marker and one["review_id"] == Review.objects.get().review_id
    assert one["event_ids"] == [lines(root / "events.jsonl")[-1]["id"]]
    assert one["audit_id"] in [record["audit_id"] for record in lines(root / "audit.jsonl")]
    assert [target["id"] for target in one["targets"]] == ["node.a"]
    assert (other["status"], other["reason_code"], other["event_ids"]) == ("denied", "review_required", [])
    assert "approval_marker" not in other
    assert AuditEvent.objects.get(event="action_applied").actor_label.startswith("os:")


def test_the_mirror_shows_what_was_applied(manage: Manage) -> None:
    store, _ = atlas(manage)
    approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    manage("apply_actions", "atlas")
    assert value_of("node", bytes(Node.objects.get(natural_id="node.a").text.raw))["phase"] == "stabilized"


def test_a_dry_run_writes_nothing(manage: Manage) -> None:
    store, root = atlas(manage)
    approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    before = image(root)
    said = manage("apply_actions", "atlas", "--dry-run", "--json").document
    (result,) = said["data"]["results"]
    assert (said["dry_run"], result["status"], result["reason_code"], result["would_status"]) == (True, "skipped", "dry_run", "applied")
    assert image(root) == before
    assert manage("apply_actions", "atlas", "--dry-run").out.count("would be applied") == 1


@pytest.mark.parametrize("by", ["pk", "action_id"])
def test_one_action_is_named_by_our_number_or_its_id(manage: Manage, by: str) -> None:
    store, _ = atlas(manage)
    first = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    approved(proposed(store, "request_delete", "node.b"))
    done = manage("apply_actions", "atlas", "--action", str(getattr(first, by)), "--json")
    assert (done.code, [one["action_id"] for one in done.document["data"]["results"]]) == (0, [first.action_id])
    assert LifecycleAction.objects.filter(state="applied").count() == 1


def test_a_named_action_that_was_not_applied_is_exit_1(manage: Manage) -> None:
    store, _ = atlas(manage)
    waits = proposed(store, "request_delete", "node.b")
    assert manage("apply_actions", "atlas").code == 0
    assert manage("apply_actions", "atlas", "--action", str(waits.pk)).code == 1


def test_what_is_no_action_is_refused(manage: Manage) -> None:
    store, root = atlas(manage)
    row = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    before = image(root)
    for arguments in (["nowhere"], ["atlas", "--action", "999"], ["atlas", "--action", "action:0"], ["atlas", "--action", "9" * 40]):
        refused = manage("apply_actions", *arguments)
        assert (refused.code, refused.out) == (2, "")
    assert image(root) == before
    manage("apply_actions", "atlas")
    assert manage("apply_actions", "atlas", "--action", str(row.pk)).code == 2


@pytest.mark.parametrize("text", ["yes", "memoryui:1", " ", "eyJhbGciOiJub25lIn0.e30."])
def test_any_text_that_is_no_signed_marker_is_refused(manage: Manage, text: str) -> None:
    store, root = atlas(manage)
    proposed(store, "transition_phase", "node.a", to_phase="stabilized")
    before = image(root)
    refused = manage("apply_actions", "atlas", "--approval-marker", text)
    assert (refused.code, refused.out, image(root)) == (2, "", before)


def test_a_marker_that_comes_with_the_call_approves_its_action_once(manage: Manage) -> None:
    store, root = atlas(manage)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    marker = Review.objects.get().marker
    Review.objects.all().delete()
    LifecycleAction.objects.filter(pk=action.pk).update(state="pending")
    other = proposed(store, "request_delete", "node.b")
    would = manage("apply_actions", "atlas", "--dry-run", "--approval-marker", marker, "--json").document
    assert (Review.objects.count(), would["data"]["counts"]["skipped"]) == (0, 1)
    said = manage("apply_actions", "atlas", "--approval-marker", marker, "--json").document
    assert {one["action_id"]: one["status"] for one in said["data"]["results"]} == {action.action_id: "applied", other.action_id: "denied"}
    assert Review.objects.get().spent_at is not None
    assert lines(root / "audit.jsonl")[-1]["decision"] in ("applied", "denied")
    assert manage("apply_actions", "atlas", "--approval-marker", marker).code == 2


def test_a_withdrawn_approval_does_not_come_back_by_its_marker(manage: Manage) -> None:
    store, _ = atlas(manage)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    marker = Review.objects.get().marker
    Review.objects.update(withdrawn_at=now())
    LifecycleAction.objects.filter(pk=action.pk).update(state="pending")
    done = manage("apply_actions", "atlas", "--approval-marker", marker, "--json")
    assert [one["reason_code"] for one in done.document["data"]["results"]] == ["review_required"]


def test_a_marker_of_a_key_that_is_not_pinned_here_is_refused(manage: Manage) -> None:
    store, _ = atlas(manage)
    approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    marker = Review.objects.get().marker
    (kid,) = keys.trusted_keys()
    assert manage("enroll_worker", "--remove", kid).code == 0
    assert manage("apply_actions", "atlas", "--approval-marker", marker).code == 2


def test_keys_are_pinned_listed_and_taken_out(manage: Manage, tmp_path: Path) -> None:
    store, _ = atlas(manage)
    approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    (kid,) = keys.trusted_keys()
    document = tmp_path / "keys.json"
    document.write_text(json.dumps(keys.jwks()))
    assert manage("enroll_worker", "--remove", kid, "--json").document == {"keys": [], "pinned": [], "removed": [kid]}
    (denied,) = manage("apply_actions", "atlas", "--json").document["data"]["results"]
    assert denied["reason_code"] == "review_required"
    assert manage("enroll_worker", "--keys", document, "--json").document == {"keys": [kid], "pinned": [kid], "removed": []}
    assert manage("enroll_worker", "--keys", document, "--json").document["pinned"] == []
    assert manage("enroll_worker", "--list").out.split() == [kid]
    assert [event.event for event in AuditEvent.objects.filter(event__startswith="key_").order_by("number")][-2:] == [
        "key_unpinned",
        "key_pinned",
    ]
    assert manage("apply_actions", "atlas", "--json").document["data"]["counts"]["applied"] == 1


@pytest.mark.parametrize("content", [b"", b"[]", b'{"keys": []}', b'{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": 1}]}', b"[" * 100_000])
def test_what_holds_no_keys_pins_none(manage: Manage, tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "keys.json"
    place.write_bytes(content)
    refused = manage("enroll_worker", "--keys", place)
    assert (refused.code, refused.out, keys.trusted_keys()) == (2, "", {})
    assert manage("enroll_worker", "--remove", "../../x").code == 2


def test_a_plan_without_approvals_ends_as_its_manifest_says(manage: Manage, shared: Path, tmp_path: Path) -> None:
    place = tmp_path / "made"
    subprocess.run(
        [sys.executable, shared / "tools/gen_store.py", "--out", place, "--nodes", "60", "--actions", "20"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    manifest, plan = (json.loads((place / name).read_bytes()) for name in ("manifest.json", "plan.json"))
    assert manage("add_store", place / "store").code == 0
    store = imported(Store.objects.get())
    assert store.worker_id == this_worker().pk
    switch()
    queued = submit(store, plan["data"]["dry_run_actions"], PROPOSER, now())
    assert {one.code for one in queued} == {"queued"}
    said = manage("apply_actions", store.slug, "--json").document
    verdicts = {one["action_id"]: [one["status"], one["reason_code"]] for one in said["data"]["results"]}
    assert verdicts == manifest["expected_gate"]["no_approval"]
    checked = subprocess.run(
        [sys.executable, shared / "tools/check_store.py", place / "store"], capture_output=True, text=True, check=False
    )
    assert "unaudited_apply" not in checked.stdout and "unapproved_apply" not in checked.stdout
