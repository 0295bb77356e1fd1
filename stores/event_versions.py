"""Schema versions of events that operators make known, so that events of other writers are interpreted (docs/formats.md)."""

from __future__ import annotations

from django.db import transaction

from stores import audit
from stores.models import EventVersion, User


def add(name: str, note: str, *, by: User) -> bool:
    """Make a version known; False where it is known already. The next look at each store interprets its events."""
    with transaction.atomic():
        version, is_new = EventVersion.objects.get_or_create(name=name, defaults={"note": note, "added_by": by})
        if is_new:
            audit.record("event_version_added", actor=by, object_label=version.name, through="page", detail={"note": note})
    return is_new


def drop(version: EventVersion, *, by: User) -> None:
    """Let a version be unknown again: its events then count no longer."""
    with transaction.atomic():
        audit.record("event_version_dropped", actor=by, object_label=version.name, through="page", detail={"note": version.note})
        version.delete()
