"""Walks along the indexes of record tables, merged over stores (rulings 42, 74).

Every index of a record table begins with the store, so a list over several stores is the merged walk of one index range a store,
and one a value where a facet leads. Both engines merge such a union lazily (SQLite `MERGE (UNION ALL)`, PostgreSQL `Merge Append`):
a page costs what lies before it, not what the table holds. The SQL of one range is the ORM's own; here ranges are only joined.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import CharField, F, Func, QuerySet

from stores.models import MirroredRecord

STATEMENT_RANGES = 400
"""SQLite joins at most 500 SELECTs in one statement."""
STREAM_ROWS = 5_000
_STORE = -1
"""Stands for the store in the SQL of one range; no store has this id."""
_VALUE = "\ufffe" * 256
"""Stands for the value; longer than any column."""

Row = tuple[Any, ...]
Sql = tuple[str, list[Any]]


class Range(NamedTuple):
    """One range of an index: a store, and a value where a facet leads."""

    store_id: int
    value: str = ""


class Order(NamedTuple):
    """The order of an index behind its store: rising by `column` if there is one, then the latest `time` first, then the highest id.

    `backwards` is the same index walked from its other end; no other order can be had without sorting.
    """

    column: str = ""
    time: str = "at_ms"
    backwards: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """What a row must hold to be put into this order."""
        return (*([self.column] if self.column else []), self.time, "id")

    def sql(self, columns: Sequence[str], named: str = "") -> str:
        """Write the order for a SELECT of these columns, by their places: a union knows no names. With `named`, by names of that table."""
        rising = {self.column: not self.backwards, self.time: self.backwards, "id": self.backwards}
        places = {column: f"{named}.{column}" if named else str(columns.index(column) + 1) for column in self.columns}
        return ", ".join(f"{places[column]} {'ASC' if rising[column] else 'DESC'}" for column in self.columns)

    def key(self, columns: Sequence[str]) -> Callable[[Row], Any]:
        """Give the sort key of rows of these columns; `reverse` says which way it is sorted."""
        time, pk = columns.index(self.time), columns.index("id")
        if not self.column:
            return itemgetter(time, pk)
        first = columns.index(self.column)
        return lambda row: (row[first], -row[time], -row[pk])

    @property
    def reverse(self) -> bool:
        """Whether rows are sorted falling by `key`."""
        return self.backwards if self.column else not self.backwards


class Walk(NamedTuple):
    """A walk over the records that are there, or, by the time when they went, over those that are gone."""

    model: type[MirroredRecord]
    ranges: Sequence[Range]
    leading: str
    """The facet whose index is walked within each store; "" walks by time."""
    others: Mapping[str, tuple[str, ...]]
    """Facets that each record met is asked for, with the values that fit."""
    order: Order
    columns: tuple[str, ...]
    """What is read of each record; holds the order's columns."""
    gone: bool = False
    before_ms: int = 0
    """Only records that say they were written before; 0 for all."""
    tally: str = ""
    """Instead of the records, `several` gives how many have each value of this column: a row with the number in place of the id."""


class Plain(Func):
    """A column that SQLite's planner may not look up in an index of its own: we know which index is the shortest."""

    template = "%(expressions)s"
    output_field = CharField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Write the column with a unary plus; PostgreSQL has statistics and needs no such word."""
        return super().as_sql(compiler, connection, template="+%(expressions)s", **context)


def rows(walk: Walk, limit: int, offset: int = 0) -> list[Row]:
    """Give up to `limit` rows of a walk from `offset` on. One query for every 400 ranges."""
    chunks = _chunks(walk)
    if len(chunks) == 1:
        return _fetch(_windowed(_union(walk, chunks[0]), walk, limit, offset))
    found = [_fetch(_windowed(_union(walk, chunk), walk, limit + offset)) for chunk in chunks]
    return list(islice(_merged(walk, found), offset, offset + limit))


def records(walk: Walk, limit: int, offset: int = 0) -> list[MirroredRecord]:
    """Give whole records instead of rows: the walk finds the ids in the index alone. One query, two for more than 400 ranges."""
    manager, table = walk.model._base_manager, connection.ops.quote_name(walk.model._meta.db_table)
    if not walk.ranges or limit <= 0:
        return []
    if len(walk.ranges) > STATEMENT_RANGES:
        ids = [row[walk.columns.index("id")] for row in rows(walk, limit, offset)]
        by_id = manager.in_bulk(ids)
        return [by_id[one] for one in ids if one in by_id]
    sql, parameters = _windowed(_union(walk, walk.ranges), walk, limit, offset)
    order = walk.order.sql(walk.columns, named="hits")
    return list(
        manager.raw(f"SELECT whole.* FROM ({sql}) AS hits JOIN {table} AS whole ON whole.id = hits.id ORDER BY {order}", parameters)
    )


def count(walk: Walk) -> int:
    """Count to the end of a walk; in the index alone, yet all of it. One query for every 400 ranges."""
    found = [_fetch((f"SELECT COUNT(*) FROM ({sql}) AS hits", given)) for sql, given in (_union(walk, chunk) for chunk in _chunks(walk))]
    return sum(number for ((number,),) in found)


def fetch(found: QuerySet[Any, Row]) -> list[Row]:
    """Give the rows of a `values_list` at once: ten thousand through the ORM's iterator take half as long again. One query."""
    sql, parameters = found.query.sql_with_params()
    return _fetch((sql, list(parameters)))


