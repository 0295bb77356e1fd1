"""What a decision's line says, and what only its neighbours show."""

from __future__ import annotations

import base64
import json
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from stores.formats.base import RepairMode, Severity
from stores.formats.lines import split_lines
from stores.formats.orchestkit import injection_silenced
from stores.formats.orchestkit.decisions import LastLine, last_lines
from stores.formats.record_keys import record_key
from stores.formats.search_text import search_text
from tests.formats.reading import DECISIONS, line_of, lines_of, read_all, record

AT = 1_770_719_724_351
"""2026-02-10T10:35:24.351Z."""

WHOLE: dict[str, Any] = {
    "id": "preference-mlggszlr-rkp1k1",
    "type": "preference",
    "content": {
        "what": "Use cursor-pagination",
        "why": "offsets are slow",
        "alternatives": ["keyset"],
        "constraints": ["stateless"],
        "tradeoffs": ["complex client"],
    },
    "entities": ["postgresql", "cursor-pagination"],
    "relations": [],
    "identity": {"user_id": "dana@example.com", "anonymous_id": "0f1e", "machine_id": "mac-mini-2"},
    "metadata": {
        "session_id": "95cc258f",
        "timestamp": "2026-02-10T10:35:24.351Z",
        "confidence": 0.9500000000000001,
        "source": "user_prompt",
        "project": "Academic Helper",
        "category": "database",
        "importance": "high",
        "is_generalizable": True,
        "sharing_scope": "team",
    },
}


def changed(**changes: object) -> dict[str, Any]:
    """Give the whole record with fields set ("metadata.category") or, by None, left out."""
    value = deepcopy(WHOLE)
    for path, new in changes.items():
        *outer, last = path.split("__")
        place = value
        for key in outer:
            place = place[key]
        if new is None:
            del place[last]
        else:
            place[last] = new
    return value


def codes(value: object) -> list[str]:
    return [fault.code for fault in record(DECISIONS, value)[1].faults]


def test_every_column_is_filled_from_its_field() -> None:
    found, parsed = record(DECISIONS, WHOLE)
    digest = sha256(b"use cursor-pagination").digest()
    assert found == {
        "shape": "orchestkit",
        "type": "preference",
        "category": "database",
        "title": "Use cursor-pagination",
        "said_by": "dana@example.com",
        "machine": "mac-mini-2",
        "session": "95cc258f",
        "project": "Academic Helper",
        "source": "user_prompt",
        "scope": "team",
        "importance": "high",
        "confidence": 0.9500000000000001,
        "at_ms": AT,
        "at_state": "ok",
        "what_hash": int.from_bytes(digest[:8], "big", signed=True),
        "entities": 2,
    }
    assert parsed.natural_id == "preference-mlggszlr-rkp1k1"
    assert parsed.faults == ()


def test_the_search_text_holds_content_and_entities() -> None:
    _, parsed = record(DECISIONS, WHOLE)
    assert parsed.search == search_text(
        "Use cursor-pagination", "offsets are slow", "keyset", "stateless", "complex client", "postgresql", "cursor-pagination"
    )


def test_a_record_of_the_first_version_has_no_identity() -> None:
    found, parsed = record(DECISIONS, changed(identity=None, metadata__sharing_scope=None, metadata__importance=None))
    assert (found["said_by"], found["machine"], found["scope"], found["importance"]) == ("", "", "", "")
    assert parsed.faults == ()


@pytest.mark.parametrize(
    "given",
    [
        {"identity": 5, "metadata": "x"},
        {"identity": [], "metadata": []},
        {"type": {"a": 1}},
        {"metadata": {"confidence": "very", "timestamp": ["2026"]}},
    ],
)
def test_odd_types_give_empty_values_and_no_error(given: dict[str, object]) -> None:
    found, _ = record(DECISIONS, {**WHOLE, **given})
    assert found["shape"] == "orchestkit"
    assert found["title"] == "Use cursor-pagination"


def test_what_is_no_text_comes_as_json_in_a_name() -> None:
    found, _ = record(DECISIONS, changed(type=["a"], metadata__category=5, metadata__project="p" * 500))
    assert (found["type"], found["category"]) == ('["a"]', "5")
    assert len(str(found["project"])) == 209


