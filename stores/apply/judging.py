"""Judges a queued action under the store's lock: every signature, right, policy and byte is looked at again (rulings 3, 5, 6, 9, 13)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple

from stores.apply.disk_source import DiskSource
from stores.apply.log_traces import audit_of, has_event
from stores.apply.place import Place
from stores.lifecycle import actions
from stores.lifecycle.actions import Action, ActionRefused
from stores.lifecycle.approvals import fitting
from stores.lifecycle.changes import (
    Append,
    AppendLines,
    Change,
    Create,
    EditLog,
    EndLine,
    MakeFolder,
    Move,
    Replace,
    Standing,
    TakeOut,
    bindings,
)
from stores.lifecycle.digests import approval_digest
from stores.lifecycle.effect_of import effect_of
from stores.lifecycle.effects import Effect, EffectRefused
from stores.lifecycle.gate import Status, Verdict
from stores.lifecycle.packing import Damaged
from stores.models import LifecycleAction, Review, Store
from stores.review import keeping, keys, policies, verdicts
from stores.review.installation import is_applying

_APPENDS: Final = (Append, AppendLines)


class Given(NamedTuple):
    """An approval that counts, as the store's audit names it."""

    reviewer: str
    review_id: str
    marker: str


class Case(NamedTuple):
    """An action whose kept record and bytes hold together, and the disk that it is about."""

    action: Action
    effect: Effect
    source: DiskSource


@dataclass(slots=True)
class Judgement:
    """What was found of an action, and what an apply needs of it."""

    verdict: Verdict
    case: Case | None = None
    """None where what is kept of it does not hold, or where nobody may look at the store."""
    approvals: tuple[Given, ...] = ()
    files_done: bool = False
    """An apply was interrupted behind its event: at most its audit record is missing."""
    audit_id: str = ""
    """Of the audit record that stands already: then nothing is missing but the end of the row."""
    as_approved: bool = False
    """Whether the files are at this moment as the action makes them."""
    may_audit: bool = True
    """Whether the store's own log can take a record of the verdict."""


def judge(
    store: Store,
    place: Place,
    row: LifecycleAction,
    now: datetime,
    *,
    extra: Sequence[Review] = (),
    resumed: bool = False,
    dry_run: bool = False,
) -> Judgement:
    """Judge an action as the disk is now; `resumed` is one whose apply was interrupted, `extra` are approvals that came with the call.

    Raises StoreUnreadable where a file that it is about cannot be read.
    """
    replaced = _replaced(store, place)
    if replaced is not None:
        return Judgement(replaced, may_audit=False)
    try:
        record, effect = keeping.record_of(row), keeping.effect_of(row)
        action = actions.read(row.kind, record)
        digest = approval_digest(record, str(store.uid), effect.changes)
    except (Damaged, ActionRefused, ValueError, TypeError, AttributeError, KeyError, RecursionError) as err:
        return Judgement(_altered(f"What is kept of the action cannot be used: {err}"))
    if digest != row.digest or action.id != row.action_id:
        return Judgement(_altered("What is kept of the action is not what its digest says."))
    if not dry_run and not is_applying():
        return Judgement(switched_off(row), may_audit=False)
    case = Case(action, effect, DiskSource(store, place.root, row))
    begun = _begun(place, row, case, resumed)
    if begun is not None and begun.verdict is not None:
        return Judgement(begun.verdict, case, as_approved=begun.verdict.status is not Status.FAILED)
    found, source, standing_of = Judgement(_already(), case), case.source, case.source.standing
    if begun is not None:
        found.files_done, found.audit_id = begun.files_done, begun.audit_id
        source, standing_of = DiskSource(store, place.root, row, _before(case)), _as_before
    policy = policies.policy_for(store)
    reviews = {one.review_id: one for one in (*extra, *Review.objects.filter(action=row).select_related("reviewer"))}
    approvals = verdicts.approvals_of(row, reviews.values(), keys.trusted_keys(), policy, store, digest=digest)
    found.verdict = verdicts.judge(row, effect, source, approvals, policy, now, standing_of=standing_of, dry_run=dry_run)
    found.may_audit = found.verdict.reason_code not in ("store_blocked", "dry_run")
    if found.verdict.requires_review:
        found.approvals = tuple(
            Given(one.reviewer, one.review_id, reviews[one.review_id].marker)
            for one in fitting(action.id, approvals, policies.gate_policy(policy), now)
        )
    elif found.verdict.status is Status.APPLIED and not _is_of_record(row, action, effect, source):
        found.verdict = _altered("What it would write is not what its record asks for, and nobody has approved it.")
    if found.audit_id and (resumed or found.verdict.status is Status.APPLIED):
        # What stands in the store's logs is no approval: anybody can write it there.
        found.verdict = Verdict(
            Status.APPLIED, None, "It had been applied already: nothing was left to write.", found.verdict.requires_review
        )
    files = [change for change in effect.changes if not isinstance(change, _APPENDS)]
    found.as_approved = all(case.source.standing(change) is Standing.AFTER for change in files)
    return found


