"""Approves actions: who may, what exactly, signed and counted in one transaction (DESIGN §7, rulings 13, 15 and 65)."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from django.db import transaction

from stores import audit
from stores.errors import BadRequest, NotAllowed
from stores.formats import storable
from stores.lifecycle.digests import approval_digest
from stores.lifecycle.effects import Effect
from stores.lifecycle.packing import Damaged
from stores.lifecycle.states import State
from stores.models import LifecycleAction, Review, User
from stores.review import keeping, keys, markers, moving, policies, verdicts
from stores.review.deciding import (
    LONGEST_REASON,
    Decided,
    Manner,
    action_seen_by,
    detail_of,
    label_of,
    locked_again,
    or_raise,
    record_refusals,
    stores_of,
)
from stores.review.freshness import stale_among
from stores.review.installation import installation
from stores.review.moving import MovedMeanwhile

_BATCH: Final = 500


def approve(user: User, pk: int, digest: str, manner: Manner) -> Decided:
    """Approve one action that was shown with `digest`; raises NotFound, NotAllowed, PasswordNeeded, Conflict, NotFresh, BadRequest."""
    decided = approve_all(user, [action_seen_by(user, pk)], {pk: digest}, manner)[0]
    return or_raise(decided)


def approve_all(user: User, actions: Sequence[LifecycleAction], seen: Mapping[int, str], manner: Manner) -> list[Decided]:
    """Approve actions, each by itself and all in one transaction; `seen` says by key which digest was on the screen.

    5,000 of them take under three seconds. Whatever is refused is told, and audited.
    """
    if len(manner.reason) > LONGEST_REASON:
        raise BadRequest(f"A reason has at most {LONGEST_REASON:,} characters.")
    if manner.break_glass and not (user.is_superuser and manner.reason.strip()):
        raise NotAllowed("Four eyes are set aside by a superuser only, and with a reason.")
    case = _Case(user, manner, actions)
    refused = {one.pk: said for one in actions if (said := case.refusal(one, seen.get(one.pk, ""))) is not None}
    effects = _effects([one for one in actions if one.pk not in refused], refused)
    stale = stale_among([one for one in actions if one.pk not in refused], effects)
    wanted = [one for one in actions if one.pk not in refused and one.pk not in stale]
    decided = case.sign(wanted) if wanted else {}
    for action in actions:
        if action.pk in stale:
            decided[action.pk] = _go_stale(action, stale[action.pk], user, manner)
        elif action.pk in refused:
            decided[action.pk] = refused[action.pk]
    record_refusals(user, [one for one in decided.values() if not one.is_done and one.code != "stale"], manner)
    return [decided[one.pk] for one in actions]


def refusals(user: User, actions: Sequence[LifecycleAction], manner: Manner) -> dict[int, Decided]:
    """Say by their keys which actions a person could not approve as they are now, and why; nothing is decided, and nothing written."""
    case = _Case(user, manner, actions)
    refused = {one.pk: said for one in actions if (said := case.refusal(one, one.digest)) is not None}
    effects = _effects([one for one in actions if one.pk not in refused], refused)
    wanted = [one for one in actions if one.pk not in refused]
    stale = stale_among(wanted, effects)
    return refused | {one.pk: Decided(one, "stale", _moved(stale[one.pk])) for one in wanted if one.pk in stale}


class _Case:
    """One reviewer's approval of some actions: what is asked of all of them is asked once."""

    def __init__(self, user: User, manner: Manner, actions: Sequence[LifecycleAction]) -> None:
        self._user, self._manner = user, manner
        self._stores = stores_of(actions)
        self._policies = policies.policies_for(self._stores.values())
        self._may = {pk: verdicts.may_review(user, store, self._policies[pk]) for pk, store in self._stores.items()}
        self._approved = set(
            Review.objects.filter(reviewer=user, withdrawn_at__isnull=True, action__in=[one.pk for one in actions]).values_list(
                "action_id", flat=True
            )
            if len(actions) <= _BATCH
            else Review.objects.filter(
                reviewer=user, withdrawn_at__isnull=True, action__state__in=(State.PENDING, State.APPROVED)
            ).values_list("action_id", flat=True)
        )
        self._own_names = {name.casefold() for name in (user.username, user.email) if name}
        waiting = [one for one in actions if one.state == State.APPROVED and one.needs_review and one.store_id in self._policies]
        given = self._given(waiting)
        self._short_of_people = {one.pk for one in waiting if given[one.pk] < self._needed(one)}
        """Approved actions of which the policy asks for more approvals by now."""

    def refusal(self, action: LifecycleAction, seen: str) -> Decided | None:
        """Say why this person cannot approve an action as it was shown; None where nothing speaks against it."""
        if action.store_id is None or not self._may.get(action.store_id):
            return Decided(action, "not_allowed", "You may not review actions of this store.")
        if action.state != State.PENDING and action.pk not in self._short_of_people:
            return Decided(action, "moved", f"It is {action.state}: there is nothing to approve.")
        if seen != action.digest:
            return Decided(action, "other_digest", "It is not what was on your screen: look at it again.")
        if action.adds_secret:
            return Decided(action, "adds_secret", "It would write something that looks like a secret: nobody can approve that.")
        if action.pk in self._approved:
            return Decided(action, "already_yours", "You have approved it already: somebody else is needed.")
        if self.separation(action) == "":
            return Decided(action, "four_eyes", "Four eyes: it was proposed or changed by you.")
        if action.destructive and not self._manner.password_given:
            return Decided(action, "password_needed", "Your password is asked for again: it takes something away.")
        return None

    def separation(self, action: LifecycleAction) -> str:
        """Say by what right the person approves, "" for none."""
        named = {one.strip().casefold() for one in (action.proposed_by, action.also_proposed_by)}
        own = action.proposer_id == self._user.pk or self._user.pk in action.barred or bool(self._own_names & named)
        if not own:
            return "four_eyes"
        if action.store_id is not None and self._policies[action.store_id].single_reviewer is True:
            return "none"
        return "broken" if self._manner.break_glass else ""

    def sign(self, actions: Sequence[LifecycleAction]) -> dict[int, Decided]:
        """Sign what is to be approved and bring into the next state what enough people have approved; one transaction."""
        kid, key = keys.signing_key()
        issuer = str(installation().uid)
        with transaction.atomic():
            locked = locked_again(actions)
            decided = {
                one.pk: Decided(one, "moved", "It was decided or applied by somebody else meanwhile.")
                for one in actions
                if (there := locked.get(one.pk)) is None or there != (one.state, one.digest, one.revision)
            }
            wanted = [one for one in actions if one.pk not in decided]
            reviews = [self._review(one) for one in wanted]
            for review, action in zip(reviews, wanted, strict=True):
                review.marker = markers.sign(self._marker(review, action, issuer), kid, key)
            Review.objects.bulk_create(reviews, batch_size=_BATCH)
            enough, counted = self._counted(wanted)
            counted += [one for one in enough if one.state == State.APPROVED]
            enough = [one for one in enough if one.state == State.PENDING]
            moving.move_all(enough, State.APPROVED, self._manner.now, decided_at=self._manner.now, reason_code="", message="")
            moving.change_all([one for one in counted if one.requires_review])
            moving.change_all([one for one in counted if not one.requires_review], requires_review=True)
            decided |= {one.pk: Decided(one, "approved") for one in enough}
            decided |= {one.pk: Decided(one, "counted", "It counts; enough people have to approve it.") for one in counted}
            self._record(wanted, reviews)
        for one in enough:
            one.state, one.decided_at = str(State.APPROVED), self._manner.now
        return decided

    def _review(self, action: LifecycleAction) -> Review:
        policy = self._policies[action.store_id or 0]
        manner = self._manner
        return Review(
            name=secrets.token_hex(8),
            action=action,
            reviewer=self._user,
            reviewer_label=self._user.label[:220],
            decision="approved",
            reason=storable.text(manner.reason),
            digest=action.digest,
            policy_version=policy.version,
            at=manner.now,
            expires_at=manner.now + timedelta(days=policy.lifetime_days),
            batch_id=manner.batch_id,
            through=manner.through,
            took_s=manner.took_s,
            separation=self.separation(action),
        )

    def _marker(self, review: Review, action: LifecycleAction, issuer: str) -> markers.Marker:
        return markers.Marker(
            iss=issuer,
            sub=str(self._user.pk),
            jti=review.review_id,
            aud=str(action.store_uid),
            action_id=action.action_id,
            digest=action.digest,
            policy_version=review.policy_version,
            iat=review.at,
            exp=review.expires_at or review.at,
            sep=review.separation,
        )

    def _counted(self, actions: Sequence[LifecycleAction]) -> tuple[list[LifecycleAction], list[LifecycleAction]]:
        """Part actions that were just signed into those that enough people have approved now, and the others."""
        one_suffices = {one.pk for one in actions if self._needed(one) == 1}
        given = self._given([one for one in actions if one.pk not in one_suffices])
        done = one_suffices | {one.pk for one in actions if one.pk not in one_suffices and given[one.pk] >= self._needed(one)}
        return [one for one in actions if one.pk in done], [one for one in actions if one.pk not in done]

    def _needed(self, action: LifecycleAction) -> int:
        return policies.gate_policy(self._policies[action.store_id or 0]).approvals_for(action.verb)

    def _given(self, actions: Sequence[LifecycleAction]) -> dict[int, int]:
        """Count the approvals that are in force."""
        given: dict[int, int] = defaultdict(int)
        for start in range(0, len(actions), _BATCH):
            ids = [one.pk for one in actions[start : start + _BATCH]]
            rows = Review.objects.filter(action__in=ids, decision="approved", withdrawn_at__isnull=True, expires_at__gt=self._manner.now)
            for pk in rows.values_list("action_id", flat=True):
                given[pk] += 1
        return given

    def _record(self, actions: Sequence[LifecycleAction], reviews: Sequence[Review]) -> None:
        entries = [
            audit.Entry(
                "approved",
                label_of(action),
                self._stores[action.store_id or 0],
                detail_of(action, self._manner, review=review.review_id, separation=review.separation, policy=review.policy_version),
            )
            for action, review in zip(actions, reviews, strict=True)
        ]
        audit.record_all(entries, actor=self._user, through=self._manner.through)