def test_real_line_breaks_in_a_text_leave_a_title_on_one_line() -> None:
    found, _ = record(DECISIONS, changed(content__what="never use\n❌  30+ agents"))
    assert found["title"] == "never use ❌ 30+ agents"


@pytest.mark.parametrize("what", ["use  CURSOR-pagination ", "Use\ncursor-pagination", "\uff35\uff53\uff45 cursor-pagination"])
def test_texts_that_differ_only_in_case_spaces_and_forms_have_one_hash(what: str) -> None:
    assert record(DECISIONS, changed(content__what=what))[0]["what_hash"] == record(DECISIONS, WHOLE)[0]["what_hash"]


def test_no_text_has_hash_zero_and_another_text_another_hash() -> None:
    assert record(DECISIONS, changed(content__what=" \n"))[0]["what_hash"] == 0
    assert record(DECISIONS, changed(content__what="other"))[0]["what_hash"] not in (0, record(DECISIONS, WHOLE)[0]["what_hash"])


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("decision-mlggszlr-rkp1k1", None),
        ("problem-solution-mlggszlr-0", None),
        ("decision-m1abc-x7y2z3", "odd_id"),
        ("dec_abc123", "odd_id"),
        ("decision-mlggszlr-rkp1k1x", "odd_id"),
        ("decision-mlggszlr-rkp1k1\n", "bad_id"),
        ("", "bad_id"),
        ("a\0b", "bad_id"),
        (7, "bad_id"),
        (["x"], "bad_id"),
        (None, "bad_id"),
    ],
)
def test_an_id_that_the_writer_would_not_make_is_told(given: object, code: str | None) -> None:
    value = changed(id=given)
    assert [found for found in codes(value) if found not in ("nul",)] == ([code] if code else [])


def test_an_id_that_is_no_text_identifies_nothing() -> None:
    assert record(DECISIONS, changed(id=7))[1].natural_id == ""


@pytest.mark.parametrize(("entities", "number"), [([], 0), (["a"], 1), ([{"name": "a"}], 1), ("abc", 0), (5, 0)])
def test_entities_are_counted(entities: object, number: int) -> None:
    found, parsed = record(DECISIONS, {**WHOLE, "entities": entities})
    assert found["entities"] == number
    assert parsed.faults == ()


@pytest.mark.parametrize("value", [changed(entities=None), {**WHOLE, "entities": None}])
def test_a_record_without_entities_silences_the_injection(value: dict[str, object]) -> None:
    found, parsed = record(DECISIONS, value)
    (fault,) = parsed.faults
    assert found["entities"] == -1
    assert (fault.code, fault.severity, fault.repair_mode, fault.repair_action) == (
        "missing_entities",
        Severity.ERROR,
        RepairMode.REVIEW,
        "repair_lines",
    )


def test_without_a_text_the_loader_does_not_look_at_the_entities() -> None:
    assert codes({**changed(entities=None), "content": {"what": ""}}) == []


def test_entity_objects_are_searched_by_name() -> None:
    assert "redis" in record(DECISIONS, {**WHOLE, "entities": [{"name": "redis", "entityType": "Technology"}]})[1].search.split()


@pytest.mark.parametrize(
    ("value", "shape", "title"),
    [
        ({"ts": 1, "pid": 2, "total_tools": 3, "cwd": "/x", "auto_captured": True, "summary": "did it"}, "memory-capture", "did it"),
        ({"when": "2026-02-06", "trajectory": "t", "action": "refactor", "commit": "c", "mode": "m"}, "trajectory", "refactor"),
        ({"id": "u", "timestamp": "t", "content": "a note", "tags": [], "hash": "h"}, "tagged-note", "a note"),
        ({"timestamp": "t", "decision": "use x", "value": "1", "rationale": "r", "approved_by": "dana"}, "approved-value", "use x"),
        ({"timestamp": "t", "issue_number": 5, "area": "api", "type": "t", "decision": "use y", "files": []}, "issue-log", "use y"),
        ({"id": "a", "date": "2026-01-01", "summary": "s", "status": "implemented"}, "knowledge-base", "s"),
        ({"summary": "s", "timestamp": "t"}, "decision-log", "s"),
        ({"anything": 1}, "unknown", ""),
        ({"content": {"what": 5}, "entities": []}, "unknown", '{"what":5}'),
        ({}, "unknown", ""),
    ],
)
def test_records_of_other_tools_are_recognised_and_shown(value: dict[str, object], shape: str, title: str) -> None:
    found, parsed = record(DECISIONS, value)
    assert (found["shape"], found["title"]) == (f"foreign:{shape}", title)
    assert [(fault.code, fault.severity) for fault in parsed.faults] == [("foreign_shape", Severity.INFO)]


