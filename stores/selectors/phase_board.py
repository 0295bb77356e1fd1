"""The phases of a store's memory: how many nodes are where, what moved when, and how much of the budgets is used."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, F, Max, Q, Value, Window
from django.db.models.functions import Coalesce, NullIf

from stores import charts
from stores.formats.phase_memory.details import value_of
from stores.formats.phase_memory.forecast import DAY_MS, Due, NodeGroup, forecast
from stores.formats.phase_memory.rules import Rules, rules
from stores.formats.phase_memory.vocabulary import LIFECYCLE_STATES, PHASES
from stores.models import Activation, Event, EventUpdate, Node, Profile, Store
from stores.selectors import wording
from stores.selectors.record_detail import text_of

EVENTS_READ = 10_000
"""Newest events that the charts look at."""
WEEKS = 26
OPERATIONS = {
    "create": "Written",
    "transition_phase": "Moved to another phase",
    "update": "Changed",
    "refresh": "Refreshed",
    "activate": "Activated",
    "deactivate": "Deactivated",
    "merge": "Merged",
    "restore": "Restored",
    "retire": "Retired",
}
"""What events do to nodes, in the order of the charts."""
PROFILES_OFFERED = 20
UNREVIEWED_SHOWN = 8


class PhaseRow(NamedTuple):
    """One phase: how many nodes are in it, by state."""

    phase: str
    total: int
    by_state: dict[str, int]


class WeekChart(NamedTuple):
    """How often one thing was done to nodes, week by week."""

    title: str
    total: int
    bars: charts.Bars
    sentence: str


class Moved(NamedTuple):
    """What events did to nodes in the last half year."""

    charts: list[WeekChart]
    first_day: date
    capped: bool
    """Only the newest events were looked at."""


class ActivationUse(NamedTuple):
    """What activations by one profile really took."""

    number: int
    most_items: float | None
    most_tokens: float | None
    over: int
    """Those that took more than their own budget."""


class ProfileUse(NamedTuple):
    """What a store really holds, beside what a profile allows."""

    by_kind: dict[str, Counter[str]]
    """Nodes by kind and state."""
    activations: ActivationUse

    def number_of(self, kind: str) -> int:
        """Give how many nodes of a kind are neither archived nor compacted nor superseded."""
        counted = self.by_kind.get(kind, Counter())
        return counted["active"] + counted["stale"]


class Board(NamedTuple):
    """What the phases tab shows."""

    rows: list[PhaseRow]
    states: tuple[str, ...]
    total: int
    unreviewed: list[Node]
    unreviewed_number: int
    profiles: list[Profile]
    profile: Profile | None
    """The one whose rules are shown."""
    due: list[Due]


def node_groups(store: Store) -> list[NodeGroup]:
    """Give the live nodes of a store in groups of those that are alike and of the same days. One query."""
    counted = (
        Node.objects.filter(store=store, gone_at__isnull=True)
        .order_by()
        .values_list("kind", "phase", "state", F("created_ms") / DAY_MS, Coalesce(NullIf("updated_ms", Value(0)), "created_ms") / DAY_MS)
        .annotate(number=Count("pk"))
    )
    return [NodeGroup(*row) for row in counted]


def board(store: Store, profile_id: int, now: datetime) -> Board:
    """Give how many nodes are where and what the rules of one profile would move: at most 5 queries."""
    groups = node_groups(store)
    found = Profile.objects.filter(store=store, gone_at__isnull=True, is_duplicate=False).select_related("text", "store", "file")
    profiles = list(found.order_by("natural_id", "pk")[:PROFILES_OFFERED])
    profile = next((one for one in profiles if one.pk == profile_id), profiles[0] if profiles else None)
    rows, states = _table(groups)
    never = Node.objects.filter(store=store, gone_at__isnull=True, review="never")
    unreviewed: list[Any] = list(never.annotate(all=Window(Count("pk"))).order_by("-at_ms", "-pk")[:UNREVIEWED_SHOWN])
    return Board(
        rows=rows,
        states=states,
        total=sum(row.total for row in rows),
        unreviewed=unreviewed,
        unreviewed_number=unreviewed[0].all if unreviewed else 0,
        profiles=profiles,
        profile=profile,
        due=forecast(rules_of(profile), groups, today(now)) if profile else [],
    )


def rules_of(profile: Profile) -> Rules:
    """Give the rules that a profile's bytes say."""
    return rules(value_of("profile", bytes(text_of(profile).raw)))


