"""The lines of a file as its reader takes them, each told apart: settled, or to be read again when the file grows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from stores.formats.base import Line, LineClass, LineReader, Parsed
from stores.formats.javascript import may_need_trim


class Piece(NamedTuple):
    """One parsed line. `state_before` is given with the first provisional line only.

    `resumable`: after this line the reader stands exactly behind it, so reading can go on from here later.
    """

    line: Line
    parsed: Parsed
    provisional: bool
    state_before: str
    resumable: bool


class PieceReader:
    """Iterates over the pieces of a file; `reader_state` is the reader's state after the piece given last."""

    def __init__(self, lines: Iterable[Line], reader: LineReader, make_reader: Callable[[str], LineReader]) -> None:
        self._lines = iter(lines)
        self._reader = reader
        self._make_reader = make_reader

    def reader_state(self) -> str:
        """Give the reader's state; meaningful after a resumable piece and at the end."""
        return self._reader.state()

    def __iter__(self) -> Iterator[Piece]:
        for line in self._lines:
            yield from self._read(line)

    def _read(self, line: Line) -> Iterator[Piece]:
        if not line.terminated:
            state = self._reader.state()
            yield Piece(line, self._reader.read(line), True, state, False)
            return
        # Only a line that ends in whitespace beyond JSON's own can hang on being the last one; asking for the state is not free.
        may_hold = may_need_trim(line.data)
        state = self._reader.state() if may_hold else ""
        parsed = self._reader.read(line)
        if not parsed.hold:
            yield Piece(line, parsed, False, "", True)
            return
        yield from self._held(line, parsed, state)

    def _held(self, line: Line, parsed: Parsed, state: str) -> Iterator[Piece]:
        """Wait for what follows a line whose verdict depends on being the last one that is not blank."""
        blanks: list[Piece] = []
        for following in self._lines:
            after = self._reader.read(following)
            if after.line_class is LineClass.BLANK:
                blanks.append(Piece(following, after, True, "", False))
                continue
            self._reader = self._make_reader(state)
            yield Piece(line, self._reader.read(line, last=False), False, "", not blanks)
            for index, blank in enumerate(blanks):
                again = self._reader.read(blank.line)
                yield Piece(blank.line, again, False, "", index + 1 == len(blanks))
            yield from self._read(following)
            return
        yield Piece(line, parsed, True, state, False)
        yield from blanks
