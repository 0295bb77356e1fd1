"""The database backend: every write of worker and web queues at one turnstile (ruling 8).

Readers never wait, since the database is in WAL mode. A transaction takes the turnstile before BEGIN IMMEDIATE and leaves it
after COMMIT or ROLLBACK; a single statement in autocommit mode takes it for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base

from stores.sqlite.turnstile import Turnstile

_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER")


class QueueingCursor(base.SQLiteCursorWrapper):
    """A cursor whose writes outside a transaction pass the turnstile."""

    owner: DatabaseWrapper

    def execute(self, query: str, params: Any = None) -> Any:
        """Run one statement."""
        if self.owner.must_queue(query):
            return self.owner.write_alone(lambda: super(QueueingCursor, self).execute(query, params))
        return super().execute(query, params)

    def executemany(self, query: str, param_list: Any) -> Any:
        """Run one statement for many rows."""
        if self.owner.must_queue(query):
            return self.owner.write_alone(lambda: super(QueueingCursor, self).executemany(query, param_list))
        return super().executemany(query, param_list)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's wrapper with a turnstile before each write."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._turnstile: Turnstile | None = None
        self._turnstile_name = ""
        self._holds_turnstile = False
        self.waited_for_turnstile = False

    def _gate(self) -> Turnstile | None:
        name = str(self.settings_dict["NAME"])
        if self.is_in_memory_db() or not name:
            return None
        if self._turnstile is None or self._turnstile_name != name:
            self._turnstile, self._turnstile_name = Turnstile(Path(name)), name
        return self._turnstile

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open the database; its folder is made when missing."""
        name = str(self.settings_dict["NAME"])
        if not self.is_in_memory_db() and name:
            Path(name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            Path(name).touch(mode=0o600)  # SQLite gives its other files the mode of this one.
        return super().get_new_connection(conn_params)

    def create_cursor(self, name: str | None = None) -> QueueingCursor:
        """Give a cursor that passes the turnstile when it writes alone."""
        cursor: QueueingCursor = self.connection.cursor(factory=QueueingCursor)
        cursor.owner = self
        return cursor

    def must_queue(self, query: str) -> bool:
        """Say whether the statement writes outside a transaction."""
        return not self._holds_turnstile and self.get_autocommit() and query.lstrip()[:8].upper().startswith(_WRITES)

    def write_alone(self, write: Callable[[], Any]) -> Any:
        """Do one write of autocommit mode behind the turnstile."""
        gate = self._gate()
        if gate is None:
            return write()
        self.waited_for_turnstile = gate.acquire()
        try:
            return write()
        finally:
            gate.release()

    def _start_transaction_under_autocommit(self) -> None:
        gate = self._gate()
        if gate is None or self._holds_turnstile:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
            return
        self.waited_for_turnstile = gate.acquire()
        self._holds_turnstile = True
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._leave()
            raise

    def _leave(self) -> None:
        if self._holds_turnstile and self._turnstile is not None:
            self._holds_turnstile = False
            self._turnstile.release()

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc]
        finally:
            if self.connection is None or not self.connection.in_transaction:
                self._leave()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._leave()

    def close(self) -> None:
        """Close the connection; a turnstile still held is left."""
        try:
            super().close()
        finally:
            self._leave()
