"""A record's own page shows every field of its raw line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.orchestkit import decision_detail, problem_detail, queue_detail
from stores.formats.orchestkit.details import Entity, Observations, Relation


def raw(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def test_a_decision_is_taken_apart_field_by_field() -> None:
    detail = decision_detail(
        raw(
            {
                "id": "decision-mlggszlr-rkp1k1",
                "type": "decision",
                "content": {
                    "what": "Use\nredis",
                    "why": "fast",
                    "resolution": "done",
                    "alternatives": ["memcached"],
                    "constraints": ["c"],
                    "tradeoffs": ["t"],
                    "mood": "good",
                },
                "entities": ["redis", {"name": "go", "entityType": "Technology", "observations": ["seen"]}],
                "relations": [{"from": "redis", "to": "go", "type": "USES"}, {"from": "a", "to": "b", "relationType": "X"}],
                "identity": {"user_id": "dana", "team_id": 5},
                "metadata": {"session_id": "s", "is_generalizable": False},
                "extra": {"deep": [1]},
            }
        )
    )
    assert (detail.shape, detail.id, detail.type) == ("orchestkit", "decision-mlggszlr-rkp1k1", "decision")
    assert (detail.what, detail.why, detail.resolution) == ("Use\nredis", "fast", "done")
    assert (detail.alternatives, detail.constraints, detail.tradeoffs) == (("memcached",), ("c",), ("t",))
    assert detail.entities == (Entity("redis"), Entity("go", "Technology", ("seen",)))
    assert detail.has_entities
    assert detail.relations == (Relation("redis", "USES", "go"), Relation("a", "X", "b"))
    assert detail.identity == (("user_id", "dana"), ("team_id", "5"))
    assert detail.metadata == (("session_id", "s"), ("is_generalizable", "false"))
    assert detail.other == (("content.mood", "good"), ("extra", '{"deep":[1]}'))


def test_known_fields_of_a_wrong_type_are_shown_as_they_are() -> None:
    detail = decision_detail(raw({"content": {"what": "x"}, "entities": "abc", "identity": 5, "metadata": None}))
    assert detail.entities == ()
    assert detail.has_entities
    assert detail.other == (("entities", "abc"), ("identity", "5"))
    assert not decision_detail(raw({"content": {"what": "x"}, "entities": None})).has_entities


def test_a_foreign_record_shows_its_text_and_all_its_fields() -> None:
    detail = decision_detail(raw({"timestamp": "t", "decision": "use x", "rationale": "r", "approved_by": "dana"}))
    assert (detail.shape, detail.what) == ("foreign:approved-value", "use x")
    assert detail.other == (("timestamp", "t"), ("decision", "use x"), ("rationale", "r"), ("approved_by", "dana"))


def test_a_record_with_odd_whitespace_around_it_is_shown_too() -> None:
    text = '\ufeff{"content":{"what":"x"}}\u00a0'
    assert decision_detail(text.encode()).what == "x"


def test_text_that_neither_engine_holds_is_replaced() -> None:
    assert decision_detail(b'{"content":{"what":"a\\u0000\\ud83d"}}').what == "a␀\ufffd"


def test_a_problem_is_taken_apart_field_by_field() -> None:
    detail = problem_detail(
        raw(
            {
                "id": "p",
                "text": "t",
                "status": "solved",
                "project": "x",
                "session_id": "s",
                "timestamp": "2026",
                "confidence": 0.75,
                "entities": ["docker"],
                "solution": {"tool": "Bash", "exit_code": 0},
                "more": 1,
            }
        )
    )
    assert (detail.id, detail.text, detail.status, detail.project, detail.session) == ("p", "t", "solved", "x", "s")
    assert (detail.timestamp, detail.confidence, detail.entities) == ("2026", "0.75", (Entity("docker"),))
    assert detail.solution == (("tool", "Bash"), ("exit_code", "0"))
    assert detail.other == (("more", "1"),)
    assert problem_detail(raw({"solution": "odd"})).solution == (("solution", "odd"),)


def test_a_queue_operation_is_taken_apart_field_by_field() -> None:
    detail = queue_detail(
        raw(
            {
                "type": "add_observations",
                "payload": {
                    "entities": [{"name": "a", "entityType": "Tool", "observations": ["o"]}],
                    "relations": [{"from": "a", "to": "b", "relationType": "X"}],
                    "observations": [{"entityName": "a", "contents": ["c", 5]}],
                    "more": True,
                },
                "timestamp": "2026",
                "extra": None,
            }
        )
    )
    assert (detail.operation, detail.standing, detail.would_write) == ("add_observations", "waiting", "2 observations on 1 entity")
    assert detail.entities == (Entity("a", "Tool", ("o",)),)
    assert detail.relations == (Relation("a", "X", "b"),)
    assert detail.observations == (Observations("a", ("c", "5")),)
    assert detail.other == (("payload.more", "true"), ("extra", ""))
    assert queue_detail(raw({"type": "create_entities", "payload": "odd"})).other == (("payload", "odd"),)


@pytest.mark.parametrize(
    "line", [b"", b"null", b"42", b"[]", b"not json", b"\xff\xfe", b"[" * 500 + b"]" * 500, b'{"a":' * 20000 + b"1" + b"}" * 20000]
)
def test_what_is_no_record_is_shown_as_far_as_it_goes(line: bytes) -> None:
    assert decision_detail(line).shape in ("not_object", "foreign:unknown")
    assert problem_detail(line).id == ""
    assert queue_detail(line).standing in ("poison", "ignored")


KEYS = "id type content what why alternatives entities relations identity metadata payload observations contents entityName solution text from to name".split()  # noqa: SIM905
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec=None), max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=12,
)


@given(st.one_of(JSON.map(lambda value: json.dumps(value).encode()), st.binary(max_size=60)))
def test_any_line_is_taken_apart_without_an_error(line: bytes) -> None:
    for detail in (decision_detail(line), problem_detail(line), queue_detail(line)):
        for field in detail.__slots__:
            value = getattr(detail, field)
            if isinstance(value, str):
                assert "\0" not in value
                value.encode("utf-8")
