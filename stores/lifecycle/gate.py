"""The gate: whether an action may be applied, in the one order of questions that docs/review.md gives.

The answer never rests on what a store says of approvals, and everything that is odd leads to a review or a refusal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from stores.formats.phase_memory.layout import AUDIT, EVENTS
from stores.formats.phase_memory.values import mapping
from stores.formats.phase_memory.vocabulary import DURABLE, PHASES
from stores.lifecycle import actions
from stores.lifecycle.actions import Action, ActionRefused
from stores.lifecycle.approvals import Approvals, Policy, count
from stores.lifecycle.phase_memory.taking_in import brings_durable
from stores.lifecycle.targets import StoreFault, TargetNow
from stores.lifecycle.vocabulary import MENDS, PHASE_MEMORY, Review, Tier, verb_named

LOGS: Final = frozenset({EVENTS, AUDIT})
_LOG_ENDING: Final = ".jsonl"


class Status(StrEnum):
    """What becomes of an action."""

    APPLIED = "applied"
    DENIED = "denied"
    SKIPPED = "skipped"
    FAILED = "failed"


class Verdict(NamedTuple):
    """The gate's answer on one action."""

    status: Status
    reason_code: str | None
    message: str
    requires_review: bool
    would_status: Status | None = None
    """Of a dry run: what would happen otherwise."""


def verdict(
    action: object,
    targets: Mapping[str, TargetNow],
    approvals: Approvals,
    policy: Policy | None,
    clock: datetime,
    store_faults: Iterable[StoreFault],
    *,
    kind: str = PHASE_MEMORY,
    dry_run: bool = False,
) -> Verdict:
    """Judge an action's record, given its targets by id as they are now; nothing is raised.

    APPLIED means that it may be: the file system has the last word.
    """
    try:
        read = actions.read(kind, action)
    except ActionRefused as refused:
        return _refused(kind, action, refused)
    if read.record.get("action_id") != read.id:
        return _skipped("action_id_mismatch", "Its content is not the one that its id was made from.")
    standing = standing_of(read, targets)
    if standing is not None:
        return standing
    needed = needs_review(read, targets, policy)
    if needed:
        denial = _denial(read, approvals, policy, clock)
        if denial is not None:
            return denial
    if policy is None or read.verb.name in policy.denied_verbs:
        return Verdict(Status.DENIED, "policy_denied", "The store's policy does not allow it.", needed)
    if is_done(read, targets):
        return _skipped("already_applied", "Its targets are already as it wants them.", needed)
    blocking = _blocking(read, targets, store_faults)
    if blocking is not None:
        return _skipped("store_blocked", f"{blocking.file or 'The store'} has a fault that must be mended first: {blocking.code}.", needed)
    if dry_run:
        return Verdict(Status.SKIPPED, "dry_run", "Nothing was written.", needed, Status.APPLIED)
    return Verdict(Status.APPLIED, None, "", needed)


def standing_of(action: Action, targets: Mapping[str, TargetNow]) -> Verdict | None:
    """Say why an action is not about what is there now; None where it is."""
    found = [targets.get(one) for one in action.target_ids]
    if action.verb.makes_target:
        if all(one is None for one in found):
            return None
        done = all(one is not None and one.after_digest and one.digest == one.after_digest for one in found)
        return _already() if done else _skipped("stale_source", "What it would make is there already.")
    there = _found(action, targets)
    if len(there) < len(found):
        return _skipped("target_missing", f"{len(found) - len(there):,} of its targets are not there.")
    if all(targets[one].digest == action.source_digests.get(one) for one in action.target_ids):
        return None
    if all(one.after_digest and one.digest == one.after_digest for one in there):
        return _already()
    return _skipped("stale_source", "A target has changed since the action was made.")


def needs_review(action: Action, targets: Mapping[str, TargetNow], policy: Policy | None) -> bool:
    """Say whether a person has to decide: because the record asks for it, the verb, a target, the phase it leads to, or the policy."""
    verb = action.verb
    return (
        action.asks_for_review
        or verb.review is Review.ALWAYS
        or (policy is not None and verb.name in policy.review_verbs)
        or any(one.durable for one in _found(action, targets))
        or (verb.name == "transition_phase" and (action.to_phase in DURABLE or not _is_one_step(action, targets)))
    )


