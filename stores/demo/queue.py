"""The review queue of the demo: what planner and agents propose for its stores, some of it late, some decided by its people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from stores.errors import BadRequest
from stores.lifecycle.states import State
from stores.models import LifecycleAction, Store, User
from stores.review import approving, deciding, discussing
from stores.review.deciding import Manner
from stores.review.installation import set_applying
from stores.review.planning import Asked, plan
from stores.review.submitting import PLANNER, Proposer, submit

AGENT: Final = Proposer("agent.janitor", "agent", "API")
THE_PLANNER: Final = Proposer(PLANNER, PLANNER, "worker")
MOST: Final = 24
"""Proposals of one plan: a queue that a team could still work off."""
_WAITED: Final = (timedelta(days=3, hours=2), timedelta(hours=20), timedelta(minutes=40))
_QUICK: Final = (
    ("approve", "Nobody has read it since the release was cut."),
    ("approve", "The newer decision says the same, and better."),
    ("reject", "Support still answers by it; ask again after the release."),
)


def fill_queue(stores: Sequence[Store], reviewer: User, admin: User, now: datetime) -> int:
    """Propose for the stores what their rules and faults ask for, decide a little of it, and let approved actions be applied.

    Does nothing, and gives 0, where the queue is not empty; else gives how many actions there are.
    """
    if LifecycleAction.objects.exists():
        return 0
    for store in stores:
        for number, repairs in enumerate((False, True)):
            try:
                found = plan(store, Asked(now, repairs=repairs)).actions[:MOST]
            except BadRequest:
                # A kind for which nothing is planned.
                continue
            third = -(-len(found) // len(_WAITED))
            for place, waited in enumerate(_WAITED):
                proposer = THE_PLANNER if (place + number) % 2 == 0 else AGENT
                submit(store, found[place * third : (place + 1) * third], proposer, now - waited)
    _decide(reviewer, now)
    set_applying(True, admin, now, reason="The demo shows what becomes of an approval.", through="terminal")
    return LifecycleAction.objects.count()


def _decide(reviewer: User, now: datetime) -> None:
    """Let the reviewer work for a few minutes: two approvals, a rejection, a comment, and something taken on."""
    waiting = list(LifecycleAction.objects.filter(state=State.PENDING, destructive=False).order_by("rank", "pk")[:6])
    for action, (decision, reason) in zip(waiting, _QUICK, strict=False):
        manner = Manner("page", now - timedelta(minutes=9), reason, took_s=21.0)
        if decision == "approve":
            approving.approve(reviewer, action.pk, action.digest, manner)
        else:
            deciding.reject(reviewer, action.pk, action.digest, manner)
    for action in waiting[len(_QUICK) : len(_QUICK) + 2]:
        discussing.assign(reviewer, action.pk, reviewer, through="page")
    for action in LifecycleAction.objects.filter(state=State.PENDING, destructive=True).order_by("pk")[:1]:
        discussing.comment(reviewer, action.pk, "Who still needs this? I would keep it until the release is out.", through="page")
