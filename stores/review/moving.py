"""The one place in which an action changes its state: exactly one row, and only from where it was seen (DESIGN §7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.db.models import F

from stores.errors import Conflict
from stores.lifecycle.states import FINAL, State, may_move
from stores.models import LifecycleAction

_BATCH: Final = 500


class MovedMeanwhile(Conflict):
    """Somebody else decided or applied the action first."""

    title = "Somebody was quicker"


def move(action: LifecycleAction, to: State, now: datetime, **fields: Any) -> LifecycleAction:
    """Bring an action into a state, with what else becomes known of it; raises MovedMeanwhile, and nothing is changed then."""
    was = State(action.state)
    if not may_move(was, to):
        raise MovedMeanwhile(f"The action is {was}: it cannot become {to} any more.")
    closed = {"closed_at": now} if to in FINAL else {}
    change(action, state=str(to), **closed, **fields)
    return action


def change(action: LifecycleAction, **fields: Any) -> LifecycleAction:
    """Note something of an action that is still as it was seen; raises MovedMeanwhile."""
    revision = action.revision + 1
    seen = LifecycleAction.objects.filter(pk=action.pk, state=action.state, revision=action.revision)
    if seen.update(revision=revision, **fields) != 1:
        raise MovedMeanwhile("The action was decided or applied by somebody else meanwhile: look at it again.")
    action.revision = revision
    for name, value in fields.items():
        setattr(action, name, value)
    return action


def move_all(actions: Sequence[LifecycleAction], to: State, now: datetime, **fields: Any) -> None:
    """Bring actions that are all in one state, read and locked in this transaction, into another; raises MovedMeanwhile for any that moved."""
    states = {State(one.state) for one in actions}
    if not all(may_move(state, to) for state in states) or len(states) > 1:
        raise MovedMeanwhile("Not all of the actions can be decided any more.")
    closed = {"closed_at": now} if to in FINAL else {}
    change_all(actions, state=str(to), **closed, **fields)


def change_all(actions: Sequence[LifecycleAction], **fields: Any) -> None:
    """Note the same of actions, read and locked in this transaction; raises MovedMeanwhile for any that is not in the state it was seen in."""
    by_state: dict[str, list[int]] = defaultdict(list)
    for one in actions:
        by_state[one.state].append(one.pk)
    for state, keys in by_state.items():
        for start in range(0, len(keys), _BATCH):
            batch = keys[start : start + _BATCH]
            rows = LifecycleAction.objects.filter(pk__in=batch, state=state)
            if rows.update(revision=F("revision") + 1, **fields) != len(batch):
                raise MovedMeanwhile("Some of the actions were decided or applied by somebody else meanwhile: look at them again.")
