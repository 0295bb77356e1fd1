"""Decisions of people on actions, by the rules of the page (DESIGN §7)."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Router, Schema

from stores.api.actions import Number
from stores.api.base import StorableText, asker_with
from stores.errors import Conflict, NotAllowed
from stores.models import LifecycleAction, User
from stores.review import deciding, renewing
from stores.review.approving import approve
from stores.review.deciding import Decided, Manner, PasswordNeeded, action_seen_by
from stores.selectors.action_documents import ActionDocument, action_document

router = Router(tags=["decisions"])


class DecisionIn(Schema):
    """A decision on exactly what was seen."""

    digest: StorableText = Field(max_length=80, description="The action's digest, as it was shown.")
    reason: StorableText = Field("", max_length=deciding.LONGEST_REASON, description="Needed for a rejection.")


class TakingBackIn(Schema):
    """Taking back, or trying again; with a digest only if the action still has it."""

    digest: StorableText = Field("", max_length=80)
    reason: StorableText = Field("", max_length=deciding.LONGEST_REASON)


class DecidedOut(Schema):
    """What became of the action: approved, counted (more people are needed), rejected or withdrawn."""

    decision: str
    message: str
    action: ActionDocument


@router.post("/actions/{pk}/approve", response=DecidedOut, summary="Approve an action")
def action_approve(request: HttpRequest, wanted: DecisionIn, pk: Number) -> dict[str, Any]:
    """Needs a token of the scope review. What takes something away is approved on its page, with the password."""
    user = asker_with(request, "review")
    try:
        return _decided(approve(user, pk, wanted.digest, _manner(wanted)))
    except PasswordNeeded as err:
        raise NotAllowed(f"It takes something away, so your password is asked for: decide on the page, /review/{pk}/.") from err


@router.post("/actions/{pk}/reject", response=DecidedOut, summary="Reject an action")
def action_reject(request: HttpRequest, wanted: DecisionIn, pk: Number) -> dict[str, Any]:
    """Needs a token of the scope review, and a reason. It is not queued again for 30 days."""
    user = asker_with(request, "review")
    return _decided(deciding.reject(user, pk, wanted.digest, _manner(wanted)))


@router.post("/actions/{pk}/withdraw", response=DecidedOut, summary="Take back an approval or a proposal")
def action_withdraw(request: HttpRequest, wanted: TakingBackIn, pk: Number) -> dict[str, Any]:
    """Needs a token of the scope review. An own approval or an own proposal before it is applied; an operator takes back any."""
    user = asker_with(request, "review")
    _check_seen(user, pk, wanted.digest)
    return _decided(deciding.withdraw(user, pk, _manner(wanted)))


@router.post("/actions/{pk}/renew", response=ActionDocument, summary="Propose the same on today's content")
def action_renew(request: HttpRequest, wanted: TakingBackIn, pk: Number) -> ActionDocument:
    """Needs a token of the scope review. For what is stale, expired, withdrawn or failed; gives the new action, which needs a new approval."""
    user = asker_with(request, "review")
    _check_seen(user, pk, wanted.digest)
    return action_document(renewing.renew(user, pk, timezone.now(), through="API"))


def _manner(wanted: DecisionIn | TakingBackIn) -> Manner:
    return Manner("API", timezone.now(), wanted.reason)


def _check_seen(user: User, pk: int, digest: str) -> None:
    if digest and action_seen_by(user, pk).digest != digest:
        raise Conflict("It is not what you have seen: look at it again.")


def _decided(decided: Decided) -> dict[str, Any]:
    now = LifecycleAction.objects.get(pk=decided.action.pk)
    return {"decision": decided.code, "message": decided.message, "action": action_document(now)}
