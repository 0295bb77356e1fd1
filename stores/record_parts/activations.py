"""The page of an activation: what an agent was given, how much of the budget that took, what was passed over and why."""

from __future__ import annotations

from collections import Counter

from django.utils.html import format_html
from django.utils.safestring import SafeString

from stores import charts, display, markup
from stores.addresses import list_url
from stores.formats.phase_memory import records
from stores.memory_words import spaced, title_of, value_of
from stores.models import Activation, Profile
from stores.phase_cells import phase_word
from stores.record_facts import Fact
from stores.record_parts import memory_graph
from stores.record_parts.base import Content, Meter, Part, Said, shown
from stores.record_parts.cells import NUM_QUIET, SHORT_QUIET, TITLE, WRAP, worded
from stores.record_parts.nodes import others
from stores.selectors import wording
from stores.selectors.memory_nodes import ITEMS_SHOWN, Chosen
from stores.table_view import Head, Row, TableView

REASONS = {
    "budget_items": "no item left in the budget",
    "budget_tokens": "no tokens left in the budget",
    "activation_policy_denied": "the policy denies it",
    "not_active": "its state is not active",
}
"""Why a node is passed over, in words."""
_FIELDS = frozenset(
    [
        "schema_version",
        "id",
        "graph_id",
        "profile_id",
        "title",
        "intent",
        "node_ids",
        "event_ids",
        "budget",
        "items",
        "omitted",
        "created_at",
        "metadata",
    ]
)


def content(record: Activation, read: records.Activation, chosen: list[Chosen], omitted: list[Chosen], profile: Profile | None) -> Content:
    """Put the page together."""
    meters = budget_meters(record)
    return Content(
        title=title_of(record.title),
        tab_title=record.title,
        said=(
            Said(wording.counted(record.node_count, "node") + " chosen", "current"),
            Said(f"{display.number(record.omitted_count)} passed over"),
            Said(markup.clock(record.at_ms)),
        ),
        main=(
            Part("Budget", meters=meters, note="" if meters else "The record gives no budget.", id="budget"),
            _chosen_part(record, chosen),
            _omitted_part(record, omitted),
        ),
        side=(
            *([Part("Intent", text=shown(read.intent))] if read.intent.strip() else []),
            Part("Activation", facts=_facts(record, profile)),
            Part("Record", facts=memory_graph.file_facts(record)),
        ),
        others=others(read.value, "activation", _FIELDS),
    )


def budget_meters(record: Activation) -> list[Meter]:
    """Give how much of the budget was used."""
    pairs = (("Items", record.used_items, record.max_items), ("Tokens", record.used_tokens, record.max_tokens))
    return [
        Meter(name, f"{display.number(used)} of {display.number(most)}", charts.budget(used, most))
        for name, used, most in pairs
        if used is not None and most is not None and used >= 0 and most > 0
    ]


def _facts(record: Activation, profile: Profile | None) -> list[Fact]:
    return [
        *memory_graph.named_fact("Profile", profile, record.profile_id),
        {
            "label": "Graph",
            "value": value_of(record.graph_id),
            "url": list_url("activation_list", store=record.store.slug, graph_id=record.graph_id),
        },
    ]


def _chosen_part(record: Activation, chosen: list[Chosen]) -> Part:
    if not chosen:
        return Part("Chosen", note="Nothing was chosen.")
    heads = (
        Head("Node", TITLE),
        Head("Kind", SHORT_QUIET),
        Head("Phase", SHORT_QUIET),
        Head("Why", WRAP),
        Head("Score", NUM_QUIET),
        Head("Tokens", NUM_QUIET),
    )
    rows = []
    for item, node in chosen:
        score = f"{item.score:.2f}" if item.score is not None else ""
        cells = (
            (TITLE, memory_graph.linked(node, item.node_id)),
            (SHORT_QUIET, value_of(node.kind) if node else ""),
            (SHORT_QUIET, phase_word(node.phase) if node else ""),
            (WRAP, value_of(item.reason)),
            (worded("score", quiet=True), score),
            (worded("tokens", quiet=True), memory_graph.amount(item.tokens) if item.tokens is not None else ""),
        )
        rows.append(Row(cells, "current" if node else "failing"))
    return Part("Chosen", fact=_of(len(rows), record.node_count), view=TableView("Chosen nodes", heads, rows), id="chosen")


def _omitted_part(record: Activation, omitted: list[Chosen]) -> Part:
    if not omitted:
        return Part("Passed over", note="Nothing was passed over.")
    heads = (Head("Node", TITLE), Head("Kind", SHORT_QUIET), Head("State", SHORT_QUIET), Head("Why", WRAP))
    rows = []
    for item, node in omitted:
        cells = (
            (TITLE, memory_graph.linked(node, item.node_id)),
            (SHORT_QUIET, value_of(node.kind) if node else ""),
            (SHORT_QUIET, value_of(spaced(node.state)) if node else ""),
            (WRAP, reason_words(item.reason)),
        )
        rows.append(Row(cells, "muted" if node else "failing"))
    counted = Counter(item.reason for item, _ in omitted)
    note = "; ".join(f"{display.number(number)} × {REASONS.get(code, code)}" for code, number in counted.most_common(6) if code in REASONS)
    return Part(
        "Passed over",
        fact=_of(len(rows), record.omitted_count),
        note=f"{note}." if note else "",
        view=TableView("Nodes that were passed over", heads, rows),
        id="omitted",
    )


def reason_words(code: str) -> SafeString:
    """Give why a node was passed over, with the code as it is written."""
    if code not in REASONS:
        return value_of(code)
    return format_html('{} <span class="least mono">{}</span>', REASONS[code], code)


def _of(shown_rows: int, number: int) -> str:
    if shown_rows < number and shown_rows >= ITEMS_SHOWN:
        return f"{display.number(shown_rows)} of {display.number(number)}"
    return display.number(shown_rows)
