"""The review queue: actions listed, shown and proposed."""

from __future__ import annotations

from typing import Annotated, Any, Final

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Query, Router, Schema
from ninja.errors import HttpError

from stores.api.base import Page, StorableText, asker, asker_with, page_of, token_of
from stores.errors import BadRequest
from stores.lifecycle import intake
from stores.lifecycle.actions import ActionRefused
from stores.lists.actions import read_actions
from stores.models import User
from stores.review.deciding import action_seen_by
from stores.review.submitting import Proposer, submit
from stores.selectors import action_documents
from stores.selectors.actions import ActionList
from stores.selectors.stores import find_store

router = Router(tags=["actions"])

Number = Annotated[int, Field(ge=1, le=2**63 - 1)]
"""Of an action in the queue."""
_JSON: Final = "application/json"


class WantedActions(Schema):
    """Which actions: the parameters of the address of the page. Without any those that wait for a person."""

    tab: StorableText = Field("", max_length=20, description="all (what waits for a person), mine, overdue, stale, blocked or decided.")
    q: StorableText = Field("", max_length=400)
    verb: list[StorableText] = []
    tier: list[StorableText] = []
    state: list[StorableText] = []
    store: list[StorableText] = Field([], description="Slugs.")
    kind: list[StorableText] = []
    proposer: list[StorableText] = []
    assigned: list[StorableText] = Field([], description="me, nobody or others.")
    older: int = Field(0, ge=0, description="Proposed more than so many days ago.")
    snoozed: bool = Field(False, description="What the account has snoozed, instead of what it has not.")
    alike: StorableText = Field("", max_length=64)
    batch: StorableText = Field("", max_length=40)
    sort: StorableText = Field("", max_length=20, description="due, risk, oldest or newest.")


class StoreChoice(Schema):
    """Which store the proposals are about."""

    store: StorableText = Field(max_length=80, description="Slug.")


class SubmittedOut(Schema):
    """What became of each proposal; the same handed in again is `already_queued`."""

    store: str
    results: list[action_documents.SubmittedDocument]
    counts: dict[str, int] = Field(description="How many got each code.")
    refused: int


@router.get("/actions/", response=Page[action_documents.ActionDocument], summary="Actions of the review queue")
def action_list(request: HttpRequest, wanted: Query[WantedActions], page: int = 1, per_page: int = 50) -> dict[str, Any]:
    """Proposed changes, what is due first; `state` or `tab` lead to those that were decided."""
    found = ActionList(asker(request), read_actions(request.GET), timezone.now()).ordered()
    return page_of(found, page, per_page, lambda rows: list(map(action_documents.action_document, rows)))


@router.get("/actions/{pk}/", response=action_documents.WholeActionDocument, summary="One action")
def action_detail(request: HttpRequest, pk: Number) -> action_documents.WholeActionDocument:
    """Its record, what it writes as a difference of each file, the decisions on it, and the receipt of its apply."""
    return action_documents.whole_document(action_seen_by(asker(request), pk))


@router.post(
    "/actions/",
    response=SubmittedOut,
    summary="Propose actions",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {_JSON: {"schema": {"oneOf": [{"type": "object"}, {"type": "array", "items": {"type": "object"}}]}}},
        }
    },
)
def action_submit(request: HttpRequest, wanted: Query[StoreChoice]) -> dict[str, Any]:
    """Hand in one record, a list of them, or a plan, for one store; at most 16 MiB. Needs a token of the scope propose.

    Each is taken or refused by itself with a code, and nothing in it counts as an approval. A token of this scope decides nothing.
    """
    user = asker_with(request, "propose")
    target = find_store(user, wanted.store)
    try:
        proposals = intake.proposals(_body(request))
    except ActionRefused as err:
        raise BadRequest(str(err)) from err
    results = submit(target, proposals, _proposer(request, user), timezone.now())
    return {
        "store": target.slug,
        "results": action_documents.submitted_documents(results),
        "counts": action_documents.counts_of(results),
        "refused": sum(one.is_refused for one in results),
    }


def _proposer(request: HttpRequest, user: User) -> Proposer:
    token = token_of(request)
    return Proposer(user.username, "page", "API", user) if token is None else Proposer(token.label, "agent", "API", user, token)


def _body(request: HttpRequest) -> bytes:
    """Read what was sent, past the limit that forms have; raises HttpError for what is no JSON or too long."""
    if request.content_type != _JSON:
        raise HttpError(415, f"Proposals are sent as {_JSON}.")
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length[:18]) > intake.MOST_BYTES:
        raise HttpError(413, f"Proposals are taken up to {intake.MOST_BYTES >> 20} MiB at once.")
    return bytes(request.read(intake.MOST_BYTES + 1))
