"""Two branches of a store beside each other, from where they parted."""

from __future__ import annotations

from typing import NamedTuple

from stores.formats.phase_memory.path_tree import PathTree
from stores.models import PathEvent
from stores.selectors.path_page import NODES_SHOWN, KnownNode, ListedEvent, listed_events
from stores.selectors.store_paths import KnownPath, StorePaths
from stores.selectors.walks import Sql, at_once

EVENTS_READ = 10_000
"""Events of one branch that are compared."""
EVENTS_SHOWN = 100
WAY_READ = 500
"""Paths of one branch whose events are compared: the nearest to its end."""


class BranchSide(NamedTuple):
    """One of the two branches, without what both have."""

    path: KnownPath
    way: list[KnownPath]
    """From where they parted, the common path left out, down to the path."""
    events: list[ListedEvent]
    event_count: int
    nodes: list[KnownNode]
    nodes_left: int
    capped: bool
    """It has more events than were compared."""


class ComparedPaths(NamedTuple):
    """Two branches."""

    common: KnownPath | None
    """The nearest path from which both come."""
    left: BranchSide
    right: BranchSide
    shared_events: int


def compare(paths: StorePaths, left: KnownPath, right: KnownPath) -> ComparedPaths:
    """Compare two paths that are in the tree. Five queries."""
    ways = [paths.tree.line(one.id) for one in (left, right)]
    parted = paths.tree.compare(left.id, right.id)
    read = [[paths.by_id[one] for one in alone[-WAY_READ:]] for alone in (parted.left, parted.right)]
    listed = at_once([_events_of(way) if way else None for way in read])
    events: dict[str, list[str]] = {}
    for pk, event_id in (row for rows in listed for row in rows):
        events.setdefault(paths.by_pk[pk].id, []).append(event_id)
    capped = [
        len(way) < len(alone) or len(rows) > EVENTS_READ for way, alone, rows in zip(read, (parted.left, parted.right), listed, strict=True)
    ]
    entries = {one: paths.tree.paths[one]._replace(event_ids=tuple(events.get(one, ()))) for way in ways for one in way}
    compared = PathTree(entries.values()).compare(left.id, right.id)
    return ComparedPaths(
        common=paths.by_id.get(compared.ancestor),
        left=_side(paths, left, compared.left, compared.left_events, capped[0]),
        right=_side(paths, right, compared.right, compared.right_events, capped[1]),
        shared_events=compared.shared_events,
    )


def _events_of(way: list[KnownPath]) -> Sql:
    """Give the SELECT of the first events that some paths list: the path's primary key, the event's id."""
    listed = PathEvent.objects.filter(record_id__in=[path.pk for path in way]).order_by("record_id", "position")
    sql, parameters = listed.values_list("record_id", "event_id")[: EVENTS_READ + 1].query.sql_with_params()
    return sql, list(parameters)


def _side(paths: StorePaths, path: KnownPath, way: tuple[str, ...], event_ids: tuple[str, ...], capped: bool) -> BranchSide:
    events, _, nodes = listed_events(paths, enumerate(event_ids[:EVENTS_SHOWN]), on_paths=way[-WAY_READ:])
    return BranchSide(
        path=path,
        way=[paths.by_id[one] for one in way],
        events=events,
        event_count=len(event_ids),
        nodes=nodes[:NODES_SHOWN],
        nodes_left=max(0, len(nodes) - NODES_SHOWN),
        capped=capped,
    )
