"""Lists of records as tables: heads that sort, cells in the words of pages, the pager (visual-design §7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache, partial
from typing import Any, NamedTuple

from django.forms.utils import flatatt
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from stores import display, markup, memory_words, note_cells, phase_cells, row_groups
from stores.formats.search_text import Term
from stores.formats.secrets import find_secrets
from stores.lists.queries import LAST_PAGE, ListQuery
from stores.lists.specs import Column, ListSpec
from stores.memory_words import title_of
from stores.models import Decision, Flow, Mem0Operation, MemoryMd, MirroredRecord, Problem, QueueOperation, SessionEvent
from stores.pager import Pager, make_pager
from stores.selectors import memory_sessions, wording
from stores.selectors.noted import NOTHING, Noted
from stores.selectors.origins import Origin
from stores.selectors.queue_words import standing_words, would_write_words
from stores.selectors.record_faults import Faults
from stores.selectors.records import ListedStore, RecordList
from stores.shapes import state_of
from stores.table_view import Head, Row, TableView

SESSION_LENGTH = 20
CELL_LENGTH = 48
"""Characters of a value in a narrow column; the whole one is on the record's page."""

_ATTRS: dict[str, dict[str, str]] = {
    "title": {"class": "lead elastic", "data-stack": "main"},
    "would_write": {"class": "short"},
    "origin": {"class": "elastic", "data-word": "from"},
    "operation": {"class": "short mono", "data-stack": "main"},
    "at": {"class": "num", "data-stack": "top"},
    "confidence": {"class": "num quiet", "data-word": "confidence"},
    "entities": {"class": "num quiet", "data-word": "entities"},
    "length": {"class": "num quiet"},
    "line": {"class": "num quiet", "data-word": "line"},
    "success_rate": {"class": "num", "data-word": "success"},
    "duration_ms": {"class": "num quiet", "data-word": "took"},
    "actions": {"class": "num quiet", "data-word": "steps"},
    "samples": {"class": "num", "data-word": "samples"},
    "lines": {"class": "num", "data-word": "lines"},
    "not_loaded": {"class": "num", "data-word": "not loaded"},
    "observations": {"class": "num quiet", "data-word": "observations"},
    **{
        name: {"class": "num quiet", "data-word": word}
        for name, word in (
            ("reads", "reads"),
            ("writes", "writes"),
            ("tests", "tests"),
            ("builds", "builds"),
            ("agent_spawns", "agents started"),
            ("characters", "characters"),
            ("long_lines", "long lines"),
        )
    },
    **note_cells.ATTRS,
    **phase_cells.ATTRS,
}
_OTHERS = {"class": "short quiet"}
COUNTS = (
    "actions",
    "reads",
    "writes",
    "tests",
    "builds",
    "agent_spawns",
    "samples",
    "lines",
    "characters",
    "not_loaded",
    "long_lines",
    "observations",
)
"""Columns that hold a number of things."""


class _Cells(NamedTuple):
    """What cells are made from besides their record."""

    spec: ListSpec
    stores: Mapping[int, ListedStore]
    faults: Mapping[int, Faults]
    origins: Mapping[int, Origin]
    told: Mapping[tuple[int, str], str]
    """Store and id of a decision -> its text, as an operation of this page tells it."""
    terms: tuple[Term, ...]
    notes: Mapping[int, Noted]
    shown: frozenset[str]
    """Names of the columns."""


def table_of(found: RecordList, faults: Mapping[int, Faults] | None = None, origins: Mapping[int, Origin] | None = None) -> TableView:
    """Give the page of a list as a table.

    `faults` are those on the lines of its records, `origins` the decisions that queue operations come from, both by the record's id.
    """
    query, spec = found.query, found.spec
    columns = shown_columns(query)
    notes = found.notes.beside(spec.record_type, [one.pk for one in found.page_rows]) if spec.notes else {}
    cells = _Cells(
        spec,
        {one.id: one for one in found.stores},
        faults or {},
        origins or {},
        _told(found.page_rows),
        found.terms,
        notes,
        frozenset(column.name for column in columns),
    )
    attrs = [_attrs(column, first=place == 0) for place, column in enumerate(columns)]
    makers = [_maker(spec, column) for column in columns]
    group_of = row_groups.group_maker(found)
    rows, last = [], None
    for record in found.page_rows:
        state, label = _state(record, cells)
        contents = zip(attrs, (make(record, cells) for make in makers), strict=True)
        group = group_of(record) if group_of else None
        rows.append(Row(tuple(contents), state, label, group=group if group != last else None))
        last = group
    heads = tuple(_head(column, query, attr) for column, attr in zip(columns, attrs, strict=True))
    return TableView(f"{spec.title}, {_order_words(query)}", heads, rows, pager_of(found))


