"""Draws paths: the lanes left of each row of a tree, and the picture of a window of the log, as attributes of SVG.

Pure numbers: a row is 28 high, a lane 16 wide, forks and merges are quarter curves within a row (visual-design §7).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from stores.formats.phase_memory.lanes import FORK, Lane, Layout, Link

ROW: Final = 28
LANE: Final = 16
MIDDLE: Final = ROW // 2
ABOVE, BELOW = -4, ROW + 4
"""How far lines reach beyond a row, so that none breaks where rows are higher than drawn."""
CURVE: Final = 7
LANES_DRAWN: Final = 20
"""Lanes beside a tree; what hangs deeper is drawn in the last one, with its depth in words."""
STUB: Final = 10
STYLES: Final = {"abandoned": "abandoned", "compacted": "compacted"}
"""State of a path -> how its line is drawn; all others are plain."""


class Stroke(NamedTuple):
    """One line: `of` says which lane of the tree it belongs to, `style` how it is drawn."""

    d: str
    style: str = "plain"
    of: int = 0
    leads: bool = False
    """It leads to the chosen path."""


class Gutter(NamedTuple):
    """What stands left of one row of a tree."""

    width: int
    x: int
    """Middle of the row's own lane."""
    strokes: tuple[Stroke, ...]
    mark: str
    """open end, fork, abandoned, compacted, or more for a row that leads to others."""


class Mark(NamedTuple):
    """One event of the picture."""

    x: int
    y: int
    mark: str


class LanePicture(NamedTuple):
    """A window of the log."""

    width: int
    height: int
    strokes: tuple[Stroke, ...]
    marks: tuple[Mark, ...]
    arrows: tuple[str, ...]
    """Heads of the arrows with which merged paths arrive."""


def lane_x(lane: int) -> int:
    """Give the middle of a lane."""
    return LANE // 2 + LANE * min(lane, LANES_DRAWN - 1)


