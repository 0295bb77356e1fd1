"""What a policy would change for the actions that wait: said before it is saved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Final, NamedTuple

from stores.lifecycle.states import State
from stores.models import LifecycleAction, Review, ReviewPolicy, Store, User
from stores.review import policies, verdicts
from stores.selectors import wording

SHOWN: Final = 20
_ASKED: Final = (State.PENDING, State.READY, State.APPROVED)


class Impact(NamedTuple):
    """One thing that would become otherwise, and the actions that it concerns."""

    state: str
    words: str
    actions: list[LifecycleAction]
    """The first of them."""
    number: int


def impact_of(store: Store | None, policy: ReviewPolicy, now: datetime) -> list[Impact]:
    """Say what an unsaved policy would change for open actions: of its store, or of all stores without a policy of their own.

    Three queries, and two for each pair of a store and a reviewer of approved actions.
    """
    stores = [store] if store is not None else list(Store.objects.exclude(policy__in_force=True))
    by_id = {one.pk: one for one in stores}
    was = policies.policies_for(stores)
    rows = list(LifecycleAction.objects.filter(store__in=list(by_id), state__in=_ASKED).order_by("pk"))
    approvals = _approvals([one for one in rows if one.state == State.APPROVED], by_id, policy, now)
    gate = policies.gate_policy(policy)
    groups: dict[str, list[LifecycleAction]] = defaultdict(list)
    for row in rows:
        before = policies.gate_policy(was[row.store_id or 0])
        if row.verb in gate.denied_verbs:
            if row.verb not in before.denied_verbs:
                groups["denied"].append(row)
        elif row.state == State.APPROVED and approvals[row.pk] < gate.approvals_for(row.verb):
            groups["again"].append(row)
        elif row.state == State.READY and row.verb in gate.review_verbs:
            groups["review"].append(row)
        elif row.state == State.PENDING and gate.approvals_for(row.verb) > before.approvals_for(row.verb):
            groups["more"].append(row)
        elif row.state == State.READY and row.verb in policy.auto_apply and row.verb not in was[row.store_id or 0].auto_apply:
            groups["auto"].append(row)
    return [Impact(state, _words(found, said), found[:SHOWN], len(found)) for key, state, said in _SAID if (found := groups[key])]


_SAID: Final = (
    ("again", "late", ("approved action would wait again", "approved actions would wait again")),
    ("denied", "failing", ("open action would no longer be allowed", "open actions would no longer be allowed")),
    ("review", "note", ("action that needs no review would need one", "actions that need no review would need one")),
    ("more", "note", ("waiting action would need more people", "waiting actions would need more people")),
    (
        "auto",
        "late",
        ("action that waits for an operator would be applied at once", "actions that wait for an operator would be applied at once"),
    ),
)


def _words(found: Iterable[LifecycleAction], said: tuple[str, str]) -> str:
    return wording.counted(sum(1 for _ in found), *said)


def _approvals(rows: list[LifecycleAction], stores: dict[int, Store], policy: ReviewPolicy, now: datetime) -> dict[int, int]:
    """Count for each action the approvals that would still count."""
    counted = {one.pk: 0 for one in rows}
    store_of = {one.pk: one.store_id or 0 for one in rows}
    may: dict[tuple[int, int], bool] = {}
    given = Review.objects.filter(action__in=list(counted), decision="approved", withdrawn_at__isnull=True, expires_at__gt=now)
    for review in given.select_related("reviewer"):
        reviewer, store_id = review.reviewer, store_of[review.action_id]
        if reviewer is None or (review.separation == "none" and not policy.single_reviewer):
            continue
        key = (reviewer.pk, store_id)
        if key not in may:
            may[key] = _may(reviewer, stores[store_id], policy)
        counted[review.action_id] += may[key]
    return counted


def _may(reviewer: User, store: Store, policy: ReviewPolicy) -> bool:
    return reviewer.is_active and verdicts.may_review(reviewer, store, policy)