def shown_columns(query: ListQuery) -> list[Column]:
    """Give the columns of the table: the chosen ones, or the list's own, without what one store or the heads of groups say anyway."""
    first, *rest = query.spec.columns
    if query.columns:
        return [first, *(column for column in rest if column.name in query.columns)]
    said = {query.grouped, "store" if len(query.stores) == 1 else ""}
    return [first, *(column for column in rest if column.shown and column.name not in said)]


def pager_of(found: RecordList) -> Pager:
    """Give the pager of a list; it leads no further than the last page that is shown."""
    query = found.query
    pager = make_pager(
        QueryDict(query.address(without=("page",)).removeprefix("?")),
        number_now=found.page,
        per_page=query.per_page,
        count=found.count,
        capped=found.capped,
    )
    links = tuple(link for link in pager.pages if not link.url or int(link.text.replace(",", "")) <= LAST_PAGE)
    ends = found.page >= LAST_PAGE or (found.capped and len(found.page_rows) < query.per_page)
    return replace(pager, pages=links, next_url="" if ends else pager.next_url)


def _attrs(column: Column, *, first: bool) -> SafeString:
    attrs = _ATTRS.get(column.name, _OTHERS)
    if first and "lead" not in attrs["class"]:
        attrs = {**attrs, "class": f"lead {attrs['class']}"}
    return flatatt(attrs)


def _head(column: Column, query: ListQuery, attrs: SafeString) -> Head:
    name, falls = query.order.removeprefix("-"), query.order.startswith("-")
    if not column.sortable:
        return Head(column.title, attrs)
    is_sorted = name == column.name
    wanted = column.name if is_sorted and falls else f"-{column.name}" if is_sorted or column.name == "at" else column.name
    url = query.changed(sort="" if wanted == query.spec.sort and not query.gone else wanted).address()
    return Head(column.title, attrs, url, ("descending" if falls else "ascending") if is_sorted else "")


def _order_words(query: ListQuery) -> str:
    name, falls = query.order.removeprefix("-"), query.order.startswith("-")
    if name == "at":
        return "newest first" if falls else "oldest first"
    if name == "gone":
        return "last gone first" if falls else "first gone first"
    legend = next(facet.legend for facet in query.spec.facets if facet.column == name).lower()
    return f"by {legend}, from the end" if falls else f"by {legend}"


def _told(records: Iterable[MirroredRecord]) -> dict[tuple[int, str], str]:
    """Give the texts of decisions that stand in the operations which would make their entities."""
    return {
        (one.store_id, one.decision_id): one.title
        for one in records
        if isinstance(one, QueueOperation) and one.operation == "create_entities" and one.decision_id and one.title != one.decision_id
    }


def _state(record: MirroredRecord, cells: _Cells) -> tuple[str, str]:
    """Give the state whose shape stands before a record, and the word for it where no cell says it."""
    if record.gone_at is not None:
        return "muted", ""
    if isinstance(record, QueueOperation | Mem0Operation):
        return record.standing, ""
    if isinstance(record, SessionEvent):
        return OUTCOME_STATES.get(record.outcome, "superseded"), "" if record.outcome else "no outcome given"
    if isinstance(record, Flow) and record.standing == "earlier":
        return "superseded", "earlier version"
    if isinstance(record, Problem):
        return (record.status if state_of(record.status) != "unmeasured" else "superseded"), ""
    if isinstance(record, Decision) and silences(record):
        return "failing", ""
    if isinstance(record, Decision) and (standing := cells.notes.get(record.pk, NOTHING).standing) != "current":
        return standing, ""
    faults = cells.faults.get(record.pk)
    if faults:
        return "failing" if faults.rank == 0 else "warning", ""
    own = phase_cells.state_of_record(record)
    return own if own[0] else ("current", "current")


OUTCOME_STATES = {"success": "ok", "failure": "warning"}
"""State of an event whose outcome is told; one without claims nothing."""


def silences(record: Decision) -> bool:
    """Tell whether the decision's missing entities would stop the context loader."""
    return record.entities < 0 and record.shape == "orchestkit"


