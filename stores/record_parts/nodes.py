"""The pages of a node and of an edge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.utils.html import format_html
from django.utils.safestring import SafeString

from stores import display, markup
from stores.addresses import list_url
from stores.formats import canonical, storable
from stores.formats.phase_memory import records
from stores.formats.phase_memory.aliases import unwrapped
from stores.formats.phase_memory.values import items, mapping
from stores.formats.phase_memory.vocabulary import DURABLE
from stores.graph_drawing import glyph
from stores.memory_words import plain, spaced, title_of, value_of
from stores.models import Edge, Node
from stores.node_looks import node_look
from stores.phase_cells import REVIEWS, STATES, lifecycle_word, phase_word
from stores.record_facts import Fact
from stores.record_parts import memory_graph
from stores.record_parts.base import Content, Link, Part, Said, fields, shown, tags
from stores.selectors import wording
from stores.selectors.memory_nodes import EdgeAround, Mention, NodeAround

_NODE_FIELDS = frozenset(
    [
        "schema_version",
        "id",
        "kind",
        "text",
        "content",
        "summary",
        "phase",
        "lifecycle_state",
        "state",
        "status",
        "namespace",
        "source_spans",
        "policy",
        "confidence",
        "freshness",
        "provenance",
        "metadata",
        "strength",
        "usage",
        "tags",
        "version",
        "superseded_by",
        "invalid_at",
        "compacted_into",
        "created_at",
        "updated_at",
    ]
)
_EDGE_FIELDS = frozenset(
    [
        "schema_version",
        "id",
        "kind",
        "relation",
        "type",
        "source",
        "source_id",
        "from",
        "target",
        "target_id",
        "to",
        "lifecycle_state",
        "state",
        "status",
        "weight",
        "confidence",
        "text",
        "provenance",
        "created_at",
        "updated_at",
        "valid_at",
        "invalid_at",
        "metadata",
    ]
)
_PHASE_WORDS = {
    "ephemeral": "passing: it may go soon",
    "fluid": "in use, may still change",
    "stabilized": "durable: a change needs a review",
    "rigid": "fixed: a change needs a review and the reviewer's password",
}


def node_content(record: Node, read: records.Node, around: NodeAround) -> Content:
    """Put the page of a node together."""
    return Content(
        title=title_of(record.title),
        tab_title=record.title,
        said=_node_said(record),
        lead=Part("Text", text=shown(read.text)) if read.text.strip() else Part("Text", note="The record has no text."),
        main=(
            memory_graph.edges_part("Edges that begin here", around.outgoing, outgoing=True, id="edges"),
            memory_graph.edges_part("Edges that end here", around.incoming, outgoing=False),
            _mentions_part(around),
            memory_graph.happened_part(around.happened),
        ),
        side=(
            Part("Lifecycle", facts=_lifecycle(record, read, around)),
            Part("Provenance", facts=_provenance(record, read, around)),
            memory_graph.sources_part(around.sources),
            *_spans_part(read),
            memory_graph.audited_part(around.audited),
            Part("Record", facts=[*memory_graph.file_facts(record), *_more_of_node(record, read)]),
            *([Part("Tags", tags=tags(read.tags))] if read.tags else []),
        ),
        others=others(read.value, "node", _NODE_FIELDS),
    )


def _node_said(record: Node) -> list[Said]:
    said = [
        Said(value_of(spaced(record.state)), STATES.get(record.state, "unmeasured")),
        Said(
            phase_word(record.phase, assumed=record.phase_assumed), url=list_url("node_list", store=record.store.slug, phase=record.phase)
        ),
        Said(value_of(record.kind), url=list_url("node_list", store=record.store.slug, kind=record.kind)),
    ]
    if record.review:
        words = "reviewed" if record.review == "reviewed" else "never reviewed"
        said.append(Said(words, REVIEWS.get(record.review, "note"), list_url("node_list", store=record.store.slug, review=record.review)))
    return [*said, Said(markup.clock(record.at_ms))]


def _lifecycle(record: Node, read: records.Node, around: NodeAround) -> list[Fact]:
    phase = format_html('{} <span class="second">{}</span>', value_of(record.phase), _PHASE_WORDS.get(record.phase, ""))
    facts: list[Fact] = [
        {"label": "Phase", "value": phase, "url": ""},
        {"label": "State", "value": lifecycle_word(record.state)},
    ]
    if record.phase_assumed:
        facts.append({"label": "Assumed", "value": "the record names no phase, so it is taken for fluid"})
    if record.phase in DURABLE:
        facts.append({"label": "Review", "value": "by an approval in the audit log" if record.review == "reviewed" else "none found"})
    facts += memory_graph.named_fact("Superseded by", around.named.get(record.superseded_by), record.superseded_by)
    facts += memory_graph.named_fact("Compacted into", around.named.get(record.compacted_into), record.compacted_into)
    freshness = mapping(mapping(read.value).get("freshness"))
    if record.stale_since_ms:
        facts.append({"label": "Stale since", "value": markup.clock(record.stale_since_ms)})
    if freshness.get("checked_at"):
        facts.append({"label": "Checked", "value": markup.clock(storable.moment(freshness.get("checked_at"))[0])})
    facts += [
        {"label": "Strength", "value": memory_graph.amount(record.strength)},
        {"label": "Confidence", "value": memory_graph.amount(record.confidence)},
    ]
    return facts


def _provenance(record: Node, read: records.Node, around: NodeAround) -> list[Fact]:
    came = read.provenance
    facts: list[Fact] = [
        {"label": "Agent", "value": value_of(record.agent), "url": list_url("node_list", store=record.store.slug, agent=record.agent)},
        {
            "label": "Session",
            "value": value_of(record.session),
            "mono": True,
            "url": list_url("memory_event_list", store=record.store.slug, session=record.session),
        },
    ]
    facts += memory_graph.named_fact("Path", around.path, record.path_id)
    facts += [{"label": "Source", "value": value_of(came.source)}] if came.source else []
    return facts


def _more_of_node(record: Node, read: records.Node) -> list[Fact]:
    facts: list[Fact] = [
        {"label": "Labels", "value": value_of(record.label), "url": list_url("node_list", store=record.store.slug, label=record.label)},
        {"label": "Trust zone", "value": value_of(record.trust_zone)},
    ]
    facts += [{"label": "Secret", "value": "marked as secret by its policy", "state": "late"}] if record.secret else []
    named = (("Project", record.project), ("Task", record.task), ("Graph", record.graph_id))
    facts += [{"label": label, "value": value_of(value)} for label, value in named if value]
    used = mapping(mapping(read.value).get("usage"))
    facts.append({"label": "Activated", "value": f"{wording.counted(record.activation_count, 'time')} by its own count"})
    if used.get("last_activated_at"):
        facts.append({"label": "Last activated", "value": markup.clock(storable.moment(used.get("last_activated_at"))[0])})
    version = mapping(read.value).get("version")
    return [*facts, *([{"label": "Version", "value": value_of(str(version))}] if isinstance(version, int) else [])]  # type: ignore[list-item]


def _spans_part(read: records.Node) -> list[Part]:
    """Give the places in sources that a node was taken from."""
    spans = [mapping(one) for one in items(mapping(read.value).get("source_spans"))]
    facts = [_span(span) for span in spans[:20] if span]
    return [Part("Source spans", fact=display.number(len(spans)), facts=facts)] if facts else []


def _span(span: Mapping[str, object]) -> Fact:
    place = storable.text(span.get("path"))
    for name in ("line_start", "selector"):
        if span.get(name) is not None:
            place += f":{storable.text(str(span[name]))}"
    kind = storable.text(span.get("unit_kind")) or "Place"
    return {"label": plain(kind)[:40], "value": value_of(place), "mono": True}


def _mentions_part(around: NodeAround) -> Part:
    """Give the activations in which the node was chosen or passed over, and why."""
    found = around.mentions
    fact = f"chosen {display.number(found.chosen)} ×, passed over {display.number(found.omitted)} ×" if found.rows else ""
    links = [_mention(one) for one in found.rows]
    left = found.chosen + found.omitted - len(links)
    after = f"and {display.number(left)} more" if left > 0 else ""
    note = "" if links else "No activation speaks of it."
    return Part("In activations", fact=fact, note=note, links=links, after=after, id="activations")


def _mention(one: Mention) -> Link:
    item = one.item
    reason = value_of(item.reason if item.chosen else spaced(item.reason))
    if item.chosen:
        measured = [f"score {item.score:.2f}" if item.score is not None else "", _tokens(item.tokens)]
        second: SafeString = format_html("chosen: {}{}", reason, "".join(f", {word}" for word in measured if word))
    else:
        second = format_html("passed over: {}", reason)
    return Link(
        title_of(one.activation.title),
        one.activation.get_absolute_url(),
        "current" if item.chosen else "muted",
        second,
        markup.clock(one.activation.at_ms),
    )


def _tokens(tokens: float | None) -> str:
    return f"{display.number(tokens)} tokens" if tokens is not None else ""


def edge_content(record: Edge, read: records.Edge, around: EdgeAround) -> Content:
    """Put the page of an edge together."""
    source, target = around.ends.get(record.source), around.ends.get(record.target)
    ends = Part(
        "Ends",
        facts=[
            {"label": "From", "value": _end(source, record.source)},
            {
                "label": "Edge",
                "value": value_of(record.kind),
                "mono": True,
                "url": list_url("edge_list", store=record.store.slug, kind=record.kind),
            },
            {"label": "To", "value": _end(target, record.target)},
        ],
    )
    text = Part("Fact in words", text=shown(read.text)) if read.text.strip() else Part("Fact in words", note="The record gives none.")
    return Content(
        title=title_of(record.title),
        tab_title=record.title,
        said=(
            Said(value_of(spaced(record.state)), STATES.get(record.state, "unmeasured")),
            Said(value_of(record.kind)),
            Said(markup.clock(record.at_ms)),
        ),
        lead=ends,
        main=(text, memory_graph.happened_part(around.happened)),
        side=(
            Part("Edge", facts=_edge_facts(record)),
            memory_graph.sources_part(around.sources),
            memory_graph.audited_part(around.audited),
            Part("Record", facts=memory_graph.file_facts(record)),
        ),
        others=others(read.value, "edge", _EDGE_FIELDS),
    )


def _end(node: Node | None, node_id: str) -> SafeString:
    if node is None:
        return memory_graph.linked(None, node_id)
    return format_html(
        '<span class="inline-shape">{}<span>{}</span></span><span class="second">{}, {}</span>',
        glyph(node_look(node.kind)),
        memory_graph.linked(node, node_id),
        value_of(node.kind),
        value_of(node.phase),
    )


def _edge_facts(record: Edge) -> list[Fact]:
    facts: list[Fact] = [
        {"label": "State", "value": lifecycle_word(record.state)},
        {"label": "Agent", "value": value_of(record.agent), "url": list_url("edge_list", agent=record.agent) if record.agent else ""},
        {"label": "Weight", "value": memory_graph.amount(record.weight)},
        {"label": "Confidence", "value": memory_graph.amount(record.confidence)},
    ]
    facts += [{"label": "Holds from", "value": markup.clock(record.valid_ms)}] if record.valid_ms else []
    facts += [{"label": "Holds until", "value": markup.clock(record.invalid_ms)}] if record.invalid_ms else []
    return facts


def others(
    value: Mapping[str, object], record_type: str, known: Iterable[str], shown_metadata: Iterable[str] = ("title", "graph_id")
) -> list[Fact]:
    """Give the fields of a record that its page does not show elsewhere, and what its metadata says."""
    record = unwrapped(record_type, dict(value))
    named, worded = frozenset(known), frozenset(shown_metadata)
    left = {name: one for name, one in record.items() if name not in named}
    left |= {f"metadata.{name}": one for name, one in mapping(record.get("metadata")).items() if name not in worded}
    return fields((storable.text(name), as_text(one)) for name, one in left.items())


def as_text(value: object) -> str:
    """Give any value as one text: a text as it is, anything else as JSON."""
    return storable.text(value) if isinstance(value, str) else storable.text(canonical.canonical(value).decode("utf-8", "replace"))
