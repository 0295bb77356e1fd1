"""Bytes as a page may show them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stores.selectors import byte_view
from stores.selectors.byte_view import CONTEXT_BYTES, Piece

URL = b'{"what":"staging db is postgres://app:hunter2hunter2@10.2.0.7/x"}'


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def test_a_glued_line_is_shown_around_its_seam() -> None:
    first, second = b'{"id":"' + b"a" * 300 + b'"}', b'{"id":"b"}'
    view = byte_view.line_view(first + second, column=len(first) + 1)
    assert view.cut_before
    assert text_of(view.before).endswith('aaa"}')
    assert text_of(view.place) == '{"id":"b"}'
    assert view.after == []
    assert not view.cut_after


def test_a_column_counts_bytes_not_characters() -> None:
    line = "ééé{".encode()
    view = byte_view.line_view(line, column=7)
    assert text_of(view.before) == "ééé"
    assert text_of(view.place) == "{"


def test_without_a_place_the_head_of_the_line_is_shown() -> None:
    view = byte_view.line_view(b"x" * 1000)
    assert text_of(view.before) == "x" * byte_view.HEAD
    assert view.cut_after
    assert not byte_view.line_view(b"short").cut_after


def test_a_secret_is_masked_with_its_whole_length_even_where_the_window_cuts_it() -> None:
    place = URL.index(b"hunter2") + 5
    for column in range(1, len(URL) + 1):
        view = byte_view.line_view(URL, column=column, place_length=3)
        shown = text_of([*view.before, *view.place, *view.after])
        assert "hunter" not in shown
        assert "unter2" not in shown
    view = byte_view.line_view(URL, column=place)
    assert [piece for piece in [*view.before, *view.place] if piece.kind == "masked"]


def test_a_piece_that_begins_inside_a_secret_shows_none_of_it() -> None:
    start = URL.index(b"hunter2") + 2
    assert "nter2" not in text_of(byte_view.text_of_window(URL, start, 10))
    rows = byte_view.hex_of_window(URL, start, 10, 1000)
    assert rows[0].offset == 1000
    assert rows[0].digits.split() == ["··"] * 10
    assert rows[0].characters == "·" * 10


def test_hex_rows_hold_sixteen_bytes_and_name_their_offset_in_the_file() -> None:
    rows = byte_view.hex_of_window(bytes(range(40)), 8, 20, 4096)
    assert [row.offset for row in rows] == [4096, 4112]
    assert rows[0].digits == " ".join(f"{value:02x}" for value in range(8, 24))
    assert rows[1].digits.split() == [f"{value:02x}" for value in range(24, 28)]
    assert rows[1].characters == "...."


def test_a_run_of_one_invisible_character_becomes_one_mark_with_its_number() -> None:
    pieces = byte_view.whole_text(b"a" + b"\0" * 512 + b"b\xe2\x80\xaec")
    assert [(piece.kind, piece.text) for piece in pieces] == [
        ("plain", "a"),
        ("mark", "U+0000 × 512"),
        ("plain", "b"),
        ("mark", "U+202E"),
        ("plain", "c"),
    ]


def test_the_context_is_longer_than_a_private_key_in_a_json_line() -> None:
    assert CONTEXT_BYTES >= 4096


@given(raw=st.binary(max_size=400), column=st.one_of(st.none(), st.integers(1, 500)))
def test_any_bytes_at_any_place_are_shown(raw: bytes, column: int | None) -> None:
    view = byte_view.line_view(raw, column)
    for piece in [*view.before, *view.place, *view.after]:
        assert piece.kind in ("plain", "mark", "masked")
        assert piece.text


@given(context=st.binary(max_size=300), start=st.integers(0, 320), length=st.integers(0, 320))
def test_a_hex_window_has_exactly_the_bytes_of_the_window(context: bytes, start: int, length: int) -> None:
    rows = byte_view.hex_of_window(context, start, length, start)
    assert sum(len(row.characters) for row in rows) == len(context[start : start + length])
