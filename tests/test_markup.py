"""Small pieces of HTML: whatever comes in is escaped, secrets are masked, unseen characters are written out."""

from __future__ import annotations

import html
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores import markup
from stores.shapes import SAME_AS, SHAPES, state_of

OURS = {("bdi", ()), ("mark", ()), ("span", (("class", "mark"),)), ("span", (("class", "masked"),))}


class Reader(HTMLParser):
    """Collects elements and the text between them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def read(piece: str) -> Reader:
    """Parse a piece of HTML."""
    reader = Reader()
    reader.feed(piece)
    reader.close()
    return reader


def test_hostile_text_stays_text() -> None:
    assert markup.memory_text("<img src=x onerror=alert(1)> {{ x }}") == "<bdi>&lt;img src=x onerror=alert(1)&gt; {{ x }}</bdi>"


def test_direction_changing_characters_are_written_out() -> None:
    assert markup.memory_text("pytest over \u202eunittest") == '<bdi>pytest over <span class="mark">U+202E</span>unittest</bdi>'


def test_secrets_are_masked_with_their_length() -> None:
    shown = markup.memory_text("key AKIAIOSFODNN7EXAMPLE of the bucket")
    assert "AKIA" not in shown
    assert shown == '<bdi>key <span class="masked">masked, 20 characters</span> of the bucket</bdi>'


def test_hits_of_a_search_are_marked_where_a_word_begins() -> None:
    shown = markup.memory_text("Postgres, postgresql <b>, mypostgres", ["postgres"])
    assert shown == "<bdi><mark>Postgres</mark>, <mark>postgres</mark>ql &lt;b&gt;, mypostgres</bdi>"


def test_a_search_for_signs_is_no_pattern() -> None:
    assert markup.memory_text("a.c abc", [".", "a.c", "("]) == "<bdi><mark>a.c</mark> abc</bdi>"


@given(st.text(), st.lists(st.text(max_size=5), max_size=3))
def test_no_text_makes_an_element_that_is_not_ours(text: str, hits: list[str]) -> None:
    assert set(read(markup.memory_text(text, hits)).elements) <= OURS


@given(st.text(alphabet=st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=200), st.lists(st.text(max_size=5), max_size=3))
def test_marking_hits_changes_no_text(text: str, hits: list[str]) -> None:
    assert read(markup.memory_text(text, hits)).text == read(markup.memory_text(text)).text


def test_a_shape_beside_its_word_is_hidden_and_alone_it_has_a_name() -> None:
    assert 'aria-hidden="true"' in markup.shape("degraded")
    alone = read(markup.shape("degraded", "degraded <b>")).elements[0]
    assert dict(alone[1]) | {} == {"class": "shape", "data-state": "degraded", "role": "img", "aria-label": "degraded <b>"}


@pytest.mark.parametrize("word", [*SHAPES, *SAME_AS])
def test_every_word_of_state_has_a_shape(word: str) -> None:
    assert f"#{SHAPES[state_of(word)]}" in markup.shape(word)


@given(st.text())
def test_an_unknown_word_claims_nothing(word: str) -> None:
    assert word in SHAPES or word in SAME_AS or state_of(word) == "unmeasured"


def test_an_icon_that_does_not_exist_is_refused() -> None:
    with pytest.raises(KeyError):
        markup.icon("rocket")


def test_a_digest_is_drawn_and_its_whole_value_kept() -> None:
    digest = "cb44ae3756e3" + "0" * 52
    reader = read(markup.fingerprint(digest))
    assert reader.text == "cb44 ae37 56e3"
    assert dict(reader.elements[0][1])["data-copy"] == digest
    assert markup.fingerprint("") == "not known"


def test_times_carry_utc_for_machines() -> None:
    piece = markup.clock(1_764_460_800_000)
    assert dict(read(str(piece)).elements[0][1])["datetime"] == "2025-11-30T00:00:00Z"
    assert markup.ago(None) == markup.age(0) == markup.day(None) == "not known"


def test_pieces_are_escaped_html_and_so_are_not_escaped_again() -> None:
    assert html.unescape(str(markup.masked(18))) == '<span class="masked">masked, 18 characters</span>'
    assert hasattr(markup.masked(18), "__html__")


def test_the_name_of_a_store_does_not_break_at_its_hyphen() -> None:
    assert markup.unbroken("Attention: billing-core is degraded") == (
        '<bdi>Attention: <span class="unbroken">billing-core</span> is degraded</bdi>'
    )
    assert markup.unbroken("a - b") == "<bdi>a - b</bdi>"
    assert "unbroken" not in markup.unbroken("x-" * 40)
    assert "<i" not in markup.unbroken("<i>-<i> a-<i>b")
