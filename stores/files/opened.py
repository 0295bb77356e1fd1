"""Opened files and folders of a store: reading their bytes, and locking them."""

from __future__ import annotations

import errno
import fcntl
import os
import stat as stat_module
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from stores.files.facts import REFUSALS, CannotRead, FileStat, printable_name, raw_path, state_of, why
from stores.formats.lines import Zeros

CHUNK_BYTES = 1024 * 1024
LOCK_WAIT_S = 5.0
LEASED_S = 1.0
"""Whoever appends to a log holds it for the moment between a look and a write; one that is held for longer is somebody else's."""


def open_when_free(name: str, flags: int, mode: int = 0o600, *, dir_fd: int) -> int:
    """Open a file without blocking, as `os.open` does, but for the moment in which somebody holds it by a lease. Raises OSError."""
    until = time.monotonic() + LEASED_S
    while True:
        try:
            return os.open(name, flags, mode, dir_fd=dir_fd)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
        time.sleep(0.0005)


class OpenedFile:
    """A regular file opened for reading; `stat` is of the moment it was opened."""

    def __init__(self, descriptor: int, stat: FileStat) -> None:
        self.descriptor = descriptor
        self.stat = stat

    def __enter__(self) -> OpenedFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        os.close(self.descriptor)

    def at(self, offset: int, length: int) -> bytes:
        """Give up to `length` bytes from `offset`; fewer only at the end of the file."""
        pieces: list[bytes] = []
        while length > 0:
            piece = os.pread(self.descriptor, length, offset)
            if not piece:
                break
            pieces.append(piece)
            offset += len(piece)
            length -= len(piece)
        return b"".join(pieces)

    def chunks(self, offset: int, end: int) -> Iterator[bytes | Zeros]:
        """Give the bytes from `offset` to `end` in pieces of at most 1 MiB; what grows behind `end` is left for the next time.

        A longer hole of a sparse file comes as one piece, unread.
        """
        while offset < end:
            hole = self._next_data(offset, end) - offset
            if hole > CHUNK_BYTES:
                yield Zeros(hole)
                offset += hole
                continue
            piece = os.pread(self.descriptor, min(CHUNK_BYTES, end - offset), offset)
            if not piece:
                return
            yield piece
            offset += len(piece)

    def _next_data(self, offset: int, end: int) -> int:
        """Give where the next bytes lie that were ever written, `end` or the end of the file where there are none."""
        try:
            return min(end, os.lseek(self.descriptor, offset, os.SEEK_DATA))
        except OSError as err:
            if err.errno != errno.ENXIO:
                return offset
            return max(offset, min(end, os.fstat(self.descriptor).st_size))


class OpenedFolder:
    """A folder of a store, opened: its entries cost one call each, and so does opening one of its files."""

    def __init__(self, descriptor: int, path: str) -> None:
        self.descriptor = descriptor
        self.path = path

    def entries(self) -> Iterator[os.DirEntry[str]]:
        """Give the folder's entries; a name that is no UTF-8 is no text that a database holds (`printable_name`)."""
        with os.scandir(self.descriptor) as entries:
            yield from entries

    def stat(self, name: str) -> FileStat | None:
        """Give the facts of an entry, links not followed; None where there is none any more."""
        try:
            return FileStat.of(os.stat(name, dir_fd=self.descriptor, follow_symlinks=False))
        except OSError:
            return None

    def read(self, name: str, most: int) -> tuple[FileStat, bytes]:
        """Give a file's facts and its bytes, at most one more than `most`; raises CannotRead."""
        try:
            opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.descriptor)
        except OSError as err:
            shown = printable_name(raw_path(self.path, name))
            state = state_of(err)
            raise CannotRead(state, REFUSALS.get(state, "{path}: {why}.").format(path=shown, why=why(err))) from err
        try:
            result = os.fstat(opened)
            if not stat_module.S_ISREG(result.st_mode):
                raise CannotRead("not_regular", REFUSALS["not_regular"].format(path=printable_name(raw_path(self.path, name))))
            data = os.read(opened, min(result.st_size, most) + 1)
            # A file that grew meanwhile is read on; most end where their size says.
            while len(data) != result.st_size and len(data) <= most and (more := os.read(opened, most + 1 - len(data))):
                data += more
            return FileStat.of(result), data
        except OSError as err:
            raise CannotRead("unreadable", f"{printable_name(raw_path(self.path, name))}: {why(err)}.") from err
        finally:
            os.close(opened)


@contextmanager
def flocked(descriptor: int, wait_s: float) -> Iterator[bool]:
    """Hold a lock; gives False when another process held it for wait_s seconds."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() >= deadline:
                yield False
                return
            time.sleep(0.02)
    try:
        yield True
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
