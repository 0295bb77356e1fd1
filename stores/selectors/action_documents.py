"""Actions of the review queue as the API and `--json` give them: one shape for both, secrets masked (ruling 20)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final

from typing_extensions import TypedDict  # pydantic takes that of the standard library only from Python 3.12 on

from stores.formats.secrets import mask, mask_nested
from stores.lifecycle.changes import Change, Create, Replace, TakeOut
from stores.lifecycle.differences import difference
from stores.lifecycle.packing import Damaged
from stores.models import LifecycleAction, Review
from stores.review import keeping
from stores.review.submitting import Submitted
from stores.selectors.documents import utc

TARGETS_AT_MOST: Final = 1_000
FILES_AT_MOST: Final = 1_000


class ActionDocument(TypedDict):
    """A queued action, as lists give it."""

    id: int
    action_id: str
    foreign_action_id: str
    store: str
    kind: str
    action: str
    tier: str
    state: str
    requires_review: bool
    destructive: bool
    adds_secret: bool
    sentence: str
    target_type: str
    target_count: int
    first_target: str
    gist: str
    reason: str
    origin: str
    proposed_by: str
    batch_id: str
    digest: str
    revision: int
    created_at: str | None
    due_at: str | None
    decided_at: str | None
    closed_at: str | None
    applied_at: str | None
    status: str
    reason_code: str
    message: str


class LineDocument(TypedDict):
    """One line of a difference: `sign` is "-" for what goes, "+" for what comes, " " for what stays."""

    sign: str
    text: str


class FileDifferenceDocument(TypedDict):
    """What happens to one file."""

    path: str
    what: str
    to: str
    bytes_before: int | None
    bytes_after: int | None
    sha256_before: str | None
    sha256_after: str | None
    lines: list[LineDocument]


class TargetDocument(TypedDict):
    """One record that an action is about."""

    record_type: str
    id: str
    file: str
    before_digest: str
    after_digest: str


class ReviewDocument(TypedDict):
    """One decision of a person. The marker is told once it was used: before that it could be carried elsewhere."""

    review_id: str
    decision: str
    reviewer: str
    reason: str
    digest: str
    policy_version: str
    separation: str
    through: str
    at: str | None
    expires_at: str | None
    withdrawn_at: str | None
    spent_at: str | None
    marker: str


class WholeActionDocument(ActionDocument):
    """A queued action with all that is known of it."""

    record: dict[str, Any]
    targets: list[TargetDocument]
    targets_left_out: int
    effect: list[FileDifferenceDocument]
    effect_left_out: int
    effect_damaged: str
    undo_refused: str
    reviews: list[ReviewDocument]
    renewed_from: int | None
    undo_of: int | None
    receipt: dict[str, Any]


class SubmittedDocument(TypedDict):
    """What became of one proposal, or of one of the actions that it stands for; `position` counts from 0."""

    position: int
    code: str
    message: str
    id: int | None
    action_id: str | None
    action: str | None
    state: str | None


def action_document(action: LifecycleAction) -> ActionDocument:
    """Give an action as lists give it; no query."""
    return {
        "id": action.pk,
        "action_id": action.action_id,
        "foreign_action_id": mask(action.foreign_action_id),
        "store": action.store_slug,
        "kind": action.kind,
        "action": action.verb,
        "tier": action.tier,
        "state": action.state,
        "requires_review": action.needs_review,
        "destructive": action.destructive,
        "adds_secret": action.adds_secret,
        "sentence": mask(action.sentence),
        "target_type": action.target_type,
        "target_count": action.target_count,
        "first_target": mask(action.first_target),
        "gist": mask(action.gist),
        "reason": mask(action.reason),
        "origin": action.origin,
        "proposed_by": mask(action.proposed_by),
        "batch_id": action.batch_id,
        "digest": action.digest,
        "revision": action.revision,
        "created_at": utc(action.created_at),
        "due_at": utc(action.due_at),
        "decided_at": utc(action.decided_at),
        "closed_at": utc(action.closed_at),
        "applied_at": utc(action.applied_at),
        "status": action.status,
        "reason_code": action.reason_code,
        "message": mask(action.message),
    }


def whole_document(action: LifecycleAction) -> WholeActionDocument:
    """Give an action with its record, what it writes, its decisions and its receipt; three queries, and one for 500 kept pieces."""
    differences, left_out, damaged = _differences(action)
    targets = list(action.targets.order_by("position")[:TARGETS_AT_MOST])
    return {
        **action_document(action),
        "record": mask_nested(keeping.record_of(action)),
        "targets": [
            {
                "record_type": one.record_type,
                "id": mask(one.target_id),
                "file": mask(one.path),
                "before_digest": one.before_digest,
                "after_digest": one.after_digest,
            }
            for one in targets
        ],
        "targets_left_out": action.target_count - len(targets),
        "effect": differences,
        "effect_left_out": left_out,
        "effect_damaged": damaged,
        "undo_refused": mask(action.undo_refused),
        "reviews": [_review(one) for one in action.reviews.order_by("id")],
        "renewed_from": action.renewed_from_id,
        "undo_of": action.undo_of_id,
        "receipt": mask_nested(action.receipt),
    }


def submitted_documents(results: Iterable[Submitted]) -> list[SubmittedDocument]:
    """Give what became of proposals; no query."""
    return [
        {
            "position": one.position,
            "code": one.code,
            "message": mask(one.message),
            "id": one.action.pk if one.action else None,
            "action_id": one.action.action_id if one.action else None,
            "action": one.action.verb if one.action else None,
            "state": one.action.state if one.action else None,
        }
        for one in results
    ]


def counts_of(results: Iterable[Submitted]) -> dict[str, int]:
    """Give how many proposals got each code."""
    return dict(sorted(Counter(one.code for one in results).items()))


def _differences(action: LifecycleAction) -> tuple[list[FileDifferenceDocument], int, str]:
    try:
        changes = keeping.effect_of(action).changes
    except Damaged as err:
        return [], 0, str(err)
    return [_difference(one) for one in changes[:FILES_AT_MOST]], max(0, len(changes) - FILES_AT_MOST), ""


def _difference(change: Change) -> FileDifferenceDocument:
    shown = difference(change)
    before = change.before if isinstance(change, Replace | TakeOut) else None
    after = change.after if isinstance(change, Replace | Create) else None
    return {
        "path": mask(shown.path),
        "what": shown.what,
        "to": mask(shown.to),
        "bytes_before": None if before is None else len(before),
        "bytes_after": None if after is None else len(after),
        "sha256_before": None if before is None else sha256(before).hexdigest(),
        "sha256_after": None if after is None else sha256(after).hexdigest(),
        "lines": [{"sign": line.sign, "text": mask("".join(run.text for run in line.runs))} for line in shown.lines],
    }


def _review(review: Review) -> ReviewDocument:
    return {
        "review_id": review.review_id,
        "decision": review.decision,
        "reviewer": review.reviewer_label,
        "reason": mask(review.reason),
        "digest": review.digest,
        "policy_version": review.policy_version,
        "separation": review.separation,
        "through": review.through,
        "at": utc(review.at),
        "expires_at": utc(review.expires_at),
        "withdrawn_at": utc(review.withdrawn_at),
        "spent_at": utc(review.spent_at),
        "marker": review.marker if review.spent_at is not None else "",
    }
