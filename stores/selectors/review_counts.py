"""How much waits in the review queue, and whether anything is applied: one count for top bar, title, overview and metrics."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from django.db.models import Count, F, JSONField, Min, Q, QuerySet, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import JSONObject

from stores import prepared
from stores.accounts import Visitor
from stores.lifecycle.states import State
from stores.models import Installation, LifecycleAction, Snooze, User
from stores.review.deciding import visible_actions
from stores.selectors import wording

QUEUE: Final = "/review/"
COUNTS: Final = "review_counts"
SWITCH: Final = "review_switch"
_WAITING: Final = (State.PENDING, State.READY, State.FAILED)


class ReviewCounts(NamedTuple):
    """What waits in the queue."""

    pending: int = 0
    """Actions that wait for a review."""
    oldest_at: datetime | None = None
    """When the oldest of them was proposed."""
    overdue: int = 0
    """Those of them whose time is up."""
    mine: int = 0
    """Actions of any of these sorts that are assigned to the account."""
    ready: int = 0
    """Actions that need no review and wait for an operator."""
    failed: int = 0
    """Actions whose apply failed."""

    def words(self, now: datetime) -> str:
        """Say it as the top bar does: "Review 17 · oldest 3 d"."""
        oldest = f" · oldest {wording.age_since(self.oldest_at, now)}" if self.oldest_at is not None else ""
        return f"Review {self.pending:,}{oldest}"


class Switch(NamedTuple):
    """Whether anything is applied, and who said so."""

    on: bool = False
    by: str = ""
    """Who turned it last; "" where nobody did."""
    at: datetime | None = None
    reason: str = ""

    @property
    def words(self) -> str:
        """Say it as the top bar does."""
        if self.on:
            return "Applying on"
        return f"Applying stopped by {self.by}" if self.by else "Applying is off"


def review_counts(user: Visitor, now: datetime) -> ReviewCounts:
    """Count what waits in the queue of the stores that an account sees, but for what it has snoozed: as its list does. One query."""
    return _read(_waiting(user, now).aggregate(said=_numbers(user, now))["said"])


def switch() -> Switch:
    """Give the state of the global switch; off where nobody ever turned it. One query."""
    row = Installation.objects.order_by("pk").first()
    return Switch() if row is None else Switch(row.applying, row.switched_by, row.switched_at, row.reason)


def beside(user: User, now: datetime, *, counts: bool) -> dict[str, RawSQL]:
    """Give switch and counts as columns of any query of stores, so that a page asks for them together with what it asks anyway."""
    columns = {SWITCH: prepared.column(_switch_said, user, JSONField())}
    if counts:
        columns[COUNTS] = prepared.column(_counts_said, user, JSONField(), now)
    return columns


def counts_of(row: object) -> ReviewCounts | None:
    """Give the counts that stand `beside` a row; None where they were not asked for."""
    return _read(getattr(row, COUNTS)) if hasattr(row, COUNTS) else None


def switch_of(row: object) -> Switch | None:
    """Give the switch that stands `beside` a row, without time and reason; None where it was not asked for."""
    if not hasattr(row, SWITCH):
        return None
    said = getattr(row, SWITCH)
    return Switch(bool(said["on"]), str(said["by"])) if isinstance(said, dict) else Switch()


def queue_url(**wanted: str) -> str:
    """Give the address of the queue with a filter."""
    return f"{QUEUE}?{urlencode(wanted)}" if wanted else QUEUE


def _switch_said(_user: User, _now: datetime) -> QuerySet[Any]:
    said = JSONObject(on=F("applying"), by=F("switched_by"))
    return Installation.objects.order_by("pk").annotate(said=said).values("said")[:1]


def _counts_said(user: User, now: datetime) -> QuerySet[Any]:
    return _waiting(user, now).annotate(one=Value(1)).values("one").annotate(said=_numbers(user, now)).values("said")


def _waiting(user: Visitor, now: datetime) -> QuerySet[LifecycleAction]:
    account = user if isinstance(user, User) else None
    snoozed = Snooze.objects.filter(user=account, until__gt=now).values("action")
    return visible_actions(user).filter(~Q(pk__in=snoozed), state__in=_WAITING).order_by()


def _numbers(user: Visitor, now: datetime) -> JSONObject:
    account = user.pk if isinstance(user, User) else 0
    pending = Q(state=State.PENDING)
    return JSONObject(
        pending=Count("pk", filter=pending),
        oldest_at=Min("created_at", filter=pending),
        overdue=Count("pk", filter=pending & Q(due_at__lte=now)),
        mine=Count("pk", filter=Q(assigned_to=account)),
        ready=Count("pk", filter=Q(state=State.READY)),
        failed=Count("pk", filter=Q(state=State.FAILED)),
    )


def _read(said: Any) -> ReviewCounts:
    if not isinstance(said, dict):
        return ReviewCounts()
    oldest = datetime.fromisoformat(said["oldest_at"]) if said["oldest_at"] else None
    return ReviewCounts(**{**said, "oldest_at": oldest.replace(tzinfo=oldest.tzinfo or UTC) if oldest else None})
