"""What the eye does not see is written out."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.visible import Span, one_line, visible

ODD = st.text(
    st.one_of(st.characters(codec=None), st.sampled_from("\x00\x1b\r\n\t\u200b\u200d\u202e\u2066\ufeff\ufe0f\U000e0041😀a")), max_size=60
)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("plain\ntext\t😀", (Span("plain\ntext\t😀", "plain"),)),
        ("", (Span("", "plain"),)),
        ("a\u202eb", (Span("a", "plain"), Span("U+202E", "bidi"), Span("b", "plain"))),
        ("\x1b[2J", (Span("U+001B", "control"), Span("[2J", "plain"))),
        ("a\r", (Span("a", "plain"), Span("U+000D", "control"))),
        ("pay\u200bpal", (Span("pay", "plain"), Span("U+200B", "zero-width"), Span("pal", "plain"))),
        ("\U000e0041\U000e0042", (Span("U+E0041", "tag"), Span("U+E0042", "tag"))),
        ("a\u200db", (Span("a", "plain"), Span("U+200D", "zero-width"), Span("b", "plain"))),
        ("x\U000e0101", (Span("x", "plain"), Span("U+E0101", "tag"))),
        ("x\ufe00\ufe0f", (Span("x", "plain"), Span("U+FE00", "zero-width"), Span("U+FE0F", "zero-width"))),
        ("\x9b31m", (Span("U+009B", "control"), Span("31m", "plain"))),
    ],
)
def test_unseen_characters_become_marks(text: str, spans: tuple[Span, ...]) -> None:
    assert visible(text) == spans


@pytest.mark.parametrize("text", ["❤️ thanks", "👨‍👩‍👧 family", "می‌خواهم", "नमस्ते क्‍ष", "é", "e\u0301", "日本"])
def test_writing_that_needs_joiners_stays_plain(text: str) -> None:
    assert visible(text) == (Span(text, "plain"),)


@given(ODD)
def test_nothing_is_lost_and_nothing_unseen_is_left(text: str) -> None:
    again = ""
    for span in visible(text):
        again += span.text if span.kind == "plain" else chr(int(span.text[2:], 16))
        if span.kind == "plain":
            assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in span.text if character not in "\n\t")
            assert not set(span.text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\ufeff")
    assert again == text


@given(ODD)
def test_one_line_is_one_line_for_every_terminal(text: str) -> None:
    line = one_line(text)
    assert line.splitlines() in ([], [line])
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in line)
    line.encode("utf-8")


def test_one_line_writes_escapes() -> None:
    assert one_line("fake\n2026 INFO\x1b[0m\u202e\t\r") == "fake⏎2026 INFO\\x1b[0m\\u{202E}\\x09\\x0d"
