"""What is known of a file without reading it, and how what cannot be read is named."""

from __future__ import annotations

import errno
import os
import stat as stat_module
from typing import NamedTuple

MAX_INT64 = 2**63 - 1
REFUSALS = {
    "symlink": "{path} is a link, and links are not followed.",
    "not_regular": "{path} is no regular file and was not opened.",
}


class FileStat(NamedTuple):
    """What change detection looks at (ruling 11)."""

    device: int
    inode: int
    size_bytes: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, result: os.stat_result) -> FileStat:
        """Take the five facts from a stat result, as a database holds them: anybody may date a file after the year 2262."""
        mtime_ns, ctime_ns = result.st_mtime_ns, result.st_ctime_ns
        if not (-MAX_INT64 <= mtime_ns <= MAX_INT64 and -MAX_INT64 <= ctime_ns <= MAX_INT64):
            mtime_ns, ctime_ns = (max(-MAX_INT64, min(nanoseconds, MAX_INT64)) for nanoseconds in (mtime_ns, ctime_ns))
        return cls(result.st_dev & MAX_INT64, result.st_ino & MAX_INT64, result.st_size, mtime_ns, ctime_ns)


class Entry(NamedTuple):
    """One directory entry below the root. `kind`: file, directory, symlink or other; `path` is text fit for a database."""

    path: str
    kind: str
    stat: FileStat
    is_named: bool = True
    """The path names it: False where a name is no UTF-8, so that the entry cannot be opened by this text."""


class CannotRead(Exception):
    """A file of a store that cannot be read; `state` is missing, symlink, not_regular or unreadable."""

    def __init__(self, state: str, message: str) -> None:
        super().__init__(message)
        self.state = state


def printable_name(name: str) -> str:
    """Give a file name as text: bytes that are no UTF-8 come as `\\xff`, so that it can be stored and shown."""
    return os.fsencode(name).decode("utf-8", "backslashreplace").replace("\0", "\u2400")


def why(err: OSError) -> str:
    """Give the cause of an OSError in plain words."""
    return os.strerror(err.errno).lower() if err.errno else str(err)


def raw_path(below: str, name: str) -> str:
    return f"{below}/{name}" if below else name


def entry_of(below: str, entry: os.DirEntry[str]) -> Entry | None:
    raw = raw_path(below, entry.name)
    path = printable_name(raw)
    try:
        result = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError:
        return Entry(path, "other", FileStat(0, 0, 0, 0, 0), path == raw)
    mode = result.st_mode
    kind = (
        "symlink"
        if stat_module.S_ISLNK(mode)
        else "directory"
        if stat_module.S_ISDIR(mode)
        else "file"
        if stat_module.S_ISREG(mode)
        else "other"
    )
    return Entry(path, kind, FileStat.of(result), path == raw)


def state_of(err: OSError) -> str:
    if err.errno == errno.ELOOP:
        return "symlink"
    if err.errno in (errno.ENOENT, errno.ENOTDIR):
        return "missing"
    if err.errno in (errno.ENXIO, errno.ENODEV):
        return "not_regular"
    return "unreadable"