def tier_of(action: Action, targets: Mapping[str, TargetNow]) -> Tier:
    """Say how much is at stake: the verb's own tier, more into a durable phase, most of all on what is rigid or comes in durable."""
    mine = _found(action, targets)
    if brings_durable(action) or any(one.record_type == "node" and one.phase not in PHASES[:3] for one in mine):
        return Tier.HIGH
    if action.verb.tier is Tier.LOW and (action.to_phase in DURABLE or any(one.durable for one in mine)):
        return Tier.MEDIUM
    return action.verb.tier


def _found(action: Action, targets: Mapping[str, TargetNow]) -> list[TargetNow]:
    return [targets[one] for one in action.target_ids if one in targets]


def _is_one_step(action: Action, targets: Mapping[str, TargetNow]) -> bool:
    phases = [one.phase for one in _found(action, targets)]
    to = PHASES.index(action.to_phase)
    return all(isinstance(phase, str) and phase in PHASES and abs(PHASES.index(phase) - to) <= 1 for phase in phases)


def _denial(action: Action, approvals: Approvals, policy: Policy | None, now: datetime) -> Verdict | None:
    counted = count(action.id, approvals, policy, now)
    needed = policy.approvals_for(action.verb.name) if policy is not None else 1
    if counted.rejected:
        return Verdict(Status.DENIED, "review_rejected", "A reviewer has rejected it.", True)
    if counted.signed < needed:
        missing = "It waits for a review." if not counted.signed else f"{counted.signed} of {needed} people have approved it."
        return Verdict(Status.DENIED, "review_required", missing, True)
    if counted.in_force < needed:
        return Verdict(Status.DENIED, "policy_denied", "Who approved it may not review any more.", True)
    return None


def is_done(action: Action, targets: Mapping[str, TargetNow]) -> bool:
    """Say whether targets are already as an action wants them."""
    mine = _found(action, targets)
    if not mine or action.kind != PHASE_MEMORY:
        return False
    if action.verb.name == "transition_phase":
        return all(one.phase == action.to_phase for one in mine)
    if not action.verb.to_state:
        return False
    if action.verb.name == "refresh":
        digest = action.parameters["source_digest"]
        mine = [one for one in mine if mapping(one.record.get("freshness")).get("source_digest") == digest]
        return bool(mine) and all(one.state == "active" for one in mine)
    if action.verb.name == "merge":
        mine = [one for one in mine if one.id != action.parameters["into"]]
    return all(one.state == action.verb.to_state for one in mine)


def _blocking(action: Action, targets: Mapping[str, TargetNow], faults: Iterable[StoreFault]) -> StoreFault | None:
    """Give the fault that must be mended first: on a file that is touched, in a log only at its end; not the one that the action mends."""
    files = {one.file for one in _found(action, targets)} | (LOGS if action.verb.event_kind else frozenset())
    mended = MENDS.get(action.verb.name, frozenset())
    for fault in faults:
        in_the_way = fault.is_error and fault.file in files and fault.code not in mended
        if fault.blocks or (in_the_way and (fault.at_end or not fault.file.endswith(_LOG_ENDING))):
            return fault
    return None


def _refused(kind: str, action: object, refused: ActionRefused) -> Verdict:
    """Tell an altered record from one that never was an action, where its id can tell."""
    if not isinstance(action, Mapping) or verb_named(kind, action.get("action")) is None:
        return _skipped("unsupported_action", str(refused))
    try:
        fits = isinstance(action.get("action_id"), str) and action["action_id"] == actions.action_id(action)
    except ValueError:
        fits = False
    return _skipped("unsupported_action" if fits else "action_id_mismatch", str(refused))


def _already() -> Verdict:
    return _skipped("already_applied", "Its targets are already as it makes them.")


def _skipped(code: str, message: str, requires_review: bool = True) -> Verdict:
    return Verdict(Status.SKIPPED, code, message, requires_review)
