"""The one sequence in which a store is changed: lock, recover, check, journal, write, verify, record (ruling 3).

A change says in `Plan` what it does to which file; everything else is the same for all of them. Until the first log or name moves, or all
is verified where none does, an error leaves the store as it was; after that there is only forward, if need be with the next change or look of
the worker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import Error as DatabaseError

from stores import audit
from stores.apply import journal, recovering
from stores.apply.journal import Entry, Intent
from stores.apply.place import Place, held
from stores.apply.recovering import Outcome
from stores.apply.targets import Target
from stores.errors import MemoryUIError, NotAllowed
from stores.files import LOCK_WAIT_S
from stores.models import Store
from stores.review import policies


class Unfinished(MemoryUIError):
    """A change passed the point of no return and could not be ended; the journal has it, and it is ended with the next occasion."""

    status = 503
    title = "The change is not complete yet"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who changes a store, as the audit names it, and by which way."""

    label: str
    through: audit.Through = "terminal"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a change does; without targets there is nothing to do."""

    event: audit.Event
    targets: tuple[Target, ...]
    detail: Mapping[str, Any]
    """What the audit says of it."""
    drain: Mapping[str, Any] | None = None
    action: Mapping[str, Any] | None = None
    """What becomes of the queued action that it carries out; see `queued.settle`."""
    verify: Callable[[Place], None] = lambda _: None
    """Look at what was written before the first log or name moves; raises when it is not what it must be."""


def change(store: Store, plan: Callable[[Place], Plan], actor: Actor, *, wait_s: float = LOCK_WAIT_S) -> str:
    """Change a store: `plan` looks at the disk under the lock and says what is to happen. Give the change's id, "" for none.

    Raises Conflict when the store stays locked, NotAllowed where the policy lets no command write (ruling 17), what `plan` raises, CannotWrite or ChangedMeanwhile with the store as it was, and
    Unfinished when the rest will follow: what was asked for must then not be asked for again.
    """
    with held(store, wait_s) as place:
        recovering.recover(store, place)
        planned = plan(place)
        if not planned.targets and planned.drain is None:
            return ""
        if planned.action is None:
            require_direct_writes(store, actor)
        now = datetime.now(UTC)
        entry = journal.begin(store.uid, _intent(planned, actor, now))
        try:
            _carry_out(place, entry, planned)
        except (MemoryUIError, OSError) as err:
            _settle_after(store, place, entry, err)
        else:
            _finish(store, place, entry)
        return entry.intent.id


def require_direct_writes(store: Store, actor: Actor) -> None:
    """Raise NotAllowed where the policy lets no command write (ruling 17); the one for all stores counts for one not registered yet."""
    if actor.through == "terminal" and policies.policy_for(store).submit_only:
        where = f"The policy of {store.slug}" if store.pk else "The policy for all stores"
        raise NotAllowed(
            f"{where} lets no command write into it: what is to change waits for a review. Run it with --submit to propose it."
        )


def _intent(plan: Plan, actor: Actor, now: datetime) -> Intent:
    return Intent(
        id=journal.new_id(now),
        event=plan.event,
        actor=actor.label,
        through=actor.through,
        begun_at=now.isoformat(),
        detail=plan.detail,
        targets=plan.targets,
        drain=plan.drain,
        action=plan.action,
    )


def _carry_out(place: Place, entry: Entry, plan: Plan) -> None:
    verified = False
    for target in plan.targets:
        if not (verified or recovering.can_go_back(target)):
            plan.verify(place)
            verified = True
        recovering.carry_out(place, entry, target)
    if not verified:
        plan.verify(place)
        journal.mark_standing(entry)


def _finish(store: Store, place: Place, entry: Entry) -> None:
    try:
        recovering.finish(store, place, entry)
    except (MemoryUIError, OSError, DatabaseError) as err:
        raise Unfinished(
            f"The change of {store.slug} stands, but its record does not yet ({err}). It is completed before the next change of this store."
        ) from err


def _settle_after(store: Store, place: Place, entry: Entry, err: Exception) -> None:
    """Bring the store back, or the change to its end; raises the error in the first case, and Unfinished when neither works."""
    try:
        outcome = recovering.settle(store, place, entry)
    except (MemoryUIError, OSError, DatabaseError) as again:
        raise Unfinished(
            f"The change of {store.slug} was interrupted ({err}) and could not be settled ({again}). It is in the journal and is settled "
            "before the next change of this store."
        ) from err
    if outcome is Outcome.ABANDONED:
        raise err