def _effects(actions: Sequence[LifecycleAction], refused: dict[int, Decided]) -> dict[int, Effect]:
    """Give the effects of actions whose kept bytes and digest hold; the others are refused."""
    try:
        effects = keeping.effects_of(actions)
    except Damaged:
        effects = {}
        for one in actions:
            try:
                effects[one.pk] = keeping.effect_of(one)
            except Damaged as err:
                refused[one.pk] = Decided(one, "damaged", str(err))
    for one in actions:
        effect = effects.get(one.pk)
        if effect is not None and approval_digest(keeping.record_of(one), str(one.store_uid), effect.changes) != one.digest:
            refused[one.pk] = Decided(one, "damaged", "What is kept of the action is not what its digest says: it cannot be approved.")
    return {pk: effect for pk, effect in effects.items() if pk not in refused}


def _go_stale(action: LifecycleAction, path: str, user: User, manner: Manner) -> Decided:
    message = _moved(path)
    try:
        with transaction.atomic():
            moving.move(action, State.STALE, manner.now, status="skipped", reason_code="stale_source", message=message)
            detail = detail_of(action, manner, path=storable.name(path))
            audit.record(
                "action_stale", actor=user, object_label=label_of(action), store=action.store, through=manner.through, detail=detail
            )
    except MovedMeanwhile as err:
        return Decided(action, "moved", str(err))
    return Decided(action, "stale", message)


def _moved(path: str) -> str:
    return f"{storable.name(path)} has changed since the action was made."
