"""Hostile proposals by every way in: what is taken, what is refused, and that nothing in them decides (threats G1, G2, G8, G10, G19)."""

from __future__ import annotations

import io
import itertools
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from stores.accounts import make_token
from stores.formats.canonical import digest
from stores.lifecycle import intake
from stores.models import AuditEvent, LifecycleAction, Review, Store, User
from stores.review.approving import approve_all
from stores.review.deciding import Manner
from stores.review.installation import set_applying
from tests.commands.conftest import Manage
from tests.factories import PASSWORD, make_superuser, make_user
from tests.phase_memory_folders import Record, make_store, node, put
from tests.review.queues import reviewer

pytestmark = pytest.mark.django_db

Result = tuple[str, str | None]
LONG = ("review/07_summary_lies.json", "review/19_huge_target_list.json")
"""Of hundreds of targets: each has a test of its own."""
TAKEN = ("pending", "deny:review_required_by_policy", "deny:self_approval")
CODES = {
    "deny:bad_id": {"invalid_target"},
    "deny:invalid": {"invalid_target", "invalid_action"},
    "deny:unknown_action": {"unsupported_action"},
}
"""Verdict of the samples -> our codes (ruling 26)."""


@pytest.fixture(scope="module")
def expected(shared: Path) -> dict[str, str]:
    """Give the verdict of each sample."""
    found = json.loads((shared / "samples/hostile/EXPECT.json").read_bytes())
    return {name: str(one["verdict"]) for name, one in found.items() if name.startswith("review/")}


