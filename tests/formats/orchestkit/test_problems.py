"""What a problem's line says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.formats.reading import PROBLEMS, read_all, record

OPEN: dict[str, object] = {
    "id": "prob-mx3a2c43-388494",
    "timestamp": "2026-02-10T10:35:24.351Z",
    "session_id": "5f0c1c1e",
    "type": "problem",
    "text": "failing with a timeout\nin docker",
    "confidence": 0.75,
    "entities": ["docker"],
    "project": "shop-api",
    "status": "open",
}
SOLVED = {
    **OPEN,
    "status": "solved",
    "solution": {
        "text": "All tests passed",
        "tool": "Bash",
        "file": "src/app.py",
        "timestamp": "2026-02-10T10:36:24.351Z",
        "confidence": 0.8,
        "exit_code": 0,
    },
}


def test_an_open_problem_fills_its_columns() -> None:
    found, parsed = record(PROBLEMS, OPEN)
    assert found == {
        "status": "open",
        "title": "failing with a timeout in docker",
        "project": "shop-api",
        "session": "5f0c1c1e",
        "confidence": 0.75,
        "at_ms": 1_770_719_724_351,
        "at_state": "ok",
        "solved_at_ms": None,
        "solved_by": "",
        "entities": 1,
    }
    assert (parsed.natural_id, parsed.faults) == ("prob-mx3a2c43-388494", ())
    assert parsed.search == "failing with a timeout in docker docker"


def test_a_solved_problem_says_by_what_and_when() -> None:
    found, parsed = record(PROBLEMS, SOLVED)
    assert (found["status"], found["solved_by"], found["solved_at_ms"]) == ("solved", "Bash", 1_770_719_784_351)
    assert parsed.search == "failing with a timeout in docker all tests passed src app py docker"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({**OPEN, "id": "p1"}, "odd_id"),
        ({**OPEN, "id": None}, "bad_id"),
        ({**OPEN, "id": ""}, "bad_id"),
        ({**OPEN, "text": None}, "foreign_shape"),
        ({"x": 1}, "foreign_shape"),
        (None, "not_object"),
        ([OPEN], "not_object"),
    ],
)
def test_what_is_odd_about_a_problem_is_told(value: object, code: str) -> None:
    assert [fault.code for fault in record(PROBLEMS, value)[1].faults] == [code]


@pytest.mark.parametrize("solution", [None, "text", 5, [], {"timestamp": "soon"}, {"tool": {"x": 1}}])
def test_an_odd_solution_gives_no_time(solution: object) -> None:
    assert record(PROBLEMS, {**OPEN, "solution": solution})[0]["solved_at_ms"] is None


def test_a_status_is_kept_as_written() -> None:
    assert record(PROBLEMS, {**OPEN, "status": "Wont-Fix"})[0]["status"] == "Wont-Fix"
    assert record(PROBLEMS, {key: value for key, value in OPEN.items() if key != "status"})[0]["status"] == ""


def test_the_shared_problems_keep_status_text_and_id(shared: Path) -> None:
    for path in (shared / "samples/orchestkit").glob("*/.claude/memory/open-problems.jsonl"):
        for parsed, line in zip(read_all(PROBLEMS, path.read_bytes()).parsed, path.read_bytes().splitlines(), strict=True):
            raw = json.loads(line)
            assert parsed.values is not None
            assert (parsed.natural_id, parsed.values[0]) == (raw["id"], raw["status"])
            assert (parsed.values[8] != "") == ("solution" in raw)
