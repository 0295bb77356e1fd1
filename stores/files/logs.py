"""Appends to logs that agents append to at the same moment (ruling 3), and asks who writes (ruling 4)."""

from __future__ import annotations

import fcntl
import os
import signal
import stat as stat_module
import time

from stores.errors import CannotWrite
from stores.files.exchanging import MAX_EXCHANGES
from stores.files.facts import REFUSALS, printable_name, state_of, why
from stores.files.opened import open_when_free

TORN_AFTER_S = 1.0
"""A line that lacks its end is waited for until its writer has been silent for so long."""
LONGEST_WAIT_S = 5.0
"""Nobody is waited for longer, however often something is written."""
OTHERS_WAIT_S = 0.5
"""Whoever opens a log for each line is through with it by then, also on a busy machine."""
KEEPERS_WAIT_S = 0.02
"""A log that somebody kept open longer is waited for so long, and for the next minute no longer."""
KEPT_FOR_S = 60.0
MOST_KEPT = 1000
LOOK_AGAIN_S = 0.0005


_kept: dict[tuple[int, int], float] = {}
"""Device and inode of logs that somebody keeps open, and until when that is taken for granted."""


def has_writer(descriptor: int) -> bool | None:
    """Say whether any process has a file open for writing, given one opened for reading; None where the kernel may not tell us (ruling 4)."""
    leased = _leased(descriptor, fcntl.F_RDLCK)
    return None if leased is None else not leased


def _leased(descriptor: int, kind: int) -> bool | None:
    """Try to take a lease, and give it back at once unless it is one on writing."""
    try:
        # By itself the kernel would tell of a broken lease by SIGIO, which ends a process; SIGURG is ignored.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, kind)
    except BlockingIOError:
        return False
    except OSError:
        return None
    if kind == fcntl.F_RDLCK:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return True


def open_log(directory: int, name: str, path: str) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        try:
            descriptor = open_when_free(name, flags, dir_fd=directory)
        except FileNotFoundError:
            descriptor = open_when_free(name, flags | os.O_CREAT, dir_fd=directory)
            os.fsync(directory)
    except OSError as err:
        state = state_of(err)
        raise CannotWrite(REFUSALS.get(state, "{path}: {why}.").format(path=printable_name(path), why=why(err))) from err
    if not stat_module.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise CannotWrite(REFUSALS["not_regular"].format(path=printable_name(path)))
    return descriptor


def append_lines(descriptor: int, lines: bytes, path: str) -> int:
    for _ in range(MAX_EXCHANGES):
        guard, written = _write_behind_whole_line(descriptor, lines, path)
        start = _made_durable(descriptor, written, len(guard) + len(lines), path) + len(guard)
        if guard or start == 0 or os.pread(descriptor, 1, start - 1) == b"\n":
            if os.pread(descriptor, len(lines), start) != lines:
                raise CannotWrite(
                    f"{printable_name(path)} does not hold what was just appended to it: somebody rewrites it at this moment."
                )
            return start
    raise CannotWrite(f"{printable_name(path)} ends in a torn line whenever something is appended: another writer is at work. Try again.")


def _write_behind_whole_line(descriptor: int, lines: bytes, path: str) -> tuple[bytes, int]:
    """Append in one write, behind a line break of our own if need be; give that, and how many bytes found room.

    Where nobody else has the log open, nobody can open it between our look at its end and our write. Somebody who has it open may be
    about to write a line, which is waited for a moment, or in the middle of one, which is waited for until it is whole.
    """
    began = time.monotonic()
    while True:
        alone = _leased(descriptor, fcntl.F_WRLCK)
        waited = time.monotonic() - began
        try:
            found = os.fstat(descriptor)
            torn = bool(found.st_size) and os.pread(descriptor, 1, found.st_size - 1) != b"\n"
            is_left = time.time() - found.st_mtime > TORN_AFTER_S if torn else alone is None or waited > _patience(found)
            if alone or is_left or waited > LONGEST_WAIT_S:
                _note_keeper(found, kept=not alone)
                guard = b"\n" if torn else b""
                return guard, os.write(descriptor, guard + lines)
        except OSError as err:
            raise CannotWrite(f"{printable_name(path)} cannot be written: {why(err)}. It is as it was.") from err
        finally:
            if alone:
                fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        time.sleep(LOOK_AGAIN_S)


def _patience(log: os.stat_result) -> float:
    """Say how long to wait for those who have a whole log open."""
    return KEEPERS_WAIT_S if time.monotonic() < _kept.get((log.st_dev, log.st_ino), 0.0) else OTHERS_WAIT_S


def _note_keeper(log: os.stat_result, *, kept: bool) -> None:
    _kept.pop((log.st_dev, log.st_ino), None)
    if kept:
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        _kept[log.st_dev, log.st_ino] = time.monotonic() + KEPT_FOR_S


def _made_durable(descriptor: int, written: int, wanted: int, path: str) -> int:
    """Have what was just written on the disk; give where it begins. What went wrong is taken back when nobody else has the file open."""
    end = os.lseek(descriptor, 0, os.SEEK_CUR)
    problem = f"only {written:,} of {wanted:,} bytes found room" if written < wanted else ""
    if not problem:
        try:
            os.fsync(descriptor)
        except OSError as err:
            # Never tried again on this descriptor: the kernel may have dropped the pages and would call them clean.
            problem = why(err)
    if not problem:
        return end - written
    if take_back(descriptor, end - written, end):
        raise CannotWrite(f"{printable_name(path)} cannot be written: {problem}. It is as it was.")
    raise CannotWrite(
        f"{printable_name(path)} cannot be written safely: {problem}. Others have it open, so what was written of {wanted:,} bytes stays in it."
    )


def take_back(descriptor: int, start: int, end: int) -> bool:
    """Cut off our own bytes at the end of a log, if no other process has it open: then nobody's line can be behind them."""
    if not _leased(descriptor, fcntl.F_WRLCK):
        return False
    try:
        if os.fstat(descriptor).st_size != end:
            return False
        os.ftruncate(descriptor, start)
        os.fsync(descriptor)
    except OSError:
        return os.fstat(descriptor).st_size == start
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return True
