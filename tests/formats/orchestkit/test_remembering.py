"""A remembered decision is written as OrchestKit's writer would have written it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stores.formats import storable
from stores.formats.orchestkit import Identity, Said, build_operations, remember, remembered
from stores.formats.orchestkit.reading import DECISION_ID
from stores.formats.orchestkit.remembering import base36, classic_confidence, infer_category, iso_time

NOW = 1764507730871
WHO = Identity("dana@example.com", "build-vm")


def record(said: Said, who: Identity = WHO, **changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"project": "shop", "session": "s-1", "now_ms": NOW, "chance": "7r3d13"} | changes
    return remember(said, who, **given).record


@pytest.mark.parametrize("store", ["academic-helper", "shop-api"])
def test_real_lines_are_written_again_to_the_byte(shared: Path, store: str) -> None:
    log = shared / "samples" / "orchestkit" / store / ".claude" / "memory" / "decisions.jsonl"
    for line in log.read_bytes().splitlines(keepends=True):
        real = json.loads(line)
        content, identity, metadata = real["content"], real["identity"], real["metadata"]
        lists: dict[str, Any] = {key: tuple(content.get(key, ())) for key in ("alternatives", "constraints", "tradeoffs")}
        said = Said(content["what"], content.get("why", ""), real["type"], tuple(real["entities"]), **lists)
        who = Identity(identity["user_id"], identity["machine_id"], identity.get("team_id", ""))
        made = remember(
            said,
            who,
            project=metadata["project"],
            session=metadata["session_id"],
            now_ms=storable.moment(metadata["timestamp"])[0],
            chance=real["id"].rpartition("-")[2],
        )
        # Names were replaced in the samples, in one store without their hashes; ids are made up to a few ms from the time.
        expected = line.replace(identity["anonymous_id"].encode(), who.anonymous_id.encode()) if store == "academic-helper" else line
        assert made.decision_line == expected.replace(real["id"].encode(), made.record["id"].encode())


def test_keys_come_in_order_and_what_is_not_said_is_left_out() -> None:
    made = remember(Said("use redis", entities=("redis",), confidence=0.7), WHO, project="", session="s", now_ms=NOW, chance="0")
    assert made.decision_line.decode() == (
        f'{{"id":"decision-{base36(NOW)}-0","type":"decision","content":{{"what":"use redis"}},"entities":["redis"],"relations":[],'
        f'"identity":{{"user_id":"dana@example.com","anonymous_id":"{WHO.anonymous_id}","machine_id":"build-vm"}},'
        f'"metadata":{{"session_id":"s","timestamp":"{iso_time(NOW)}","confidence":0.7,"source":"user_prompt","project":"unknown",'
        '"category":"database","is_generalizable":false,"sharing_scope":"team"}}\n'
    )
    assert [json.loads(line) for line in made.queue_lines] == build_operations(made.record, iso_time(NOW))
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in made.queue_lines)


def test_ids_say_the_time() -> None:
    made = record(Said("use redis"))
    assert DECISION_ID.match(made["id"])
    assert int(made["id"].split("-")[1], 36) == NOW
    assert iso_time(NOW) == "2025-11-30T13:02:10.871Z"
    assert iso_time(0) == "1970-01-01T00:00:00.000Z"


def test_the_person_s_hash_is_that_of_real_records() -> None:
    assert WHO.anonymous_id == "77a47618cf03c53b6a3d414e889dee0f"


@pytest.mark.parametrize(
    ("said", "confidence"),
    [
        (Said("we decided to use it all", "w", entities=("a", "b", "c")), 0.9500000000000001),
        (Said("we will go with redis", "w", entities=("a", "b")), 0.7500000000000001),
        (Said("we chose this over that", "w", entities=("a", "b"), alternatives=("x",)), 0.99),
        (Said("undecided"), 0.4),
        (Said("nineteen characters"), 0.4),
        (Said("exactly twenty chars"), 0.5),
        (Said("always pytest", type="preference", entities=("pytest",)), 0.8),
        (Said("never use any", type="preference"), 0.6),
    ],
)
def test_confidence_is_weighed_by_the_classic_formula(said: Said, confidence: float) -> None:
    assert classic_confidence(said) == confidence


@pytest.mark.parametrize(
    ("entities", "category"),
    [
        (("postgresql", "react"), "database"),
        (("circuit-breaker",), "frontend"),
        (("fastapi",), "backend"),
        (("docker",), "infrastructure"),
        (("pytest",), "testing"),
        (("typescript",), "language"),
        (("jwt", "microservices"), "security"),
        (("cache-aside",), "performance"),
        (("saga-pattern",), "architecture"),
        (("claude",), "general"),
        ((), "general"),
    ],
)
def test_the_area_is_the_first_that_a_part_of_a_name_fits(entities: tuple[str, ...], category: str) -> None:
    assert infer_category(entities) == category


def test_only_a_sure_reasoned_decision_of_a_general_kind_is_shared_with_all() -> None:
    sure = Said("we decided to use keys", "they are fast", entities=("cursor-pagination",))
    assert (record(sure)["metadata"]["is_generalizable"], record(sure)["metadata"]["sharing_scope"]) == (True, "global")
    for less in (Said(sure.what, entities=sure.entities, confidence=0.9), Said(sure.what, "why", entities=("redis",), confidence=0.9)):
        assert record(less)["metadata"]["sharing_scope"] == "team"


def test_long_texts_are_cut_in_utf16_units_and_half_an_emoji_is_escaped() -> None:
    said = Said("x" * 299 + "😀", "y" * 300, constraints=tuple("c" * 300 for _ in range(7)), tradeoffs=("t" * 200,))
    made = remember(said, WHO, project="p", session="s", now_ms=NOW, chance="a")
    content = made.record["content"]
    assert content["what"] == "x" * 299 + "\ud83d"
    assert (len(content["why"]), len(content["constraints"]), {len(text) for text in content["constraints"]}) == (200, 5, {200})
    assert b"x\\ud83d" in made.decision_line
    assert json.loads(made.decision_line) == made.record


@pytest.mark.parametrize(
    ("said", "chance"),
    [
        (Said(" "), "a"),
        (Said("x", type="note"), "a"),
        (Said("x", source="elsewhere"), "a"),
        (Said("x", confidence=1.5), "a"),
        (Said("x"), ""),
        (Said("x"), "ABC"),
        (Said("x"), "1234567"),
    ],
)
def test_what_the_writer_would_not_make_is_refused(said: Said, chance: str) -> None:
    with pytest.raises(ValueError):
        record(said, chance=chance)


SAID = Said(
    "We decided to page by cursor", "Offsets skip rows", "problem-solution", ("redis", "api"), ("offsets",), ("stable",), ("slower",)
)


@pytest.mark.parametrize(
    "said", [SAID, Said("x"), Said("y" * 400 + " decided", "z" * 300), Said("Small", type="preference", entities=("ui",))]
)
@pytest.mark.parametrize("who", [WHO, Identity("dana", "vm", "team-a")])
def test_a_record_that_was_made_here_is_known_again_to_the_byte(said: Said, who: Identity) -> None:
    made = remember(said, who, project="shop", session="memoryui-1", now_ms=NOW, chance="0a1b2c")
    told = json.loads(json.dumps(made.record, sort_keys=True))
    assert remembered(told) == made


def changed(**more: object) -> dict[str, Any]:
    made = remember(SAID, WHO, project="shop", session="memoryui-1", now_ms=NOW, chance="0a1b2c").record
    return {**made, **more}


@pytest.mark.parametrize(
    "given",
    [
        None,
        [],
        {},
        changed(id="decision-1"),
        changed(id="decision-mx3a2c3b-toolong"),
        changed(id="../../x-mx3a2c3b-0a1b2c"),
        changed(id=7),
        changed(type="decision"),
        changed(content={"what": " "}),
        changed(content={"what": 7}),
        changed(content={**changed()["content"], "what": "x" * 301}),
        changed(content={**changed()["content"], "alternatives": "x"}),
        changed(content={**changed()["content"], "more": "x"}),
        changed(entities="redis"),
        changed(entities=[7]),
        changed(relations=["x"]),
        changed(extra=1),
        changed(identity={**changed()["identity"], "anonymous_id": "0" * 32}),
        changed(metadata={**changed()["metadata"], "confidence": 2}),
        changed(metadata={**changed()["metadata"], "confidence": True}),
        changed(metadata={**changed()["metadata"], "confidence": "0.9"}),
        changed(metadata={**changed()["metadata"], "timestamp": "2020-01-01T00:00:00.000Z"}),
        changed(metadata={**changed()["metadata"], "source": "agent"}),
        changed(metadata={**changed()["metadata"], "sharing_scope": "team"}),
        {name: value for name, value in changed().items() if name != "identity"},
    ],
)
def test_a_record_that_the_writer_would_not_make_so_is_refused(given: object) -> None:
    with pytest.raises(ValueError):
        remembered(given)
