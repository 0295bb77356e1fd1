"""Applies queued actions to a store, each whole or not at all, in the order of ruling 3."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction

from stores import audit
from stores.apply import action_plans, queued, steps
from stores.apply.judging import Judgement, judge, switched_off
from stores.apply.place import Place, held
from stores.apply.steps import Actor, Plan, Unfinished
from stores.errors import ChangedMeanwhile, Conflict, MemoryUIError, NotFound
from stores.files import LOCK_WAIT_S, CannotRead
from stores.formats.phase_memory.layout import ROOT_FILE
from stores.lifecycle.effects import TargetEffect
from stores.lifecycle.gate import Status, Verdict
from stores.lifecycle.states import FINAL, State
from stores.lifecycle.vocabulary import PHASE_MEMORY
from stores.models import LifecycleAction, Review, Store
from stores.review import moving
from stores.review.installation import is_applying
from stores.review.moving import MovedMeanwhile

_UNFINISHED_WAIT: Final = timedelta(seconds=10)

_SETTLED: Final = Verdict(Status.APPLIED, None, "An apply that was interrupted has been completed.", True)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one action."""

    action: LifecycleAction
    """As it is now."""
    verdict: Verdict
    targets: tuple[TargetEffect, ...] = ()
    """What was written, or would be."""
    event_ids: tuple[str, ...] = ()
    audit_id: str = ""
    marker: str = ""
    """Of the approval that decided."""
    review_id: str = ""
    change: str = ""
    """Id of the change in the journal."""


def apply_action(
    store: Store,
    pk: int,
    actor: Actor,
    now: datetime,
    *,
    claimant: str = "",
    dry_run: bool = False,
    extra: Sequence[Review] = (),
    wait_s: float = LOCK_WAIT_S,
) -> Result:
    """Apply one action of a store, or say why not; `extra` are approvals that came with the call, their signature is checked like all.

    What stands in the way is told by the verdict, and the row keeps it. Raises NotFound, and MovedMeanwhile for an action that somebody
    else decides or applies at this moment.
    """
    row = LifecycleAction.objects.select_related("store").filter(pk=pk, store=store).first()
    if row is None:
        raise NotFound("There is no such action in this store.")
    if State(row.state) in FINAL:
        raise MovedMeanwhile(f"The action is {row.state}: there is nothing to apply.")
    return _Apply(store, row, actor, now, claimant or actor.label, tuple(extra), wait_s).run(dry_run=dry_run)


