"""Records that come from elsewhere: made new or in the place of what is there, with the content that an import would give them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stores.formats.canonical import pretty
from stores.lifecycle import actions, gate, intake, undoing
from stores.lifecycle.changes import Append, AppendLines, Create, Replace
from stores.lifecycle.effect_of import effect_of
from stores.lifecycle.effects import Effect, EffectRefused
from stores.lifecycle.targets import TargetNow
from tests.lifecycle.cases import NOW, PLANNED_AT, action, digest_of, nodes_of, store_of, target, targets, with_id
from tests.phase_memory_folders import Record, edge, event, node, path

KIND = "phase-memory"
OLD = node("node.a", phase="stabilized", tags=["api"])
GIVEN: Record = {
    "id": "node.new",
    "kind": "decision",
    "text": "Sorts by id.",
    "phase": "rigid",
    "metadata": {"title": "Order", "phase_memory": {"tags": ["api"], "lifecycle_state": "active"}},
}
"""As an envelope has it: what the contract does not name stands below ours (docs/formats.md)."""
RESTORED: Record = {
    "schema_version": "phase_memory.node.v1",
    "id": "node.new",
    "kind": "decision",
    "text": "Sorts by id.",
    "phase": "rigid",
    "tags": ["api"],
    "lifecycle_state": "active",
    "metadata": {"title": "Order"},
}


def asked(verb: str, record_type: str, name: str, before: Record | None, **parameters: Any) -> actions.Action:
    record = action(verb, **{"target_type": record_type, "target_ids": [name], "parameters": parameters})
    record = with_id({**record, "source_digests": {name: None if before is None else digest_of(before)}})
    return actions.read(KIND, record)


def creation(given: object = GIVEN, name: str = "node.new", record_type: str = "node", **more: Any) -> actions.Action:
    return asked("create_record", record_type, name, None, record=given, **more)


def replacement(given: object, before: Record = OLD, record_type: str = "node", **more: Any) -> actions.Action:
    name = str(before["path_id" if record_type == "path" else "id"])
    return asked("replace_record", record_type, name, before, record=given, **more)


def computed(asked_for: actions.Action, *files: tuple[str, str, bytes]) -> Effect:
    return effect_of(asked_for, store_of(("node", "node.a", pretty(OLD)), *files), PLANNED_AT)


def test_a_new_record_gets_the_content_that_an_import_gives_it_and_an_event_that_says_so() -> None:
    effect = computed(creation())
    create, append = effect.changes
    assert isinstance(create, Create) and isinstance(append, Append)
    written = json.dumps(RESTORED, indent=2, sort_keys=True) + "\n"
    assert (create.path, create.after.decode()) == ("nodes/node.new.json", written)
    assert (append.record["kind"], append.record["node_updates"]) == ("recorded", [{"node_id": "node.new", "operation": "create"}])
    (made,) = effect.targets
    assert (made.before_digest, made.after_digest) == (None, digest_of(RESTORED))
    assert effect.sentence == "Makes the new rigid node node.new."
    assert "never deleted" in effect.undo


def test_another_content_takes_the_whole_place_in_the_form_of_the_file() -> None:
    data = json.dumps(OLD, indent=2, sort_keys=True).encode()
    given = {**{name: OLD[name] for name in ("id", "kind", "phase", "created_at", "updated_at")}, "text": "Sörts by id."}
    action = replacement(given)
    effect = effect_of(action, store_of(("node", "node.a", data)), PLANNED_AT)
    replace, append = effect.changes
    assert isinstance(replace, Replace) and isinstance(append, Append)
    now = {**given, "schema_version": "phase_memory.node.v1"}
    assert replace.after.decode() == json.dumps(now, indent=2, sort_keys=True, ensure_ascii=False)
    assert append.record["node_updates"] == [{"node_id": "node.a", "operation": "update"}]
    assert effect.sentence == "Puts another content in the place of the node node.a: 3 fields (schema_version, tags, text)."
    # It can be taken back, byte for byte.
    (back, *_) = undoing.effect(KIND, action.id, effect, lambda path: replace.after, NOW).changes
    assert isinstance(back, Replace) and back.after == data


def test_a_phase_that_changes_is_told() -> None:
    sentence = computed(replacement({**OLD, "phase": "rigid"})).sentence
    assert sentence.endswith("; it becomes rigid instead of stabilized.")


@pytest.mark.parametrize(
    ("record_type", "given", "name", "file"),
    [
        ("edge", edge("edge.new", "node.new", "node.a"), "edge.new", "edges/edge.new.json"),
        ("path", path("path.new", "event.1"), "path.new", "paths/path.new.json"),
        ("profile", {"id": "profile.new", "title": "New"}, "profile.new", "profiles/profile.new.json"),
    ],
)
def test_every_type_of_record_comes_in(record_type: str, given: Record, name: str, file: str) -> None:
    effect = computed(creation(given, name, record_type))
    assert [change.path for change in effect.changes] == [file, "events.jsonl"]
    assert effect.event is not None
    updates = {key: value for key, value in effect.event.items() if key.endswith("_updates")}
    named = {f"{record_type}_updates": [{f"{record_type}_id": name, "operation": "create"}]}
    assert updates == ({} if record_type == "profile" else named)


@pytest.mark.parametrize(
    ("given", "name", "record_type"),
    [
        (None, "node.new", "node"),
        ("text", "node.new", "node"),
        ([], "node.new", "node"),
        ({}, "node.new", "node"),
        ({"id": "node.new", "kind": 7}, "node.new", "node"),
        ({"id": "node.new"}, "node.new", "node"),
        ({"id": "other", "kind": "claim"}, "node.new", "node"),
        ({"id": ["node.new"], "kind": "claim"}, "node.new", "node"),
        ({"id": "node.new", "kind": "claim", "confidence": "high"}, "node.new", "node"),
        ({"id": "../../x", "kind": "claim"}, "../../x", "node"),
        ({"id": "con", "kind": "claim"}, "con", "node"),
        ({"id": "x.json", "kind": "claim"}, "x.json", "node"),
        ({"id": ".hidden", "kind": "claim"}, ".hidden", "node"),
        ({"id": "a b", "kind": "claim"}, "a b", "node"),
        ({"id": "n\N{LATIN SMALL LETTER O WITH DIAERESIS}de", "kind": "claim"}, "n\N{LATIN SMALL LETTER O WITH DIAERESIS}de", "node"),
        ({**OLD}, "node.a", "node"),
        ({"id": "edge.new", "kind": "supports", "source": "node.a"}, "edge.new", "edge"),
        ({**path("path.new"), "event_ids": "event.1"}, "path.new", "path"),
        ({**path("path.new"), "schema_version": "phase_memory.path.v9"}, "path.new", "path"),
        ({"id": "profile.new", "schema_version": "markitect.memory.profile.v9"}, "profile.new", "profile"),
    ],
)
def test_what_an_import_would_not_take_is_refused_whoever_proposes_it(given: object, name: str, record_type: str) -> None:
    with pytest.raises(EffectRefused):
        computed(creation(given, name, record_type))


@pytest.mark.parametrize("after", ["node.x", {"path": ["path.x"]}, {"node": []}, {"node": [7]}, {"node": "node.x"}, ["node.x"]])
def test_what_it_waits_for_is_a_list_of_nodes_and_events(after: object) -> None:
    with pytest.raises(EffectRefused):
        computed(creation(after=after))


def test_replacing_a_record_by_the_same_content_is_nothing() -> None:
    there = {**OLD, "schema_version": "phase_memory.node.v1"}
    with pytest.raises(EffectRefused, match="already"):
        effect_of(replacement(there, there), store_of(("node", "node.a", pretty(there))), PLANNED_AT)


def test_ids_and_texts_of_an_envelope_stay_on_one_line_of_the_sentence() -> None:
    given = {**OLD, "a\n<b>\u202e{{ x }}": 1, "phase": "rigid\nApprove"}
    sentence = computed(replacement(given)).sentence
    assert "\n" not in sentence and "\u202e" not in sentence


@pytest.mark.parametrize(
    ("verb", "given", "tier"),
    [
        ("create_record", GIVEN, "high"),
        ("create_record", {**GIVEN, "phase": "stabilized"}, "high"),
        ("create_record", {**GIVEN, "phase": "fluid"}, "medium"),
        ("create_record", {"id": "node.new", "kind": "claim"}, "medium"),
        # Its phase may stand where an export puts what the contract does not name, and where nobody knows it.
        ("create_record", {"id": "node.new", "kind": "claim", "metadata": {"phase_memory": {"phase": "rigid"}}}, "high"),
        ("create_record", {**GIVEN, "phase": "Rigid"}, "high"),
        ("create_record", {**GIVEN, "phase": ["rigid"]}, "high"),
        ("create_record", "no record", "high"),
        ("replace_record", {**GIVEN, "phase": "fluid"}, "high"),
    ],
)
def test_durable_memory_and_what_is_there_are_high_and_all_of_it_is_reviewed(verb: str, given: object, tier: str) -> None:
    before = None if verb == "create_record" else node("node.new")
    wanted = asked(verb, "node", "node.new", before, record=given)
    there = {} if before is None else targets(before)
    assert gate.tier_of(wanted, there) == tier
    assert gate.needs_review(wanted, there, None)


def test_a_new_record_is_stale_once_somebody_made_it_and_applied_where_it_is_as_it_makes_it() -> None:
    wanted = creation()
    assert gate.standing_of(wanted, {}) is None
    made = target(RESTORED)
    other = gate.standing_of(wanted, {"node.new": made})
    same = gate.standing_of(wanted, {"node.new": made._replace(after_digest=digest_of(RESTORED))})
    assert (other and other.reason_code, same and same.reason_code) == ("stale_source", "already_applied")


EVENTS = [{key: value for key, value in event(number).items() if key != "schema_version"} for number in (9, 8)]


def appending(events: object = EVENTS, ids: tuple[str, ...] = ("event.0008", "event.0009")) -> actions.Action:
    record = action("append_events", **{"target_type": "event", "target_ids": list(ids), "parameters": {"events": events}})
    return actions.read(KIND, with_id({**record, "source_digests": dict.fromkeys(ids)}))


def test_events_are_appended_as_an_import_does_in_their_order_and_one_says_so() -> None:
    effect = computed(appending())
    lines, append = effect.changes
    assert isinstance(lines, AppendLines) and isinstance(append, Append)
    assert [json.loads(line) for line in lines.lines] == [event(9), event(8)]
    assert append.record["kind"] == "recorded"
    assert {one.id: one.after_digest for one in effect.targets} == {"event.0009": digest_of(event(9)), "event.0008": digest_of(event(8))}
    assert "event says otherwise" in effect.undo


@pytest.mark.parametrize("events", [None, {}, [], EVENTS[:1], [*EVENTS, EVENTS[0]], [EVENTS[0], "x"], [EVENTS[0], {"kind": "recorded"}]])
def test_events_that_are_not_those_of_the_action_are_refused(events: object) -> None:
    with pytest.raises(EffectRefused):
        computed(appending(events))


def test_agents_may_propose_records_and_are_asked_what_an_import_is_asked() -> None:
    def find(record_type: str, name: str) -> TargetNow | None:
        return targets(OLD).get(name) if record_type == "node" else None

    known = nodes_of([OLD])
    given = {"action": "create_record", "target_ids": ["node.new"], "target_type": "node", "parameters": {"record": GIVEN}}
    (made,) = intake.take(KIND, {**given, "reason": "learnt"}, find).actions
    assert computed(made).changes[0].path == "nodes/node.new.json"
    assert made.asks_for_review
    taken = intake.take(KIND, {**given, "target_ids": list(known)}, find)
    assert taken.refused is not None and taken.refused.code == "invalid_target"


def test_content_may_be_long_where_it_stands_once() -> None:
    long = {"id": "node.new", "kind": "claim", "text": "x" * 100_000}
    given = {"action": "create_record", "target_ids": ["node.new"], "parameters": {"record": long}}
    (made,) = intake.take(KIND, given, lambda record_type, name: None).actions
    assert computed(made).changes[0].path == "nodes/node.new.json"
    for more in ({"target_ids": ["node.new", "node.other"]}, {"summary": "x" * 100_000}):
        refused = intake.take(KIND, {**given, **more}, lambda record_type, name: None).refused
        assert refused is not None and refused.code == "invalid_action"
