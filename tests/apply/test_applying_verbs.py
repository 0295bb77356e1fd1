"""Every verb of a phase-memory store end to end: proposed, approved where it must be, written, and what a reader of the disk finds then."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stores.formats.canonical import pretty
from stores.health.phase_memory import check_all
from stores.models import LifecycleAction, Store
from tests.apply.actions import applied, approved, image, imported, lines, memory_store, proposed
from tests.apply.places import left_in_store, open_journal
from tests.phase_memory_folders import append, audit, edge, node, path, put
from tests.phase_memory_stores import read_facts

pytestmark = pytest.mark.django_db
Fields = dict[str, Any]


def let(store: Store, verb: str, *targets: str, target_type: str = "node", **more: Any) -> LifecycleAction:
    """Propose an action that asks for no review by itself, have it approved where it needs one, and apply it."""
    action = proposed(store, verb, *targets, target_type=target_type, requires_review=False, **more)
    if action.state == "pending":
        approved(action)
    result = applied(store, action)
    assert (result.verdict.status, result.action.state) == ("applied", "applied"), result.verdict.message
    return result.action


def changed(before: dict[str, bytes], root: Path) -> dict[str, Fields]:
    """Give the record files that are new or say something else, with the fields that differ; logs may only have grown."""
    found: dict[str, Fields] = {}
    after = image(root)
    assert before.keys() <= after.keys()
    for name, data in after.items():
        if name.endswith(".jsonl"):
            assert data.startswith(before[name])
        elif data != before.get(name):
            was = json.loads(before[name]) if name in before else {}
            now = json.loads(data)
            found[name] = {key: now.get(key) for key in now.keys() | was.keys() if now.get(key) != was.get(key)}
    return found


STALE = {"lifecycle_state": "stale", "freshness": {"stale_since": "2026-04-01T00:00:00Z"}}
# verb, targets, what the proposal says besides, the nodes before it, the event's kind, what becomes of which file
CASES: list[tuple[str, list[str], Fields, list[Fields], str, dict[str, Fields]]] = [
    ("transition_phase", ["node.a"], {"to_phase": "stabilized"}, [], "updated", {"nodes/node.a.json": {"phase": "stabilized"}}),
    ("request_delete", ["node.a"], {}, [], "forgotten", {"nodes/node.a.json": {"lifecycle_state": "delete_requested"}}),
    ("archive", ["node.a"], {}, [], "deactivated", {"nodes/node.a.json": {"lifecycle_state": "archived"}}),
    (
        "supersede",
        ["node.a"],
        {"parameters": {"superseded_by": "node.b"}},
        [],
        "updated",
        {"nodes/node.a.json": {"lifecycle_state": "superseded", "superseded_by": "node.b"}},
    ),
    (
        "merge",
        ["node.a", "node.b"],
        {"parameters": {"into": "node.b"}},
        [],
        "merged",
        {"nodes/node.a.json": {"lifecycle_state": "superseded", "superseded_by": "node.b"}},
    ),
    (
        "restore",
        ["node.d"],
        {},
        [node("node.d", lifecycle_state="archived")],
        "updated",
        {"nodes/node.d.json": {"lifecycle_state": "active"}},
    ),
]


@pytest.mark.parametrize(("verb", "targets", "more", "nodes", "kind", "expected"), CASES, ids=[case[0] for case in CASES])
def test_a_verb_on_nodes_writes_its_fields_and_its_event(
    tmp_path: Path, verb: str, targets: list[str], more: Fields, nodes: list[Fields], kind: str, expected: dict[str, Fields]
) -> None:
    store, root = memory_store(tmp_path)
    for one in nodes:
        put(root, "node", one)
    imported(store)
    before = image(root)
    row = let(store, verb, *targets, **more)
    found = changed(before, root)
    assert {name: {key: fields.get(key) for key in expected[name]} for name, fields in found.items() if name in expected} == expected
    assert set(expected) <= set(found) <= {f"nodes/{one}.json" for one in targets}
    event = lines(root / "events.jsonl")[-1]
    assert (event["kind"], event["action_id"]) == (kind, row.action_id)
    assert {one["node_id"] for one in event["node_updates"]} == {name.removeprefix("nodes/").removesuffix(".json") for name in found}
    assert check_all(read_facts(root)).listed() == []
    assert (open_journal(), left_in_store(root)) == ([], [])


def test_a_stale_node_is_refreshed(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    put(root, "node", node("node.d", **STALE))
    imported(store)
    let(store, "refresh", "node.d", parameters={"source_digest": "sha256:" + "0" * 64})
    now = json.loads((root / "nodes/node.d.json").read_bytes())
    assert (now["lifecycle_state"], now["freshness"]["source_digest"]) == ("active", "sha256:" + "0" * 64)
    assert "stale_since" not in now["freshness"]
    assert lines(root / "events.jsonl")[-1]["kind"] == "refreshed"


def test_nodes_are_folded_into_a_new_one(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    before = image(root)
    let(store, "compact", "node.a", "node.b", parameters={"strategy": "summary", "preserve_originals": True})
    found = changed(before, root)
    (summary,) = (name for name in found if name.startswith("nodes/summary."))
    made = summary.removeprefix("nodes/").removesuffix(".json")
    for one in ("node.a", "node.b"):
        assert found[f"nodes/{one}.json"] == {"lifecycle_state": "compacted", "compacted_into": made}
    ends = {(fields["kind"], fields["source"], fields["target"]) for name, fields in found.items() if name.startswith("edges/")}
    assert ends == {("derived_from", made, "node.a"), ("derived_from", made, "node.b")}
    assert check_all(read_facts(root)).listed() == []


def test_an_edge_is_archived(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    before = image(root)
    let(store, "archive", "edge.a", target_type="edge")
    assert changed(before, root) == {"edges/edge.a.json": {"lifecycle_state": "archived"}}
    assert lines(root / "events.jsonl")[-1]["edge_updates"] == [{"edge_id": "edge.a", "operation": "deactivate"}]


PATH_VERBS: list[tuple[str, str, Fields, Fields]] = [
    ("create_path", "path.new", {"title": "A new one"}, {"state": "active"}),
    ("branch_path", "path.new", {"parent_path_id": "path.a"}, {"parent_path_id": "path.a", "state": "active"}),
    ("merge_path", "path.b", {"merge_target": "path.a"}, {"state": "merged", "merge_target": "path.a"}),
    ("abandon_path", "path.b", {"abandoned_reason": "led nowhere"}, {"state": "abandoned", "abandoned_reason": "led nowhere"}),
    ("compact_path", "path.b", {"compacted_summary_id": "node.b"}, {"state": "compacted", "compacted_summary_id": "node.b"}),
]


@pytest.mark.parametrize(("verb", "target", "parameters", "expected"), PATH_VERBS, ids=[case[0] for case in PATH_VERBS])
def test_a_path_is_begun_or_ended_with_its_event(tmp_path: Path, verb: str, target: str, parameters: Fields, expected: Fields) -> None:
    store, root = memory_store(tmp_path)
    put(root, "path", path("path.b"))
    imported(store)
    let(store, verb, target, target_type="path", parameters=parameters)
    event, now = lines(root / "events.jsonl")[-1], json.loads((root / f"paths/{target}.json").read_bytes())
    assert now | expected == now
    assert now["event_ids"][-1] == event["id"] and event["path_id"] == target
    assert check_all(read_facts(root)).listed() == []


def codes(root: Path) -> list[str]:
    return sorted(found.code for found in check_all(read_facts(root)).listed())


def unsorted(root: Path) -> None:
    file = root / "nodes/node.b.json"
    file.write_bytes(json.dumps(json.loads(file.read_bytes()), indent=1).encode())


def without_end(root: Path) -> None:
    log = root / "events.jsonl"
    log.write_bytes(log.read_bytes().removesuffix(b"\n"))


def misnamed(root: Path) -> None:
    (root / "nodes/node.b.json").rename(root / "nodes/other.json")


def twice(root: Path) -> None:
    (root / "nodes/zz.json").write_bytes(pretty(node("node.b", text="Another text.")))


def lost_parent(root: Path) -> None:
    put(root, "path", path("path.b", parent_path_id="path.gone"))


def missing_event(root: Path) -> None:
    put(root, "path", path("path.b", "event.gone"))


def torn(root: Path) -> None:
    append(root, "audit.jsonl")
    with (root / "audit.jsonl").open("ab") as opened:
        opened.write(b'{"audit_id": "audit.00')


def without_folder(root: Path) -> None:
    (root / "activations/activation.a.json").unlink()
    (root / "activations").rmdir()


# What is wrong, its code, and the action that mends it.
REPAIRS: dict[str, tuple[Callable[[Path], Any], str, str, str, Fields, list[str]]] = {
    "rewrite_canonical": (unsorted, "nondeterministic_json", "nodes/node.b.json", "file", {}, []),
    "append_newline": (without_end, "unterminated_last_line", "events.jsonl", "file", {}, []),
    "create_folder": (
        without_folder,
        "missing_layout_entry",
        "activations",
        "file",
        {},
        [],
    ),
    "rename_file": (misnamed, "filename_id_mismatch", "nodes/other.json", "file", {}, []),
    "set_file_aside": (twice, "duplicate_record_id", "nodes/zz.json", "file", {}, []),
    "make_root": (lost_parent, "parent_path_missing", "path.b", "path", {}, []),
    "set_event_aside": (missing_event, "path_event_missing", "path.b", "path", {"event_ids": ["event.gone"]}, []),
    "append_newline to a torn line": (torn, "truncated_last_line", "audit.jsonl", "file", {}, ["malformed_audit_line"]),
}


@pytest.mark.parametrize("name", REPAIRS)
def test_a_repair_mends_what_it_is_for(tmp_path: Path, name: str) -> None:
    store, root = memory_store(tmp_path)
    spoil, code, target, target_type, parameters, left = REPAIRS[name]
    spoil(root)
    imported(store)
    assert codes(root) == [code]
    verb = {"create_folder": "create_missing_entry"}.get(name, name.split(" ")[0])
    row = let(store, verb, target, target_type=target_type, parameters=parameters)
    assert codes(root) == left
    assert row.receipt["as_approved"] is True
    assert (open_journal(), left_in_store(root)) == ([], [])


def test_a_file_that_was_taken_out_is_kept_with_its_change(tmp_path: Path, data_folder: Path) -> None:
    store, root = memory_store(tmp_path)
    twice(root)
    imported(store)
    other = (root / "nodes/zz.json").read_bytes()
    row = let(store, "set_file_aside", "nodes/zz.json", target_type="file")
    assert not (root / "nodes/zz.json").exists()
    assert (data_folder / "journal" / str(store.uid) / "done" / row.change_id / "0.displaced").read_bytes() == other


def test_a_missing_log_is_made_before_the_audit_is_told(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    (root / "audit.jsonl").unlink()
    imported(store)
    let(store, "create_missing_entry", "audit.jsonl", target_type="file")
    (record,) = lines(root / "audit.jsonl")
    assert (record["sequence"], record["previous_digest"], record["decision"]) == (1, None, "applied")


def test_an_audit_log_without_numbers_stays_without(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    last = {key: value for key, value in audit(3).items() if key not in ("sequence", "previous_digest")}
    append(root, "audit.jsonl", last)
    imported(store)
    let(store, "mark_stale", "node.b")
    assert "sequence" not in lines(root / "audit.jsonl")[-1]


def test_a_file_keeps_its_own_form_and_its_unknown_fields(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    file = root / "nodes/node.b.json"
    record = {**json.loads(file.read_bytes()), "of_somebody_else": {"kept": [1, 2]}, "text": "gr\u00f6\u00dfer"}
    file.write_bytes(json.dumps(record, indent=2, sort_keys=True).encode())
    file.chmod(0o640)
    imported(store)
    let(store, "mark_stale", "node.b")
    data = file.read_bytes()
    assert b"gr\\u00f6\\u00dfer" in data and not data.endswith(b"\n")
    assert json.loads(data)["of_somebody_else"] == {"kept": [1, 2]}
    assert file.stat().st_mode & 0o777 == 0o640


def test_the_names_of_odd_ids_are_those_that_were_read(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    (root / "nodes/odd.json").write_bytes(pretty(node("über x")))
    put(root, "edge", edge("edge.b", "über x", "node.b"))
    imported(store)
    before = set(image(root))
    let(store, "mark_stale", "über x")
    assert json.loads((root / "nodes/odd.json").read_bytes())["lifecycle_state"] == "stale"
    assert set(image(root)) == before