def test_a_foreign_record_is_searched_in_all_its_texts() -> None:
    _, parsed = record(DECISIONS, {"decision": "use y", "rationale": "because Z", "files": ["src/appMain.py"]})
    assert parsed.search == "use y because z src app main py appmain"


@pytest.mark.parametrize("value", [None, 42, "text", [1], True])
def test_a_line_that_is_no_object_is_a_record_of_its_own_shape(value: object) -> None:
    found, parsed = record(DECISIONS, value)
    assert (found["shape"], found["entities"]) == ("not_object", -1)
    assert [(fault.code, fault.severity) for fault in parsed.faults] == [("not_object", Severity.WARNING)]


def twins(gap_ms: int, between: int = 0, other_id: str = "preference-mlggszlr-bbbbbb") -> list[str]:
    later = changed(id=other_id, content__what="USE  cursor-pagination")
    later["metadata"]["timestamp"] = f"2026-02-10T10:35:24.{351 + gap_ms}Z"
    others = [changed(id=f"decision-mlggszlr-{place:06d}", content__what=f"text {place}") for place in range(between)]
    return [fault.code for fault in read_all(DECISIONS, lines_of([WHOLE, *others, later])).parsed[-1].faults]


def test_a_hook_that_ran_twice_is_found_by_text_time_and_id() -> None:
    assert twins(99) == ["double_hook"]
    assert twins(-99) == ["double_hook"]
    assert twins(100) == []
    assert twins(20, other_id=WHOLE["id"]) == []
    assert twins(20, between=31) == ["double_hook"]
    assert twins(20, between=32) == []


def test_the_fault_of_a_double_names_the_other() -> None:
    second = changed(id="preference-mlggszlr-bbbbbb")
    fault = read_all(DECISIONS, lines_of([WHOLE, second])).parsed[1].faults[0]
    assert fault.subject_id == "preference-mlggszlr-bbbbbb"
    assert dict(fault.details) == {"other": WHOLE["id"], "other_line": 1}


def test_records_without_a_time_are_never_doubles() -> None:
    first, second = changed(metadata__timestamp=None), changed(id="decision-mlggszlr-bbbbbb", metadata__timestamp=None)
    assert read_all(DECISIONS, lines_of([first, second])).codes() == []


def silenced(data: bytes) -> tuple[int, ...]:
    return injection_silenced(read_all(DECISIONS, data).state)


def filler(number: int) -> bytes:
    return b"".join(line_of(changed(content__what=f"text {place}")) for place in range(number))


SILENT = line_of(changed(entities=None))


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", ()),
        (filler(3), ()),
        (SILENT, (1,)),
        (SILENT[:-1], (1,)),
        (SILENT + filler(9), (1,)),
        (SILENT + filler(10), ()),
        (SILENT + b"\n" * 20 + filler(9), (1,)),
        (SILENT + b" \n" + filler(8), (1,)),
        (SILENT + b" \n" + filler(9), ()),
        (SILENT + b"\r\n" + filler(9), ()),
        (SILENT + filler(9) + b" \n \n\t\n", (1,)),
        (b" \n" * 12 + SILENT, (13,)),
        (SILENT + b"not json\n" * 9, (1,)),
        (SILENT + b"not json\n" * 10, ()),
        (SILENT + b"null\n" * 9 + b"[1", ()),
        (SILENT * 2 + filler(3) + SILENT, (1, 2, 6)),
        (filler(1) + SILENT[:-1] + "\u00a0".encode(), (2,)),
        (b'{"content":{"what":5}}\n', (1,)),
        (b'{"content":{"what":0}}\n{"content":{"what":null}}\n{"content":"text"}\n{"what":"x"}\n', ()),
        (b'{"content":{"what":{}}}\n', (1,)),
    ],
    ids=lambda case: repr(case[-20:]) if isinstance(case, bytes) else None,
)
def test_lines_that_would_stop_the_loader_are_those_among_its_last_ten(data: bytes, lines: tuple[int, ...]) -> None:
    assert silenced(data) == lines


