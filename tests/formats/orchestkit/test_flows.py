"""What the flow of a session says, as a line of the archive and as a file of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.formats.orchestkit import flows
from tests.formats.reading import line_of, read_all, read_whole, record, values

LINES, FILES = flows.SPECS
STEP: dict[str, object] = {
    "tool": "Bash",
    "timestamp": "2026-02-10T10:35:24.351Z",
    "summary": "✗ pytest -q tests/",
    "result": "failure",
    "exit_code": 1,
    "category": "testing",
}
FLOW: dict[str, object] = {
    "session_id": "5f0c1c1e",
    "actions": [{**STEP, "tool": "Read", "file": "/x/a.py", "summary": "✓ Read a.py", "result": "success", "exit_code": 0}, STEP],
    "started_at": "2026-02-10T10:35:24.351Z",
    "last_action_at": "2026-02-10T10:36:24.351Z",
    "stats": {"total_actions": 2, "reads": 1, "writes": 0, "tests": 1, "builds": 3, "agent_spawns": 4, "success_rate": 0.5},
    "inferred_pattern": "test-first",
}


def test_a_flow_fills_its_columns() -> None:
    found, parsed = record(LINES, FLOW)
    assert found == {
        "session": "5f0c1c1e",
        "pattern": "test-first",
        "standing": "last",
        "title": "✓ Read a.py, ✗ pytest -q tests/",
        "actions": 2,
        "reads": 1,
        "writes": 0,
        "tests": 1,
        "builds": 3,
        "agent_spawns": 4,
        "success_rate": 0.5,
        "started_ms": 1_770_719_724_351,
        "at_ms": 1_770_719_784_351,
        "at_state": "ok",
    }
    assert (parsed.natural_id, parsed.faults) == ("5f0c1c1e", ())
    assert {"pytest", "bash", "py", "read", "first"} <= set(parsed.search.split())


def test_a_file_of_a_flow_is_the_same_record() -> None:
    pretty = json.dumps(FLOW, indent=2, ensure_ascii=False).encode()
    parsed = read_whole(FILES, pretty, "flows/5f0c1c1e.json")
    assert values(FILES, parsed) == record(LINES, FLOW)[0]
    assert flows.flow_detail(pretty) == flows.flow_detail(line_of(FLOW))


def test_a_flow_is_taken_apart_step_by_step() -> None:
    detail = flows.flow_detail(line_of({**FLOW, "more": {"x": 1}}))
    assert (detail.session, detail.pattern, detail.success_rate) == ("5f0c1c1e", "test-first", 0.5)
    first, second = detail.steps
    assert (first.tool, first.file, first.summary, first.result, first.exit_code) == ("Read", "/x/a.py", "✓ Read a.py", "success", "0")
    assert (second.tool, second.file, second.category, second.at_ms) == ("Bash", "", "testing", 1_770_719_724_351)
    assert detail.other == (("more", '{"x":1}'),)
    assert detail.left_out == 0


def test_the_steps_that_a_file_no_longer_holds_are_counted() -> None:
    stats = {"total_actions": 140}
    assert flows.flow_detail(line_of({**FLOW, "stats": stats})).left_out == 138


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "not_object"),
        ([FLOW], "not_object"),
        ({"x": 1}, "foreign_shape"),
        ({**FLOW, "actions": "none"}, "foreign_shape"),
        ({**FLOW, "session_id": 5}, "foreign_shape"),
    ],
)
def test_what_is_no_flow_is_told(value: object, code: str) -> None:
    assert [fault.code for fault in record(LINES, value)[1].faults] == [code]


@pytest.mark.parametrize("odd", [None, "x", -1, 1e300, 1 << 70, [], {"a": 1}, True])
def test_odd_figures_become_counts_that_a_database_holds(odd: object) -> None:
    stats = dict.fromkeys(("total_actions", "reads", "writes", "tests", "builds", "agent_spawns", "success_rate"), odd)
    found, _ = record(LINES, {**FLOW, "stats": stats, "actions": [odd, STEP]})
    assert all(isinstance(found[name], int) and abs(int(str(found[name]))) < 1 << 31 for name in ("actions", "reads", "agent_spawns"))
    flows.flow_detail(line_of({**FLOW, "stats": stats, "actions": [odd, STEP]}))


def test_the_shared_flows_keep_their_figures(shared: Path) -> None:
    seen = 0
    for path in sorted((shared / "samples/orchestkit").glob("*/.claude/memory/flows/*.json")):
        raw = json.loads(path.read_bytes())
        found = values(FILES, read_whole(FILES, path.read_bytes()))
        assert (found["session"], found["pattern"]) == (raw["session_id"], raw["inferred_pattern"])
        assert (found["actions"], found["success_rate"]) == (raw["stats"]["total_actions"], raw["stats"]["success_rate"])
        assert len(flows.flow_detail(path.read_bytes()).steps) == len(raw["actions"])
        seen += 1
    for path in sorted((shared / "samples/orchestkit").glob("*/.claude/memory/completed-flows.jsonl")):
        for parsed, line in zip(read_all(LINES, path.read_bytes()).parsed, path.read_bytes().splitlines(), strict=True):
            assert (parsed.natural_id, parsed.faults) == (json.loads(line)["session_id"], ())
            seen += 1
    assert seen >= 5
