"""Cuts bytes into physical lines, streaming, with memory that does not grow with the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256

from stores.formats.base import Line

CAP = 1 << 20
"""Bytes of a line that is still read; longer ones are hashed and passed over (ruling 61)."""
WHOLE_CAP = 16 << 20
"""Bytes of a file that is one record."""
HEAD = 4096
"""Bytes that are kept of a longer line."""


class Zeros:
    """A run of zero bytes that nobody has to read: a hole of a sparse file, longer than the cap of a line."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, part: slice) -> bytes:
        return bytes(len(range(*part.indices(self.length))))

    @property
    def mark(self) -> bytes:
        """What a hash takes instead of the bytes: hashing a hole of 1 TiB would take as long as reading it."""
        return b"\0%d zeros\0" % self.length


def split_lines(chunks: Iterable[bytes | Zeros], *, number: int = 1, offset: int = 0, cap: int = CAP) -> Iterator[Line]:
    """Cut chunks of a file at `\\n` bytes, whatever the chunks' borders.

    `number` and `offset` are those of the first line. A last piece without a line break comes as a line that is not
    `terminated`, unless it is empty. At most one chunk and one line of `cap` bytes are held.
    """
    rest = b""
    long: _LongLine | None = None
    for chunk in chunks:
        if isinstance(chunk, Zeros):
            long = long or _LongLine(rest)
            long.add_zeros(chunk)
            rest = b""
            continue
        if long is not None:
            end = chunk.find(b"\n")
            if end < 0:
                long.add(chunk)
                continue
            long.add(chunk[:end])
            chunk = chunk[end + 1 :]
            yield long.line(number, offset, True)
            number += 1
            offset += long.length + 1
            long = None
        pieces = (rest + chunk).split(b"\n") if rest else chunk.split(b"\n")
        rest = pieces.pop()
        for piece in pieces:
            length = len(piece)
            if length > cap:
                yield _LongLine(piece).line(number, offset, True)
            else:
                yield Line(number, offset, length, piece, sha256(piece).digest(), True, False, b"")
            number += 1
            offset += length + 1
        if len(rest) > cap:
            long = _LongLine(rest)
            rest = b""
    if long is not None:
        yield long.line(number, offset, False)
    elif rest:
        yield Line(number, offset, len(rest), rest, sha256(rest).digest(), False, False, b"")


def whole_line(chunks: Iterable[bytes | Zeros], *, cap: int = WHOLE_CAP) -> Line:
    """Give all chunks of a file as one line, whatever line breaks are in them; beyond `cap` bytes only their head, length and hash."""
    pieces: list[bytes] = []
    length = 0
    long: _LongLine | None = None
    for chunk in chunks:
        length += len(chunk)
        if long is None and length <= cap:
            pieces.append(chunk[:] if isinstance(chunk, Zeros) else chunk)
            continue
        if long is None:
            long, pieces = _LongLine(b"".join(pieces)), []
        if isinstance(chunk, Zeros):
            long.add_zeros(chunk)
        else:
            long.add(chunk)
    if long is not None:
        return long.line(1, 0, True)
    data = b"".join(pieces)
    return Line(1, 0, length, data, sha256(data).digest(), True, False, b"")


class _LongLine:
    """A line beyond the cap: its head, its length and its hash so far."""

    def __init__(self, start: bytes) -> None:
        self.head = start[:HEAD]
        self.length = len(start)
        self._hash = sha256(start)

    def add(self, piece: bytes) -> None:
        self.head += piece[: HEAD - len(self.head)]
        self.length += len(piece)
        self._hash.update(piece)

    def add_zeros(self, zeros: Zeros) -> None:
        self.head += zeros[: HEAD - len(self.head)]
        self.length += zeros.length
        self._hash.update(zeros.mark)

    def line(self, number: int, offset: int, terminated: bool) -> Line:
        return Line(number, offset, self.length, b"", self._hash.digest(), terminated, True, self.head)
