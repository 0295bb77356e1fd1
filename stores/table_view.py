"""A list as plain values: heads, rows, cells, pager. What `templates/_table.html` prints and nothing it would have to work out.

`view_of` makes one from a django-tables2 table; its per-row machinery costs more than the database (stack-notes §4.4), so columns are
looked at once and rows are then a plain loop.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.forms.utils import flatatt
from django.http import QueryDict
from django.utils.safestring import SafeString
from django_tables2.rows import BoundRow
from django_tables2.utils import A

from stores.pager import Pager, pager_of

NO_ATTRS = flatatt({})


@dataclass(frozen=True, slots=True)
class Head:
    """Head of a column: `url` sorts by it ("" if it cannot), `sorted` is "ascending", "descending" or ""."""

    label: str
    attrs: SafeString = NO_ATTRS
    url: str = ""
    sorted: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Begin of a group of rows: its name bold, its facts quiet."""

    name: str
    facts: tuple[str, ...] = ()
    url: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: cells are (attributes, content); the shape of `state` stands in the gutter, named `state_label` unless a cell says it."""

    cells: tuple[tuple[SafeString, object], ...]
    state: str = ""
    state_label: str = ""
    attrs: SafeString = NO_ATTRS
    group: Group | None = None


@dataclass(frozen=True, slots=True)
class TableView:
    """A whole list. `caption` names it to readers, `rows_height` is "", "comfortable"; `pager` is None where everything is shown."""

    caption: str
    heads: tuple[Head, ...]
    rows: Iterable[Row]
    pager: Pager | None = None
    rows_height: str = ""
    gutter: bool = True


def view_of(table: Any, query: QueryDict) -> TableView:
    """Read a configured django-tables2 table into plain values.

    The table may say more than django-tables2 asks: `caption`, `rows_height`, `state_of(record) -> (state, label)`,
    `group_of(record) -> Group | None` (a row is put in when it changes), `Meta.row_attrs`. Column attributes: `td`, `th` (without it
    the class of `td`).
    """
    columns = list(table.columns)
    page = getattr(table, "page", None)
    return TableView(
        caption=getattr(table, "caption", ""),
        heads=tuple(_head(table, column, query) for column in columns),
        rows=_rows(table, columns),
        pager=None if page is None else pager_of(page, query, table.prefixed_page_field),
        rows_height=getattr(table, "rows_height", ""),
        gutter=hasattr(table, "state_of"),
    )


def _head(table: Any, column: Any, query: QueryDict) -> Head:
    """Give the head of a bound column."""
    own = dict(column.column.attrs.get("th", {}))
    own.setdefault("class", column.column.attrs.get("td", {}).get("class", ""))
    attrs = flatatt({name: value for name, value in own.items() if value})
    if not column.orderable:
        return Head(str(column.header), attrs)
    alias = column.order_by_alias
    wanted = query.copy()
    wanted[table.prefixed_order_by_field] = alias.next
    wanted.pop(table.prefixed_page_field, None)
    direction = "descending" if column.is_ordered and alias.is_descending else "ascending" if column.is_ordered else ""
    return Head(str(column.header), attrs, f"?{wanted.urlencode()}", direction)


def _rows(table: Any, columns: list[Any]) -> Iterator[Row]:
    """Give the rows of the page, each column's way of reading worked out once."""
    readers = [_reader(table, column) for column in columns]
    state_of: Callable[[Any], tuple[str, str]] | None = getattr(table, "state_of", None)
    group_of: Callable[[Any], Group | None] | None = getattr(table, "group_of", None)
    previous: Group | None = None
    page = getattr(table, "page", None)
    for bound_row in page.object_list if page is not None else table.rows:
        record = bound_row.record
        state, label = state_of(record) if state_of else ("", "")
        group = group_of(record) if group_of else None
        yield Row(
            cells=tuple(read(record) for read in readers),
            state=state,
            state_label=label,
            attrs=_computed(table.row_attrs, record),
            group=group if group != previous else None,
        )
        previous = group


def _reader(table: Any, column: Any) -> Callable[[Any], tuple[SafeString, object]]:
    """Give the function from a record to the (attributes, content) of one cell of this column."""
    given = column.column.attrs.get("td", {})
    fixed = None if any(callable(value) for value in given.values()) else flatatt(given)
    resolve = A(column.accessor).resolve
    empty_values, default, render, link = column.column.empty_values, column.default, column.render, column.link
    wanted = [name for name in inspect.signature(render).parameters if name not in ("args", "kwargs")]

    def read(record: Any) -> tuple[SafeString, object]:
        attrs = _computed(given, record) if fixed is None else fixed
        if link:
            return attrs, BoundRow(record, table=table).get_cell(column.name)
        try:
            value = resolve(record)
        except (ValueError, AttributeError, KeyError, TypeError, IndexError):
            value = None
        if value in empty_values:
            return attrs, default
        offered = {"value": value, "record": record, "column": column.column, "bound_column": column, "table": table}
        if "bound_row" in wanted:
            offered["bound_row"] = BoundRow(record, table=table)
        return attrs, render(**{name: offered[name] for name in wanted})

    return read


def _computed(attrs: Mapping[str, Any], record: Any) -> SafeString:
    """Give attributes as HTML, callable ones asked about this record; None and "" are left out."""
    if not attrs:
        return NO_ATTRS
    values = {name: value(record) if callable(value) else value for name, value in attrs.items()}
    return flatatt({name: value for name, value in values.items() if value not in (None, "")})
