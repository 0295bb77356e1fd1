"""The gate: every question in its order, and never a pass for what is odd."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.phase_memory.aliases import Record
from stores.lifecycle.actions import read
from stores.lifecycle.approvals import Approval, Approvals, Policy
from stores.lifecycle.gate import Verdict, tier_of, verdict
from stores.lifecycle.targets import StoreFault, TargetNow
from tests.lifecycle.cases import DIGEST, NOBODY, NOW, POLICY, action, approval, approvals, fluid, target, targets, with_id

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NODE = fluid()
RIGID = fluid("node.r", phase="rigid")


def answer(
    record: object,
    *values: Record,
    given: Approvals = NOBODY,
    policy: Policy | None = POLICY,
    faults: Sequence[StoreFault] = (),
    dry_run: bool = False,
) -> Verdict:
    return verdict(record, targets(*values), given, policy, NOW, faults, dry_run=dry_run)


def said(got: Verdict) -> tuple[str, str | None]:
    return str(got.status), got.reason_code


def test_what_needs_no_review_is_applied() -> None:
    assert said(answer(action("mark_stale", NODE), NODE)) == ("applied", None)


def test_an_unknown_verb_is_skipped_before_anything_else_is_asked() -> None:
    for word in ("purge_log", "Archive", "archive ", "\u0430rchive", None, 3, ["archive"]):
        assert said(answer(action("archive", NODE) | {"action": word})) == ("skipped", "unsupported_action")


def test_another_content_than_the_id_names_is_skipped() -> None:
    record = action("mark_stale", NODE)
    changes: list[Record] = [{"reason": "another"}, {"unknown": 1}, {"target_ids": []}, {"action_id": None}, {"parameters": 1}]
    for change in changes:
        assert said(answer(record | change, NODE)) == ("skipped", "action_id_mismatch")


def test_a_target_that_is_not_there_or_not_as_it_was_is_skipped() -> None:
    record = action("mark_stale", NODE)
    assert said(answer(record)) == ("skipped", "target_missing")
    assert said(answer(record, NODE | {"text": "Changed."})) == ("skipped", "stale_source")
    assert said(answer(with_id(record | {"source_digests": {}}), NODE)) == ("skipped", "stale_source")


def test_a_target_as_the_action_makes_it_means_that_it_was_applied_already() -> None:
    record = action("mark_stale", NODE)
    after = NODE | {"lifecycle_state": "stale"}
    now = {"node.a": target(after, after_digest=target(after).digest)}
    assert said(verdict(record, now, NOBODY, POLICY, NOW, ())) == ("skipped", "already_applied")


@pytest.mark.parametrize(
    ("verb", "value", "more"),
    [
        ("mark_stale", RIGID, {}),
        ("archive", RIGID, {}),
        ("mark_stale", fluid(phase="liquid"), {}),
        ("mark_stale", fluid(phase=["fluid"]), {}),
        ("mark_stale", NODE, {"requires_review": True}),
        ("mark_stale", NODE, {"requires_review": 0}),
        ("mark_stale", NODE, {"requires_review": "false"}),
        ("mark_stale", NODE, {"requires_review": None}),
        ("request_delete", NODE, {}),
        ("refresh", fluid(lifecycle_state="stale"), {"parameters": {"source_digest": "sha256:1"}}),
        ("restore", fluid(lifecycle_state="archived"), {}),
        ("transition_phase", NODE, {"to_phase": "stabilized"}),
        ("transition_phase", RIGID, {"to_phase": "stabilized"}),
        ("transition_phase", fluid(phase="ephemeral"), {"to_phase": "rigid"}),
    ],
)
def test_a_person_decides_where_the_verb_the_target_or_the_record_asks_for_it(verb: str, value: Record, more: Record) -> None:
    record = action(verb, value, **more)
    assert said(answer(record, value)) == ("denied", "review_required")
    assert said(answer(record, value, given=approvals(approval(record)))) == ("applied", None)


def test_a_record_without_the_flag_needs_a_review() -> None:
    record = action("mark_stale", NODE)
    del record["requires_review"]
    assert said(answer(with_id(record), NODE)) == ("denied", "review_required")


def test_one_step_of_phases_below_the_durable_ones_needs_no_review() -> None:
    value = fluid(phase="ephemeral")
    assert said(answer(action("transition_phase", value, to_phase="fluid"), value)) == ("applied", None)


def test_a_rejection_stands_over_an_approval() -> None:
    record = action("request_delete", NODE)
    both = approvals(approval(record), approval(record, reviewer="account-2", decision="rejected"))
    assert said(answer(record, NODE, given=both)) == ("denied", "review_rejected")


@pytest.mark.parametrize(
    "change",
    [
        {"action_id": "action:" + "0" * 64},
        {"digest": "sha256:" + "0" * 64},
        {"digest": ""},
        {"expires_at": NOW},
        {"decision": "Approved"},
        {"reviewer": " "},
    ],
)
def test_an_approval_of_anything_else_does_not_count(change: dict[str, object]) -> None:
    record = action("request_delete", NODE)
    assert said(answer(record, NODE, given=approvals(approval(record, **change)))) == ("denied", "review_required")


def test_no_approval_counts_where_nobody_can_tell_what_would_be_applied() -> None:
    record = action("request_delete", NODE)
    given = Approvals("", (approval(record, digest=""),))
    assert said(answer(record, NODE, given=given)) == ("denied", "review_required")


def test_nobody_approves_what_they_proposed_whatever_the_case_of_their_name() -> None:
    record = action("request_delete", NODE)
    own = Approvals(DIGEST, (approval(record, reviewer="ALICE"),), frozenset({"alice"}))
    assert said(answer(record, NODE, given=own)) == ("denied", "review_required")
    assert said(answer(record, NODE, given=own, policy=Policy("1", single_reviewer=True))) == ("applied", None)


def test_two_approvals_are_of_two_people() -> None:
    record = action("request_delete", NODE)
    policy = Policy("1", approvals_by_verb={"request_delete": 2})
    twice = approvals(approval(record), approval(record, reviewer="ACCOUNT-1"))
    assert said(answer(record, NODE, given=twice, policy=policy)) == ("denied", "review_required")
    two = approvals(approval(record), approval(record, reviewer="account-2"))
    assert said(answer(record, NODE, given=two, policy=policy)) == ("applied", None)


def test_no_policy_asks_for_less_than_one_approval() -> None:
    record = action("request_delete", NODE)
    assert said(answer(record, NODE, policy=Policy("1", approvals=0))) == ("denied", "review_required")
    assert said(answer(record, NODE, policy=Policy("1", approvals_by_verb={"request_delete": -3}))) == ("denied", "review_required")


def test_without_a_policy_nothing_is_applied() -> None:
    record = action("request_delete", NODE)
    assert said(answer(action("mark_stale", NODE), NODE, policy=None)) == ("denied", "policy_denied")
    assert said(answer(record, NODE, given=approvals(approval(record)), policy=None)) == ("denied", "policy_denied")


def test_a_policy_may_deny_a_verb_and_ask_for_its_review() -> None:
    record = action("mark_stale", NODE)
    assert said(answer(record, NODE, policy=Policy("1", denied_verbs=frozenset({"mark_stale"})))) == ("denied", "policy_denied")
    assert said(answer(record, NODE, policy=Policy("1", review_verbs=frozenset({"mark_stale"})))) == ("denied", "review_required")


def test_a_reviewer_who_lost_the_right_leaves_an_approval_that_is_denied() -> None:
    record = action("request_delete", NODE)
    assert said(answer(record, NODE, given=approvals(approval(record, may_review=False)))) == ("denied", "policy_denied")


def test_a_target_in_the_wanted_state_is_left_alone() -> None:
    stale = fluid(lifecycle_state="stale")
    assert said(answer(action("mark_stale", stale), stale)) == ("skipped", "already_applied")
    checked = fluid(freshness={"source_digest": "sha256:1"})
    record = action("refresh", checked, parameters={"source_digest": "sha256:1"})
    assert said(answer(record, checked, given=approvals(approval(record)))) == ("skipped", "already_applied")
    other = action("refresh", checked, parameters={"source_digest": "sha256:2"})
    assert said(answer(other, checked, given=approvals(approval(other)))) == ("applied", None)
    spelled = fluid(status="stale")
    assert said(answer(action("mark_stale", spelled), spelled)) == ("skipped", "already_applied")


@pytest.mark.parametrize(
    ("fault", "blocks"),
    [
        (StoreFault("nodes/node.a.json", "invalid_phase", True), True),
        (StoreFault("nodes/node.a.json", "unknown_kind", False), False),
        (StoreFault("nodes/node.b.json", "invalid_phase", True), False),
        (StoreFault("events.jsonl", "malformed_event_line", True), False),
        (StoreFault("events.jsonl", "truncated_last_line", True, at_end=True), True),
        (StoreFault("audit.jsonl", "truncated_last_line", True, at_end=True), True),
        (StoreFault("events.jsonl", "unterminated_last_line", False, at_end=True), False),
        (StoreFault("phase-memory.json", "unsupported_store_version", True, blocks=True), True),
    ],
)
def test_only_a_fault_of_what_is_touched_blocks(fault: StoreFault, blocks: bool) -> None:
    got = answer(action("mark_stale", NODE), NODE, faults=[fault])
    assert said(got) == (("skipped", "store_blocked") if blocks else ("applied", None))


def test_a_dry_run_says_what_would_be() -> None:
    got = answer(action("mark_stale", NODE), NODE, dry_run=True)
    assert (*said(got), got.would_status) == ("skipped", "dry_run", "applied")
    assert said(answer(action("request_delete", NODE), NODE, dry_run=True)) == ("denied", "review_required")


def test_what_is_at_stake_grows_with_the_phase() -> None:
    cases = [(NODE, "low"), (fluid(phase="stabilized"), "medium"), (RIGID, "high"), (fluid(phase="liquid"), "high")]
    for value, tier in cases:
        assert tier_of(read("phase-memory", action("mark_stale", value)), targets(value)) == tier
    into = read("phase-memory", action("transition_phase", NODE, to_phase="stabilized"))
    assert tier_of(into, targets(NODE)) == "medium"
    assert tier_of(read("phase-memory", action("request_delete", NODE)), targets(NODE)) == "high"


FIELDS = st.sampled_from([*action("mark_stale", NODE), "to_phase", "path_id", "approval_marker", "status", "approved_by"])


@given(FIELDS, JSON)
def test_no_value_of_a_record_lets_a_durable_target_through(name: str, value: object) -> None:
    record = with_id(action("mark_stale", RIGID) | {name: value})
    assert answer(record, RIGID).status != "applied"


@given(JSON.filter(lambda value: value is not False))
def test_only_a_plain_false_asks_for_no_review(value: object) -> None:
    assert answer(action("mark_stale", NODE, requires_review=value), NODE).status == "denied"


@given(FIELDS, JSON)
def test_an_approval_covers_no_other_content(name: str, value: object) -> None:
    record = action("request_delete", NODE)
    if name == "dry_run" or record.get(name, "") == value:
        return
    got = answer(record | {name: value}, NODE, given=approvals(approval(record)))
    assert got.status == "skipped"


@given(JSON)
def test_no_value_at_all_is_an_action(value: object) -> None:
    assert said(answer(value, NODE)) == ("skipped", "unsupported_action")


@given(st.lists(st.builds(Approval, st.text(), st.text(), st.text(), st.text(), st.none(), st.booleans()), max_size=4))
def test_decisions_on_other_actions_never_count(given_decisions: list[Approval]) -> None:
    record = action("request_delete", NODE)
    assert said(answer(record, NODE, given=approvals(*given_decisions))) == ("denied", "review_required")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1: 2}, (1,), b"x", {1}, NOW, [[[float("nan")]]]])
def test_what_json_cannot_hold_is_no_content_of_an_action(value: object) -> None:
    record = action("mark_stale", NODE, unknown=None) | {"unknown": value}
    assert said(answer(record, NODE)) == ("skipped", "action_id_mismatch")


def test_an_approval_ends_when_it_says() -> None:
    record = action("request_delete", NODE)
    one = approval(record, expires_at=NOW + timedelta(seconds=1))
    assert said(answer(record, NODE, given=approvals(one))) == ("applied", None)
    late = verdict(record, targets(NODE), approvals(one), POLICY, NOW + timedelta(seconds=1), ())
    assert said(late) == ("denied", "review_required")


def on_lines(verb: str) -> tuple[Record, TargetNow]:
    line = TargetNow("line" if verb.endswith("_lines") else "decision", "d" * 64, "decisions.jsonl", "sha256:" + "d" * 64)
    record = action(verb, target_type=line.record_type, target_ids=[line.id], source_digests={line.id: line.digest})
    more: Record = {"schema_version": "memoryui.lifecycle.action.v1", "parameters": {"file": "decisions.jsonl"}}
    return with_id(record | more), line


@pytest.mark.parametrize(
    ("verb", "fault", "blocks"),
    [
        ("set_aside_lines", StoreFault("decisions.jsonl", "glued", True), False),
        ("set_aside_lines", StoreFault("decisions.jsonl", "tail_torn", True, at_end=True), False),
        ("repair_lines", StoreFault("decisions.jsonl", "tail_torn", True, at_end=True), False),
        ("retire_decision", StoreFault("decisions.jsonl", "glued", True), False),
        ("retire_decision", StoreFault("decisions.jsonl", "tail_torn", True, at_end=True), True),
        ("retire_decision", StoreFault("graph-queue.jsonl", "tail_torn", True, at_end=True), False),
    ],
)
def test_lines_of_a_log_are_blocked_by_its_end_alone(verb: str, fault: StoreFault, blocks: bool) -> None:
    record, line = on_lines(verb)
    now = {line.id: line}
    assert said(verdict(record, now, NOBODY, POLICY, NOW, (), kind="orchestkit")) == ("denied", "review_required")
    got = verdict(record, now, approvals(approval(record)), POLICY, NOW, [fault], kind="orchestkit")
    assert said(got) == (("skipped", "store_blocked") if blocks else ("applied", None))


def test_verbs_of_another_kind_are_unknown() -> None:
    record, line = on_lines("retire_decision")
    assert said(verdict(record, {line.id: line}, NOBODY, POLICY, NOW, (), kind="phase-memory")) == ("skipped", "unsupported_action")
    assert said(verdict(action("archive", NODE), targets(NODE), NOBODY, POLICY, NOW, (), kind="orchestkit"))[1] == "unsupported_action"
    assert said(verdict(action("archive", NODE), targets(NODE), NOBODY, POLICY, NOW, (), kind="unheard-of"))[1] == "unsupported_action"
