"""Aggregations of a queue: the classic one as it was, and ours, which loses nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.orchestkit import Edge, Trouble, aggregate_classically, aggregate_operations, read_operations, recovery_message
from tests.formats.reading import lines_of

AT = "2026-02-10T10:35:24.351Z"


def operation(kind: str, **payload: object) -> dict[str, object]:
    return {"type": kind, "payload": payload, "timestamp": AT}


def entities(*items: object) -> dict[str, object]:
    return operation("create_entities", entities=list(items))


def relations(*items: object) -> dict[str, object]:
    return operation("create_relations", relations=list(items))


def observed(*items: object) -> dict[str, object]:
    return operation("add_observations", observations=list(items))


def entity(name: object, *observations: object, kind: str = "Technology") -> dict[str, object]:
    return {"name": name, "entityType": kind, "observations": list(observations)}


def relation(start: object, end: object, kind: str = "CHOSE") -> dict[str, object]:
    return {"from": start, "to": end, "relationType": kind}


def contents(name: object, *said: object) -> dict[str, object]:
    return {"entityName": name, "contents": list(said)}


def numbered(*operations: object) -> list[tuple[int, object]]:
    return list(enumerate(operations, start=1))


def test_the_message_of_the_real_code_comes_out_to_the_byte(shared: Path) -> None:
    queue = shared / "samples" / "orchestkit" / "shop-api" / ".claude" / "memory" / "graph-queue.jsonl"
    golden = shared / "samples" / "golden" / "queue_recovery_systemMessage.md"
    aggregated = aggregate_classically(read_operations(queue.read_bytes()).operations)
    assert recovery_message(aggregated).encode() == golden.read_bytes()


def test_the_message_has_a_part_for_each_kind_and_is_empty_for_nothing() -> None:
    assert recovery_message(aggregate_classically([])) == ""
    aggregated = aggregate_classically(numbered(observed(contents("a", "x"), contents("a", "y"))))
    assert recovery_message(aggregated) == (
        "## Graph Memory Recovery\n\nOrphaned graph operations from a previous session were found.\n"
        "Execute these MCP calls to persist them:\n\n### Add Observations\n```json\nmcp__memory__add_observations({\n"
        '  "observations": [\n    {\n      "entityName": "a",\n      "contents": [\n        "x",\n        "y"\n      ]\n    }\n  ]\n})\n```\n\n'
        "**Recovery:** 0 entities, 0 relations, 1 observations from previous session."
    )


def test_the_classic_one_keeps_the_first_of_each_name_and_relation() -> None:
    aggregated = aggregate_classically(
        numbered(
            entities(entity("a", "1"), entity("b")),
            entities(entity("a", "2")),
            relations(relation("a", "b"), relation("a", "b"), relation("b", "a")),
        )
    )
    assert aggregated.entities == [entity("a", "1"), entity("b")]
    assert aggregated.relations == [relation("a", "b"), relation("b", "a")]


@pytest.mark.parametrize(
    "poison",
    [
        [None],
        [entities(None)],
        [operation("create_entities", entities=7)],
        [relations(relation("a", "b"), None)],
        [observed(contents("a", "x")), observed({"entityName": "a"})],
        [observed({"entityName": "a"}), observed(contents("a", "x"))],
    ],
)
def test_measured_poison_is_reported_by_its_line_and_leaves_nothing_behind(poison: list[object]) -> None:
    before, after = entities(entity("first", "o")), entities(entity("last"))
    aggregated = aggregate_classically(numbered(before, *poison, after))
    assert [trouble.line for trouble in aggregated.poison] == [1 + len(poison)]
    assert aggregated.entities == [entity("first", "o"), entity("last")]
    assert aggregated.relations == []


@pytest.mark.parametrize(
    "harmless",
    [
        5,
        "text",
        [],
        {},
        {"type": "create_entities"},
        {"type": "create_entities", "payload": None},
        {"type": "create_entity", "payload": {}},
    ],
)
def test_what_the_drain_passes_over_is_no_poison(harmless: object) -> None:
    aggregated = aggregate_classically(numbered(harmless))
    assert (aggregated.poison, aggregated.entities) == ([], [])


def test_a_text_in_the_place_of_a_list_is_taken_letter_by_letter() -> None:
    assert aggregate_classically(numbered(operation("create_entities", entities="abc"))).entities == ["a"]


def test_ours_adds_what_is_said_later_and_names_what_the_classic_one_loses() -> None:
    made = aggregate_operations(
        numbered(
            entities(entity("a", "1", "2")),
            entities(entity("a", "2", "3", kind="Tool")),
            observed(contents("a", "4"), contents("a", "3")),
        )
    )
    node = made.graph.nodes["a"]
    assert (node.kind, list(node.observations)) == ("Technology", ["1", "2", "3", "4"])
    assert [(lost.name, lost.contents) for lost in made.account.classic_loses] == []
    assert made.account.other_types == ((2, "a", "Tool"),)
    without = aggregate_operations(numbered(entities(entity("a", "1")), entities(entity("a", "2"))))
    assert [(lost.name, lost.contents) for lost in without.account.classic_loses] == [("a", ("2",))]


def test_ours_makes_ends_that_nothing_creates() -> None:
    operations = numbered(
        relations(relation("d", "redis"), relation("use keys", "offsets", "CHOSE_OVER"), relation("d", "no downtime", "CONSTRAINT")),
        observed(contents("git", "seen")),
        entities(entity("d", kind="Decision")),
    )
    made = aggregate_operations(operations, known={"offsets"})
    assert made.account.missing_ends == ("redis", "use keys", "no downtime", "git")
    assert {node.name: node.kind for node in made.graph.nodes.values()} == {
        "d": "Decision",
        "redis": "Technology",
        "use keys": "Decision",
        "no downtime": "Constraint",
        "git": "Tool",
    }
    assert list(made.graph.nodes["git"].observations) == ["seen"]


def test_ours_takes_what_is_usable_of_a_poison_line_and_tells_of_the_rest() -> None:
    made = aggregate_operations(numbered(None, entities(None, entity("a", "1"), {"entityType": "x"}), {"type": "odd"}))
    assert list(made.graph.nodes) == ["a"]
    assert [trouble.line for trouble in made.account.poison] == [1, 2]
    assert made.account.skipped == (
        Trouble(1, "No operation that the drain knows"),
        Trouble(2, "2 of 3 entities cannot be used"),
        Trouble(3, "No operation that the drain knows"),
    )


def test_without_a_comparison_the_graph_is_the_same() -> None:
    operations = numbered(None, entities(entity("a", "1")), entities(entity("a", "2")), relations(relation("a", "b")))
    compared, alone = aggregate_operations(operations), aggregate_operations(operations, compare=False)
    assert alone.graph == compared.graph
    assert (alone.account.poison, alone.account.classic_loses) == ((), ())
    assert alone.account.missing_ends == compared.account.missing_ends == ("b",)


def test_observations_that_are_no_texts_become_texts() -> None:
    made = aggregate_operations(numbered(entities(entity("a", {"text": "t", "timestamp": AT}, 5, {"x": 1}, None))))
    assert list(made.graph.nodes["a"].observations) == ["t", "5", '{"x":1}']


def test_a_queue_is_read_as_the_drain_reads_it() -> None:
    good = lines_of([entities(entity("a"))])
    queue = read_operations(good + b"{torn\n \n\xc2\xa0\n" + b"null\n" + good.rstrip() + b" \xc2\xa0\n")
    assert [line for line, _ in queue.operations] == [1, 5, 6]
    assert [trouble.line for trouble in queue.unreadable] == [2]


names = st.sampled_from(["a", "b", "c", "redis", "decision-1"])
texts = st.sampled_from(["x", "y", "z", ""])
some_entities = st.lists(st.builds(lambda name, said: entity(name, *said), names, st.lists(texts, max_size=3)), max_size=3)
some_relations = st.lists(st.builds(relation, names, names, st.sampled_from(["CHOSE", "CHOSE_OVER"])), max_size=3)
some_observations = st.lists(st.builds(lambda name, said: contents(name, *said), names, st.lists(texts, max_size=3)), max_size=3)
some_operations = st.lists(
    some_entities.map(lambda items: entities(*items))
    | some_relations.map(lambda items: relations(*items))
    | some_observations.map(lambda items: observed(*items)),
    max_size=8,
)


@given(some_operations)
def test_our_aggregation_loses_nothing_and_adds_nothing(operations: list[dict[str, Any]]) -> None:
    said: set[tuple[str, str]] = set()
    edges: set[Edge] = set()
    used: set[str] = set()
    for asked in operations:
        payload = asked["payload"]
        for item in payload.get("entities", []):
            used.add(item["name"])
            said |= {(item["name"], text) for text in item["observations"]}
        for item in payload.get("relations", []):
            used |= {item["from"], item["to"]}
            edges.add(Edge(item["from"], item["to"], item["relationType"]))
        for item in payload.get("observations", []):
            used.add(item["entityName"])
            said |= {(item["entityName"], text) for text in item["contents"]}
    graph = aggregate_operations(numbered(*operations)).graph
    assert set(graph.nodes) == used
    assert set(graph.edges) == edges
    assert {(node.name, text) for node in graph.nodes.values() for text in node.observations} == said


@given(some_operations)
def test_what_the_classic_one_has_and_what_it_loses_is_what_ours_has(operations: list[dict[str, Any]]) -> None:
    made = aggregate_operations(numbered(*operations))
    classic = aggregate_classically(numbered(*operations))
    said = {(item["name"], text) for item in classic.entities if isinstance(item, dict) for text in item["observations"]}
    said |= {(str(item["entityName"]), str(text)) for item in classic.observations for text in list(item["contents"])}  # type: ignore[call-overload]
    lost = {(lost.name, text) for lost in made.account.classic_loses for text in lost.contents}
    assert not said & lost
    assert said | lost == {(node.name, text) for node in made.graph.nodes.values() for text in node.observations}


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | texts, lambda inner: st.lists(inner) | st.dictionaries(names, inner), max_leaves=5
)
PARTS = ["entities", "relations", "observations"]
FIELDS = ["name", "from", "to", "entityName", "contents", "observations", "relationType"]
oddities = st.lists(anything | st.dictionaries(st.sampled_from(FIELDS), anything), max_size=3)
odd_payloads = st.dictionaries(st.sampled_from(PARTS), anything | oddities)


@given(st.lists(anything | st.builds(operation, st.sampled_from(["create_entities", "create_relations", "add_observations"]))))
def test_no_operation_raises(operations: list[object]) -> None:
    aggregate_operations(numbered(*operations))


@given(st.sampled_from(["create_entities", "create_relations", "add_observations"]), st.lists(odd_payloads, max_size=3))
def test_no_payload_raises(kind: str, payloads: list[dict[str, object]]) -> None:
    aggregate_operations(numbered(*({"type": kind, "payload": payload} for payload in payloads)))
