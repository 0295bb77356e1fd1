"""A policy as its page shows it: what is in force, who changed it when, and the keys that sign approvals."""

from __future__ import annotations

from typing import Final, NamedTuple

from stores.accounts import Visitor, visible_stores
from stores.models import AuditEvent, ReviewPolicy, SigningKey, Store
from stores.review import custody, policies
from stores.selectors import audit

CHANGES_SHOWN: Final = 20


class PolicyPage(NamedTuple):
    """What the page of a policy shows besides its form."""

    policy: ReviewPolicy
    """In force now; unsaved where nobody ever decided."""
    is_own: bool
    """The store, or all of them, have it by a decision, not by default."""
    seen: str
    """The version that a change replaces."""
    changes: list[AuditEvent]
    keys: list[SigningKey]
    shares_one_user: bool


def policy_page(user: Visitor, store: Store | None) -> PolicyPage:
    """Give the policy of a store, or that for all. Four or five queries."""
    if store is None:
        row = ReviewPolicy.objects.filter(store__isnull=True).select_related("changed_by").first()
        policy = row or ReviewPolicy(number=0)
    else:
        policy = policies.policy_for(store)
        row = policy if policy.store_id == store.pk else None
    last = row or ReviewPolicy.objects.filter(store=store).first() or ReviewPolicy(store=store, number=0)
    return PolicyPage(
        policy, row is not None, last.version, _changes(user, store), list(SigningKey.objects.all()), custody.shares_one_user()
    )


def stores_with_own_policy(user: Visitor) -> list[Store]:
    """Give the stores that the policy for all does not concern. One query."""
    return list(visible_stores(user).filter(policy__in_force=True).order_by("name", "pk"))


def _changes(user: Visitor, store: Store | None) -> list[AuditEvent]:
    found = audit.events(user, audit.AuditFilter(store=store.slug if store else "")).filter(event__in=("policy_changed", "policy_dropped"))
    return list((found if store else found.filter(store_uid__isnull=True))[:CHANGES_SHOWN])
