"""An action at a terminal: found by number or id, and told before it is decided."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stores.errors import NotFound
from stores.management.base import Refused
from stores.models import LifecycleAction, User
from stores.review.deciding import visible_actions
from stores.selectors.action_documents import FileDifferenceDocument, WholeActionDocument
from stores.selectors.wording import counted

LINES_SHOWN: Final = 40
"""Changed lines of each file; the page of the action shows all."""
FILES_SHOWN: Final = 20


def action_named(user: User, given: str) -> LifecycleAction:
    """Give the action of this number or action id that the person may see, of several with one id the open one.

    Raises NotFound, and Refused where several are meant.
    """
    visible = visible_actions(user).select_related("store", "proposer")
    if given.isascii() and given.removeprefix("#").isdigit():
        found = list(visible.filter(pk=int(given.removeprefix("#")[:18])))
    else:
        found = list(visible.filter(action_id=given).order_by("-pk")[:50])
        still = [one for one in found if one.is_open]
        found = still or found[:1]
    if not found:
        raise NotFound("There is no such action, or it is not for your eyes.")
    if len(found) > 1:
        which = ", ".join(f"#{one.pk} of {one.store_slug}" for one in found)
        raise Refused(f"Several open actions have this id: {which}. Name one by its number.")
    return found[0]


def lines_about(document: WholeActionDocument) -> Iterator[str]:
    """Tell an action for people: what we computed first, what the proposer says last and as such."""
    yield f"#{document['id']} {document['action']} in {document['store']}, {document['state']}, {document['tier']} tier"
    yield f"Effect: {document['sentence']}"
    if document["effect_damaged"]:
        yield f"What is kept of the effect is damaged: {document['effect_damaged']}"
    for one in document["effect"][:FILES_SHOWN]:
        yield from _file_lines(one)
    unseen = len(document["effect"][FILES_SHOWN:]) + document["effect_left_out"]
    if unseen:
        yield f"  and {counted(unseen, 'more file')} that the page of the action shows"
    if document["adds_secret"]:
        yield "It would write something that looks like a secret: nobody can approve it."
    if document["undo_refused"]:
        yield f"Cannot be undone: {document['undo_refused']}"
    for review in document["reviews"]:
        if review["withdrawn_at"] is None:
            yield f"{review['decision']} by {review['reviewer']} at {review['at']}"
    yield f"Proposed by {document['proposed_by']}, whose words these are: {document['reason'] or '(no reason)'}"
    yield f"Digest: {document['digest']}"


def _file_lines(one: FileDifferenceDocument) -> Iterator[str]:
    sizes = [f"{size:,} bytes" for size in (one["bytes_before"], one["bytes_after"]) if size is not None]
    changed = [line for line in one["lines"] if line["sign"] != " "]
    to = f" to {one['to']}" if one["to"] else ""
    yield f"  {one['path']} is {one['what']}{to}{' (' + ' → '.join(sizes) + ')' if sizes else ''}"
    for line in changed[:LINES_SHOWN]:
        yield f"    {line['sign']} {line['text']}"
    if len(changed) > LINES_SHOWN:
        yield f"    and {counted(len(changed) - LINES_SHOWN, 'more changed line')}"