def _tail(record: MirroredRecord, cells: _Cells) -> tuple[str, str]:
    """Give the words behind a title where its state is not the harmless one, and the state that colours them."""
    if record.gone_at is not None:
        reason = f": {record.gone_reason.replace('_', ' ')}" if record.gone_reason else ""
        return f"gone{reason}", "muted"
    if isinstance(record, Decision):
        if silences(record):
            return "no entities", "failing"
        if record.shape == "not_object":
            return "not a record", "warning"
        if record.shape.startswith("foreign:"):
            return f"form of {record.shape.partition(':')[2]}".replace("form of unknown", "form not known"), "note"
        if "standing" not in cells.shown and (standing := cells.notes.get(record.pk, NOTHING).standing) != "current":
            return standing, state_of(standing)
    if isinstance(record, MemoryMd) and record.not_loaded > 0:
        return f"{wording.counted(record.not_loaded, 'line')} never loaded", "warning"
    words, state = phase_cells.tail_of_record(record)
    if words:
        return words, state
    faults = cells.faults.get(record.pk)
    return (wording.counted(faults.number, "fault"), "failing" if faults.rank == 0 else "warning") if faults else ("", "")


def _maker(spec: ListSpec, column: Column) -> Callable[[Any, _Cells], object]:
    """Give the function from a record to the content of its cell."""
    if column.name == spec.columns[0].name and column.name != "title":
        return _linked_line
    if spec.notes and column.name in note_cells.MAKERS:
        return partial(_noted, make=note_cells.MAKERS[column.name])
    if column.as_age:
        return partial(_age_in_bar, full_after_days=column.full_after_days) if column.full_after_days else _age
    return _MAKERS.get(column.name) or (lambda record, cells: short(getattr(record, column.name)))


def _noted(record: MirroredRecord, cells: _Cells, make: Callable[[MirroredRecord, Noted], object]) -> object:
    return make(record, cells.notes.get(record.pk, NOTHING))


def _title(record: MirroredRecord, cells: _Cells) -> SafeString:
    link = format_html('<a class="row-link" href="{}">{}</a>', _address(record, cells), title_of(record.title, cells.terms))
    words, state = _tail(record, cells)
    if not words:
        return link
    return format_html('<span class="fill">{}<span class="tail" data-state="{}">{}</span></span>', link, state, words)


def _address(record: MirroredRecord, cells: _Cells) -> str:
    return reverse(f"{cells.spec.name}_detail", args=[record.pk])


def _linked_line(record: MirroredRecord, cells: _Cells) -> SafeString:
    return format_html('<a href="{}">{}</a>', _address(record, cells), display.number(record.line))


def _store(record: MirroredRecord, cells: _Cells) -> SafeString:
    return _store_link(cells.stores[record.store_id].slug, cells.stores[record.store_id].name)


def _project(record: Any, cells: _Cells) -> SafeString | str:
    """Give the project; where it is named as its store, a phone shows it once."""
    name = short(record.project)
    is_said = record.project == cells.stores[record.store_id].name
    return format_html('<span class="again">{}</span>', name) if is_said else name


@lru_cache(maxsize=1024)
def _store_link(slug: str, name: str) -> SafeString:
    return format_html('<a href="{}">{}</a>', reverse("store_detail", args=[slug]), short(name))


def _operation(record: QueueOperation, cells: _Cells) -> SafeString:
    name = short(record.operation) if record.operation.strip() else "no operation named"
    return format_html('<a class="row-link" href="{}">{}</a>', record.get_absolute_url(), name)


def _would_write(record: QueueOperation, cells: _Cells) -> SafeString:
    return markup.memory_text(would_write_words(record))


def _origin(record: QueueOperation, cells: _Cells) -> SafeString:
    origin = cells.origins.get(record.pk)
    if origin is not None:
        return format_html(
            '<a class="quiet" href="{}">{}</a>', reverse("decision_detail", args=[origin.id]), title_of(origin.title, cells.terms)
        )
    told = cells.told.get((record.store_id, record.decision_id))
    if told:
        return format_html('<span class="quiet">{}</span>', title_of(told, cells.terms))
    if record.decision_id:
        return format_html('<span class="quiet mono">{}</span>', markup.memory_text(record.decision_id))
    return format_html('<span class="least">{}</span>', display.NOT_KNOWN)


