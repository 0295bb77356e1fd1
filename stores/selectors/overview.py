"""What the overview says: do I have to do something?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import BigIntegerField, CharField, Count, F, QuerySet, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, ExtractDay
from django.urls import reverse

from stores import charts
from stores.accounts import Visitor
from stores.lists.specs import OLD_PROBLEM_DAYS
from stores.models import Decision, ImportRun, Problem, Store
from stores.selectors import stores as store_facts
from stores.selectors import verdicts, wording
from stores.selectors.review_counts import ReviewCounts, queue_url
from stores.selectors.stores import Facts, Reason, StoreRow
from stores.selectors.verdicts import Freshness, JudgedStore

DAYS = 14
DAY_S = 86_400
STORES_SHOWN = 8
REASONS_SHOWN = 4


class Need(NamedTuple):
    """One line of "Needs you": a number that leads to what it counts."""

    state: str
    """The shape."""
    what: str
    number: int
    fact: str
    url: str
    fact_url: str = ""
    """Where the fact is a number of its own."""


class DayChart(NamedTuple):
    """Bars of the last 14 days with their sum and a sentence that says the same."""

    title: str
    total: int
    bars: charts.Bars
    sentence: str


class Overview(NamedTuple):
    """Everything on the overview but the recent events."""

    verdict: str
    headline: str
    reasons: list[Reason]
    measured_at: datetime | None
    freshness: Freshness | None
    needs: list[Need]
    rows: list[StoreRow]
    """The worst ones; all are in `stores`."""
    stores: list[Store]
    days: list[DayChart]
    span: str


def overview(user: Visitor, now: datetime, waiting: ReviewCounts | None = None) -> Overview:
    """Put the overview together: 5 queries, however many stores and records there are.

    `waiting` is what waits in the review queue, where the account may review.
    """
    judged = store_facts.stores_with_last_run(user, now)
    facts = Facts(one.store.pk for one in judged)
    rows = [store_facts.row_of(one, facts, now) for one in judged]
    written = _written(judged, now)
    all_reasons = _reasons(judged, facts, now)
    left = len(all_reasons) - REASONS_SHOWN
    more = [Reason(f"{left:,} more", reverse("health"))] if left > 0 else []
    today = now.astimezone(UTC).date()
    return Overview(
        verdict=verdicts.overall(one.verdict for one in judged),
        headline=verdicts.headline(judged),
        reasons=[*all_reasons[:REASONS_SHOWN], *more],
        measured_at=store_facts.oldest_measurement(judged),
        freshness=verdicts.stalest(judged, now),
        needs=[*_of_the_queue(waiting or ReviewCounts(), now), *_needs(rows, facts, written.old_problems, now)],
        rows=rows[:STORES_SHOWN],
        stores=[one.store for one in judged],
        days=_day_charts(written, today),
        span=f"{wording.day(today - timedelta(days=DAYS - 1))} – {wording.day(today)}, today so far outlined",
    )


class _Written(NamedTuple):
    """What was written and imported on each of the last days."""

    decisions: dict[int, int]
    problems: dict[int, int]
    """Days since 1970 -> how many were written on that day, by their own word."""
    imports: dict[int, int]
    """Day of the month -> how many imports read something."""
    old_problems: int
    """Open problems that were written more than two weeks ago."""


def _written(judged: list[JudgedStore], now: datetime) -> _Written:
    """Count all of it in one query, which no number of stores changes."""
    ids = [one.store.pk for one in judged]
    today = int(now.timestamp()) // DAY_S
    first = today - DAYS + 1
    old_before_ms = int(now.timestamp() * 1000) - OLD_PROBLEM_DAYS * DAY_S * 1000
    span = {"store_id__in": ids, "gone_at__isnull": True, "at_ms__gte": first * DAY_S * 1000, "at_ms__lt": (today + 1) * DAY_S * 1000}
    day_written = F("at_ms") / Value(DAY_S * 1000, output_field=BigIntegerField())
    old = Problem.objects.filter(store_id__in=ids, gone_at__isnull=True, status="open", at_ms__gt=0, at_ms__lt=old_before_ms)
    runs = ImportRun.objects.filter(store_id__in=ids, started_at__gte=datetime.fromtimestamp(first * DAY_S, UTC))
    counted = _by_day(Decision.objects.filter(**span), "decisions", day_written).union(
        _by_day(Problem.objects.filter(**span), "problems", day_written),
        _by_day(runs, "imports", Cast(ExtractDay("started_at"), BigIntegerField())),
        _by_day(old, "old", Value(0, output_field=BigIntegerField())),
        all=True,
    )
    found: dict[str, dict[int, int]] = defaultdict(dict)
    for what, day, number in counted:
        found[what][day] = number
    return _Written(found["decisions"], found["problems"], found["imports"], found["old"].get(0, 0))


def _by_day(rows: QuerySet[Any], what: str, day: Combinable) -> QuerySet[Any, tuple[str, int, int]]:
    """Give (what, day, number) of some rows."""
    named = rows.order_by().annotate(what=Value(what, output_field=CharField()), day=day)
    counted: QuerySet[Any, tuple[str, int, int]] = (
        named.values("what", "day").annotate(number=Count("pk")).values_list("what", "day", "number")
    )
    return counted


def _day_charts(written: _Written, today: date) -> list[DayChart]:
    days = [today - timedelta(days=DAYS - 1 - index) for index in range(DAYS)]
    since_1970 = [(day - date(1970, 1, 1)).days for day in days]
    series = (
        ("Decisions written", "decision", [written.decisions.get(day, 0) for day in since_1970]),
        ("Problems written", "problem", [written.problems.get(day, 0) for day in since_1970]),
        ("Imports", "import", [written.imports.get(day.day, 0) for day in days]),
    )
    drawn = []
    for title, noun, values in series:
        total, best = sum(values), max(values)
        if not total:
            continue
        busiest = wording.day(days[values.index(best)])
        sentence = f"{title}: {wording.counted(total, noun)} in {DAYS} days, most on {busiest} with {best:,}, {values[-1]:,} today so far"
        drawn.append(DayChart(title, total, charts.bars(values), sentence))
    return drawn


def _reasons(judged: list[JudgedStore], facts: Facts, now: datetime) -> list[Reason]:
    """Give the causes of every store that is not healthy, the worst store first; a store's name is said where there are several."""
    several = len(judged) > 1
    found: dict[str, Reason] = {}
    for one in judged:
        if one.verdict == "healthy":
            continue
        for reason in store_facts.reasons(one, facts.conditions[one.store.pk], now):
            text = f"{one.store.name}: {reason.text}" if several and one.store.worker.label not in reason.text else reason.text
            found.setdefault(text, reason._replace(text=text))
    return list(found.values())


