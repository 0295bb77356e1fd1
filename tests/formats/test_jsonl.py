"""The strict reader of logs gives the verdicts of the hostile samples."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.jsonl import read_strict


def event(number: int, **more: object) -> dict[str, object]:
    return {"event_id": f"ev-{number}", "timestamp": "2026-02-06T10:30:00Z", "text": "good", **more}


def written(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


GOOD = written(event(1))
NEXT = written(event(2))


def codes(data: bytes) -> list[str]:
    return [line.code for line in read_strict(data).refused]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"event_id":"a","t":"\xff"}', "bad_utf8"),
        (b'{"event_id":"a","x":' + b"[" * 65 + b"]" * 65 + b"}", "too_deep"),
        (b"[" * 10_000, "too_deep"),
        (b'{"event_id":"a","x":1,"x":2}', "dup_key"),
        (b'{"event_id":"a","in":{"k":1,"k":2}}', "dup_key"),
        (b'{"event_id":"a","c":NaN}', "nan"),
        (b'{"event_id":"a","c":-1e999}', "nan"),
        (b'{"event_id":"a","n":' + b"9" * 4301 + b"}", "bad_number"),
        (b'{"event_id":"a",}', "bad_json"),
        (b"\x0c", "bad_json"),
        (b"[]", "not_object"),
        (b"null", "not_object"),
        (b'{"x":1}', "bad_id"),
        (b'{"id":7}', "bad_id"),
        (b'{"id":"a\\u0000"}', "bad_id"),
        (b'{"id":"\\ud800"}', "bad_id"),
        (b'{"event_id":"' + b"A" * (1 << 20) + b'"}', "line_too_long"),
    ],
    ids=lambda case: repr(case[:24]),
)
def test_a_bad_line_is_refused_and_its_neighbours_are_kept(line: bytes, code: str) -> None:
    log = read_strict(GOOD + line + b"\n" + NEXT)
    assert [record.id for record in log.records] == ["ev-1", "ev-2"]
    assert [(refused.line, refused.offset, refused.length, refused.code) for refused in log.refused] == [(2, len(GOOD), len(line), code)]


@pytest.mark.parametrize(
    ("line", "flag"),
    [
        (b'\xef\xbb\xbf{"event_id":"a"}', "bom"),
        (b'{"event_id":"a"}\r', "crlf"),
        (b'{"event_id":"a","t":"x\\u0000"}', "nul"),
        (b'{"event_id":"a","t":"\\udc00"}', "lone_surrogate"),
        (b'{"event_id":"a","n":9223372036854775808}', "int_range"),
        (b'{"event_id":"a","schema_version":"phase_memory.event.v99"}', "unknown_schema"),
        (b'{"event_id":"a","timestamp":"yesterday"}', "bad_timestamp"),
        (b'{"event_id":"a","timestamp":["2026"]}', "bad_timestamp"),
        (b'{"event_id":"a","timestamp":"2026-02-06"}', "naive_timestamp"),
        (b'{"event_id":"a","timestamp":"2199-01-01T00:00:00Z"}', "future_timestamp"),
    ],
    ids=lambda case: repr(case[:24]),
)
def test_an_odd_line_is_taken_with_a_flag(line: bytes, flag: str) -> None:
    log = read_strict(line + b"\n")
    assert [record.flags for record in log.records] == [(flag,)]
    assert log.flags == {flag: 1}


@pytest.mark.parametrize(
    ("data", "records", "tail"),
    [
        (b"", 0, ""),
        (b"\n" * 20, 0, ""),
        (GOOD, 1, ""),
        (GOOD + NEXT[:-1], 2, "complete"),
        (GOOD + NEXT[:20], 1, "torn"),
        (GOOD + '{"t":"é'.encode()[:-1], 1, "torn"),
        (GOOD + b"\0" * 512, 1, "nul_run"),
        (GOOD.replace(b"\n", b"\r") * 2, 0, "torn"),
        (b'{"event_id":"' + b"A" * (1 << 21), 0, "torn"),
    ],
)
def test_a_last_piece_without_a_line_break_is_told_by_name(data: bytes, records: int, tail: str) -> None:
    log = read_strict(data)
    assert (len(log.records), log.refused, log.tail) == (records, (), tail)


def test_glued_records_are_refused_and_counted_as_salvageable() -> None:
    glued = GOOD[:-1] + NEXT + GOOD[:25] + NEXT
    assert [(line.code, line.salvageable) for line in read_strict(glued).refused] == [("glued", 2), ("glued", 1)]


def test_doubled_and_confusable_ids_are_both_kept_and_flagged() -> None:
    log = read_strict(written(event(1), event(1, text="other"), event(2, event_id="EV-1"), event(3, event_id="ev-1\u200b")))
    assert [record.flags for record in log.records] == [(), ("dup_id",), ("confusable_id",), ("confusable_id",)]


@given(st.lists(st.one_of(st.binary(max_size=30), st.just(GOOD[:-1]), st.just(NEXT[:30])), max_size=10).map(b"\n".join))
def test_any_bytes_are_read_without_an_error_and_every_line_is_accounted_for(data: bytes) -> None:
    log = read_strict(data)
    pieces = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip(b" \t\r")]
    accounted = len(log.records) + len(log.refused) + (log.tail in ("torn", "nul_run"))
    assert accounted == len(pieces)


def test_the_shared_logs_get_the_expected_verdicts(shared: Path) -> None:
    folder = shared / "samples/hostile"
    expected = {name: case for name, case in json.loads((folder / "EXPECT.json").read_bytes()).items() if case["kind"] == "jsonl"}
    assert expected
    for name, case in expected.items():
        log = read_strict((folder / name).read_bytes())
        bad = Counter(line.code for line in log.refused)
        assert len(log.records) == case["records"], name
        if case["bad"] == "some":
            assert bad or log.tail == "torn", name
        else:
            assert (bad, log.tail) == (case["bad"], case.get("tail", "")), name
        if "salvageable" in case:
            assert sum(line.salvageable for line in log.refused) == case["salvageable"], name
        if "flags" in case:
            assert log.flags == case["flags"], name
