"""The pages of the database that a connection holds in memory."""

from __future__ import annotations

from django.db.backends.base.base import BaseDatabaseWrapper


def let_go_of_pages(connection: BaseDatabaseWrapper) -> None:
    """Let go of what is held of the database and was saved: it is read again where it is needed. Does nothing on another engine."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA shrink_memory")
