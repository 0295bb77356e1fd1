"""Judges queued actions: the gate, told of the store and of every decision whose signature holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.db.models import Q
from django.db.models.functions import Lower

from stores.accounts import roles, visible_stores
from stores.lifecycle import gate
from stores.lifecycle.approvals import Approval, Approvals
from stores.lifecycle.changes import Append, AppendLines, Change, EditLog, EndLine, Move, Standing
from stores.lifecycle.effects import Effect, said
from stores.lifecycle.gate import Status, Verdict
from stores.lifecycle.phase_memory.taking_in import awaited
from stores.models import LifecycleAction, Review, ReviewPolicy, Store, User
from stores.review import markers, policies
from stores.review.installation import installation
from stores.review.sources import Source

Keys = Mapping[str, Ed25519PublicKey]
StandingOf = Callable[[Change], Standing]


def judge(
    action: LifecycleAction,
    effect: Effect,
    source: Source,
    approvals: Approvals,
    policy: ReviewPolicy,
    now: datetime,
    *,
    standing_of: StandingOf,
    dry_run: bool = False,
) -> Verdict:
    """Judge one action as the store is now: the gate first, then every byte that it would replace (rulings 2 and 6)."""
    after = {one.id: one.after_digest or "" for one in effect.targets}
    record: dict[str, Any] = json.loads(action.record)
    there = {one: source.target(action.target_type, one) for one in record["target_ids"]}
    targets = {one: now_._replace(after_digest=after.get(one, "")) for one, now_ in there.items() if now_ is not None}
    for name, one in targets.items():
        if one.record_type == "file" and _log_stands(one.file, effect, standing_of):
            # What a log holds beside what is changed is no part of an approval (ruling 2).
            targets[name] = one._replace(digest=str(record["source_digests"].get(name)))
    paths = {one.file for one in targets.values()} | {change.path for change in effect.changes}
    verdict = gate.verdict(
        record, targets, approvals, policies.gate_policy(policy), now, source.faults(paths), kind=action.kind, dry_run=dry_run
    )
    if verdict.status is not Status.APPLIED and verdict.reason_code != "dry_run":
        return verdict
    lacking = next(
        (name for record_type, name in awaited(action.verb, record["parameters"]) if source.target(record_type, name) is None), None
    )
    if lacking is not None:
        message = f"It waits for {said(lacking)}, which is not there yet."
        return Verdict(Status.SKIPPED, "store_blocked", message, verdict.requires_review)
    standings = [standing_of(change) for change in effect.changes]
    if Standing.OTHER in standings or (Standing.AFTER in standings and Standing.BEFORE in standings):
        message = "A file that it would write has changed since the action was made."
        return Verdict(Status.SKIPPED, "stale_source", message, verdict.requires_review)
    return verdict


def _log_stands(path: str, effect: Effect, standing_of: StandingOf) -> bool:
    """Say whether all that is done to a file is done to a log, and finds there what it was made from; what is only read may have grown."""
    mine = [change for change in effect.changes if change.path == path]
    logs = all(isinstance(change, Append | AppendLines | EndLine | Move | EditLog) for change in mine)
    return logs and all(standing_of(change) is Standing.BEFORE for change in mine)


def approvals_of(
    action: LifecycleAction, reviews: Iterable[Review], keys: Keys, policy: ReviewPolicy, store: Store, *, digest: str
) -> Approvals:
    """Give the decisions that stand on an action, each checked: signature, store, action, person and the right to review now."""
    issuer = str(installation().uid)
    given: list[Approval] = []
    excused: set[str] = set()
    for review in reviews:
        if review.withdrawn_at is not None:
            continue
        if review.decision == "rejected":
            given.append(Approval(action.action_id, review.digest, str(review.reviewer_id), "rejected", review_id=review.review_id))
            continue
        try:
            said = markers.read(review.marker, keys)
        except markers.MarkerRefused:
            continue
        if (said.iss, said.aud, said.jti, said.sub) != (issuer, str(action.store_uid), review.review_id, str(review.reviewer_id)):
            continue
        reviewer = review.reviewer
        may = reviewer is not None and may_review(reviewer, store, policy)
        if said.sep == "broken" and reviewer is not None and reviewer.is_superuser:
            excused.add(said.sub)
        given.append(Approval(said.action_id, said.digest, said.sub, "approved", said.exp, may, review.review_id))
    return Approvals(digest, tuple(given), frozenset(barred_ids(action) - excused))


def may_review(user: User, store: Store, policy: ReviewPolicy) -> bool:
    """Say whether an account may decide on actions of a store at this moment."""
    return "reviewer" in roles(user) and visible_stores(user).filter(pk=store.pk).exists() and policies.may_decide(policy, user)


def barred_ids(action: LifecycleAction) -> set[str]:
    """Give the ids of the accounts that four eyes keep from approving: proposers, editors, and whoever is named so (ruling 65)."""
    named = [one.strip().casefold() for one in (action.proposed_by, action.also_proposed_by) if one.strip()]
    ids = {str(one) for one in action.barred}
    if action.proposer_id is not None:
        ids.add(str(action.proposer_id))
    return ids | {str(pk) for pk in accounts_named(named)}


def accounts_named(names: Collection[str]) -> list[int]:
    """Give the accounts whose name or mail address is one of these, without regard to case; one query."""
    if not names:
        return []
    folded = User.objects.annotate(name_folded=Lower("username"), mail_folded=Lower("email"))
    return list(folded.filter(Q(name_folded__in=names) | Q(mail_folded__in=names)).values_list("pk", flat=True))
