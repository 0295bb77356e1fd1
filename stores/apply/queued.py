"""What becomes of a queued action's row while it is applied: claimed, put back, ended with the change that carried it out (rulings 7, 39)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction

from stores.lifecycle.states import State, may_move
from stores.models import LifecycleAction, Review
from stores.review import moving
from stores.review.moving import MovedMeanwhile

if TYPE_CHECKING:
    from stores.apply.journal import Intent

LEASE: Final = timedelta(seconds=60)
_FIRST_WAIT: Final = timedelta(seconds=5)
_LONGEST_WAIT: Final = timedelta(minutes=10)

log = logging.getLogger(__name__)


def claim(row: LifecycleAction, claimant: str, now: datetime) -> LifecycleAction:
    """Take an action up, or over from a claimant whose time is over; raises MovedMeanwhile.

    Two may believe that they hold it: under the store's lock only the one goes on whose revision still stands.
    """
    held: dict[str, Any] = {"claimed_by": claimant[:64], "lease_until": now + LEASE, "attempts": row.attempts + 1}
    if row.state == State.APPLYING:
        if row.lease_until is not None and row.lease_until > now:
            raise MovedMeanwhile(f"It is being applied at this moment, by {row.claimed_by or 'another process'}.")
        return moving.change(row, **held)
    if row.state == State.FAILED:
        moving.move(row, State.APPROVED, now)
    return moving.move(row, State.APPLYING, now, **held)


def wait_after(attempts: int) -> timedelta:
    """Give how long an action that could not be applied waits until the worker tries again."""
    doublings: int = 2 ** min(max(0, attempts - 1), 10)
    return min(_LONGEST_WAIT, _FIRST_WAIT * doublings)


def verdict_fields(status: str, reason_code: str, message: str) -> dict[str, Any]:
    """Give the columns that say what was found of an action last."""
    return {"status": status, "reason_code": reason_code, "message": message, "claimed_by": "", "lease_until": None}


def settle(intent: Intent, receipt: Mapping[str, Any]) -> None:
    """End the action that a change carried out, in the transaction of its audit event; once, however often it is recorded."""
    said = intent.action or {}
    row = LifecycleAction.objects.select_for_update().filter(pk=said["pk"]).first()
    if row is None or row.change_id == intent.id:
        return
    now = datetime.now(UTC)
    as_approved = all(one.get("as_written", True) for one in receipt["files"])
    more = {name: said[name] for name in ("event_ids", "audit_id") if said.get(name)}
    applied = {"receipt": {**receipt, **more, "as_approved": as_approved}} if said["to"] == State.APPLIED else {}
    end(row, said, now, intent.actor, change_id=intent.id, **applied)


def end(row: LifecycleAction, said: Mapping[str, Any], now: datetime, actor: str, **fields: Any) -> None:
    """Bring an action where a verdict leads; `said` is what `Plan.action` says of it. Raises MovedMeanwhile.

    Markers are spent by an apply that passed its point of no return, and by nothing else.
    """
    to = State(said["to"])
    fields |= verdict_fields(said["status"], said["reason_code"], said["message"])
    if to is State.APPLIED:
        fields |= {"applied_at": now, "applied_by": actor[:220], "is_sample": bool(said.get("is_sample"))}
        Review.objects.filter(action=row, name__in=said.get("reviews", ()), spent_at__isnull=True).update(spent_at=now)
    elif to is State.APPROVED:
        fields["lease_until"] = now + wait_after(row.attempts)
    if row.state == to:
        if any(getattr(row, name) != value for name, value in fields.items()):
            moving.change(row, **fields)
        return
    if not may_move(State(row.state), to) and may_move(State(row.state), State.APPLYING):
        moving.move(row, State.APPLYING, now)
    if not may_move(State(row.state), to):
        log.error("Action #%s is %s, though the change %s made it %s.", row.pk, row.state, fields.get("change_id", ""), to)
        return
    moving.move(row, to, now, **fields)


def release(intent: Intent) -> None:
    """Put an action back whose change was begun and undone: nothing of it is in the store (ruling 5)."""
    said = intent.action or {}
    with transaction.atomic():
        row = LifecycleAction.objects.select_for_update().filter(pk=said["pk"], state=State.APPLYING).first()
        if row is not None:
            moving.move(row, State.APPROVED, datetime.now(UTC), claimed_by="", lease_until=None)
