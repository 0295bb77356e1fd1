"""What a search marks is what it found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.highlights import hit_spans
from stores.formats.search_text import parse_query, search_text
from stores.formats.text_match import matches


def marked(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in hit_spans(text, parse_query(query))]


@pytest.mark.parametrize(
    ("text", "query", "hits"),
    [
        ("Use Redis, not redistribution", "redis ", ["Redis", "redistribution"]),
        ("Use Redis, not redistribution", '"redis"', ["Redis"]),
        ("redis redistribution", "redis use", ["redis"]),
        ("cursorPagination with pg_dump", "pagination", ["Pagination"]),
        ("cursorPagination with pg_dump", "pg_dump", ["pg", "dump"]),
        ("dump pg", '"pg dump"', []),
        ("Über die Übung", "ubung", ["Übung"]),
        ("支付服务很慢", "付服", ["付服"]),
        ("שלום עולם", "עולם", ["עולם"]),
        ("HTTPServer restarts", "server", ["Server"]),
        ("", "x", []),
        ("text", "?!", []),
    ],
)
def test_words_are_marked_where_they_stand(text: str, query: str, hits: list[str]) -> None:
    assert marked(text, query) == hits


@given(text=st.text(max_size=60), query=st.text(max_size=20))
def test_spans_lie_in_the_text_in_order(text: str, query: str) -> None:
    end = 0
    for start, stop in hit_spans(text, parse_query(query)):
        assert end <= start < stop <= len(text)
        end = stop


@given(
    words=st.lists(st.sampled_from(["redis", "Cursor", "pagination", "支付", "naïve", "getUserId", "a_b"]), min_size=1, max_size=8),
    at=st.data(),
)
def test_what_is_found_is_marked_and_what_is_not_found_is_not(words: list[str], at: st.DataObject) -> None:
    text = " ".join(words)
    query = at.draw(st.sampled_from(["redis", "curs", '"cursor pagination"', "付", "naive", "user", '"a b"', "zebra"]))
    terms = parse_query(query)
    assert bool(hit_spans(text, terms)) == matches(terms, search_text(text))


@given(text=st.text(alphabet="aBcD1_ -", max_size=30))
def test_plain_text_is_cut_as_the_index_cuts_it(text: str) -> None:
    for token in search_text(text).split():
        assert hit_spans(text, parse_query(f'"{token}"')), token
