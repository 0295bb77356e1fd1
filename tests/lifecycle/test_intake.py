"""Taking proposals: letter for letter, one by one, and never as an approval."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.phase_memory.aliases import Record
from stores.lifecycle.actions import ActionRefused
from stores.lifecycle.gate import verdict
from stores.lifecycle.intake import FindTarget, Taken, proposals, take
from stores.lifecycle.vocabulary import ALIASES, VERBS
from tests.lifecycle.cases import NOBODY, NOW, POLICY, action, digest_of, fluid, target, targets, with_id
from tests.phase_memory_folders import edge, path

NODE, OTHER, RIGID = fluid(), fluid("node.b"), fluid("node.r", phase="rigid")
PROPOSED: Record = {"action": "archive", "target_ids": ["node.a"], "reason": "old", "requires_review": True}


def found(*values: Record) -> FindTarget:
    known = targets(*(values or (NODE, OTHER, RIGID)))
    edges = {"edge.a": target(edge("edge.a", "node.a", "node.b"), "edge")}
    paths = {"path.a": target(path("path.a"), "path")}
    by_type = {"node": known, "edge": edges, "path": paths}
    return lambda record_type, name: by_type.get(record_type, {}).get(name)


def taken(**more: object) -> Taken:
    return take("phase-memory", PROPOSED | more, found())


def code(one: Taken) -> str:
    return one.refused.code if one.refused is not None else ""


def test_a_foreign_record_gets_our_form_our_id_and_digests_of_now() -> None:
    (one,) = taken(action_id="act-1", before_sha256="a" * 64, cmd=["rm"]).actions
    assert one.record == with_id(one.record)
    assert one.record["foreign_action_id"] == "act-1"
    assert one.record["source_digests"] == {"node.a": digest_of(NODE)}
    assert one.record["source_digests_taken"] == "intake"
    assert one.record["foreign_fields"] == {"before_sha256": "a" * 64, "cmd": ["rm"], "requires_review": True}
    assert (one.target_type, one.reason) == ("node", "old")


@pytest.mark.parametrize("field", ["approval_marker", "approved_by", "status", "review_id", "approvals"])
def test_an_approval_in_a_proposal_is_a_text_like_any_other(field: str) -> None:
    (one,) = taken(action="forget", **{field: "memoryui:1"}).actions
    assert verdict(one.record, targets(NODE), NOBODY, POLICY, NOW, ()).reason_code == "review_required"


def test_other_words_are_taken_letter_for_letter() -> None:
    assert [one.verb.name for word in ("forget", "retire") for one in taken(action=word).actions] == ["request_delete"] * 2
    assert taken(action="decay").actions[0].verb.name == "mark_stale"
    assert taken(action="promote").actions[0].record["to_phase"] == "stabilized"
    assert taken(action="stabilize").actions[0].record["to_phase"] == "stabilized"
    assert taken(action="harden").actions[0].record["to_phase"] == "rigid"
    assert taken(action="demote").actions[0].record["to_phase"] == "ephemeral"
    for word in ("Forget", "forget ", " forget", "f\u043erget", "FORGET", "delete", "", None, 1, ["forget"], {"forget": 1}):
        assert code(taken(action=word)) == "unsupported_action"
    assert code(taken(action="promote", target_ids=["node.r"])) == "invalid_action"
    assert code(taken(action="stabilize", to_phase="rigid")) == "invalid_action"


@pytest.mark.parametrize(
    "ids",
    [
        [], None, "node.a", {"node.a": 1}, [""], [1], [None], [["node.a"]], ["*"], ["node.a", "node.a"], ["node.z"], ["node.a\u200b"],
        ["n\u043ede.a"], ["NODE.A"], ["../node.a"], ["/etc/passwd"], ["node.a\n"], ["x" * 201], [f"node.{number}" for number in range(10_001)],
    ],
)  # fmt: skip
def test_targets_are_named_one_by_one_and_are_there(ids: object) -> None:
    assert code(taken(target_ids=ids)) == "invalid_target"


@pytest.mark.parametrize(
    "more",
    [
        {"action": "merge", "into": "node.a"},
        {"action": "merge", "parameters": {"into": "node.a"}},
        {"action": "merge"},
        {"action": "supersede", "superseded_by": "node.a"},
        {"action": "refresh"},
        {"action": "refresh", "parameters": {"source_digest": " "}},
        {"action": "compact", "parameters": {"strategy": "s"}},
        {"action": "transition_phase"},
        {"action": "transition_phase", "to_phase": "liquid"},
        {"action": "transition_phase", "to_phase": ["rigid"]},
        {"action": "transition_phase", "to_phase": "rigid", "from_phase": "ephemeral"},
        {"reason": 3},
        {"parameters": []},
        {"source_digests": "all"},
        {"target_type": "path"},
        {"target_type": ["node"]},
        {"weight": float("nan")},
        {"weight": {1, 2}},
        {"weight": b"x"},
        {"summary": "x" * 70_000},
    ],
)
def test_what_makes_no_sense_is_refused(more: dict[str, object]) -> None:
    assert code(taken(**more)) == "invalid_action"


def test_several_targets_of_a_verb_that_takes_one_become_as_many_actions() -> None:
    both = taken(action="forget", target_ids=["node.b", "node.a"])
    assert [one.target_ids for one in both.actions] == [("node.b",), ("node.a",)]
    assert both.batch_id
    assert taken().batch_id == ""
    one = taken(action="merge", target_ids=["node.b"], into="node.a")
    assert [action.target_ids for action in one.actions] == [("node.a", "node.b")]
    folded = taken(action="compact", target_ids=["node.b", "node.a"], parameters={"strategy": "s"})
    assert [action.target_ids for action in folded.actions] == [("node.a", "node.b")]


def test_the_type_of_a_target_is_found_and_kept_apart() -> None:
    assert taken(target_ids=["edge.a"]).actions[0].target_type == "edge"
    assert code(taken(target_ids=["path.a"])) == "invalid_target"
    made = taken(action="create_path", target_ids=["path.new"], target_type="path").actions[0]
    assert made.record["source_digests"] == {"path.new": None}
    assert code(taken(action="create_path", target_ids=["path.a"])) == "invalid_target"


def test_digests_that_a_foreign_record_gives_must_hold() -> None:
    (one,) = taken(source_digests={"node.a": "sha256:" + "0" * 64}).actions
    assert verdict(one.record, targets(NODE), NOBODY, POLICY, NOW, ()).reason_code == "stale_source"
    assert "source_digests_taken" not in one.record


def test_who_proposed_it_is_told_and_stands_in_the_record() -> None:
    one = taken(proposed_by="alice")
    assert (one.proposed_by, one.actions[0].record["proposed_by"]) == ("alice", "alice")
    odd = taken(proposed_by=["alice"])
    assert odd.proposed_by == ""
    assert odd.actions[0].record["foreign_fields"]["proposed_by"] == ["alice"]  # type: ignore[index]


def test_a_record_of_our_own_form_must_hold_as_it_is() -> None:
    record = action("mark_stale", NODE)
    (one,) = take("phase-memory", record, found()).actions
    assert one.record == record
    assert code(take("phase-memory", record | {"reason": "edited"}, found())) == "action_id_mismatch"
    assert code(take("phase-memory", record, found(OTHER))) == "target_missing"
    assert code(take("phase-memory", record, found(NODE | {"text": "changed"}))) == "stale_source"
    assert code(take("phase-memory", with_id(record | {"action": "forget"}), found())) == "unsupported_action"
    assert code(take("phase-memory", action("mark_stale", NODE, OTHER), found())) == "invalid_target"


def test_a_file_is_one_record_a_list_or_a_plan() -> None:
    one = json.dumps(PROPOSED).encode()
    assert proposals(one) == [PROPOSED]
    assert proposals(b"\xef\xbb\xbf [%b,%b]\n" % (one, one)) == [PROPOSED, PROPOSED]
    assert proposals(b'{"data":{"dry_run_actions":[%b]}}' % one) == [PROPOSED]
    assert proposals(b'{"actions":[%b]}' % one) == [PROPOSED]
    assert proposals(b"[]") == []


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"not json", b'{"action":"archive","action":"forget"}', b'[{"requires_review":true,"requires_review":false}]', b'[NaN]',
        b'1,"given":2', b'1,"more":2', b"1}{", b"\xff", b"[" * 100 + b"]" * 100, b'{"a":1}\n{"b":2}', b"1e999",
    ],
)  # fmt: skip
def test_what_two_readers_could_take_for_two_things_is_refused_whole(data: bytes) -> None:
    with pytest.raises(ActionRefused):
        proposals(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from([*PROPOSED, *action("mark_stale", NODE), "into", "to_phase", "from_phase", "proposed_by", "path_id"])
WORDS = st.sampled_from([*VERBS["phase-memory"], *ALIASES["phase-memory"]])


@given(WORDS, st.dictionaries(FIELDS, JSON, max_size=4))
def test_no_proposal_raises_and_none_that_is_taken_is_applied_unreviewed_on_what_is_durable(word: str, more: dict[str, object]) -> None:
    done = take("phase-memory", PROPOSED | {"action": word, "target_ids": ["node.r"]} | more, found())
    assert (done.refused is None) == bool(done.actions)
    for one in done.actions:
        assert one.record == with_id(one.record)
        assert verdict(one.record, targets(NODE, OTHER, RIGID), NOBODY, POLICY, NOW, ()).status != "applied" or one.target_ids != (
            "node.r",
        )


@given(JSON)
def test_no_value_raises(value: object) -> None:
    assert code(take("phase-memory", value, found())) in ("invalid_action", "unsupported_action")
