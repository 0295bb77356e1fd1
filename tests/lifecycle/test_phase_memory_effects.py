"""What the verbs of a phase-memory store write, from the files to the last byte."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.phase_memory.aliases import Record
from stores.lifecycle.actions import Action, read
from stores.lifecycle.changes import Append, Create, EndLine, MakeFolder, Replace
from stores.lifecycle.effect_of import effect_of
from stores.lifecycle.effects import Effect, EffectRefused, Find
from stores.lifecycle.gate import verdict
from stores.lifecycle.phase_memory.effects import event_id_of
from tests.lifecycle.cases import NOBODY, NOW, PLANNED_AT, POLICY, action, digest_of, fluid, store_of, target, with_id
from tests.phase_memory_folders import edge, path


def written(value: object) -> bytes:
    """Write a record file as docs/formats.md says, with nothing of ours."""
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def store(*values: Record, edges: tuple[Record, ...] = (), paths: tuple[Record, ...] = ()) -> Find:
    files = [("node", str(one["id"]), written(one)) for one in values]
    files += [("edge", str(one["id"]), written(one)) for one in edges]
    files += [("path", str(one["path_id"]), written(one)) for one in paths]
    return store_of(*files)


def on_path(verb: str, name: str, value: Record | None, **parameters: object) -> Action:
    digests = {name: None if value is None else digest_of(value)}
    record = action(verb, target_type="path", target_ids=[name], source_digests=digests, parameters=parameters)
    return read("phase-memory", record)


def done(verb: str, *values: Record, more: Mapping[str, Any] | None = None, find: Find | None = None) -> Effect:
    return effect_of(read("phase-memory", action(verb, *values, **(more or {}))), find or store(*values), PLANNED_AT)


def after(effect: Effect) -> dict[str, Record]:
    """Give what each written record file says, by its path."""
    return {one.path: json.loads(one.after) for one in effect.changes if isinstance(one, Replace | Create)}


NODE = fluid(extra={"kept": [1, 2.5]}, updated_at="2026-03-01T10:00:00Z", version=3)


@pytest.mark.parametrize(
    ("verb", "start", "more", "wanted"),
    [
        ("transition_phase", {}, {"to_phase": "stabilized", "from_phase": "fluid"}, {"phase": "stabilized"}),
        ("mark_stale", {}, {}, {"lifecycle_state": "stale", "freshness": {"stale_since": PLANNED_AT}}),
        (
            "mark_stale",
            {},
            {"parameters": {"strength_to": 0.2}},
            {"lifecycle_state": "stale", "freshness": {"stale_since": PLANNED_AT}, "strength": 0.2},
        ),
        (
            "refresh",
            {"lifecycle_state": "stale", "freshness": {"stale_since": "t", "source_digest": "sha256:1", "own": 1}},
            {"parameters": {"source_digest": "sha256:2"}},
            {"lifecycle_state": "active", "freshness": {"source_digest": "sha256:2", "checked_at": PLANNED_AT, "own": 1}},
        ),
        ("request_delete", {}, {}, {"lifecycle_state": "delete_requested"}),
        ("archive", {"lifecycle_state": "superseded"}, {}, {"lifecycle_state": "archived"}),
        ("archive", {"status": "compacted"}, {}, {"status": "archived"}),
    ],
)
def test_a_verb_changes_its_fields_and_no_other(verb: str, start: Record, more: dict[str, Any], wanted: Record) -> None:
    value = NODE | start
    effect = done(verb, value, more=more)
    replace, append = effect.changes
    assert replace == Replace("nodes/node.a.json", written(value), written(value | wanted))
    assert isinstance(append, Append)
    assert [(one.before_digest, one.after_digest) for one in effect.targets] == [(digest_of(value), digest_of(value | wanted))]


def test_a_restored_node_forgets_what_took_its_place() -> None:
    value = NODE | {"lifecycle_state": "superseded", "superseded_by": "node.b", "invalid_at": "t", "compacted_into": "node.c"}
    effect = done("restore", value)
    assert after(effect) == {"nodes/node.a.json": NODE | {"lifecycle_state": "active"}}


def test_a_superseded_node_names_the_other_which_must_be_there() -> None:
    other = fluid("node.b")
    more = {"parameters": {"superseded_by": "node.b"}}
    effect = done("supersede", NODE, more=more, find=store(NODE, other))
    wanted = NODE | {"lifecycle_state": "superseded", "superseded_by": "node.b", "invalid_at": PLANNED_AT}
    assert after(effect) == {"nodes/node.a.json": wanted}
    with pytest.raises(EffectRefused, match=r"node\.b is not there"):
        done("supersede", NODE, more=more)


def test_a_merge_leaves_the_node_that_stays_as_it_is() -> None:
    values = (NODE, fluid("node.b"), fluid("node.c"))
    effect = done("merge", *values, more={"parameters": {"into": "node.b"}})
    assert set(after(effect)) == {"nodes/node.a.json", "nodes/node.c.json"}
    assert all(one["superseded_by"] == "node.b" for one in after(effect).values())
    assert "2 nodes" in effect.sentence


def test_an_edge_is_archived_by_its_own_spelling() -> None:
    value = edge("edge.a", "node.a", "node.b", state="active")
    record = action("archive", target_type="edge", target_ids=["edge.a"], source_digests={"edge.a": digest_of(value)})
    effect = effect_of(read("phase-memory", record), store(edges=(value,)), PLANNED_AT)
    assert after(effect) == {"edges/edge.a.json": value | {"state": "archived"}}
    assert effect.event is not None
    assert effect.event["edge_updates"] == [{"edge_id": "edge.a", "operation": "deactivate"}]


def test_the_form_of_a_file_and_its_wrapper_stay() -> None:
    inner = {"id": "node.a", "kind": "claim", "text": "Grüße"}
    wrapped = {"schema_version": "phase_memory.node.v1", "node": inner}
    escaped = json.dumps(wrapped, indent=2, sort_keys=True).encode()
    record = action("mark_stale", target_ids=["node.a"], source_digests={"node.a": digest_of(wrapped)})
    (replace, _) = effect_of(read("phase-memory", record), store_of(("node", "node.a", escaped)), PLANNED_AT).changes
    assert isinstance(replace, Replace)
    wanted = wrapped | {"node": inner | {"lifecycle_state": "stale", "freshness": {"stale_since": PLANNED_AT}}}
    assert replace.after == json.dumps(wanted, indent=2, sort_keys=True).encode()


def test_a_compaction_writes_its_summary_and_an_edge_to_each_source() -> None:
    shared = {"namespace": {"project": "atlas"}, "metadata": {"title": "One", "graph_id": "graph.a"}, "policy": {"labels": ["b"]}}
    one = fluid("node.a", **shared)
    two = fluid(
        "node.b", **shared | {"metadata": {"graph_id": "graph.a"}, "text": "Two is longer.", "policy": {"labels": ["a"], "secret": True}}
    )
    effect = done("compact", one, two, more={"parameters": {"strategy": "s", "preserve_originals": True}, "path_id": "path.x"})
    name = "summary." + hashlib.sha256(b'["node.a","node.b"]').hexdigest()[:12]
    files = after(effect)
    summary = files.pop(f"nodes/{name}.json")
    assert summary["text"] == "- One\n- Two is longer."
    assert (summary["lifecycle_state"], summary["created_at"], summary["namespace"]) == ("active", PLANNED_AT, {"project": "atlas"})
    assert summary["policy"] == {"labels": ["a", "b"], "secret": True}
    assert summary["metadata"] == {"title": "Summary of 2 nodes of path.x", "graph_id": "graph.a"}
    folded = {"lifecycle_state": "compacted", "compacted_into": name}
    assert files.pop("nodes/node.a.json") == one | folded
    assert files.pop("nodes/node.b.json") == two | folded
    assert {(one["kind"], one["source"], one["target"]) for one in files.values()} == {
        ("derived_from", name, "node.a"),
        ("derived_from", name, "node.b"),
    }
    assert effect.event is not None
    assert effect.event["node_updates"] == [
        {"node_id": "node.a", "operation": "retire"},
        {"node_id": "node.b", "operation": "retire"},
        {"node_id": name, "operation": "create"},
    ]
    told = done("compact", one, two, more={"parameters": {"strategy": "s", "summary_text": "Both."}})
    assert after(told)[f"nodes/{name}.json"]["text"] == "Both."


def test_the_event_names_the_action_and_is_the_same_however_often_it_is_computed() -> None:
    record = action("mark_stale", NODE)
    first, second = (effect_of(read("phase-memory", record), store(NODE), PLANNED_AT) for _ in range(2))
    assert first == second
    assert first.event == {
        "schema_version": "phase_memory.memory.event.v1",
        "id": event_id_of(str(record["action_id"]), PLANNED_AT),
        "kind": "updated",
        "timestamp": PLANNED_AT,
        "path_id": None,
        "actor": "memoryui",
        "action_id": record["action_id"],
        "node_updates": [{"node_id": "node.a", "operation": "update"}],
    }
    assert event_id_of(str(record["action_id"]), "2026-06-02T00:00:00Z") != first.event["id"]


@pytest.mark.parametrize(
    ("verb", "value", "more"),
    [
        ("mark_stale", NODE | {"lifecycle_state": "archived"}, {}),
        ("refresh", NODE, {"parameters": {"source_digest": "x"}}),
        ("restore", NODE, {}),
        ("request_delete", NODE | {"lifecycle_state": "compacted"}, {}),
        ("archive", NODE | {"lifecycle_state": "archived"}, {}),
        ("archive", NODE | {"lifecycle_state": ["active"]}, {}),
        ("mark_stale", NODE, {"parameters": {"strength_to": 2}}),
        ("mark_stale", NODE, {"parameters": {"strength_to": True}}),
        ("transition_phase", NODE, {"from_phase": "rigid", "to_phase": "fluid"}),
        ("mark_stale", NODE | {"schema_version": "phase_memory.node.v9"}, {}),
    ],
)
def test_what_a_node_does_not_allow_is_refused(verb: str, value: Record, more: dict[str, Any]) -> None:
    with pytest.raises(EffectRefused):
        done(verb, value, more=more)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=5,
    )
)
def test_a_state_of_any_type_is_refused_or_changed_but_never_raises_anything_else(state: object) -> None:
    try:
        effect = done("archive", NODE | {"lifecycle_state": state})
    except EffectRefused:
        return
    assert after(effect) == {"nodes/node.a.json": NODE | {"lifecycle_state": "archived"}}


def test_a_file_that_says_another_id_is_not_written() -> None:
    find = store_of(("node", "node.a", written(fluid("node.b"))))
    with pytest.raises(EffectRefused, match="cannot be read"):
        done("mark_stale", NODE, find=find)
    with pytest.raises(EffectRefused, match="cannot be read"):
        done("mark_stale", NODE, find=store_of(("node", "node.a", b"{")))


def test_a_sentence_shows_what_is_unseen_and_no_secret() -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    assert secret not in done("mark_stale", fluid(secret)).sentence
    assert done("archive", fluid("node\u202ea")).sentence == "Archives the node node\\u{202E}a."


def test_applied_twice_is_already_applied() -> None:
    effect = done("mark_stale", NODE)
    now = after(effect)["nodes/node.a.json"]
    record = action("mark_stale", NODE)
    got = verdict(record, {"node.a": target(now, after_digest=str(effect.targets[0].after_digest))}, NOBODY, POLICY, NOW, ())
    assert got.reason_code == "already_applied"


PATH = path("path.a", "event.0001")


def test_paths_are_made_and_ended_with_their_event() -> None:
    for verb, parameters, field, kind in (
        ("merge_path", {"merge_target": "path.b"}, ("merge_target", "path.b"), "merged"),
        ("abandon_path", {"abandoned_reason": "a dead end"}, ("abandoned_reason", "a dead end"), "deactivated"),
        ("compact_path", {"compacted_summary_id": "node.a"}, ("compacted_summary_id", "node.a"), "compacted"),
    ):
        find = store(NODE, paths=(PATH, path("path.b")))
        effect = effect_of(on_path(verb, "path.a", PATH, **parameters), find, PLANNED_AT)
        (record,) = after(effect).values()
        assert effect.event is not None
        assert record[field[0]] == field[1]
        assert record["event_ids"] == ["event.0001", effect.event["id"]]
        assert (effect.event["kind"], effect.event["path_id"]) == (kind, "path.a")
        assert record["state"] in ("merged", "abandoned", "compacted")
    made = effect_of(on_path("create_path", "path.new", None), store(), PLANNED_AT)
    assert isinstance(made.changes[0], Create)
    assert made.changes[0].path == "paths/path.new.json"
    branched = effect_of(on_path("branch_path", "path.new", None, parent_path_id="path.a"), store(paths=(PATH,)), PLANNED_AT)
    assert after(branched)["paths/path.new.json"]["parent_path_id"] == "path.a"


def test_a_path_comes_back_without_its_end() -> None:
    value = PATH | {"state": "merged", "merge_target_id": "path.b"}
    effect = effect_of(on_path("restore", "path.a", value), store(paths=(value,)), PLANNED_AT)
    assert after(effect) == {"paths/path.a.json": PATH | {"merge_target_id": None}}


@pytest.mark.parametrize(
    ("verb", "name", "value", "parameters"),
    [
        ("create_path", "path.a", None, {}),
        ("create_path", "../path", None, {}),
        ("create_path", "con", None, {}),
        ("branch_path", "path.new", None, {"parent_path_id": "path.z"}),
        ("merge_path", "path.a", PATH, {"merge_target": "path.z"}),
        ("compact_path", "path.a", PATH, {"compacted_summary_id": "node.z"}),
        ("abandon_path", "path.b", path("path.b", state="merged", merge_target="path.a"), {"abandoned_reason": "x"}),
    ],
)
def test_what_paths_do_not_allow_is_refused(verb: str, name: str, value: Record | None, parameters: dict[str, object]) -> None:
    find = store(paths=(PATH, *([value] if value and name != "path.a" else [])))
    with pytest.raises(EffectRefused):
        effect_of(on_path(verb, name, value, **parameters), find, PLANNED_AT)


def test_a_path_that_is_there_already_makes_its_creation_stale() -> None:
    record = on_path("create_path", "path.a", None).record
    got = verdict(record, {"path.a": target(PATH, "path")}, NOBODY, POLICY, NOW, ())
    assert got.reason_code == "stale_source"
    assert verdict(record, {}, NOBODY, POLICY, NOW, ()).reason_code == "review_required"


def on_file(verb: str, name: str, *files: tuple[str, str, bytes]) -> Effect:
    record = with_id(action(verb) | {"target_type": "file", "target_ids": [name], "source_digests": {name: "sha256:1"}})
    return effect_of(read("phase-memory", record), store_of(*files), PLANNED_AT)


def test_safe_repairs_change_no_value() -> None:
    assert on_file("append_newline", "events.jsonl", ("file", "events.jsonl", b"{}")).changes == (EndLine("events.jsonl"),)
    assert on_file("create_missing_entry", "audit.jsonl").changes == (Create("audit.jsonl", b""),)
    assert on_file("create_missing_entry", "paths").changes == (MakeFolder("paths"),)
    odd = b'\xef\xbb\xbf{"id":"node.a","kind":"claim"}'
    (change,) = on_file("rewrite_canonical", "nodes/a.json", ("file", "nodes/a.json", odd)).changes
    assert change == Replace("nodes/a.json", odd, written({"id": "node.a", "kind": "claim"}))


@pytest.mark.parametrize(
    ("verb", "name", "data"),
    [
        ("append_newline", "events.jsonl", b"{}\n"),
        ("append_newline", "events.jsonl", b""),
        ("append_newline", "nodes/a.json", b"{}"),
        ("create_missing_entry", "events.jsonl", b""),
        ("create_missing_entry", "../events.jsonl", None),
        ("rewrite_canonical", "phase-memory.json", b"{}"),
        ("rewrite_canonical", "nodes/a.json", b'{"a":1,"a":2}'),
        ("rewrite_canonical", "nodes/a.json", b'{\n  "a": 1\n}\n'),
    ],
)
def test_a_safe_repair_of_what_needs_none_is_refused(verb: str, name: str, data: bytes | None) -> None:
    with pytest.raises(EffectRefused):
        on_file(verb, name, *([("file", name, data)] if data is not None else []))