class _Apply:
    """One action on its way to the disk."""

    def __init__(
        self, store: Store, row: LifecycleAction, actor: Actor, now: datetime, claimant: str, extra: Sequence[Review], wait_s: float
    ) -> None:
        self._store, self._row, self._actor, self._now = store, row, actor, now
        self._claimant, self._extra, self._wait_s = claimant, extra, wait_s
        self._resumed = self._reached = False
        self._locks = ExitStack()
        self._found: Judgement | None = None
        self._said: Mapping[str, Any] = {}

    def run(self, *, dry_run: bool) -> Result:
        """Go through with it."""
        if dry_run:
            return self._look()
        if self._row.state == State.PENDING:
            return self._deny()
        if expire(self._row, self._actor, self._now):
            return self._result(Verdict(Status.DENIED, "review_required", "Its approval has run out.", True))
        if self._row.state == State.READY and not is_applying():
            return self._result(switched_off(self._row))
        self._resumed = self._row.state == State.APPLYING
        self._row = queued.claim(self._row, self._claimant, self._now)
        try:
            change = self._change()
        except _Settled as settled:
            self._row = settled.row
            return self._result(_SETTLED)
        except Unfinished as err:
            return self._stopped(Verdict(Status.FAILED, "io_error", str(err), True), State.APPLYING, _UNFINISHED_WAIT)
        except MovedMeanwhile:
            raise
        except ChangedMeanwhile as err:
            return self._stopped(Verdict(Status.SKIPPED, "stale_source", str(err), True), State.STALE)
        except Conflict as err:
            return self._put_back("store_busy", str(err))
        except (MemoryUIError, OSError) as err:
            return self._failed(err)
        return self._done(change)

    def _change(self) -> str:
        with ExitStack() as self._locks:
            return steps.change(self._store, self._plan, self._actor, wait_s=self._wait_s)

    def _plan(self, place: Place) -> Plan:
        """Judge under the lock, when what was begun before is settled, and say what is to be written."""
        self._reached = True
        self._catch_up()
        self._lock_root_file(place)
        self._found = judge(self._store, place, self._row, self._now, extra=self._extra, resumed=self._resumed)
        if self._row.state != State.APPLYING and self._found.verdict.status is Status.APPLIED:
            raise _Approved
        plan = action_plans.plan_of(self._store, self._found, self._row, place, self._now)
        self._said = plan.action or {}
        if not plan.targets:
            self._note(plan, self._found.verdict)
        return plan

    def _catch_up(self) -> None:
        """See that the claim still stands, or what became of the action when its own interrupted apply was settled."""
        fresh = LifecycleAction.objects.get(pk=self._row.pk)
        if fresh.revision != self._row.revision:
            if fresh.state == State.APPLIED:
                raise _Settled(fresh)
            if not (self._resumed and fresh.state == State.APPROVED):
                raise MovedMeanwhile(f"The action is {fresh.state} by now: somebody else has it.")
            fresh = queued.claim(fresh, self._claimant, self._now)
            self._resumed = False
        self._row = fresh

    def _lock_root_file(self, place: Place) -> None:
        """Hold the lock that the kind's own writers take; where the file is missing the verdict says so."""
        if self._store.kind != PHASE_MEMORY:
            return
        try:
            if not self._locks.enter_context(place.root.locked_file(ROOT_FILE, self._wait_s)):
                raise Conflict(f"Store {self._store.slug} is busy: somebody else held {ROOT_FILE} for {self._wait_s:.0f} s.")
        except CannotRead:
            log.info("Store %s has no %s to lock.", self._store.slug, ROOT_FILE)

    def _look(self) -> Result:
        """Judge without claiming or writing anything."""
        with held(self._store, self._wait_s) as place:
            self._found = judge(self._store, place, self._row, self._now, extra=self._extra, dry_run=True)
        return self._result(self._found.verdict)

    def _deny(self) -> Result:
        """Judge an action that waits for its review, and record that it does; one whose approvals came with the call is applied."""
        try:
            return self._done(self._change())
        except _Approved:
            self._row = moving.move(self._row, State.APPROVED, self._now, decided_at=self._now)
            return self.run(dry_run=False)
        except MovedMeanwhile:
            raise
        except (MemoryUIError, OSError) as err:
            log.warning("Action #%s: its verdict cannot be recorded in the store: %s", self._row.pk, err)
            return self._result(self._found.verdict if self._found is not None else Verdict(Status.SKIPPED, "store_busy", str(err), True))

    def _done(self, change: str) -> Result:
        self._row = LifecycleAction.objects.get(pk=self._row.pk)
        return self._result(self._found.verdict if self._found is not None else _SETTLED, change)

    def _note(self, plan: Plan, verdict: Verdict) -> None:
        """Record a verdict that writes nothing to the store, while it is locked; the product's audit tells it once."""
        with transaction.atomic():
            if not action_plans.is_told(self._row, verdict):
                self._audit(plan.event, verdict)
            queued.end(self._row, self._said, self._now, self._actor.label, **self._receipt())

    def _receipt(self) -> dict[str, Any]:
        """Give what the row keeps of an apply that had nothing left to write."""
        if self._said["to"] != State.APPLIED or self._found is None:
            return {}
        told = {name: self._said[name] for name in ("event_ids", "audit_id") if self._said[name]}
        return {"receipt": {"outcome": "applied", "files": [], "at": self._now.isoformat(), "as_approved": self._found.as_approved, **told}}

    def _stopped(self, verdict: Verdict, to: State, wait: timedelta | None = None) -> Result:
        """Bring a claimed action where an error leads, the store being as it was, or the rest following by itself."""
        row = LifecycleAction.objects.get(pk=self._row.pk)
        if row.state != State.APPLYING or row.revision != self._row.revision:
            self._row = row
            return self._result(verdict)
        said = action_plans.said_of(row, verdict, to)
        with transaction.atomic():
            if not action_plans.is_told(row, verdict):
                self._audit(action_plans.event_of(verdict, str(to)), verdict)
            queued.end(row, said, self._now, self._actor.label)
            if wait is not None:
                moving.change(row, lease_until=self._now + wait)
        self._row = row
        return self._result(verdict)

    def _put_back(self, code: str, message: str) -> Result:
        """Let it wait for what time cures; one that was interrupted stays as it is until somebody could look at the store."""
        unseen = self._resumed and not self._reached
        to, wait = (State.APPLYING, _UNFINISHED_WAIT) if unseen else (State.APPROVED, None)
        return self._stopped(Verdict(Status.SKIPPED, code, message, True), to, wait)

    def _failed(self, err: Exception) -> Result:
        if not self._reached:
            return self._put_back("store_blocked", str(err))
        message = f"{err} The store is as it was; when that is mended, let the action be applied again."
        return self._stopped(Verdict(Status.FAILED, "io_error", message, True), State.FAILED)

    def _audit(self, event: audit.Event, verdict: Verdict) -> None:
        audit.record(
            event,
            actor=None,
            actor_label=self._actor.label,
            object_label=f"#{self._row.pk} {self._row.verb}",
            store=self._store,
            through=self._actor.through,
            detail=action_plans.detail_of(self._row, verdict),
        )

    def _result(self, verdict: Verdict, change: str = "") -> Result:
        found, said = self._found, self._said
        approvals = found.approvals if found is not None else ()
        return Result(
            self._row,
            verdict,
            found.case.effect.targets if found is not None and found.case is not None else (),
            tuple(said.get("event_ids", ())),
            said.get("audit_id", ""),
            approvals[-1].marker if approvals else "",
            approvals[-1].review_id if approvals else "",
            change,
        )


class _Settled(Exception):
    """The apply that was interrupted has been completed while the lock was taken."""

    def __init__(self, row: LifecycleAction) -> None:
        super().__init__()
        self.row = row


class _Approved(Exception):
    """What waited for a review has all approvals that it needs."""


def expire(row: LifecycleAction, actor: Actor, now: datetime) -> bool:
    """End an approved action all of whose approvals have run out; False where one is still in force, or none is needed."""
    if row.state != State.APPROVED or not row.requires_review:
        return False
    ends = Review.objects.filter(action=row, decision="approved", withdrawn_at__isnull=True).values_list("expires_at", flat=True)
    known = [one for one in ends if one is not None]
    if not known or max(known) > now:
        return False
    message = "Every approval of it has run out: it can be renewed."
    with transaction.atomic():
        moving.move(row, State.EXPIRED, now, **queued.verdict_fields("denied", "review_required", message))
        audit.record(
            "action_expired",
            actor=None,
            actor_label=actor.label,
            object_label=f"#{row.pk} {row.verb}",
            store=row.store,
            through=actor.through,
            detail={"action": row.pk, "action_id": row.action_id},
        )
    return True
