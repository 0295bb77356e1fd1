"""Which shape of the sprite stands for which word of state (visual-design §5)."""

from __future__ import annotations

SHAPES = {
    "healthy": "healthy",
    "ok": "healthy",
    "active": "healthy",
    "note": "note",
    "info": "note",
    "late": "late",
    "overdue": "late",
    "contested": "late",
    "degraded": "degraded",
    "warning": "degraded",
    "failing": "failing",
    "error": "failing",
    "unavailable": "unavailable",
    "unmeasured": "unmeasured",
    "silent": "unmeasured",
    "muted": "muted",
    "reverted": "muted",
    "superseded": "superseded",
    "pending": "pending",
    "ready": "ready",
    "approved": "approved",
    "applying": "applying",
    "applied": "applied",
    "failed": "failed",
    "rejected": "rejected",
    "withdrawn": "withdrawn",
    "stale": "stale",
    "conflict": "stale",
    "expired": "expired",
    "held": "held",
    "filtered": "filtered",
}
"""State -> symbol of static/memoryui/sprite.svg. The state goes into `data-state`, from which the style sheet takes the colour."""

SAME_AS = {
    "alive": "healthy",
    "current": "active",
    "retired": "reverted",
    "waiting": "pending",
    "poison": "failing",
    "dangling end": "late",
    "duplicate": "note",
    "ignored": "muted",
    "open": "note",
    "solved": "ok",
    "readable": "ok",
    "unreadable": "unavailable",
    "missing": "unavailable",
}
"""Words of our records that look like a state above."""

ICONS = frozenset({"brand", "search", "chevron-down", "chevron-right", "close", "sort-down", "sort-up", "menu"})


def state_of(word: str) -> str:
    """Give the state whose shape and colour stand for `word`; an unknown word claims nothing and is `unmeasured`."""
    state = SAME_AS.get(word, word)
    return state if state in SHAPES else "unmeasured"
