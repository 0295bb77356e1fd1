"""Each line of an OrchestKit file has the class that JavaScript gives it, however the file is read."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats import KINDS, recognise
from stores.formats.base import FileSpec, LineClass, RepairMode, Severity
from stores.formats.javascript import trim
from stores.formats.lines import split_lines
from stores.formats.orchestkit import session_events
from tests.formats.reading import DECISIONS, PROBLEMS, QUEUE, line_of, read_all

SPECS = pytest.mark.parametrize("spec", [DECISIONS, QUEUE, PROBLEMS, session_events.SPEC], ids=lambda spec: spec.path)
OBJECT = b'{"id":"decision-mlggszlr-rkp1k1","content":{"what":"Use redis"},"entities":[]}'
COUNTED = (LineClass.RECORD, LineClass.REFUSED, LineClass.PENDING)


def js_line_count(data: bytes) -> int:
    """Count as `analyzeJsonlFile` does: `text.trim().split("\\n")` without lines that are blank."""
    return sum(trim(line) != "" for line in trim(data.decode("utf-8", "replace")).split("\n"))


@SPECS
@pytest.mark.parametrize(
    ("data", "classes"),
    [
        (b"", []),
        (OBJECT + b"\n", ["record"]),
        (OBJECT, ["record"]),
        (OBJECT + b"\n" + OBJECT[:30], ["record", "pending"]),
        (OBJECT + b"\n" + OBJECT[:30] + b"\n", ["record", "refused"]),
        (OBJECT + b"\r\n" + OBJECT + b"\r\n", ["record", "record"]),
        (OBJECT + b"\r" + OBJECT + b"\r", ["pending"]),
        (b"\n  \n\t\n\v\f\n", ["blank"] * 4),
        ("\u00a0\n\u2028\n\ufeff\n".encode(), ["blank"] * 3),
        ("\u0085\n\x1c\n".encode(), ["refused"] * 2),
        ("\ufeff".encode() + OBJECT + b"\n", ["record"]),
        (b"\n" + "\ufeff\v".encode() + OBJECT + b"\n", ["blank", "record"]),
        (OBJECT + b"\n" + "\ufeff".encode() + OBJECT + b"\n", ["record", "refused"]),
        (OBJECT + "\u00a0\n".encode(), ["record"]),
        (OBJECT + "\u00a0\n \n\n".encode(), ["record", "blank", "blank"]),
        (OBJECT + "\u00a0\n \n".encode() + OBJECT, ["refused", "blank", "record"]),
        (OBJECT + "\u00a0\r\n".encode() + OBJECT + b"\v", ["refused", "record"]),
        (b"   ", ["blank"]),
        (b"42\nnull\n[]\n", ["record"] * 3),
        (OBJECT + OBJECT + b"\n", ["refused"]),
        (b"\0" * 40, ["pending"]),
        (b"[" * 20000 + b"]" * 20000 + b"\n", ["record"]),
        (b'"' + b"A" * (1 << 20) + b'"\n' + OBJECT + b"\n", ["refused", "record"]),
    ],
    ids=lambda case: repr(case[:24]) if isinstance(case, bytes) else None,
)
def test_a_line_has_the_class_that_javascript_gives_it(spec: FileSpec, data: bytes, classes: list[str]) -> None:
    assert read_all(spec, data).classes() == classes


def test_the_classic_analyser_counts_the_same(shared: Path) -> None:
    for case in json.loads((shared / "samples/golden/analyzer_edge.json").read_bytes()):
        data = base64.b64decode(case["input_b64"]) if case["input_b64"] else b"[" * 20000 + b"]" * 20000 + b"\n"
        assert len(data) == case["sizeBytes"], case["name"]
        reading = read_all(DECISIONS, data)
        assert reading.count(*COUNTED) == case["lineCount"], case["name"]
        assert reading.count(LineClass.REFUSED, LineClass.PENDING) == case["corruptLines"], case["name"]


def test_the_classic_analyser_counts_the_injection_samples_the_same(shared: Path) -> None:
    for case in json.loads((shared / "samples/golden/injection.json").read_bytes()):
        reading = read_all(DECISIONS, base64.b64decode(case["input_b64"]))
        assert reading.count(*COUNTED) == case["health"]["lineCount"], case["name"]
        assert reading.count(LineClass.REFUSED, LineClass.PENDING) == case["health"]["corruptLines"], case["name"]


def test_every_line_of_the_shared_stores_is_a_record(shared: Path) -> None:
    seen = 0
    for spec in KINDS["orchestkit"].files:
        if spec.whole:
            continue
        for path in sorted((shared / "samples/orchestkit").glob(f"*/.claude/memory/{spec.path}")):
            reading = read_all(spec, path.read_bytes())
            assert set(reading.classes()) == {"record"}, path
            assert len(reading.parsed) == path.read_bytes().count(b"\n"), path
            seen += 1
    assert seen >= 8


def test_the_shared_hostile_logs_read_as_decisions_add_up(shared: Path) -> None:
    for path in sorted((shared / "samples/hostile").glob("json*/*")):
        for spec in (DECISIONS, QUEUE, PROBLEMS):
            data = path.read_bytes()
            assert read_all(spec, data).count(*COUNTED) == (js_line_count(data) if data else 0), path


RAGGED = st.lists(
    st.sampled_from(
        [
            OBJECT,
            OBJECT[:30],
            b"\n",
            b"\n",
            b"\n",
            b"\r",
            b" ",
            b"\v",
            "\u00a0".encode(),
            "\ufeff".encode(),
            b"null",
            b"[]",
            b"\xff",
            b"\0",
            b"42",
            b'{"type":"create_entities"}',
        ]
    ),
    max_size=16,
).map(b"".join)


@SPECS
@given(data=st.one_of(st.binary(max_size=80), RAGGED))
def test_any_bytes_are_read_without_an_error_and_counted_as_javascript_counts(spec: FileSpec, data: bytes) -> None:
    reading = read_all(spec, data)
    physical = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    assert len(reading.parsed) == physical
    assert reading.count(*COUNTED) == js_line_count(data)
    assert reading.count(LineClass.PENDING) <= 1
    for one in reading.parsed:
        assert (one.values is not None) == (one.line_class is LineClass.RECORD)
        if one.values is not None:
            assert len(one.values) == len(spec.columns)
            json.dumps(one.values, allow_nan=False).encode()
            assert not any(isinstance(value, str) and "\0" in value for value in one.values)
        if one.line_class in (LineClass.REFUSED, LineClass.PENDING):
            (fault,) = one.faults
            assert fault.severity is Severity.ERROR
            assert fault.pending == (one.line_class is LineClass.PENDING)
            assert fault.repair_mode is RepairMode.REVIEW
            assert fault.byte is not None and 0 <= fault.byte <= len(data)
        for fault in one.faults:
            json.dumps(dict(fault.details))


@SPECS
@given(data=RAGGED, cut=st.integers(0, 20))
def test_reading_on_from_a_state_gives_what_reading_in_one_go_gives(spec: FileSpec, data: bytes, cut: int) -> None:
    lines = [line for line in split_lines([data]) if line.terminated]
    cut = min(cut, len(lines))
    whole, first = spec.reader(""), spec.reader("")
    expected = [whole.read(line, last=False) for line in lines]
    taken = [first.read(line, last=False) for line in lines[:cut]]
    second = spec.reader(first.state())
    taken += [second.read(line, last=False) for line in lines[cut:]]
    assert taken == expected
    assert second.state() == whole.state()
    assert len(second.state().encode()) < 16 * 1024


@SPECS
@given(data=RAGGED)
def test_only_a_line_whose_verdict_hangs_on_being_the_last_is_held(spec: FileSpec, data: bytes) -> None:
    reader = spec.reader("")
    for line in split_lines([data]):
        before = reader.state()
        as_last = reader.read(line)
        not_last = spec.reader(before).read(line, last=False)
        assert not not_last.hold
        assert as_last.hold == (as_last.line_class is not not_last.line_class)


def test_the_state_stays_small_with_the_longest_ids() -> None:
    reader = DECISIONS.reader("")
    record = {"id": "\U0001f600\x01" * 300, "content": {"what": "w"}, "metadata": {"timestamp": "2026-02-10T10:35:24.351Z"}}
    for line in split_lines([line_of(record) * 64]):
        reader.read(line)
    assert len(reader.state().encode()) < 16 * 1024


def test_lines_of_a_utf16_file_are_named_also_when_reading_goes_on_later() -> None:
    data = "one\ntwo\nthree\n".encode("utf-16")
    first, *others = split_lines([data])
    reader = DECISIONS.reader("")
    assert reader.read(first).faults[0].code == "utf16"
    later = DECISIONS.reader(reader.state())
    assert [later.read(line).faults[0].code for line in others] == ["utf16"] * len(others)


def test_a_whole_last_line_without_a_line_break_can_be_mended_safely() -> None:
    fault = read_all(DECISIONS, OBJECT).faults()[-1]
    assert (fault.code, fault.severity, fault.repair_mode, fault.repair_action) == (
        "tail_unterminated",
        Severity.WARNING,
        RepairMode.SAFE,
        "append_newline",
    )
    assert fault.byte == len(OBJECT)
    assert not fault.pending


def test_a_torn_last_line_is_pending_and_points_at_its_end() -> None:
    (fault,) = read_all(DECISIONS, OBJECT + b"\n" + OBJECT[:30]).faults()
    assert (fault.code, fault.pending, fault.line, fault.byte) == ("tail_torn", True, 2, len(OBJECT) + 1 + 30)
    assert fault.details["cause"] == "bad_json"


def test_a_fault_points_at_the_byte_of_the_file_where_the_second_record_begins() -> None:
    (fault,) = read_all(DECISIONS, OBJECT + b"\n" + OBJECT + OBJECT + b"\n").faults()
    assert (fault.code, fault.line, fault.byte) == ("glued", 2, 2 * len(OBJECT) + 1)
    assert dict(fault.details) == {"cause": "glued", "column": len(OBJECT) + 1, "salvageable": 2}
    assert fault.repair_action == "repair_lines"


def test_the_key_of_a_fault_stays_when_its_line_moves() -> None:
    bad = b"not json\n"
    keys = {read_all(DECISIONS, OBJECT + b"\n" + more + bad).faults()[-1].key for more in (b"", OBJECT + b"\n")}
    assert len(keys) == 1
    assert all(len(key) == 16 for key in keys)


@pytest.mark.parametrize(
    ("line", "code", "severity"),
    [
        (b'{"id":"decision-mlggszlr-rkp1k1","content":{"what":"\xff"},"entities":[]}', "bad_utf8", Severity.WARNING),
        (b'{"id":"decision-mlggszlr-rkp1k1","content":{"what":"x","what":"y"},"entities":[]}', "dup_key", Severity.WARNING),
        (b'{"id":"decision-mlggszlr-rkp1k1","content":{"what":"x"},"entities":[],"n":1e999}', "nan", Severity.WARNING),
        (b'{"id":"decision-mlggszlr-rkp1k1","content":{"what":"x"},"entities":[],"n":9223372036854775808}', "int_range", Severity.INFO),
        (b'{"id":"decision-mlggszlr-rkp1k1","content":{"what":"\\ud83d"},"entities":[]}', "lone_surrogate", Severity.INFO),
        (b'{"id":"decision-mlggszlr-rkp1k1","content":{"what":"a\\u0000"},"entities":[]}', "nul", Severity.INFO),
        (b"[" * 201 + b"]" * 201, "too_deep", Severity.WARNING),
    ],
    ids=lambda case: repr(case[-24:]) if isinstance(case, bytes) else None,
)
def test_an_odd_record_carries_a_warning(line: bytes, code: str, severity: Severity) -> None:
    (fault,) = read_all(DECISIONS, line + b"\n").faults()
    assert (fault.code, fault.severity) == (code, severity)
    assert fault.repair_mode is (RepairMode.NONE if severity is Severity.INFO else RepairMode.ACKNOWLEDGE)


def test_no_message_repeats_memory_text() -> None:
    data = b'{"id":"SECRETTEXT","content":{"what":"SECRETTEXT"}}\n{"SECRETTEXT":\nSECRETTEXT\n{"type":"SECRETTEXT"}\n'
    faults = [fault for spec in (DECISIONS, PROBLEMS) for fault in read_all(spec, data).faults()]
    assert faults
    assert not any("SECRETTEXT" in fault.message for fault in faults)


@pytest.mark.parametrize(
    ("folder", "names", "kind"),
    [
        ("/home/x/app/.claude/memory", {"decisions.jsonl"}, "orchestkit"),
        ("/home/x/app/.claude/memory/", {"sessions"}, "orchestkit"),
        ("/home/x/app/.claude/memory", {"notes.md"}, None),
        ("/home/x/app/.claude/memory", set(), None),
        ("/srv/copy", {"graph-queue.jsonl", "x"}, "orchestkit"),
        ("/srv/copy", {"open-problems.jsonl"}, "orchestkit"),
        ("/srv/copy", {"sessions", "memory.json"}, None),
        ("/home/x/my.claude/memory", {"sessions"}, None),
    ],
)
def test_a_store_is_recognised_by_its_folder_and_names(folder: str, names: set[str], kind: str | None) -> None:
    found = recognise(folder, frozenset(names))
    assert (found.name if found else None) == kind


def test_the_registry_names_each_kind_and_its_files_once() -> None:
    for name, kind in KINDS.items():
        assert kind.name == name
        paths = [spec.full_path for spec in kind.files]
        assert len(set(paths)) == len(paths)
    assert [(spec.path, spec.record_type, spec.append_only) for spec in KINDS["orchestkit"].files[:3]] == [
        ("decisions.jsonl", "decision", True),
        ("graph-queue.jsonl", "queue_operation", True),
        ("open-problems.jsonl", "problem", False),
    ]


def test_pairs_of_lines_have_the_same_class_in_any_order() -> None:
    lines = [OBJECT, b"42", b"// x", OBJECT + OBJECT]
    alone = {line: read_all(DECISIONS, line + b"\n").classes() for line in lines}
    for first, second in pairwise([*lines, *reversed(lines)]):
        assert read_all(DECISIONS, first + b"\n" + second + b"\n").classes() == alone[first] + alone[second]
