"""What a person selected in the queue: which of it a bulk decision covers, what is left out and why, what became of a batch (ruling 21)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db.models import Q, QuerySet

from stores.accounts import roles
from stores.errors import BadRequest
from stores.lifecycle.states import State
from stores.models import AuditEvent, LifecycleAction, Review, Store, User
from stores.review import bulk, policies, verdicts
from stores.review.approving import refusals
from stores.review.bulk import Decision
from stores.review.deciding import Manner, visible_actions
from stores.selectors.actions import ActionList
from stores.selectors.verdicts import is_silent, silence

PICKED_AT_MOST: Final = 1_000
_WHY: Final = {
    "four_eyes": "You proposed them; another reviewer has to decide",
    "stale": "Stale: a target changed after the proposal",
    "adds_secret": "They would write something that looks like a secret",
    "already_yours": "You have approved them already: somebody else is needed",
    "not_allowed": "You may not review actions of these stores",
    "moved": "They are decided already",
    "damaged": "What they would write is not kept as it was",
    "other_verb": "Another action, or another kind of store: decided apart",
    "silent": "Their worker gives no sign of life: many at once are decided when it is back",
    "not_waiting": "They do not wait for this",
}
_REFUSED: Final = ("decision_refused", "action_stale")


class LeftOut(NamedTuple):
    """Actions of a selection that a decision does not cover, for one reason."""

    code: str
    why: str
    actions: list[LifecycleAction]


class Selection(NamedTuple):
    """A selection, parted into what a decision covers and what it leaves out."""

    decision: Decision
    chosen: int
    """How many were selected."""
    covered: list[LifecycleAction]
    left_out: list[LeftOut]

    @property
    def is_destructive(self) -> bool:
        """Whether any of it takes something away."""
        return any(one.destructive for one in self.covered)

    @property
    def members(self) -> list[tuple[int, str]]:
        """Key and digest of what is covered, in the order of keys."""
        return sorted((one.pk, one.digest) for one in self.covered)


class BatchLine(NamedTuple):
    """What became of one action of a batch."""

    action: LifecycleAction
    code: str
    """approved, rejected, allowed, withdrawn, stale or refused."""
    words: str


def fold_of(action: LifecycleAction) -> str:
    """Name the row that stands for an action and all alike ones."""
    return f"{action.alike}.{action.state}.{action.tier}"


def selected(found: ActionList, picks: Sequence[int], folds: Sequence[str], *, every: bool) -> QuerySet[LifecycleAction]:
    """Give the selected actions of a list: all of them, or those that are picked singly or by their group. Raises BadRequest for too many."""
    if len(picks) + len(folds) > PICKED_AT_MOST:
        raise BadRequest(f"More than {PICKED_AT_MOST:,} actions are picked one by one: select all that match instead.")
    if every:
        return found.actions
    wanted = Q(pk__in=list(picks))
    for fold in folds:
        alike, _, rest = fold.partition(".")
        state, _, tier = rest.partition(".")
        wanted |= Q(alike=alike, state=state, tier=tier)
    return found.actions.filter(wanted)


def part(user: User, chosen: QuerySet[LifecycleAction], decision: Decision, now: datetime) -> Selection:
    """Part a selection into what the decision covers and what it leaves out; raises BadRequest above 20,000."""
    total = len(bulk.members_of(chosen))
    wanted = chosen.order_by("pk")
    # Only an approval looks at what is written.
    rows = list(wanted if decision == "approve" else wanted.defer("record", "effect", "receipt"))
    _with_stores(rows)
    left: dict[str, list[LifecycleAction]] = {}
    usual = Counter((one.kind, one.verb) for one in rows).most_common(1)
    verb = usual[0][0] if usual else ("", "")
    reasons = _reasons(user, [one for one in rows if (one.kind, one.verb) == verb], decision, now)
    covered: list[LifecycleAction] = []
    for one in rows:
        code = "other_verb" if (one.kind, one.verb) != verb else reasons.get(one.pk, "")
        if code:
            left.setdefault(code, []).append(one)
        else:
            covered.append(one)
    listed = [LeftOut(code, _WHY.get(code, code), actions) for code, actions in left.items()]
    return Selection(decision, total, covered, sorted(listed, key=lambda one: -len(one.actions)))


def _reasons(user: User, rows: Sequence[LifecycleAction], decision: Decision, now: datetime) -> dict[int, str]:
    """Say by key why an action is left out."""
    silent = {one.store_id for one in rows if one.store is not None and is_silent(one.store.worker, now)}
    found = {one.pk: "silent" for one in rows if one.store_id in silent}
    if decision == "approve":
        refused = refusals(user, [one for one in rows if one.pk not in found], Manner("page", now, password_given=True))
        return found | {pk: one.code for pk, one in refused.items()}
    if decision == "apply":
        return found | {one.pk: "not_waiting" for one in rows if one.state not in (State.READY, State.FAILED)}
    stores = {one.store_id: one.store for one in rows if one.store is not None}
    asked = policies.policies_for(stores.values())
    may = {pk: verdicts.may_review(user, store, asked[store.pk]) for pk, store in stores.items()}
    found |= {one.pk: "not_waiting" for one in rows if one.state != State.PENDING}
    return found | {one.pk: "not_allowed" for one in rows if not may.get(one.store_id)}


def _with_stores(rows: Sequence[LifecycleAction]) -> None:
    """Give actions their stores, each of which is read once; one query."""
    stores = Store.objects.select_related("worker").in_bulk({one.store_id for one in rows if one.store_id is not None})
    for one in rows:
        if one.store_id is not None:
            one.store = stores[one.store_id]


def silent_stores(rows: Iterable[LifecycleAction], now: datetime) -> list[str]:
    """Say of which stores no worker gives a sign of life."""
    stores: dict[int, Store] = {one.store.pk: one.store for one in rows if one.store is not None}
    return [f"{one.name}: {silence(one.worker, now)}" for one in stores.values() if is_silent(one.worker, now)]


def batch_lines(user: User, batch: str) -> list[BatchLine]:
    """Give what became of each action of a batch that the account may see; five queries."""
    codes: dict[int, tuple[str, str]] = {}
    for event in AuditEvent.objects.filter(event__in=(*_REFUSED, "apply_allowed"), detail__batch=batch).order_by("number"):
        code = {"action_stale": "stale", "apply_allowed": "allowed"}.get(event.event, "refused")
        codes[event.detail["action"]] = (code, _WHY.get(str(event.detail.get("code", "")), ""))
    for review in Review.objects.filter(batch_id=batch).order_by("id"):
        codes[review.action_id] = (review.decision if review.withdrawn_at is None else "withdrawn", "")
    rows = {one.pk: one for one in visible_actions(user).filter(pk__in=list(codes)).defer("record", "effect")}
    return [BatchLine(rows[pk], code, words) for pk, (code, words) in sorted(codes.items()) if pk in rows]


def withdrawable(user: User, batch: str) -> list[int]:
    """Give the keys of the actions of a batch that its reviewer, or an operator, can still take back."""
    mine = Review.objects.filter(batch_id=batch, decision="approved", withdrawn_at__isnull=True, spent_at__isnull=True)
    if "operator" not in roles(user):
        mine = mine.filter(reviewer=user)
    open_states = (State.PENDING, State.APPROVED)
    found = visible_actions(user).filter(pk__in=mine.values("action"), state__in=open_states)
    return list(found.order_by("pk").values_list("pk", flat=True))


def table_of(selection: Selection) -> list[dict[str, Any]]:
    """Give how many actions there are by verb and by what is at stake, the left out ones and the sum."""
    tiers = ("safe", "low", "medium", "high")
    rows: dict[str, Counter[str]] = {}
    left: Counter[str] = Counter()
    for one in selection.covered:
        rows.setdefault(one.verb, Counter())[one.tier] += 1
    for group in selection.left_out:
        for one in group.actions:
            rows.setdefault(one.verb, Counter())[one.tier] += 1
            left[one.tier] += 1
    covered: Counter[str] = Counter(one.tier for one in selection.covered)

    def line(name: str, kind: str, counts: Counter[str]) -> dict[str, Any]:
        return {"name": name, "kind": kind, "numbers": [counts[tier] for tier in tiers], "total": counts.total()}

    listed = [line(verb, "verb", counts) for verb, counts in sorted(rows.items())]
    if left:
        listed.append(line("Left out, see below", "left", left))
    return [*listed, line("Decided now", "sum", covered)]