def _standing(record: Any, cells: _Cells) -> SafeString:
    if record.gone_at is not None:
        words, state = _tail(record, cells)
        return format_html('<span class="state-word" data-state="{}">{}</span>', state, words)
    if not isinstance(record, QueueOperation):
        return format_html('<span class="state-word" data-state="{}">{}</span>', state_of(record.standing), record.standing)
    words = standing_words(record)
    if record.reason:
        return format_html(
            '<span class="state-word" data-state="{}" title="{}">{}</span>', state_of(record.standing), record.reason[:200], words
        )
    return format_html('<span class="state-word" data-state="{}">{}</span>', state_of(record.standing), words)


def _at(record: MirroredRecord, cells: _Cells) -> SafeString | str:
    moment = markup.day(record.at_ms)
    if record.at_state == "naive":
        return format_html('{} <span class="least">no zone given</span>', moment)
    return moment


def _age(record: MirroredRecord, cells: _Cells) -> SafeString | str:
    return markup.age(record.at_ms, exact=True)


def _age_in_bar(record: Problem, cells: _Cells, full_after_days: int) -> SafeString | str:
    moment = display.moment_of(record.at_ms)
    if moment is None or record.status != "open" or record.gone_at is not None:
        return _age(record, cells)
    full_at = note_cells.end_of(cells.notes.get(record.pk, NOTHING).due_on) or moment + timedelta(days=full_after_days)
    return format_html('<span class="age">{}{}</span>', note_cells.meter(moment, full_at, timezone.now()), _age(record, cells))


def _confidence(record: Decision | Problem, cells: _Cells) -> SafeString | str:
    if record.confidence is None:
        return format_html('<span class="least">{}</span>', "not given")
    return f"{record.confidence:.2f}"


def _entities(record: Decision | Problem, cells: _Cells) -> SafeString | str:
    if record.entities < 0:
        return format_html('<span class="least">{}</span>', "none given")
    return display.number(record.entities) if record.entities else format_html('<span class="zero">{}</span>', "0")


def _length(record: MirroredRecord, cells: _Cells) -> str:
    return display.size(record.length)


def _line(record: MirroredRecord, cells: _Cells) -> str:
    return display.number(record.line)


def _number(record: MirroredRecord, cells: _Cells, column: str) -> SafeString | str:
    value: int = getattr(record, column)
    return display.number(value) if value else format_html('<span class="zero">{}</span>', "0")


def _success(record: Flow, cells: _Cells) -> SafeString | str:
    return (
        format_html('<span class="least">{}</span>', "not given") if record.success_rate is None else display.percent(record.success_rate)
    )


def _duration(record: SessionEvent, cells: _Cells) -> SafeString | str:
    if record.duration_ms is None:
        return format_html('<span class="least">{}</span>', "not given")
    return display.milliseconds(record.duration_ms)


def _outcome(record: SessionEvent, cells: _Cells) -> SafeString | str:
    if not record.outcome:
        return format_html('<span class="least">{}</span>', "not given")
    return format_html('<span class="state-word" data-state="{}">{}</span>', OUTCOME_STATES.get(record.outcome, "note"), record.outcome)


def _session(record: Any, cells: _Cells) -> SafeString:
    if not isinstance(record, SessionEvent) or not record.session.strip() or find_secrets(record.session):
        return short(record.session)
    name = record.session
    if len(name) > SESSION_LENGTH:
        name = f"{name[: SESSION_LENGTH // 2 - 1]}…{name[-SESSION_LENGTH // 2 :]}"
    return format_html('<a href="{}">{}</a>', memory_sessions.timeline_url(cells.stores[record.store_id].slug, record.session), short(name))


@lru_cache(maxsize=4096)
def short(value: str) -> SafeString:
    """Give a value for a narrow column; most come again and again."""
    return memory_words.short(value, CELL_LENGTH)


_MAKERS: dict[str, Callable[[Any, _Cells], object]] = {
    "title": _title,
    "store": _store,
    "project": _project,
    "operation": _operation,
    "would_write": _would_write,
    "origin": _origin,
    "standing": _standing,
    "at": _at,
    "confidence": _confidence,
    "entities": _entities,
    "length": _length,
    "line": _line,
    "success_rate": _success,
    "duration_ms": _duration,
    "outcome": _outcome,
    "session": _session,
    **{name: partial(_number, column=name) for name in COUNTS},
    **phase_cells.MAKERS,
}
