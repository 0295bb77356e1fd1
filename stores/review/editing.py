"""An action proposed otherwise: a new one with other parameters takes its place, and who changed it proposes too (ruling 65)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import transaction
from django.db.models import Q

from stores import audit
from stores.accounts import roles
from stores.errors import BadRequest, Conflict, NotAllowed
from stores.formats import storable
from stores.lifecycle.states import State
from stores.models import LifecycleAction, User
from stores.review import keeping, moving
from stores.review.deciding import Manner, action_seen_by, detail_of, label_of
from stores.review.submitting import PLANNER, QUEUED, Beside, Proposer, submit

REPLACED: Final = frozenset({State.PENDING, State.READY, State.FAILED})
"""States in which an action is withdrawn as another takes its place."""
EDITABLE: Final = REPLACED | {State.STALE, State.EXPIRED, State.WITHDRAWN}


@dataclass(frozen=True, slots=True)
class Edited:
    """What is proposed in an action's place."""

    target_ids: Sequence[str]
    parameters: Mapping[str, object]
    asked: Collection[str]
    """Parameters that the form asks for; others stay as they are."""
    reason: str
    beside: Mapping[str, object] = field(default_factory=dict)
    """Fields of the action itself."""


def may_edit(user: User, action: LifecycleAction) -> bool:
    """Say whether an account may propose an action otherwise: who decides, and who proposed it."""
    if State(action.state) not in EDITABLE or action.store_id is None:
        return False
    return action.proposer_id == user.pk or user.pk in action.barred or "reviewer" in roles(user)


def edit(user: User, pk: int, seen: str, wanted: Edited, manner: Manner) -> LifecycleAction:
    """Propose an action otherwise, on today's content, and withdraw it where it is open; `seen` is the digest that was on the screen.

    All who could not approve the old one cannot approve the new one, nor can who changed it. Raises NotFound, NotAllowed, Conflict,
    BadRequest.
    """
    action = action_seen_by(user, pk)
    store = action.store
    if State(action.state) not in EDITABLE or store is None:
        raise Conflict(f"An action that is {action.state} is not proposed otherwise.")
    if not may_edit(user, action):
        raise NotAllowed("This needs the role reviewer. Someone who administers accounts can give it to you.")
    if seen != action.digest:
        raise Conflict("The action is not the one that was on your screen: look at it again.")
    proposer = Proposer(user.username, "page", manner.through, user)
    beside = Beside(renewed_from=action, barred=tuple(_barred(action)))
    with transaction.atomic():
        (result, *more) = submit(store, [_proposal(action, wanted)], proposer, manner.now, beside=beside)
        made = result.action
        if result.code != QUEUED or made is None or more:
            raise (Conflict if made is not None else BadRequest)(result.message or "It is in the queue already.")
        if State(action.state) in REPLACED:
            moving.move(action, State.WITHDRAWN, manner.now, message=f"It was proposed otherwise: #{made.pk}.")
            detail = {**detail_of(action, manner), "reason": f"proposed otherwise as #{made.pk}"}
            audit.record("action_withdrawn", actor=user, object_label=label_of(action), store=store, through=manner.through, detail=detail)
    return made


def _proposal(action: LifecycleAction, wanted: Edited) -> dict[str, Any]:
    """Give the proposal: what the form does not ask for comes from the old record."""
    record = keeping.record_of(action)
    kept = {name: value for name, value in record.get("parameters", {}).items() if name not in wanted.asked}
    unread = record.get("foreign_fields")
    said = {"path_id": record["path_id"]} if isinstance(record.get("path_id"), str) else {}
    named = action.also_proposed_by or action.proposed_by
    if named != PLANNER:
        said["proposed_by"] = named
    return {
        **(unread if isinstance(unread, Mapping) else {}),
        "action": action.verb,
        "target_type": action.target_type,
        "target_ids": list(wanted.target_ids),
        "parameters": {**kept, **wanted.parameters},
        "reason": storable.text(wanted.reason),
        "requires_review": record.get("requires_review") is not False,
        **said,
        **wanted.beside,
    }


def _barred(action: LifecycleAction) -> set[int]:
    """Give the accounts that could not approve an action: by their key, and by the names that stood on it."""
    barred = set(action.barred)
    if action.proposer_id is not None:
        barred.add(action.proposer_id)
    named = Q(pk__in=[])
    for name in filter(None, (action.proposed_by.strip(), action.also_proposed_by.strip())):
        named |= Q(username__iexact=name) | Q(email__iexact=name)
    return barred | set(User.objects.filter(named).values_list("pk", flat=True))