def several(walks: Sequence[Walk], limit: int) -> list[list[Row]]:
    """Give the first `limit` rows of each of some walks that read the same columns, in any order, or their numbers by value.

    One query for 400 ranges of all walks together.
    """
    if sum(len(walk.ranges) for walk in walks) > STATEMENT_RANGES:
        return [_tallied(walk, rows(walk, limit)) for walk in walks]
    return at_once([_counted(_windowed(_union(walk, walk.ranges), walk, limit), walk) if walk.ranges else None for walk in walks])


def at_once(statements: Sequence[Sql | None]) -> list[list[Row]]:
    """Give the rows of each of some SELECTs with the same columns, in one query; None gives none.

    Each may have its own LIMIT, which SQLite does not take inside a plain union.
    """
    found: list[list[Row]] = [[] for _ in statements]
    parts: list[str] = []
    parameters: list[Any] = []
    for place, statement in enumerate(statements):
        if statement is not None:
            parts.append(f"SELECT {place} AS part, found.* FROM ({statement[0]}) AS found")
            parameters += statement[1]
    for row in _fetch((" UNION ALL ".join(parts), parameters)) if parts else ():
        found[row[0]].append(row[1:])
    return found


def _counted(windowed: Sql, walk: Walk) -> Sql:
    """Count the rows of a SELECT by the walk's tally, if it has one; the other columns keep their places and types."""
    if not walk.tally:
        return windowed
    sql, parameters = windowed
    numbers = {"id": "COUNT(*)", "store_id": "0", walk.order.time: "0"}
    words = [column if column == walk.tally else numbers.get(column, "''") for column in walk.columns]
    return f"SELECT {', '.join(words)} FROM ({sql}) AS hits GROUP BY {walk.tally}", parameters


def _tallied(walk: Walk, found: list[Row]) -> list[Row]:
    """The same for rows that are here."""
    if not walk.tally:
        return found
    place, pk = walk.columns.index(walk.tally), walk.columns.index("id")
    counts = Counter(row[place] for row in found)
    return [
        tuple(count if at == pk else value if at == place else None for at in range(len(walk.columns))) for value, count in counts.items()
    ]


def stream(walk: Walk) -> Iterator[Row]:
    """Give every row of a walk, holding only some thousands at a time. One query for every 400 ranges."""
    return _merged(walk, [_stream(_union(walk, chunk), walk) for chunk in _chunks(walk)])


def _merged(walk: Walk, found: Sequence[list[Row] | Iterator[Row]]) -> Iterator[Row]:
    if len(found) == 1:
        return iter(found[0])
    return heapq.merge(*found, key=walk.order.key(walk.columns), reverse=walk.order.reverse)


def _chunks(walk: Walk) -> list[Sequence[Range]]:
    return [walk.ranges[start : start + STATEMENT_RANGES] for start in range(0, len(walk.ranges), STATEMENT_RANGES)]


def _union(walk: Walk, ranges: Sequence[Range]) -> Sql:
    """Join the ranges to one SELECT without order."""
    found = walk.model._base_manager.filter(store_id=_STORE, gone_at__isnull=not walk.gone)
    if walk.leading:
        found = found.filter(**{walk.leading: _VALUE})
    if walk.before_ms:
        found = found.filter(at_ms__gt=0, at_ms__lt=walk.before_ms)
    for column, values in walk.others.items():
        found = found.alias(**{f"plain_{column}": Plain(F(column))}).filter(**{f"plain_{column}__in": values})
    sql, template = found.order_by().values_list(*walk.columns).query.sql_with_params()
    parameters = [one.store_id if given == _STORE else one.value if given == _VALUE else given for one in ranges for given in template]
    if connection.vendor == "postgresql" and len(ranges) > 1:
        # It merges ranges only if each is ordered for itself; SQLite merges them as they are.
        sql = f"SELECT * FROM ({sql} ORDER BY {walk.order.sql(walk.columns)}) AS part"
    return " UNION ALL ".join([sql] * len(ranges)), parameters


def _windowed(union: Sql, walk: Walk, limit: int, offset: int = 0) -> Sql:
    sql, parameters = union
    return f"{sql} ORDER BY {walk.order.sql(walk.columns)} LIMIT %s OFFSET %s", [*parameters, limit, offset]


def _fetch(statement: Sql) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(*statement)
        return list(cursor.fetchall())


def _stream(union: Sql, walk: Walk) -> Iterator[Row]:
    sql, parameters = union
    with connection.chunked_cursor() as cursor:
        cursor.execute(f"{sql} ORDER BY {walk.order.sql(walk.columns)}", parameters)
        while found := cursor.fetchmany(STREAM_ROWS):
            yield from found