def _of_the_queue(waiting: ReviewCounts, now: datetime) -> list[Need]:
    """Give what waits in the review queue: it is the work, so it stands first."""
    found: list[Need] = []
    if waiting.pending:
        oldest = f"oldest {wording.age_since(waiting.oldest_at, now)}"
        fact, fact_url = (f"{waiting.overdue:,} overdue", queue_url(tab="overdue")) if waiting.overdue else (oldest, "")
        found.append(
            Need(
                "overdue" if waiting.overdue else "pending",
                "Actions to review",
                waiting.pending,
                fact,
                queue_url(state="pending"),
                fact_url,
            )
        )
    if waiting.mine:
        found.append(Need("pending", "Assigned to you", waiting.mine, "", queue_url(tab="mine")))
    if waiting.failed:
        found.append(Need("failed", "Failed applies", waiting.failed, "to be tried again or withdrawn", queue_url(state="failed")))
    return found


def _needs(rows: list[StoreRow], facts: Facts, old_problems: int, now: datetime) -> list[Need]:
    """Give what waits for a person; what does not wait is left out."""
    found: list[Need] = []
    unreadable = [row for row in rows if NEEDS["unreadable"](row)]
    if unreadable:
        number = sum(row.unreadable for row in unreadable)
        found.append(Need("failing", "Unreadable lines", number, _names(unreadable), _stores_url(unreadable, "unreadable", "store_faults")))
    queues = [row for row in rows if NEEDS["queue"](row)]
    if queues:
        number = sum(row.backlog or 0 for row in queues)
        fact = f"oldest {queues[0].oldest}" if len(queues) == 1 and queues[0].oldest else _names(queues)
        query = urlencode([("store", row.store.slug) for row in queues])
        found.append(Need("failing", "Queued operations", number, fact, f"{reverse('queue_list')}?{query}"))
    problems = sum(facts.count(row.store.pk, "problem", "status", "open") for row in rows)
    if problems:
        url = f"{reverse('problem_list')}?status=open"
        fact = f"{old_problems:,} over {OLD_PROBLEM_DAYS} d" if old_problems else ""
        fact_url = f"{url}&older={OLD_PROBLEM_DAYS}" if old_problems else ""
        found.append(Need("note", "Open problems", problems, fact, url, fact_url))
    stray = [row for row in rows if NEEDS["stray"](row)]
    if stray:
        number = sum(len(row.store.stray_stores) for row in stray)
        found.append(Need("note", "Stray stores", number, _names(stray), _stores_url(stray, "stray", "store_health_tab")))
    failed = [row for row in rows if NEEDS["failed"](row)]
    if failed:
        found.append(Need("failing", "Failed imports", len(failed), _names(failed), _stores_url(failed, "failed", "store_files")))
    silent = [row for row in rows if NEEDS["silent"](row)]
    if silent:
        workers = {row.store.worker.pk: row.store.worker for row in silent}
        names = wording.listed(sorted(worker.label for worker in workers.values()), 1)
        found.append(Need("unmeasured", "Silent workers", len(workers), names, _stores_url(silent, "silent", "store_detail")))
    return found


def _names(rows: Iterable[StoreRow]) -> str:
    names = [row.store.name for row in rows]
    return names[0] if len(names) == 1 else f"in {len(names):,} stores"


def _stores_url(rows: list[StoreRow], need: str, page_of_one: str) -> str:
    """Give the page of the one store, or the list of stores with the filter that counted them."""
    if len(rows) == 1:
        return reverse(page_of_one, args=[rows[0].store.slug])
    return f"{reverse('store_list')}?{urlencode({'needs': need})}"


NEEDS: dict[str, Callable[[StoreRow], bool]] = {
    "unreadable": lambda row: row.unreadable > 0,
    "queue": lambda row: row.queue_fails,
    "stray": lambda row: bool(row.store.stray_stores),
    "failed": lambda row: bool(row.import_failed),
    "silent": lambda row: row.worker_silent,
}
"""The filters of the list of stores, by which "Needs you" counts too."""