def test_the_shared_injections_are_not_silenced(shared: Path) -> None:
    """The classic loader printed something for each of them, so nothing stopped it."""
    for case in json.loads((shared / "samples/golden/injection.json").read_bytes()):
        assert silenced(base64.b64decode(case["input_b64"])) == (), case["name"]


def test_reading_from_a_state_keeps_the_slots_and_the_neighbours() -> None:
    first, second = split_lines([lines_of([changed(entities=None), changed(id="preference-mlggszlr-bbbbbb")])])
    reader = DECISIONS.reader("")
    reader.read(first)
    later = DECISIONS.reader(reader.state())
    assert [fault.code for fault in later.read(second).faults] == ["double_hook"]
    assert injection_silenced(later.state()) == (1,)


def test_the_state_names_the_last_lines_that_the_loader_sees() -> None:
    foreign = line_of({"decision": "by hand"})
    data = filler(1) + b"\n \n" + b"not json\n" + SILENT + foreign + b"{}"
    lines = data.split(b"\n")
    assert last_lines(read_all(DECISIONS, data).state) == (
        LastLine(1, "record", record_key(WHOLE["id"], b"")),
        LastLine(3, "blank", 0),
        LastLine(4, "refused", 0),
        LastLine(5, "silencing", record_key(WHOLE["id"], b"")),
        LastLine(6, "record", record_key("", sha256(lines[5]).digest())),
        LastLine(7, "record", record_key("", sha256(b"{}").digest())),
    )


def test_the_state_names_forty_lines_and_stays_small_with_long_ids() -> None:
    data = lines_of(changed(id="\u00fc" * 5000 + str(number)) for number in range(100))
    state = read_all(DECISIONS, data).state
    assert [line.line for line in last_lines(state)] == list(range(61, 101))
    assert len(state.encode()) < 16 * 1024


def test_lines_read_from_a_state_on_follow_those_of_the_state() -> None:
    data = filler(50) + b" \n"
    *before, gap, last = split_lines([data + SILENT])
    reader = DECISIONS.reader("")
    for line in [*before, gap]:
        reader.read(line)
    later = DECISIONS.reader(reader.state())
    later.read(last)
    assert later.state() == read_all(DECISIONS, data + SILENT).state


def test_a_state_of_an_earlier_version_is_taken_up() -> None:
    """It told only of lines that stop the loader."""
    kept = json.loads(read_all(DECISIONS, filler(1)).state)
    del kept["tail"]
    early = json.dumps({**kept, "slots": [0, 2, 0], "gap": 1})
    assert injection_silenced(early) == (2,)
    reader = DECISIONS.reader(early)
    reader.read(next(iter(split_lines([SILENT]))))
    assert injection_silenced(reader.state()) == (2, 1)
    assert [line.standing for line in last_lines(reader.state())] == ["record", "silencing", "record", "blank", "silencing"]


def test_no_state_silences_nothing() -> None:
    assert injection_silenced("") == ()


def test_the_shared_stores_are_read_in_orchestkits_shape(shared: Path) -> None:
    for path in (shared / "samples/orchestkit").glob("*/.claude/memory/decisions.jsonl"):
        for parsed, line in zip(read_all(DECISIONS, path.read_bytes()).parsed, path.read_bytes().splitlines(), strict=True):
            raw = json.loads(line)
            assert parsed.values is not None
            assert parsed.values[0] == "orchestkit"
            assert parsed.natural_id == raw["id"]
            assert parsed.values[4] == raw["identity"]["user_id"]
            assert not {fault.code for fault in parsed.faults} & {"missing_entities", "bad_id", "odd_id"}
