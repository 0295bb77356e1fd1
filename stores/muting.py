"""Conditions that do not count for a while: they stay listed, with who muted them, until when and why."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from django.db import transaction

from stores import audit
from stores.models import Condition, User


def mute(condition: Condition, *, until: date, why: str, by: User) -> None:
    """Mute a condition to the end of a day (UTC)."""
    muted_until = datetime.combine(until + timedelta(days=1), time.min, tzinfo=UTC)
    with transaction.atomic():
        Condition.objects.filter(pk=condition.pk).update(muted_until=muted_until, muted_by=by, muted_why=why)
        _note("muted", condition, by, {"until": until.isoformat(), "why": why})


def unmute(condition: Condition, *, by: User) -> bool:
    """Let a condition count again; False where it was not muted."""
    with transaction.atomic():
        muted = Condition.objects.filter(pk=condition.pk, muted_until__isnull=False)
        changed = muted.update(muted_until=None, muted_by=None, muted_why="") == 1
        if changed:
            _note("unmuted", condition, by, {})
    return changed


def _note(event: audit.Event, condition: Condition, by: User, detail: dict[str, object]) -> None:
    audit.record(
        event,
        actor=by,
        object_label=condition.title,
        store=condition.store,
        through="page",
        detail={"code": condition.code, "path": condition.path, **detail},
    )
