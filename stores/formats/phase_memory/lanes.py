"""Lays paths out as a picture of lanes: one row an event, newest first, one column a path for as long as it runs.

A view holds a window of the log; what lies outside, or finds no column, is counted (ruling 67).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Final, NamedTuple

from stores.formats.phase_memory.path_tree import PathEntry

ROWS: Final = 1000
LANES: Final = 300
FORK: Final = "fork"
MERGE: Final = "merge"


class LaneEvent(NamedTuple):
    """One event of the window."""

    line: int
    """Its line in the log, which orders the rows."""
    id: str
    path_id: str


class Span(NamedTuple):
    """Where in the whole log a path's events lie."""

    first_line: int
    last_line: int


class Row(NamedTuple):
    """One event in its column."""

    row: int
    column: int
    event_id: str
    path_id: str


class Lane(NamedTuple):
    """One path in the view."""

    path_id: str
    column: int
    top: int
    """Row of its newest event here; -1 where it goes on above the view."""
    bottom: int
    """Row of its oldest event here; the number of rows where it began below the view."""
    events: int
    """Of its events, how many are here."""

    @property
    def goes_on_above(self) -> bool:
        """Whether newer events of it lie outside the view."""
        return self.top < 0


class Link(NamedTuple):
    """A line between two lanes, from the older end to the newer."""

    what: str
    """fork or merge."""
    start_path: str
    start_column: int | None
    """None where that path has no lane in this view: a stub."""
    start_row: int
    end_path: str
    end_column: int | None
    end_row: int


class Layout(NamedTuple):
    """One view."""

    rows: tuple[Row, ...]
    lanes: tuple[Lane, ...]
    links: tuple[Link, ...]
    columns: int
    height: int
    """Rows of the view, those of paths without a column included."""
    earlier: int
    """Events below the view."""
    later: int
    """Events above it."""
    hidden_paths: int
    """Paths with events in the window for which there was no column."""
    hidden_events: int


class _Run(NamedTuple):
    """From which row to which a path runs: its own events, and the lines that lead to it and away."""

    path_id: str
    top: int
    bottom: int
    first: int
    last: int
    events: int


def lay_out(
    events: Sequence[LaneEvent],
    paths: Mapping[str, PathEntry],
    spans: Mapping[str, Span],
    *,
    earlier: int = 0,
    later: int = 0,
    most_rows: int = ROWS,
    most_lanes: int = LANES,
) -> Layout:
    """Lay the events of a window out; events of paths that do not exist are expected to be left out.

    `spans` are those of the paths with events in the window; `earlier` and `later` count the events outside of it. Of a window
    with more than `most_rows` events the oldest are counted as earlier.
    """
    shown = sorted(events, key=lambda event: event.line, reverse=True)
    earlier += max(0, len(shown) - most_rows)
    shown = shown[:most_rows]
    runs = _runs(shown, spans)
    columns = _columns(runs, paths, most_lanes)
    rows = tuple(
        Row(number, columns[event.path_id], event.id, event.path_id) for number, event in enumerate(shown) if event.path_id in columns
    )
    lanes = tuple(
        Lane(run.path_id, columns[run.path_id], run.top, run.bottom, run.events) for run in runs.values() if run.path_id in columns
    )
    return Layout(
        rows=rows,
        lanes=tuple(sorted(lanes, key=lambda lane: (lane.column, lane.top))),
        links=tuple(_links(runs, paths, columns)),
        columns=max(columns.values(), default=-1) + 1,
        height=len(shown),
        earlier=earlier,
        later=later,
        hidden_paths=len(runs) - len(columns),
        hidden_events=len(shown) - len(rows),
    )


def _runs(shown: Sequence[LaneEvent], spans: Mapping[str, Span]) -> dict[str, _Run]:
    """Give the run of each path, oldest beginning first."""
    last: dict[str, int] = {}
    first: dict[str, int] = {}
    count: dict[str, int] = {}
    for row, event in enumerate(shown):
        last.setdefault(event.path_id, row)
        first[event.path_id] = row
        count[event.path_id] = count.get(event.path_id, 0) + 1
    runs = []
    for path_id, newest in last.items():
        oldest = first[path_id]
        span = spans.get(path_id, Span(shown[oldest].line, shown[newest].line))
        top = -1 if span.last_line > shown[newest].line else newest
        bottom = len(shown) if span.first_line < shown[oldest].line else oldest
        runs.append(_Run(path_id, top, bottom, oldest, newest, count[path_id]))
    runs.sort(key=lambda run: (-run.bottom, -run.first, run.path_id))
    return {run.path_id: run for run in runs}


def _fork_row(run: _Run, parent: _Run) -> int:
    """Give the row at which a path leaves its parent: right below its first event, as far as the parent runs there."""
    return max(parent.top, min(run.first + 1, parent.bottom))


def _merge_row(run: _Run, target: _Run) -> int:
    """Give the row at which a path arrives at its target: right above its last event, as far as the target runs there."""
    return min(target.bottom, max(run.last - 1, target.top))


def _columns(runs: Mapping[str, _Run], paths: Mapping[str, PathEntry], most: int) -> dict[str, int]:
    """Give each path the leftmost column that is free from the row where it leaves its parent to the one where it arrives."""
    columns: dict[str, int] = {}
    free: list[int] = []
    taken: list[tuple[int, int]] = []
    used = 0
    for bottom, top, path_id in sorted(_occupied(runs, paths), key=lambda one: (-one[0], -runs[one[2]].first, one[2])):
        while taken and -taken[0][0] > bottom:
            heappush(free, heappop(taken)[1])
        if free:
            column = heappop(free)
        elif used < most:
            column, used = used, used + 1
        else:
            continue
        columns[path_id] = column
        heappush(taken, (-top, column))
    return columns


def _occupied(runs: Mapping[str, _Run], paths: Mapping[str, PathEntry]) -> Iterable[tuple[int, int, str]]:
    for run in runs.values():
        top, bottom = run.top, run.bottom
        path = paths.get(run.path_id)
        parent, target = (runs.get(path.parent), runs.get(path.merge_target)) if path is not None else (None, None)
        if parent is not None:
            bottom = max(bottom, _fork_row(run, parent))
        if target is not None:
            top = min(top, _merge_row(run, target))
        yield bottom, top, run.path_id


def _links(runs: Mapping[str, _Run], paths: Mapping[str, PathEntry], columns: Mapping[str, int]) -> Iterable[Link]:
    for path_id, column in columns.items():
        run, path = runs[path_id], paths.get(path_id)
        if path is None:
            continue
        began_here = run.bottom == run.first
        if path.parent and path.parent != path_id and began_here:
            row = _fork_row(run, runs[path.parent]) if path.parent in columns else run.first + 1
            yield Link(FORK, path.parent, columns.get(path.parent), row, path_id, column, run.first)
        if path.merge_target and path.merge_target != path_id and not run.top < 0:
            row = _merge_row(run, runs[path.merge_target]) if path.merge_target in columns else run.last - 1
            yield Link(MERGE, path_id, column, run.last, path.merge_target, columns.get(path.merge_target), row)
