"""That a reviewer has seen a fault and lets it be; the fault stays listed, marked."""

from __future__ import annotations

from django.db import transaction

from stores import audit
from stores.models import Fault, FaultAcknowledgement, User


def acknowledge(fault: Fault, *, by: User, note: str = "") -> FaultAcknowledgement:
    """Acknowledge a fault, by its identity and not its row, so that it outlives imports. A second time changes nothing."""
    with transaction.atomic():
        kept, made = FaultAcknowledgement.objects.get_or_create(
            store=fault.store, path=fault.path, code=fault.code, key=fault.key, defaults={"by": by, "note": note}
        )
        if made:
            _note(fault, by, {"note": note})
    return kept


def take_back(fault: Fault, *, by: User) -> bool:
    """Take an acknowledgement back; False where there was none."""
    with transaction.atomic():
        same = FaultAcknowledgement.objects.filter(store=fault.store, path=fault.path, code=fault.code, key=fault.key)
        taken = same.delete()[0] > 0
        if taken:
            _note(fault, by, {"taken_back": True})
    return taken


def _note(fault: Fault, by: User, detail: dict[str, object]) -> None:
    place = f", line {fault.line}" if fault.line is not None else ""
    audit.record(
        "fault_acknowledged",
        actor=by,
        object_label=f"{fault.code} in {fault.path}{place}",
        store=fault.store,
        through="page",
        detail={"code": fault.code, "path": fault.path, "key": fault.key, **detail},
    )