def gutter(
    depth: int,
    state: str,
    continues: Sequence[bool],
    *,
    has_later: bool,
    opens: bool,
    children: int = 0,
    is_more: bool = False,
    leads: Sequence[bool] = (),
    is_led_to: bool = False,
) -> Gutter:
    """Draw the lanes of one row.

    `continues` tells for each lane above the row's parent whether it goes on, `has_later` whether a sibling follows in the parent's
    lane, `opens` whether children stand below the row. `leads` tells for each lane, the row's own last, whether the way to the
    chosen path goes down in it below this row, `is_led_to` whether the row itself is on that way.
    """
    x = lane_x(depth)
    strokes = [
        Stroke(f"M{lane_x(lane)} {ABOVE}V{BELOW}", of=lane, leads=_at(leads, lane))
        for lane, goes_on in enumerate(continues)
        if goes_on and lane < LANES_DRAWN - 1
    ]
    if depth and lane_x(depth - 1) < x:
        parent, style = lane_x(depth - 1), STYLES.get(state, "plain")
        strokes.append(
            Stroke(
                f"M{parent} {ABOVE}V{MIDDLE - CURVE}Q{parent} {MIDDLE} {parent + CURVE} {MIDDLE}H{x - 5}",
                "more" if is_more else style,
                depth - 1,
                is_led_to,
            )
        )
        if has_later:
            strokes.append(Stroke(f"M{parent} {ABOVE}V{BELOW}", of=depth - 1, leads=_at(leads, depth - 1)))
    if opens:
        strokes.append(Stroke(f"M{x} {MIDDLE + 5}V{BELOW}", of=depth, leads=_at(leads, depth)))
    return Gutter(x + LANE // 2 + 2, x, tuple(strokes), "more" if is_more else mark_of(state, has_children=children > 0))


def mark_of(state: str, *, has_children: bool) -> str:
    """Give the mark of a path: how it ended, else whether anything branches off it."""
    if state in ("abandoned", "compacted"):
        return state
    return "fork" if has_children or state == "merged" else "end"


def picture(layout: Layout, states: Mapping[str, str]) -> LanePicture:
    """Draw a window of the log; `states` are those of its paths."""
    height = layout.height * ROW
    strokes = [Stroke(_lane_line(lane, layout.height), STYLES.get(states.get(lane.path_id, ""), "plain")) for lane in layout.lanes]
    arrows: list[str] = []
    for link in layout.links:
        strokes.append(_link(link, states))
        if link.what != FORK and link.end_column is not None:
            arrows.append(_arrow(link))
    last = {lane.path_id: lane.top for lane in layout.lanes}
    marks = tuple(_mark(row.row, row.column, row.row == last.get(row.path_id), states.get(row.path_id, "")) for row in layout.rows)
    return LanePicture(max(layout.columns, 1) * LANE, height, tuple(strokes), marks, tuple(arrows))


def _mark(row: int, column: int, is_last: bool, state: str) -> Mark:
    ends = is_last and state in ("active", "abandoned", "compacted")
    return Mark(_x(column), _y(row), ("end" if state == "active" else state) if ends else "event")


def _lane_line(lane: Lane, height: int) -> str:
    top = 0 if lane.goes_on_above else _y(lane.top)
    bottom = height * ROW if lane.bottom >= height else _y(lane.bottom)
    return f"M{_x(lane.column)} {top}V{bottom}"


def _link(link: Link, states: Mapping[str, str]) -> Stroke:
    """Draw a fork or a merge: along the path's own lane half a row, across between two rows, and on to the event where it meets the other.

    The end that has no lane in the picture is a short stub with a bar.
    """
    is_fork = link.what == FORK
    own, own_row = (link.end_column, link.end_row) if is_fork else (link.start_column, link.start_row)
    other, other_row = (link.start_column, link.start_row) if is_fork else (link.end_column, link.end_row)
    style = STYLES.get(states.get(link.end_path, ""), "plain") if is_fork else "plain"
    x, y, turn = _x(own or 0), _y(own_row), 1 if is_fork else -1
    if other is None:
        return Stroke(f"M{x} {y}v{turn * STUB}m-3 0h6", "stub")
    end, across = _x(other), (other_row if is_fork else other_row + 1) * ROW
    side = (end > x) - (end < x)
    if not side or (across - y) * turn < CURVE:
        return Stroke(f"M{x} {y}L{end} {_y(other_row)}", style)
    bend = f"q0 {turn * CURVE} {side * CURVE} {turn * CURVE}H{end - side * CURVE}q{side * CURVE} 0 {side * CURVE} {turn * CURVE}"
    return Stroke(f"M{x} {y}V{across - turn * CURVE}{bend}V{_y(other_row)}", style)


def _arrow(link: Link) -> str:
    """Draw the head of the arrow with which a path arrives at the event of the one that it was merged into."""
    x, y = _x(link.end_column or 0), _y(link.end_row) + 5
    return f"M{x} {y}l3.5 5h-7z"


def _at(values: Sequence[bool], place: int) -> bool:
    return place < len(values) and values[place]


def _x(column: int) -> int:
    return LANE // 2 + LANE * column


def _y(row: int) -> int:
    return row * ROW + MIDDLE


def leading(rows: Iterable[tuple[int, bool]]) -> list[list[bool]]:
    """Tell for each row of a tree, given as depth and whether it leads to the chosen path, in which lanes that way goes down below it.

    The way goes down in a leading path's lane from its row to the row of the next leading path.
    """
    listed = list(rows)
    found: list[list[bool]] = []
    last = max((place for place, (_, leads) in enumerate(listed) if leads), default=-1)
    lanes: set[int] = set()
    for place, (depth, leads) in enumerate(listed):
        lanes = {lane for lane in lanes if lane < depth}
        if leads:
            lanes = set()
            if place < last:
                lanes.add(depth)
        found.append([lane in lanes for lane in range(depth + 1)])
    return found
