"""What a change would show, and that no secret slips in with it."""

from __future__ import annotations

import json

import pytest

from stores.lifecycle.changes import Append, AppendLines, Change, Create, EditLog, EndLine, LineEdit, MakeFolder, Move, Replace
from stores.lifecycle.differences import adds_secret, difference

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
    assert lines(edit) == ["-{", '-  "a": 1,', '-  "b": "two"', "-}", "-not json \ufffd", "+{}"]
    assert {line[0] for line in lines(EditLog("log", (LineEdit(b"[1][2]", (b"[1]", b"[2]")),)))} == {"-", "+"}


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
