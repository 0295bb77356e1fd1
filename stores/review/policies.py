"""What a store asks for before anything is applied: its own policy, or that for all (rulings 15, 16)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Q

from stores import audit
from stores.errors import BadRequest, Conflict, NotAllowed
from stores.lifecycle import approvals
from stores.lifecycle.vocabulary import DUE_DAYS, VERBS, Tier
from stores.models import ReviewPolicy, Store, User

FIELDS: Final = (
    "approvals", "approvals_by_verb", "review_verbs", "denied_verbs", "auto_apply", "reviewer_groups",
    "lifetime_days", "due_days", "single_reviewer", "submit_only",
)  # fmt: skip
MOST_APPROVALS: Final = 9
LONGEST_DAYS: Final = 366


def policy_for(store: Store) -> ReviewPolicy:
    """Give the policy in force for a store: its own, else the one for all, else what holds without any (unsaved); one query."""
    return policies_for([store])[store.pk]


def policies_for(stores: Iterable[Store]) -> dict[int, ReviewPolicy]:
    """Give the policies in force by the stores' keys; one query."""
    ids = [store.pk for store in stores]
    rows = ReviewPolicy.objects.filter(Q(store__in=ids) | Q(store__isnull=True), in_force=True)
    own = {row.store_id: row for row in rows}
    default = own.get(None) or ReviewPolicy(number=0)
    return {pk: own.get(pk) or default for pk in ids}


def gate_policy(policy: ReviewPolicy) -> approvals.Policy:
    """Give a policy as the gate takes it; what cannot be read asks for more, never for less."""
    by_verb = {name: given for name, given in policy.approvals_by_verb.items() if isinstance(given, int) and not isinstance(given, bool)}
    return approvals.Policy(
        version=policy.version,
        approvals=policy.approvals,
        approvals_by_verb=by_verb,
        denied_verbs=frozenset(map(str, policy.denied_verbs)),
        review_verbs=frozenset(map(str, policy.review_verbs)),
        single_reviewer=policy.single_reviewer is True,
    )


def due_at(policy: ReviewPolicy, tier: Tier, now: datetime) -> datetime:
    """Give until when an action waits for its decision."""
    days = policy.due_days.get(str(tier), DUE_DAYS[tier])
    return now + timedelta(days=days if isinstance(days, int | float) and days > 0 else DUE_DAYS[tier])


def may_decide(policy: ReviewPolicy, user: User) -> bool:
    """Say whether the policy lets an account that has the role decide; one query where it names groups."""
    return not policy.reviewer_groups or user.is_superuser or user.groups.filter(name__in=policy.reviewer_groups).exists()


def change_policy(
    store: Store | None, wanted: Mapping[str, Any], seen: str, actor: User, now: datetime, *, through: audit.Through
) -> ReviewPolicy:
    """Change the policy of a store, or that for all, and so its version; approvals that fall below it no longer count.

    `seen` is the version that the form showed. Raises NotAllowed, BadRequest, Conflict.
    """
    if not (actor.is_active and actor.is_superuser):
        raise NotAllowed("Policies are changed by those who administer memoryui.")
    checked = _checked(store, wanted)
    with transaction.atomic():
        row = _row_of(store, seen)
        is_new = not (row.pk and row.in_force)
        if is_new:
            # What was dropped is no policy to go on from: only its number goes on.
            row = ReviewPolicy(pk=row.pk, store=store, number=row.number)
        was = {name: getattr(row, name) for name in FIELDS}
        changes = {name: value for name, value in checked.items() if was[name] != value}
        if not changes and not is_new:
            return row
        for name, value in checked.items():
            setattr(row, name, value)
        row.number, row.changed_at, row.changed_by = row.number + 1, now, actor
        row.save()
        audit.record(
            "policy_changed",
            actor=actor,
            object_label=store.slug if store else "policy for all stores",
            store=store,
            through=through,
            detail={"version": row.version, **{name: {"from": str(was[name]), "to": str(value)} for name, value in changes.items()}},
        )
    return row


def drop_policy(store: Store, seen: str, instead: str, actor: User, now: datetime, *, through: audit.Through) -> ReviewPolicy:
    """Drop the policy of a store, so that the one for all holds there; approvals that fall below that no longer count.

    `seen` is the version that was shown, `instead` that of the one for all. Raises NotAllowed, Conflict.
    """
    if not (actor.is_active and actor.is_superuser):
        raise NotAllowed("Policies are changed by those who administer memoryui.")
    with transaction.atomic():
        row = _row_of(store, seen)
        if not (row.pk and row.in_force):
            raise Conflict("The store has no policy of its own.")
        default = ReviewPolicy.objects.select_for_update().filter(store__isnull=True).first() or ReviewPolicy(number=0)
        if default.version != instead:
            raise Conflict("The policy for all stores was changed meanwhile: look at it again.")
        row.in_force, row.number, row.changed_at, row.changed_by = False, row.number + 1, now, actor
        row.save()
        differs = [name for name in FIELDS if getattr(row, name) != getattr(default, name)]
        changes = {name: {"from": str(getattr(row, name)), "to": str(getattr(default, name))} for name in differs}
        detail = {"version": row.version, "instead": default.version, **changes}
        audit.record("policy_dropped", actor=actor, object_label=store.slug, store=store, through=through, detail=detail)
    return default


def _row_of(store: Store | None, seen: str) -> ReviewPolicy:
    """Give the policy of a store, or that for all, to be changed; raises Conflict unless it is the version that was seen."""
    row = ReviewPolicy.objects.select_for_update().filter(store=store).first() or ReviewPolicy(store=store, number=0)
    if row.version != seen:
        raise Conflict("The policy was changed by somebody else meanwhile: look at it again.")
    return row


def _checked(store: Store | None, wanted: Mapping[str, Any]) -> dict[str, Any]:
    verbs = set(VERBS[store.kind]) if store is not None and store.kind in VERBS else {name for kind in VERBS.values() for name in kind}
    strange = set(wanted) - set(FIELDS)
    if strange:
        raise BadRequest(f"A policy has no {', '.join(sorted(strange))}.")
    for name in ("review_verbs", "denied_verbs", "auto_apply"):
        unknown = set(wanted.get(name, ())) - verbs
        if unknown:
            raise BadRequest(f"There is no verb {', '.join(sorted(map(str, unknown)))}.")
    if store is None and wanted.get("single_reviewer"):
        raise BadRequest("A single reviewer is allowed for one store, never for all.")
    counts = [wanted.get("approvals", 1), *wanted.get("approvals_by_verb", {}).values()]
    if not all(isinstance(one, int) and not isinstance(one, bool) and 1 <= one <= MOST_APPROVALS for one in counts):
        raise BadRequest(f"Between 1 and {MOST_APPROVALS} people approve an action.")
    if not set(wanted.get("approvals_by_verb", {})) <= verbs:
        raise BadRequest("There is no such verb.")
    days = [wanted.get("lifetime_days", 7), *wanted.get("due_days", {}).values()]
    if not all(isinstance(one, int | float) and not isinstance(one, bool) and 0 < one <= LONGEST_DAYS for one in days):
        raise BadRequest(f"Times are between a moment and {LONGEST_DAYS} days.")
    if not set(wanted.get("due_days", {})) <= {str(tier) for tier in Tier}:
        raise BadRequest("There is no such tier.")
    return dict(wanted)
