"""Where in a text the words of a query stand, by the rules by which it was found (ruling 44)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from stores.formats.search_text import TOKEN_LIMIT, Term, search_text, whole_words

_ASCII_WORD: Final = re.compile("[A-Z]+(?=[A-Z][a-z])|[A-Z]*[a-z0-9]+|[A-Z]+")
"""A word, or one hump of it."""
_HUMP: Final = re.compile("(?<=a)A|(?<=A)Aa|(?<=.)1|(?<=1).")
"""Where a run of letters is parted, written in kinds: A capital, a small or digit, 1 a character that stands for itself."""


class _Word(NamedTuple):
    start: int
    end: int
    token: str


def hit_spans(text: str, terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Give the parts of `text` that the terms hit, as (start, end) in order and without overlap."""
    if not terms or not text:
        return []
    words = [*_words(text), *_whole_words(text)]
    hits: set[int] = set()
    for term in terms:
        length = len(term.tokens)
        for first in range(len(words) - length + 1):
            if _stands(term, words[first : first + length]):
                hits.update(range(first, first + length))
    return _joined(sorted(words[place] for place in hits))


def _stands(term: Term, words: Sequence[_Word]) -> bool:
    *before, last = term.tokens
    if any(word.token != token for word, token in zip(words, before, strict=False)):
        return False
    found = words[-1].token
    return found.startswith(last) if term.prefix else found == last


def _joined(words: Sequence[_Word]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for word in words:
        if spans and word.start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(word.end, spans[-1][1]))
        else:
            spans.append((word.start, word.end))
    return spans


def _words(text: str) -> Iterator[_Word]:
    """Give the words of a text with their places, each as the text index has it."""
    if text.isascii():
        for found in _ASCII_WORD.finditer(text):
            yield _Word(found.start(), found.end(), found[0].lower()[:TOKEN_LIMIT])
        return
    for start, end in _runs(text):
        yield from _parts(text, start, end)


def _whole_words(text: str) -> Iterator[_Word]:
    """Give the words that humps part as wholes: the index has them so behind all others."""
    for start, end in _runs(text):
        for token in whole_words(text[start:end]) if text[start:end].lower() != text[start:end] else ():
            yield _Word(start, end, token)


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Give the runs of letters and digits, as (start, end)."""
    start = None
    for place, character in enumerate(f"{text} "):
        inside = place < len(text) and (unicodedata.category(character)[0] in "LM" or unicodedata.category(character) in ("Nd", "Cf"))
        if inside and start is None:
            start = place
        elif not inside and start is not None:
            yield start, place
            start = None


def _parts(text: str, start: int, end: int) -> Iterator[_Word]:
    kinds = "".join(_kind(character) for character in text[start:end])
    cuts = [start, *(start + found.start() for found in _HUMP.finditer(kinds)), end]
    for first, last in pairwise(cuts):
        for token in search_text(text[first:last]).split():
            yield _Word(first, last, token)


def _kind(character: str) -> str:
    if unicodedata.category(character) == "Lo" and len(search_text(f"a{character}a").split()) > 1:
        return "1"
    return "A" if character.isupper() else "a"
