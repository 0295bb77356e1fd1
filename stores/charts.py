"""Geometry of the small charts: numbers in, SVG path text out; what was not measured stays a gap (visual-design §6, §7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

SPARK_WIDTH, SPARK_HEIGHT, SPARK_MARGIN = 96.0, 20.0, 2.5
DAYS_PITCH, DAYS_BAR, DAYS_HEIGHT = 16.0, 11.0, 38.0
DEPTH_WIDTH, DEPTH_TOP, DEPTH_FLOOR = 1000.0, 8.0, 146.0


class Sparkline(NamedTuple):
    """A line of 96 × 20: `path` is empty where nothing was measured, `limit_y` None where no limit is in sight of the box."""

    path: str
    limit_y: str | None
    last_x: str
    last_y: str


class DayBar(NamedTuple):
    """One bar of a row of days, in a box of `Bars.width` × 38."""

    x: str
    y: str
    width: str
    height: str
    today: bool


class Bars(NamedTuple):
    """Bars of the last days, the newest one outlined because its day is not over."""

    width: str
    bars: tuple[DayBar, ...]


class ScaleLine(NamedTuple):
    """A horizontal line of a depth chart: `y` in pixels, `text` beside it, `kind` one of grid, floor, limit."""

    y: str
    text: str
    kind: Literal["grid", "floor", "limit"]


class TimeMark(NamedTuple):
    """A word under a depth chart: `percent` of the width from the left, `anchor` as in SVG's text-anchor."""

    percent: str
    text: str
    anchor: Literal["start", "middle", "end"]


class StepChart(NamedTuple):
    """A step line in a box of 1000 (stretched) × 146 pixels, its area down to the floor, and what stands around it."""

    line: str
    area: str
    scale: tuple[ScaleLine, ...]
    marks: tuple[TimeMark, ...]


def sparkline(points: Sequence[tuple[int, float | None]], limit: float | None = None) -> Sparkline:
    """Draw measurements as one thin line.

    `points` are (time in any unit, value), in order of time; a value of None is a gap. The time is drawn to scale, so a silence is
    a stretch, not a step. `limit` joins the scale, so that one sees how far off it is.
    """
    values = [value for _, value in points if value is not None]
    if not values:
        return Sparkline("", None, "", "")
    lowest = min(values) if limit is None else min(*values, limit)
    highest = max(values) if limit is None else max(*values, limit)
    first, last = points[0][0], points[-1][0]

    def x(moment: int) -> float:
        inner = SPARK_WIDTH - 2 * SPARK_MARGIN
        return SPARK_WIDTH - SPARK_MARGIN if last == first else SPARK_MARGIN + (moment - first) / (last - first) * inner

    def y(value: float) -> float:
        inner = SPARK_HEIGHT - 2 * SPARK_MARGIN
        return SPARK_HEIGHT / 2 if highest == lowest else SPARK_HEIGHT - SPARK_MARGIN - (value - lowest) / (highest - lowest) * inner

    parts: list[str] = []
    drawing = False
    newest = (0.0, 0.0)
    for moment, value in points:
        if value is None:
            drawing = False
            continue
        newest = (x(moment), y(value))
        parts.append(f"{'L' if drawing else 'M'}{_number(newest[0])} {_number(newest[1])}")
        if not drawing:
            parts.append("h0")  # a lone measurement between two gaps is still a dot, thanks to the round cap
        drawing = True
    return Sparkline("".join(parts), None if limit is None else _number(y(limit)), _number(newest[0]), _number(newest[1]))


def bars(values: Sequence[int], *, highest: int | None = None) -> Bars:
    """Draw one bar a day, oldest first, the last one being today.

    Nothing is drawn for 0; everything above 0 is at least 1.5 high, so that little is not mistaken for none. `highest` gives several
    charts one scale; without it the tallest bar fills the height.
    """
    top = max(highest or 0, *values, 1) if values else 1
    drawn = []
    for index, value in enumerate(values):
        if value <= 0:
            continue
        height = max(1.5, (DAYS_HEIGHT - 2) * min(value, top) / top)
        x = index * DAYS_PITCH + (DAYS_PITCH - DAYS_BAR) / 2
        today = index == len(values) - 1
        inset = 0.5 if today else 0.0
        drawn.append(
            DayBar(
                _number(x + inset),
                _number(DAYS_HEIGHT - height + inset),
                _number(DAYS_BAR - 2 * inset),
                _number(max(height - inset, 1)),
                today,
            )
        )
    return Bars(_number(max(len(values), 1) * DAYS_PITCH), tuple(drawn))


