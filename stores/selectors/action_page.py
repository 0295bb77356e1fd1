"""One action with all that its page says of it: steps, what it rests on, what becomes of it, who may decide (ux.md 2.9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from stores.accounts import roles
from stores.lifecycle.approvals import Approval, Approvals
from stores.lifecycle.changes import Change, Standing
from stores.lifecycle.effects import Effect
from stores.lifecycle.gate import Verdict
from stores.lifecycle.packing import Damaged
from stores.lifecycle.states import State
from stores.models import ActionComment, ActionTarget, AuditEvent, Installation, LifecycleAction, Review, ReviewPolicy, Snooze, User, Worker
from stores.review import freshness, keeping, policies, renewing, verdicts
from stores.review.approving import refusals
from stores.review.deciding import Manner, label_of
from stores.review.mirror_source import MirrorSource
from stores.selectors.verdicts import is_silent

TARGETS_SHOWN: Final = 20
EVENTS_SHOWN: Final = 200
COMMENTS_SHOWN: Final = 200
_TRAIL_EVENTS: Final = (
    "approved", "rejected", "approval_withdrawn", "action_withdrawn", "action_stale", "action_expired", "action_applied", "action_failed",
    "action_denied", "action_put_back", "apply_allowed", "decision_refused", "action_renewed", "commented", "assigned", "sample_checked",
)  # fmt: skip


class Step(NamedTuple):
    """One of the states on the way of an action."""

    state: str
    word: str
    phase: str
    """past, now, future or never."""
    who: str = ""
    at: datetime | None = None


class TargetLine(NamedTuple):
    """One target: what it was when the action was made, and what it is in the mirror now."""

    target: ActionTarget
    now_digest: str
    """`sha256:…`; "" where it is not there."""
    state: str
    """same, changed, missing, made (it is what the action makes) or done (it is as the action wants it)."""


class Moved(NamedTuple):
    """A file that is not as it was when the action was made."""

    path: str
    before: bytes
    after: bytes
    now: bytes | None
    """None where it is gone, or the mirror does not keep all of it."""


class Can(NamedTuple):
    """What the account may do with the action, and why not."""

    approve: bool
    reject: bool
    withdraw: bool
    renew: bool
    undo: bool
    allow: bool
    assign: bool
    check: bool
    refused: str = ""
    """Why it cannot be approved by this account; "" where it can, or where nothing is to approve."""
    code: str = ""
    break_glass: bool = False
    """The account may set four eyes aside, with a reason."""
    undo_refused: str = ""

    @property
    def anything(self) -> bool:
        """Whether any of the buttons works."""
        return self.approve or self.reject or self.withdraw or self.renew or self.undo or self.allow or self.assign or self.check


class ActionPage(NamedTuple):
    """Everything about one action."""

    action: LifecycleAction
    record: Mapping[str, Any]
    effect: Effect | None
    damage: str
    """Why its bytes cannot be shown; "" where they can. Then nobody can approve it."""
    policy: ReviewPolicy
    needed: int
    reviews: list[Review]
    given: int
    """Approvals that stand and have not run out."""
    verdict: Verdict | None
    """What would become of it if it were approved; None where nobody can tell."""
    targets: list[TargetLine]
    moved: Moved | None
    comments: list[ActionComment]
    events: list[AuditEvent]
    worker: Worker | None
    worker_silent: bool
    switch: Installation | None
    snoozed_until: datetime | None
    kept: tuple[str, bytes] | None
    """Id and file of the record that others are joined into, as the mirror has it; None for what joins nothing into one that is there."""
    can: Can
    steps: list[Step]

    @property
    def is_open(self) -> bool:
        """Whether anything can still become of it."""
        return self.action.is_open

    @property
    def digest_hex(self) -> str:
        """The digest that is approved, without its prefix."""
        return self.action.digest.removeprefix("sha256:")


def action_page(user: User, action: LifecycleAction, now: datetime) -> ActionPage:
    """Give an action and all around it; some thirty queries, however much it does."""
    store = action.store
    record = keeping.record_of(action)
    effect, damage = _effect(action)
    policy = policies.policy_for(store) if store is not None else ReviewPolicy(number=0)
    needed = policies.gate_policy(policy).approvals_for(action.verb)
    reviews = list(Review.objects.filter(action=action).select_related("reviewer").order_by("id"))
    given = [one for one in reviews if counts(one, now)]
    source = MirrorSource(store) if store is not None else None
    moved: Moved | None = None
    verdict: Verdict | None = None
    if source is not None and effect is not None and action.is_open:
        source.preload(record["target_ids"], (action.target_type,))
        path = freshness.stale_among([action], {action.pk: effect}).get(action.pk)
        moved = _moved(effect, source, path) if path is not None else None
        verdict = _judged(action, effect, source, policy, now, path)
    elif source is not None and effect is not None and action.state == State.STALE:
        path = freshness.stale_among([action], {action.pk: effect}).get(action.pk)
        moved = _moved(effect, source, path) if path is not None else None
    snooze = Snooze.objects.filter(action=action, user=user, until__gt=now).first()
    worker = store.worker if store is not None else None
    return ActionPage(
        action=action,
        record=record,
        effect=effect,
        damage=damage,
        policy=policy,
        needed=needed,
        reviews=reviews,
        given=len({one.reviewer_id for one in given}),
        verdict=verdict,
        targets=target_lines(action, source),
        moved=moved,
        comments=list(ActionComment.objects.filter(action=action)[:COMMENTS_SHOWN]),
        events=_events(action),
        worker=worker,
        worker_silent=worker is None or is_silent(worker, now),
        switch=Installation.objects.order_by("pk").first(),
        snoozed_until=snooze.until if snooze is not None else None,
        kept=_kept(action, record, source),
        can=_can(user, action, reviews, policy, damage, now),
        steps=steps_of(action, reviews),
    )


def counts(review: Review, now: datetime) -> bool:
    """Say whether an approval stands and has not run out."""
    in_time = review.expires_at is None or review.expires_at > now
    return review.decision == "approved" and review.withdrawn_at is None and in_time


def target_lines(action: LifecycleAction, source: MirrorSource | None) -> list[TargetLine]:
    """Give the first targets as they were and as they are in the mirror; a few queries."""
    targets = list(ActionTarget.objects.filter(action=action).order_by("position")[:TARGETS_SHOWN])
    if source is None:
        return [TargetLine(one, "", "missing") for one in targets]
    source.preload((one.target_id for one in targets), (action.target_type,))
    return [_target_line(one, source) for one in targets]


def targets_now(action: LifecycleAction) -> list[TargetLine]:
    """Give the first targets of an action as they were and as they are; a few queries."""
    return target_lines(action, MirrorSource(action.store) if action.store is not None else None)


def _target_line(target: ActionTarget, source: MirrorSource) -> TargetLine:
    now = source.target(target.record_type, target.target_id)
    digest = now.digest if now is not None else ""
    if now is None:
        return TargetLine(target, "", "made" if not target.before_digest else "missing")
    if digest == target.before_digest:
        return TargetLine(target, digest, "same")
    return TargetLine(target, digest, "done" if digest == target.after_digest else "changed")


def steps_of(action: LifecycleAction, reviews: Sequence[Review]) -> list[Step]:
    """Give the line of steps: what was, what is, and what may come; an end that leads nowhere says so."""
    state = State(action.state)
    first = State.PENDING if action.needs_review else State.READY
    way = [first, *([State.APPROVED] if action.needs_review else []), State.APPLYING, State.APPLIED]
    approvers = [one.reviewer_label for one in reviews if one.decision == "approved" and one.withdrawn_at is None]
    rejecters = [one.reviewer_label for one in reviews if one.decision == "rejected"]
    facts: dict[State, tuple[str, datetime | None]] = {
        first: (action.proposed_by, action.created_at),
        State.APPROVED: (", ".join(approvers[:3]), action.decided_at),
        State.APPLIED: (action.applied_by, action.applied_at),
        State.REJECTED: (", ".join(rejecters[-1:]), action.closed_at),
    }
    if state in way:
        place = way.index(state)
        return [_step(one, "past" if number < place else "now" if number == place else "future", facts) for number, one in enumerate(way)]
    was_approved = action.decided_at is not None and state is not State.REJECTED
    passed = [first, *([State.APPROVED] if was_approved and action.needs_review else [])]
    last = Step("held", "tried again by an operator" if state is State.FAILED else "never written", "never")
    return [
        *(_step(one, "past", facts) for one in passed),
        _step(state, "now", {**facts, state: facts.get(state, ("", action.closed_at))}),
        last,
    ]


def _step(state: State, phase: str, facts: Mapping[State, tuple[str, datetime | None]]) -> Step:
    who, at = facts.get(state, ("", None)) if phase != "future" else ("", None)
    return Step(str(state), str(state), phase, who, at)


def _effect(action: LifecycleAction) -> tuple[Effect | None, str]:
    try:
        return keeping.effect_of(action), ""
    except Damaged as err:
        return None, str(err)


def _moved(effect: Effect, source: MirrorSource, path: str) -> Moved | None:
    change = next((one for one in effect.changes if one.path == path), None)
    before, after = getattr(change, "before", b""), getattr(change, "after", b"")
    return Moved(path, before if isinstance(before, bytes) else b"", after if isinstance(after, bytes) else b"", source.data(path))


def _kept(action: LifecycleAction, record: Mapping[str, Any], source: MirrorSource | None) -> tuple[str, bytes] | None:
    given = record.get("parameters")
    name = (given.get("into") or given.get("keep")) if isinstance(given, Mapping) else None
    there = source.file(action.target_type, name) if source is not None and isinstance(name, str) else None
    return (str(name), there.data) if there is not None else None


def _judged(
    action: LifecycleAction, effect: Effect, source: MirrorSource, policy: ReviewPolicy, now: datetime, moved: str | None
) -> Verdict:
    """Judge an action as if enough people had approved exactly this, without writing anything."""

    def standing_of(change: Change) -> Standing:
        return source.standing(change) if change.path == moved else Standing.BEFORE

    needed = policies.gate_policy(policy).approvals_for(action.verb)
    supposed = tuple(Approval(action.action_id, action.digest, f"supposed {number}", "approved") for number in range(needed))
    return verdicts.judge(action, effect, source, Approvals(action.digest, supposed), policy, now, standing_of=standing_of, dry_run=True)


def _events(action: LifecycleAction) -> list[AuditEvent]:
    found = AuditEvent.objects.filter(store_uid=action.store_uid, at__gte=action.created_at, event__in=_TRAIL_EVENTS)
    return list(found.filter(object_label=label_of(action)).order_by("number")[:EVENTS_SHOWN])


def _can(user: User, action: LifecycleAction, reviews: Sequence[Review], policy: ReviewPolicy, damage: str, now: datetime) -> Can:
    held = roles(user)
    state = State(action.state)
    store = action.store
    reviews_here = store is not None and verdicts.may_review(user, store, policy)
    needed = policies.gate_policy(policy).approvals_for(action.verb)
    asked_more = state is State.APPROVED and len({one.reviewer_id for one in reviews if counts(one, now)}) < needed
    waits = state is State.PENDING or (asked_more and action.needs_review)
    refused = refusals(user, [action], Manner("page", now, password_given=True)).get(action.pk) if waits else None
    put_back = state is State.APPROVED and not action.needs_review and action.apply_asked_at is None
    own = any(one.reviewer_id == user.pk and one.decision == "approved" and one.withdrawn_at is None for one in reviews)
    mine = own or action.proposer_id == user.pk or user.pk in action.barred or "operator" in held
    proposes = "reviewer" in held or "operator" in held
    return Can(
        approve=waits and refused is None and not damage,
        reject=state is State.PENDING and reviews_here,
        withdraw=state in (State.PENDING, State.READY, State.APPROVED, State.FAILED) and mine,
        renew=state in renewing.RENEWABLE and store is not None and proposes,
        undo=state is State.APPLIED and not action.undo_refused and store is not None and proposes,
        allow=(state in (State.READY, State.FAILED) or put_back) and "operator" in held,
        assign="reviewer" in held and action.is_open,
        check=action.is_sample and action.checked_at is None and "reviewer" in held,
        refused=damage if damage and waits else refused.message if refused is not None else "",
        code="damaged" if damage else refused.code if refused is not None else "",
        break_glass=refused is not None and refused.code == "four_eyes" and user.is_superuser,
        undo_refused=action.undo_refused if state is State.APPLIED else "",
    )
