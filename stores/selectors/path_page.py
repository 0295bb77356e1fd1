"""One path: its events in their order with what each changed, the memory that came up on it, and what hangs around it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from django.db.models import Case, FilteredRelation, IntegerField, Q, QuerySet, Value, When

from stores.formats.phase_memory.layout import EVENTS
from stores.formats.record_keys import record_key
from stores.models import Event, MemoryPath, Node, PathEvent, Store
from stores.selectors.store_paths import KnownPath, StorePaths
from stores.selectors.walks import Sql, at_once

EVENTS_A_PAGE = 100
NODES_SHOWN = 100
CHANGES_SHOWN = 12
"""Changes of one event that are shown; the others stand on its page."""
NODES_FOLDER = "nodes"
_AT_ONCE = 500
_AT_MOST = 2_000
"""Nodes that one page of events can name."""
_EVENT = ("pk", "natural_id", "line", "kind", "title", "at_ms", "standing", "update_count")
_NODE = ("pk", "natural_id", "title", "kind", "phase", "state")


class _Update(NamedTuple):
    """A row of what an event says it changed; a target_type of None where it changed nothing."""

    target_type: str | None
    target_id: str
    operation: str
    named: str


class KnownNode(NamedTuple):
    """A node as a path names it."""

    pk: int
    id: str
    title: str
    kind: str
    phase: str
    state: str


class KnownEvent(NamedTuple):
    """An event as a path lists it."""

    pk: int
    id: str
    line: int
    kind: str
    title: str
    at_ms: int
    standing: str
    update_count: int


class Change(NamedTuple):
    """What an event did to one record."""

    operation: str
    record_type: str
    target: str
    """Id of the record."""
    named: str
    """What the operation names besides: parent, merge target, summary node or reason."""
    node: KnownNode | None
    """The node, where one is meant that exists."""
    path: KnownPath | None
    """The path, in the same way."""
    other: KnownPath | None
    """The path that the operation names besides."""
    summary: KnownNode | None
    """The node that a compacted path became."""


class ListedEvent(NamedTuple):
    """An event at its place in the path's list."""

    position: int
    """From 1."""
    id: str
    event: KnownEvent | None
    """None for one that the log does not hold."""
    changes: tuple[Change, ...]
    more: int
    """Changes that are not shown."""

    @property
    def decides(self) -> bool:
        """Whether it made a decision."""
        return any(change.node is not None and change.node.kind == "decision" and change.operation == "create" for change in self.changes)


