"""The queues of some stores taken together: what they hold back, since when, and whether anything takes it (ux.md 2.6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.urls import reverse

from stores import charts, display
from stores.models import Condition, Measurement
from stores.selectors import wording
from stores.selectors.backlog import DAYS, Figure, empty_by, moved, rate
from stores.selectors.health import points_of
from stores.selectors.records import ListedStore, RecordList
from stores.selectors.verdicts import Freshness

CODES = ("queue_depth", "queue_oldest", "queue_undrained", "poison_operation", "dangling_relation")
POINTS_AT_MOST = 4_000
REASONS = 6

Point = tuple[int, float | None]


class Reason(NamedTuple):
    """A part of the sentence below a verdict."""

    text: str
    url: str


class Band(NamedTuple):
    """What the verdict band says."""

    state: str
    sentence: str
    reasons: list[Reason]
    when: datetime | None


class Queues(NamedTuple):
    """What stands above the list of operations."""

    band: Band
    figures: list[Figure]
    chart: charts.StepChart | None
    chart_text: str


def queues(found: RecordList, freshness: Mapping[int, Freshness], now: datetime) -> Queues:
    """Give the queues of the stores that a list is about; `freshness` says of each store how new its mirror is. Two queries."""
    stores = {one.id: one for one in found.asked_stores}
    if not stores:
        return Queues(Band("unmeasured", _no_queue(found, freshness), [], None), [], None, "")
    conditions = list(Condition.objects.filter(store_id__in=list(stores), code__in=CODES).order_by("position", "store_id"))
    history = list(
        Measurement.objects.filter(store_id__in=list(stores), at__gte=now - timedelta(days=DAYS)).order_by("-at", "-id")[:POINTS_AT_MOST]
    )
    depths = [one for one in conditions if one.code == "queue_depth"]
    points = _together(depths, history[::-1])
    silent = [one for one in stores.values() if one.id in freshness and not freshness[one.id].alive]
    chart, chart_text = _chart(points, depths, now)
    return Queues(
        _band(found.asked_total, conditions, stores, silent, freshness), _figures(found, conditions, points, now), chart, chart_text
    )


def _band(
    total: int,
    conditions: Sequence[Condition],
    stores: Mapping[int, ListedStore],
    silent: Sequence[ListedStore],
    freshness: Mapping[int, Freshness],
) -> Band:
    failing = [one for one in conditions if one.status == "failing"]
    noted = [one for one in conditions if one.status == "note" and one.code == "dangling_relation"]
    unread = [one for one in stores.values() if one.file.cannot_be_read]
    waiting = f"{wording.counted(total, 'operation')} {'waits' if total == 1 else 'wait'}"
    if unread and not total:
        sentence = f"The queue of {wording.listed([one.name for one in unread])} cannot be read"
    elif not total:
        sentence = "Nothing waits"
    elif any(one.code == "queue_undrained" for one in failing):
        sentence = f"{waiting} and nothing takes {'it' if total == 1 else 'them'}"
    else:
        sentence = waiting
    reasons = [Reason(_said(one, stores), _backlog(stores[one.store_id])) for one in [*failing, *noted]]
    reasons = [reason for reason in reasons if reason.text not in sentence]
    if len(reasons) > REASONS:
        reasons = [*reasons[:REASONS], Reason(f"{display.number(len(reasons) - REASONS)} more", reverse("health"))]
    if silent:
        names = wording.listed([one.name for one in silent])
        words = "Empty does not mean healthy: " if not total and not unread else ""
        reasons.insert(0, Reason(f"{words}{names} {freshness[silent[0].id].text}", reverse("health")))
    if unread and total:
        reasons[:0] = [
            Reason(f"{one.file.path} of {one.name} cannot be read; counted is what it held before", _backlog(one)) for one in unread
        ]
    state = "failing" if failing else "unavailable" if unread else "unmeasured" if silent else "ok"
    return Band(state, sentence, reasons, min((one.measured_at for one in conditions), default=None))


def _no_queue(found: RecordList, freshness: Mapping[int, Freshness]) -> str:
    if found.stores:
        return "No store that is chosen has a queue"
    return "No store that you may see has a queue" if freshness else "No store is registered that you may see"


def _said(condition: Condition, stores: Mapping[int, ListedStore]) -> str:
    return condition.message if len(stores) == 1 else f"{stores[condition.store_id].name}: {condition.message}"


def _backlog(store: ListedStore) -> str:
    return reverse("store_backlog", args=[store.slug])


def _figures(found: RecordList, conditions: Sequence[Condition], points: Sequence[Point], now: datetime) -> list[Figure]:
    total, files = found.asked_total, [one.file for one in found.asked_stores]
    is_empty = not total and not any(file.cannot_be_read for file in files)
    come, gone, days = moved(points)
    oldest = max(
        (one for one in conditions if one.code == "queue_oldest" and one.value is not None), key=lambda one: one.value or 0, default=None
    )
    limits = {one.limit_text for one in conditions if one.code == "queue_depth"}
    written = max((file.mtime_ns for file in files if file.exists), default=0)
    written_at = display.moment_of(written // 1_000_000)
    drained = max((file.shrank_at for file in files if file.shrank_at), default=None)
    taken = f"since {wording.moment(drained, now)}" if drained else "since it was first seen"
    single = len(found.asked_stores) == 1
    return [
        Figure(
            "Waiting",
            display.number(total) if total or is_empty else display.NOT_KNOWN,
            f"limit {'/'.join(limits)}{'' if single else ' a store'}" if len(limits) == 1 else "",
        ),
        Figure("Oldest", oldest.value_text if oldest and total else ("none" if is_empty else display.NOT_KNOWN), ""),
        Figure("In", rate(come, days), "a day" if days else ""),
        Figure("Out", rate(gone, days), "a day" if days and gone else taken if days else ""),
        Figure("Empty", empty_by(total, come, gone, days) if total or is_empty else display.NOT_KNOWN, ""),
        Figure("Last write", display.ago(written_at, now) if written_at else display.NOT_KNOWN, ""),
    ]


def _together(depths: Iterable[Condition], history: Sequence[Measurement]) -> list[Point]:
    """Add up the depths of several queues; a moment at which one of them was not measured is a gap."""
    by_store: dict[int, list[Measurement]] = defaultdict(list)
    for one in history:
        by_store[one.store_id].append(one)
    moments = [(at, store, value) for store, depth in enumerate(depths) for at, value in points_of(depth, by_store[depth.store_id])]
    now: dict[int, float | None] = {}
    points: list[Point] = []
    for at, store, value in sorted(moments, key=lambda one: (one[0], one[1])):
        now[store] = value
        known = [depth for depth in now.values() if depth is not None]
        points.append((at, sum(known) if len(known) == len(now) else None))
    return points


def _chart(points: Sequence[Point], depths: Sequence[Condition], now: datetime) -> tuple[charts.StepChart | None, str]:
    measured = [value for _, value in points if value is not None]
    if len(measured) < 2:
        return None, ""
    first = points[0][0]
    since = wording.moment(display.moment_of(first * 1000) or now, now)
    limit = depths[0].limit if len(depths) == 1 else None
    chart = charts.step_chart(
        points, since=first, until=int(now.timestamp()) + 1, limit=limit, marks=[(first, since), (int(now.timestamp()), "now")]
    )
    return chart, f"Operations that wait since {since}: lowest {min(measured):g}, highest {max(measured):g}, now {measured[-1]:g}"
