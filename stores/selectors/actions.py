"""The review queue as lists show it: which actions a question asks for, folded where they are alike, and the numbers beside its filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final, NamedTuple

from django.db.models import Case, Count, Exists, F, IntegerField, Max, Min, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce

from stores.formats import storable
from stores.lifecycle.states import FINAL, OPEN, State
from stores.lists.actions import FACETS, PAGE_SIZE, TABS, ActionQuery
from stores.models import ActionTarget, LifecycleAction, Review, Snooze, Store, User
from stores.review.deciding import visible_actions

WAITING: Final = (State.PENDING, State.READY, State.FAILED)
"""States in which a person has to do something."""
SHOWN_DAYS: Final = 90
"""So long the tabs of what is over keep it; before that the audit tells."""
MOST_SEARCHED: Final = 20_000
MOST_FOUND: Final = 2_000
NEIGHBOURS: Final = 5_000
"""Actions of a list whose places in it are known."""
_NOT_IN_THE_WAY: Final = ("", "dry_run", "review_required")
_SEARCHED: Final = ("pk", "action_id", "verb", "first_target", "gist", "reason", "proposed_by", "batch_id")
_ALIKE: Final = ("alike", "state", "rank")
"""What actions of one row have in common."""
_TARGET_TYPES: Final = ("node", "edge", "path", "decision", "problem", "file", "line")
_HEAVY: Final = ("record", "effect", "reason", "undo_refused", "receipt")
_COLUMNS: Final[Mapping[str, str]] = {
    "verb": "verb",
    "tier": "tier",
    "state": "state",
    "store": "store__slug",
    "kind": "kind",
    "proposer": "proposed_by",
    "assigned": "assigned_to",
}


class ActionRow(NamedTuple):
    """A row of the list: an action, and how many alike it stands for."""

    action: LifecycleAction
    alike: int
    approvals: int
    """How many people have approved it; while it waits, more are needed."""
    is_overdue: bool
    looks: str
    """Who else looks at it just now; "" for nobody."""


class Tally(NamedTuple):
    """How many actions have each value of a facet; its own choice is left out of account."""

    column: str
    counts: Counter[str]


class Neighbours(NamedTuple):
    """Where an action stands in a list."""

    place: int
    """From 1; 0 where the list does not hold it."""
    total: int
    previous: int | None
    next: int | None


class ActionList:
    """One question's answer; six queries for a page of it, eight with a search."""

    def __init__(self, user: User, query: ActionQuery, now: datetime) -> None:
        self.query = query
        self.now = now
        self._user = user

    @property
    def tab_counts(self) -> dict[str, int]:
        """How many actions each tab but the last holds."""
        return {tab: self._counted[f"of_{tab}"] for tab in TABS if tab != "decided"}

    @property
    def newest(self) -> int:
        """Key of the newest action that is open; what comes later is new to who looks at the list now."""
        return self._counted["newest"] or 0

    @cached_property
    def _counted(self) -> dict[str, Any]:
        counted = [tab for tab in TABS if tab != "decided"]
        recent = Q(state__in=sorted(OPEN)) | (Q(state=State.STALE) & _recently(self.now))
        numbers: dict[str, Any] = {f"of_{tab}": Count("pk", filter=tab_condition(tab, self._user, self.now)) for tab in counted}
        found = self._not_snoozed(visible_actions(self._user).filter(recent))
        return dict(found.aggregate(newest=Max("pk", filter=Q(state__in=sorted(OPEN))), **numbers))

    @cached_property
    def scope(self) -> QuerySet[LifecycleAction]:
        """The actions that fit all but the facets."""
        query = self.query
        states = query.values("state")
        found = visible_actions(self._user)
        number = _number_in(query.text)
        if number:
            # Who names an action by its number wants that one, wherever it stands.
            return found.filter(pk=number)
        if not (states and query.tab == "all") and not query.batch:
            found = found.filter(tab_condition(query.tab, self._user, self.now))
        if query.snoozed:
            found = found.filter(pk__in=self._snoozed)
        elif query.tab != "decided":
            found = self._not_snoozed(found)
        if query.older:
            found = found.filter(created_at__lte=self.now - timedelta(days=query.older))
        if query.alike:
            found = found.filter(alike=query.alike)
        if query.batch:
            decided = Review.objects.filter(batch_id=query.batch)
            found = found.filter(Q(batch_id=query.batch) | Q(pk__in=decided.values("action")))
        return found.filter(pk__in=self._found_ids(found)) if query.text else found

    @cached_property
    def actions(self) -> QuerySet[LifecycleAction]:
        """All actions that fit, without an order: what a bulk decision is about."""
        found = self.scope
        for facet, values in self.query.chosen:
            found = found.filter(_choice(facet, values, self._user))
        return found

    @cached_property
    def tallies(self) -> list[Tally]:
        """The numbers beside the facets' values; they and `count` are one query."""
        return [Tally(facet.column, self._counts(facet.column)) for facet in FACETS]

    @cached_property
    def store_names(self) -> dict[str, str]:
        """Slug of each store in the tallies to its name."""
        return {str(one["store__slug"] or ""): str(one["store__name"] or "") for one in self._groups}

    @cached_property
    def count(self) -> int:
        """How many actions fit."""
        return sum(one["n"] for one in self._groups if self._fits(one, ""))

    @cached_property
    def total(self) -> int:
        """How many there are in the tab, whatever else is asked for."""
        return self.tab_counts.get(self.query.tab, self.count)

    @cached_property
    def row_count(self) -> int:
        """How many rows they make."""
        return self.actions.order_by().values(*_ALIKE).distinct().count() if self.query.folds else self.count

    @cached_property
    def page(self) -> int:
        """The page that is shown: the last one for a page beyond it."""
        return max(1, min(self.query.page, -(-self.row_count // PAGE_SIZE)))

    @cached_property
    def rows(self) -> list[ActionRow]:
        """The rows of the page."""
        start = (self.page - 1) * PAGE_SIZE
        if self.query.folds:
            groups = list(self._folded()[start : start + PAGE_SIZE])
            alike = {one["first"]: one["n"] for one in groups}
            order = [one["first"] for one in groups]
        else:
            order = list(self.ordered().values_list("pk", flat=True)[start : start + PAGE_SIZE])
            alike = {}
        given = Count("reviews", filter=Q(reviews__decision="approved", reviews__withdrawn_at__isnull=True))
        found = LifecycleAction.objects.filter(pk__in=order).annotate(given=given).select_related("store", "assigned_to", "seen_by")
        by_pk: dict[int, Any] = {one.pk: one for one in found.defer(*_HEAVY)}
        return [self._row(by_pk[pk], alike.get(pk, 1)) for pk in order if pk in by_pk]

    def ordered(self) -> QuerySet[LifecycleAction]:
        """Give the actions in the order of the list, one by one."""
        return self.actions.order_by(*_orders(self.query.order, self.query.tab, self.now))

    def neighbours(self, pk: int) -> Neighbours:
        """Give where an action stands in the list, and which are before and behind it; one query."""
        listed = list(self.ordered().values_list("pk", flat=True)[:NEIGHBOURS])
        if pk not in listed:
            return Neighbours(0, len(listed), None, listed[0] if listed else None)
        place = listed.index(pk)
        behind = listed[place + 1] if place + 1 < len(listed) else None
        return Neighbours(place + 1, len(listed), listed[place - 1] if place else None, behind)

    def newer_than(self, pk: int) -> int:
        """Count what came into the list since an action was the newest there; one query."""
        return self.actions.filter(pk__gt=pk).count()

    def chunks(self) -> Iterator[LifecycleAction]:
        """Give every action in the order of the list, for exports."""
        yield from self.ordered().select_related("store", "assigned_to").defer("record", "effect").iterator(chunk_size=500)

    @cached_property
    def _snoozed(self) -> list[int]:
        """Keys of what the account has snoozed: few, so that no row has to be asked for it."""
        mine = Snooze.objects.filter(user=self._user, until__gt=self.now)
        return list(mine.order_by("-until").values_list("action_id", flat=True)[:MOST_FOUND])

    def _not_snoozed(self, found: QuerySet[LifecycleAction]) -> QuerySet[LifecycleAction]:
        return found.exclude(pk__in=self._snoozed) if self._snoozed else found

    @cached_property
    def _groups(self) -> list[dict[str, Any]]:
        columns = [*_COLUMNS.values(), "store__name"]
        return list(self.scope.order_by().values(*columns).annotate(n=Count("pk")))

    def _fits(self, group: Mapping[str, Any], left_out: str) -> bool:
        """Say whether a group has the chosen values, those of one facet left out of account."""
        return all(self._value(group, facet) in values for facet, values in self.query.chosen if facet != left_out)

    def _value(self, group: Mapping[str, Any], facet: str) -> str:
        given = group[_COLUMNS[facet]]
        if facet == "assigned":
            return "nobody" if given is None else "me" if given == self._user.pk else "others"
        return str(given or "")

    def _counts(self, facet: str) -> Counter[str]:
        counts: Counter[str] = Counter()
        for group in self._groups:
            if self._fits(group, facet):
                counts[self._value(group, facet)] += group["n"]
        return counts

    def _folded(self) -> QuerySet[LifecycleAction, Any]:
        """Give the groups of alike actions that stand at the same place, in the order of the list; the oldest of each stands for it."""
        late = Min(_lateness(self.now))
        found = self.actions.order_by().values(*_ALIKE)
        found = found.annotate(n=Count("pk"), first=Min("pk"), last=Max("pk"), late=late, due=Min("due_at"), born=Min("created_at"))
        orders = {
            "due": ("late", "-rank", "born", "first"),
            "risk": ("-rank", "due", "first"),
            "oldest": ("born", "first"),
            "newest": ("-last", "first"),
        }
        ordered: QuerySet[LifecycleAction, Any] = found.order_by(*orders[self.query.order])
        return ordered

    def _found_ids(self, found: QuerySet[LifecycleAction]) -> list[int]:
        """Give the keys of actions that hold the text that is searched for: of at most 20,000, the newest ones, without regard to case."""
        text = self.query.text.casefold()
        ids: list[int] = []
        for pk, *texts in found.order_by("-pk").values_list(*_SEARCHED)[:MOST_SEARCHED]:
            if any(text in one.casefold() for one in texts):
                ids.append(pk)
        named = ActionTarget.objects.filter(record_type__in=_TARGET_TYPES, target_id=storable.name(self.query.text))
        ids += named.order_by("-action_id").values_list("action_id", flat=True)[:MOST_FOUND]
        return ids[:MOST_FOUND]

    def _row(self, action: Any, alike: int) -> ActionRow:
        looks = action.seen_until is not None and action.seen_until > self.now and action.seen_by_id not in (None, self._user.pk)
        return ActionRow(
            action,
            alike,
            action.given,
            action.state == State.PENDING and action.due_at <= self.now,
            action.seen_by.label if looks else "",
        )


def _number_in(text: str) -> int:
    """Give the number of an action that a search names as "#12"; 0 for other words."""
    digits = text.removeprefix("#")
    return int(digits) if text.startswith("#") and digits.isascii() and digits.isdecimal() and len(digits) < 18 else 0


def tab_condition(tab: str, user: User, now: datetime) -> Q:
    """Give what an action of a tab fulfils."""
    waiting = Q(state__in=WAITING)
    if tab == "mine":
        return waiting & Q(assigned_to=user)
    if tab == "overdue":
        return Q(state=State.PENDING, due_at__lte=now)
    if tab == "stale":
        renewed = LifecycleAction.objects.filter(renewed_from=OuterRef("pk"))
        return Q(state=State.STALE) & _recently(now) & ~Q(Exists(renewed))
    if tab == "blocked":
        held = Q(state__in=(State.APPROVED, State.READY)) & ~Q(reason_code__in=_NOT_IN_THE_WAY)
        return Q(state=State.FAILED) | held | Q(state=State.PENDING, adds_secret=True)
    if tab == "decided":
        over = Q(state__in=sorted(FINAL)) & _recently(now)
        return over | Q(state__in=(State.APPROVED, State.APPLYING))
    return waiting


def stores_of(actions: Sequence[LifecycleAction]) -> list[Store]:
    """Give the stores of actions, each once, in their order."""
    return list({one.store_id: one.store for one in actions if one.store is not None}.values())


def _recently(now: datetime) -> Q:
    return Q(closed_at__gte=now - timedelta(days=SHOWN_DAYS))


def _lateness(now: datetime) -> Case:
    return Case(When(state=State.PENDING, due_at__lte=now, then=Value(0)), default=Value(1), output_field=IntegerField())


def _orders(order: str, tab: str, now: datetime) -> tuple[Any, ...]:
    """Give the order of single actions; each ends in the unique key."""
    if order == "newest":
        decided = (
            Coalesce(F("closed_at"), F("decided_at"), F("created_at")).desc() if tab in ("decided", "stale") else F("created_at").desc()
        )
        return (decided, "-pk")
    if order == "oldest":
        return ("created_at", "pk")
    return ("-rank", "due_at", "pk") if order == "risk" else (_lateness(now), "-rank", "created_at", "pk")


def _choice(facet: str, values: Sequence[str], user: User) -> Q:
    """Give what an action with one of these values fulfils."""
    if facet == "assigned":
        conditions = {"me": Q(assigned_to=user), "nobody": Q(assigned_to__isnull=True)}
        conditions["others"] = Q(assigned_to__isnull=False) & ~Q(assigned_to=user)
        wanted = Q(pk__in=[])
        for value in values:
            wanted |= conditions[value]
        return wanted
    return Q(**{f"{_COLUMNS[facet]}__in": list(values)})
