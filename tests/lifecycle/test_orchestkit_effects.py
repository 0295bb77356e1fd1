"""What the verbs of an OrchestKit store write: exact lines, and every other one as it was."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.orchestkit import Identity, Said, remember
from stores.formats.phase_memory.aliases import Record
from stores.lifecycle.actions import ActionRefused, read
from stores.lifecycle.changes import AppendLines, Create, EditLog, EndLine, Move, Replace
from stores.lifecycle.effect_of import effect_of
from stores.lifecycle.effects import Effect, EffectRefused
from stores.lifecycle.orchestkit.mending import mended
from stores.lifecycle.orchestkit.planner import Double, FaultyLine, Waiting, planned_actions
from tests.lifecycle.cases import PLANNED_AT, store_of, with_id
from tests.memory_folders import decision

ONE, TWO, THREE = (decision(f"use cursors {number}", number).rstrip(b"\n") for number in (1, 2, 3))
LOG = b"\n".join([ONE, TWO, b"not json", THREE, b""])


def sha(line: bytes) -> str:
    return "sha256:" + hashlib.sha256(line).hexdigest()


def action(verb: str, target_type: str, digests: dict[str, str], **parameters: object) -> Record:
    return with_id(
        {
            "schema_version": "memoryui.lifecycle.action.v1",
            "action": verb,
            "target_type": target_type,
            "target_ids": sorted(digests),
            "reason": "tidy up",
            "requires_review": True,
            "source_digests": digests,
            "parameters": parameters,
            "dry_run": True,
            "expected_effect": {"changes": []},
        }
    )


def done(record: Record, **files: bytes) -> Effect:
    known = {
        name.replace("_", "-") + ("" if name == "x" else ".json" if name == "memory" else ".jsonl"): data for name, data in files.items()
    }
    find = store_of(*(("file", name, data) for name, data in known.items()))
    return effect_of(read("orchestkit", record), find, PLANNED_AT)


def on_lines(verb: str, *lines: bytes, file: str = "decisions.jsonl") -> Record:
    return action(verb, "line", {hashlib.sha256(line).hexdigest(): sha(line) for line in lines}, file=file)


def edited(effect: Effect, data: bytes) -> bytes:
    (change,) = effect.changes
    assert isinstance(change, EditLog)
    return change.apply(data)


def test_lines_are_set_aside_and_all_others_stay() -> None:
    effect = done(on_lines("set_aside_lines", b"not json"), decisions=LOG)
    assert edited(effect, LOG + b"appended") == b"\n".join([ONE, TWO, THREE, b"appended"])
    assert effect.sentence == "Takes 1 line out of decisions.jsonl; every other line stays as it is."
    assert [(one.before_digest, one.after_digest) for one in effect.targets] == [(sha(b"not json"), None)]


def test_a_line_that_is_gone_or_no_line_at_all_is_refused() -> None:
    with pytest.raises(EffectRefused):
        done(on_lines("set_aside_lines", b"never there"), decisions=LOG)
    with pytest.raises(EffectRefused):
        done(on_lines("set_aside_lines", b"x"), x=b"x\n")
    for file in ("memory.json", "../decisions.jsonl", "tool-preferences.json", "project:CLAUDE.md"):
        with pytest.raises(EffectRefused):
            done(on_lines("set_aside_lines", b"x", file=file), decisions=b"x\n")
    with pytest.raises(EffectRefused, match="sha256"):
        done(action("set_aside_lines", "line", {"a": "x"}, file="decisions.jsonl"), decisions=LOG)


@pytest.mark.parametrize(
    ("line", "after"),
    [
        (ONE + TWO, [ONE, TWO]),
        (b'{"id":"decision-torn","type":"dec' + ONE, [ONE]),
        (b"\xef\xbb\xbf" + ONE, [ONE]),
        (ONE + b"\r", [ONE]),
        (b'{"id":"a","content":{"what":"x"}}', [b'{"id":"a","content":{"what":"x"},"entities":[]}']),
        (b'{"content":{"what":"x"},"entities":null,"n":0.10}', [b'{"content":{"what":"x"},"entities":[],"n":0.1}']),
        (b'{"content":{"what":"x"},"entities":"redis"}', [b'{"content":{"what":"x"},"entities":["redis"]}']),
    ],
)
def test_what_can_be_proved_is_mended(line: bytes, after: list[bytes]) -> None:
    assert mended("decisions.jsonl", line) == tuple(after)
    effect = done(on_lines("repair_lines", line), decisions=THREE + b"\n" + line + b"\n")
    assert edited(effect, THREE + b"\n" + line + b"\n") == b"".join(one + b"\n" for one in [THREE, *after])


@pytest.mark.parametrize("line", [ONE, b"not json", b'{"torn', b"\0\0\0\0\0\0\0\0\0", b"", b"null"])
def test_nothing_is_guessed(line: bytes) -> None:
    with pytest.raises(EffectRefused):
        mended("decisions.jsonl", line)


@given(st.binary(max_size=60))
def test_any_bytes_are_mended_or_refused(line: bytes) -> None:
    try:
        after = mended("decisions.jsonl", line)
    except EffectRefused:
        return
    assert after
    for one in after:
        json.loads(one.decode("utf-8", "replace"))


PROBLEM = b'{"id":"prob-mx3a2c3b-0001","text":"slow \\ud83d","status":"open","confidence":0.9500000000000001,"1":true}'


def on_problem(verb: str, line: bytes, **parameters: object) -> Effect:
    record = action(verb, "problem", {"prob-mx3a2c3b-0001": sha(line)}, **parameters)
    return done(record, open_problems=b"{}\n" + line + b"\n")


def test_a_problem_is_closed_in_its_own_line() -> None:
    effect = on_problem("close_problem", PROBLEM, solution="an index")
    (first, line) = edited(effect, b"{}\n" + PROBLEM + b"\n").splitlines()
    assert first == b"{}"
    solution = {"text": "an index", "tool": "memoryui", "timestamp": PLANNED_AT, "confidence": 1}
    assert json.loads(line) == json.loads(PROBLEM) | {"status": "solved", "solution": solution}
    assert b'"confidence":0.9500000000000001' in line
    assert b"\\ud83d" in line


def test_a_problem_is_abandoned_and_opened_again() -> None:
    abandoned = edited(on_problem("abandon_problem", PROBLEM), PROBLEM + b"\n")
    assert json.loads(abandoned) == json.loads(PROBLEM) | {"status": "abandoned"}
    solved = PROBLEM.replace(b'"open"', b'"solved","solution":{"text":"x"}')
    effect = on_problem("reopen_problem", solved)
    assert json.loads(edited(effect, solved + b"\n")) == json.loads(PROBLEM)
    assert "drops its solution" in effect.sentence


def test_a_problem_in_another_state_or_with_something_that_would_be_lost_is_refused() -> None:
    with pytest.raises(EffectRefused, match="open"):
        on_problem("reopen_problem", PROBLEM)
    with pytest.raises(EffectRefused):
        on_problem("close_problem", PROBLEM.replace(b'"open"', b'["open"]'))
    for odd in (b'{"status":"open","a":1,"a":2}', b'{"status":"open","a":"\xff"}', b'{"status":"open","a":99999999999999999999}'):
        with pytest.raises(EffectRefused, match="come through"):
            on_problem("close_problem", odd)


def test_one_of_the_doubles_is_kept_untouched() -> None:
    record = action("merge_duplicates", "decision", {"a": sha(ONE), "b": sha(THREE)}, keep="a")
    effect = done(record, decisions=LOG)
    assert edited(effect, LOG) == b"\n".join([ONE, TWO, b"not json", b""])
    with pytest.raises(ActionRefused):
        read("orchestkit", action("merge_duplicates", "decision", {"a": sha(ONE), "b": sha(THREE)}, keep="c"))
    with pytest.raises(ActionRefused):
        read("orchestkit", action("merge_duplicates", "decision", {"a": sha(ONE)}, keep="a"))
    with pytest.raises(EffectRefused):
        done(action("merge_duplicates", "decision", {"a": sha(ONE), "b": sha(ONE)}, keep="a"), decisions=LOG)


def test_a_decision_is_retired_by_its_line() -> None:
    effect = done(action("retire_decision", "decision", {"decision-mx3a2c3b-0002": sha(TWO)}), decisions=LOG)
    assert edited(effect, LOG) == b"\n".join([ONE, b"not json", THREE, b""])


QUEUE = (
    b'{"type":"create_entities","payload":{"entities":[{"name":"redis","entityType":"Technology","observations":["fast"]}]}}\nnot json\n'
)
DRAIN = action("drain_queue", "file", {"graph-queue.jsonl": sha(QUEUE)})
ARCHIVED = "archive/2026-06-01T00-00-00Z-graph-queue.jsonl"


def test_a_drain_writes_the_graph_first_and_then_puts_the_queue_away() -> None:
    graph = b'{"type":"entity","name":"redis","entityType":"Tool","observations":["small"]}\n'
    replace, move = done(DRAIN, graph_queue=QUEUE, memory=graph).changes
    assert isinstance(replace, Replace)
    entity = {"type": "entity", "name": "redis", "entityType": "Tool", "observations": ["small", "fast"]}
    assert (replace.path, json.loads(replace.after)) == ("memory.json", entity)
    assert move == Move("graph-queue.jsonl", ARCHIVED, QUEUE)
    create, _ = done(DRAIN, graph_queue=QUEUE).changes
    assert isinstance(create, Create)
    assert done(DRAIN, graph_queue=QUEUE, memory=replace.after).changes == (move,)


def test_a_queue_that_says_nothing_is_not_drained_but_can_be_archived() -> None:
    with pytest.raises(EffectRefused, match="None of the queue's lines"):
        done(DRAIN, graph_queue=b"not json\n")
    record = action("archive_queue", "file", {"graph-queue.jsonl": sha(b"x")})
    assert done(record, graph_queue=b"x").changes == (Move("graph-queue.jsonl", ARCHIVED, b"x"),)
    with pytest.raises(EffectRefused, match="not there"):
        done(record)


REPLAY = action("replay_decisions", "file", {"decisions.jsonl": sha(LOG)})


def test_a_replay_adds_to_the_graph_what_the_decisions_say_and_takes_nothing_out() -> None:
    graph = b'{"type":"entity","name":"redis","entityType":"Tool","observations":["small"]}\n'
    effect = done(REPLAY, decisions=LOG, memory=graph)
    (replace,) = effect.changes
    assert isinstance(replace, Replace) and replace.before == graph
    entities = [json.loads(line) for line in replace.after.splitlines()]
    names = {one["name"]: one for one in entities if one["type"] == "entity"}
    ids = {json.loads(line)["id"] for line in (ONE, TWO, THREE)}
    assert names.keys() == {"redis", *ids}
    assert names["redis"]["entityType"] == "Tool" and names["redis"]["observations"][0] == "small"
    assert {(one["from"], one["to"]) for one in entities if one["type"] == "relation"} == {(one, "redis") for one in ids}
    assert "of 3 decisions into memory.json" in effect.sentence and effect.undo == ""
    with pytest.raises(EffectRefused, match="already"):
        done(REPLAY, decisions=LOG, memory=replace.after)
    (create,) = done(REPLAY, decisions=LOG).changes
    assert isinstance(create, Create) and create.path == "memory.json"


def test_a_replay_is_about_the_decisions_and_writes_over_no_other_file() -> None:
    with pytest.raises(EffectRefused, match="graph"):
        done(REPLAY, decisions=LOG, memory=b'{"settings": true}\n')
    with pytest.raises(EffectRefused):
        done(action("replay_decisions", "file", {"graph-queue.jsonl": sha(QUEUE)}), graph_queue=QUEUE, decisions=LOG)
    with pytest.raises(EffectRefused):
        done(REPLAY)


MADE = remember(
    Said("Page by cursor", "Offsets skip rows", entities=("redis", "api")),
    Identity("dana@example.com", "vm"),
    project="shop",
    session="memoryui-1",
    now_ms=1764507730871,
    chance="0a1b2c",
)


def remembering(record: object = MADE.record, name: str = MADE.record["id"], **more: object) -> Record:
    made = action("remember", "decision", {name: ""}, record=record, **more)
    return with_id({**made, "source_digests": {name: None}})


def test_a_decision_is_appended_as_its_writer_would_have_and_the_queue_only_where_it_is_wanted() -> None:
    (line,) = done(remembering()).changes
    assert line == AppendLines("decisions.jsonl", (MADE.decision_line.rstrip(b"\n"),))
    effect = done(remembering(queue=True))
    assert effect.changes == (line, AppendLines("graph-queue.jsonl", tuple(one.rstrip(b"\n") for one in MADE.queue_lines)))
    (made,) = effect.targets
    assert (made.before_digest, made.after_digest) == (None, sha(MADE.decision_line.rstrip(b"\n")))
    assert effect.sentence == f"Appends the decision {MADE.record['id']} to decisions.jsonl, and 2 operations to the queue of the graph."
    assert "stays" in effect.undo


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (None, "decision-1"),
        ("text", "decision-1"),
        ({**MADE.record, "extra": 1}, MADE.record["id"]),
        (MADE.record, "decision-1"),
    ],
)
def test_a_decision_that_the_writer_would_not_have_written_so_is_refused(record: object, name: str) -> None:
    with pytest.raises(EffectRefused):
        done(remembering(record, name))


def test_only_a_log_without_its_last_line_break_is_ended() -> None:
    record = action("append_newline", "file", {"decisions.jsonl": sha(ONE)})
    assert done(record, decisions=ONE).changes == (EndLine("decisions.jsonl"),)
    for data in (b"", ONE + b"\n"):
        with pytest.raises(EffectRefused):
            done(record, decisions=data)


def test_plans_are_the_same_whatever_the_order_and_touch_a_line_once() -> None:
    lines = [
        FaultyLine("decisions.jsonl", "repair_lines", 2, b"\2" * 32, ("glued",)),
        FaultyLine("decisions.jsonl", "set_aside_lines", 2, b"\2" * 32, ("poison_operation",)),
        FaultyLine("decisions.jsonl", "repair_lines", 3, b"\3" * 32, ("missing_entities",)),
        FaultyLine("graph-queue.jsonl", "set_aside_lines", 1, b"\1" * 32),
    ]
    doubles = [Double("a", b"a" * 32, "b", b"b" * 32), Double("a", b"a" * 32, "c", b"c" * 32), Double("b", b"b" * 32, "d", b"d" * 32)]
    plan = planned_actions(lines, doubles, Waiting(b"q" * 32, 4))
    assert plan == planned_actions(lines[::-1], doubles[::-1], Waiting(b"q" * 32, 4))
    touched = [one for action in plan for one in action["source_digests"]]  # type: ignore[attr-defined]
    assert sorted(touched) == sorted({*touched})
    assert [one["action"] for one in plan] == ["drain_queue", "merge_duplicates", "repair_lines", "set_aside_lines", "set_aside_lines"]
    assert all(one == with_id(one) and read("orchestkit", one) for one in plan)


def test_many_lines_of_a_file_are_several_actions() -> None:
    lines = [FaultyLine("decisions.jsonl", "set_aside_lines", number, number.to_bytes(32)) for number in range(1, 251)]
    plan = planned_actions(lines)
    sizes = [len(action["target_ids"]) for action in plan]  # type: ignore[arg-type]
    assert sorted(sizes) == [50, 100, 100]
