"""Cuts a whole file into lines as OrchestKit's JavaScript does: the text is trimmed first, then split at line feeds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stores.formats.javascript import JS_WHITESPACE

NumberedLine = tuple[int, bytes]
"""A physical line's number in the file, from 1, and its bytes without the line feed."""

_WHITESPACE: Final = tuple(character.encode() for character in JS_WHITESPACE)


def lines(data: bytes) -> Iterator[NumberedLine]:
    """Give the lines that are not empty, the first one first; white space before and behind the whole text is gone."""
    start, end = _span(data)
    number = data.count(b"\n", 0, start) + 1
    for line in data[start:end].split(b"\n"):
        if line:
            yield number, line
        number += 1


def lines_from_the_end(data: bytes) -> Iterator[NumberedLine]:
    """Give the same lines, the last one first, without looking at more of the file than is asked for."""
    start, end = _span(data)
    number = data.count(b"\n", 0, end) + 1
    while end > start:
        before = data.rfind(b"\n", start, end)
        if before + 1 < end:
            yield number, data[max(before + 1, start) : end]
        number -= 1
        end = before if before >= 0 else start


def _span(data: bytes) -> tuple[int, int]:
    """Give where the trimmed text begins and ends."""
    start, end = 0, len(data)
    while start < end:
        found = next((white for white in _WHITESPACE if data.startswith(white, start)), None)
        if found is None:
            break
        start += len(found)
    while end > start:
        found = next((white for white in _WHITESPACE if data.endswith(white, start, end)), None)
        if found is None:
            break
        end -= len(found)
    return start, end
