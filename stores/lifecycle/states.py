"""The states of a queued action and the only moves between them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class State(StrEnum):
    """Where an action stands."""

    PENDING = "pending"
    """It waits for a review."""
    READY = "ready"
    """It needs none, and waits for an operator."""
    APPROVED = "approved"
    APPLYING = "applying"
    APPLIED = "applied"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    STALE = "stale"
    EXPIRED = "expired"
    FAILED = "failed"


TRANSITIONS: Final[Mapping[State, frozenset[State]]] = {
    State.PENDING: frozenset({State.APPROVED, State.REJECTED, State.WITHDRAWN, State.STALE}),
    State.READY: frozenset({State.APPLYING, State.WITHDRAWN, State.STALE}),
    State.APPROVED: frozenset({State.APPLYING, State.WITHDRAWN, State.STALE, State.EXPIRED}),
    State.APPLYING: frozenset({State.APPLIED, State.FAILED, State.STALE, State.APPROVED}),
    State.FAILED: frozenset({State.APPROVED, State.WITHDRAWN}),
    State.REJECTED: frozenset(),
    State.WITHDRAWN: frozenset(),
    State.STALE: frozenset(),
    State.EXPIRED: frozenset(),
    State.APPLIED: frozenset(),
}
FINAL: Final = frozenset(state for state, after in TRANSITIONS.items() if not after)
OPEN: Final = frozenset(State) - FINAL
"""Of these there is at most one with the same id in a store."""
REJECTED_DAYS: Final = 30
"""So long a rejected action is not queued again."""

_AFTER: Final[Mapping[str, State]] = {
    "already_applied": State.APPLIED,
    "stale_source": State.STALE,
    "target_missing": State.STALE,
    "action_id_mismatch": State.STALE,
    "unsupported_action": State.STALE,
    "review_rejected": State.STALE,
    "policy_denied": State.STALE,
    "io_error": State.FAILED,
}


def may_move(state: State, to: State) -> bool:
    """Say whether an action may go from one state to the other."""
    return to in TRANSITIONS[state]


def state_after(state: State, status: str, reason_code: str | None) -> State:
    """Give the state of an action after a verdict on it; the same one for what time or a review cures.

    An action that was being applied and waits again is approved, as it was.
    """
    wanted = State.APPLIED if status == "applied" else _AFTER.get(reason_code or "", state)
    if wanted is state and state is State.APPLYING:
        wanted = State.APPROVED
    return wanted if wanted is state or may_move(state, wanted) or _by_applying(state, wanted) else state


def _by_applying(state: State, wanted: State) -> bool:
    """Say whether a state is reached by way of applying, which a verdict of an apply passes through."""
    return may_move(state, State.APPLYING) and may_move(State.APPLYING, wanted)
