"""The worker's part in the review queue: it applies what is due, ends what ran out, and calls stale what no longer fits (rulings 7, 16, 39)."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import InterfaceError, OperationalError
from django.db.models import Exists, OuterRef, Q

from stores.apply import applying
from stores.apply.steps import Actor
from stores.errors import MemoryUIError
from stores.lifecycle.states import State
from stores.models import ImportRun, Installation, LifecycleAction, Review, Store, Worker
from stores.review import moving, policies
from stores.review.moving import MovedMeanwhile
from stores.worker.stale_actions import StaleActions

TURN_S: Final = 1.0
"""Longer than this no turn applies: imports wait for it."""
AT_ONCE: Final = 50
LOCK_WAIT_S: Final = 1.0
POLICIES_EVERY_S: Final = 10.0
EXPIRE_EVERY_S: Final = 60.0
MOST_EXPIRED: Final = 500
_UNREVIEWED: Final = (State.READY, State.APPROVED)
_AGAIN_AFTER_S: Final = 60.0

log = logging.getLogger(__name__)


class Actions:
    """What one worker does about the queued actions of its stores."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._automatic = Q(pk__in=())
        self._policies_due = self._expire_due = 0.0
        self._later: dict[int, float] = {}
        self._stale = StaleActions()

    def take_over(self, now: datetime) -> None:
        """Let actions that this worker was applying when it died be taken up at once; whoever holds the data folder's lock may ask for it."""
        for row in LifecycleAction.objects.filter(state=State.APPLYING, claimed_by=self._claimant, lease_until__gt=now):
            moving.change(row, lease_until=now - timedelta(seconds=1))

    def apply_due(self, stores: Mapping[int, Store]) -> list[int]:
        """Apply due actions for about a second, those of one store after another; give the stores that were written to.

        One query where nothing is due.
        """
        self._end_what_ran_out()
        self._look_at_policies(stores)
        until = time.monotonic() + TURN_S
        written: dict[int, None] = {}
        for store_id, pk in self._due(datetime.now(UTC)):
            store = stores.get(store_id)
            if store is None or self._later.get(pk, 0.0) > time.monotonic():
                continue
            if self._applied(store, pk):
                written[store_id] = None
            if time.monotonic() >= until:
                break
        return list(written)

    def _due(self, now: datetime) -> list[tuple[int, int]]:
        free = Q(lease_until__isnull=True) | Q(lease_until__lte=now)
        # One that needs no review and was put back is approved by nobody: it goes on only while an operator or the policy lets it.
        waits = Q(state=State.APPROVED, requires_review=True) | Q(state__in=_UNREVIEWED, apply_asked_at__isnull=False) | self._automatic
        mine = LifecycleAction.objects.filter(Exists(Installation.objects.filter(applying=True)), store__worker=self._worker)
        due = mine.filter((waits & free) | Q(state=State.APPLYING, lease_until__lte=now)).order_by("store_id", "due_at", "pk")
        return [(store_id or 0, pk) for store_id, pk in due.values_list("store_id", "pk")[:AT_ONCE]]

    def _applied(self, store: Store, pk: int) -> bool:
        """Apply one action; say whether anything was written to its store. What goes wrong with one keeps no other from being applied."""
        try:
            result = applying.apply_action(store, pk, self._actor, datetime.now(UTC), claimant=self._claimant, wait_s=LOCK_WAIT_S)
        except (OperationalError, InterfaceError):
            raise
        except MovedMeanwhile:
            return False
        except Exception as err:
            self._later[pk] = time.monotonic() + _AGAIN_AFTER_S
            if isinstance(err, MemoryUIError):
                log.warning("Action #%s of %s cannot be applied: %s", pk, store.slug, err)
            else:
                log.exception("Action #%s of %s cannot be applied.", pk, store.slug)
            return False
        log.info("Action #%s of %s: %s.", pk, store.slug, result.verdict.reason_code or result.verdict.status)
        return bool(result.change)

    def _look_at_policies(self, stores: Mapping[int, Store]) -> None:
        """See which verbs a policy lets be applied without an operator (ruling 16)."""
        if time.monotonic() < self._policies_due:
            return
        self._policies_due = time.monotonic() + POLICIES_EVERY_S
        self._automatic = Q(pk__in=())
        for store_id, policy in policies.policies_for(stores.values()).items():
            verbs = [verb for verb in policy.auto_apply if isinstance(verb, str)]
            if verbs:
                self._automatic |= Q(state__in=_UNREVIEWED, requires_review=False, store=store_id, verb__in=verbs)

    def _end_what_ran_out(self) -> None:
        """Let approved actions expire whose approvals have all run out, whether or not anything is applied at the moment."""
        if time.monotonic() < self._expire_due:
            return
        self._expire_due = time.monotonic() + EXPIRE_EVERY_S
        now = datetime.now(UTC)
        approvals = Review.objects.filter(action=OuterRef("pk"), decision="approved", withdrawn_at__isnull=True)
        mine = LifecycleAction.objects.filter(store__worker=self._worker, state=State.APPROVED, requires_review=True)
        over = mine.filter(Exists(approvals), ~Exists(approvals.filter(expires_at__gt=now)))
        for row in over.select_related("store").order_by("pk")[:MOST_EXPIRED]:
            try:
                applying.expire(row, self._actor, now)
            except MovedMeanwhile:
                continue

    @property
    def _actor(self) -> Actor:
        return Actor(f"worker {self._worker.label}", "worker")

    @property
    def _claimant(self) -> str:
        return str(self._worker.uid)

    def note_changes(self, store: Store, run: ImportRun) -> int:
        """Call stale what waits for a review or an apply and is about a file that an import found changed; give their number."""
        return self._stale.note(store, run, self._actor)