class Place:
    """A store with the nodes that samples name, registered here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run = Manage(folder)
        make_store(folder / "atlas")

    def open(self, names: Iterable[str]) -> Store:
        """Put nodes into the store and import it."""
        for name in names:
            put(self.folder / "atlas", "node", node(name))
        assert self.run("add_store", self.folder / "atlas").code == 0
        assert self.run("import_stores").code == 0
        return Store.objects.get(slug="atlas")

    def command(self, data: bytes) -> list[Result]:
        """Hand in by the command."""
        (self.folder / "proposal.json").write_bytes(data)
        done = self.run("submit_actions", "atlas", self.folder / "proposal.json", "--json")
        refused = any(one["code"] not in ("queued", "already_queued") for one in done.document["results"])
        assert done.code == int(refused)
        return [(one["code"], one["state"]) for one in done.document["results"]]

    def api(self, data: bytes) -> list[Result]:
        """Hand in by the API, as an agent."""
        owner = User.objects.filter(username="owner").first() or make_user("owner", groups=("viewer",))
        agent = Client(headers={"Authorization": f"Bearer {make_token(owner, 'agent', 'propose', 1)[1]}"})
        answer = agent.post("/api/v1/actions/?store=atlas", data, content_type="application/json")
        assert answer.status_code == 200, answer.content
        return [(one["code"], one["state"]) for one in answer.json()["results"]]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def ids_of(data: bytes) -> set[str]:
    """Give all targets that a sample names as texts."""
    listed = [one.get("target_ids", []) for one in intake.proposals(data) if isinstance(one, dict)]
    return {name for ids in listed if isinstance(ids, list) for name in ids if isinstance(name, str)}


@pytest.mark.parametrize("way", ["command", "api"])
def test_every_sample_gets_its_verdict(expected: dict[str, str], shared: Path, place: Place, way: str) -> None:
    samples = {name: (shared / "samples/hostile" / name).read_bytes() for name in expected if name not in LONG}
    plain = {"node-001"}
    place.open(sorted(plain))
    hand_in: Callable[[bytes], list[Result]] = getattr(place, way)
    for name, data in samples.items():
        results = hand_in(data)
        assert results
        if expected[name] in TAKEN:
            assert ids_of(data) <= plain
            assert set(results) <= {("queued", "pending"), ("already_queued", "pending")}, name
        else:
            assert {code for code, _ in results} <= CODES[expected[name]], (name, results)
            assert {state for _, state in results} == {None}
    assert not Review.objects.exists()
    # What says that it needs no review waits for one all the same, and whoever tries to apply it is told so.
    set_applying(True, make_superuser("root"), timezone.now(), through="terminal")
    before = {path: path.read_bytes() for path in (place.folder / "atlas" / "nodes").iterdir()}
    unreviewed = LifecycleAction.objects.filter(verb="request_delete", batch_id="")[:3]
    assert len(unreviewed) == 3
    named = [argument for row in unreviewed for argument in ("--action", str(row.pk))]
    done = place.run("apply_actions", "atlas", *named, "--json")
    assert [(one["status"], one["reason_code"]) for one in done.document["data"]["results"]] == [("denied", "review_required")] * 3
    assert before == {path: path.read_bytes() for path in (place.folder / "atlas" / "nodes").iterdir()}


def test_five_thousand_targets_are_five_thousand_actions_of_one_batch(shared: Path, place: Place) -> None:
    data = (shared / "samples/hostile" / LONG[1]).read_bytes()
    given: Any = json.loads(data)
    assert len(given["target_ids"]) == 5000
    short = json.dumps({**given, "target_ids": given["target_ids"][:300]}).encode()
    place.open(given["target_ids"][:300])
    assert set(place.command(short)) == {("queued", "pending")}
    assert LifecycleAction.objects.values_list("batch_id").distinct().count() == 1
    # One that is not there refuses all of it: nothing is done by halves.
    assert [code for code, _ in place.api(data)] == ["invalid_target"]
    assert LifecycleAction.objects.count() == 300
    longer = json.dumps({**given, "target_ids": [f"node-{number:05d}" for number in range(10_001)]}).encode()
    assert [code for code, _ in place.api(longer)] == ["invalid_target"]


@pytest.mark.parametrize("way", ["command", "api"])
def test_a_summary_that_lies_stands_behind_the_computed_effect(shared: Path, place: Place, way: str) -> None:
    data = (shared / "samples/hostile" / LONG[0]).read_bytes()
    place.open(sorted(ids_of(data)))
    hand_in: Callable[[bytes], list[Result]] = getattr(place, way)
    assert hand_in(data) == [("queued", "pending")] * 400
    row = LifecycleAction.objects.order_by("pk")[0]
    assert (row.tier, row.destructive, row.requires_review) == ("high", True, True)
    assert row.first_target in row.sentence
    (given,) = intake.proposals(data)
    assert isinstance(given, dict)
    assert not any(isinstance(value, str) and len(value) > 20 and value in row.sentence for value in given.values())


def test_numbers_are_not_rounded_on_the_way_into_the_queue(shared: Path, place: Place) -> None:
    data = (shared / "samples/hostile/review/21_number_rounding.json").read_bytes()
    place.open(["node-001"])
    place.command(data)
    row = LifecycleAction.objects.get()
    assert "9007199254740993" in row.record
    reader = Client(headers={"Authorization": f"Bearer {make_token(make_user('vera'), 'x', 'read', 1)[1]}"})
    assert b"9007199254740993" in reader.get(f"/api/v1/actions/{row.pk}/").content
    rounded = data.replace(b"9007199254740993", b"9007199254740992")
    assert place.command(rounded) == [("queued", "pending")]
    assert LifecycleAction.objects.count() == 2


def test_what_is_swapped_under_an_approved_id_is_another_action(shared: Path, place: Place) -> None:
    data = (shared / "samples/hostile/review/05_swap_a.json").read_bytes()
    store = place.open(["node-001", "node-002"])
    place.command(data)
    approved = LifecycleAction.objects.get()
    (decided,) = approve_all(reviewer("ines"), [approved], {approved.pk: approved.digest}, Manner("page", timezone.now()))
    assert decided.code == "approved"
    swapped = json.dumps({**json.loads(data), "target_ids": ["node-002"]}).encode()
    assert place.command(swapped) == [("queued", "pending")]
    other = LifecycleAction.objects.exclude(pk=approved.pk).get()
    assert other.foreign_action_id == approved.foreign_action_id == "act-001"
    set_applying(True, make_superuser("root"), timezone.now(), through="terminal")
    marker = Review.objects.get().marker
    done = place.run("apply_actions", "atlas", "--approval-marker", marker, "--json")
    verdicts = {one["action_id"]: (one["status"], one["reason_code"]) for one in done.document["data"]["results"]}
    assert verdicts == {approved.action_id: ("applied", None), other.action_id: ("denied", "review_required")}
    # The same file again finds a node that is archived already, and the same marker again is spent: one apply.
    assert [code for code, _ in place.command(data)] == ["already_applied"]
    place.run("apply_actions", "atlas", "--approval-marker", marker)
    assert Review.objects.count() == 1
    assert LifecycleAction.objects.filter(state="applied").count() == 1
    assert json.loads((Path(store.path) / "nodes" / "node-002.json").read_bytes()) == node("node-002")


def test_alice_approves_her_own_proposal_by_no_way(shared: Path, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    data = (shared / "samples/hostile/review/22_self_approval.json").read_bytes()
    place.open(["node-001"])
    assert place.command(data) == [("queued", "pending")]
    row = LifecycleAction.objects.get()
    alice = reviewer("Alice", email="someone@example.org")
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\n"))
    by_command = place.run("review_action", str(row.pk), "--approve", "--as", "ALICE", "--password-stdin")
    assert by_command.code == 2 and "Four eyes" in by_command.err
    token = make_token(alice, "script", "review", 1)[1]
    document = {"digest": row.digest, "reason": "mine"}
    by_api = Client(headers={"Authorization": f"Bearer {token}"}).post(
        f"/api/v1/actions/{row.pk}/approve", document, content_type="application/json"
    )
    assert by_api.status_code == 403
    page = Client()
    page.force_login(alice)
    form = {"decision": "approve", "digest": row.digest, "revision": row.revision, "reason": "mine", "password": PASSWORD}
    assert page.post(f"/review/{row.pk}/decide/", form).status_code == 403
    (in_bulk,) = approve_all(alice, [row], {row.pk: row.digest}, Manner("page", timezone.now(), password_given=True))
    assert in_bulk.code == "four_eyes"
    alice.email, alice.username = "ALICE", "renamed"
    alice.save()
    assert page.post(f"/review/{row.pk}/decide/", form).status_code == 403
    row.refresh_from_db()
    assert (row.state, Review.objects.count()) == ("pending", 0)
    assert AuditEvent.objects.filter(event="decision_refused", actor=alice).count() == 5
    omar = Client()
    omar.force_login(reviewer("omar"))
    assert omar.post(f"/review/{row.pk}/decide/", form).status_code == 302
    row.refresh_from_db()
    assert row.state == "approved"


@pytest.mark.parametrize(
    "more",
    [
        {"approval_marker": "memoryui:1", "approved": True, "approved_by": "alice", "state": "approved", "status": "applied"},
        {"review": {"decision": "approved", "reviewer": "alice"}, "requires_review": False, "dry_run": False},
        {"digest": "sha256:" + "0" * 64, "store": "other", "barred": [], "tier": "safe"},
    ],
)
def test_whatever_a_proposal_says_of_approvals_is_a_text_like_any_other(place: Place, more: Record) -> None:
    place.open(["node-001"])
    given = {"action": "forget", "target_ids": ["node-001"], "reason": "old", **more}
    assert place.api(json.dumps(given).encode()) == [("queued", "pending")]
    row = LifecycleAction.objects.get()
    assert (row.state, row.tier, row.requires_review, row.store_slug) == ("pending", "high", True, "atlas")
    assert not Review.objects.exists()
    assert row.digest != more.get("digest")


def test_a_proposal_in_our_own_form_says_what_its_targets_are(place: Place) -> None:
    place.open(["node-001"])
    record: Record = {
        "schema_version": "phase_memory.lifecycle.action.v1", "action": "archive", "target_type": "node", "target_ids": ["node-001"],
        "reason": "", "requires_review": False, "source_digests": {"node-001": "sha256:" + "0" * 64}, "parameters": {}, "dry_run": True,
        "expected_effect": {"changes": []}, "to_state": "archived",
    }  # fmt: skip
    named = {**record, "action_id": "action:" + digest({name: one for name, one in record.items() if name != "dry_run"})[7:]}
    assert [code for code, _ in place.command(json.dumps(named).encode())] == ["stale_source"]
    assert [code for code, _ in place.command(json.dumps({**named, "reason": "other"}).encode())] == ["action_id_mismatch"]


ODD: tuple[object, ...] = ("", " ", "a\x00b", "\ud800", "x" * 300, "../../etc/passwd", "*", "\u202e", None, [], {}, 2**70, -1.5, ["\ud800"])
PLACES = ("into", "superseded_by", "reason", "to_phase", "from_phase", "source_digests", "requires_review", "target_type", "proposed_by")


def test_no_odd_value_at_any_place_of_a_proposal_stops_the_others(place: Place) -> None:
    place.open(["node-001", "node-002"])
    both = ["node-001", "node-002"]
    given: list[Record] = [{"action": "archive", "target_ids": [odd]} for odd in ODD]
    given += [{"action": "archive", "target_ids": odd} for odd in ODD]
    for verb, name, odd in itertools.product(("merge", "supersede", "promote"), PLACES, ODD):
        given += [{"action": verb, "target_ids": both, name: odd}, {"action": verb, "target_ids": both[:1], "parameters": {name: odd}}]
    results = place.api(json.dumps([*given, {"action": "archive", "target_ids": ["node-001"], "reason": "the last one"}]).encode())
    assert len(results) >= len(given) + 1
    assert results[-1] == ("queued", "pending")
    assert {code for code, _ in results} <= {
        "queued", "already_queued", "invalid_action", "invalid_target", "unsupported_action", "stale_source", "target_missing",
    }  # fmt: skip
