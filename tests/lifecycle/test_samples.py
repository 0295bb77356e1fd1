"""Generated plans with their expected verdicts, planned again by our own planner, and the hostile proposals."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from stores.formats.phase_memory.aliases import Record
from stores.lifecycle import intake, states
from stores.lifecycle.actions import read
from stores.lifecycle.approvals import Approval, Approvals, Policy
from stores.lifecycle.changes import Append, Create, Replace
from stores.lifecycle.effects import FileNow
from stores.lifecycle.gate import verdict
from stores.lifecycle.phase_memory.effects import effect
from stores.lifecycle.phase_memory.planner import StoreRecords, planned_actions
from stores.lifecycle.targets import TargetNow
from tests.lifecycle.cases import DIGEST, NOW, POLICY, digest_of, fluid, nodes_of, target, targets, with_id


class Made(NamedTuple):
    """A generated store without faults."""

    folder: Path
    manifest: dict[str, Any]
    files: dict[tuple[str, str], FileNow]
    nodes: dict[str, Record]
    paths: dict[str, Record]

    def listed(self, name: str) -> list[Record]:
        found: list[Record] = json.loads((self.folder / name).read_bytes())["data"]["dry_run_actions"]
        return found

    @property
    def now(self) -> datetime:
        return datetime.fromisoformat(self.manifest["now"])

    @property
    def profile(self) -> Record:
        found: Record = json.loads((self.folder / "input/memory-profile.json").read_bytes())
        return found


@pytest.fixture(scope="module", params=[(7, False), (21, True)], ids=["plain ids", "odd ids"])
def made(request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    seed, odd = request.param
    out = tmp_path_factory.mktemp("plans") / "made"
    command = [sys.executable, str(shared / "tools/gen_store.py"), "--out", str(out), "--nodes", "160", "--seed", str(seed)]
    subprocess.run([*command, *(["--odd-ids"] if odd else [])], check=True, capture_output=True)
    files: dict[tuple[str, str], FileNow] = {}
    values: dict[str, list[Record]] = {"node": [], "edge": [], "path": []}
    for record_type, found in values.items():
        for place in sorted((out / f"store/{record_type}s").iterdir()):
            value = json.loads(place.read_bytes())
            found.append(value)
            name = value["path_id" if record_type == "path" else "id"]
            files[record_type, name] = FileNow(f"{record_type}s/{place.name}", place.read_bytes())
    paths = {str(value["path_id"]): value for value in values["path"]}
    return Made(out, json.loads((out / "manifest.json").read_bytes()), files, nodes_of(values["node"]), paths)


def given_to(actions: list[Record], mode: str, reviews: list[Record]) -> Approvals:
    """Give the decisions of one of the three modes of a manifest."""
    if mode == "no_approval":
        return Approvals(DIGEST)
    if mode == "with_marker":
        return Approvals(DIGEST, tuple(Approval(str(one["action_id"]), DIGEST, "account-1", "approved") for one in actions))
    found = [Approval(str(one["action_id"]), DIGEST, str(one["reviewer"]), str(one["decision"])) for one in reviews]
    return Approvals(DIGEST, tuple(found))


@pytest.mark.parametrize("mode", ["no_approval", "with_marker", "with_reviews"])
def test_a_plan_gets_the_expected_verdicts(made: Made, mode: str) -> None:
    expected = made.manifest["expected_gate"][mode]
    plan = made.listed("plan.json")
    decisions = given_to(plan, mode, json.loads((made.folder / "reviews.json").read_bytes()))
    now = targets(*made.nodes.values())
    got = {one["action_id"]: verdict(one, now, decisions, POLICY, made.now, ()) for one in plan}
    assert {name: [str(one.status), one.reason_code] for name, one in got.items()} == expected
    assert len(expected) == len(plan) >= 30


@pytest.mark.parametrize("mode", ["without", "with_marker"])
def test_what_was_forged_gets_the_expected_verdicts(made: Made, mode: str) -> None:
    plan = made.listed("plan-adversarial.json")
    decisions = given_to(plan, "no_approval" if mode == "without" else mode, [])
    now = targets(*made.nodes.values())
    got = [verdict(one, now, decisions, POLICY, made.now, ()) for one in plan]
    expected = made.manifest["expected_adversarial"]
    assert [[str(one.status), one.reason_code] for one in got] == [one[mode] for one in expected]
    assert {one["case"] for one in expected} >= {"spoofed_requires_review", "tampered_content", "stale_source", "unsupported_action"}


def test_our_planner_plans_what_the_generator_planned(made: Made) -> None:
    def looked_at_again(value: Record) -> bool:
        return value["lifecycle_state"] == "stale" and bool(value.get("source_spans"))

    sources = {name: digest_of([name, "new"]) for name, value in made.nodes.items() if looked_at_again(value)}
    planned = planned_actions(made.profile, StoreRecords(made.nodes, made.paths, sources), made.now)
    by_id = {str(one["action_id"]): one for one in planned}
    assert Counter(one["action"] for one in planned) == {
        name: number for name, number in made.manifest["clean_counts"]["plannable"].items() if number
    }
    for one in made.listed("plan.json"):
        assert by_id[str(one["action_id"])] == one


def test_what_is_planned_can_be_written_and_is_not_planned_again(made: Made) -> None:
    planned = planned_actions(made.profile, StoreRecords(made.nodes, made.paths), made.now)
    nodes, files = dict(made.nodes), dict(made.files)
    for one in planned:
        done = effect(read("phase-memory", one), lambda record_type, name: files.get((record_type, name)), "2026-06-01T00:00:00Z")
        for change in done.changes:
            assert isinstance(change, Replace | Create | Append)
            if isinstance(change, Append):
                continue
            value = json.loads(change.after)
            if change.path.startswith("nodes/"):
                nodes[value["id"]] = value
                files["node", value["id"]] = FileNow(change.path, change.after)
        for effect_on in done.targets:
            if effect_on.record_type == "node":
                assert effect_on.after_digest == digest_of(nodes[effect_on.id])
    again = planned_actions(made.profile, StoreRecords(nodes, made.paths), made.now)
    assert {str(one["action_id"]) for one in again}.isdisjoint(str(one["action_id"]) for one in planned)
    assert {one["action"] for one in again} <= {"archive"}


WORDS = {"bad_id": "invalid_target", "unknown_action": "unsupported_action"}
"""The words of the samples' own page for refusals, where ours are others."""


