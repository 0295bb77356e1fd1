"""New actions out of old ones: renewed on today's content, or taking back what was applied (rulings 10 and 66)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from stores import audit
from stores.accounts import roles
from stores.errors import BadRequest, Conflict, NotAllowed
from stores.lifecycle import actions, undoing
from stores.lifecycle.effects import EffectRefused
from stores.lifecycle.states import State
from stores.lifecycle.vocabulary import COMMON
from stores.models import LifecycleAction, User
from stores.review import keeping
from stores.review.deciding import action_seen_by, label_of
from stores.review.mirror_source import MirrorSource
from stores.review.submitting import QUEUED, Beside, Proposer, Submitted, submit

RENEWABLE: Final = frozenset({State.STALE, State.EXPIRED, State.WITHDRAWN, State.FAILED})
_TAKEN_ANEW: Final = frozenset(
    {"action_id", "source_digests", "source_digests_taken", "schema_version", "expected_effect", "from_phase", "from_state", "to_state"}
)


def renew(user: User, pk: int, now: datetime, *, through: audit.Through) -> LifecycleAction:
    """Propose the same on today's content, in the old proposer's name; it needs a new approval. Raises NotAllowed, NotFound, Conflict, BadRequest."""
    action = _of_someone_who_proposes(user, pk)
    if State(action.state) not in RENEWABLE or action.store is None:
        raise Conflict(f"An action that is {action.state} is not renewed.")
    record = _foreign(keeping.record_of(action))
    proposer = Proposer(action.proposed_by, "renewed", through, action.proposer, action.token)
    beside = Beside(renewed_from=action, barred=tuple(action.barred))
    made = _one(submit(action.store, [record], proposer, now, beside=beside))
    audit.record(
        "action_renewed",
        actor=user,
        object_label=label_of(made),
        store=action.store,
        through=through,
        detail={"action": made.pk, "from": pk},
    )
    return made


def undo(user: User, pk: int, reason: str, now: datetime, *, through: audit.Through) -> LifecycleAction:
    """Propose to take back what an action wrote, from the kept bytes and as the files are today; it is reviewed like any other.

    Raises NotAllowed, NotFound, Conflict where nothing can be taken back, BadRequest.
    """
    action = _of_someone_who_proposes(user, pk)
    store = action.store
    if action.state != State.APPLIED or store is None:
        raise Conflict("Only what was applied can be taken back.")
    source = MirrorSource(store)
    try:
        effect = undoing.effect(action.kind, action.action_id, keeping.effect_of(action), source.data, now)
    except EffectRefused as err:
        raise Conflict(str(err)) from err
    digests = {one.id: one.before_digest for one in effect.targets}
    record = actions.make(
        action.kind,
        COMMON["undo"],
        "file",
        digests,
        reason,
        requires_review=True,
        parameters={"undo_of": action.action_id},
    )
    proposer = Proposer(user.username, "undo", through, user)
    return _one(submit(store, [actions.named(record)], proposer, now, beside=Beside(undo_of=action, effect=effect)))


def _foreign(record: Mapping[str, Any]) -> dict[str, Any]:
    """Give a record without what is taken anew at intake, so that it is read as a proposal of today."""
    return {name: value for name, value in record.items() if name not in _TAKEN_ANEW}


def _of_someone_who_proposes(user: User, pk: int) -> LifecycleAction:
    if not {"reviewer", "operator"} & roles(user):
        raise NotAllowed("This needs the role reviewer or operator. Someone who administers accounts can give it to you.")
    return action_seen_by(user, pk)


def _one(results: list[Submitted]) -> LifecycleAction:
    """Give the one action that was queued; raises BadRequest or Conflict with the reason why it was not."""
    (result,) = results
    if result.code != QUEUED or result.action is None:
        raise Conflict(result.message or "It is in the queue already.") if result.action else BadRequest(result.message)
    return result.action
