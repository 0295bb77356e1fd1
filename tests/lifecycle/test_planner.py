"""Plans by the rules of a profile, beside what generated stores show."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stores.formats.phase_memory.aliases import Record
from stores.formats.phase_memory.forecast import NodeGroup, forecast
from stores.formats.phase_memory.rules import rules
from stores.lifecycle.actions import read
from stores.lifecycle.phase_memory.planner import StoreRecords, planned_actions
from tests.lifecycle.cases import nodes_of, with_id
from tests.phase_memory_folders import node, path

NOW = datetime(2026, 4, 10, tzinfo=UTC)
"""Nodes of these tests are 39 days and 14 hours old."""


def plan(profile: Record, *nodes: Record, paths: tuple[Record, ...] = (), sources: dict[str, str] | None = None) -> list[Record]:
    by_path = {str(one["path_id"]): one for one in paths}
    return planned_actions({"id": "profile.a", **profile}, StoreRecords(nodes_of(nodes), by_path, sources or {}), NOW)


def said(actions: list[Record]) -> list[tuple[object, object]]:
    return [(one["action"], one["target_ids"]) for one in actions]


def kept(**days: float) -> Record:
    return {"retention": {"default": days}}


def test_a_day_too_early_is_too_early() -> None:
    for days, due in ((39, True), (39.5, True), (39.6, False), (40, False)):
        assert bool(plan(kept(stale_after_days=days), node("node.a"))) is due


def test_a_rule_of_a_kind_stands_over_the_default_one_field_by_field() -> None:
    rules: Record = {"retention": {"default": {"stale_after_days": 90, "delete_after_days": 20}, "decision": {"stale_after_days": 10}}}
    assert said(plan(rules, node("node.a"))) == [("request_delete", ["node.a"])]
    rules = {"retention": {"decision": {"stale_after_days": 10}}}
    assert said(plan(rules, node("node.a", kind="claim"))) == [("mark_stale", ["node.a"])]
    rules = {"retention": {"decision": {"stale_after_days": 10}, "turn": {"stale_after_days": 10}}}
    assert said(plan(rules, node("node.a", kind="claim"), node("node.b"))) == [("mark_stale", ["node.b"])]


def test_what_is_durable_or_undated_or_not_live_is_left_alone() -> None:
    rules = kept(stale_after_days=1, delete_after_days=2)
    left = [
        node("node.a", phase="rigid"),
        node("node.b", phase="stabilized"),
        node("node.c", created_at=None, updated_at="soon"),
        *(node(f"node.{state}", lifecycle_state=state) for state in ("archived", "delete_requested", "compacted", "unheard_of")),
    ]
    assert plan(rules, *left) == []
    assert plan({}, node("node.a")) == []


def test_each_node_is_in_one_action_and_what_goes_first_is_said() -> None:
    rules = kept(stale_after_days=1, delete_after_days=2) | {
        "compaction": {"min_nodes": 2},
        "metadata": {"phase_transitions": [{"node_kind": "decision", "from_phase": "fluid", "to_phase": "stabilized", "min_age_days": 1}]},
    }
    nodes = [node(f"node.{name}", provenance={"path_id": "path.a"}) for name in "abc"]
    ended = path("path.a", state="merged", merge_target="path.b")
    assert said(plan(rules, *nodes, paths=(ended,))) == [("request_delete", [f"node.{name}"]) for name in "abc"]
    del rules["retention"]
    assert said(plan(rules, *nodes, paths=(ended,))) == [("compact", ["node.a", "node.b", "node.c"])]
    assert said(plan(rules, *nodes, paths=(path("path.a"),))) == [("transition_phase", [f"node.{name}"]) for name in "abc"]


def test_a_profile_names_nodes_to_fold() -> None:
    rules: Record = {"compaction": {"strategy": "s", "compact_node_ids": ["node.b", "node.a", "node.z", "node.a"]}}
    (one,) = plan(rules, node("node.a"), node("node.b"), node("node.c"))
    assert (one["target_ids"], one["reason"]) == (["node.a", "node.b"], "named in the profile")
    assert plan(rules, node("node.a")) == []


def test_a_refresh_needs_to_be_enabled_and_a_digest_that_is_new() -> None:
    stale = node("node.a", lifecycle_state="stale", freshness={"source_digest": "sha256:1"})
    enabled: Record = {"refresh": {"mode": "enabled"}}
    assert said(plan(enabled, stale, sources={"node.a": "sha256:2"})) == [("refresh", ["node.a"])]
    assert plan(enabled, stale, sources={"node.a": "sha256:1"}) == []
    assert plan(enabled, stale) == []
    assert plan({"refresh": {"mode": "disabled"}}, stale, sources={"node.a": "sha256:2"}) == []
    assert plan({}, stale, sources={"node.a": "sha256:2"}) == []


def test_secrets_in_a_rule_stay_out_of_a_plan() -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    rule = {"kind": "decision", "from_phase": "fluid", "to_phase": "rigid", "min_age_days": 1, "reason": f"with {secret}"}
    (one,) = plan({"metadata": {"phase_transitions": [rule]}}, node("node.a"))
    assert secret not in str(one)


JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
PROFILES = st.fixed_dictionaries(
    {},
    optional={
        "retention": JSON | st.dictionaries(st.sampled_from(["default", "decision", "claim"]), st.dictionaries(st.sampled_from(["stale_after_days", "delete_after_days"]), st.integers(0, 60) | JSON)),
        "compaction": JSON | st.fixed_dictionaries({"min_nodes": st.integers(0, 3) | JSON, "node_ids": JSON}),
        "refresh": JSON,
        "metadata": JSON,
    },
)  # fmt: skip
NODES = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from(["node.a", "node.b", "node.c"])},
        optional=dict.fromkeys(("phase", "lifecycle_state", "provenance", "superseded_by", "created_at", "metadata"), JSON)
        | {"kind": st.sampled_from(["decision", "claim"])},
    ),
    max_size=3,
    unique_by=lambda value: str(value["id"]),
)


@given(PROFILES, NODES)
def test_any_profile_and_nodes_give_sound_actions_and_the_same_again(profile: Record, given_nodes: list[Record]) -> None:
    nodes = [node(str(value["id"])) | value for value in given_nodes]
    paths = (path("path.a", state="merged"),)
    planned = plan(profile, *nodes, paths=paths)
    assert planned == plan(profile, *nodes[::-1], paths=paths)
    used = [one for action in planned for one in action["target_ids"]]  # type: ignore[attr-defined]
    assert len(used) == len(set(used))
    for action in planned:
        assert action == with_id(action)
        assert read("phase-memory", action).id == action["action_id"]


@given(
    retention=st.dictionaries(
        st.sampled_from(["default", "decision", "claim", "turn"]),
        st.fixed_dictionaries(
            {}, optional={"stale_after_days": st.sampled_from([10, 90]), "delete_after_days": st.sampled_from([20, 120])}
        ),
    ),
    kinds=st.lists(st.sampled_from(["decision", "claim", "turn", "risk"]), max_size=6),
)
def test_a_forecast_says_what_the_plan_does(retention: Record, kinds: list[str]) -> None:
    profile: Record = {"id": "profile.a", "retention": retention}
    nodes = [node(f"node.{place}", kind=kind) for place, kind in enumerate(kinds)]
    actions = planned_actions(profile, StoreRecords(nodes_of(nodes), {}), NOW)
    kind_of = {str(one["id"]): str(one["kind"]) for one in nodes}
    planned = Counter((str(verb), kind_of[one]) for verb, ids in said(actions) if isinstance(ids, list) for one in ids)
    day = 86_400
    created = int(datetime(2026, 3, 1, 10, tzinfo=UTC).timestamp()) // day
    for kind in {*kinds}:
        group = NodeGroup(kind, "fluid", "active", created, created, kinds.count(kind))
        due = {one.verb: one.due for one in forecast(rules(profile), [group], int(NOW.timestamp()) // day) if one.due}
        # What is to be deleted is in no other action.
        if "request deletion" in due:
            due.pop("mark stale", None)
        verbs = {"mark stale": "mark_stale", "request deletion": "request_delete"}
        assert {verbs[verb]: number for verb, number in due.items()} == {
            verb: number for (verb, one), number in planned.items() if one == kind
        }
