"""The picture of a store's paths: which window of the log it shows, and what stands beside each of its rows."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import F

from stores.formats.phase_memory.lanes import FORK, LaneEvent, Layout, Span, lay_out
from stores.formats.phase_memory.layout import EVENTS
from stores.formats.phase_memory.path_tree import PathEntry
from stores.models import Event, PathEvent, Store
from stores.selectors.path_page import events_named
from stores.selectors.store_paths import KnownPath, StorePaths

WINDOWS = (100, 300, 1000)
"""Rows of a window that are offered (ruling 67)."""
WINDOW = 100


class LaneRow(NamedTuple):
    """One event of the window."""

    pk: int
    line: int
    title: str
    kind: str
    at_ms: int
    path: KnownPath
    column: int | None
    """None where there was no column for its path."""
    branched_from: KnownPath | None
    """The path from which its path parts at this event."""
    merged_into: KnownPath | None
    """The path into which its path goes after this event."""


class Lanes(NamedTuple):
    """One window of the log."""

    layout: Layout
    rows: list[LaneRow]
    before: int
    """Line before which the next older window ends; 0 where there is none."""
    newer: int
    """The same of the next newer one; 0 for the newest window, -1 where this one is it."""
    elsewhere: int
    """Events of the span that are on no path, or on one that does not exist."""


def lanes(paths: StorePaths, before: int = 0, size: int = WINDOW) -> Lanes:
    """Give the window of the newest events before a line of the log, or the newest of all. Six queries."""
    live = Event.objects.filter(file__store=paths.store, file__path=EVENTS, gone_at__isnull=True, standing="").exclude(path_id="")
    older = live.filter(line__lt=before) if before else live
    found = list(older.order_by("-line").values_list("pk", "line", "natural_id", "path_id", "title", "kind", "at_ms")[:size])
    shown = [row for row in found if row[3] in paths.by_id]
    first, last = (found[-1][1], found[0][1]) if found else (0, 0)
    earlier = live.filter(line__lt=first).count() if found else 0
    later = list(live.filter(line__gt=last).order_by("line").values_list("line", flat=True)[: size + 1]) if before and found else []
    later_number = live.filter(line__gt=last).count() if len(later) > size else len(later)
    named = {row[3] for row in shown}
    entries = {one: paths.tree.paths[one] for one in named}
    layout = lay_out(
        [LaneEvent(line, event_id, path_id) for _, line, event_id, path_id, *_ in shown],
        _with_parents(entries, paths),
        _spans(paths.store, [paths.by_id[one] for one in named]),
        earlier=earlier,
        later=later_number,
        most_rows=size,
    )
    return Lanes(
        layout=layout,
        rows=_rows(shown, layout, paths),
        before=first if earlier else 0,
        newer=(later[size] if len(later) > size else 0) if later else -1,
        elsewhere=len(found) - len(shown),
    )


def _with_parents(entries: dict[str, PathEntry], paths: StorePaths) -> dict[str, PathEntry]:
    """Name only ends that exist: a line that leads to nothing says nothing."""
    return {
        name: entry._replace(
            parent=entry.parent if entry.parent in paths.by_id else "",
            merge_target=entry.merge_target if entry.merge_target in paths.by_id else "",
        )
        for name, entry in entries.items()
    }


def _spans(store: Store, known: list[KnownPath]) -> dict[str, Span]:
    """Give where in the log each path begins and ends by its own list. Four queries."""
    ids = [path.pk for path in known if path.event_count]
    ends = PathEvent.objects.filter(record_id__in=ids).order_by().values_list("record__natural_id", "event_id")
    first = dict(ends.filter(position=0))
    last = dict(ends.filter(position=F("record__event_count") - 1))
    events = events_named(store, {*first.values(), *last.values()})
    spans = {}
    for path_id, event_id in first.items():
        lines = [events[one].line for one in (event_id, last.get(path_id, event_id)) if one in events]
        if lines:
            spans[path_id] = Span(min(lines), max(lines))
    return spans


def _rows(shown: list[tuple[int, int, str, str, str, str, int]], layout: Layout, paths: StorePaths) -> list[LaneRow]:
    columns = {row.row: row.column for row in layout.rows}
    parted = {link.end_row: link.start_path for link in layout.links if link.what == FORK}
    merged = {link.start_row: link.end_path for link in layout.links if link.what != FORK}
    return [
        LaneRow(
            pk, line, title, kind, at_ms, paths.by_id[path_id], columns.get(number), paths.by_id.get(parted.get(number, "")),
            paths.by_id.get(merged.get(number, "")),
        )
        for number, (pk, line, _, path_id, title, kind, at_ms) in enumerate(shown)
    ]  # fmt: skip
