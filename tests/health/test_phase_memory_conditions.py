"""The conditions of a phase-memory store and its verdict."""

from __future__ import annotations

import pytest

from stores.health.base import Condition, ConditionStatus, Verdict
from stores.health.phase_memory.conditions import Found, HealthFacts, LogFacts, conditions, verdict

NOW_MS = 1_772_618_400_000
DAY_MS = 86_400_000


def condition(facts: HealthFacts, code: str, file: str = "") -> Condition:
    return next(one for one in conditions(facts, NOW_MS) if one.code == code and file in ("", one.file))


def judged(facts: HealthFacts) -> tuple[Verdict, str]:
    return verdict(facts, conditions(facts, NOW_MS))


def test_a_store_without_faults_is_healthy() -> None:
    facts = HealthFacts(nodes=3, durable=1, last_sequence=2)
    assert {one.status for one in conditions(facts, NOW_MS)} == {ConditionStatus.OK}
    assert judged(facts) == (Verdict.HEALTHY, "12 checks hold")


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("malformed_record_file", "record_files"),
        ("invalid_phase", "record_files"),
        ("audit_chain_broken", "audit_chain"),
        ("audit_sequence_gap", "audit_chain"),
        ("unapproved_apply", "gate"),
        ("unreviewed_durable_change", "gate"),
        ("missing_edge_endpoint", "references"),
        ("path_parent_cycle", "path_states"),
        ("unsupported_store_version", "store_format"),
        ("duplicate_event_id", "other_faults"),
    ],
)
def test_each_error_degrades_the_store_under_its_condition(fault: str, code: str) -> None:
    facts = HealthFacts(found={fault: Found(fault, errors=2)})
    found = condition(facts, code)
    assert found.status is ConditionStatus.FAILING
    state, sentence = judged(facts)
    assert state is Verdict.DEGRADED
    assert sentence == found.message


def test_a_root_file_that_cannot_be_read_makes_the_store_unavailable() -> None:
    state, sentence = judged(HealthFacts(found={"store_root_missing": Found("store_root_missing", errors=1)}))
    assert (state, sentence.startswith("phase-memory.json cannot be read")) == (Verdict.UNAVAILABLE, True)


def test_remarks_are_a_note() -> None:
    facts = HealthFacts(found={"blank_log_line": Found("blank_log_line", others=3)})
    assert condition(facts, "other_faults").status is ConditionStatus.NOTE
    assert judged(facts)[0] is Verdict.HEALTHY


def test_lines_that_cannot_be_read_are_counted_by_log() -> None:
    facts = HealthFacts(events=LogFacts("events.jsonl", True, True, 10, 2))
    assert condition(facts, "corrupt_lines", "events.jsonl").value == 2
    assert condition(facts, "corrupt_lines", "audit.jsonl").status is ConditionStatus.OK


def test_durable_nodes_without_a_review_are_noted_and_the_oldest_is_dated() -> None:
    facts = HealthFacts(durable=5, durable_unreviewed=2, oldest_unreviewed_ms=NOW_MS - 9 * DAY_MS)
    assert condition(facts, "durable_unreviewed").message == "2 of 5 durable nodes have no reviewed change in the audit log"
    oldest = condition(facts, "oldest_unreviewed")
    assert (oldest.status, oldest.value_text) == (ConditionStatus.NOTE, "9 d")
    young = HealthFacts(durable=5, durable_unreviewed=2, oldest_unreviewed_ms=NOW_MS - 2 * DAY_MS)
    assert condition(young, "oldest_unreviewed").status is ConditionStatus.OK


@pytest.mark.parametrize(
    ("before", "now", "status"), [(200, 320, ConditionStatus.NOTE), (200, 290, ConditionStatus.OK), (None, 900, ConditionStatus.OK)]
)
def test_quick_growth_is_noted(before: int | None, now: int, status: ConditionStatus) -> None:
    assert condition(HealthFacts(nodes=now, nodes_before=before), "growth").status is status


def test_nothing_is_measured_without_a_folder() -> None:
    facts = HealthFacts(directory_exists=False, directory_readable=False)
    assert {one.status for one in conditions(facts, NOW_MS)} == {ConditionStatus.UNMEASURED}
    assert judged(facts) == (Verdict.UNAVAILABLE, "the folder is not there")
