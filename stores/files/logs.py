"""Appends to logs that agents append to at the same moment (ruling 3), and asks who writes (ruling 4)."""

from __future__ import annotations

import fcntl
import os
import signal
import stat as stat_module

from stores.errors import CannotWrite
from stores.files.exchanging import MAX_EXCHANGES
from stores.files.facts import REFUSALS, printable_name, state_of, why


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
            descriptor = os.open(name, flags, dir_fd=directory)
        except FileNotFoundError:
            descriptor = os.open(name, flags | os.O_CREAT, 0o600, dir_fd=directory)
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
        size = os.fstat(descriptor).st_size
        guard = b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""
        start = _write_once(descriptor, guard + lines, path) + len(guard)
        if guard or start == 0 or os.pread(descriptor, 1, start - 1) == b"\n":
            if os.pread(descriptor, len(lines), start) != lines:
                raise CannotWrite(
                    f"{printable_name(path)} does not hold what was just appended to it: somebody rewrites it at this moment."
                )
            return start
    raise CannotWrite(f"{printable_name(path)} ends in a torn line whenever something is appended: another writer is at work. Try again.")


def _write_once(descriptor: int, data: bytes, path: str) -> int:
    """Append in one write; give where it begins. What went wrong is taken back when nobody else has the file open."""
    try:
        written = os.write(descriptor, data)
    except OSError as err:
        raise CannotWrite(f"{printable_name(path)} cannot be written: {why(err)}. It is as it was.") from err
    end = os.lseek(descriptor, 0, os.SEEK_CUR)
    problem = f"only {written:,} of {len(data):,} bytes found room" if written < len(data) else ""
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
        f"{printable_name(path)} cannot be written safely: {problem}. Others have it open, so what was written of {len(data):,} bytes stays in it."
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
