"""Is a file still the one that was read, and from where must it be read now (rulings 1 and 11)."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import NamedTuple

from stores.files import FileStat, OpenedFile

HEAD_BYTES = 1024
TAIL_BYTES = 4096
RACY_NS = 2_000_000_000
RACY_REREAD_BYTES = 4 * 1024 * 1024


class Reading(StrEnum):
    """How much of a file has to be read."""

    UNCHANGED = "unchanged"
    CONTINUE = "continue"
    WHOLE = "whole"


class Known(NamedTuple):
    """What the mirror knows of a file from its last reading."""

    stat: FileStat
    offset: int
    head_sha256: bytes
    tail_sha256: bytes
    read_at_ns: int
    rereading: bool
    append_only: bool


def windows(opened: OpenedFile, offset: int) -> tuple[bytes, bytes]:
    """Hash the first min(1 KiB, offset) bytes and the last min(4 KiB, offset) bytes before the offset."""
    length = min(TAIL_BYTES, offset)
    return head_window(opened.at(0, HEAD_BYTES), offset), hashlib.sha256(opened.at(offset - length, length)).digest()


def head_window(head: bytes, offset: int) -> bytes:
    """Hash the first min(1 KiB, offset) bytes of a file that begins with `head`."""
    return hashlib.sha256(head[: min(HEAD_BYTES, offset)]).digest()


def plan_reading(known: Known | None, opened: OpenedFile) -> Reading:
    """Decide how much of an opened file has to be read.

    A log is continued only if inode and both windows are the same and it did not shrink; the same size with another time means
    that somebody wrote inside it. A file whose time lies within 2 s of its last reading may have changed without showing it, so
    it is read once more; a large log is then only checked by its windows, the daily scrub sees the rest.
    """
    if known is None:
        return Reading.WHOLE
    now = opened.stat
    same_times = (now.mtime_ns, now.ctime_ns) == (known.stat.mtime_ns, known.stat.ctime_ns)
    same = now.inode == known.stat.inode and now.size_bytes == known.stat.size_bytes and same_times
    racy = abs(now.mtime_ns - known.read_at_ns) < RACY_NS
    if same and not known.rereading and not racy:
        return Reading.UNCHANGED
    if not known.append_only or now.inode != known.stat.inode or now.size_bytes < known.stat.size_bytes:
        return Reading.WHOLE
    if now.size_bytes == known.stat.size_bytes and not same_times:
        return Reading.WHOLE
    if same and racy and now.size_bytes <= RACY_REREAD_BYTES:
        return Reading.WHOLE
    if windows(opened, known.offset) != (known.head_sha256, known.tail_sha256):
        return Reading.WHOLE
    if same and not known.rereading:
        return Reading.UNCHANGED
    return Reading.CONTINUE
