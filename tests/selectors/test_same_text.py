"""Decisions that say exactly the same are found by their words, whatever case and spacing they are written in."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from stores.formats.search_text import common_terms, search_text
from stores.mirror.importing import import_store
from stores.mirror.registering import add_store
from stores.models import Decision
from stores.selectors.record_detail import same_text
from stores.worker.identity import this_worker
from tests.memory_folders import decision, make_project

LONG = "keep every word of the plan " * 200

WORDS = st.text(st.characters(codec="utf-8", categories=("Lu", "Ll", "Nd"), max_codepoint=0x24F), min_size=1, max_size=12)


@given(words=st.lists(WORDS, min_size=1, max_size=12), change=st.sampled_from((str, str.upper, str.lower, str.title, str.swapcase)))
def test_common_terms_stand_in_the_search_text_of_every_spelling(words: list[str], change: object) -> None:
    text = " ".join(words)
    other = change(text)  # type: ignore[operator]
    if other.casefold() != text.casefold():
        return
    terms = {word for term in common_terms(text) for word in term.tokens}
    assert terms <= set(search_text(text).split())
    assert terms <= set(search_text(other).split())


@pytest.mark.django_db(transaction=True)
def test_the_same_text_is_found_whatever_its_case_and_nothing_else_is(tmp_path: Path, settings: Settings) -> None:
    settings.STORE_ROOTS = (tmp_path.resolve(),)
    texts = [
        "Use PostgreSQL for the sessionCache",
        "use postgresql  for the sessioncache",
        "USE POSTGRESQL FOR THE SESSIONCACHE",
        "Use PostgreSQL for the sessionCache, too",
        "🦊🦊",
        "🦊🦊",
        LONG,
        LONG + "now",
        LONG.upper(),
        "使用 Redis 缓存",
        "使用 redis 缓存",
    ]
    memory = make_project(tmp_path, decisions=0)
    (memory / "decisions.jsonl").write_bytes(b"".join(decision(text, number) for number, text in enumerate(texts)))
    store = add_store(memory, worker=this_worker())
    import_store(store)
    rows = {row.line: row for row in Decision.objects.select_related("text")}
    groups = [{1, 2, 3}, {5, 6}, {7, 9}, {10, 11}]
    for line, row in rows.items():
        expected = next((group - {line} for group in groups if line in group), set())
        found = same_text(row)
        assert ({other.line for other in found.rows}, found.number) == (expected, len(expected)), texts[line - 1]
