"""What counts as an approval: a person's decision on exactly this action and exactly these bytes, still in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple


class Approval(NamedTuple):
    """One decision of a person, whose signature has been checked; what a store says of approvals never becomes one."""

    action_id: str
    digest: str
    """What was shown and decided on; see `digests.approval_digest`."""
    reviewer: str
    decision: str
    """approved or rejected."""
    expires_at: datetime | None = None
    """None for a decision that stays."""
    may_review: bool = True
    """The reviewer still has the right."""
    review_id: str = ""


class Approvals(NamedTuple):
    """All decisions at hand, and what they have to be about."""

    digest: str
    """Of what would be applied now; "" where it cannot be told, and then no approval counts."""
    given: tuple[Approval, ...] = ()
    proposers: frozenset[str] = frozenset()
    """Accounts that may not approve: who proposed the action or changed it."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What a store asks for before anything is applied."""

    version: str
    approvals: int = 1
    approvals_by_verb: Mapping[str, int] = field(default_factory=dict)
    denied_verbs: frozenset[str] = frozenset()
    review_verbs: frozenset[str] = frozenset()
    """Verbs that are reviewed here even where they need not be."""
    single_reviewer: bool = False
    """Nobody else is there: who proposed may approve, and every page says so."""

    def approvals_for(self, verb: str) -> int:
        """Give how many people have to approve; never less than one."""
        return max(1, self.approvals_by_verb.get(verb, self.approvals))


class Count(NamedTuple):
    """What the decisions on an action come to."""

    rejected: bool
    signed: int
    """People who approved exactly this, in time, and did not propose it."""
    in_force: int
    """Those of them who still may."""


def fitting(action_id: str, approvals: Approvals, policy: Policy | None, now: datetime) -> list[Approval]:
    """Give the approvals of exactly this that are in time and not by whoever proposed it, in their order."""
    barred = frozenset() if policy is not None and policy.single_reviewer else frozenset(map(str.casefold, approvals.proposers))
    return [
        one
        for one in approvals.given
        if one.action_id == action_id
        and one.decision == "approved"
        and approvals.digest
        and one.digest == approvals.digest
        and one.reviewer.strip()
        and one.reviewer.casefold() not in barred
        and (one.expires_at is None or now < one.expires_at)
    ]


def count(action_id: str, approvals: Approvals, policy: Policy | None, now: datetime) -> Count:
    """Count the decisions on an action: a rejection stands by itself, each person approves once."""
    mine = fitting(action_id, approvals, policy, now)
    signed = {one.reviewer.casefold() for one in mine}
    in_force = {one.reviewer.casefold() for one in mine if one.may_review is True}
    rejected = any(one.decision == "rejected" for one in approvals.given if one.action_id == action_id)
    return Count(rejected, len(signed), len(in_force))
