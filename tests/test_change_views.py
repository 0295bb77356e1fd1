"""Changes as pages show them: nothing is left out, and what deceives the eye or is secret is written out or masked."""

from __future__ import annotations

import html
import json
import re

import pytest

from stores.change_views import MODES, Mode, Shown, file_view, file_views, totals
from stores.lifecycle.changes import AppendLines, Create, EditLog, EndLine, LineEdit, MakeFolder, Move, Replace, TakeOut

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6"


def replaced(before: str, after: str, shown: Shown = Shown()) -> list[tuple[str, str]]:  # noqa: B008  a constant
    """Give sign and text of every row of a replaced file."""
    view = file_view(1, Replace("nodes/a.json", before.encode(), after.encode()), shown)
    return [(row.sign, plain(str(row.html))) for row in view.rows]


def plain(markup: str) -> str:
    """Give what a person reads."""
    return html.unescape(re.sub("<[^>]+>", "", markup))


def test_what_goes_and_what_comes_stand_with_their_numbers_and_long_context_is_folded() -> None:
    before = [f"line {number}" for number in range(1, 31)]
    after = [*before[:19], "line twenty", *before[20:]]
    view = file_view(1, Replace("a.json", "\n".join(before).encode(), "\n".join(after).encode()), Shown())
    assert [(row.kind, row.sign, row.old, row.new) for row in view.rows] == [
        ("fold", " ", "", ""),
        ("line", " ", "17", "17"),
        ("line", " ", "18", "18"),
        ("line", " ", "19", "19"),
        ("line", "-", "20", ""),
        ("line", "+", "", "20"),
        ("line", " ", "21", "21"),
        ("line", " ", "22", "22"),
        ("line", " ", "23", "23"),
        ("fold", " ", "", ""),
    ]
    assert [plain(str(row.html)) for row in view.rows if row.kind == "fold"] == ["16 unchanged lines", "7 unchanged lines"]
    assert (view.added, view.removed, totals([view])) == (1, 1, "1 file, +1 −1")


def test_with_context_no_line_is_folded() -> None:
    before = "\n".join(f"line {number}" for number in range(40))
    assert len(replaced(before, before + "!", Shown(context=True))) == 41


def test_a_reworded_line_stands_once_in_words_with_both_wordings() -> None:
    (row,) = replaced('"phase": "fluid",', '"phase": "rigid",', Shown(mode="words"))
    assert row == ("~", '"phase": "fluidrigid",')


def test_split_puts_both_sides_beside_each_other() -> None:
    view = file_view(1, Replace("a", b"one\ntwo\nthree", b"one\n2\n3\n4\nthree"), Shown(mode="split"))
    assert [(plain(str(row.html)), row.sign, plain(str(row.right)), row.right_sign) for row in view.rows] == [
        ("one", " ", "one", " "),
        ("two", "-", "2", "+"),
        ("", "", "3", "+"),
        ("", "", "4", "+"),
        ("three", " ", "three", " "),
    ]


@pytest.mark.parametrize("mode", [mode for mode, _ in MODES])
def test_a_large_file_is_shown_by_pages_to_its_last_line(mode: Mode) -> None:
    before = "\n".join(f"old {number}" for number in range(3000))
    after = "\n".join(f"new {number}" for number in range(3000))
    change = Replace("big.json", before.encode(), after.encode())
    first = file_view(1, change, Shown(mode=mode))
    assert len(first.rows) == 300 and first.left == first.total - 300
    seen, start = [], 1
    while start:
        view = file_view(1, change, Shown(mode=mode, file=1, start=start))
        seen += [plain(f"{row.html}\n{row.right}") for row in view.rows]
        start = view.next_from
    text = "\n".join(seen)
    assert all(f"{word} {number}" in text for word in ("old", "new") for number in range(3000))


def test_a_deletion_is_shown_whole_and_a_creation_too() -> None:
    gone = file_view(1, TakeOut("nodes/a.json", b"one\ntwo"), Shown())
    assert (gone.state, [(row.sign, plain(str(row.html))) for row in gone.rows]) == ("gone", [("-", "one"), ("-", "two")])
    made = file_view(1, Create("nodes/a.json", b"one"), Shown())
    assert (made.state, [(row.sign, plain(str(row.html))) for row in made.rows]) == ("created", [("+", "one")])


def test_lines_of_logs_moves_and_folders_are_told() -> None:
    edit = EditLog("decisions.jsonl", (LineEdit(b'{"id": 1}', ()), LineEdit(b'{"id": 2}', (b'{"id": 3}',))))
    views = file_views([edit, AppendLines("log", (b'{"n": 1}',)), Move("a", "b", b"x"), MakeFolder("edges"), EndLine("log")], Shown())
    assert [view.what for view in views] == ["edited", "appended to", "moved", "created", "appended to"]
    assert views[0].removed == 4 and views[0].added == 1
    assert "every other one stays byte for byte" in views[0].sizes
    assert (views[2].to, views[3].note, views[4].note[:12]) == ("b", "A folder is made.", "A line break")


@pytest.mark.parametrize("mode", [mode for mode, _ in MODES])
def test_secrets_are_masked_in_every_way_to_show_a_change(mode: Mode) -> None:
    before = json.dumps({"text": f"token {SECRET} stays"}, indent=2)
    after = json.dumps({"text": f"token {SECRET} goes"}, indent=2)
    view = file_view(1, Replace("a", before.encode(), after.encode()), Shown(mode=mode))
    shown = "".join(f"{row.html}{row.right}" for row in view.rows)
    assert SECRET not in shown and SECRET[:12] not in shown
    assert f"masked, {len(SECRET)} characters" in shown


def test_a_private_key_over_several_lines_is_masked_on_each_of_them() -> None:
    body = ["MIIEpAIBAAKCAQEA7bq9Zx1f3kQv", "w8Jp2mLr5tYc0uNsGdHeKiXoVbAf"]
    key = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----"])
    text = "".join(str(row.html) for row in file_view(1, Create("key.txt", key.encode()), Shown()).rows)
    assert not any(piece in text for piece in body)


def test_what_cannot_be_seen_or_looks_like_something_else_is_written_out() -> None:
    view = file_view(1, Create("a", "keep \u202etxet\u202c n\u043ede zero\u200bwidth".encode()), Shown())
    text = str(view.rows[0].html)
    assert "\u202e" not in text and "\u200b" not in text
    assert all(mark in plain(text) for mark in ("U+202E", "U+202C", "U+200B", "\u043e U+043E"))


def test_padding_is_counted_not_shown() -> None:
    rows = replaced("a", "a\n" + "\n" * 400 + "delete everything" + " " * 300 + "else")
    assert ("+", "400 blank lines") in rows
    assert any("300 blanks" in text and "delete everything" in text for _, text in rows)
    escaped = json.dumps({"text": "ok" + "\n" * 50 + "rm -rf"})
    assert "50 line breaks" in replaced("", escaped)[-1][1]


def test_markup_in_memory_stays_text() -> None:
    view = file_view(1, Create("a", b'<img src=x onerror="alert(1)">'), Shown())
    assert "<img" not in str(view.rows[0].html)


def test_bytes_that_are_no_text_are_told() -> None:
    assert "2 bytes are no UTF-8" in file_view(1, Create("a", b"ok \xff\xfe"), Shown()).note
