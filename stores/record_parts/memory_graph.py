"""Pieces that the pages of phase-memory records share: links to what they name, tables of edges, lists of what happened to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from stores import display, markup
from stores.graph_drawing import drawn_edge, drawn_node, glyph
from stores.memory_words import id_text, plain, short, spaced, title_of, value_of
from stores.models import Edge, FileRecord, MirroredRecord, Node
from stores.node_looks import edge_strength, node_look
from stores.phase_cells import DECISIONS, STATES, lifecycle_word
from stores.record_facts import Fact
from stores.record_parts.base import Link, Part
from stores.record_parts.cells import SHORT_QUIET, TITLE, TOP
from stores.selectors import wording
from stores.selectors.memory_nodes import EDGES_DRAWN, Audited, EdgeSide, Happened, NodePicture, Source
from stores.table_view import Head, Row, TableView

NO_KIND = "no kind given"
REASON_LENGTH = 120


def linked(record: MirroredRecord | None, record_id: str) -> SafeString:
    """Give a record as a link with its title; of one that is not there its id, and that it is missing."""
    if record is None:
        return format_html('<span class="mono">{}</span> <span class="state-word" data-state="failing">missing</span>', id_text(record_id))
    return format_html('<a href="{}">{}</a>', record.get_absolute_url(), title_of(record.title))  # type: ignore[attr-defined]


def named_fact(label: str, record: MirroredRecord | None, record_id: str) -> list[Fact]:
    """Give the record that another one names as a fact; none where it names none."""
    return [{"label": label, "value": linked(record, record_id)}] if record_id else []


def edges_part(title: str, side: EdgeSide, *, outgoing: bool, id: str = "") -> Part:
    """Give the edges on one side of a node as a section."""
    shown = len(side.edges)
    fact = display.number(side.number) if shown == side.number else f"{display.number(shown)} of {display.number(side.number)}"
    view = edge_table(title, side.edges, side.others, outgoing=outgoing) if side.edges else None
    return Part(title, fact=fact, id=id, note="" if side.edges else "None.", view=view)


def edge_table(title: str, edges: Iterable[Edge], others: dict[str, Node], *, outgoing: bool) -> TableView:
    """Give edges with the nodes at their other ends as a table."""
    heads = (Head("To" if outgoing else "From", TITLE), Head("Edge", SHORT_QUIET), Head("State", TOP))
    rows = []
    for edge in edges:
        end = edge.target if outgoing else edge.source
        node = others.get(end)
        form = glyph(node_look(node.kind)) if node else ""
        kind = format_html('<a class="mono" href="{}">{}</a>', edge.get_absolute_url(), value_of(edge.kind))
        cells = (
            (TITLE, format_html('<span class="inline-shape">{}<span>{}</span></span>', form, linked(node, end))),
            (SHORT_QUIET, kind),
            (TOP, lifecycle_word(edge.state)),
        )
        rows.append(Row(cells, STATES.get(edge.state, "unmeasured") if node else "failing"))
    return TableView(title, heads, rows)


def happened_part(found: Sequence[Happened]) -> Part:
    """Give what events did to a record, the newest first."""
    links = [
        Link(
            format_html("{} {}", value_of(spaced(one.update.operation)), _named(one.update.named)),
            one.event.get_absolute_url(),
            "superseded" if one.event.standing else "current",
            format_html("{}{}", value_of(one.event.kind), f", {one.event.standing}" if one.event.standing else ""),
            markup.clock(one.event.at_ms),
        )
        for one in found
    ]
    note = "" if links else "No event of the log says that it changed it."
    return Part("What events did to it", fact=display.number(len(links)) if links else "", note=note, links=links, id="events")


def _named(value: str) -> SafeString | str:
    return format_html('<span class="quiet">{}</span>', short(value, REASON_LENGTH)) if value.strip() else ""


def sources_part(found: Sequence[Source], title: str = "Comes from", none: str = "The record names no event as its source.") -> Part:
    """Give the events that a record names, as its source or otherwise."""
    links = [
        Link(title_of(one.event.title), one.event.get_absolute_url(), "current", end=markup.clock(one.event.at_ms))
        for one in found
        if one.event is not None
    ]
    missing = [one.event_id for one in found if one.event is None]
    after = format_html("Not in the log: {}", value_of(", ".join(missing[:10]))) if missing else ""
    return Part(title, fact=wording.counted(len(found), "event") if found else "", note="" if found else none, links=links, after=after)


def audited_part(found: Sequence[Audited]) -> Part:
    """Give the audit records that touched a record."""
    links = [
        Link(
            title_of(one.record.title),
            one.record.get_absolute_url(),
            DECISIONS.get(one.record.decision, "superseded"),
            format_html("by {}{}", value_of(one.record.actor), _reviewed(one)),
            markup.clock(one.record.at_ms),
        )
        for one in found
    ]
    return Part("Audited", fact=display.number(len(links)) if links else "", links=links, note="" if links else "Never.")


def _reviewed(one: Audited) -> SafeString | str:
    if one.record.review_id:
        return format_html(", review {}", value_of(one.record.review_id))
    return ", without a review" if one.record.requires_review and not one.record.approved else ""


def file_facts(record: FileRecord) -> list[Fact]:
    """Give what is said of every record that is a file of its own."""
    facts: list[Fact] = [
        {"label": "Id", "value": value_of(record.natural_id), "mono": True},
        {"label": "Created", "value": markup.clock(record.created_ms)},
        {"label": "Changed", "value": markup.clock(record.updated_ms)},
        {"label": "Digest", "value": markup.fingerprint(bytes(record.digest).hex())},
    ]
    if record.unreadable_since is not None:
        words = format_html("{}, {}", markup.clock(record.unreadable_since), record.unreadable_cause.replace("_", " "))
        facts.append({"label": "Unreadable since", "value": words, "state": "failing"})
    if record.is_duplicate:
        facts.append({"label": "Counts", "value": "no: another file has its id and counts in its place", "state": "late"})
    return facts


def picture_document(made: NodePicture) -> dict[str, Any]:
    """Give what the picture of a neighbourhood is drawn from; texts are masked and on one line. The first node is the middle."""
    ids = {node.natural_id: node.pk for node in made.nodes}
    return {
        "nodes": [_drawn(node, made.degrees.get(node.natural_id, 0)) for node in made.nodes],
        "edges": [
            drawn_edge(
                edge.pk,
                ids[edge.source],
                ids[edge.target],
                edge.kind,
                none=NO_KIND,
                strength=edge_strength(edge.kind),
                url=edge.get_absolute_url(),
            )
            for edge in made.edges
            if edge.source in ids and edge.target in ids
        ],
        "entities": len(made.nodes),
        "left_out": {"entities": 0, "relations_beyond": EDGES_DRAWN if made.beyond else 0},
        "centre": str(made.nodes[0].pk),
    }


def _drawn(node: Node, degree: int) -> dict[str, Any]:
    said = f"{plain(node.phase)}, {plain(node.state)}, {wording.counted(degree, 'edge')}"
    url = node.get_absolute_url()
    return drawn_node(node.pk, node.title, node.kind, node_look(node.kind), none=NO_KIND, degree=degree, said=said, url=url)


def amount(value: float | None) -> SafeString | str:
    """Give a quantity that a record may not state."""
    return format_html('<span class="least">{}</span>', "not given") if value is None else display.number(value)
