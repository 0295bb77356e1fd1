"""What this installation is called in its markers, and the switch that stops all applying."""

from __future__ import annotations

import uuid
from datetime import datetime

from django.db import transaction

from stores import audit
from stores.models import Installation, User

_ONLY = 1


def installation() -> Installation:
    """Give the one row; made at first use. One query when it is there."""
    found = Installation.objects.filter(pk=_ONLY).first()
    if found is None:
        Installation.objects.bulk_create([Installation(pk=_ONLY, uid=uuid.uuid4())], ignore_conflicts=True)
        found = Installation.objects.get(pk=_ONLY)
    return found


def is_applying() -> bool:
    """Say whether anything may be applied: not before somebody allowed it."""
    return Installation.objects.filter(pk=_ONLY, applying=True).exists()


def set_applying(on: bool, actor: User, now: datetime, *, reason: str = "", through: audit.Through) -> bool:
    """Turn the switch; who may is asked by the caller. False when it stood so already."""
    installation()
    with transaction.atomic():
        turned = Installation.objects.filter(pk=_ONLY, applying=not on).update(
            applying=on, switched_at=now, switched_by=actor.label[:220], reason=reason
        )
        if turned:
            audit.record(
                "applying_on" if on else "applying_off", actor=actor, object_label="applying", through=through, detail={"reason": reason}
            )
    return bool(turned)