def step_chart(
    points: Sequence[tuple[int, float | None]],
    *,
    since: int,
    until: int,
    limit: float | None = None,
    marks: Sequence[tuple[int, str]] = (),
) -> StepChart:
    """Draw a quantity that stays as it is until it is measured again.

    `points` are (time, value) in order of time; each value holds until the next point, the last one until `until`; None is a gap.
    `marks` are (time, words) to stand under the chart. `since` < `until`, in the unit of the points.
    """
    if since >= until:
        raise ValueError("a chart needs a span: since < until")
    # What was measured again as it was draws nothing new.
    points = [point for index, point in enumerate(points) if index == 0 or point[1] != points[index - 1][1]]
    values = [value for _, value in points if value is not None]
    top = _round_up(max([*values, limit or 0, 1]))

    def x(moment: int) -> float:
        return min(max((moment - since) / (until - since), 0.0), 1.0) * DEPTH_WIDTH

    def y(value: float) -> float:
        return DEPTH_FLOOR - (DEPTH_FLOOR - DEPTH_TOP) * value / top

    line: list[str] = []
    area: list[str] = []
    ends = [moment for moment, _ in points[1:]] + [until]
    previous: float | None = None
    for (moment, value), end in zip(points, ends, strict=False):
        if value is not None and end > since and moment < until:
            left, right, height = _number(x(moment)), _number(x(end)), _number(y(value))
            line.append(f"M{left} {height}H{right}" if previous is None else f"V{height}H{right}")
            area.append(f"M{left} {_number(DEPTH_FLOOR)}V{height}H{right}V{_number(DEPTH_FLOOR)}z")
            previous = value
        else:
            previous = None
    scale = [ScaleLine(_number(y(top)), _plain(top), "grid"), ScaleLine(_number(y(top / 2)), _plain(top / 2), "grid")]
    if limit is not None:
        near = (DEPTH_FLOOR - DEPTH_TOP) * 0.09
        scale = [entry for entry in scale if abs(float(entry.y) - y(limit)) > near]
        scale.append(ScaleLine(_number(y(limit)), f"{_plain(limit)} limit", "limit"))
    scale.append(ScaleLine(_number(DEPTH_FLOOR), "0", "floor"))
    return StepChart("".join(line), "".join(area), tuple(scale), tuple(_time_mark(x(moment), words) for moment, words in marks))


class BudgetBar(NamedTuple):
    """A bar of 100 × 8 that tells how much of a limit is used: `over` is "" where it holds, `limit_x` is where it ends."""

    used: str
    over: str
    limit_x: str


def budget(used: float, limit: float) -> BudgetBar:
    """Draw how much of a limit is used; what is too much stands behind the limit, and the whole is then the scale."""
    if used <= limit:
        return BudgetBar(_number(100 * max(used, 0) / limit), "", "100")
    limit_x = 100 * limit / used
    return BudgetBar(_number(limit_x), _number(100 - limit_x), _number(limit_x))


def fingerprint_bars(hexdigest: str) -> str:
    """Give the path of a digest's picture: a bar for each of its first 12 hex digits, bottom aligned in 35 × 12 (visual-design §6).

    The height of a bar is 2 + digit × 10/15; raises ValueError for what is not hexadecimal.
    """
    parts = []
    for index, digit in enumerate(hexdigest[:12]):
        height = 2 + int(digit, 16) * 10 / 15
        parts.append(f"M{index * 3} 12v-{_number(height)}h2v{_number(height)}z")
    return "".join(parts)


def _time_mark(x: float, words: str) -> TimeMark:
    """Keep the words at both edges inside the picture."""
    share = x / DEPTH_WIDTH * 100
    anchor: Literal["start", "middle", "end"] = "start" if share < 4 else "end" if share > 96 else "middle"
    return TimeMark(f"{_number(share)}%", words, anchor)


def _round_up(value: float) -> float:
    """Give the top of a scale: the next of 1, 2, 3, 4, 5, 6, 7, 8, 10 × 10ⁿ."""
    scale = 1.0
    while value > 10 * scale:
        scale *= 10
    return next(step * scale for step in (1, 2, 3, 4, 5, 6, 7, 8, 10) if value <= step * scale)


def _number(value: float) -> str:
    """Write a coordinate with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _plain(value: float) -> str:
    """Write a number of the scale with thousands set apart."""
    return f"{value:,.1f}".removesuffix(".0")