def today(now: datetime) -> int:
    """Give the day in days since 1970, UTC."""
    return int(now.timestamp() * 1000) // DAY_MS


def _table(groups: Sequence[NodeGroup]) -> tuple[list[PhaseRow], tuple[str, ...]]:
    """Give a row for each phase and a column for each state: the known ones in their order, then what else nodes say."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for group in groups:
        counts[group.phase][group.state] += group.number
    phases = [*PHASES, *sorted(counts.keys() - set(PHASES))]
    found = {state for by_state in counts.values() for state in by_state}
    states = tuple(state for state in LIFECYCLE_STATES if state in found or state == "active") + tuple(
        sorted(found - set(LIFECYCLE_STATES))
    )
    rows = [PhaseRow(phase, counts[phase].total(), {state: counts[phase][state] for state in states}) for phase in phases]
    return rows, states


def moved(store: Store, now: datetime) -> Moved:
    """Give what the newest 10,000 events did to nodes in each of the last 26 weeks. Two queries."""
    monday = (now.astimezone(UTC) - timedelta(days=now.astimezone(UTC).weekday())).date()
    first = monday - timedelta(weeks=WEEKS - 1)
    since_ms = int(datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp() * 1000)
    live = Event.objects.filter(store=store, gone_at__isnull=True, at_ms__gte=since_ms)
    newest = list(live.order_by("-at_ms", "-id").values_list("pk", flat=True)[: EVENTS_READ + 1])
    updates = EventUpdate.objects.filter(record__in=live, target_type="node", record__standing="")
    if len(newest) > EVENTS_READ:
        updates = updates.filter(record__at_ms__gte=Event.objects.filter(pk=newest[EVENTS_READ - 1]).values("at_ms"))
    weeks: dict[str, Counter[int]] = defaultdict(Counter)
    counted = updates.order_by().values_list("operation", (F("record__at_ms") - since_ms) / (7 * DAY_MS)).annotate(number=Count("pk"))
    for operation, week, number in counted:
        if 0 <= week < WEEKS:
            weeks[operation][week] += number
    return Moved([_chart(one, weeks[one], first) for one in OPERATIONS if weeks[one]], first, len(newest) > EVENTS_READ)


def _chart(operation: str, weeks: Counter[int], first: date) -> WeekChart:
    title, values = OPERATIONS[operation], [weeks[week] for week in range(WEEKS)]
    best = max(values)
    busiest = wording.day(first + timedelta(weeks=values.index(best)))
    total = sum(values)
    sentence = f"{title}: {wording.counted(total, 'time')} in {WEEKS} weeks, most in the week of {busiest} with {best:,}"
    return WeekChart(title, total, charts.bars(values), sentence)


def profile_use(profile: Profile, groups: Sequence[NodeGroup]) -> ProfileUse:
    """Give what a store really holds, beside what a profile allows. One query."""
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    for group in groups:
        by_kind[group.kind][group.state] += group.number
    used = Activation.objects.filter(store_id=profile.store_id, gone_at__isnull=True, profile_id=profile.natural_id).aggregate(
        number=Count("pk"),
        most_items=Max("used_items"),
        most_tokens=Max("used_tokens"),
        over=Count("pk", filter=Q(used_items__gt=F("max_items")) | Q(used_tokens__gt=F("max_tokens"))),
    )
    return ProfileUse(dict(by_kind), ActivationUse(**used))
