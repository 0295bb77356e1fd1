"""Bytes of a store as a page may show them: secrets masked, invisible characters marked, a place in them pointed at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stores.formats.secret_bytes import characters_of, digits_of, secret_places
from stores.formats.secrets import Secret, find_secrets
from stores.formats.visible import visible

BEFORE, AFTER = 40, 64
"""Characters shown before and after a place."""
HEAD = 104
HEX_ROW = 16
CONTEXT_BYTES = 8 * 1024
"""Bytes around a piece that are looked at for secrets, so that no secret shows because the piece begins in its middle."""


class Piece(NamedTuple):
    """A run of one line as it is shown."""

    text: str
    kind: str
    """plain, mark (an invisible character by its code) or masked."""


class LineView(NamedTuple):
    """A window of one line: what stands before the place, the place, and what follows it."""

    cut_before: bool
    before: list[Piece]
    place: list[Piece]
    after: list[Piece]
    cut_after: bool


class HexRow(NamedTuple):
    """Up to 16 bytes: where they stand in the file, as hex digits, and as characters with dots for the rest."""

    offset: int
    digits: str
    characters: str


def line_view(raw: bytes, column: int | None = None, place_length: int = 64) -> LineView:
    """Show the part of a line around `column`, which counts bytes from 1; without it the head of the line.

    Bytes that are no UTF-8 come as U+FFFD. A secret that reaches into the window shows as one mask that tells its whole length.
    """
    text = raw.decode("utf-8", "replace")
    if column is None:
        pieces = list(_pieces(text, find_secrets(text), 0, min(len(text), HEAD)))
        return LineView(False, pieces, [], [], len(text) > HEAD)
    at = len(raw[: max(0, column - 1)].decode("utf-8", "replace"))
    start, end = max(0, at - BEFORE), min(len(text), at + AFTER)
    place_end = min(end, at + place_length)
    secrets = find_secrets(text)
    return LineView(
        start > 0,
        list(_pieces(text, secrets, start, at)),
        list(_pieces(text, secrets, at, place_end)),
        list(_pieces(text, secrets, place_end, end)),
        end < len(text),
    )


def whole_text(raw: bytes) -> list[Piece]:
    """Show all of some bytes as text."""
    text = raw.decode("utf-8", "replace")
    return list(_pieces(text, find_secrets(text), 0, len(text)))


def text_of_window(context: bytes, start: int, length: int) -> list[Piece]:
    """Show `length` bytes from `start` of some bytes as text; all of `context` is looked at for secrets."""
    text = context.decode("utf-8", "replace")
    first = len(context[:start].decode("utf-8", "replace"))
    last = len(context[: start + length].decode("utf-8", "replace"))
    return list(_pieces(text, find_secrets(text), first, last))


def hex_of_window(context: bytes, start: int, length: int, file_offset: int) -> list[HexRow]:
    """Show `length` bytes from `start` in rows of 16; bytes of secrets, looked for in all of `context`, come as `··`.

    `file_offset` is where the first shown byte stands in its file.
    """
    hidden = secret_places(context)
    rows = []
    for row in range(start, min(start + length, len(context)), HEX_ROW):
        data = context[row : min(row + HEX_ROW, start + length)]
        digits, characters = " ".join(digits_of(data, row, hidden)), "".join(characters_of(data, row, hidden))
        rows.append(HexRow(file_offset + row - start, digits.ljust(3 * HEX_ROW - 1), characters))
    return rows


def _pieces(text: str, secrets: tuple[Secret, ...], start: int, end: int) -> Iterator[Piece]:
    """Cut text[start:end] into plain runs, marks and masks."""
    at = start
    for secret in secrets:
        if secret.end <= at or secret.start >= end:
            continue
        yield from _visible(text[at : max(at, secret.start)])
        yield Piece(f"masked, {secret.end - secret.start:,} characters", "masked")
        at = min(secret.end, end)
    yield from _visible(text[at:end])


def _visible(text: str) -> Iterator[Piece]:
    """Mark what the eye does not see; a run of the same mark becomes one with its number."""
    repeated: list[str] = []

    def marks() -> Iterator[Piece]:
        if repeated:
            yield Piece(repeated[0] if len(repeated) == 1 else f"{repeated[0]} × {len(repeated):,}", "mark")
            repeated.clear()

    for span in visible(text) if text else ():
        if span.kind == "plain":
            yield from marks()
            yield Piece(span.text, "plain")
            continue
        if repeated and repeated[0] != span.text:
            yield from marks()
        repeated.append(span.text)
    yield from marks()
