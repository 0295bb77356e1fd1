"""Texts and queries are made of the same words."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.search_text import LIMIT_BYTES, Term, fts5_query, parse_query, search_text, tsquery

TEXT = st.text(st.characters(codec="utf-8"), max_size=120)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Use Redis, not Memcached!", "use redis not memcached"),
        ("pg_dump cursor-pagination docs/api.v2:main", "pg dump cursor pagination docs api v2 main"),
        ("cursorPagination HTTPServer2 iOS", "cursor pagination http server2 i os cursorpagination httpserver2 ios"),
        ("ÉcoleNormale Crème BRÛLÉE", "ecole normale creme brulee ecolenormale"),
        ("Straße ﬁne ①② \uff21\uff22\uff23", "strasse fine 12 abc"),
        ("日本語テキスト", "日 本 語 テ キ ス ト"),
        ("ガ と か", "ガ と か"),
        ("한국어 텍스트", "한국어 텍스트"),
        ("שָׁלוֹם עולם", "שלום עולם"),
        ("٢٠٢٦", "2026"),
        ("pay\u200bpal soft\u00adhyphen", "paypal softhyphen"),
        ("a 😀 b", "a b"),
        ("x" * 70, "x" * 64),
        ("", ""),
        (" .,;\n", ""),
    ],
)
def test_words_are_small_bare_and_parted(text: str, words: str) -> None:
    assert search_text(text) == words


@given(TEXT)
def test_making_words_twice_changes_nothing(text: str) -> None:
    assert search_text(search_text(text)) == search_text(text)


@given(st.text(st.characters(max_codepoint=127), max_size=200))
def test_the_quick_way_for_ascii_gives_what_the_long_way_gives(text: str) -> None:
    assert Counter([*search_text(text).split(), "e"]) == Counter(search_text(text, "é").split())


@given(TEXT, TEXT)
def test_several_texts_have_the_words_of_each(first: str, second: str) -> None:
    assert Counter(search_text(first, second).split()) == Counter([*search_text(first).split(), *search_text(second).split()])


@given(TEXT)
def test_words_are_letters_and_digits_one_space_apart(text: str) -> None:
    words = search_text(text)
    assert words == " ".join(words.split())
    assert all(len(word) <= 64 for word in words.split())
    assert all(character == " " or character.isalnum() for character in words)


@pytest.mark.parametrize("word", ["word ", "wörd ", "語"])
def test_the_text_ends_with_a_whole_word_below_64_kib(word: str) -> None:
    words = search_text(word * 40_000)
    assert LIMIT_BYTES - 80 < len(words.encode()) <= LIMIT_BYTES
    assert set(words.split()) == {search_text(word)}


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("redis cache", (Term(("redis",), False), Term(("cache",), True))),
        ("use pg_du", (Term(("use",), False), Term(("pg", "du"), True))),
        ('"cursor pagination" redis', (Term(("cursor", "pagination"), False), Term(("redis",), True))),
        ('redis "cursor pagination"', (Term(("redis",), False), Term(("cursor", "pagination"), False))),
        ('"not closed', (Term(("not", "closed"), False),)),
        ("日本", (Term(("日", "本"), True),)),
        (" ,,  ", ()),
        ('""', ()),
        ("", ()),
    ],
)
def test_a_query_is_read_in_words_and_phrases(query: str, terms: tuple[Term, ...]) -> None:
    assert parse_query(query) == terms


def test_only_200_characters_of_a_query_count() -> None:
    assert parse_query("a" * 199 + " bcd") == (Term(("a" * 64,), True),)
    assert parse_query("a " * 98 + "abcdefgh")[-1] == Term(("abcd",), True)


def test_no_terms_make_no_expression() -> None:
    assert fts5_query(()) == tsquery(()) == ""


def test_expressions_quote_every_word() -> None:
    terms = parse_query('and "or not" near')
    assert fts5_query(terms, ["s1", "s2"]) == 'search : ("and" AND "or not" AND "near" *) AND scope : ("s1" OR "s2")'
    assert tsquery(terms) == "('and') & ('or' <-> 'not') & ('near':*)"


@pytest.fixture(scope="module")
def index() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE records USING fts5(scope, search, tokenize='unicode61')")
        yield connection


def found(index: sqlite3.Connection, text: str, query: str) -> bool:
    index.execute("DELETE FROM records")
    index.execute("INSERT INTO records (scope, search) VALUES ('s1', ?)", [search_text(text)])
    expression = fts5_query(parse_query(query), ["s1"])
    return bool(expression) and index.execute("SELECT count(*) FROM records WHERE records MATCH ?", [expression]).fetchone() == (1,)


@pytest.mark.parametrize(
    ("text", "query", "hit"),
    [
        ("Use cursorPagination for lists", "cursor_pag", True),
        ("Use cursorPagination for lists", '"pagination for"', True),
        ("Use cursorPagination for lists", '"for pagination"', False),
        ("Keep PostgreSQL for sessions", "postgres", True),
        ("Keep PostgreSQL for sessions", "postgreSQL", True),
        ("Keep PostgreSQL for sessions", '"sql for"', True),
        ("日本語のテキスト", "本語", True),
        ("日本語のテキスト", "語本", False),
        ("שָׁלוֹם", "שלו", True),
        ("pay\u200bpal", "paypal", True),
        ("Straße", "STRASSE", True),
        ("s1", "s2", False),
    ],
)
def test_fts5_finds_what_the_words_say(index: sqlite3.Connection, text: str, query: str, hit: bool) -> None:
    assert found(index, text, query) is hit


@given(query=st.text(st.characters(codec="utf-8"), max_size=40))
def test_no_query_upsets_fts5(index: sqlite3.Connection, query: str) -> None:
    assert found(index, query, query) in (True, False)


def test_a_store_is_searched_alone(index: sqlite3.Connection) -> None:
    index.execute("DELETE FROM records")
    index.executemany("INSERT INTO records (scope, search) VALUES (?, 'redis')", [("s1",), ("s2",), ("s12",)])
    count = "SELECT count(*) FROM records WHERE records MATCH ?"
    assert index.execute(count, [fts5_query(parse_query("redis"), ["s1"])]).fetchone() == (1,)
    assert index.execute(count, [fts5_query(parse_query("redis"))]).fetchone() == (3,)
    assert index.execute(count, [fts5_query(parse_query("s1"))]).fetchone() == (0,)
