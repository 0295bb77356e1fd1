"""The diagnostics of phase-memory stores: each code on a store of a few files, and what is wrong with nothing but one thing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from stores.formats.base import RepairMode, Severity
from stores.formats.canonical import digest, log_line, pretty
from stores.formats.lines import split_lines
from stores.formats.phase_memory.layout import EntryKind
from stores.formats.phase_memory.vocabulary import EVENT_VERSIONS
from stores.health.phase_memory import CODES, Finding, StoreFacts, check_all, is_acknowledged
from tests.phase_memory_stores import read_facts

Files = dict[str, bytes]

EVENT = {"schema_version": "phase_memory.memory.event.v1", "kind": "recorded", "path_id": None, "actor": "agent.a"}
AUDIT = {"schema_version": "phase_memory.audit.event.v1", "operation": "graph.export", "decision": "applied", "dry_run": False}


def event(number: int, **more: object) -> dict[str, object]:
    return {**EVENT, "id": f"event.{number}", "timestamp": f"2026-03-01T10:00:{number:02d}Z", **more}


def audit(number: int, previous: Mapping[str, object] | None = None, **more: object) -> dict[str, object]:
    link = None if previous is None else digest(previous)
    return {**AUDIT, "audit_id": f"audit.{number}", "sequence": number, "previous_digest": link, **more}


def node(name: str, **more: object) -> dict[str, object]:
    return {"id": name, "kind": "decision", "text": "Pages by cursor.", "phase": "fluid", **more}


def path(name: str, **more: object) -> dict[str, object]:
    return {"path_id": name, "parent_path_id": None, "event_ids": [], "state": "active", **more}


def edge(name: str, **more: object) -> dict[str, object]:
    return {"id": name, "kind": "supports", "source": "node.a", "target": "node.b", **more}


EVENTS = [event(1), event(2, path_id="path.a"), event(3, path_id="path.a")]
TRAIL = [audit(1), audit(2, audit(1))]


def written(*records: Mapping[str, object]) -> bytes:
    return b"".join(map(log_line, records))


def good() -> Files:
    """Give a store about which there is nothing to say."""
    return {
        "phase-memory.json": pretty({"schema_version": "phase_memory.local_store.v1"}),
        "profiles/profile.a.json": pretty({"id": "profile.a", "schema_version": "markitect.memory.profile.v1"}),
        "nodes/node.a.json": pretty(node("node.a", provenance={"source_event_ids": ["event.1"]})),
        "nodes/node.b.json": pretty(node("node.b")),
        "edges/edge.a.json": pretty(edge("edge.a")),
        "paths/path.a.json": pretty(path("path.a", event_ids=["event.2", "event.3"])),
        "activations/activation.a.json": pretty({"id": "activation.a", "node_ids": ["node.a"]}),
        "events.jsonl": written(*EVENTS),
        "audit.jsonl": written(*TRAIL),
    }


def findings(tmp_path: Path, files: Mapping[str, bytes | None]) -> list[Finding]:
    """Write the good store with some files changed, None for gone ones, and check it."""
    return check_all(facts_of(tmp_path, files)).listed()


def facts_of(tmp_path: Path, files: Mapping[str, bytes | None]) -> StoreFacts:
    for folder in ("profiles", "nodes", "edges", "paths", "activations"):
        (tmp_path / folder).mkdir(exist_ok=True)
    for name, data in {**good(), **files}.items():
        if data is not None:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(data)
    return read_facts(tmp_path)


def added(log: str, *records: Mapping[str, object], tail: bytes = b"") -> Files:
    return {log: good()[log] + written(*records) + tail}


def test_a_good_store_gives_no_finding(tmp_path: Path) -> None:
    assert findings(tmp_path, {}) == []


CASES: list[tuple[str, Mapping[str, bytes | None], tuple[str, int | None, str | None, str | None], str]] = [
    ("malformed_event_line", added("events.jsonl", tail=b"[]\n"), ("events.jsonl", 4, None, None), "error"),
    (
        "unknown_event_schema_version",
        added("events.jsonl", event(4, schema_version="acme.event.v1")),
        ("events.jsonl", 4, "event.4", None),
        "warning",
    ),
    (
        "missing_edge_endpoint",
        {"edges/edge.b.json": pretty(edge("edge.b", target="node.x"))},
        ("edges/edge.b.json", None, "edge.b", "target:node.x"),
        "error",
    ),
    (
        "path_event_missing",
        {"paths/path.b.json": pretty(path("path.b", event_ids=["event.9"]))},
        ("paths/path.b.json", None, "path.b", "event.9"),
        "error",
    ),
    ("store_root_missing", {"phase-memory.json": b"{}"}, ("phase-memory.json", None, None, None), "error"),
    (
        "unsupported_store_version",
        {"phase-memory.json": pretty({"schema_version": "phase_memory.local_store.v2"})},
        ("phase-memory.json", None, None, "phase_memory.local_store.v2"),
        "error",
    ),
    ("missing_layout_entry", {"audit.jsonl": None}, ("audit.jsonl", None, None, None), "warning"),
    ("malformed_record_file", {"nodes/x.json": b"{"}, ("nodes/x.json", None, None, None), "error"),
    ("unexpected_file", {"notes.txt": b"x"}, ("notes.txt", None, None, None), "info"),
    ("unexpected_file", {"nodes/old": b"x"}, ("nodes/old", None, None, None), "info"),
    (
        "nondeterministic_json",
        {"nodes/node.b.json": json.dumps(node("node.b")).encode()},
        ("nodes/node.b.json", None, "node.b", None),
        "info",
    ),
    ("filename_id_mismatch", {"nodes/c.json": pretty(node("node.c"))}, ("nodes/c.json", None, "node.c", None), "warning"),
    (
        "duplicate_record_id",
        {"nodes/a.json": pretty(node("node.b"))},
        ("nodes/a.json", None, "node.b", "identical"),
        "warning",
    ),
    (
        "duplicate_record_id",
        {"nodes/a.json": pretty(node("node.b", text="Else.", kind="vibe"))},
        ("nodes/a.json", None, "node.b", "different"),
        "error",
    ),
    (
        "id_case_collision",
        {"nodes/Node.a.json": pretty(node("Node.a"))},
        ("nodes/node.a.json", None, "node.a", "Node.a"),
        "warning",
    ),
    ("invalid_record", {"nodes/c.json": pretty({"id": "c"})}, ("nodes/c.json", None, "c", "kind"), "error"),
    (
        "invalid_record",
        {"paths/p.json": pretty(path("p", event_ids="event.1"))},
        ("paths/p.json", None, "p", "event_ids"),
        "error",
    ),
    (
        "invalid_record",
        {"nodes/c.json": pretty(node("c", confidence=True))},
        ("nodes/c.json", None, "c", "confidence"),
        "error",
    ),
    (
        "unknown_record_schema_version",
        {"nodes/c.json": pretty(node("c", schema_version="phase_memory.node.v2", superseded_by="gone"))},
        ("nodes/c.json", None, "c", "phase_memory.node.v2"),
        "warning",
    ),
    ("unknown_kind", {"nodes/c.json": pretty(node("c", kind="vibe"))}, ("nodes/c.json", None, "c", "vibe"), "warning"),
    ("unknown_kind", added("events.jsonl", event(4, kind="dreamt")), ("events.jsonl", 4, "event.4", "dreamt"), "warning"),
    ("invalid_phase", {"nodes/c.json": pretty(node("c", phase="liquid"))}, ("nodes/c.json", None, "c", "liquid"), "error"),
    (
        "invalid_lifecycle_state",
        {"nodes/c.json": pretty(node("c", status="zombie"))},
        ("nodes/c.json", None, "c", "zombie"),
        "error",
    ),
    (
        "superseded_target_missing",
        {"nodes/c.json": pretty(node("c", superseded_by="gone"))},
        ("nodes/c.json", None, "c", "gone"),
        "warning",
    ),
    (
        "source_event_missing",
        {"nodes/c.json": pretty(node("c", provenance={"source_event_ids": ["event.9", "event.9"]}))},
        ("nodes/c.json", None, "c", "event.9"),
        "warning",
    ),
    (
        "activation_reference_missing",
        {"activations/b.json": pretty({"id": "b", "node_ids": ["gone"]})},
        ("activations/b.json", None, "b", "gone"),
        "warning",
    ),
    (
        "parent_path_missing",
        {"paths/p.json": pretty(path("p", parent_path_id="gone"))},
        ("paths/p.json", None, "p", "gone"),
        "warning",
    ),
    (
        "path_parent_cycle",
        {"paths/p.json": pretty(path("p", parent_path_id="p"))},
        ("paths/p.json", None, "p", "p"),
        "error",
    ),
    (
        "merge_target_missing",
        {"paths/p.json": pretty(path("p", state="merged", merged_into="gone"))},
        ("paths/p.json", None, "p", "gone"),
        "error",
    ),
    (
        "compacted_summary_missing",
        {"paths/p.json": pretty(path("p", state="compacted", compacted_summary_id="gone"))},
        ("paths/p.json", None, "p", "gone"),
        "error",
    ),
    (
        "path_state_inconsistent",
        {"paths/p.json": pretty(path("p", abandoned_reason="left over"))},
        ("paths/p.json", None, "p", "active"),
        "error",
    ),
    (
        "path_event_duplicate",
        {"paths/path.a.json": pretty(path("path.a", event_ids=["event.2", "event.3", "event.2"]))},
        ("paths/path.a.json", None, "path.a", "event.2"),
        "warning",
    ),
    (
        "path_event_order",
        {"paths/path.a.json": pretty(path("path.a", event_ids=["event.3", "event.2"]))},
        ("paths/path.a.json", None, "path.a", None),
        "warning",
    ),
    (
        "event_path_unlisted",
        {"paths/path.a.json": pretty(path("path.a", event_ids=["event.3"]))},
        ("events.jsonl", 2, "event.2", "path.a"),
        "warning",
    ),
    ("event_path_missing", added("events.jsonl", event(4, path_id="gone")), ("events.jsonl", 4, "event.4", "gone"), "warning"),
    ("truncated_last_line", added("events.jsonl", tail=b'{"id":"event.4'), ("events.jsonl", 4, None, None), "error"),
    ("truncated_last_line", added("audit.jsonl", tail=b'{"id":"event.4'), ("audit.jsonl", 3, None, None), "error"),
    ("unterminated_last_line", {"events.jsonl": written(*EVENTS)[:-1]}, ("events.jsonl", 3, None, None), "warning"),
    ("blank_log_line", added("audit.jsonl", tail=b" \r\n"), ("audit.jsonl", 3, None, None), "info"),
    ("duplicate_event_id", added("events.jsonl", event(1)), ("events.jsonl", 4, "event.1", "identical"), "info"),
    (
        "duplicate_event_id",
        added("events.jsonl", event(1, kind="updated", path_id="gone")),
        ("events.jsonl", 4, "event.1", "different"),
        "error",
    ),
    (
        "event_timestamp_regression",
        added("events.jsonl", event(4, timestamp="2026-03-01T11:00:00+02:00")),
        ("events.jsonl", 4, "event.4", None),
        "info",
    ),
    ("malformed_audit_line", added("audit.jsonl", tail=b"{'a': 1}\n"), ("audit.jsonl", 3, None, None), "error"),
    (
        "unknown_audit_schema_version",
        added("audit.jsonl", {"audit_id": "x", "schema_version": "phase_memory.audit.event.v4"}, audit(3, audit(2, audit(1)))),
        ("audit.jsonl", 3, "x", None),
        "warning",
    ),
    ("audit_sequence_gap", added("audit.jsonl", audit(4)), ("audit.jsonl", 3, "audit.4", None), "error"),
    ("audit_chain_broken", added("audit.jsonl", audit(3, audit(1))), ("audit.jsonl", 3, "audit.3", None), "error"),
    (
        "unapproved_apply",
        added("audit.jsonl", {**AUDIT, "audit_id": "x", "operation": "lifecycle.apply", "requires_review": True, "approval_marker": " "}),
        ("audit.jsonl", 3, "x", None),
        "error",
    ),
    ("unaudited_apply", added("events.jsonl", event(4, action_id="action:1")), ("events.jsonl", 4, "event.4", "action:1"), "warning"),
]


@pytest.mark.parametrize(("code", "files", "place", "severity"), CASES, ids=[f"{case[0]}-{number}" for number, case in enumerate(CASES)])
def test_one_thing_wrong_is_one_finding(
    tmp_path: Path, code: str, files: dict[str, bytes | None], place: tuple[str, int | None, str | None, str | None], severity: str
) -> None:
    found = findings(tmp_path, files)
    assert [(one.identity, str(one.severity)) for one in found] == [((code, *place), severity)]


def test_every_code_has_a_case() -> None:
    elsewhere = {"symlink_in_store", "unreviewed_durable_change"}
    assert {case[0] for case in CASES} | elsewhere == CODES.keys()
    assert len(CODES) == 43


def test_links_are_told_of_and_never_followed(tmp_path: Path) -> None:
    facts_of(tmp_path, {})
    (tmp_path / "nodes/link.json").symlink_to(tmp_path / "nodes/node.a.json")
    (tmp_path / "activations/activation.a.json").unlink()
    (tmp_path / "activations").rmdir()
    (tmp_path / "activations").symlink_to(tmp_path / "nodes")
    found = check_all(read_facts(tmp_path)).listed()
    assert [one.identity[:2] for one in found] == [("symlink_in_store", "activations"), ("symlink_in_store", "nodes/link.json")]


@pytest.mark.parametrize(("phase", "severity"), [("stabilized", Severity.WARNING), ("rigid", Severity.ERROR)])
def test_a_durable_node_that_was_changed_around_the_gate_is_told(tmp_path: Path, phase: str, severity: Severity) -> None:
    reviewed = node("node.c", phase=phase)
    targets = [{"record_type": "node", "id": "node.c", "before_digest": None, "after_digest": digest(reviewed)}]
    apply = {**AUDIT, "audit_id": "x", "operation": "lifecycle.apply", "review_id": "review.1", "requires_review": True, "targets": targets}
    log = added("audit.jsonl", apply)
    reordered = json.dumps(dict(reversed(reviewed.items())), indent=2, sort_keys=True).encode()
    assert findings(tmp_path, {**log, "nodes/node.c.json": reordered}) == []
    changed = pretty({**reviewed, "text": "Edited by hand."})
    (found,) = findings(tmp_path, {**log, "nodes/node.c.json": changed})
    assert (found.identity, found.severity) == (
        ("unreviewed_durable_change", "nodes/node.c.json", None, "node.c", None),
        severity,
    )


def test_only_the_file_that_stands_for_an_id_is_looked_into(tmp_path: Path) -> None:
    other = pretty(node("node.b", phase="liquid", superseded_by="gone"))
    assert [one.code for one in findings(tmp_path, {"nodes/a.json": other})] == ["duplicate_record_id"]


def test_a_ring_is_one_finding_from_its_smallest_id_on(tmp_path: Path) -> None:
    ring = {"b": "c", "c": "a", "a": "b", "below": "c"}
    files = {f"paths/{name}.json": pretty(path(name, parent_path_id=parent)) for name, parent in ring.items()}
    assert [one.identity for one in findings(tmp_path, files)] == [("path_parent_cycle", "paths/a.json", None, "a", "a>b>c")]


def test_an_archived_edge_may_point_at_nothing(tmp_path: Path) -> None:
    archived = pretty(edge("edge.b", target="gone", lifecycle_state="archived"))
    assert findings(tmp_path, {"edges/edge.b.json": archived}) == []


def test_an_operator_can_add_a_version_of_events(tmp_path: Path) -> None:
    files = added("events.jsonl", event(4, schema_version="acme.event.v1"))
    facts = facts_of(tmp_path, files)
    log = files["events.jsonl"]
    facts.replace_events(split_lines([log]), EVENT_VERSIONS | {"acme.event.v1"})
    assert check_all(facts).listed() == []


def test_a_diagnostic_is_written_as_the_format_says(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, {"edges/edge.b.json": pretty(edge("edge.b", target="node.x"))})
    # sha256 of '["missing_edge_endpoint","edges/edge.b.json",null,"edge.b","target:node.x"]', taken with sha256sum
    assert found.document() == {
        "diagnostic_id": "diag:5dbdcb45e16f905e",
        "code": "missing_edge_endpoint",
        "severity": "error",
        "message": "Edge edge.b points at node node.x, which does not exist",
        "location": {"file": "edges/edge.b.json", "line": None},
        "subject": {"type": "edge", "id": "edge.b"},
        "key": "target:node.x",
        "details": {},
        "repair": {"mode": "review", "action": "archive", "summary": CODES["missing_edge_endpoint"].repair},
        "acknowledged": False,
    }


def test_a_line_is_acknowledged_by_an_audit_record_with_its_hash(tmp_path: Path) -> None:
    bad = b"Traceback (most recent call last):"
    facts = facts_of(tmp_path, added("events.jsonl", tail=bad + b"\n"))
    (found,) = check_all(facts).listed()
    assert found.repair_mode is RepairMode.ACKNOWLEDGE
    assert not is_acknowledged(facts, found)
    target = {"file": "events.jsonl", "line": 4, "sha256": found.details["sha256"]}
    record = {**AUDIT, "audit_id": "a", "operation": "store.repair.acknowledge", "decision": "acknowledged"}
    for wrong in ({**target, "line": 3}, {**target, "sha256": "0" * 64}, {**target, "file": "audit.jsonl"}):
        facts.extend_audit(split_lines([written({**record, "targets": [wrong]})], number=facts.audit.lines + 1))
        assert not is_acknowledged(facts, found)
    facts.extend_audit(split_lines([written({**record, "subject_id": found.diagnostic_id, "targets": [target]})], number=6))
    assert is_acknowledged(facts, found)


def test_a_store_that_holds_contract_names_only_gives_no_finding(tmp_path: Path) -> None:
    files: dict[str, bytes | None] = dict.fromkeys(good())
    files["phase-memory.json"] = good()["phase-memory.json"]
    version = "markitect.memory.event.v1"
    policy = {"labels": ["project-local"], "trust_zone": "local", "secret": False}
    contract = {
        "id": "decision.contract",
        "kind": "decision",
        "text": "x",
        "phase": "rigid",
        "policy": policy,
        "metadata": {"graph_id": "g"},
    }
    update = {"node_id": "decision.contract", "operation": "create"}
    files |= {
        "profiles/p.json": pretty({"schema_version": "markitect.memory.profile.v1", "id": "p", "memory_kinds": ["reasoning"]}),
        "nodes/decision.contract.json": pretty(contract),
        "nodes/knowledge.one.json": pretty({"id": "knowledge.one", "kind": "knowledge", "text": "y"}),
        "edges/e.json": pretty({"id": "e", "kind": "governs", "source": "decision.contract", "target": "knowledge.one"}),
        "activations/s.json": pretty({"schema_version": "markitect.memory.selection.v1", "id": "s", "node_ids": ["knowledge.one"]}),
        "events.jsonl": written(
            {
                "schema_version": version,
                "id": "event.initial",
                "kind": "recorded",
                "timestamp": "2026-01-01T00:00:00Z",
                "node_updates": [update],
            }
        ),
        "audit.jsonl": written({"schema_version": AUDIT["schema_version"], "operation_id": "op.1", "operation": "graph.import"}),
    }
    assert findings(tmp_path, files) == []


def test_wrapped_records_and_other_names_are_read(tmp_path: Path) -> None:
    foreign = {"id": "node.c", "kind": "finding", "content": "x", "state": "stale"}
    wrapped_event = {"event_id": "event.4", "type": "updated", "occurred_at": "2026-03-01T10:00:05Z", "path_id": "path.c"}
    files = {
        "nodes/node.c.json": pretty({"schema_version": "phase_memory.node.v1", "node": foreign}),
        "edges/edge.c.json": pretty({"id": "edge.c", "relation": "supports", "from": "node.c", "target_id": "node.a"}),
        "paths/path.c.json": pretty({"id": "path.c", "event_ids": ["event.4"], "state": "merged", "merged_into": "path.a"}),
        **added("events.jsonl", {"schema_version": "phase_memory.event.v1", "event": wrapped_event}),
    }
    assert findings(tmp_path, files) == []


def test_what_is_no_file_is_told_and_not_read(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {})
    facts.put_entry("paths", EntryKind.FILE)
    facts.put_entry("audit.jsonl", EntryKind.FOLDER)
    found = check_all(facts).listed()
    assert [(one.code, one.file, one.details) for one in found] == [
        ("missing_layout_entry", name, {"cause": "not_regular"}) for name in ("audit.jsonl", "paths")
    ]
