"""What OrchestKit's own check says, and what ours adds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stores.formats.orchestkit.graph_place import GraphPlace
from stores.health.base import Condition, ConditionStatus, Verdict
from stores.health.orchestkit import FileFacts, Limits, MemoryFileFacts, StoreFacts, classic, conditions, verdict

NOW = 1_770_719_724_351
HOUR = 3_600_000
DAY = 24 * HOUR
CODES = [
    ("corrupt_lines", "decisions.jsonl"),
    ("corrupt_lines", "graph-queue.jsonl"),
    ("corrupt_lines", "open-problems.jsonl"),
    ("corrupt_lines", ""),
    ("memory_vanished", ""),
    ("injection_silenced", "decisions.jsonl"),
    ("no_decisions_with_sessions", "decisions.jsonl"),
    ("poison_operation", "graph-queue.jsonl"),
    ("queue_depth", "graph-queue.jsonl"),
    ("queue_oldest", "graph-queue.jsonl"),
    ("queue_undrained", "graph-queue.jsonl"),
    ("drain_lost", ""),
    ("graph_refused", "memory.json"),
    ("graph_place", ""),
    ("memory_md_budget", ""),
    ("dangling_relation", "graph-queue.jsonl"),
    ("double_hook", "decisions.jsonl"),
    ("stray_store", ""),
    ("classic_health", ""),
]


def file(path: str, lines: int = 0, corrupt: int = 0, **more: Any) -> FileFacts:
    facts = FileFacts(path, lines > 0, True, lines, corrupt, corrupt, lines * 100, NOW, {"glued": corrupt} if corrupt else {})
    return facts._replace(**more)


def store(**changes: Any) -> StoreFacts:
    facts = StoreFacts(True, True, file("decisions.jsonl", 12), file("graph-queue.jsonl"), file("open-problems.jsonl", 3))
    return facts._replace(**changes)


def queue(lines: int, corrupt: int = 0, **more: Any) -> FileFacts:
    return file("graph-queue.jsonl", lines, corrupt, **more)


def statuses(facts: StoreFacts, limits: Limits | None = None) -> dict[tuple[str, str], str]:
    found = conditions(facts, NOW, limits) if limits else conditions(facts, NOW)
    return {(one.code, one.file): str(one.status) for one in found}


def condition(facts: StoreFacts, code: str, path: str | None = None) -> Condition:
    return next(one for one in conditions(facts, NOW) if one.code == code and path in (None, one.file))


def judged(facts: StoreFacts) -> tuple[Verdict, str]:
    return verdict(facts, conditions(facts, NOW))


@pytest.mark.parametrize(
    ("facts", "overall", "status", "message"),
    [
        (store(directory_exists=False), "unavailable", "unavailable", "Memory directory .claude/memory/ does not exist"),
        (store(decisions=file("decisions.jsonl", 3, 1)), "degraded", "degraded", "1 corrupt lines in decisions.jsonl"),
        (store(decisions=file("decisions.jsonl", 9, 2), queue=queue(60)), "degraded", "degraded", "2 corrupt lines in decisions.jsonl"),
        (store(queue=queue(50)), "healthy", "healthy", "Graph memory operational"),
        (store(queue=queue(51)), "degraded", "degraded", "Graph queue depth high: 51 pending operations"),
        (store(queue=queue(3, 3)), "healthy", "healthy", "Graph memory operational"),
        (store(decisions=file("decisions.jsonl")), "healthy", "healthy", "Graph memory operational"),
        (store(decisions=file("decisions.jsonl", 5, 5, readable=False)), "healthy", "healthy", "Graph memory operational"),
    ],
)
def test_the_graph_tier_is_the_classic_one_to_the_letter(facts: StoreFacts, overall: str, status: str, message: str) -> None:
    report = classic(facts)
    assert (report.overall, report.graph_status, report.graph_message) == (overall, status, message)


@pytest.mark.parametrize(
    ("key", "depth", "status", "message", "fabric", "overall"),
    [
        (False, 0, "unavailable", "MEM0_API_KEY not configured (optional)", "unavailable", "healthy"),
        (False, 99, "unavailable", "MEM0_API_KEY not configured (optional)", "unavailable", "healthy"),
        (True, 50, "healthy", "Mem0 cloud available", "healthy", "healthy"),
        (True, 51, "degraded", "Mem0 queue depth high: 51 pending operations", "healthy", "degraded"),
    ],
)
def test_the_other_tiers_are_the_classic_ones(key: bool, depth: int, status: str, message: str, fabric: str, overall: str) -> None:
    report = classic(store(mem0_key=key, mem0_queue_depth=depth))
    assert (report.mem0_status, report.mem0_message, report.fabric_status, report.overall) == (status, message, fabric, overall)


def test_without_a_graph_there_is_no_fabric() -> None:
    report = classic(store(directory_exists=False, mem0_key=True))
    assert (report.fabric_status, report.fabric_message) == ("unavailable", "Fabric requires both graph and mem0 tiers")


GOLDEN = {
    "queue50": store(queue=queue(50)),
    "corrupt_decisions": store(decisions=file("decisions.jsonl", 3, 1)),
    "mem0queue51_key": store(mem0_queue_depth=51, mem0_key=True),
    "corrupt_problems_only": store(problems=file("open-problems.jsonl", 3, 1)),
    "corrupt_and_queue": store(decisions=file("decisions.jsonl", 3, 1), queue=queue(51)),
}


def test_the_shared_health_reports_are_the_same(shared: Path) -> None:
    golden = json.loads((shared / "samples/golden/health.json").read_bytes())
    assert golden.keys() == GOLDEN.keys()
    for name, expected in golden.items():
        report = classic(GOLDEN[name])
        assert {
            "overall": report.overall,
            "graph": {"status": report.graph_status, "message": report.graph_message},
            "mem0": report.mem0_message,
            "fabric": report.fabric_message,
        } == expected, name


@pytest.mark.parametrize(
    "facts",
    [store(), store(directory_exists=False), store(directory_readable=False), store(queue=queue(900, 9)), store(stray_measured=False)],
)
def test_every_rule_is_always_there_in_one_order(facts: StoreFacts) -> None:
    found = conditions(facts, NOW)
    assert [(one.code, one.file) for one in found] == CODES
    assert all(one.title and one.message and one.value_text for one in found)


def test_in_a_store_without_a_flaw_every_rule_holds() -> None:
    assert set(statuses(store()).values()) == {"ok"}
    assert judged(store()) == (Verdict.HEALTHY, "19 checks hold")
    assert all(one.advice == "" for one in conditions(store(), NOW))


@pytest.mark.parametrize("path", ["decisions.jsonl", "graph-queue.jsonl", "open-problems.jsonl"])
def test_corrupt_lines_of_any_file_degrade(path: str) -> None:
    field = {"decisions.jsonl": "decisions", "graph-queue.jsonl": "queue", "open-problems.jsonl": "problems"}[path]
    facts = store(**{field: file(path, 42, 2, causes={"glued": 1, "bad_json": 1})})
    found = condition(facts, "corrupt_lines", path)
    assert (found.status, found.value, found.value_text) == (ConditionStatus.FAILING, 2.0, "40 of 42")
    assert found.message == f"2 corrupt lines in {path}: 1 not JSON, 1 glued"
    assert judged(facts) == (Verdict.DEGRADED, found.message)


def test_one_cause_leads_to_its_faults() -> None:
    assert condition(store(decisions=file("decisions.jsonl", 9, 2)), "corrupt_lines", "decisions.jsonl").faults_code == "glued"
    mixed = store(decisions=file("decisions.jsonl", 9, 2, causes={"glued": 1, "nan": 1}))
    assert condition(mixed, "corrupt_lines", "decisions.jsonl").faults_code == ""


def test_a_tail_that_is_being_written_does_not_degrade_but_the_classic_report_counts_it() -> None:
    facts = store(decisions=file("decisions.jsonl", 9, 1, settled_corrupt=0))
    assert judged(facts)[0] is Verdict.HEALTHY
    assert condition(facts, "corrupt_lines", "decisions.jsonl").message == "The last line of decisions.jsonl is being written"
    assert classic(facts).graph_status == "degraded"


def test_a_file_that_cannot_be_read_degrades_and_what_rests_on_it_is_unmeasured() -> None:
    facts = store(queue=queue(5, readable=False))
    found = statuses(facts)
    assert found["corrupt_lines", "graph-queue.jsonl"] == "failing"
    assert {
        found[code, "graph-queue.jsonl"]
        for code in ("poison_operation", "queue_depth", "queue_oldest", "queue_undrained", "dangling_relation")
    } == {"unmeasured"}
    assert judged(facts) == (Verdict.DEGRADED, "graph-queue.jsonl cannot be read")


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (store(directory_exists=False, directory_readable=False), "The folder does not exist"),
        (store(directory_readable=False), "The folder cannot be read"),
    ],
)
def test_a_store_whose_folder_cannot_be_read_is_unavailable(facts: StoreFacts, sentence: str) -> None:
    assert judged(facts) == (Verdict.UNAVAILABLE, sentence)
    assert {status for (code, _), status in statuses(facts).items() if code != "classic_health"} == {"unmeasured"}


@pytest.mark.parametrize(("depth", "status"), [(0, "ok"), (49, "ok"), (50, "failing"), (51, "failing")])
def test_the_queue_is_deep_from_the_limit_on(depth: int, status: str) -> None:
    assert statuses(store(queue=queue(depth)))["queue_depth", "graph-queue.jsonl"] == status


def test_limits_can_be_set() -> None:
    facts = store(queue=queue(5), queue_oldest_ms=NOW - 2 * HOUR)
    assert statuses(facts, Limits(5, 3600, 3600))["queue_depth", "graph-queue.jsonl"] == "failing"
    assert statuses(facts, Limits(6, 3600, 3600))["queue_oldest", "graph-queue.jsonl"] == "failing"
    assert statuses(facts, Limits(6, 7200, 3600))["queue_oldest", "graph-queue.jsonl"] == "ok"


@pytest.mark.parametrize(
    ("depth", "oldest", "status", "text"),
    [
        (0, None, "ok", "none"),
        (3, NOW - DAY, "ok", "1 d"),
        (3, NOW - DAY - 1, "failing", "1 d"),
        (3, NOW - 4 * DAY - 2 * HOUR, "failing", "4 d 2 h"),
        (3, NOW + HOUR, "ok", "0 s"),
        (3, None, "note", "not known"),
    ],
)
def test_an_operation_may_wait_a_day(depth: int, oldest: int | None, status: str, text: str) -> None:
    found = condition(store(queue=queue(depth), queue_oldest_ms=oldest), "queue_oldest")
    assert (found.status, found.value_text) == (status, text)


@pytest.mark.parametrize(
    ("depth", "shrink", "oldest", "first_seen", "came", "status"),
    [
        (3, NOW - 8 * DAY, None, None, 1, "failing"),
        (3, NOW - 8 * DAY, None, None, 0, "ok"),
        (3, NOW - 7 * DAY, None, None, 1, "ok"),
        (0, NOW - 8 * DAY, None, None, 1, "ok"),
        (3, NOW - DAY, NOW - 90 * DAY, NOW - 30 * DAY, 1, "ok"),
        (3, None, NOW - 90 * DAY, NOW - DAY, 1, "failing"),
        (3, None, NOW - DAY, NOW - 8 * DAY, 1, "failing"),
        (3, None, None, None, 1, "ok"),
    ],
)
def test_a_queue_that_nothing_drains_for_a_week_while_decisions_come_fails(
    depth: int, shrink: int | None, oldest: int | None, first_seen: int | None, came: int, status: str
) -> None:
    facts = store(
        queue=queue(depth), queue_last_shrink_ms=shrink, queue_oldest_ms=oldest, queue_first_seen_ms=first_seen, decisions_since_shrink=came
    )
    assert condition(facts, "queue_undrained").status == status


@pytest.mark.parametrize(
    ("changes", "code", "status"),
    [
        ({"poison": 1}, "poison_operation", "failing"),
        ({"silencing_lines": (9,)}, "injection_silenced", "failing"),
        ({"vanished": {"decisions.jsonl": 12}}, "memory_vanished", "failing"),
        ({"dangling": 2}, "dangling_relation", "note"),
        ({"double_hook": 2}, "double_hook", "note"),
        ({"stray_stores": ("src/.claude/memory",)}, "stray_store", "note"),
        ({"stray_measured": False}, "stray_store", "unmeasured"),
    ],
)
def test_what_the_classic_check_is_blind_to_is_a_condition(changes: dict[str, object], code: str, status: str) -> None:
    facts = store(**changes)
    assert condition(facts, code).status == status
    assert judged(facts)[0] is (Verdict.DEGRADED if status == "failing" else Verdict.HEALTHY)
    assert classic(facts).overall == "healthy"


def test_a_note_leaves_a_store_healthy_and_is_told() -> None:
    assert judged(store(dangling=1)) == (Verdict.HEALTHY, "1 note: 1 operation of the queue names an entity that nothing makes")


def test_the_sentence_names_the_worst_and_counts_the_others() -> None:
    facts = store(decisions=file("decisions.jsonl", 9, 2), silencing_lines=(8, 9), poison=1)
    assert judged(facts)[1] == "2 corrupt lines in decisions.jsonl: 2 glued; 2 more checks fail"


def test_the_classic_report_alone_degrades_too() -> None:
    facts = store(mem0_key=True, mem0_queue_depth=51)
    assert judged(facts) == (Verdict.DEGRADED, "Mem0 queue depth high: 51 pending operations")


def test_conditions_that_a_person_muted_do_not_count() -> None:
    facts = store(poison=1)
    assert verdict(facts, tuple(one for one in conditions(facts, NOW) if one.code != "poison_operation"))[0] is Verdict.HEALTHY


def test_lines_that_silence_are_named() -> None:
    facts = store(silencing_lines=(301, 305, 1305, 1306))
    assert (
        condition(facts, "injection_silenced").message
        == "Lines 301, 305, 1,305 and 1 more have no entities: the next session is told nothing at all"
    )
    assert condition(store(silencing_lines=(301,)), "injection_silenced").message.startswith("Line 301 has no entities")


def place(state: str) -> GraphPlace:
    return GraphPlace(state, "", "", "memory", "The path is relative")


@pytest.mark.parametrize(
    ("sessions", "decisions", "entities", "status"),
    [(0, 0, 0, "ok"), (1, 0, 0, "note"), (9, 0, 0, "note"), (10, 0, 0, "failing"), (1431, 1, 0, "ok"), (1431, 0, 1, "ok")],
)
def test_many_sessions_without_a_decision_degrade(sessions: int, decisions: int, entities: int, status: str) -> None:
    facts = store(sessions=sessions, decisions=file("decisions.jsonl", decisions), graph_entities=entities)
    assert condition(facts, "no_decisions_with_sessions").status == status


def test_corrupt_decisions_are_no_decisions() -> None:
    facts = store(sessions=20, decisions=file("decisions.jsonl", 4, 4))
    found = condition(facts, "no_decisions_with_sessions")
    assert (found.status, found.message) == (
        ConditionStatus.FAILING,
        "20 sessions and not one decision, nor any entity in the graph",
    )


def test_how_many_sessions_may_leave_nothing_is_a_setting() -> None:
    facts = store(sessions=3, decisions=file("decisions.jsonl"))
    assert statuses(facts, Limits(sessions_without_decisions=3))["no_decisions_with_sessions", "decisions.jsonl"] == "failing"


@pytest.mark.parametrize(
    ("lines", "size", "not_loaded", "long_lines", "status"),
    [
        (199, 24_985, 0, 0, "ok"),
        (200, 900, 0, 0, "note"),
        (9, 24_986, 0, 0, "note"),
        (9, 900, 0, 1, "note"),
        (201, 900, 1, 0, "failing"),
    ],
)
def test_a_memory_md_beyond_its_budget_degrades(lines: int, size: int, not_loaded: int, long_lines: int, status: str) -> None:
    facts = store(memory_files=(MemoryFileFacts("project:a/MEMORY.md", lines, size, not_loaded, long_lines),))
    found = condition(facts, "memory_md_budget")
    assert (found.status, found.file) == (status, "" if status == "ok" else "project:a/MEMORY.md")


def test_what_is_not_loaded_is_counted_over_all_files() -> None:
    files = tuple(MemoryFileFacts(f"{name}/MEMORY.md", 230, 900, 30, 0) for name in "ab")
    found = condition(store(memory_files=files), "memory_md_budget")
    assert (found.value, found.file) == (60.0, "")
    assert found.message == "60 lines of a/MEMORY.md and b/MEMORY.md are never loaded"


@pytest.mark.parametrize(("state", "status"), [("expected", "ok"), ("package", "failing"), ("elsewhere", "note"), ("unknown", "note")])
def test_a_graph_in_the_servers_own_package_degrades(state: str, status: str) -> None:
    found = condition(store(graph_place=place(state)), "graph_place")
    assert (found.status, found.message) == (status, "The path is relative")
    assert ("MEMORY_FILE_PATH" in found.advice) is (state != "expected")


def test_a_lost_drain_degrades() -> None:
    lost = condition(store(drains_lost=1), "drain_lost").message
    assert lost == "1 drain written three times and gone from the graph as often, or with nothing to tell by whether it is there"
    assert judged(store(drains_lost=2))[0] is Verdict.DEGRADED


def test_a_drain_that_is_being_verified_is_said_and_degrades_nothing() -> None:
    found = condition(store(drains_verifying=2), "drain_lost")
    assert (found.status, found.value_text) == ("ok", "verifying")
    assert found.message == "2 drains are being verified: the worker looks for ten minutes whether the graph keeps what they wrote"
    assert condition(store(drains_verifying=1, drains_lost=1), "drain_lost").status == "failing"


def test_corrupt_lines_of_the_other_files_degrade() -> None:
    found = condition(store(other_corrupt={"memory.json": 1, "sessions/a/events.jsonl": 2}), "corrupt_lines", "")
    assert (found.status, found.message) == (ConditionStatus.FAILING, "3 corrupt lines in sessions/a/events.jsonl and memory.json")


def test_a_graph_that_the_server_cannot_show_degrades() -> None:
    found = condition(store(graph_refused=2), "graph_refused")
    assert (found.status, found.message) == ("failing", "2 lines of memory.json keep the memory server from showing the graph")
    assert judged(store(graph_refused=1))[0] is Verdict.DEGRADED
