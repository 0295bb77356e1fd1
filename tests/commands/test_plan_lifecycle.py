"""plan_lifecycle: what the rules of a store would propose, as a dry run."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

from django.utils import timezone

from stores.formats.canonical import log_line
from stores.lifecycle.actions import read
from stores.models import LifecycleAction, Store
from stores.review.deciding import Manner, reject
from tests.commands.conftest import Manage
from tests.lifecycle.cases import digest_of, with_id
from tests.memory_folders import decision, make_project
from tests.phase_memory_folders import Record, append, edge, event, make_store, node, path, put
from tests.review.queues import reviewer

ENVELOPE_KEYS = {
    "schema_version", "operation_id", "operation", "dry_run", "valid", "subject", "source", "policy_decision", "audit_receipt", "diagnostics",
    "data",
}  # fmt: skip
RULES: Record = {
    "id": "profile.a",
    "retention": {"default": {"stale_after_days": 45, "delete_after_days": 110}, "turn": {"stale_after_days": 7, "delete_after_days": 30}},
    "compaction": {"strategy": "summarize", "min_nodes": 2},
    "refresh": {"mode": "enabled"},
    "metadata": {
        "phase_transitions": [
            {"kind": "decision", "from_phase": "fluid", "to_phase": "stabilized", "min_age_days": 10, "reason": "old enough"}
        ]
    },
}


def make_phase_store(manage: Manage, tmp_path: Path) -> Path:
    root = make_store(tmp_path / "atlas")
    put(root, "profile", RULES)
    put(root, "node", node("turn.a", kind="turn", created_at="2026-03-01T10:00:00Z"))
    put(root, "node", node("finding.a", kind="finding", created_at="2026-03-01T10:00:00Z"))
    manage("add_store", root)
    manage("import_stores")
    return root


def test_the_plan_is_the_envelope_of_the_contract(manage: Manage, tmp_path: Path) -> None:
    root = make_phase_store(manage, tmp_path)
    before = {place: place.read_bytes() for place in root.rglob("*") if place.is_file()}
    done = manage("plan_lifecycle", "atlas", "--now", "2026-04-20", "--json")
    assert done.code == 0
    assert done.document.keys() == ENVELOPE_KEYS
    assert (done.document["operation"], done.document["dry_run"]) == ("graph.lifecycle.plan", True)
    assert done.document["data"]["profile_id"] == "profile.a"
    assert done.document["data"]["rule_config"]["retention"] == RULES["retention"]
    planned = {(one["action"], *one["target_ids"]): one["requires_review"] for one in done.document["data"]["dry_run_actions"]}
    # 50 days later: a turn is kept 30 days, a decision settles after 10, a finding goes stale after 45, what is rigid stays.
    assert planned == {
        ("request_delete", "turn.a"): True,
        ("mark_stale", "finding.a"): False,
        ("transition_phase", "node.a"): True,
        ("transition_phase", "node.b"): True,
    }
    for one in done.document["data"]["dry_run_actions"]:
        assert one == with_id(one)
        assert read("phase-memory", one).id == one["action_id"]
    assert before == {place: place.read_bytes() for place in root.rglob("*") if place.is_file()}


def test_planning_twice_gives_the_same_and_lines_are_for_people(manage: Manage, tmp_path: Path) -> None:
    make_phase_store(manage, tmp_path)
    first = manage("plan_lifecycle", "atlas", "--now", "2026-04-20", "--json")
    second = manage("plan_lifecycle", "atlas", "--now", "2026-04-20T09:00:00", "--json")
    assert first.document["data"]["dry_run_actions"] == second.document["data"]["dry_run_actions"]
    told = manage("plan_lifecycle", "atlas", "--now", "2026-04-20")
    assert len(told.out.splitlines()) == 4
    assert "request_delete" in told.out
    assert "4 actions" in told.err
    assert "3 of them for a review" in told.err


def test_nodes_of_an_ended_path_are_folded_and_a_new_source_is_a_refresh(manage: Manage, tmp_path: Path) -> None:
    root = make_phase_store(manage, tmp_path)
    put(root, "path", path("path.done", "event.0002", state="merged", merge_target="path.a"))
    for name in ("claim.a", "claim.b"):
        put(root, "node", node(name, kind="claim", provenance={"path_id": "path.done"}))
    put(root, "node", node("claim.c", kind="claim", lifecycle_state="stale", freshness={"source_digest": "sha256:old"}))
    manage("import_stores")
    sources = tmp_path / "sources.json"
    sources.write_text(json.dumps({"claim.c": "sha256:new"}))
    done = manage("plan_lifecycle", "atlas", "--now", "2026-03-02", "--sources", sources, "--json")
    planned = {one["action"]: one for one in done.document["data"]["dry_run_actions"]}
    assert planned.keys() == {"compact", "refresh"}
    assert (planned["compact"]["target_ids"], planned["compact"]["path_id"]) == (["claim.a", "claim.b"], "path.done")
    assert planned["refresh"]["parameters"] == {"source_digest": "sha256:new"}


def test_what_cannot_be_planned_is_one_line(manage: Manage, tmp_path: Path) -> None:
    root = make_store(tmp_path / "atlas")
    manage("add_store", root)
    assert manage("plan_lifecycle", "atlas").code == 2
    manage("import_stores")
    assert "no time" in manage("plan_lifecycle", "atlas", "--now", "soon").err
    assert "no profile profile.z" in manage("plan_lifecycle", "atlas", "--profile", "profile.z").err
    put(root, "profile", {"id": "profile.b"})
    manage("import_stores")
    assert "profile.a, profile.b" in manage("plan_lifecycle", "atlas").err
    assert manage("plan_lifecycle", "atlas", "--profile", "profile.b", "--json").document["data"]["dry_run_actions"] == []
    sources = tmp_path / "sources.json"
    sources.write_text('{"a": 1}')
    assert manage("plan_lifecycle", "atlas", "--profile", "profile.b", "--sources", sources).code == 2


def test_the_plan_of_a_generated_store_is_the_generators(manage: Manage, shared: Path, tmp_path: Path) -> None:
    out = tmp_path / "made"
    tool = shared / "tools/gen_store.py"
    subprocess.run([sys.executable, str(tool), "--out", str(out), "--nodes", "60", "--seed", "3"], check=True, capture_output=True)
    manage("add_store", out / "store", "--slug", "made")
    manage("import_stores")
    manifest = json.loads((out / "manifest.json").read_bytes())
    nodes = [json.loads(place.read_bytes()) for place in (out / "store/nodes").iterdir()]
    stale = [one["id"] for one in nodes if one["lifecycle_state"] == "stale" and one.get("source_spans")]
    sources = tmp_path / "sources.json"
    sources.write_text(json.dumps({name: digest_of([name, "new"]) for name in stale}))
    done = manage("plan_lifecycle", "made", "--now", manifest["now"], "--sources", sources, "--json")
    planned = {one["action_id"]: one for one in done.document["data"]["dry_run_actions"]}
    expected = json.loads((out / "plan.json").read_bytes())
    assert all(planned[one["action_id"]] == one for one in expected["data"]["dry_run_actions"])
    assert len(planned) == sum(manifest["clean_counts"]["plannable"].values())
    assert done.document["subject"] == expected["subject"]
    assert done.document["data"]["rule_config"] == expected["data"]["rule_config"]


def test_faults_of_record_files_are_proposed_to_be_mended(manage: Manage, tmp_path: Path) -> None:
    root = make_phase_store(manage, tmp_path)
    dangling = edge("edge.b", "node.a", "node.never")
    put(root, "edge", dangling)
    put(root, "path", path("path.a", "event.0003", "event.0002"))
    put(root, "path", path("path.b", "event.never", parent_path_id="path.c"))
    put(root, "path", path("path.c", parent_path_id="path.b"))
    updates = [{"path_id": "path.c", "operation": "create"}]
    append(root, "events.jsonl", event(4, path_updates=updates), event(5, path_id="path.d"))
    with (root / "events.jsonl").open("ab") as log:
        log.write(log_line(event(6))[:-1])
    odd = json.dumps(node("node.a")).encode()
    (root / "nodes/node.a.json").write_bytes(odd)
    (root / "nodes/node.b.json").rename(root / "nodes/other.json")
    manage("import_stores")
    planned = {one["action"]: one for one in manage("plan_lifecycle", "atlas", "--repairs", "--json").document["data"]["dry_run_actions"]}
    expected = {
        "archive": {"edge.b": digest_of(dangling)},
        "append_newline": {"events.jsonl": "sha256:" + hashlib.sha256(log_line(event(6))[:-1]).hexdigest()},
        "make_root": {"path.c": digest_of(path("path.c", parent_path_id="path.b"))},
        "rename_file": {"nodes/other.json": "sha256:" + hashlib.sha256((root / "nodes/other.json").read_bytes()).hexdigest()},
        "rewrite_canonical": {"nodes/node.a.json": "sha256:" + hashlib.sha256(odd).hexdigest()},
        "set_event_aside": {"path.b": digest_of(path("path.b", "event.never", parent_path_id="path.c"))},
        "sort_events": {"path.a": digest_of(path("path.a", "event.0003", "event.0002"))},
    }
    assert {verb: one["source_digests"] for verb, one in planned.items()} == expected
    assert planned["sort_events"]["parameters"] == {"event_ids": ["event.0002", "event.0003"]}
    assert all(one == with_id(one) for one in planned.values())


def test_faulty_lines_of_a_store_are_proposed_to_be_mended_by_their_hash(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path, decisions=0)
    glued = decision("use redis", 1).rstrip(b"\n") + decision("use postgres", 2)
    silent = b'{"id":"decision-mx3a2c3b-0009","type":"decision","content":{"what":"a text"}}\n'
    conflict = b"<<<<<<< HEAD\n"
    (memory / "decisions.jsonl").write_bytes(decision("use cursors", 3) + glued + conflict + silent + b'{"id":"torn')
    manage("add_store", memory)
    manage("import_stores")
    done = manage("plan_lifecycle", "shop-api", "--json")
    planned = {one["action"]: one for one in done.document["data"]["dry_run_actions"]}
    assert planned.keys() == {"repair_lines", "set_aside_lines"}
    assert planned["repair_lines"]["target_ids"] == sorted(hashlib.sha256(line.rstrip(b"\n")).hexdigest() for line in (glued, silent))
    assert planned["set_aside_lines"]["target_ids"] == [hashlib.sha256(conflict.rstrip(b"\n")).hexdigest()]
    assert planned["set_aside_lines"]["parameters"] == {"file": "decisions.jsonl"}
    assert all(one["requires_review"] and one == with_id(one) for one in planned.values())


def test_doubles_and_a_queue_that_waits_are_proposed(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path, decisions=0)
    first = decision("use cursors", 1)
    second = first.replace(b"-0001", b"-0002").replace(b"10:00:00.000Z", b"10:00:00.050Z")
    (memory / "decisions.jsonl").write_bytes(first + second)
    queue = b'{"type":"create_entities","payload":{"entities":[{"name":"redis","entityType":"Technology","observations":["fast"]}]},'
    queue += b'"timestamp":"2026-03-01T10:00:00.000Z"}\nnot json\n'
    (memory / "graph-queue.jsonl").write_bytes(queue)
    manage("add_store", memory)
    manage("import_stores")
    planned = {one["action"]: one for one in manage("plan_lifecycle", "shop-api", "--json").document["data"]["dry_run_actions"]}
    assert planned.keys() == {"merge_duplicates", "drain_queue", "set_aside_lines"}
    assert planned["merge_duplicates"]["source_digests"] == {
        "decision-mx3a2c3b-0001": "sha256:" + hashlib.sha256(first.rstrip(b"\n")).hexdigest(),
        "decision-mx3a2c3b-0002": "sha256:" + hashlib.sha256(second.rstrip(b"\n")).hexdigest(),
    }
    assert planned["merge_duplicates"]["parameters"] == {"keep": "decision-mx3a2c3b-0001"}
    assert planned["drain_queue"]["source_digests"] == {"graph-queue.jsonl": "sha256:" + hashlib.sha256(queue).hexdigest()}
    early = manage("plan_lifecycle", "shop-api", "--now", "2026-03-01T12:00:00Z", "--json").document
    assert "drain_queue" not in {one["action"] for one in early["data"]["dry_run_actions"]}
    assert Store.objects.get().kind == "orchestkit"


def test_a_double_whose_id_another_decision_has_too_is_named_by_its_line_whatever_else_is_faulty(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path, decisions=0)
    first = decision("use cursors", 1)
    second = first.replace(b"-0001", b"-0002").replace(b"10:00:00.000Z", b"10:00:00.050Z")
    (memory / "decisions.jsonl").write_bytes(first + second + decision("use queues", 2))
    # A file with a fault that comes before those of the decisions.
    (memory / "completed-flows.jsonl").write_bytes(b"<<<<<<< HEAD\n")
    manage("add_store", memory)
    manage("import_stores")
    planned = {one["action"]: one for one in manage("plan_lifecycle", "shop-api", "--json").document["data"]["dry_run_actions"]}
    assert set(planned["merge_duplicates"]["target_ids"]) == {"decision-mx3a2c3b-0001", hashlib.sha256(second.rstrip(b"\n")).hexdigest()}


def test_a_plan_that_is_submitted_enters_the_queue_once(manage: Manage, tmp_path: Path) -> None:
    root = make_phase_store(manage, tmp_path)
    before = {place: place.read_bytes() for place in root.rglob("*") if place.is_file()}
    done = manage("plan_lifecycle", "atlas", "--now", "2026-04-20", "--submit", "--json")
    assert done.code == 0
    assert done.document.keys() == ENVELOPE_KEYS | {"submitted", "submitted_counts"}
    assert (done.document["dry_run"], done.document["submitted_counts"]) == (True, {"queued": 4})
    planned = [one["action_id"] for one in done.document["data"]["dry_run_actions"]]
    assert [one["action_id"] for one in sorted(done.document["submitted"], key=lambda one: one["position"])] == planned
    rows = {row.action_id: row for row in LifecycleAction.objects.all()}
    assert {row.state for row in rows.values() if row.requires_review} == {"pending"}
    assert {(row.verb, row.first_target) for row in rows.values() if not row.requires_review} == {("mark_stale", "finding.a")}
    assert {(row.origin, row.proposed_by, row.proposer) for row in rows.values()} == {("planner", "planner", None)}
    again = manage("plan_lifecycle", "atlas", "--now", "2026-04-20T18:00:00Z", "--submit")
    assert again.code == 0
    assert all(line.endswith("in the queue already") for line in again.out.splitlines())
    assert "0 new in the queue" in again.err
    assert LifecycleAction.objects.count() == 4
    assert before == {place: place.read_bytes() for place in root.rglob("*") if place.is_file()}


def test_a_plan_says_what_was_rejected_lately(manage: Manage, tmp_path: Path) -> None:
    make_phase_store(manage, tmp_path)
    manage("plan_lifecycle", "atlas", "--now", "2026-04-20", "--submit")
    turn = LifecycleAction.objects.get(verb="request_delete")
    reject(reviewer(), turn.pk, turn.digest, Manner("page", timezone.now(), "still needed"))
    again = manage("plan_lifecycle", "atlas", "--now", "2026-04-20", "--submit", "--json")
    assert (again.code, again.document["submitted_counts"]) == (0, {"already_queued": 3, "rejected_recently": 1})
    told = manage("plan_lifecycle", "atlas", "--now", "2026-04-20", "--submit")
    assert f"#{turn.pk} It was rejected on {timezone.now():%Y-%m-%d}." in told.out
