"""What a pair of problem and solution says, and what waited for a service that is gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.formats.orchestkit import mem0, solutions
from tests.formats.reading import line_of, read_all, record

PAIR: dict[str, object] = {
    "problem_id": "prob-mx3a2c4n-abalzr",
    "problem_text": "error with fastapi",
    "solution_text": "All tests passed",
    "tool": "Bash",
    "file": "src/app.py",
    "entities": ["fastapi", "docker"],
    "confidence": 0.75,
    "paired_at": "2026-02-10T10:35:24.351Z",
    "session_id": "5f0c1c1e",
    "project": "shop-api",
}
QUEUED: dict[str, object] = {
    "text": " Decided: Use Redis ",
    "user_id": "orchestkit-decisions",
    "metadata": {
        "type": "decision",
        "category": "database",
        "confidence": 0.9,
        "source": "user_prompt",
        "project": "shop-api",
        "timestamp": "2026-02-10T10:35:24.351Z",
        "entities": ["redis"],
        "has_rationale": True,
        "contributor_id": "dana@example.com",
    },
    "queued_at": "2026-02-10T10:36:24.351Z",
}


def test_a_pair_fills_its_columns() -> None:
    found, parsed = record(solutions.SPEC, PAIR)
    assert found == {
        "problem_id": "prob-mx3a2c4n-abalzr",
        "title": "error with fastapi",
        "tool": "Bash",
        "project": "shop-api",
        "session": "5f0c1c1e",
        "confidence": 0.75,
        "entities": 2,
        "at_ms": 1_770_719_724_351,
        "at_state": "ok",
    }
    assert (parsed.natural_id, parsed.faults) == ("", ())
    assert parsed.search == "error with fastapi all tests passed src app py fastapi docker"


def test_a_pair_is_taken_apart() -> None:
    detail = solutions.solution_detail(line_of({**PAIR, "more": [1]}))
    assert (detail.problem, detail.solution, detail.tool, detail.file) == ("error with fastapi", "All tests passed", "Bash", "src/app.py")
    assert (detail.entities, detail.confidence, detail.other) == (("fastapi", "docker"), "0.75", (("more", "[1]"),))


def test_an_operation_of_the_retired_queue_fills_its_columns() -> None:
    found, parsed = record(mem0.SPEC, QUEUED)
    assert found.pop("text_hash") == mem0.compared_hash("decided: use redis")
    assert found == {
        "standing": "waiting",
        "title": " Decided: Use Redis ",
        "user_id": "orchestkit-decisions",
        "type": "decision",
        "category": "database",
        "project": "shop-api",
        "confidence": 0.9,
        "at_ms": 1_770_719_784_351,
        "at_state": "ok",
    }
    assert (parsed.faults, parsed.search) == ((), "decided use redis redis")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("Use Redis", " use redis\n", True), ("use  redis", "use redis", False), ("ÄÖ", "äö", True), ("\u00a0x\ufeff", "x", True)],
)
def test_texts_are_compared_without_case_and_outer_space(one: str, other: str, same: bool) -> None:
    assert (mem0.compared_hash(one) == mem0.compared_hash(other)) is same


def test_no_text_is_like_no_other() -> None:
    assert mem0.compared_hash(" \n") == 0
    assert record(mem0.SPEC, {**QUEUED, "text": 7})[0]["text_hash"] == 0


def test_an_operation_is_taken_apart() -> None:
    detail = mem0.mem0_detail(line_of(QUEUED))
    assert (detail.text, detail.entities) == (" Decided: Use Redis ", ("redis",))
    assert ("has_rationale", "true") in detail.metadata
    assert "entities" not in dict(detail.metadata)
    assert detail.other == ()


@pytest.mark.parametrize("spec", [solutions.SPEC, mem0.SPEC], ids=lambda spec: spec.path)
@pytest.mark.parametrize(("value", "code"), [(None, "not_object"), ("x", "not_object"), ({"a": "b"}, "foreign_shape")])
def test_another_form_is_told(spec: object, value: object, code: str) -> None:
    chosen = solutions.SPEC if spec is solutions.SPEC else mem0.SPEC
    assert [fault.code for fault in record(chosen, value)[1].faults] == [code]


@pytest.mark.parametrize("metadata", [None, "x", [], 5])
def test_odd_metadata_is_shown_and_not_lost(metadata: object) -> None:
    detail = mem0.mem0_detail(line_of({**QUEUED, "metadata": metadata}))
    assert dict(detail.other) == {"metadata": "" if metadata is None else json.dumps(metadata) if metadata != "x" else "x"}


def test_the_shared_files_read_without_a_fault(shared: Path) -> None:
    seen = 0
    for spec, name in ((solutions.SPEC, solutions.PATH), (mem0.SPEC, mem0.PATH)):
        for path in (shared / "samples/orchestkit").glob(f"*/.claude/memory/{name}"):
            reading = read_all(spec, path.read_bytes())
            assert reading.faults() == []
            seen += len(reading.parsed)
    assert seen >= 3
