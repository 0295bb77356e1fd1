"""A refused line is told its cause, and what of it can be rescued."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats import causes
from stores.formats.base import RepairMode
from stores.formats.causes import name_cause, whole_records
from stores.formats.javascript import parse

A = b'{"id":"a","content":{"what":"x"}}'
B = b'{"id":"b","content":{"what":"y"}}'


@pytest.mark.parametrize(
    ("line", "salvageable", "column"),
    [
        (A + B, 2, len(A) + 1),
        (A + b" \r" + B, 2, len(A) + 3),
        (A + "\ufeff".encode() + B, 2, len(A) + 4),
        (A + A + B, 3, len(A) + 1),
        (A[:20] + B, 1, 21),
        (A[:3] + B, 1, 4),
        (A[:1] + B, 1, 2),
        (A + B[:12], 1, len(A) + 1),
        (A[:20] + B + A[:20], 1, 21),
        (A[:20] + B + A, 2, 21),
        ('{"id":"é","content":{"wh'.encode() + B, 1, 26),
        (b'{"id":"\xff\xff' + B, 1, 10),
    ],
)
def test_records_glued_together_are_counted_and_their_seam_is_found(line: bytes, salvageable: int, column: int) -> None:
    assert not parse(line).accepted
    cause = name_cause(line)
    assert (cause.code, cause.salvageable, cause.column) == ("glued", salvageable, column)
    assert cause.repair() == (RepairMode.REVIEW, "repair_lines")
    assert line[column - 1 :].startswith(b"{")


@pytest.mark.parametrize(
    ("line", "code", "column"),
    [
        (b"<<<<<<< HEAD", "merge_conflict", 1),
        (b"=======", "merge_conflict", 1),
        (b">>>>>>> branch\r", "merge_conflict", 1),
        (b"version https://git-lfs.github.com/spec/v1", "lfs_pointer", 1),
        (b"oid sha256:0123abcd", "lfs_pointer", 1),
        (b"size 10", "lfs_pointer", 1),
        (b"// note", "json_comment", 1),
        (b"/* note */", "json_comment", 1),
        (b'{"a":1} // note', "json_comment", 9),
        (b"{", "pretty_json", 1),
        (b'  "a": 1,', "pretty_json", 1),
        (b'    "text",', "pretty_json", 1),
        (b"  },", "pretty_json", 1),
        (b"\xff\xfe{\0}\0", "utf16", None),
        (b"{\0" + b'"\0i\0d\0"\0', "utf16", None),
        (b"\0" * 512, "nul_run", 1),
        (b"\0", "nul_run", 1),
        (A[:9] + b"\0" * 100, "nul_run", 10),
        (b'{"a":NaN}', "nan", 6),
        (b'{"NaN":-Infinity}', "nan", 8),
        (b'{"a":1 2}', "bad_json", 8),
        (A[:-1], "bad_json", len(A)),
        (A[:20], "bad_json", 21),
        (b'{"id":"a","content":"torn in a te', "bad_json", 34),
        (b'{"id":1,"in":{"id":2},"x":}', "bad_json", 27),
        ("\ufeff".encode() + A, "bad_json", 1),
        (b"\x1f\x8b\x08\x00abc\xff", "bad_json", 1),
        (b'{"id":"\xff\xff","x":}', "bad_json", 16),
        (A + b",", "bad_json", len(A) + 1),
        (b"[" * 20000, "bad_json", 20001),
    ],
    ids=lambda case: repr(case[:24]) if isinstance(case, bytes) else None,
)
def test_other_lines_are_set_aside_with_a_cause_and_a_place(line: bytes, code: str, column: int | None) -> None:
    assert not parse(line).accepted
    cause = name_cause(line)
    assert (cause.code, cause.salvageable) == (code, 0)
    assert cause.column == column
    assert cause.repair() == (RepairMode.REVIEW, "set_aside_lines")


def test_every_line_of_a_utf16_file_has_that_cause() -> None:
    assert name_cause(b"\0", utf16=True).code == "utf16"


def test_a_part_of_a_broken_record_is_not_taken_for_a_record() -> None:
    broken = b'{"type":"create_relations","payload":{"relations":[{"from":"a","to":"b"}]},"timestamp":"2026-'
    assert name_cause(broken).code == "bad_json"


def test_details_say_what_is_known() -> None:
    assert name_cause(A + B).details() == {"cause": "glued", "column": len(A) + 1, "salvageable": 2}
    assert name_cause(b"=======").details() == {"cause": "merge_conflict", "column": 1}


def test_a_line_that_is_too_long_is_named_with_its_length() -> None:
    cause = causes.too_large(5 << 20)
    assert cause.code == "too_large"
    assert "5.0 MiB" in cause.words


@given(
    st.lists(
        st.sampled_from(
            [A, B, A[:9], b"{", b"}", b'"', b"\\", b"\0", b"\xff", b" ", b"//", b"NaN", b"<<<<<<<", b"\xef\xbb\xbf", b"[" * 300]
        ),
        max_size=8,
    ).map(b"".join)
)
def test_any_refused_line_has_a_cause_within_it(line: bytes) -> None:
    if parse(line).accepted:
        return
    cause = name_cause(line)
    assert cause.column is None or 1 <= cause.column <= len(line) + 1
    assert cause.words
    if cause.code == "glued":
        assert cause.salvageable <= line.count(b"{")


@pytest.mark.parametrize(
    "line",
    [
        b'{"id"' * 100_000,
        b'{"id":' * 100_000,
        (b'{"id":1}' + b'{"id":[') * 40_000,
        b'{"' * 250_000,
        b" " * 500_000 + b"x",
        b'"' * 500_001,
        b"\\" * 500_000,
        b"  " + b'"a' * 250_000,
    ],
    ids=lambda line: repr(line[:16]),
)
def test_hostile_lines_are_named_in_linear_time(line: bytes) -> None:
    start = time.process_time()
    assert name_cause(line).code in ("bad_json", "glued")
    assert time.process_time() - start < 5


def test_whole_records_of_a_glued_line_come_out_with_their_bytes() -> None:
    first, second = '{"id":"a","text":"ü"}'.encode(), b'{"id":"b"}'
    assert whole_records(first + second + b"\r") == (first, second)
    assert whole_records(b'{"id":"torn' + second) == (second,)
    assert whole_records(first + b" " + second) == (first, second)
    for whole in (first, b'{"id":"torn', b"text", first + b"text"):
        assert whole_records(whole) == ()
