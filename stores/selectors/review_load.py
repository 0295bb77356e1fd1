"""How the work of reviewing is going: load and pace by reviewer, and what leads should look at again (ux.md 2.10, ruling 10)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any, Final, NamedTuple

from django.db.models import BooleanField, Count, Exists, ExpressionWrapper, OuterRef, Q, QuerySet
from django.db.models.functions import TruncWeek

from stores import charts, display
from stores.accounts import Visitor
from stores.lifecycle.states import State
from stores.models import LifecycleAction, Review
from stores.review.deciding import visible_actions

FAST_S: Final = 2.0
"""An approval within so many seconds was hardly read."""
SPANS: Final = (7, 30, 90)
WEEKS: Final = 12
MOST_TIMED: Final = 50_000
MOST_REVIEWERS: Final = 200

_FAST: Final = Q(decision="approved", took_s__lt=FAST_S)
_REVERSED: Final = Q(decision="approved") & (Q(withdrawn_at__isnull=False) | Q(is_undone=True))
OF_REVIEWS: Final[Mapping[str, Q]] = {
    "decided": Q(),
    "fast": _FAST,
    "reversed": _REVERSED,
    "broken": Q(separation="broken"),
    "own": Q(separation="none"),
}
"""What of the reviews is counted, each also a list of exactly these."""
LOST: Final = "lost"
SAMPLES: Final = "samples"
WORDS: Final[Mapping[str, str]] = {
    "decided": "Decisions",
    "fast": f"Approved in under {FAST_S:.0f} s",
    "reversed": "Approved, then withdrawn or taken back",
    "broken": "Four eyes set aside",
    "own": "Own proposals approved by a single reviewer",
    LOST: "Approvals lost, as the target moved or the time ran out",
    SAMPLES: "Applied without a review, to be looked at",
}


class Load(NamedTuple):
    """What one reviewer did in the time."""

    reviewer_id: int | None
    label: str
    decided: int
    approved: int
    rejected: int
    median_s: float | None
    """Between a page's being shown and the decision; None where only terminals were used."""
    fast: int
    reversed: int
    broken: int


class ReviewLoad(NamedTuple):
    """What the page for leads shows."""

    totals: dict[str, int]
    """By the words of `WORDS`."""
    reviewers: list[Load]
    median_s: float | None
    weeks: charts.Bars
    weeks_sentence: str
    weeks_total: int


def review_load(user: Visitor, now: datetime, days: int) -> ReviewLoad:
    """Count decisions of the last days, on actions that the account may see. Five queries."""
    reviews = _reviews(user, now, days)
    numbers: dict[str, Any] = {name: Count("pk", filter=condition) if condition else Count("pk") for name, condition in OF_REVIEWS.items()}
    numbers |= {decision: Count("pk", filter=Q(decision=decision)) for decision in ("approved", "rejected")}
    grouped: Any = reviews.order_by().values("reviewer", "reviewer_label").annotate(**numbers)
    times = _times(reviews)
    rows: list[dict[str, Any]] = list(grouped.order_by("-decided", "reviewer_label")[:MOST_REVIEWERS])
    totals = {name: sum(row[name] for row in rows) for name in OF_REVIEWS}
    totals[LOST] = lost_approvals(user, now, days).count()
    totals[SAMPLES] = samples(user).count()
    everybody = [taken for some in times.values() for taken in some]
    weeks = _weeks(user, now)
    sentence = f"Decisions in {WEEKS} weeks: {sum(weeks):,}, {weeks[-1]:,} of them this week so far"
    return ReviewLoad(totals, _by_person(rows, times), median(everybody) if everybody else None, charts.bars(weeks), sentence, sum(weeks))


def listed_reviews(user: Visitor, now: datetime, days: int, what: str, reviewer: int = 0) -> QuerySet[Review]:
    """Give the reviews that one of the numbers counts, newest first; of one reviewer, or of all."""
    found = _reviews(user, now, days).filter(OF_REVIEWS[what])
    return (found.filter(reviewer=reviewer) if reviewer else found).select_related("action").order_by("-at", "-id")


def lost_approvals(user: Visitor, now: datetime, days: int) -> QuerySet[LifecycleAction]:
    """Give the actions that people approved and that were never applied: what they rest on moved, or the approval ran out (ruling 10)."""
    over = visible_actions(user).filter(state__in=(State.STALE, State.EXPIRED), closed_at__gte=now - timedelta(days=days))
    approved = Review.objects.filter(action=OuterRef("pk"), decision="approved", withdrawn_at__isnull=True)
    return over.filter(Exists(approved)).order_by("-closed_at", "-id")


def samples(user: Visitor) -> QuerySet[LifecycleAction]:
    """Give what was applied without a review and is to be looked at by somebody."""
    return visible_actions(user).filter(is_sample=True, checked_at__isnull=True).order_by("-applied_at", "-id")


def _reviews(user: Visitor, now: datetime, days: int) -> QuerySet[Review]:
    undone = LifecycleAction.objects.filter(undo_of=OuterRef("action"), state=State.APPLIED)
    seen = Review.objects.filter(action__in=visible_actions(user), at__gte=now - timedelta(days=days), at__lte=now)
    return seen.annotate(is_undone=ExpressionWrapper(Exists(undone), output_field=BooleanField()))


def _times(reviews: QuerySet[Review]) -> dict[tuple[int | None, str], list[float]]:
    found: dict[tuple[int | None, str], list[float]] = defaultdict(list)
    timed = reviews.filter(took_s__isnull=False).order_by("-at", "-id").values_list("reviewer", "reviewer_label", "took_s")
    for reviewer, label, taken in timed[:MOST_TIMED]:
        if taken is not None:
            found[reviewer, label].append(taken)
    return found


def _by_person(rows: list[dict[str, Any]], times: Mapping[tuple[int | None, str], list[float]]) -> list[Load]:
    """Give one row a person: who changed their name stands under the newest of their names."""
    people: dict[object, Load] = {}
    spent: dict[object, list[float]] = defaultdict(list)
    for row in rows:
        pk, label = row["reviewer"], row["reviewer_label"]
        key: object = pk if pk is not None else label
        numbers = [row[name] for name in ("decided", "approved", "rejected", "fast", "reversed", "broken")]
        was = people.get(key)
        if was is not None:
            numbers = [
                old + new
                for old, new in zip((was.decided, was.approved, was.rejected, was.fast, was.reversed, was.broken), numbers, strict=True)
            ]
            label = was.label
        spent[key] += times.get((pk, row["reviewer_label"]), [])
        decided, approved, rejected, fast, reversed_, broken = numbers
        people[key] = Load(pk, label, decided, approved, rejected, median(spent[key]) if spent[key] else None, fast, reversed_, broken)
    return sorted(people.values(), key=lambda one: (-one.decided, one.label))


def _weeks(user: Visitor, now: datetime) -> list[int]:
    monday = (now.astimezone(UTC) - timedelta(days=now.astimezone(UTC).weekday())).date()
    first = monday - timedelta(weeks=WEEKS - 1)
    seen = Review.objects.filter(action__in=visible_actions(user), at__date__gte=first).order_by()
    counted = {
        week.date(): number
        for week, number in seen.annotate(week=TruncWeek("at", tzinfo=UTC)).values("week").annotate(n=Count("pk")).values_list("week", "n")
    }
    return [counted.get(first + timedelta(weeks=place), 0) for place in range(WEEKS)]


def pace(seconds: float | None) -> str:
    """Give a median in words: "48 s", "not measured"."""
    return "not measured" if seconds is None else f"{seconds:.1f} s" if seconds < 10 else display.span(seconds)
