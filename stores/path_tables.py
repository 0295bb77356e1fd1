"""Paths in the words of pages: rows of the tree, events and what they changed, rows of the picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from django.forms.utils import flatatt
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from stores import display, markup
from stores.addresses import list_url
from stores.formats.phase_memory.path_tree import Detached
from stores.formats.phase_memory.vocabulary import PATH_STATES
from stores.lists.paths import TreeQuery
from stores.memory_words import id_text, plain, short, spaced, title_of
from stores.path_drawing import LANES_DRAWN, ROW, Gutter, LanePicture, gutter, leading
from stores.phase_cells import STATES
from stores.record_parts.base import Link
from stores.selectors import wording
from stores.selectors.path_lanes import LaneRow
from stores.selectors.path_page import Change, KnownNode, ListedEvent
from stores.selectors.store_paths import KnownPath, PathRow, StorePaths, TreeView
from stores.table_view import Head, Row, TableView

ID_LENGTH = 60
RING_SHOWN = 6
KINDS_SHOWN = 2
CRUMBS_SHOWN = 5


PAST = {
    "create": "created",
    "update": "updated",
    "activate": "activated",
    "deactivate": "deactivated",
    "refresh": "refreshed",
    "retire": "retired",
    "transition_phase": "moved to another phase:",
    "merge": "merged",
    "restore": "restored",
    "branch": "branched",
    "abandon": "abandoned",
    "compact": "compacted",
}
"""What an event did -> how a page says it."""


class TreeRow(NamedTuple):
    """One row of the tree as the template prints it."""

    pk: int
    """0 for a row that leads to more paths."""
    level: int
    place: int
    size: int
    lanes: SafeString
    """The picture left of the row."""
    title: SafeString | str
    url: str
    words: SafeString | str = ""
    """What became of the path, behind its title."""
    state: str = ""
    """Colours these words."""
    toggle_url: str = ""
    """"" for a path from which nothing branches off."""
    level_url: str = ""
    """Where the rows below are."""
    is_open: bool = False
    is_current: bool = False
    is_dim: bool = False
    depth_words: str = ""
    """Of a path that hangs deeper than lanes are drawn."""
    brought: str = ""
    brought_url: str = ""
    events: int = 0
    events_url: str = ""
    at_ms: int = 0
    decides: bool = False
    shape: str = ""
    """Of what hangs loose."""


class Crumb(NamedTuple):
    """One step of the way down to a path."""

    text: SafeString | str
    url: str


class EventLine(NamedTuple):
    """An event of a path in words."""

    position: int
    at_ms: int
    url: str
    """"" for one that the log does not hold."""
    title: SafeString | str
    changes: Sequence[SafeString]
    more: int
    decides: bool
    state: str
    """The shape of one that does not count."""


def tree_rows(view: TreeView, rows: Iterable[PathRow], brought: Mapping[str, Mapping[str, int]], home: str) -> list[TreeRow]:
    """Give rows of the tree in words; `home` is the page of the tree."""
    listed = list(rows)
    leads = leading((row.depth, row.path is not None and row.path.id in view.line) for row in listed)
    return [
        _tree_row(view, row, brought.get(row.path.id, {}) if row.path else {}, home, lead) for row, lead in zip(listed, leads, strict=True)
    ]


def _tree_row(view: TreeView, row: PathRow, brought: Mapping[str, int], home: str, leads: Sequence[bool]) -> TreeRow:
    path, query, slug = row.path, view.query, view.paths.store.slug
    drawn = gutter(
        row.depth,
        path.state if path else "",
        row.continues,
        has_later=row.place < row.siblings if path is not None else row.is_before,
        opens=row.is_open and row.children > 0,
        children=row.children,
        is_more=path is None,
        leads=leads,
        is_led_to=path is not None and path.id in view.line,
    )
    if path is None:
        return _more_row(view, row, drawn, home)
    words, state = _became(view.paths, row)
    toggled = query.toggled(path.pk, is_open=row.is_open)
    return TreeRow(
        pk=path.pk,
        level=row.depth + 1,
        place=row.place,
        size=row.siblings,
        lanes=lanes_of(drawn),
        title=title_of(path.title),
        url=_row_url(view, path, home),
        words=words,
        state=state,
        toggle_url=toggled.address(home) if row.children else "",
        level_url=_level_url(view, path, 0) if row.children else "",
        is_open=row.is_open and row.children > 0,
        is_current=view.chosen is not None and view.chosen.pk == path.pk,
        is_dim=not row.is_hit or path.state in ("abandoned", "compacted"),
        depth_words=f"level {row.depth + 1}" if row.depth >= LANES_DRAWN else "",
        brought=_brought_words(brought),
        brought_url=list_url("node_list", store=slug, path_id=path.id) if brought else "",
        events=path.event_count,
        events_url=f"{reverse('path_detail', args=[path.pk])}#events" if path.event_count else "",
        at_ms=path.at_ms,
        decides=bool(brought.get("decision")),
        shape=_loose_shape(row),
    )


@lru_cache(maxsize=2048)
def lanes_of(drawn: Gutter) -> SafeString:
    """Give the lanes left of a row as a picture; most rows of a tree look like another one."""
    lines = format_html_join(
        "",
        '<path class="lane" data-style="{}" data-of="{}"{} d="{}"/>',
        ((stroke.style, stroke.of, _LEADS if stroke.leads else "", stroke.d) for stroke in drawn.strokes),
    )
    mark = mark_at(drawn.mark, drawn.x, ROW // 2) if drawn.mark != "more" else ""
    return format_html(
        '<svg class="gutter" width="{0}" height="{1}" viewBox="0 0 {0} {1}" aria-hidden="true">{2}{3}</svg>', drawn.width, ROW, lines, mark
    )


_LEADS = format_html("{}", " data-leads")


def mark_at(mark: str, x: int, y: int) -> SafeString:
    """Give the mark of a path or an event at a point of a picture."""
    place = format_html('<g class="mark-at" data-mark="{}" transform="translate({} {})">', mark, x, y)
    if mark == "abandoned":
        return format_html('{}<path d="M-3.5-3.5l7 7M3.5-3.5l-7 7"/>{}', place, _MARK_END)
    if mark == "compacted":
        return format_html('{}<path d="M-4-4h8v8h-8zM-1.8 0h3.6"/>{}', place, _MARK_END)
    return format_html('{}<circle r="{}"/>{}', place, {"event": "3", "end": "4.5"}.get(mark, "4"), _MARK_END)


_MARK_END = format_html('<circle class="mark-chosen" r="{}"/></g>', 7)


def _row_url(view: TreeView, path: KnownPath, home: str) -> str:
    """Give where a row leads: to the path beside the tree, or, where one is chosen already, to the comparison of both."""
    query = view.query
    if not query.second:
        return query.changed(path=path.pk).address(home)
    return f"{reverse('path_compare', args=[view.paths.store.slug])}?left={query.second}&right={path.pk}"


def _level_url(view: TreeView, path: KnownPath, start: int, *, before: bool = False) -> str:
    query = view.query.changed(opened=(), shut=(), start=start)
    address = query.address(reverse("store_path_level", args=[view.paths.store.slug]))
    top = f"&top={view.anchor.pk}" if view.anchor is not None else ""
    return f"{address}{'&' if '?' in address else '?'}under={path.pk}{top}{'&before=1' if before else ''}"


def _more_row(view: TreeView, row: PathRow, drawn: Gutter, home: str) -> TreeRow:
    title = f"{display.number(row.more)} {'before' if row.is_before else 'more'}"
    if row.under is None:
        url, level_url = view.query.changed(path=0, start=row.start).address(home), ""
    else:
        # Without JavaScript the page of siblings is the one around the first of them.
        url = view.query.changed(path=view.paths.children(row.under, row.start, 1)[0].pk).address(home)
        level_url = _level_url(view, row.under, row.start, before=row.is_before)
    return TreeRow(0, row.depth + 1, row.place, row.siblings, lanes_of(drawn), title, url, level_url=level_url)


def _became(paths: StorePaths, row: PathRow) -> tuple[SafeString | str, str]:
    """Say what became of a path, or why it hangs loose."""
    path = row.path
    if path is None:
        return "", ""
    if not paths.holds(path):
        return ("another file has its id, and counts" if path.id else "it gives no id"), "warning"
    if row.detached is Detached.MISSING_PARENT:
        return format_html("parent {} does not exist", _id(path.parent)), "late"
    if row.detached is Detached.CYCLE and not row.depth:
        return format_html("ring: {}", _ring(paths.ring_of(path.id))), "failing"
    words, state = became(paths, path)
    if path.fault_count and path.state in PATH_STATES:
        faults = wording.counted(path.fault_count, "fault")
        return (format_html("{}, {}", words, faults) if words else faults), "warning"
    return words, state


def became(paths: StorePaths, path: KnownPath) -> tuple[SafeString | str, str]:
    """Say what became of a path; "" for one that is active."""
    if path.state == "merged":
        target = paths.by_id.get(path.merge_target)
        if target is None:
            return format_html("merged into {}, which does not exist", _id(path.merge_target)), "failing"
        return format_html("merged → {}", short(target.title, ID_LENGTH)), ""
    if path.state == "abandoned":
        return format_html("abandoned: {}", short(path.reason, ID_LENGTH)) if path.reason.strip() else "abandoned", ""
    if path.state == "compacted":
        return "compacted into a summary", ""
    if path.state == "active":
        return "", ""
    return format_html("state {}", short(path.state, 40) if path.state.strip() else "not given"), "warning"


def _ring(ring: Sequence[str]) -> SafeString:
    names = [_id(one) for one in (*ring[:RING_SHOWN], ring[0])]
    return format_html_join(" > ", "{}", ((name,) for name in names)) if len(ring) <= RING_SHOWN else format_html(
        "{} > … of {} paths", names[0], len(ring)
    )  # fmt: skip


def _loose_shape(row: PathRow) -> str:
    if row.depth:
        return ""
    if row.detached is Detached.CYCLE:
        return "failing"
    return "warning" if row.detached is Detached.MISSING_PARENT or (row.path is not None and row.path.is_duplicate) else ""


def _brought_words(kinds: Mapping[str, int]) -> str:
    """Say what came up on a path: "2 decisions, 1 risk and 4 more"; decisions first, then what is most."""
    ordered = sorted(kinds.items(), key=lambda one: (one[0] != "decision", -one[1], one[0]))
    words = [f"{number:,} {_plural(kind, number)}" for kind, number in ordered[:KINDS_SHOWN]]
    left = sum(number for _, number in ordered[KINDS_SHOWN:])
    return ", ".join([*words, f"{left:,} more"] if left else words)


_SAME = frozenset({"evidence", "follow_up", "memory", "knowledge", "reasoning", "policy", "capability", "identity", "entity"})
_PLURALS = {"memory": "memories", "policy": "policies", "capability": "capabilities", "identity": "identities", "entity": "entities"}


def _plural(kind: str, number: int) -> str:
    word = plain(spaced(kind))[:24] or "of no kind"
    if number == 1:
        return word
    return _PLURALS.get(kind) or (word if kind in _SAME or word.endswith("s") else f"{word}s")


def _id(value: str) -> SafeString:
    """Give an id inside of a sentence."""
    return format_html('<span class="mono">{}</span>', id_text(value, ID_LENGTH))


def path_link(path: KnownPath) -> SafeString:
    """Give a path as a link to its page."""
    return format_html('<a href="{}">{}</a>', reverse("path_detail", args=[path.pk]), title_of(path.title))


def node_link(node: KnownNode) -> SafeString:
    """Give a node as a link to its page."""
    return format_html('<a href="{}">{}</a>', reverse("node_detail", args=[node.pk]), title_of(node.title))


def crumbs(line: Sequence[KnownPath]) -> list[Crumb]:
    """Give the way down to a path, the path itself left out; of a long one its two ends."""
    above = list(line[:-1])
    steps = [Crumb(title_of(path.title), reverse("path_detail", args=[path.pk])) for path in above]
    if len(steps) <= CRUMBS_SHOWN:
        return steps
    left = len(steps) - CRUMBS_SHOWN
    return [steps[0], Crumb(f"{display.number(left)} between", ""), *steps[1 - CRUMBS_SHOWN :]]


def node_links(nodes: Iterable[KnownNode]) -> list[Link]:
    """Give nodes as rows: the state as a shape, what it is at the end."""
    return [
        Link(
            title_of(node.title),
            reverse("node_detail", args=[node.pk]),
            STATES.get(node.state, "unmeasured"),
            end=_node_end(node),
        )
        for node in nodes
    ]


def _node_end(node: KnownNode) -> SafeString | str:
    words = node.phase if node.kind == "decision" else spaced(node.kind)
    state = "" if node.state == "active" else f", {spaced(node.state)}"
    return short(f"{words}{state}", 40)


def path_links(paths: StorePaths, found: Iterable[KnownPath], *, told: bool = True) -> list[Link]:
    """Give paths as rows, with `told` also what became of each."""
    return [
        Link(
            title_of(path.title),
            reverse("path_detail", args=[path.pk]),
            STATES.get(path.state, "unmeasured"),
            second=became(paths, path)[0] if told else "",
            end=markup.day(path.at_ms),
        )
        for path in found
    ]


def event_lines(events: Iterable[ListedEvent], own: str = "") -> list[EventLine]:
    """Give events in words; `own` is the id of the path whose page says it."""
    return [_event_line(one, own) for one in events]


def _event_line(one: ListedEvent, own: str) -> EventLine:
    if one.event is None:
        return EventLine(one.position, 0, "", format_html("{} is not in the log", _id(one.id)), (), 0, False, "failing")
    event = one.event
    changes = [change_words(change, own) for change in one.changes]
    words = _own_words(event.title, event.kind)
    if words:
        title = title_of(words)
    elif len(changes) == 1 and not one.more:
        # What it changed is all that it says.
        node = one.changes[0].node
        title, changes = (node_link(node) if one.decides and node else changes[0]), []
    else:
        title = short(spaced(event.kind), 40) if changes and event.kind.strip() else title_of(event.title)
    state = "late" if event.standing else ""
    url = reverse("memory_event_detail", args=[event.pk])
    return EventLine(one.position, event.at_ms, url, title, changes, one.more, one.decides, state)


def _own_words(title: str, kind: str) -> str:
    """Give what an event says for itself; "" for one whose title is made of its kind and first change."""
    head, _, rest = title.partition(": ")
    return rest if head == kind and len(rest.split()) > 2 else ""


def change_words(change: Change, own: str = "") -> SafeString:
    """Say what an event did to one record, with the way to it; `own` is the id of the path whose page says it."""
    operation = PAST.get(change.operation) or short(spaced(change.operation) or "touched", 40)
    if change.node is not None:
        what = format_html("{} {} {}", operation, short(spaced(change.node.kind), 40), node_link(change.node))
    elif change.path is not None and change.path.id == own:
        what = format_html("{}", operation)
    elif change.path is not None:
        what = format_html("{} path {}", operation, path_link(change.path))
    else:
        what = format_html("{} {} {}", operation, change.record_type, _id(change.target))
    if change.other is not None:
        return format_html("{} {} {}", what, "off" if change.operation == "branch" else "→", path_link(change.other))
    if change.summary is not None:
        return format_html("{} into {}", what, node_link(change.summary))
    return format_html("{}: {}", what, short(change.named, 200)) if change.named.strip() else what


def picture_of(drawn: LanePicture) -> SafeString:
    """Give the inside of the picture of a window: lines, arrows, marks."""
    lines = format_html_join("", '<path class="lane" data-style="{}" d="{}"/>', ((stroke.style, stroke.d) for stroke in drawn.strokes))
    arrows = format_html_join("", '<path class="lane-arrow" d="{}"/>', ((arrow,) for arrow in drawn.arrows))
    marks = format_html_join("", "{}", ((mark_at(mark.mark, mark.x, mark.y),) for mark in drawn.marks))
    return format_html("{}{}{}", lines, arrows, marks)


_EVENT = flatatt({"class": "lead elastic", "data-stack": "main"})
_PATH = flatatt({"class": "short quiet"})
_WHEN = flatatt({"class": "num", "data-stack": "top"})


def lane_table(rows: Iterable[LaneRow]) -> TableView:
    """Give the rows beside the picture, which say the same."""
    heads = (Head("Event", _EVENT), Head("Path", _PATH), Head("When", _WHEN))
    return TableView("Events of the picture, newest first", heads, [_lane_row(row) for row in rows], gutter=False)


def _lane_row(row: LaneRow) -> Row:
    words: list[SafeString] = []
    if row.branched_from is not None:
        words.append(format_html("branched off {}", short(row.branched_from.title, ID_LENGTH)))
    if row.merged_into is not None:
        words.append(format_html("merged → {}", short(row.merged_into.title, ID_LENGTH)))
    if row.column is None:
        words.append(format_html("{}", "not drawn"))
    tail = format_html('<span class="tail">{}</span>', format_html_join(", ", "{}", ((word,) for word in words))) if words else ""
    link = format_html('<a class="row-link" href="{}">{}</a>', reverse("memory_event_detail", args=[row.pk]), title_of(row.title))
    path = format_html('<a href="{}">{}</a>', reverse("path_detail", args=[row.path.pk]), short(row.path.title, 40))
    cells = ((_EVENT, format_html('<span class="fill">{}{}</span>', link, tail)), (_PATH, path), (_WHEN, markup.day(row.at_ms)))
    return Row(cells)


def state_segments(query: TreeQuery, counts: Mapping[str, int], total: int, home: str) -> list[dict[str, object]]:
    """Give the choice of states with their numbers."""
    every = {"label": f"All {total:,}", "url": query.changed(states=(), start=0).address(home), "state": "", "current": not query.states}
    known = [state for state in PATH_STATES if counts.get(state) or state in query.states]
    return [every] + [
        {
            "label": f"{state.capitalize()} {counts.get(state, 0):,}",
            "url": query.changed(states=(state,), start=0).address(home),
            "state": "",
            "current": query.states == (state,),
        }
        for state in known
    ]