class _Begun(NamedTuple):
    """An apply that was interrupted before its end."""

    files_done: bool
    audit_id: str = ""
    verdict: Verdict | None = None
    """Where that settles it."""


def _begun(place: Place, row: LifecycleAction, case: Case, resumed: bool) -> _Begun | None:
    """Look for the traces of an interrupted apply: its event, or files that are as it makes them (rulings 5 and 6)."""
    action, effect, source = case
    standings = {source.standing(change) for change in effect.changes if not isinstance(change, _APPENDS)}
    if Standing.AFTER not in standings and not resumed:
        return None
    event = effect.event
    if event is not None and has_event(place.root, str(event["id"]), action.id):
        if Standing.BEFORE in standings:
            # Files come before their event, so somebody put one back, or the event is not ours.
            message = (
                "Its event stands in the log, but a file is as it was before: nothing was written. Look at both, then renew the action."
            )
            return _Begun(True, verdict=Verdict(Status.FAILED, "io_error", message, True))
        return _Begun(True, audit_of(place.root, action.id, row.created_at))
    if not resumed or Standing.AFTER not in standings:
        return None
    if Standing.OTHER in standings:
        message = "It was interrupted, and somebody has written to one of its files since: every version is kept, nothing was written over."
        return _Begun(False, verdict=Verdict(Status.FAILED, "io_error", message, True))
    if Standing.BEFORE not in standings and any(isinstance(change, EditLog) for change in effect.changes):
        return _Begun(False, verdict=_already())
    return _Begun(False, audit_of(place.root, action.id, row.created_at) if event is None and Standing.BEFORE not in standings else "")


def _before(case: Case) -> dict[str, bytes | None]:
    """Give the bytes that files had before an apply."""
    before: dict[str, bytes | None] = {}
    for change in case.effect.changes:
        if isinstance(change, Create | MakeFolder):
            before[change.path] = None
        elif isinstance(change, Replace | TakeOut | Move):
            before[change.path] = change.before
        elif isinstance(change, AppendLines) and case.action.verb.makes_target:
            lines = (case.source.data(change.path) or b"").split(b"\n")
            before[change.path] = b"\n".join(line for line in lines if line not in set(change.lines))
        elif isinstance(change, EndLine):
            before[change.path] = (case.source.data(change.path) or b"").removesuffix(b"\n")
    return before


def _as_before(change: Change) -> Standing:
    return Standing.BEFORE


def _is_of_record(row: LifecycleAction, action: Action, effect: Effect, source: DiskSource) -> bool:
    """Say that what an unreviewed action writes is what its verb makes of the files: nobody's signature stands for its bytes."""
    try:
        computed = effect_of(action, source.file, f"{row.planned_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}")
    except EffectRefused:
        return False
    return bindings(computed.changes) == bindings(effect.changes)


def _replaced(store: Store, place: Place) -> Verdict | None:
    """Say that the store's folder is not the one that the last import of this boot saw (ruling 9)."""
    seen = Store.objects.filter(pk=store.pk).values("root_device", "root_inode", "imported_at").first()
    if seen is None or seen["imported_at"] is None or seen["imported_at"].timestamp() < _booted_at():
        message = "The store has not been looked at since this machine started: it waits for the next import."
        return Verdict(Status.SKIPPED, "store_unseen", message, True)
    stat = place.root.stat
    if (stat.device, stat.inode) != (seen["root_device"], seen["root_inode"]):
        return Verdict(Status.SKIPPED, "stale_source", "The store was replaced: its folder is another one than at the last import.", True)
    return None


def _booted_at() -> float:
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)


def switched_off(row: LifecycleAction) -> Verdict:
    """Give the verdict while nothing at all is applied."""
    return Verdict(Status.SKIPPED, "switched_off", "Applying is switched off: it waits until somebody turns it on.", row.requires_review)


def _altered(message: str) -> Verdict:
    return Verdict(Status.SKIPPED, "action_id_mismatch", message, True)


def _already() -> Verdict:
    return Verdict(Status.SKIPPED, "already_applied", "Its targets are already as it makes them.", True)
