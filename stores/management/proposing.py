"""What the commands that write directly do alike with --submit: propose it instead (ruling 17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils import timezone

from stores.apply.graph_location import graph_location
from stores.errors import BadRequest
from stores.formats.secrets import mask
from stores.lifecycle.orchestkit.effects import GRAPH
from stores.management.applying import bring_up_to_date
from stores.management.base import Refused, StoreCommand, terminal_actor
from stores.models import LifecycleAction, Store
from stores.review.submitting import KNOWN, QUEUED, Proposer, submit

WAITS: Final = 3
"""Exit code where a person has to approve first (ruling 17)."""
REASON: Final = "asked for from a terminal"


def terminal_proposer() -> Proposer:
    """Give whoever sits at this terminal as the one who proposes."""
    return Proposer(terminal_actor(), "terminal", "terminal")


def propose_instead(command: StoreCommand, store: Store, proposal: Mapping[str, object]) -> int:
    """Queue one proposal about a store as it is now, print its number and id, and give the exit code; raises Refused."""
    bring_up_to_date(store, command.say)
    store.refresh_from_db()
    (result,) = submit(store, [{"reason": REASON, **proposal}], terminal_proposer(), timezone.now())
    if result.action is None or result.code not in (QUEUED, KNOWN):
        raise Refused(f"This cannot be proposed for {store.slug}: {mask(result.message) or result.code}")
    _tell(command, store, result.action)
    return WAITS


def graph_parameters(store: Store, given: str) -> dict[str, object]:
    """Give the parameters by which an action writes the graph that the agents use; raises BadRequest where no action can, and what finding it raises."""
    if given:
        raise BadRequest("--graph is not taken together with --submit: what is approved goes into the graph that the agents use.")
    used = graph_location(store)
    if used.folder:
        raise BadRequest(f"The graph {used.path} lies outside {store.slug} ({used.reason}), and actions write only into their store.")
    return {} if used.name == GRAPH else {"graph": used.name}


def _tell(command: StoreCommand, store: Store, action: LifecycleAction) -> None:
    if command.as_json:
        command.print_json({"store": store.slug, "action": action.pk, "action_id": action.action_id, "state": action.state})
        return
    command.print_lines([f"#{action.pk} {action.action_id}"])
    command.say("It waits for a review: nothing was written.")
