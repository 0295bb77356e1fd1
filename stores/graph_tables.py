"""The entities of a graph as a table with its filters, and as the document from which the picture is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.forms.utils import flatatt
from django.http import QueryDict
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from stores import display, markup
from stores.filters import SHOWN, Chip, Choice, Facets, Field, Find, Group
from stores.formats.secrets import find_secrets
from stores.graph_drawing import drawn_edge, drawn_node, glyph
from stores.graph_looks import look_of, strength_of
from stores.lists.graphs import DATED, FACETS, PICTURE_SIZES, TOLD, GraphQuery
from stores.memory_words import plain, title_of
from stores.models import GraphEntity, GraphRelation
from stores.pager import make_pager
from stores.selectors import wording
from stores.selectors.entities import Side
from stores.selectors.graph import RELATIONS_DRAWN, EntityList, Picture, SourceState, dated_classes
from stores.table_view import Head, Row, TableView

LEGEND_TYPES = 12
MORE_TYPES = 100
NO_TYPE = "no type given"
LEGENDS = {"type": "Type", "told": "Told", "dated": "Newest date"}
_NAMES: dict[str, dict[str, str]] = {"type": {}, "told": TOLD, "dated": DATED}
_STATES = {"fresh": "current", "30": "note", "90": "late", "180": "warning", "none": "superseded"}
_SOURCE_WORDS = {"graph_entity": "graph file", "queue_operation": "queue", "decision": "decisions"}


def type_words(kind: str) -> SafeString:
    """Give a type with its form."""
    word = markup.memory_text(kind) if kind.strip() else format_html('<span class="least">{}</span>', NO_TYPE)
    return format_html('<span class="inline-shape">{}{}</span>', glyph(look_of(kind)), word)


def told_words(one: GraphEntity | GraphRelation) -> str:
    """Say which sources tell of an entity or a relation: "graph file, 2 in the queue, 3 decisions"."""
    parts = [
        "graph file" if one.filed else "",
        f"{display.number(one.queued)} in the queue" if one.queued else "",
        wording.counted(one.decisions, "decision") if one.decisions else "",
    ]
    return ", ".join(filter(None, parts)) or "only in relations"


def name_link(entity: GraphEntity, slug: str) -> SafeString:
    """Give an entity as a link to its page."""
    return format_html('<a href="{}">{}</a>', reverse("entity_detail", args=[slug, entity.pk]), title_of(entity.title))


def age_state(newest_ms: int, now: datetime) -> tuple[str, str]:
    """Give the state of an entity by its newest date, and the words for it."""
    classes = dated_classes(newest_ms, now)
    worst = next(name for name in ("none", "180", "90", "30", "fresh") if name in classes)
    words = {"fresh": "fresh", "30": "stale", "90": "stale for long", "180": "outdated unless checked", "none": "no date"}
    return _STATES[worst], words[worst]


def entity_table(found: EntityList, given: QueryDict) -> TableView:
    """Give the page of entities as a table."""
    slug, query, now = found.store.slug, found.query, found.now
    total = found.count
    columns: list[tuple[str, str, dict[str, str]]] = [
        ("name", "Entity", {"class": "lead elastic", "data-stack": "main"}),
        ("type", "Type", {"class": "short"}),
        ("", "Told by", {"class": "short quiet"}),
        ("", "Sentences", {"class": "num quiet", "data-word": "sentences"}),
        ("decisions", "Decisions", {"class": "num", "data-word": "decisions"}),
        ("degree", "Relations", {"class": "num", "data-word": "relations"}),
        ("dated", "Newest date", {"class": "num", "data-stack": "top"}),
    ]
    attrs = [flatatt(one) for _, _, one in columns]
    rows = (
        Row(
            cells=tuple(zip(attrs, _cells(entity, slug), strict=True)),
            state=age_state(entity.newest_ms, now)[0],
            state_label=age_state(entity.newest_ms, now)[1],
        )
        for entity in found.page_rows
    )
    return TableView(
        caption="Entities of the graph",
        heads=tuple(_head(query, name, title, one) for name, title, one in columns),
        rows=rows,
        pager=make_pager(given, number_now=found.page, per_page=query.per_page, count=total),
    )


def _head(query: GraphQuery, name: str, title: str, attrs: dict[str, str]) -> Head:
    own = flatatt({"class": attrs["class"]})
    if not name:
        return Head(title, own)
    falling = name in ("degree", "decisions")
    now_falling = query.sort == f"-{name}"
    is_sorted = query.sort.removeprefix("-") == name
    to_falling = not now_falling if is_sorted else falling
    return Head(
        title,
        own,
        query.changed(sort=f"{'-' if to_falling else ''}{name}").address(),
        ("descending" if now_falling else "ascending") if is_sorted else "",
    )


def _cells(entity: GraphEntity, slug: str) -> Iterable[object]:
    here = reverse("entity_detail", args=[slug, entity.pk])
    link = format_html('<a class="row-link" href="{}">{}</a>', here, title_of(entity.title))
    yield link
    yield type_words(entity.type)
    yield told_words(entity)
    yield _number(entity.observations, f"{here}#sentences")
    yield _number(entity.decisions, f"{here}#decisions")
    yield _number(entity.degree, f"{here}#relations")
    yield markup.day(entity.newest_ms) if entity.newest_ms else format_html('<span class="least">{}</span>', "no date")


def _number(number: int, url: str) -> SafeString:
    if not number:
        return format_html('<span class="zero">{}</span>', "0")
    return format_html('<a href="{}">{}</a>', url, display.number(number))


def relation_table(side: Side, slug: str, *, outgoing: bool) -> TableView:
    """Give the relations on one side of an entity as a table."""
    attrs = [flatatt({"class": "short mono"}), flatatt({"class": "lead elastic", "data-stack": "main"}), flatatt({"class": "short quiet"})]
    rows = []
    for relation in side.rows:
        other = relation.end if outgoing else relation.start
        kind = markup.memory_text(relation.type) if relation.type.strip() else NO_TYPE
        link = format_html('<a href="{}">{}</a>', reverse("relation_detail", args=[slug, relation.pk]), kind)
        cells = (
            format_html('<span class="inline-shape">{}{}</span>', glyph(look_of(other.type)), name_link(other, slug)),
            link,
            told_words(relation),
        )
        rows.append(Row(cells=tuple(zip((attrs[1], attrs[0], attrs[2]), cells, strict=True))))
    heads = (Head("To" if outgoing else "From", flatatt({"class": "lead"})), Head("Relation"), Head("Told by"))
    return TableView("Relations that begin here" if outgoing else "Relations that end here", heads, rows, gutter=False)


def facets(found: EntityList, path: str, expanded: bool) -> Facets:
    """Give the filters of the entities with their numbers."""
    query = found.query
    groups = []
    for facet in FACETS:
        counts = found.counts(facet)
        names = _NAMES[facet]
        values = list(names) or [value for value, _ in counts.most_common() if not find_secrets(value)]
        limit = MORE_TYPES if expanded else SHOWN + (len(values) == SHOWN + 1)
        shown = [value for value in values[:limit] if counts[value] or value in query.values(facet)]
        shown += [value for value in query.values(facet) if value not in shown and not find_secrets(value)]
        choices = [
            Choice(value, names.get(value, value).strip() or NO_TYPE, display.number(counts[value]), value in query.values(facet))
            for value in shown
        ]
        rest = len(values) - limit
        more = query.changed().address()
        groups.append(
            Group(LEGENDS[facet], facet, choices, f"{display.number(rest)} more types", f"{more}{'&' if more != '?' else ''}more=type")
            if rest > 0 and not names
            else Group(LEGENDS[facet], facet, choices)
        )
    kept = [Field(name, value) for name, value in query.parameters() if name not in (*FACETS, "q", "page")]
    kept += [Field("more", "type")] if expanded else []
    chosen = sum(len(query.values(facet)) for facet in FACETS)
    return Facets(path, [group for group in groups if group.choices], kept, chosen, f"Show {display.number(found.count)}")


def chips(query: GraphQuery) -> list[Chip]:
    """Give every value that is chosen, with the list without it."""
    made = [
        Chip(
            LEGENDS[facet],
            _NAMES[facet].get(value, value).strip() or NO_TYPE,
            query.changed(**{facet: tuple(one for one in query.values(facet) if one != value)}).address(),
        )
        for facet in FACETS
        for value in query.values(facet)
    ]
    return [*made, Chip("Words", query.text, query.changed(text="").address())] if query.text else made


def find(found: EntityList, path: str) -> Find:
    """Give the search field."""
    return Find(path, "Find entities by name", found.query.text)


class LegendEntry(NamedTuple):
    """A type in the legend, which shows and hides it."""

    type: str
    label: str
    glyph: SafeString
    number: str


def legend(found: EntityList) -> list[LegendEntry]:
    """Give the most frequent types of what fits."""
    counts = found.counts("type")
    wanted = found.query.type
    return [
        LegendEntry(kind, plain(kind) or NO_TYPE, glyph(look_of(kind)), display.number(number))
        for kind, number in counts.most_common(LEGEND_TYPES)
        if not find_secrets(kind) and (not wanted or kind in wanted)
    ]


def picture_sizes(query: GraphQuery, total: int) -> list[dict[str, object]]:
    """Give how many entities the picture may hold, as links; none where the smallest holds them all."""
    if total <= PICTURE_SIZES[0]:
        return []
    return [
        {"label": display.number(size), "url": query.changed(nodes=size).address(), "current": size == query.nodes}
        for size in PICTURE_SIZES
    ]


def picture_words(shown: int, total: int) -> str:
    """Say what the picture leaves out."""
    if shown < total:
        return f"The {display.number(shown)} most connected of {display.number(total)} entities"
    return wording.counted(total, "entity", "entities")


def source_words(states: Iterable[SourceState]) -> list[dict[str, str]]:
    """Say as of when the graph is, and what of each source is not in it."""
    said = []
    for one in states:
        word = _SOURCE_WORDS[one.record_type]
        if not one.complete:
            said.append(
                {"state": "note", "text": f"The {word}: {display.number(one.taken)} records are in, the worker goes on with the rest"}
            )
        elif one.left_out:
            text = f"The newest {display.number(one.taken)} of {display.number(one.taken + one.left_out)} {word} are in the graph"
            said.append({"state": "note", "text": text})
        if one.is_object:
            said.append({"state": "failing", "text": "The graph file is one JSON object: the memory server shows agents nothing of it"})
    return said


def as_of(states: Iterable[SourceState]) -> datetime | None:
    """Give the time up to which nothing is missing."""
    times = [one.at for one in states]
    return max((at for at in times if at), default=None) if all(times) else None


def picture_document(made: Picture, slug: str) -> dict[str, Any]:
    """Give what the picture is drawn from; texts are masked and on one line."""
    drawn = {node.pk for node in made.nodes}
    return {
        "nodes": [_node(node, slug) for node in made.nodes],
        "edges": [
            drawn_edge(
                relation.pk,
                relation.start_id,
                relation.end_id,
                relation.type,
                none=NO_TYPE,
                strength=strength_of(relation.type),
                url=reverse("relation_detail", args=[slug, relation.pk]),
            )
            for relation in made.relations
            if relation.start_id in drawn and relation.end_id in drawn
        ],
        "entities": made.all_nodes,
        "left_out": {
            "entities": made.all_nodes - len(made.nodes),
            "relations_beyond": RELATIONS_DRAWN if made.all_relations is None else 0,
        },
    }


def _node(node: GraphEntity, slug: str) -> dict[str, Any]:
    said = f"{wording.counted(node.degree, 'relation')}, {told_words(node)}"
    url = reverse("entity_detail", args=[slug, node.pk])
    return drawn_node(node.pk, node.title, node.type, look_of(node.type), none=NO_TYPE, degree=node.degree, said=said, url=url)
