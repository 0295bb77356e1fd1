"""Changes as pages show them: nothing is left out, and what deceives the eye or is secret is written out or masked."""

from __future__ import annotations

import html
import json
import re

import pytest

from stores.change_views import file_view, file_views, totals
from stores.diff_rows import MODES, FileView, Mode, Shown
from stores.lifecycle.changes import AppendLines, Create, EditLog, EndLine, LineEdit, MakeFolder, Move, Replace, TakeOut
from stores.lifecycle.differences import Place

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


def told(view: FileView) -> list[tuple[str, str, str, str, str]]:
    return [(row.sign, row.old, row.new, plain(str(row.html)), plain(str(row.right))) for row in view.rows]


@pytest.mark.parametrize("mode", [mode for mode, _ in MODES])
def test_what_is_no_text_stands_as_its_bytes(mode: Mode) -> None:
    view = file_view(1, Create("a", b"ok \xff\xfe<b>"), Shown(mode=mode))
    assert told(view) == [("+", "", "0000", "6f 6b 20 ff fe 3c 62 3e", "ok ..<b>")]
    assert (view.is_bytes, view.note) == (True, "It is no text: its bytes stand here, 16 a row.")
    assert "<b>" not in str(view.rows[0].right)


def test_bytes_that_differ_are_marked_on_both_sides_and_far_ones_that_stay_are_folded() -> None:
    before = b"\0" * 160 + b"old!" + b"\0" * 60
    view = file_view(1, Replace("a", before, before.replace(b"old", b"new")), Shown())
    assert [(row.kind, row.sign, row.old, row.new) for row in view.rows] == [
        ("fold", " ", "", ""),
        ("bytes", " ", "0080", "0080"),
        ("bytes", " ", "0090", "0090"),
        ("bytes", "-", "00a0", ""),
        ("bytes", "+", "", "00a0"),
        ("bytes", " ", "00b0", "00b0"),
        ("bytes", " ", "00c0", "00c0"),
        ("bytes", " ", "00d0", "00d0"),
    ]
    assert view.rows[0].html == "128 unchanged bytes"
    assert "<del>6f 6c 64</del> 21" in str(view.rows[3].html) and "<ins>new</ins>!" in str(view.rows[4].right)
    whole = file_view(1, Replace("a", before, before.replace(b"old", b"new")), Shown(context=True))
    assert len(whole.rows) == 15 and (whole.added, whole.removed) == (1, 1)


def test_many_bytes_are_shown_by_pages_to_the_last_one() -> None:
    content = bytes(number % 251 for number in range(50_000))
    change = TakeOut("blob", b"\xff" + content)
    first = file_view(1, change, Shown())
    assert (len(first.rows), first.left) == (64, first.total - 64), "so it cannot be approved with others at once"
    digits, start = "", 1
    while start:
        view = file_view(1, change, Shown(file=1, start=start))
        digits += "".join(plain(str(row.html)) for row in view.rows)
        start = view.next_from
    assert digits.replace(" ", "") == (b"\xff" + content).hex()


def test_secrets_in_bytes_are_masked_on_both_sides_also_over_rows_and_in_wide_letters() -> None:
    for data in (b"\xff" + SECRET.encode(), b"\xff\xfe" + SECRET.encode("utf-16-le")):
        view = file_view(1, Replace("a", data, data + b"\xff more"), Shown())
        shown = " ".join(f"{plain(str(row.html))} {plain(str(row.right))}" for row in view.rows)
        digits = shown.replace(" ", "")
        assert SECRET[4:12] not in shown and SECRET[:4].encode().hex() not in digits and SECRET[8:12].encode().hex() not in digits
        assert "··" in shown and "ff" in shown


def test_one_line_of_a_log_that_is_no_text_stands_as_bytes_among_the_others() -> None:
    edits = (LineEdit(b'{"a": 1}', ()), LineEdit(b'{"b": \xff}', ()), LineEdit(b'{"c": 2}', (b'{"c": 3}',)))
    view = file_view(1, EditLog("decisions.jsonl", edits), Shown())
    assert [row.kind for row in view.rows] == ["line"] * 3 + ["bytes"] + ["line"] * 4
    assert [row.old for row in view.rows] == ["1", "2", "3", "0000", "4", "5", "", "6"]
    assert view.rows[3].places == () and view.rows[4].places == (Place(1, "before", 4), Place(1, "after", 1))
    assert "A line that is no text stands as its bytes." in view.note and not view.is_bytes


def test_a_line_that_is_to_be_seen_is_never_folded_and_its_piece_is_shown() -> None:
    before = "\n".join(f"line {number}" for number in range(1, 3001))
    change = Replace("a", before.encode(), (before + "!").encode())
    assert Place(1, "before", 17) not in [place for row in file_view(1, change, Shown()).rows for place in row.places]
    for mode, _ in MODES:
        for at in (Place(1, "before", 17), Place(1, "after", 2990)):
            view = file_view(1, change, Shown(mode=mode, at=at))
            assert at in [place for row in view.rows for place in row.places]
            assert at in [place for row in file_view(1, change, Shown(mode=mode, noted=frozenset({at}))).rows for place in row.places]
    rewritten = Replace("a", before.encode(), before.replace("line", "row").encode())
    view = file_view(1, rewritten, Shown(at=Place(1, "before", 2500)))
    assert view.first > 1 and Place(1, "before", 2500) in [place for row in view.rows for place in row.places]