class PathPage(NamedTuple):
    """A path and what lies around it."""

    path: KnownPath
    line: list[KnownPath]
    """From the top down to the path."""
    siblings: list[KnownPath]
    children: list[KnownPath]
    merged_here: list[KnownPath]
    """Paths that were merged into this one."""
    target: KnownPath | None
    """The path into which this one was merged, where it exists."""
    summary: KnownNode | None
    """The node that a compacted path became, where it exists."""
    ring: tuple[str, ...]
    events: list[ListedEvent]
    page: int
    decisions: list[KnownNode]
    nodes: list[KnownNode]
    """Other nodes that came up on it."""
    nodes_left: int
    """Nodes that are not shown."""

    @property
    def place(self) -> int:
        """Number of the path among its siblings, from 1."""
        return 1 + next((place for place, one in enumerate(self.siblings) if one.pk == self.path.pk), 0)

    @property
    def previous(self) -> KnownPath | None:
        """The sibling before it."""
        return self.siblings[self.place - 2] if self.place > 1 else None

    @property
    def next(self) -> KnownPath | None:
        """The sibling behind it."""
        return self.siblings[self.place] if self.place < len(self.siblings) else None

    @property
    def pages(self) -> int:
        """Pages of events."""
        return max(1, -(-self.path.event_count // EVENTS_A_PAGE))


def path_page(paths: StorePaths, path: KnownPath, page: int = 1, event_ids: Sequence[str] | None = None) -> PathPage:
    """Give everything about a path; `event_ids` are those that it lists where they are known. Three queries, two with them."""
    page = max(1, min(page, -(-path.event_count // EVENTS_A_PAGE)))
    first = (page - 1) * EVENTS_A_PAGE
    listed = list(enumerate(event_ids))[first : first + EVENTS_A_PAGE] if event_ids is not None else _listed_by(path, first)
    on_paths = [path.id] if paths.holds(path) else []
    events, nodes, on_it = listed_events(paths, listed, [path.summary_id], on_paths)
    return PathPage(
        path=path,
        line=paths.line(path),
        siblings=paths.siblings(path),
        children=paths.children(path),
        merged_here=[one for one in paths.by_id.values() if one.merge_target == path.id and one.pk != path.pk],
        target=paths.by_id.get(path.merge_target),
        summary=nodes.get(path.summary_id),
        ring=paths.ring_of(path.id),
        events=events,
        page=page,
        decisions=[node for node in on_it[:NODES_SHOWN] if node.kind == "decision"],
        nodes=[node for node in on_it[:NODES_SHOWN] if node.kind != "decision"],
        nodes_left=max(0, len(on_it) - NODES_SHOWN),
    )


def _listed_by(path: KnownPath, first: int) -> list[tuple[int, str]]:
    listed = PathEvent.objects.filter(record_id=path.pk, position__gte=first, position__lt=first + EVENTS_A_PAGE)
    return list(listed.order_by("position").values_list("position", "event_id"))


def listed_events(
    paths: StorePaths, listed: Iterable[tuple[int, str]], also: Iterable[str] = (), on_paths: Collection[str] = ()
) -> tuple[list[ListedEvent], dict[str, KnownNode], list[KnownNode]]:
    """Give events by their places and ids, the nodes that they name with those of `also`, and the nodes that came up on some paths.

    Of these the decisions first, one more than are shown. Two queries for 500 events.
    """
    places = list(listed)
    events, updates = _events_with_updates(paths.store, [event_id for _, event_id in places])
    made = [one for some in updates.values() for one in some]
    wanted = {one.target_id for one in made if one.target_type == "node"} | {one.named for one in made if one.operation == "compact"}
    named, on_them = _nodes(paths.store, {*wanted, *also} - {""}, on_paths)
    return [_listed(position, event_id, events.get(event_id), updates, named, paths) for position, event_id in places], named, on_them


def events_named(store: Store, ids: Collection[str]) -> dict[str, KnownEvent]:
    """Give the live events of a store with these ids: of those that share one the first in the log. One query for 500 of them."""
    found: dict[str, KnownEvent] = {}
    for some in _parts(_keys(ids)):
        for row in _live_events(store, some).order_by("line").values_list(*_EVENT):
            found.setdefault(row[1], KnownEvent(*row))
    return {event_id: found[event_id] for event_id in ids if event_id in found}


def _events_with_updates(store: Store, ids: Collection[str]) -> tuple[dict[str, KnownEvent], dict[int, list[_Update]]]:
    """Give the same, and by the event's primary key the first things that it says it changed."""
    found: dict[str, KnownEvent] = {}
    updates: dict[int, list[_Update]] = {}
    for some in _parts(_keys(ids)):
        shown = FilteredRelation("updates", condition=Q(updates__position__lt=CHANGES_SHOWN))
        rows = _live_events(store, some).annotate(shown=shown).order_by("line", "shown__position")
        for row in rows.values_list(*_EVENT, *(f"shown__{column}" for column in _Update._fields)):
            event = KnownEvent(*row[: len(_EVENT)])
            found.setdefault(event.id, event)
            update = _Update(*row[len(_EVENT) :])
            if update.target_type is not None:
                updates.setdefault(event.pk, []).append(update)
    return found, updates


def _live_events(store: Store, keys: Sequence[int]) -> QuerySet[Event]:
    return Event.objects.filter(file__store=store, file__path=EVENTS, key__in=keys, gone_at__isnull=True)


def _nodes(store: Store, ids: Collection[str], on_paths: Collection[str]) -> tuple[dict[str, KnownNode], list[KnownNode]]:
    """Give the live nodes with these ids, and those that came up on some paths, decisions first. One query."""
    live = Node.objects.filter(store=store, gone_at__isnull=True, is_duplicate=False)
    named = live.filter(file__path=NODES_FOLDER, file__store=store, key__in=_keys(ids)[:_AT_MOST]).order_by()
    decided = Case(When(kind="decision", then=Value(0)), default=Value(1), output_field=IntegerField())
    on_them = live.filter(path_id__in=on_paths).order_by(decided, "created_ms", "pk")[: NODES_SHOWN + 1]
    wanted = [_sql(named) if ids else None, _sql(on_them) if on_paths else None]
    by_name, found = ([KnownNode(*row) for row in rows] for rows in at_once(wanted))
    return {node.id: node for node in by_name}, sorted(found, key=lambda node: node.kind != "decision")


def _sql(nodes: QuerySet[Node]) -> Sql:
    sql, parameters = nodes.values_list(*_NODE).query.sql_with_params()
    return sql, list(parameters)


def _keys(ids: Iterable[str]) -> list[int]:
    return sorted({record_key(one, b"") for one in ids})


def _listed(
    position: int,
    event_id: str,
    event: KnownEvent | None,
    updates: dict[int, list[_Update]],
    nodes: dict[str, KnownNode],
    paths: StorePaths,
) -> ListedEvent:
    if event is None:
        return ListedEvent(position + 1, event_id, None, (), 0)
    changes = tuple(_change(one, nodes, paths) for one in updates.get(event.pk, ()))
    return ListedEvent(position + 1, event_id, event, changes, max(0, event.update_count - len(changes)))


def _change(one: _Update, nodes: dict[str, KnownNode], paths: StorePaths) -> Change:
    is_path = one.target_type == "path"
    return Change(
        operation=one.operation,
        record_type=one.target_type or "",
        target=one.target_id,
        named=one.named,
        node=nodes.get(one.target_id) if one.target_type == "node" else None,
        path=paths.by_id.get(one.target_id) if is_path else None,
        other=paths.by_id.get(one.named) if is_path and one.operation in ("branch", "merge") else None,
        summary=nodes.get(one.named) if is_path and one.operation == "compact" else None,
    )


def path_of(paths: StorePaths, record: MemoryPath) -> KnownPath:
    """Give what the tree knows of a record, also of one that is gone."""
    known = paths.by_pk.get(record.pk)
    return known or KnownPath(
        pk=record.pk,
        id=record.natural_id,
        parent=record.parent_path_id,
        state=record.state,
        merge_target=record.merge_target,
        created_ms=record.created_ms,
        at_ms=record.at_ms,
        event_count=record.event_count,
        summary_id=record.summary_id,
        title=record.title,
        fault_count=record.fault_count,
        is_duplicate=record.is_duplicate,
        reason=record.abandoned_reason,
    )


def _parts(values: Sequence[int]) -> Iterable[Sequence[int]]:
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))
