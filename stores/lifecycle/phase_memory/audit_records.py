"""The line that a decision on an action leaves in a store's own audit log (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from stores.formats.canonical import digest
from stores.formats.phase_memory.aliases import Record
from stores.formats.phase_memory.vocabulary import AUDIT_VERSION
from stores.lifecycle.actions import Action
from stores.lifecycle.effects import TargetEffect
from stores.lifecycle.gate import Verdict

OPERATION: Final = "lifecycle.apply"


@dataclass(frozen=True, slots=True)
class Occasion:
    """When, by whom and after which line of the log a verdict is recorded."""

    timestamp: str
    actor: str
    """An opaque account id, never a name: stores are committed."""
    previous: Mapping[str, object] | None = None
    """The last record of the log that can be read; None for an empty log."""
    profile_id: str = ""
    graph_id: str = ""
    markers: Sequence[str] = ()
    """Signed approvals; the last one decided."""
    review_id: str = ""
    """`memoryui:` and the number of the review."""


def record_of(
    action: Action, verdict: Verdict, occasion: Occasion, targets: Sequence[TargetEffect] = (), event_ids: Sequence[str] = ()
) -> Record:
    """Give the audit record of a verdict; the same occasion gives the same record.

    Targets and events are named only where something was written.
    """
    previous = occasion.previous
    before = previous.get("sequence") if previous is not None else 0
    number = before + 1 if isinstance(before, int) and not isinstance(before, bool) else None
    name = sha256(f"{action.id} {occasion.timestamp} {verdict.status} {number}".encode()).hexdigest()[:16]
    applied = verdict.status == "applied"
    record: Record = {
        "schema_version": AUDIT_VERSION,
        "audit_id": f"audit.memoryui-{name}",
        "operation_id": f"op.memoryui-{name}",
        "operation": OPERATION,
        "timestamp": occasion.timestamp,
        "subject_id": action.id,
        "actor": occasion.actor,
        "dry_run": verdict.reason_code == "dry_run",
        "decision": str(verdict.status),
        "policy_decision": {"allowed": verdict.status != "denied", "reason": verdict.message or "applied", "obligations": []},
        "requires_review": verdict.requires_review,
        "reason": action.reason,
        "targets": [_target(one) for one in targets]
        if applied
        else [{"record_type": action.target_type, "id": one} for one in action.target_ids],
        **({"sequence": number, "previous_digest": digest(previous) if previous is not None else None} if number is not None else {}),
    }
    more: Record = {
        "profile_id": occasion.profile_id,
        "graph_id": occasion.graph_id,
        "reason_code": verdict.reason_code,
        "review_id": occasion.review_id,
        "approval_marker": occasion.markers[-1] if occasion.markers else "",
        "approvals": list(occasion.markers),
        "event_ids": list(event_ids) if applied else [],
    }
    return {**record, **{key: value for key, value in more.items() if value}}


def _target(effect: TargetEffect) -> Record:
    return {
        "record_type": effect.record_type,
        "id": effect.id,
        "before_digest": effect.before_digest,
        "after_digest": effect.after_digest,
    }
