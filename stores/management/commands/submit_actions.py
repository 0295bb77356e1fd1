"""Takes actions that an agent or a tool proposes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from stores.formats.secrets import mask
from stores.lifecycle import intake
from stores.lifecycle.actions import ActionRefused
from stores.management.base import DONE, FAILED, Refused, StoreCommand, columns, store_named, terminal_actor
from stores.management.progress import spinner
from stores.review.submitting import Proposer, Submitted, submit
from stores.selectors.action_documents import counts_of, submitted_documents
from stores.selectors.wording import counted


class Command(StoreCommand):
    """Hand proposals to the review queue."""

    help = (
        "Put proposed actions into the review queue of a store: one record, a list of them, or a plan as plan_lifecycle prints it.\n"
        "Nothing is written into the store, and nothing in a proposal counts as an approval. Each is taken or refused by itself;\n"
        "the exit code is 1 if any was refused. Handing the same in again changes nothing."
    )
    examples = ("submit_actions atlas proposals.json", "plan_lifecycle atlas --json | python manage.py submit_actions atlas - --json")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which store, and where the proposals are."""
        parser.add_argument("slug", metavar="SLUG", help="the store")
        parser.add_argument("file", metavar="FILE", help="a JSON file of at most 16 MiB; - reads standard input")

    def run(self, **options: Any) -> int:
        """Hand in and say what became of each."""
        store = store_named(options["slug"])
        proposals = _proposals(_content(options["file"]))
        with spinner(self.verbosity if not self.as_json else 0, f"reading proposals for {store.slug}"):
            results = submit(store, proposals, Proposer(terminal_actor(), "terminal", "terminal"), timezone.now())
        refused = sum(one.is_refused for one in results)
        if self.as_json:
            self.print_json({"store": store.slug, "results": submitted_documents(results), "counts": counts_of(results)})
        else:
            self.print_lines(columns([_row(one) for one in results]))
            self.say(f"{counted(len(results), 'action')} of {counted(len(proposals), 'proposal')}, {refused:,} refused.")
        return FAILED if refused else DONE


def _row(one: Submitted) -> tuple[str, ...]:
    action = one.action
    about = (f"#{action.pk}", action.verb, action.state, action.first_target) if action is not None else ("", "", "", "")
    return (f"item {one.position + 1}", one.code, *map(mask, about), one.message)


def _content(name: str) -> bytes:
    try:
        if name == "-":
            return sys.stdin.buffer.read(intake.MOST_BYTES + 1)
        with Path(name).open("rb") as opened:
            return opened.read(intake.MOST_BYTES + 1)
    except OSError as err:
        raise Refused(f"{name} cannot be read: {err.strerror}.") from err


def _proposals(content: bytes) -> list[object]:
    try:
        return intake.proposals(content)
    except ActionRefused as err:
        raise Refused(str(err)) from err
