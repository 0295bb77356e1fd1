"""The conditions of all visible stores, failing first, each with its last measurements as a line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import OuterRef, Q, Subquery

from stores import charts
from stores.accounts import Visitor
from stores.models import Condition, Measurement, Store
from stores.selectors import stores as store_facts
from stores.selectors import verdicts, wording
from stores.selectors.stores import Reason, is_muted
from stores.selectors.verdicts import Freshness, JudgedStore

POINTS = 50
STORES_A_PAGE = 25
HOURLY_GAP = timedelta(minutes=75)
DAILY_GAP = timedelta(hours=27)
"""Measurements come at least once an hour (ruling 60), daily means once a day: a longer silence is a gap."""

STATUS_ORDER = ("failing", "unmeasured", "note", "ok", "muted")
SEGMENTS = ("not_ok", "all", "muted")


class ConditionRow(NamedTuple):
    """One condition as a page shows it."""

    condition: Condition
    status: str
    """failing, unmeasured, note, ok, or muted."""
    spark: charts.Sparkline
    spark_text: str
    url: str


class ConditionGroup(NamedTuple):
    """The conditions of one store."""

    judged: JudgedStore
    kind: str
    facts: str
    """"4 failing, 1 note, 6 ok"."""
    rows: list[ConditionRow]
    silent: str
    """For a store that is not measured: since when, and who is silent; its conditions are then not told one by one."""
    total: int


class HealthPage(NamedTuple):
    """What /health/ shows."""

    verdict: str
    headline: str
    worst: Reason | None
    worst_since: datetime | None
    summary: str
    failing: int
    measured_at: datetime | None
    freshness: Freshness | None
    segments: dict[str, int]
    groups: list[ConditionGroup]
    page: int
    groups_total: int
    stores: list[Store]


def health_page(user: Visitor, now: datetime, *, segment: str, slug: str = "", page: int = 1) -> HealthPage:
    """Give the health of all visible stores, or of one of them: 4 queries, however many there are."""
    everything = verdicts.judged_stores(user, now)
    judged = [one for one in everything if slug in ("", one.store.slug)]
    conditions = _conditions(judged)
    statuses = {one.store.pk: _statuses(one, conditions[one.store.pk], now) for one in judged}
    told = [(one, [pair for pair in statuses[one.store.pk] if _belongs(pair[1], segment)]) for one in judged]
    told = [(one, rows) for one, rows in told if rows]
    start = (max(1, page) - 1) * STORES_A_PAGE
    shown = told[start : start + STORES_A_PAGE]
    history = measurements([one.store for one, _ in shown if one.verdict != "unmeasured"])
    every_status = [status for one in judged for _, status in statuses[one.store.pk]]
    worst = _worst(judged, statuses)
    return HealthPage(
        verdict=verdicts.overall(_unmuted_verdict(one, statuses[one.store.pk]) for one in judged),
        headline=_headline(judged, statuses),
        worst=Reason(worst[1].message, store_facts.condition_url(worst[0].store, worst[1]), worst[1].status) if worst else None,
        worst_since=worst[1].since if worst else None,
        summary=_summary(every_status),
        failing=every_status.count("failing"),
        measured_at=store_facts.oldest_measurement(judged),
        freshness=verdicts.stalest(judged, now),
        segments={name: sum(_belongs(status, name) for status in every_status) for name in SEGMENTS},
        groups=[_group(one, rows, statuses[one.store.pk], history[one.store.pk], now) for one, rows in shown],
        page=max(1, page),
        groups_total=len(told),
        stores=sorted((one.store for one in everything), key=lambda store: store.name.casefold()),
    )


def store_conditions(judged: JudgedStore, conditions: Iterable[Condition], now: datetime) -> list[ConditionRow]:
    """Give every condition of one store, failing first, as last measured: 2 queries."""
    history = measurements([judged.store])[judged.store.pk]
    rows = [(one, "muted" if is_muted(one, now) else one.status) for one in conditions]
    return [_row(judged.store, one, status, history) for one, status in sorted(rows, key=_order)]


def measurements(stores: Iterable[Store]) -> Mapping[int, list[Measurement]]:
    """Give the last POINTS measurements of each store, oldest first: 2 queries. At most some dozens of stores."""
    ids = [store.pk for store in stores]
    at_fiftieth = Measurement.objects.filter(store=OuterRef("pk")).order_by("-at", "-id").values("at")[POINTS - 1 : POINTS]
    since = Store.objects.filter(pk__in=ids).annotate(since=Subquery(at_fiftieth)).values_list("pk", "since")
    newest = Q(pk__in=[])
    for store_id, at in since:
        newest |= Q(store_id=store_id, at__gte=at) if at is not None else Q(store_id=store_id)
    found: dict[int, list[Measurement]] = defaultdict(list)
    for measurement in Measurement.objects.filter(newest).order_by("store_id", "at", "id"):
        found[measurement.store_id].append(measurement)
    return defaultdict(list, {store_id: points[-POINTS:] for store_id, points in found.items()})


def points_of(condition: Condition, history: Iterable[Measurement]) -> list[tuple[int, float | None]]:
    """Give (seconds since 1970, value) of a condition, with None where nobody measured."""
    named = f"{condition.code}:{condition.path}"
    points: list[tuple[int, float | None]] = []
    before: Measurement | None = None
    for one in history:
        if before is not None and one.at - before.at > (DAILY_GAP if one.daily or before.daily else HOURLY_GAP):
            points.append((int(before.at.timestamp()), None))
        value = one.values.get(named, one.values.get(condition.code))
        points.append((int(one.at.timestamp()), float(value) if isinstance(value, int | float) else None))
        before = one
    return points


def _conditions(judged: list[JudgedStore]) -> Mapping[int, list[Condition]]:
    found: dict[int, list[Condition]] = defaultdict(list)
    ids = [one.store.pk for one in judged]
    for condition in Condition.objects.filter(store_id__in=ids).select_related("muted_by").order_by("store_id", "position", "id"):
        found[condition.store_id].append(condition)
    return found


def _statuses(judged: JudgedStore, conditions: Iterable[Condition], now: datetime) -> list[tuple[Condition, str]]:
    stale = judged.verdict == "unmeasured"
    rows = [(one, "muted" if is_muted(one, now) else "unmeasured" if stale else one.status) for one in conditions]
    return sorted(rows, key=_order)


def _order(row: tuple[Condition, str]) -> tuple[int, int, int]:
    return STATUS_ORDER.index(row[1]), row[0].position, row[0].pk


def _belongs(status: str, segment: str) -> bool:
    return segment == "all" or (status == "muted" if segment == "muted" else status not in ("ok", "muted"))


def _unmuted_verdict(judged: JudgedStore, statuses: Iterable[tuple[Condition, str]]) -> str:
    """Give the verdict without what is muted: a store that is degraded by muted conditions alone does not ask for anything."""
    if judged.verdict == "degraded" and not any(status == "failing" for _, status in statuses):
        return "healthy"
    return judged.verdict


def _worst(judged: list[JudgedStore], statuses: Mapping[int, list[tuple[Condition, str]]]) -> tuple[JudgedStore, Condition] | None:
    for one in judged:
        for condition, status in statuses[one.store.pk]:
            if status == "failing":
                return one, condition
    return None


def _headline(judged: list[JudgedStore], statuses: Mapping[int, list[tuple[Condition, str]]]) -> str:
    """Say how the stores are without what is muted."""
    if not judged:
        return "No store is registered that you may see"
    unmuted = [one._replace(verdict=_unmuted_verdict(one, statuses[one.store.pk])) for one in judged]
    sentence = verdicts.headline(verdicts.worst_first(unmuted))
    failing = [sum(status == "failing" for _, status in statuses[one.store.pk]) for one in unmuted]
    degraded = [(one, n) for one, n in zip(unmuted, failing, strict=True) if one.verdict == "degraded"]
    if len(degraded) == 1:
        one, n = degraded[0]
        named = f"{one.store.name} is degraded"
        checks = "1 of its checks fails" if n == 1 else f"{n:,} of its checks fail"
        sentence = sentence.replace(named, f"{named}, {checks}", 1)
    return sentence


def _summary(statuses: list[str]) -> str:
    if not statuses:
        return "Nothing was measured yet."
    return f"Of {wording.counted(len(statuses), 'check')}: {_tally(statuses, ('failing', 'unmeasured', 'note', 'muted', 'ok'))}."


def _tally(statuses: list[str], order: Iterable[str]) -> str:
    """Say "4 failing, 2 notes, 6 ok"."""
    counts = [(status, statuses.count(status)) for status in order if status in statuses]
    return ", ".join(f"{count:,} {'notes' if status == 'note' and count > 1 else status}" for status, count in counts)


def _group(
    judged: JudgedStore,
    rows: list[tuple[Condition, str]],
    every: list[tuple[Condition, str]],
    history: list[Measurement],
    now: datetime,
) -> ConditionGroup:
    store = judged.store
    counts = [status for _, status in every]
    facts = _tally(counts, STATUS_ORDER)
    silent = ""
    if judged.verdict == "unmeasured":
        silent = verdicts.silence(store.worker, now) if verdicts.is_silent(store.worker, now) else judged.sentence
        rows = [(one, status) for one, status in rows if status == "muted"]
    return ConditionGroup(
        judged=judged,
        kind=store_facts.kind_title(store),
        facts=facts,
        rows=[_row(store, one, status, history) for one, status in rows],
        silent=silent,
        total=sum(status == "unmeasured" for status in counts),
    )


def _row(store: Store, condition: Condition, status: str, history: list[Measurement]) -> ConditionRow:
    points = points_of(condition, history)
    values = [value for _, value in points if value is not None]
    gaps = sum(value is None for _, value in points)
    text = "never measured"
    if values:
        limit = f", limit {condition.limit_text}" if condition.limit_text else ""
        gap = f", {wording.counted(gaps, 'gap')}" if gaps else ""
        text = f"last {wording.counted(len(values), 'measurement')}: lowest {min(values):g}, highest {max(values):g}{limit}, now {values[-1]:g}{gap}"
    return ConditionRow(condition, status, charts.sparkline(points, condition.limit), text, store_facts.condition_url(store, condition))
