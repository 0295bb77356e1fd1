"""Bulk statements: rows of many values by one parameterised statement, the fastest way each engine has (rulings 43, 46, 76)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.db import IntegrityError, connection
from django.db.models import Field, Model

_AS_IT_IS = frozenset(
    {
        "AutoField",
        "BigAutoField",
        "BigIntegerField",
        "BinaryField",
        "BooleanField",
        "CharField",
        "FloatField",
        "ForeignKey",
        "IntegerField",
        "OneToOneField",
        "SmallIntegerField",
        "TextField",
    }
)
"""Fields whose Python value is what both engines take; every other goes through its own adapter."""

Row = Sequence[Any]


def column_fields(model: type[Model]) -> list[Field[Any, Any]]:
    """The concrete fields of a model in the order in which rows are given."""
    return list(model._meta.concrete_fields)


def adapter(field: Field[Any, Any]) -> Callable[[Any], Any] | None:
    """What makes a Python value into what the engine stores; None where that is the value itself."""
    if field.get_internal_type() in _AS_IT_IS:
        return None
    return lambda value: field.get_db_prep_save(value, connection)


def _quoted_columns(model: type[Model]) -> dict[str, str]:
    """Give the quoted column of each concrete field by the field's name, in column_fields order."""
    return {field.name: connection.ops.quote_name(str(field.column)) for field in column_fields(model)}


def insert(model: type[Model], rows: Iterable[Row], names: Sequence[str] = (), same: Mapping[str, object] | None = None) -> None:
    """Insert rows.

    Each holds the adapted values of the fields `names`, by default of every concrete field in column_fields order. `same` gives, by
    field name and not yet adapted, what is the same in all rows.
    """
    same = same or {}
    quoted = _quoted_columns(model)
    columns = [quoted[name] for name in (*(names or quoted), *same)]
    into = f"{connection.ops.quote_name(model._meta.db_table)} ({', '.join(columns)})"
    if connection.vendor == "postgresql":
        values = tuple(_adapted(model, same).values())
        with connection.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN") as copy:
            for row in rows:
                copy.write_row((*row, *values))
        return
    marks = ["?"] * (len(columns) - len(same)) + list(_literals(model, same).values())
    # Django's cursor would rewrite the statement for each call and copy the list; the driver takes it as it is.
    connection.connection.executemany(f"INSERT INTO {into} VALUES ({', '.join(marks)})", rows)


def insert_numbered(model: type[Model], rows: Sequence[Row], names: Sequence[str], same: Mapping[str, object]) -> range:
    """Insert rows as `insert` does and give the consecutive primary keys that they got; `names` leaves the key out."""
    first = next_ids(model, len(rows))
    numbers = range(first, first + len(rows))
    if connection.vendor == "postgresql":
        insert(model, ((number, *row) for number, row in zip(numbers, rows, strict=True)), ("id", *names), same)
        return numbers
    # AUTOINCREMENT counts on by one: the same numbers, without a longer copy of each row.
    insert(model, rows, names, same)
    last = connection.connection.execute("SELECT last_insert_rowid()").fetchone()[0]
    if rows and last != numbers[-1]:
        raise IntegrityError(f"{model._meta.db_table} numbered its rows up to {last}, not to {numbers[-1]}.")
    return numbers


def update(model: type[Model], names: Sequence[str], rows: Sequence[Row], same: Mapping[str, object] | None = None) -> None:
    """Update rows by primary key; each holds the adapted values of `names` and then the key. `same` is as for `insert`."""
    if not rows:
        return
    mark = "%s" if connection.vendor == "postgresql" else "?"
    quoted = _quoted_columns(model)
    assignments = [f"{quoted[name]} = {mark}" for name in names]
    assignments += [f"{quoted[name]} = {literal}" for name, literal in _literals(model, same or {}).items()]
    table = connection.ops.quote_name(model._meta.db_table)
    statement = f"UPDATE {table} SET {', '.join(assignments)} WHERE {quoted[model._meta.pk.name]} = {mark}"
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.executemany(statement, rows)
        return
    connection.connection.executemany(statement, rows)


def _adapted(model: type[Model], values: Mapping[str, object]) -> dict[str, Any]:
    adapters = {field.name: adapter(field) for field in column_fields(model) if field.name in values}
    return {name: adapt(value) if (adapt := adapters[name]) and value is not None else value for name, value in values.items()}


def _literals(model: type[Model], values: Mapping[str, object]) -> dict[str, str]:
    """Give values as the engine itself writes them in SQL: binding the same value for each row costs more than all the rest of it."""
    adapted = _adapted(model, values)
    if connection.vendor == "postgresql":
        from psycopg.sql import Literal

        return {name: Literal(value).as_string(connection.connection).replace("%", "%%") for name, value in adapted.items()}
    return {name: str(connection.connection.execute("SELECT quote(?)", [value]).fetchone()[0]) for name, value in adapted.items()}


def next_ids(model: type[Model], count: int) -> int:
    """Take `count` consecutive primary keys and give the first. Call it inside the transaction that inserts the rows."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # setval keeps the numbers consecutive; the row lock of the store's claim keeps a second importer of this table waiting.
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [table])
            cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id'))", [table])
            first = int(cursor.fetchone()[0])
            if count > 1:
                cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [table, first + count - 1])
            return first
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        row = cursor.fetchone()
        return (int(row[0]) if row else 0) + 1
