"""Finds letters of another alphabet within a word of Latin ones: they look like letters that they are not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_WORD: Final = re.compile(r"[^\W\d_]+")
_LATIN: Final = re.compile(r"[A-Za-z]")
_ALIKE: Final = re.compile(
    "[\u0370-\u03ff\u0400-\u052f\u0530-\u058f\u10a0-\u10ff\u13a0-\u13ff\u1c80-\u1c8f\u2c80-\u2cff\ua4d0-\ua4ff\uab30-\uabbf\uff21-\uff5a\U0001d400-\U0001d7ff]"
)
"""Greek, Cyrillic, Armenian, Georgian, Cherokee, Coptic, Lisu, full-width and mathematical letters."""


def lookalikes(text: str) -> Iterator[tuple[int, int]]:
    """Give the places of letters that stand among Latin ones of the same word and are none: (start, end), in order."""
    if text.isascii():
        return
    for word in _WORD.finditer(text):
        if _LATIN.search(word[0]):
            for match in _ALIKE.finditer(word[0]):
                yield word.start() + match.start(), word.start() + match.end()


def mixes_alphabets(text: str) -> bool:
    """Say whether any word of a text does so."""
    return next(lookalikes(text), None) is not None
