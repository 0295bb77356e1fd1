"""A fair lock between processes: whoever waits longest writes next."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

_in_process = threading.RLock()
"""Threads of one process queue here: `flock` knows open files, not threads."""


class Turnstile:
    """An exclusive lock on two files beside a database.

    SQLite lets waiters poll, so a writer that commits often starves all others (ruling 8). Here a waiter holds the turnstile
    while it waits for the lock, and nobody passes it there: each waits for one transaction at most.
    """

    def __init__(self, database: Path) -> None:
        self._turnstile_path = f"{database}.turnstile"
        self._lock_path = f"{database}.writer"
        self._files: tuple[int, int] | None = None
        self._pid = 0

    def _open(self) -> tuple[int, int]:
        # A forked child must not share its parent's open files: a lock belongs to the open file.
        if self._files is None or self._pid != os.getpid():
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            self._files = (os.open(self._turnstile_path, flags, 0o600), os.open(self._lock_path, flags, 0o600))
            self._pid = os.getpid()
        return self._files

    def acquire(self) -> bool:
        """Wait until this thread may write; True if it had to wait."""
        waited = not _in_process.acquire(blocking=False)
        if waited:
            _in_process.acquire()
        turnstile, lock = self._open()
        waited = _flock(turnstile) or waited
        waited = _flock(lock) or waited
        fcntl.flock(turnstile, fcntl.LOCK_UN)
        return waited

    def release(self) -> None:
        """Let the next one write."""
        _, lock = self._open()
        fcntl.flock(lock, fcntl.LOCK_UN)
        _in_process.release()


def _flock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return True
    return False
