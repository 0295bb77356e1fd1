"""The operations of a decision are those of OrchestKit's writer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.orchestkit import build_operations, infer_entity_type
from stores.formats.orchestkit.operations import stops_the_writer

AT = "2026-02-06T10:30:00.000Z"
RECORD: dict[str, Any] = {
    "id": "decision-mlggszlr-rkp1k1",
    "type": "decision",
    "content": {"what": "Use cursors", "why": "fast", "alternatives": ["offsets", "keys"], "constraints": ["c1", "c2"], "tradeoffs": ["t"]},
    "entities": ["cursor-pagination", "git"],
    "relations": [{"from": "git", "to": "bash", "type": "SOLVED_BY"}],
    "metadata": {"timestamp": AT, "confidence": 0.855, "source": "user_prompt", "project": "shop", "category": "database"},
}


def observations(record: dict[str, Any]) -> list[str]:
    found: list[str] = build_operations(record)[0]["payload"]["entities"][0]["observations"]
    return found


def edges(record: dict[str, Any]) -> list[tuple[str, str, str]]:
    operations = build_operations(record)
    listed = operations[1]["payload"]["relations"] if len(operations) > 1 else []
    return [(item["from"], item["relationType"], item["to"]) for item in listed]


@pytest.mark.parametrize("case", ["decision", "preference", "problem-solution", "pattern", "workflow", "weird", "no_entities"])
def test_operations_equal_those_of_the_real_code(shared: Path, case: str) -> None:
    golden = json.loads((shared / "samples" / "golden" / "build_graph_operations.json").read_bytes())
    record = golden["record"] | {"type": case}
    if case == "no_entities":
        record |= {"type": "preference", "content": {"what": "x"}, "entities": [], "relations": []}
    assert json.dumps(build_operations(record, "<now>")) == json.dumps(golden["ops"][case])


def test_observations_and_relations_come_in_the_writer_s_order() -> None:
    assert observations(RECORD) == [
        "What: Use cursors",
        "Rationale: fast",
        "Alternatives considered: offsets, keys",
        "Constraints: c1; c2",
        "Tradeoffs: t",
        "Category: database",
        "Confidence: 86%",
        "Source: user_prompt",
        "Project: shop",
        f"Timestamp: {AT}",
    ]
    own = RECORD["id"]
    assert edges(RECORD) == [
        (own, "CHOSE", "cursor-pagination"),
        (own, "CHOSE", "git"),
        ("Use cursors", "CHOSE_OVER", "offsets"),
        ("Use cursors", "CHOSE_OVER", "keys"),
        (own, "CONSTRAINT", "c1"),
        (own, "CONSTRAINT", "c2"),
        (own, "TRADEOFF", "t"),
        ("cursor-pagination", "RELATES_TO", "git"),
        ("git", "SOLVED_BY", "bash"),
    ]
    assert {operation["timestamp"] for operation in build_operations(RECORD)} == {AT}


def test_without_relations_there_is_one_operation() -> None:
    assert len(build_operations(RECORD | {"content": {"what": "x"}, "entities": [], "relations": []})) == 1


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("PostgreSQL", "Technology"),
        ("react-pattern", "Technology"),
        ("circuit-breaker", "Pattern"),
        ("storage", "Pattern"),  # holds "rag"
        ("github", "Tool"),
        ("express", "Technology"),
    ],
)
def test_types_are_guessed_by_parts_of_names(name: str, kind: str) -> None:
    assert infer_entity_type(name) == kind


def test_a_mention_is_cut_at_100_units_in_the_middle_of_an_emoji() -> None:
    operations = build_operations(RECORD | {"content": {"what": "x" * 99 + "😀"}})
    assert operations[0]["payload"]["entities"][1]["observations"] == ["Mentioned in decision: " + "x" * 99 + "\ud83d"]


def test_what_would_stop_the_writer_is_taken_as_far_as_it_goes() -> None:
    odd = RECORD | {"entities": [{"name": "redis", "entityType": "Store", "observations": ["seen"]}], "relations": None}
    assert stops_the_writer(odd) == "Entities that are no texts"
    assert build_operations(odd)[0]["payload"]["entities"][1] == {
        "name": "redis",
        "entityType": "Store",
        "observations": ["seen", "Mentioned in decision: Use cursors"],
    }
    assert stops_the_writer({}) == "No list of entities"
    assert stops_the_writer({"entities": []}) == "No list of relations"
    assert stops_the_writer(RECORD) == ""


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["toString", "name", "a"]), inner, max_size=3),
    max_leaves=6,
)
KEYS = ("id", "type", "content", "entities", "relations", "metadata", "what", "why", "alternatives", "constraints", "confidence")


@given(st.dictionaries(st.sampled_from(KEYS), values | st.dictionaries(st.sampled_from(KEYS), values)))
def test_no_record_raises(record: dict[str, object]) -> None:
    assert build_operations(record)[0]["type"] == "create_entities"