def find_nodes(*names: str) -> intake.FindTarget:
    now = targets(*(fluid(name) for name in names))
    return lambda record_type, name: now.get(name) if record_type == "node" else None


def all_ids(given: object) -> set[str]:
    ids = given.get("target_ids", []) if isinstance(given, dict) else []
    return {one for one in ids if isinstance(one, str)}


def test_every_hostile_proposal_gets_its_verdict(shared: Path) -> None:
    expected = json.loads((shared / "samples/hostile/EXPECT.json").read_bytes())
    cases = {name: str(case["verdict"]) for name, case in expected.items() if name.startswith("review/")}
    assert len(cases) >= 10
    for name, word in cases.items():
        listed = intake.proposals((shared / "samples/hostile" / name).read_bytes())
        for given in listed:
            known = (
                {f"node-{number:0{digits}d}" for digits in (3, 5) for number in range(6000)} if len(all_ids(given)) > 10 else {"node-001"}
            )
            taken = intake.take("phase-memory", given, find_nodes(*known))
            if word in ("pending", "deny:review_required_by_policy", "deny:self_approval"):
                assert taken.refused is None, name
                assert {one.target_ids[0] for one in taken.actions} == all_ids(given)
                now = targets(*(fluid(one) for one in all_ids(given)))
                for one in taken.actions[:50]:
                    got = verdict(one.record, now, Approvals(DIGEST), POLICY, NOW, ())
                    assert (str(got.status), got.reason_code) == ("denied", "review_required"), name
                    by_proposer = Approval(one.id, DIGEST, "Alice", "approved")
                    own = Approvals(DIGEST, (by_proposer,), frozenset({taken.proposed_by}))
                    status = verdict(one.record, now, own, POLICY, NOW, ()).status
                    assert status == ("denied" if word == "deny:self_approval" else "applied"), name
            else:
                assert taken.refused is not None, name
                reason = word.removeprefix("deny:")
                wanted = {"invalid": {"invalid_target", "invalid_action"}}.get(reason, {WORDS.get(reason, "")})
                assert taken.refused.code in wanted, name


def test_a_swapped_action_with_the_same_id_of_its_own_is_another_action(shared: Path) -> None:
    (first,) = intake.proposals((shared / "samples/hostile/review/05_swap_a.json").read_bytes())
    assert isinstance(first, dict)
    find = find_nodes("node-001", "node-002")
    (one,) = intake.take("phase-memory", first, find).actions
    (other,) = intake.take("phase-memory", first | {"target_ids": ["node-002"]}, find).actions
    assert one.id != other.id
    assert one.record["foreign_action_id"] == other.record["foreign_action_id"] == "act-001"
    approved = Approvals(DIGEST, (Approval(one.id, DIGEST, "account-1", "approved"),))
    now = targets(fluid("node-001"), fluid("node-002"))
    assert verdict(other.record, now, approved, Policy("1"), NOW, ()).reason_code == "review_required"


def test_numbers_of_a_proposal_are_not_rounded(shared: Path) -> None:
    (given,) = intake.proposals((shared / "samples/hostile/review/21_number_rounding.json").read_bytes())
    assert isinstance(given, dict)
    (one,) = intake.take("phase-memory", given, find_nodes("node-001")).actions
    rounded = given | {"params": {"keep_last": 9007199254740992, "ratio": 0.1}}
    (other,) = intake.take("phase-memory", rounded, find_nodes("node-001")).actions
    assert one.id != other.id
    assert one.record == with_id(one.record)
    assert b"9007199254740993" in json.dumps(one.record).encode()


def test_a_target_that_changes_after_the_proposal_makes_it_stale(shared: Path) -> None:
    (given,) = intake.proposals((shared / "samples/hostile/review/05_swap_a.json").read_bytes())
    (one,) = intake.take("phase-memory", given, find_nodes("node-001")).actions
    changed: dict[str, TargetNow] = {"node-001": target(fluid("node-001", text="Changed meanwhile."))}
    got = verdict(one.record, changed, Approvals(DIGEST), POLICY, NOW, ())
    assert got.reason_code == "stale_source"
    assert states.state_after(states.State.PENDING, str(got.status), got.reason_code) is states.State.STALE
