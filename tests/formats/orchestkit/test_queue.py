"""What a queue operation asks for, and how it stands among the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.base import Severity
from stores.formats.orchestkit import QueueOp, WholeQueue, graph_names, queue_op
from tests.formats.reading import QUEUE, line_of, read_all, record

AT = "2026-02-10T10:35:24.351Z"


def operation(kind: object, **payload: object) -> dict[str, object]:
    return {"type": kind, "payload": payload, "timestamp": AT}


def entity(name: object, kind: object = "Technology", *observations: object) -> dict[str, object]:
    return {"name": name, "entityType": kind, "observations": list(observations)}


def relation(start: object, end: object, kind: str = "CHOSE") -> dict[str, object]:
    return {"from": start, "to": end, "relationType": kind}


def observations(name: object, *contents: str) -> dict[str, object]:
    return {"entityName": name, "contents": list(contents)}


ENTITIES = operation(
    "create_entities",
    entities=[
        entity("decision-mlggszlr-rkp1k1", "Decision", "What: Use redis", "Category: database"),
        entity("redis"),
        entity("go"),
        entity("grep", "Tool"),
    ],
)
RELATIONS = operation("create_relations", relations=[relation("decision-mlggszlr-rkp1k1", "redis"), relation("redis", "go", "RELATES_TO")])
OBSERVATIONS = operation("add_observations", observations=[observations("redis", "fast", "in memory")])


def test_entities_say_what_they_would_write() -> None:
    found, parsed = record(QUEUE, ENTITIES)
    assert found | {"payload_hash": 0} == {
        "operation": "create_entities",
        "standing": "waiting",
        "reason": "",
        "title": "Use redis",
        "would_write": "1 decision, 2 technologies, 1 tool",
        "entities": 4,
        "relations": 0,
        "observations": 0,
        "decision_id": "decision-mlggszlr-rkp1k1",
        "payload_hash": 0,
        "at_ms": 1_770_719_724_351,
        "at_state": "ok",
    }
    assert parsed.faults == ()
    assert parsed.natural_id == ""
    assert "redis" in parsed.search.split()


def test_relations_say_what_they_would_write() -> None:
    found, _ = record(QUEUE, RELATIONS)
    assert (found["title"], found["would_write"]) == ("decision-mlggszlr-rkp1k1 CHOSE redis", "2 relations")
    assert (found["decision_id"], found["relations"]) == ("decision-mlggszlr-rkp1k1", 2)


def test_observations_say_what_they_would_write() -> None:
    found, _ = record(QUEUE, OBSERVATIONS)
    assert (found["title"], found["would_write"], found["decision_id"]) == ("redis: fast", "2 observations on 1 entity", "")


def test_equal_payloads_have_equal_hashes_whatever_the_order_of_keys() -> None:
    hashes = [
        record(QUEUE, value)[0]["payload_hash"]
        for value in (
            {"type": "create_entities", "payload": {"a": 1, "b": [2]}},
            {"type": "create_entities", "payload": {"b": [2], "a": 1}},
            {"type": "create_entities", "payload": {"b": [2], "a": 2}},
            {"type": "create_entities", "payload": None},
        )
    ]
    assert hashes[0] == hashes[1] != 0
    assert hashes[2] not in (0, hashes[0])
    assert hashes[3] == 0


@pytest.mark.parametrize(
    "value",
    [
        None,
        operation("create_entities", entities=[None]),
        operation("create_entities", entities=[entity("a"), None]),
        operation("create_entities", entities={}),
        operation("create_entities", entities=5),
        operation("create_relations", relations=[None]),
        operation("add_observations", observations=[None]),
        operation("add_observations", observations=[{"entityName": "a"}, observations("a", "x")]),
        operation("add_observations", observations=[observations("a", "x"), {"entityName": "a"}]),
    ],
)
def test_poison_stops_the_drain_and_is_told(value: object) -> None:
    found, parsed = record(QUEUE, value)
    (fault,) = parsed.faults
    assert (found["standing"], found["would_write"]) == ("poison", "")
    assert found["reason"]
    assert (fault.code, fault.severity, fault.repair_action) == ("poison_operation", Severity.ERROR, "set_aside_lines")


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (operation("create_entity", entities=[entity("a")]), "unknown_operation"),
        ({"action": "create_entity", "entity": {}}, "unknown_operation"),
        ({"type": "create_entities", "payload": None}, "unknown_operation"),
        ({"type": "create_entities"}, "unknown_operation"),
        ({"type": "create_entities", "payload": "abc"}, "unknown_operation"),
        (operation("create_entities"), "unknown_operation"),
        (operation("create_entities", entities=[]), "unknown_operation"),
        (operation("create_entities", entities="abc"), "unknown_operation"),
        (operation("create_entities", entities=0), "unknown_operation"),
        (operation(5, entities=[entity("a")]), "unknown_operation"),
        (42, "not_object"),
        ([], "not_object"),
        ("text", "not_object"),
    ],
)
def test_what_the_drain_skips_is_ignored_with_a_reason(value: object, code: str) -> None:
    found, parsed = record(QUEUE, value)
    assert (found["standing"], found["would_write"]) == ("ignored", "")
    assert found["reason"]
    assert [fault.code for fault in parsed.faults] == [code]


def test_one_observation_without_contents_is_no_poison() -> None:
    assert record(QUEUE, operation("add_observations", observations=[{"entityName": "a"}]))[0]["standing"] == "waiting"


def test_nameless_entities_wait_with_a_reason() -> None:
    found, _ = record(QUEUE, operation("create_entities", entities=[entity(None), entity("a"), "b"]))
    assert (found["standing"], found["reason"]) == ("waiting", "2 of 3 without name")


def ops(*values: object) -> list[QueueOp]:
    return [queue_op(line_of(value).rstrip(b"\n"), number) for number, value in enumerate(values, 1)]


def queue_standing(queue: list[QueueOp], names: set[str]) -> dict[int, tuple[str, str]]:
    whole = WholeQueue(names)
    for op in queue:
        whole.add(op)
    first_lines: dict[tuple[str, int], int] = {}
    for op in queue:
        first = first_lines.setdefault((op.operation, op.payload_hash), op.line)
        if first != op.line:
            whole.repeats(op.operation, op.payload_hash, first)
    return {op.line: whole.standing(op) for op in queue}


def standings(*values: object, names: set[str] | None = None) -> list[str]:
    return [standing for standing, _ in queue_standing(ops(*values), names or set()).values()]


def test_ends_that_the_queue_or_the_graph_make_are_there() -> None:
    assert standings(ENTITIES, RELATIONS) == ["waiting", "waiting"]
    assert standings(RELATIONS, ENTITIES) == ["waiting", "waiting"]
    assert standings(RELATIONS, names={"decision-mlggszlr-rkp1k1", "redis", "go"}) == ["waiting"]


def test_an_end_that_nothing_makes_is_named() -> None:
    found = queue_standing(ops(ENTITIES, operation("create_relations", relations=[relation("redis", "memcached", "CHOSE_OVER")])), set())
    assert found[2] == ("dangling end", 'No entity is named "memcached"')
    assert standings(OBSERVATIONS) == ["dangling end"]


def test_a_long_name_in_a_reason_is_seen_to_be_cut() -> None:
    found = queue_standing(ops(ENTITIES, operation("create_relations", relations=[relation("redis", "x" * 61, "CHOSE_OVER")])), set())
    assert found[2][1] == f'No entity is named "{"x" * 59}…"'
    found = queue_standing(ops(ENTITIES, operation("create_relations", relations=[relation("redis", "x" * 60, "CHOSE_OVER")])), set())
    assert found[2][1] == f'No entity is named "{"x" * 60}"'


def test_entities_of_a_poisoned_line_make_no_end() -> None:
    poisoned = operation("create_entities", entities=[entity("redis"), entity("go"), entity("decision-mlggszlr-rkp1k1"), None])
    assert standings(poisoned, RELATIONS) == ["poison", "dangling end"]


def test_the_second_of_equal_operations_is_a_duplicate() -> None:
    assert queue_standing(ops(ENTITIES, RELATIONS, ENTITIES), set())[3] == ("duplicate", "The same operation as line 1")
    other_time = {**ENTITIES, "timestamp": "2026-03-01T00:00:00.000Z"}
    assert standings(ENTITIES, other_time) == ["waiting", "duplicate"]
    assert standings(operation("create_relations", entities=[]), operation("create_entities", entities=[])) == ["ignored", "ignored"]


def test_poison_and_what_is_ignored_win_over_a_duplicate() -> None:
    poison = operation("create_entities", entities=[None])
    assert standings(poison, poison) == ["poison", "poison"]
    assert standings(None, None, {"type": "x"}, {"type": "x"}) == ["poison", "poison", "ignored", "ignored"]


def test_observations_of_one_entity_in_two_lines_are_poison_where_contents_are_missing() -> None:
    bare = operation("add_observations", observations=[{"entityName": "redis"}])
    assert standings(bare, names={"redis"}) == ["waiting"]
    assert standings(OBSERVATIONS, bare, names={"redis"}) == ["waiting", "poison"]
    assert standings(bare, OBSERVATIONS, names={"redis"}) == ["poison", "waiting"]


def test_reasons_hold_no_secret_and_no_control_character() -> None:
    value = operation("create_relations", relations=[relation("password=hunter2\x1b[2J", "b")])
    reason = queue_standing(ops(value), {"b"})[1][1]
    assert "hunter2" not in reason
    assert "\x1b" not in reason


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "payload", "entities", "relations", "observations", "name", "from", "to", "entityName", "contents"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)
SHAPED = st.builds(
    lambda kind, payload: {"type": kind, "payload": payload},
    st.sampled_from(["create_entities", "create_relations", "add_observations", "x"]),
    st.dictionaries(st.sampled_from(["entities", "relations", "observations"]), st.one_of(JSON, st.lists(JSON, max_size=3)), max_size=3),
)


@given(st.lists(st.one_of(JSON, SHAPED), max_size=6))
def test_any_queue_is_judged_without_an_error(values: list[object]) -> None:
    found = queue_standing(ops(*values), set())
    alone = [record(QUEUE, value)[0]["standing"] for value in values]
    assert list(found) == list(range(1, len(values) + 1))
    for (standing, reason), before in zip(found.values(), alone, strict=True):
        assert standing in ("waiting", "poison", "ignored", "dangling end", "duplicate")
        assert standing == "waiting" or reason
        assert before == "waiting" or standing == before


def test_names_of_a_graph_are_those_of_its_entities() -> None:
    data = (
        b'{"type":"entity","name":"redis","entityType":"T","observations":[]}\n'
        b'{"type":"relation","from":"a","to":"b","relationType":"X"}\n'
        b"not json\nnull\n[]\n"
        b'{"type":"entity","name":5}\n'
        b'{"type":"entity","name":"go"}'
    )
    assert graph_names(data) == {"redis", "go"}
    assert graph_names(b"") == set()


def test_a_graph_written_as_one_pretty_object_is_read_too() -> None:
    data = json.dumps({"entities": [{"name": "redis"}, {"name": "go"}], "relations": []}, indent=2).encode()
    assert graph_names(data) == {"redis", "go"}


@given(st.binary(max_size=80))
def test_any_bytes_as_a_graph_give_names_without_an_error(data: bytes) -> None:
    assert all(isinstance(name, str) for name in graph_names(data))


def test_the_shared_queues_wait_and_name_their_decisions(shared: Path) -> None:
    for path in (shared / "samples/orchestkit").glob("*/.claude/memory/graph-queue.jsonl"):
        reading = read_all(QUEUE, path.read_bytes())
        for parsed in reading.parsed:
            assert parsed.values is not None
            found = dict(zip(QUEUE.columns, parsed.values, strict=True))
            assert (found["standing"], found["at_state"]) == ("waiting", "ok"), path
            assert found["would_write"], path
            if found["operation"] == "create_entities":
                assert found["decision_id"], path


def test_an_alternative_that_was_only_named_is_a_dangling_end(shared: Path) -> None:
    """The writer makes CHOSE_OVER relations from the decision's text, and no entity of that name."""
    lines = (shared / "samples/orchestkit/shop-api/.claude/memory/graph-queue.jsonl").read_bytes().splitlines()
    made = [queue_op(line, number) for number, line in enumerate(lines, 1)]
    created = {name for op in made for name in op.creates}
    expected = {op.line for op in made if any(end not in created for end in op.ends)}
    found = queue_standing(made, set())
    assert {line for line, (standing, _) in found.items() if standing == "dangling end"} == expected != set()
