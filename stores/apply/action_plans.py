"""What a verdict on a queued action becomes: the change that carries it out, or the record that it was not (rulings 3, 7, 25)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from stores import audit
from stores.apply.action_targets import check_files, targets_of
from stores.apply.judging import Case, Judgement
from stores.apply.log_traces import last_audit
from stores.apply.place import Place
from stores.apply.queue_drains import queue_move, replayed_graph, require_the_agents_graph
from stores.apply.reading import size_of
from stores.apply.steps import Plan
from stores.apply.targets import Append, Target
from stores.formats.canonical import log_line
from stores.formats.phase_memory.aliases import Record
from stores.formats.phase_memory.layout import AUDIT
from stores.formats.phase_memory.values import mapping
from stores.lifecycle.gate import Status, Verdict
from stores.lifecycle.phase_memory.audit_records import Occasion, record_of
from stores.lifecycle.states import State, state_after
from stores.lifecycle.vocabulary import PHASE_MEMORY
from stores.models import LifecycleAction, Store

ACTOR: Final = "memoryui"
SAMPLE_OF: Final = 10
"""Of actions that nobody let be applied, one in so many is shown for later checking."""


def plan_of(store: Store, found: Judgement, row: LifecycleAction, place: Place, now: datetime) -> Plan:
    """Give the change that a judgement leads to, nothing in the store where only the row changes. Raises CannotWrite, StoreUnreadable."""
    case = found.case
    if case is not None and found.verdict.status is Status.APPLIED:
        return _apply(store, found, case, row, place, now)
    lines: list[Target] = []
    audit_id = ""
    if found.may_audit and case is not None and row.kind == PHASE_MEMORY and not is_told(row, found.verdict):
        record = _audit_record(found, case, row, place, now, ())
        audit_id = str(record["audit_id"])
        lines = [Append(AUDIT, log_line(record), size_of(place.root, AUDIT))]
    said = said_of(row, found.verdict, state_of(row, found.verdict), audit_id=audit_id)
    return Plan(event_of(found.verdict, said["to"]), tuple(lines), detail_of(row, found.verdict), action=said)


def is_told(row: LifecycleAction, verdict: Verdict) -> bool:
    """Say that this verdict is the one that was recorded of the action last: it is told once."""
    return (row.status, row.reason_code, row.message) == (verdict.status, verdict.reason_code or "", verdict.message)


def state_of(row: LifecycleAction, verdict: Verdict) -> State:
    """Give the state that a verdict leads to."""
    if verdict.status is Status.FAILED and State(row.state) is State.APPLYING:
        return State.FAILED
    return state_after(State(row.state), verdict.status, verdict.reason_code)


def event_of(verdict: Verdict, to: str) -> audit.Event:
    """Give what the product's audit calls a verdict."""
    by_state: dict[str, audit.Event] = {State.APPLIED: "action_applied", State.STALE: "action_stale", State.FAILED: "action_failed"}
    return by_state.get(to) or ("action_denied" if verdict.status is Status.DENIED else "action_put_back")


def detail_of(row: LifecycleAction, verdict: Verdict, **more: object) -> dict[str, Any]:
    """Give what the product's audit says of a verdict; never memory text."""
    said = {"action": row.pk, "action_id": row.action_id, "verb": row.verb, "digest": row.digest, "reason_code": verdict.reason_code}
    return {name: value for name, value in {**said, **more}.items() if value not in (None, "", [])}


def said_of(
    row: LifecycleAction,
    verdict: Verdict,
    to: State,
    *,
    audit_id: str = "",
    event_ids: Sequence[str] = (),
    reviews: Sequence[str] = (),
) -> dict[str, Any]:
    """Give what becomes of the row, as the journal keeps it."""
    return {
        "pk": row.pk,
        "label": f"#{row.pk} {row.verb}",
        "to": str(to),
        "status": str(verdict.status),
        "reason_code": verdict.reason_code or "",
        "message": verdict.message,
        "audit_id": audit_id,
        "event_ids": list(event_ids),
        "reviews": list(reviews),
        "is_sample": _is_sample(row) and to is State.APPLIED,
    }


def _apply(store: Store, found: Judgement, case: Case, row: LifecycleAction, place: Place, now: datetime) -> Plan:
    effect = case.effect
    targets = targets_of(effect, case.source, place.root, now, files_done=found.files_done)
    event_ids = [str(effect.event["id"])] if effect.event is not None else []
    audit_id = ""
    if found.audit_id:
        targets, audit_id = (), found.audit_id
    elif row.kind == PHASE_MEMORY:
        record = _audit_record(found, case, row, place, now, event_ids)
        audit_id = str(record["audit_id"])
        targets = (*targets, Append(AUDIT, log_line(record), size_of(place.root, AUDIT)))
    reviews = [one.review_id.removeprefix("memoryui:") for one in found.approvals]
    queued_lines = queue_move(row, effect)
    if queued_lines is not None:
        queued_lines.require_the_agents_graph(store, place)
    replayed = replayed_graph(row, effect)
    if replayed:
        require_the_agents_graph(store, place, replayed)

    def verify(at: Place) -> None:
        check_files(at, targets)
        if queued_lines is not None:
            queued_lines.check(at)

    said = said_of(row, found.verdict, State.APPLIED, audit_id=audit_id, event_ids=event_ids, reviews=reviews)
    detail = detail_of(row, found.verdict, reviews=[one.review_id for one in found.approvals], resumed=found.files_done or None)
    drain = queued_lines.document() if queued_lines is not None else None
    return Plan("action_applied", targets, detail, drain=drain, action=said, verify=verify)


def _audit_record(found: Judgement, case: Case, row: LifecycleAction, place: Place, now: datetime, event_ids: Sequence[str]) -> Record:
    markers = [one.marker for one in found.approvals]
    occasion = Occasion(
        timestamp=f"{now:%Y-%m-%dT%H:%M:%SZ}",
        actor=_actor(found, row),
        previous=last_audit(place.root),
        graph_id=_graph_id(case),
        markers=markers,
        review_id=found.approvals[-1].review_id if found.approvals else "",
    )
    return record_of(case.action, found.verdict, occasion, case.effect.targets, event_ids)


def _actor(found: Judgement, row: LifecycleAction) -> str:
    """Give the id of the account that decided, or let it be applied: stores are committed, so no name (ruling 52)."""
    if found.approvals:
        return found.approvals[-1].reviewer
    return str(row.apply_asked_by_id) if row.apply_asked_by_id is not None else ACTOR


def _graph_id(case: Case) -> str:
    """Give the graph of the targets, "" where they name none or several."""
    there = [case.source.target(case.action.target_type, one) for one in case.action.target_ids]
    named = {mapping(one.record.get("metadata")).get("graph_id") for one in there if one is not None}
    (only,) = named if len(named) == 1 else (None,)
    return only if isinstance(only, str) else ""


def _is_sample(row: LifecycleAction) -> bool:
    alone = not row.requires_review and row.apply_asked_at is None
    return alone and int(sha256(row.action_id.encode()).hexdigest()[:8], 16) % SAMPLE_OF == 0
