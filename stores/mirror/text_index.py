"""The text index of each record table: FTS5 on SQLite, a stored tsvector with GIN on PostgreSQL (rulings 44, 75).

Both index `RecordText.search` of live records only, and give the same records for the same query.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection
from django.db.utils import DatabaseError

from stores.formats.search_text import Term, fts5_query, tsquery
from stores.models import MirroredRecord

FOUND_LIMIT = 10_001


def index_table(model: type[MirroredRecord]) -> str:
    """Name of the FTS5 table of a record table."""
    return f"{model._meta.db_table}_fts"


def create_statements(record_table: str, text_table: str, vendor: str) -> list[str]:
    """SQL that makes the index of one record table; used by the migration."""
    if vendor == "postgresql":
        return [
            f"ALTER TABLE {text_table} ADD COLUMN vector tsvector GENERATED ALWAYS AS (to_tsvector('simple', search)) STORED",
            f"CREATE INDEX {text_table}_vector ON {text_table} USING gin (vector)",
        ]
    view, index = f"{record_table}_fts_source", f"{record_table}_fts"
    return [
        f"CREATE VIEW {view} AS SELECT t.record_id, 's' || t.store_id AS scope, t.search FROM {text_table} t "
        f"JOIN {record_table} r ON r.id = t.record_id WHERE r.gone_at IS NULL",
        # Sizes of texts serve ranking alone, and hits are never ranked. Merging later makes imports quicker and searches hardly slower.
        f"CREATE VIRTUAL TABLE {index} USING fts5(scope, search, content='{view}', content_rowid='record_id', columnsize=0, "
        "tokenize='unicode61 remove_diacritics 0')",
        f"INSERT INTO {index} ({index}, rank) VALUES ('automerge', 16)",
    ]


def drop_statements(record_table: str, text_table: str, vendor: str) -> list[str]:
    """SQL that takes the index away again."""
    if vendor == "postgresql":
        return [f"ALTER TABLE {text_table} DROP COLUMN vector"]
    return [f"DROP TABLE {record_table}_fts", f"DROP VIEW {record_table}_fts_source"]


def add_range(model: type[MirroredRecord], first_id: int, last_id: int) -> None:
    """Index the texts of newly inserted live records with ids of this range."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {index_table(model)} (rowid, scope, search) SELECT record_id, 's' || store_id, search "
            f"FROM {model.text_model._meta.db_table} WHERE record_id BETWEEN %s AND %s",
            [first_id, last_id],
        )


def add(model: type[MirroredRecord], rows: Sequence[tuple[int, int, str]]) -> None:
    """Index (record id, store id, search text) of records that came back or were reworded."""
    _write(model, "INSERT INTO {index} (rowid, scope, search) VALUES (?, ?, ?)", rows)


def remove(model: type[MirroredRecord], rows: Sequence[tuple[int, int, str]]) -> None:
    """Take (record id, store id, the search text that was indexed) out; FTS5 needs the old text (ruling 44)."""
    _write(model, "INSERT INTO {index} ({name}, rowid, scope, search) VALUES ('delete', ?, ?, ?)", rows)


def _write(model: type[MirroredRecord], statement: str, rows: Sequence[tuple[int, int, str]]) -> None:
    if connection.vendor != "sqlite" or not rows:
        return
    index = index_table(model)
    connection.connection.executemany(
        statement.format(index=index, name=index), [(record_id, f"s{store_id}", search) for record_id, store_id, search in rows]
    )


def matching_ids(
    model: type[MirroredRecord], terms: Sequence[Term], store_ids: Collection[int] | None, limit: int = FOUND_LIMIT
) -> list[int]:
    """Ids of the newest live records that match, at most `limit`, newest first.

    `store_ids` None searches all stores; an empty collection finds nothing. No terms find nothing.
    """
    statement = matching_statement(model, terms, store_ids, limit)
    if statement is None:
        return []
    with connection.cursor() as cursor:
        cursor.execute(*statement)
        return [row[0] for row in cursor.fetchall()]


def matching_statement(
    model: type[MirroredRecord], terms: Sequence[Term], store_ids: Collection[int] | None, limit: int = FOUND_LIMIT
) -> tuple[str, list[Any]] | None:
    """Give the SELECT of `matching_ids` with its parameters; None where nothing can match."""
    if not terms or (store_ids is not None and not store_ids):
        return None
    if connection.vendor == "postgresql":
        return _postgres_query(model, terms, store_ids, limit)
    query = fts5_query(terms, [f"s{store_id}" for store_id in sorted(store_ids or ())])
    if not query:
        return None
    index = index_table(model)
    return f"SELECT rowid FROM {index} WHERE {index} MATCH %s ORDER BY rowid DESC LIMIT %s", [query, limit]


def _postgres_query(
    model: type[MirroredRecord], terms: Sequence[Term], store_ids: Collection[int] | None, limit: int
) -> tuple[str, list[Any]]:
    query = tsquery(terms)
    where, parameters = "t.vector @@ to_tsquery('simple', %s)", [query, limit]
    if store_ids is not None:
        where += " AND t.store_id = ANY(%s)"
        parameters = [query, sorted(store_ids), limit]
    return (
        f"SELECT t.record_id FROM {model.text_model._meta.db_table} t JOIN {model._meta.db_table} r ON r.id = t.record_id "
        f"WHERE {where} AND r.gone_at IS NULL ORDER BY t.record_id DESC LIMIT %s",
        parameters,
    )


def check(model: type[MirroredRecord]) -> bool:
    """Say whether the index holds exactly the live records' texts; always true on PostgreSQL, which derives the column itself."""
    if connection.vendor != "sqlite":
        return True
    index = index_table(model)
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)")
    except DatabaseError:
        return False
    return True


def rebuild(model: type[MirroredRecord]) -> None:
    """Make the index anew from the live records."""
    if connection.vendor != "sqlite":
        return
    index = index_table(model)
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")
