"""Approval markers that come with a call instead of from the queue's own page: each names its action itself (ruling 25)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.db import IntegrityError, transaction

from stores import audit
from stores.apply.steps import Actor
from stores.errors import BadRequest
from stores.lifecycle.states import OPEN
from stores.models import LifecycleAction, Review, Store, User
from stores.review import markers

_PREFIX = "memoryui:"


def read_given(store: Store, texts: Iterable[str], keys: Mapping[str, Ed25519PublicKey]) -> list[Review]:
    """Read markers into decisions that are not stored yet; one that the queue knows already is left to it, spent or withdrawn too.

    Raises BadRequest for any other text, and for a marker of another store or of no action that is open here.
    """
    return [review for number, text in enumerate(texts, 1) if (review := _read(store, number, text, keys)) is not None]


def _read(store: Store, number: int, text: str, keys: Mapping[str, Ed25519PublicKey]) -> Review | None:
    try:
        said = markers.read(text.strip(), keys)
    except markers.MarkerRefused as err:
        raise BadRequest(f"--approval-marker {number}: {err} Only a marker that this installation signed is an approval.") from err
    if said.aud != str(store.uid):
        raise BadRequest(f"--approval-marker {number} is for another store.")
    action = LifecycleAction.objects.filter(store=store, action_id=said.action_id, state__in=sorted(OPEN)).first()
    if action is None:
        raise BadRequest(f"--approval-marker {number} is for {said.action_id}, which is not open in {store.slug}.")
    name = said.jti.removeprefix(_PREFIX)
    if not said.jti.startswith(_PREFIX) or Review.objects.filter(name=name).exists():
        return None
    reviewer = User.objects.filter(pk=int(said.sub)).first() if said.sub.isdecimal() else None
    if reviewer is None:
        raise BadRequest(f"--approval-marker {number} was given by an account that is not there any more.")
    return Review(
        name=name,
        action=action,
        reviewer=reviewer,
        reviewer_label=reviewer.label[:220],
        decision="approved",
        digest=said.digest[:71],
        policy_version=said.policy_version[:32],
        marker=text.strip(),
        at=said.iat,
        expires_at=said.exp,
        through="terminal",
        separation=said.sep[:16],
    )


def store_given(store: Store, reviews: Iterable[Review], actor: Actor, now: datetime) -> None:
    """Store decisions that came with a call, so that each is used once; whether they count is asked when the action is judged."""
    for review in reviews:
        try:
            with transaction.atomic():
                review.save(force_insert=True)
                audit.record(
                    "approved",
                    actor=review.reviewer,
                    actor_label=f"{review.reviewer_label}, by {actor.label}",
                    object_label=f"#{review.action_id} {review.action.verb}",
                    store=store,
                    through=actor.through,
                    detail={"action": review.action_id, "action_id": review.action.action_id, "review": review.review_id},
                )
        except IntegrityError:
            # The person has decided on this action already: one decision a person counts.
            continue
