"""Whether a record's search text holds what a query asks for, by the rules of the text indexes of both engines (ruling 44)."""

from __future__ import annotations

from collections.abc import Sequence

from stores.formats.search_text import Term


def matches(terms: Sequence[Term], search: str) -> bool:
    """Tell whether a text made by `search_text` holds every term; no terms fit no text."""
    text = f" {search} "
    return bool(terms) and all(_phrase(term) in text for term in terms)


def _phrase(term: Term) -> str:
    words = " ".join(term.tokens)
    return f" {words}" if term.prefix else f" {words} "
