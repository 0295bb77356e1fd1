"""Changes of files: bytes made once, and edits of a log that touch no other line."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.lifecycle.changes import Append, AppendLines, Create, EditLog, LineEdit, LineMissing, Move, Replace, Standing, edits_of, line_of
from stores.lifecycle.effects import EffectRefused, undo_of

LINES = st.lists(st.binary(max_size=6).filter(lambda line: b"\n" not in line), min_size=1, max_size=12)


def named(line: bytes) -> bytes:
    return sha256(line).digest()


@given(LINES, st.data())
def test_an_edit_keeps_every_other_line_byte_for_byte(lines: list[bytes], data: st.DataObject) -> None:
    log = b"".join(line + b"\n" for line in lines)
    chosen = data.draw(st.sets(st.sampled_from(sorted(set(lines))), min_size=1))
    after = {
        line: data.draw(st.lists(st.binary(max_size=4).map(lambda one: b"new" + one.replace(b"\n", b"")), max_size=2)) for line in chosen
    }
    edit = EditLog("log", edits_of(log, {named(line): tuple(made) for line, made in after.items()}))
    late = b"appended later\n"
    changed = edit.apply(log + late)
    # The last of equal lines is the one that is touched; so the others are expected where they stand.
    last = {line: len(lines) - 1 - lines[::-1].index(line) for line in chosen}
    expected: list[bytes] = []
    for number, line in enumerate(lines):
        expected += after[line] if last.get(line) == number else [line]
    assert changed == b"".join(line + b"\n" for line in expected) + late


@given(LINES, st.data())
def test_an_edit_that_was_made_is_known_and_not_made_again(lines: list[bytes], data: st.DataObject) -> None:
    log = b"".join(line + b"\n" for line in lines)
    chosen = data.draw(st.sampled_from(lines))
    made = data.draw(st.sampled_from([(), (b"new line",), (b"new line", b"another")]))
    edit = EditLog("log", edits_of(log, {named(chosen): made}))
    assert edit.standing(log) is Standing.BEFORE
    changed = edit.apply(log)
    assert edit.standing(changed) is Standing.AFTER
    with pytest.raises(LineMissing):
        edit.apply(changed)


def test_a_last_line_without_a_line_break_is_left_as_it_is_unless_it_is_touched() -> None:
    log = b"one\ntwo\nthree"
    assert EditLog("log", edits_of(log, {named(b"two"): ()})).apply(log) == b"one\nthree"
    assert EditLog("log", edits_of(log, {named(b"three"): (b"tail",)})).apply(log) == b"one\ntwo\ntail\n"


def test_a_line_that_is_gone_stops_the_whole_edit() -> None:
    edit = EditLog("log", (LineEdit(b"one", ()), LineEdit(b"two", ())))
    with pytest.raises(LineMissing):
        edit.apply(b"two\nthree\n")
    assert edit.standing(b"two\nthree\n") is Standing.OTHER
    assert edit.standing(None) is Standing.OTHER
    with pytest.raises(LineMissing):
        edits_of(b"two\n", {named(b"one"): ()})
    with pytest.raises(LineMissing):
        line_of(b"two\n", named(b"one"))


def test_carriage_returns_and_separators_of_other_worlds_do_not_end_a_line() -> None:
    log = "a\u2028b\r\nc\x0bd\n\x85\n".encode()
    edit = EditLog("log", edits_of(log, {named(b"c\x0bd"): ()}))
    assert edit.apply(log) == "a\u2028b\r\n\x85\n".encode()


def test_every_one_of_equal_lines_can_be_meant() -> None:
    log = b"x\ny\nx\nx\n"
    edit = EditLog("log", edits_of(log, {named(b"x"): ()}, every=True))
    assert edit.apply(log) == b"y\n"
    assert edit.standing(edit.apply(log)) is Standing.AFTER


def test_files_know_whether_they_are_before_after_or_something_else() -> None:
    replace, create, move = Replace("a", b"1", b"2"), Create("b", b"3"), Move("c", "d", b"1\n")
    assert [replace.standing(data) for data in (b"1", b"2", b"x", None)] == ["before", "after", "other", "other"]
    assert [create.standing(data) for data in (None, b"3", b"x")] == ["before", "after", "other"]
    assert [move.standing(data) for data in (b"1\n", b"1\n2\n", None, b"x")] == ["before", "before", "after", "other"]


def test_what_is_volatile_in_an_appended_record_is_not_bound() -> None:
    record = {"id": "event.1", "timestamp": "t", "kind": "updated", "action_id": "action:1"}
    later = record | {"id": "event.2", "timestamp": "u", "sequence": 4, "previous_digest": "sha256:1", "approval_marker": "m"}
    assert Append("events.jsonl", record).binding() == Append("events.jsonl", later).binding()
    assert Append("events.jsonl", record).binding() != Append("events.jsonl", record | {"kind": "merged"}).binding()
    assert Append("events.jsonl", record).binding() != Append("audit.jsonl", record).binding()


def test_a_replaced_file_is_taken_back_from_what_it_is_today() -> None:
    assert undo_of(Replace("a", b"1", b"2"), b"3") == (Replace("a", b"3", b"1"),)
    with pytest.raises(EffectRefused, match="already"):
        undo_of(Replace("a", b"1", b"2"), b"1")
    with pytest.raises(EffectRefused, match="not there"):
        undo_of(Replace("a", b"1", b"2"), None)


def test_lines_come_back_where_they_were_or_at_the_end() -> None:
    log = b"one\ntwo\nthree\n"
    edit = EditLog("log", edits_of(log, {named(b"one"): (), named(b"three"): (b"3",)}))
    changed = edit.apply(log)
    back, end = undo_of(edit, changed)
    assert isinstance(back, EditLog)
    assert back.apply(changed) == b"two\nthree\n"
    assert end == AppendLines("log", (b"one",))


@pytest.mark.parametrize("change", [Create("a", b""), Append("a", {}), Move("a", "b", b""), EditLog("a", (LineEdit(b"1", (b"2", b"3")),))])
def test_what_cannot_be_taken_back_says_so(change: Create | Append | Move | EditLog) -> None:
    with pytest.raises(EffectRefused, match=r"\."):
        undo_of(change, b"2\n3\n")
