"""What a change would show, and that no secret slips in with it."""

from __future__ import annotations

import json

import pytest

from stores.lifecycle.changes import Append, AppendLines, Change, Create, EditLog, EndLine, LineEdit, MakeFolder, Move, Replace
from stores.lifecycle.differences import Place, adds_secret, difference, line_count

SECRET = "ghp_" + "a1B2c3D4e5" * 4
OLD, NEW = b'{\n  "id": "a",\n  "phase": "fluid"\n}\n', b'{\n  "id": "a",\n  "phase": "rigid"\n}\n'


def lines(change: Change) -> list[str]:
    return [line.sign + "".join(run.text for run in line.runs) for line in difference(change).lines]


def test_a_replaced_record_shows_the_line_that_changes() -> None:
    shown = lines(Replace("nodes/a.json", OLD, NEW))
    assert [line for line in shown if line[0] != " "] == ['-  "phase": "fluid"', '+  "phase": "rigid"']
    marked = [run.text for line in difference(Replace("p", OLD, NEW)).lines for run in line.runs if run.changed]
    assert marked == ["fluid", "rigid"]


def test_what_is_taken_out_is_shown_whole() -> None:
    edit = EditLog("log", (LineEdit(b'{"a":1,"b":"two"}', ()), LineEdit(b"not json \xff", (b"{}",))))
    assert lines(edit) == [
        "-{", '-  "a": 1,', '-  "b": "two"', "-}",
        "-00000000  6e 6f 74 20 6a 73 6f 6e 20 ff                    not json .",
        "+00000000  7b 7d                                            {}",
    ]  # fmt: skip
    assert {line[0] for line in lines(EditLog("log", (LineEdit(b"[1][2]", (b"[1]", b"[2]")),)))} == {"-", "+"}


def test_what_is_no_text_is_shown_as_its_bytes() -> None:
    """The rows are those of `xxd -g 1`, two blanks instead of its colon."""
    assert lines(Replace("a", b"\x00ELF" + b"a" * 20, b"\x00ELG" + b"a" * 20)) == [
        "-00000000  00 45 4c 46 61 61 61 61 61 61 61 61 61 61 61 61  .ELFaaaaaaaaaaaa",
        "+00000000  00 45 4c 47 61 61 61 61 61 61 61 61 61 61 61 61  .ELGaaaaaaaaaaaa",
        " 00000010  61 61 61 61 61 61 61 61                          aaaaaaaa",
    ]
    assert not any("41 42" in line or "ghp_" in line for line in lines(Create("a", b"\xff" + SECRET.encode())))


def test_lines_are_counted_as_they_are_numbered() -> None:
    assert [line_count(Replace("a", OLD, NEW), side) for side in ("before", "after")] == [5, 5]
    assert [line_count(Create("a", b"one\ntwo\n"), side) for side in ("before", "after")] == [0, 2]
    assert [line_count(Replace("a", b"\xff" * 33, b"\xff" * 16), side) for side in ("before", "after")] == [3, 1]
    edit = EditLog("log", (LineEdit(b"[1]", ()), LineEdit(b"\xff", ()), LineEdit(b"[2]", (b"[3]",))))
    assert [line_count(edit, side) for side in ("before", "after")] == [6, 3]


@pytest.mark.parametrize("given", ["", "0-after-1", "1-after-0", "1-beside-1", "1-after-1 ", "01-after-1", "1-after-x", "1-after-1-2"])
def test_what_names_no_line_is_none(given: str) -> None:
    assert Place.read(given) is None
    assert Place.read(str(Place(12, "before", 345))) == Place(12, "before", 345)


def test_new_files_records_and_moves_say_what_they_are() -> None:
    assert (difference(Create("a", b"x\n")).what, lines(Create("a", b"x\n"))) == ("created", ["+x"])
    assert lines(Append("events.jsonl", {"kind": "updated"})) == ["+{", '+  "kind": "updated"', "+}"]
    assert lines(AppendLines("log", (b"[]",))) == ["+[]"]
    moved = difference(Move("queue", "archive/queue", b""))
    assert (moved.what, moved.to, moved.lines) == ("moved", "archive/queue", ())
    assert (difference(MakeFolder("paths")).what, difference(EndLine("log")).what) == ("created", "appended to")


def many(text: str) -> bytes:
    return json.dumps({"lines": [*map(str, range(1000)), text]}, indent=2).encode()


@pytest.mark.parametrize(
    ("change", "adds"),
    [
        (Replace("a", OLD, NEW.replace(b"rigid", SECRET.encode())), True),
        (Replace("a", OLD.replace(b"fluid", SECRET.encode()), NEW.replace(b"rigid", SECRET.encode())), False),
        (Replace("a", OLD.replace(b"fluid", SECRET.encode()), NEW), False),
        (Replace("a", many("x"), many(SECRET)), True),
        (Replace("a", OLD, NEW.replace(b"rigid", b"\\u0067" + SECRET[1:].encode())), True),
        (Create("a", SECRET.encode()), True),
        (Create("a", SECRET.encode("utf-16")), True),
        (Append("a", {"payload": {"text": SECRET}}), True),
        (AppendLines("a", (SECRET.encode(),)), True),
        (EditLog("a", (LineEdit(b"{}", (json.dumps({"a": SECRET}).encode(),)),)), True),
        (EditLog("a", (LineEdit(SECRET.encode(), ()),)), False),
        (Move("a", "b", SECRET.encode()), False),
        (EndLine("a"), False),
    ],
)
def test_only_a_secret_that_was_not_there_counts(change: Change, adds: bool) -> None:
    assert adds_secret(change) is adds
