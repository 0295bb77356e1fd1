"""What the mirror keeps of a record."""

from __future__ import annotations

import pytest

from stores.formats.phase_memory.aliases import Record
from stores.formats.phase_memory.mirrored import MIRRORS


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"text": "Pages by cursor."}, "n 1 pages by cursor"),
        ({"text": "Pages by cursor.", "metadata": {"title": "Cursors"}}, "n 1 cursors pages by cursor"),
        ({"text": "Pages by cursor.", "metadata": {"title": "Pages by"}}, "n 1 pages by cursor"),
        ({"text": "Pages\nby cursor."}, "n 1 pages by cursor pages by cursor"),
        ({"metadata": {"title": "Cursors"}}, "n 1 cursors"),
        ({}, "n 1"),
    ],
)
def test_a_node_is_found_by_its_title_and_its_text(said: Record, words: str) -> None:
    assert MIRRORS["node"]({"id": "n.1", "kind": "claim", **said}).search == words


@pytest.mark.parametrize("nothing", [{}, {"provenance": None}, {"provenance": "agent.a"}])
def test_an_edge_that_says_neither_times_nor_where_it_comes_from_has_none(nothing: Record) -> None:
    values = MIRRORS["edge"]({"id": "e", "kind": "supports", "source": "a", "target": "b", **nothing}).values
    assert values == ("supports", "a", "b", "active", "", None, None, 0, 0, "a supports b", 0, "missing", 0, 0)
