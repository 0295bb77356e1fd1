"""The queue of one store: depth, age, how fast it moves, and the operations that wait longest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from stores import charts, display
from stores.models import Condition, Measurement, QueueOperation, SourceFile
from stores.selectors import wording
from stores.selectors.health import points_of
from stores.selectors.queue_words import standing_words, would_write_words
from stores.selectors.store_page import StoreFrame
from stores.shapes import state_of

SHOWN = 50
DAYS = 14
POINTS_AT_MOST = 2_000


class Figure(NamedTuple):
    """One of the numbers of the strip."""

    label: str
    figure: str
    fact: str


class WaitingOperation(NamedTuple):
    """One operation with the state whose colour its standing takes, and its words."""

    record: QueueOperation
    state: str
    words: str
    would_write: str


class Backlog(NamedTuple):
    """What the backlog tab shows."""

    file: SourceFile | None
    """None: this store has no queue file."""
    figures: list[Figure]
    """Empty where the file cannot be read and no reading of it ever gave an operation."""
    chart: charts.StepChart | None
    chart_text: str
    operations: list[WaitingOperation]
    total: int


def backlog(frame: StoreFrame, now: datetime) -> Backlog:
    """Give the queue of a store, oldest operations first: 2 queries."""
    store = frame.store
    file = next((one for one in frame.line_files if one.record_type == "queue_operation"), None)
    total = frame.facts.count(store.pk, "queue_operation")
    if file is None or not file.exists:
        return Backlog(None, [], None, "", [], 0)
    if file.cannot_be_read and not total:
        return Backlog(file, [], None, "", [], 0)
    depth, oldest = frame.facts.condition(store.pk, "queue_depth"), frame.facts.condition(store.pk, "queue_oldest")
    since = now - timedelta(days=DAYS)
    history = list(Measurement.objects.filter(store=store, at__gte=since).order_by("-at", "-id")[:POINTS_AT_MOST])[::-1]
    points = points_of(depth, history) if depth else []
    waiting = QueueOperation.objects.filter(store=store, gone_at__isnull=True).order_by("at_ms", "id")
    shown = [waiting_operation(operation) for operation in waiting[:SHOWN]]
    chart = None
    text = ""
    measured = [value for _, value in points if value is not None]
    if depth and len(measured) > 1:
        first = points[0][0]
        marks = [(first, wording.moment(history[0].at, now)), (int(now.timestamp()), "now")]
        chart = charts.step_chart(points, since=first, until=int(now.timestamp()) + 1, limit=depth.limit, marks=marks)
        text = f"Depth of the queue since {wording.moment(history[0].at, now)}: lowest {min(measured):g}, highest {max(measured):g}, now {measured[-1]:g}"
    return Backlog(file, _figures(total, depth, oldest, file, points, now), chart, text, shown, total)


def waiting_operation(operation: QueueOperation) -> WaitingOperation:
    """Give an operation in the words of pages."""
    return WaitingOperation(operation, state_of(operation.standing), standing_words(operation), would_write_words(operation))


def _figures(
    total: int,
    depth: Condition | None,
    oldest: Condition | None,
    file: SourceFile,
    points: Sequence[tuple[int, float | None]],
    now: datetime,
) -> list[Figure]:
    come, gone, days = moved(points)
    limit = f"limit {depth.limit_text}" if depth and depth.limit_text else ""
    taken = f"since {wording.moment(file.shrank_at, now)}" if file.shrank_at else "since it was first seen"
    written_at = display.moment_of(file.mtime_ns // 1_000_000) if file.mtime_ns else None
    return [
        Figure("Waiting", display.number(total), limit),
        Figure("Oldest", oldest.value_text if oldest and oldest.value is not None else ("none" if not total else display.NOT_KNOWN), ""),
        Figure("In", rate(come, days), "a day" if days else ""),
        Figure("Out", rate(gone, days), "a day" if days and gone else taken if days else ""),
        Figure("Empty", empty_by(total, come, gone, days), ""),
        Figure("Last write", f"{display.age(written_at, now)} ago" if written_at else display.NOT_KNOWN, ""),
    ]


def moved(points: Sequence[tuple[int, float | None]]) -> tuple[float, float, float]:
    """Give how many operations came and went between the measurements, and over how many days; (0, 0, 0) below an hour."""
    come = gone = span = 0.0
    before: tuple[int, float] | None = None
    for at, value in points:
        if value is None:
            before = None
            continue
        if before is not None:
            come += max(0.0, value - before[1])
            gone += max(0.0, before[1] - value)
            span += at - before[0]
        before = (at, value)
    return (come, gone, span / 86_400) if span >= 3600 else (0.0, 0.0, 0.0)


def rate(number: float, days: float) -> str:
    """Give a number a day: "14", "0.3", "not known" where nothing was measured."""
    if not days:
        return display.NOT_KNOWN
    a_day = number / days
    return display.number(round(a_day) if a_day >= 10 or a_day == 0 else round(a_day, 1))


def empty_by(total: int, come: float, gone: float, days: float) -> str:
    """Say when nothing waits any more if it goes on like this; `come` and `gone` within `days`."""
    if not total:
        return "it is"
    if not days:
        return display.NOT_KNOWN
    if gone <= come:
        return "never at this rate"
    return f"in {display.span(total / ((gone - come) / days) * 86_400)}"
