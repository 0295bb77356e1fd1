"""What people decide on actions: approve, reject, withdraw, let be applied; the same rules by page, API and terminal (DESIGN §7)."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.db.models import QuerySet

from stores import audit
from stores.accounts import Visitor, roles, visible_stores
from stores.errors import BadRequest, Conflict, MemoryUIError, NotAllowed, NotFound
from stores.formats import storable
from stores.lifecycle.states import State, may_move
from stores.models import LifecycleAction, Review, ReviewPolicy, Store, User
from stores.review import moving, policies, verdicts
from stores.review.moving import MovedMeanwhile

LONGEST_REASON: Final = 4_000
MOST_DESTRUCTIVE: Final = 25
"""Destructive actions that are approved at once at most (ruling 21)."""
_BATCH: Final = 500


class NotFresh(Conflict):
    """What the action is about has changed since it was made: it is stale now."""

    title = "The target has changed"


class PasswordNeeded(NotAllowed):
    """The decision takes something away: the reviewer's password is asked for again (ruling 15)."""

    title = "Your password is needed"


@dataclass(frozen=True, slots=True)
class Manner:
    """How a decision is made."""

    through: audit.Through
    now: datetime
    reason: str = ""
    password_given: bool = False
    """The reviewer's password was checked with this very decision."""
    break_glass: bool = False
    """A superuser decides in spite of four eyes, with a reason, listed for ever."""
    took_s: float | None = None
    batch_id: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of one action."""

    action: LifecycleAction
    code: str
    """approved, counted (more people are needed), stale, or why it was refused."""
    message: str = ""

    @property
    def is_done(self) -> bool:
        """Whether the decision counts."""
        return self.code in ("approved", "counted", "rejected", "withdrawn", "allowed")


def visible_actions(user: Visitor) -> QuerySet[LifecycleAction]:
    """Give the actions of the stores that a person may see; those of removed stores to those who see all."""
    if isinstance(user, User) and user.is_active and user.is_superuser:
        return LifecycleAction.objects.all()
    return LifecycleAction.objects.filter(store__in=visible_stores(user))


def action_seen_by(user: Visitor, pk: int) -> LifecycleAction:
    """Give one action; raises NotFound where there is none that the person may see."""
    action = visible_actions(user).select_related("store", "proposer").filter(pk=pk).first()
    if action is None:
        raise NotFound("There is no such action, or it is not for your eyes.")
    return action


def reject(user: User, pk: int, digest: str, manner: Manner) -> Decided:
    """Reject one action with a reason; raises NotFound, NotAllowed, Conflict, BadRequest."""
    return or_raise(reject_all(user, [action_seen_by(user, pk)], {pk: digest}, manner)[0])


def reject_all(user: User, actions: Sequence[LifecycleAction], seen: Mapping[int, str], manner: Manner) -> list[Decided]:
    """Reject actions, each by itself and all in one transaction: they are not proposed again for a while."""
    if not manner.reason.strip():
        raise BadRequest("Say why, so that the proposer can do better: a rejection needs a reason.")
    if len(manner.reason) > LONGEST_REASON:
        raise BadRequest(f"A reason has at most {LONGEST_REASON:,} characters.")
    stores = stores_of(actions)
    by_store = policies.policies_for(stores.values())
    may = {pk: verdicts.may_review(user, store, by_store[pk]) for pk, store in stores.items()}
    decided: dict[int, Decided] = {}
    with transaction.atomic():
        locked = locked_again(actions)
        for one in actions:
            there = locked.get(one.pk)
            if one.store_id is None or not may.get(one.store_id):
                decided[one.pk] = Decided(one, "not_allowed", "You may not review actions of this store.")
            elif seen.get(one.pk, "") != one.digest:
                decided[one.pk] = Decided(one, "other_digest", "It is not what was on your screen: look at it again.")
            elif there is None or there.state != State.PENDING or there.revision != one.revision:
                decided[one.pk] = Decided(one, "moved", f"It is {there.state if there else 'gone'}: there is nothing to reject.")
        wanted = [one for one in actions if one.pk not in decided]
        Review.objects.filter(action__in=[one.pk for one in wanted], reviewer=user, withdrawn_at__isnull=True).update(
            withdrawn_at=manner.now
        )
        reviews = [_rejection(user, one, by_store[one.store_id or 0], manner) for one in wanted]
        Review.objects.bulk_create(reviews, batch_size=_BATCH)
        if wanted:
            moving.move_all(wanted, State.REJECTED, manner.now, decided_at=manner.now)
        entries = [audit.Entry("rejected", label_of(one), stores[one.store_id or 0], detail_of(one, manner)) for one in wanted]
        audit.record_all(entries, actor=user, through=manner.through)
    for one in wanted:
        one.state = str(State.REJECTED)
        decided[one.pk] = Decided(one, "rejected")
    record_refusals(user, [one for one in decided.values() if not one.is_done], manner)
    return [decided[one.pk] for one in actions]


def withdraw(user: User, pk: int, manner: Manner) -> Decided:
    """Take back an own approval, or an own proposal, before it is applied; an operator takes back any. NotFound, NotAllowed, Conflict.

    An approved action ends with that; it can be renewed. A pending one with another's proposer only loses the approval.
    """
    action = action_seen_by(user, pk)
    if not may_move(State(action.state), State.WITHDRAWN):
        raise MovedMeanwhile(f"It is {action.state}: there is nothing to withdraw.")
    own = Review.objects.filter(action=action, reviewer=user, decision="approved", withdrawn_at__isnull=True).first()
    proposed = action.proposer_id == user.pk or user.pk in action.barred
    if own is None and not proposed and "operator" not in roles(user):
        raise NotAllowed("Only who approved or proposed it, or an operator, can withdraw it.")
    only_approval = own is not None and action.state == State.PENDING and not proposed
    with transaction.atomic():
        if own is not None:
            Review.objects.filter(pk=own.pk, spent_at__isnull=True).update(withdrawn_at=manner.now)
        if only_approval:
            moving.change(action)
        else:
            moving.move(action, State.WITHDRAWN, manner.now)
        audit.record(
            "approval_withdrawn" if only_approval else "action_withdrawn",
            actor=user,
            object_label=label_of(action),
            store=action.store,
            through=manner.through,
            detail=detail_of(action, manner),
        )
    return Decided(action, "withdrawn")


def allow_apply(user: User, actions: Sequence[LifecycleAction], manner: Manner) -> list[Decided]:
    """Let actions that need no review be applied, and failed ones be tried again; raises NotAllowed for anybody but an operator.

    A few statements for 500 of them, in one transaction.
    """
    if "operator" not in roles(user):
        raise NotAllowed("This needs the role operator. Someone who administers accounts can give it to you.")
    stores_of(actions)
    asked = {"apply_asked_by": user, "apply_asked_at": manner.now}
    moved: dict[int, Decided] = {}
    with transaction.atomic():
        locked = locked_again(actions)
        for one in actions:
            if not _may_be_allowed(one):
                moved[one.pk] = Decided(one, "moved", f"It is {one.state}: there is nothing to allow.")
            elif locked.get(one.pk) != (one.state, one.digest, one.revision):
                moved[one.pk] = Decided(one, "moved", "It was decided or applied by somebody else meanwhile: look at it again.")
        allowed = [one for one in actions if one.pk not in moved]
        failed = [one for one in allowed if one.state == State.FAILED]
        moving.move_all(failed, State.APPROVED, manner.now, **asked)
        moving.change_all([one for one in allowed if one.state != State.FAILED], **asked)
        entries = [audit.Entry("apply_allowed", label_of(one), one.store, detail_of(one, manner)) for one in allowed]
        audit.record_all(entries, actor=user, through=manner.through)
    for one in failed:
        one.state = str(State.APPROVED)
    return [moved.get(one.pk) or Decided(one, "allowed") for one in actions]


def _may_be_allowed(action: LifecycleAction) -> bool:
    return action.state in (State.FAILED, State.READY) or (action.state == State.APPROVED and not action.needs_review)


def _rejection(user: User, action: LifecycleAction, policy: ReviewPolicy, manner: Manner) -> Review:
    return Review(
        name=secrets.token_hex(8),
        action=action,
        reviewer=user,
        reviewer_label=user.label[:220],
        decision="rejected",
        reason=storable.text(manner.reason),
        digest=action.digest,
        policy_version=policy.version,
        at=manner.now,
        batch_id=manner.batch_id,
        through=manner.through,
        took_s=manner.took_s,
    )


class Now(NamedTuple):
    """Where an action stands when it is read again."""

    state: str
    digest: str
    revision: int


def locked_again(actions: Sequence[LifecycleAction]) -> dict[int, Now]:
    """Read actions again under a lock; on SQLite the transaction holds the one write lock from its start."""
    found: dict[int, Now] = {}
    ids = sorted(one.pk for one in actions)
    for start in range(0, len(ids), _BATCH):
        rows = LifecycleAction.objects.select_for_update().filter(pk__in=ids[start : start + _BATCH]).order_by("pk")
        found |= {pk: Now(state, digest, revision) for pk, state, digest, revision in rows.values_list("pk", "state", "digest", "revision")}
    return found


def stores_of(actions: Sequence[LifecycleAction]) -> dict[int, Store]:
    """Give the stores of actions by their keys, and each action its store; one query."""
    stores = Store.objects.in_bulk([one.store_id for one in actions if one.store_id is not None])
    for one in actions:
        if one.store_id is not None:
            one.store = stores.get(one.store_id)
    return stores


def record_refusals(user: User, refused: Iterable[Decided], manner: Manner) -> None:
    """Audit decisions that were tried and do not count (promise A12)."""
    entries = [
        audit.Entry("decision_refused", label_of(one.action), one.action.store, detail_of(one.action, manner, code=one.code))
        for one in refused
    ]
    audit.record_all(entries, actor=user, through=manner.through)


def label_of(action: LifecycleAction) -> str:
    """Give an action as the audit names it."""
    return f"#{action.pk} {action.verb}"


def detail_of(action: LifecycleAction, manner: Manner, **more: object) -> dict[str, Any]:
    """Give what the audit says of a decision on an action."""
    said = {"action": action.pk, "action_id": action.action_id, "digest": action.digest, "reason": manner.reason, "batch": manner.batch_id}
    return {name: value for name, value in {**said, **more}.items() if value not in ("", None)}


_ERRORS: Final[Mapping[str, type[MemoryUIError]]] = {
    "not_allowed": NotAllowed,
    "four_eyes": NotAllowed,
    "password_needed": PasswordNeeded,
    "stale": NotFresh,
    "moved": MovedMeanwhile,
    "other_digest": Conflict,
    "adds_secret": Conflict,
    "already_yours": Conflict,
    "damaged": Conflict,
}


def or_raise(decided: Decided) -> Decided:
    """Give a decision that counts; raises what says why it does not."""
    if not decided.is_done:
        raise _ERRORS[decided.code](decided.message)
    return decided
