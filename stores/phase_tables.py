"""The board of phases as a table, each number leading to the nodes that it counts."""

from __future__ import annotations

from typing import NamedTuple

from django.forms.utils import flatatt
from django.utils.html import format_html
from django.utils.safestring import SafeString

from stores import display, markup
from stores.addresses import list_url
from stores.formats.phase_memory.vocabulary import DURABLE, PHASES
from stores.memory_words import plain, spaced, title_of, value_of
from stores.models import Node, Store
from stores.phase_cells import STATES
from stores.selectors.phase_board import Board, PhaseRow
from stores.table_view import Head, Row, TableView

_MEANING = {
    "ephemeral": "passing",
    "fluid": "in use, may still change",
    "stabilized": "durable",
    "rigid": "fixed",
}
_LEAD = flatatt({"class": "lead", "data-stack": "main"})
_SECOND = flatatt({"class": "short quiet"})
_TOTAL = flatatt({"class": "num", "data-stack": "top"})


class NodeRow(NamedTuple):
    """A node in a short list."""

    state: str
    title: SafeString
    url: str
    phase: SafeString
    at: SafeString | str


def board_table(store: Store, board: Board) -> TableView:
    """Give a row for each phase, a column for each state."""
    heads = (
        Head("Phase", _LEAD),
        Head("Means", _SECOND),
        *(Head(_words(state).capitalize(), _num(state)) for state in board.states),
        Head("All", _TOTAL),
    )
    return TableView("Nodes by phase and state", heads, [_row(store, row, board.states) for row in board.rows])


def _row(store: Store, row: PhaseRow, states: tuple[str, ...]) -> Row:
    known = row.phase in PHASES
    cells = (
        (_LEAD, value_of(row.phase)),
        (_SECOND, _MEANING.get(row.phase, "not a phase of the format")),
        *((_num(state), _number(store, row.by_state[state], phase=row.phase, state=state)) for state in states),
        (_TOTAL, _number(store, row.total, phase=row.phase)),
    )
    state = "failing" if not known else "current" if row.phase in DURABLE else "superseded"
    return Row(cells, state, "durable" if row.phase in DURABLE else "")


def _words(state: str) -> str:
    return plain(spaced(state)) or "no state"


def _num(state: str) -> SafeString:
    return flatatt({"class": "num", "data-word": _words(state)})


def _number(store: Store, number: int, **filters: str) -> SafeString:
    if not number:
        return format_html('<span class="zero">{}</span>', "0")
    url = list_url("node_list", store=store.slug, **filters)
    return format_html('<a href="{}">{}</a>', url, display.number(number)) if url else format_html("{}", display.number(number))


def node_row(node: Node) -> NodeRow:
    """Give a node for a short list."""
    return NodeRow(
        STATES.get(node.state, "unmeasured"), title_of(node.title), node.get_absolute_url(), value_of(node.phase), markup.day(node.at_ms)
    )
