"""Ends what is open when its store goes: nothing of it can be decided or applied any more."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from django.db import transaction

from stores import audit
from stores.lifecycle.states import State
from stores.models import LifecycleAction, Store, User
from stores.review import moving

_ENDS: Final[Mapping[State, State]] = {
    State.PENDING: State.WITHDRAWN,
    State.READY: State.WITHDRAWN,
    State.APPROVED: State.WITHDRAWN,
    State.FAILED: State.WITHDRAWN,
    State.APPLYING: State.STALE,
}


def end_actions_of(store: Store, now: datetime, *, actor: User | None, actor_label: str = "", through: audit.Through) -> int:
    """End the open actions of a store that is removed, and give their number; what was decided on them stays."""
    ended = 0
    with transaction.atomic():
        for state, to in _ENDS.items():
            rows = list(LifecycleAction.objects.select_for_update().filter(store=store, state=state).only("state"))
            if rows:
                moving.move_all(rows, to, now, message="Its store was removed.")
            ended += len(rows)
        if ended:
            audit.record(
                "action_withdrawn",
                actor=actor,
                actor_label=actor_label,
                object_label=store.slug,
                store=store,
                through=through,
                detail={"number": ended, "reason": "store removed"},
            )
    return ended
