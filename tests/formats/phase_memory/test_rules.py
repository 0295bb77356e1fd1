"""The rules of a profile, and what they would move: expectations from the format's words and counted by hand."""

from __future__ import annotations

import pytest

from stores.formats.canonical import digest
from stores.formats.phase_memory.audit_lines import audit_line
from stores.formats.phase_memory.forecast import NodeGroup, forecast
from stores.formats.phase_memory.rules import Rules, rules
from stores.formats.strict import judge
from tests.phase_memory_folders import audit

TODAY = 20_000

PROFILE: dict[str, object] = {
    "id": "profile.a",
    "retention": {"turn": {"stale_after_days": 7, "delete_after_days": 30}, "default": {"stale_after_days": 45}},
    "limits": {"reasoning": {"max_nodes": 4000}, "package": {"max_items": 8}, "odd": {"max_nodes": "many"}},
    "activation": {"max_items": 8, "max_tokens": 1200, "reserve_tokens": 150},
    "policy": {"durable_writes": "review-gated", "required_labels": ["local"], "review": {"default_reviewers": ["mira"]}},
    "metadata": {
        "phase_transitions": [
            {"kind": "decision", "from_phase": "fluid", "to_phase": "stabilized", "min_age_days": 10, "reason": "old enough"},
            {"node_kind": "observation", "from_phase": "ephemeral", "to_phase": "fluid", "min_age_days": 1},
            "no rule",
        ]
    },
}


def due(found: Rules, *groups: NodeGroup) -> dict[tuple[str, str], tuple[int, int, int | None, int]]:
    """Give due, concerned, next day and next number of each rule."""
    return {(one.verb, one.kind): (one.due, one.concerned, one.next_day, one.next_number) for one in forecast(found, groups, TODAY)}


def test_the_rules_are_read_as_the_format_says() -> None:
    found = rules(PROFILE)
    assert [(rule.kind, rule.stale_after_days, rule.delete_after_days) for rule in found.retention] == [
        ("default", 45, None),
        ("turn", 7, 30),
    ]
    assert [(one.kind, one.needs_review) for one in found.transitions] == [("decision", True), ("observation", False)]
    assert [(one.kind, one.most, one.unit) for one in found.limits] == [("package", 8, "items"), ("reasoning", 4000, "nodes")]
    assert tuple(found.budget) == (8, 1200, 150)
    assert (found.review.reviewers, found.review.required_labels, found.review.self_approval) == (("mira",), ("local",), False)


def test_a_kind_has_its_own_rule_else_the_default_and_a_single_rule_is_the_default_of_all() -> None:
    several, single = rules(PROFILE), rules({"retention": {"turn": {"stale_after_days": 7}}})
    for found, kind, days in ((several, "turn", 7), (several, "decision", 45), (single, "decision", 7)):
        rule = found.retention_for(kind)
        assert rule is not None
        assert rule.stale_after_days == days
    assert rules({}).retention_for("turn") is None
    two = rules({"retention": {"turn": {"stale_after_days": 7}, "plan": {"stale_after_days": 9}}})
    assert two.retention_for("decision") is None


@pytest.mark.parametrize("value", [None, [], "rules", {"turn": 7}, {"turn": {"stale_after_days": -1}}])
def test_rules_of_wrong_types_say_nothing(value: object) -> None:
    found = rules({"retention": value, "limits": value, "metadata": value, "policy": value, "activation": value})
    assert all(rule.stale_after_days is None for rule in found.retention)
    assert (found.transitions, found.limits) == ((), ())


def test_transitions_count_from_the_day_a_node_was_written() -> None:
    found = due(
        rules(PROFILE),
        NodeGroup("decision", "fluid", "active", TODAY - 10, TODAY, 3),
        NodeGroup("decision", "fluid", "active", TODAY - 8, TODAY, 2),
        NodeGroup("decision", "fluid", "active", TODAY - 1, TODAY, 5),
        NodeGroup("decision", "fluid", "stale", TODAY - 90, TODAY, 7),
        NodeGroup("decision", "rigid", "active", TODAY - 90, TODAY, 11),
    )
    assert found[("move", "decision")] == (3, 10, TODAY + 2, 2)
    assert found[("move", "observation")] == (0, 0, None, 0)


def test_staleness_and_deletion_count_from_the_last_change_and_spare_durable_memory() -> None:
    found = due(
        rules(PROFILE),
        NodeGroup("turn", "fluid", "active", TODAY - 90, TODAY - 7, 1),
        NodeGroup("turn", "fluid", "active", TODAY - 90, TODAY - 6, 2),
        NodeGroup("turn", "fluid", "stale", TODAY - 90, TODAY - 30, 4),
        NodeGroup("turn", "stabilized", "active", TODAY - 90, TODAY - 90, 8),
        NodeGroup("claim", "fluid", "active", TODAY - 90, TODAY - 45, 16),
    )
    assert found[("mark stale", "turn")] == (1, 3, TODAY + 1, 2)
    assert found[("mark stale", "")] == (16, 16, None, 0)
    assert found[("request deletion", "turn")] == (4, 7, TODAY + 23, 1)
    assert ("request deletion", "") not in found


def test_nodes_without_a_date_are_counted_and_never_due() -> None:
    (one, *_) = forecast(rules(PROFILE), [NodeGroup("decision", "fluid", "active", 0, 0, 4)], TODAY)
    assert (one.due, one.concerned, one.undated, one.next_day) == (0, 4, 4, None)


def test_an_audit_line_follows_the_one_before() -> None:
    first, second = audit(1), audit(2, audit(1))
    line = judge(audit_line(second, {"audit_id": "audit.x", "operation": "graph.import"}).strip()).value
    assert (line["sequence"], line["previous_digest"]) == (3, digest(second))
    start = judge(audit_line(None, {"audit_id": "audit.x"}).strip()).value
    assert (start["sequence"], start["previous_digest"]) == (1, None)
    del first["sequence"]
    unchained = judge(audit_line(first, {"audit_id": "audit.x"}).strip()).value
    assert not unchained.keys() & {"sequence", "previous_digest"}
