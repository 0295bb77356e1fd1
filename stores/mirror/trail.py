"""The bytes that were read last: what stood before a place is hashed as it was read, since the file may say something else by then."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator

from stores.files import OpenedFile
from stores.formats.lines import Zeros
from stores.mirror.identity import TAIL_BYTES

PIECES_KEPT = 4
"""Pieces of 1 MiB: the current one, a line of the longest kind before it, and the window before that."""


class Trail:
    """Remembers the end of what was read of a file, from an offset on."""

    def __init__(self, opened: OpenedFile, offset: int) -> None:
        self._opened = opened
        self._start = max(0, offset - TAIL_BYTES)
        self._pieces: deque[bytes | Zeros] = deque([opened.at(self._start, offset - self._start)])

    def following(self, pieces: Iterable[bytes | Zeros]) -> Iterator[bytes | Zeros]:
        """Pass on the pieces that are read, and remember the last ones."""
        for piece in pieces:
            self._pieces.append(piece)
            if len(self._pieces) > PIECES_KEPT:
                self._start += len(self._pieces.popleft())
            yield piece

    def window(self, offset: int) -> bytes:
        """Hash the last min(4 KiB, offset) bytes before an offset.

        They are those that were read, but where a line without end left them too far behind: then those that stand there now.
        """
        begin = max(0, offset - TAIL_BYTES)
        if begin < self._start:
            return hashlib.sha256(self._opened.at(begin, offset - begin)).digest()
        digest, at = hashlib.sha256(), self._start
        for piece in self._pieces:
            digest.update(piece[max(0, begin - at) : max(0, offset - at)])
            at += len(piece)
        return digest.digest()
