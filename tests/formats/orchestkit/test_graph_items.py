"""What a line of the knowledge graph says, in every dialect."""

from __future__ import annotations

import pytest

from stores.formats.base import Severity
from stores.formats.orchestkit.graph_items import SPEC, Observation, graph_detail
from tests.formats.reading import line_of, lines_of, read_all, record

ENTITY: dict[str, object] = {"type": "entity", "name": "postgresql", "entityType": "Technology", "observations": ["fast", "old"]}
RELATION: dict[str, object] = {"type": "relation", "from": "postgresql", "to": "pgvector", "relationType": "RELATES_TO"}
DECISION_ID = "decision-mlggszlr-rkp1k1"


def test_an_entity_fills_its_columns() -> None:
    found, parsed = record(SPEC, ENTITY)
    assert found == {
        "what": "entity",
        "item_type": "Technology",
        "title": "postgresql",
        "start": "postgresql",
        "end": "",
        "observations": 2,
        "at_ms": 0,
        "at_state": "missing",
    }
    assert (parsed.natural_id, parsed.faults, parsed.search) == ("postgresql", (), "postgresql technology fast old")


def test_a_relation_fills_its_columns() -> None:
    found, parsed = record(SPEC, RELATION)
    assert (found["what"], found["item_type"], found["title"]) == ("relation", "RELATES_TO", "postgresql RELATES_TO pgvector")
    assert (found["start"], found["end"], found["observations"]) == ("postgresql", "pgvector", 0)
    assert (parsed.natural_id, parsed.faults) == ("postgresql|RELATES_TO|pgvector", ())


def test_an_entity_of_a_decision_is_called_by_what_was_decided() -> None:
    said = ["What: Use Redis", "Timestamp: 2026-02-10T10:35:24.351Z"]
    found, parsed = record(SPEC, {**ENTITY, "name": DECISION_ID, "observations": said})
    assert (found["title"], found["start"], parsed.natural_id) == ("Use Redis", DECISION_ID, DECISION_ID)
    assert (found["at_ms"], found["at_state"]) == (1_770_719_724_351, "ok")


def test_observations_with_a_time_are_read_as_text_and_time() -> None:
    said = [{"text": "fast", "timestamp": "2026-02-10T10:35:24.351Z"}, {"text": "old", "timestamp": "soon"}, 7]
    found, parsed = record(SPEC, {**ENTITY, "observations": said})
    assert (found["observations"], found["at_ms"], parsed.search) == (3, 1_770_719_724_351, "postgresql technology fast old 7")
    detail = graph_detail(line_of({**ENTITY, "observations": said}))
    assert detail.observations == (Observation("fast", "2026-02-10T10:35:24.351Z"), Observation("old", "soon"), Observation("7"))


def test_lines_are_taken_apart() -> None:
    entity = graph_detail(line_of({**ENTITY, "more": True}))
    assert (entity.what, entity.name, entity.type, entity.other) == ("entity", "postgresql", "Technology", (("more", "true"),))
    relation = graph_detail(line_of(RELATION))
    assert (relation.what, relation.start, relation.type, relation.end, relation.other) == (
        "relation",
        "postgresql",
        "RELATES_TO",
        "pgvector",
        (),
    )


@pytest.mark.parametrize(
    ("value", "code", "severity"),
    [
        (None, "not_object", Severity.ERROR),
        (5, "not_object", Severity.WARNING),
        ({"type": "other"}, "foreign_shape", Severity.INFO),
        ({"type": "entity"}, "graph_refused", Severity.ERROR),
        ({"type": "relation", "from": "a"}, "graph_refused", Severity.ERROR),
        ({**RELATION, "relationType": None}, "graph_refused", Severity.ERROR),
        ({"entities": [ENTITY], "relations": [RELATION]}, "graph_refused", Severity.ERROR),
        ({**ENTITY, "observations": None}, "graph_refused", Severity.ERROR),
        ({**ENTITY, "observations": [{"text": "fast", "timestamp": "2026-03-01T10:00:00Z"}]}, "graph_refused", Severity.ERROR),
        ({**ENTITY, "entityType": None}, "graph_refused", Severity.ERROR),
    ],
)
def test_what_the_server_cannot_use_is_told(value: object, code: str, severity: Severity) -> None:
    [fault] = record(SPEC, value)[1].faults
    assert (fault.code, fault.severity) == (code, severity)


def test_a_byte_order_mark_stops_the_server() -> None:
    [fault] = read_all(SPEC, b"\xef\xbb\xbf" + line_of(ENTITY)).faults()
    assert (fault.code, fault.severity) == ("bom", Severity.ERROR)


def test_the_server_leaves_out_the_last_line_break_and_that_is_no_fault() -> None:
    reading = read_all(SPEC, lines_of([ENTITY, RELATION])[:-1])
    assert (reading.classes(), reading.faults()) == (["record", "record"], [])


def test_a_graph_that_is_spread_over_lines_is_named() -> None:
    reading = read_all(SPEC, b'{\n  "entities": [],\n  "relations": []\n}\n')
    assert set(reading.classes()) == {"refused"}
    assert set(reading.codes()) == {"pretty_json"}
    assert {(one.repair_mode, one.repair_action) for one in reading.faults()} == {("manual", "")}
    assert all(
        "no tool at all" in one.message and "a drain or a replay writes the graph as lines" in one.message for one in reading.faults()
    )


def test_names_in_any_script_stay_apart() -> None:
    names = ["数据库", "מסד נתונים", "🐘", "🐘\ufe0f", "é", "e\u0301"]
    reading = read_all(SPEC, lines_of({**ENTITY, "name": name} for name in names))
    assert [one.natural_id for one in reading.parsed] == names
