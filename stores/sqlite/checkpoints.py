"""Checkpoints of a long import: beside its transactions, where neither they nor other writers wait for them."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from django.db.backends.base.base import BaseDatabaseWrapper

LOG_PAGES = 8_000
"""Pages of the write-ahead log that are worth a checkpoint."""
LONGEST_LOG_PAGES = 32_000
"""A log of this length is brought to its end between two transactions, so that the next one begins it anew: 256 MiB."""

log = logging.getLogger(__name__)


@contextmanager
def beside_transactions(connection: BaseDatabaseWrapper) -> Iterator[Callable[[], None]]:
    """Give what is to be called between the transactions of a long import, while the block runs.

    Each call lets a thread move the write-ahead log into the database while the next transaction is made. SQLite itself would do
    so at the end of a COMMIT, while the others queue, and the more often the more a batch writes. Does nothing on another engine,
    in memory, or within a transaction.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block or connection.is_in_memory_db():  # type: ignore[attr-defined]
        yield lambda: None
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_autocheckpoint")
        automatic = int(cursor.fetchone()[0])
        cursor.execute("PRAGMA wal_autocheckpoint = 0")
        checkpoints = _Checkpoints(str(connection.settings_dict["NAME"]))
        try:
            yield checkpoints.next
        finally:
            checkpoints.end()
            cursor.execute(f"PRAGMA wal_autocheckpoint = {automatic}")


class _Checkpoints:
    """The thread, and what it knows of the log's length."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._asked, self._done = threading.Event(), threading.Event()
        self._done.set()
        self._ended = False
        self._pages = self._moved = 0
        self._transactions, self._interval = 0, 1
        self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)

    def next(self) -> None:
        """Have the log moved when enough was added to it; wait for that only when it is far too long."""
        self._transactions += 1
        if self._transactions < self._interval or not self._done.is_set():
            return
        if not self._thread.is_alive() and not self._ended:
            self._thread.start()
        self._transactions = 0
        self._done.clear()
        self._asked.set()
        if self._pages >= LONGEST_LOG_PAGES:
            self._done.wait()

    def end(self) -> None:
        """End the thread; a log that it has moved whole is cut to nothing."""
        self._ended = True
        self._asked.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            with closing(sqlite3.connect(self._database, timeout=0, isolation_level=None)) as connection:
                while self._asked.wait() and not self._ended:
                    self._asked.clear()
                    self._move(connection)
                    self._done.set()
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as err:
            log.warning("The write-ahead log of %s grows until this import ends: %s.", self._database, err)
            self._ended = True
            self._done.set()

    def _move(self, connection: sqlite3.Connection) -> None:
        _, pages, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        added = pages - self._moved if pages >= self._pages else pages
        self._pages, self._moved = pages, moved
        self._interval = max(1, min(64, round(self._interval * LOG_PAGES / max(added, 1))))
