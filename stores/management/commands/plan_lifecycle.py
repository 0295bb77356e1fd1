"""Plans the lifecycle of a store's memory, without changing anything."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from stores import display
from stores.formats.phase_memory.aliases import Record
from stores.formats.secrets import mask
from stores.lifecycle.vocabulary import verb_named
from stores.management.base import DONE, FAILED, Refused, StoreCommand, columns, store_named
from stores.management.progress import spinner
from stores.models import Store
from stores.review.planning import Asked, Plan, plan, submit_plan
from stores.review.submitting import KNOWN, QUEUED, REJECTED, Submitted
from stores.selectors.action_documents import counts_of, submitted_documents
from stores.selectors.wording import counted

TARGETS_SHOWN = 3


class Command(StoreCommand):
    """Every action that the rules of a store would propose."""

    help = (
        "Say what would be proposed for a store, as the last import found it: by the rules of its profile, or by what is faulty in it.\n"
        "It is a dry run: nothing is written, and nothing is queued without --submit. The same store gives the same actions with the\n"
        "same ids, so that submitting a plan twice queues nothing twice."
    )
    examples = ("plan_lifecycle atlas", "plan_lifecycle atlas --now 2026-07-01 --json", "plan_lifecycle atlas --repairs --submit")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which store, by which rules, at what time."""
        parser.add_argument("slug", metavar="SLUG", help="the store")
        parser.add_argument("--profile", default="", metavar="ID", help="the profile whose rules count, where the store has several")
        parser.add_argument("--now", default="", metavar="TIME", help="plan as if it were this time (ISO 8601, UTC unless it says)")
        parser.add_argument(
            "--sources",
            default="",
            metavar="FILE",
            help="a JSON object of node ids and new digests of their sources: what may be refreshed",
        )

        parser.add_argument(
            "--repairs", action="store_true", help="plan what mends the faults of the store instead of what its rules ask for"
        )
        parser.add_argument("--submit", action="store_true", help="put the actions into the review queue, where each waits for a decision")

    def run(self, **options: Any) -> int:
        """Plan and print."""
        store = store_named(options["slug"])
        if store.imported_at is None:
            raise Refused(f"Store {store.slug} has not been imported yet: run import_stores {store.slug} first.")
        asked = Asked(_time(options["now"]), options["profile"], _sources(options["sources"]), options["repairs"])
        with spinner(self.verbosity if not self.as_json else 0, f"planning {store.slug}"):
            found = plan(store, asked)
        for words in found.left_out:
            self.say(words)
        results = submit_plan(store, found, "terminal", timezone.now()) if options["submit"] else []
        if self.as_json:
            more = {"submitted": submitted_documents(results), "submitted_counts": counts_of(results)} if options["submit"] else {}
            self.print_json({**found.document(), **more})
        else:
            self._print(store, found, results)
        return FAILED if any(one.is_refused and one.code != REJECTED for one in results) else DONE

    def _print(self, store: Store, found: Plan, results: list[Submitted]) -> None:
        told = {one.position: _told(one) for one in results}
        rows = [(*_row(store.kind, action), told.get(position, "")) for position, action in enumerate(found.actions)]
        self.print_lines(columns(rows))
        reviewed = sum(action["requires_review"] is True for action in found.actions)
        ending = "Nothing was changed." if not results else f"{counts_of(results).get(QUEUED, 0):,} new in the queue."
        as_of = f" as of {display.iso(store.imported_at)}" if store.imported_at is not None else ""
        self.say(f"{counted(len(found.actions), 'action')}{as_of}, {reviewed:,} of them for a review. {ending}")


def _row(kind: str, action: Record) -> tuple[str, ...]:
    verb, ids = verb_named(kind, action["action"]), action["target_ids"]
    listed = [str(one) for one in ids] if isinstance(ids, list) else []
    shown = ", ".join(listed[:TARGETS_SHOWN])
    more = f" and {len(listed) - TARGETS_SHOWN:,} more" if len(listed) > TARGETS_SHOWN else ""
    review = "review" if action["requires_review"] else "no review"
    words = (str(action["action"]), str(verb.tier) if verb else "", review, f"{shown}{more}", str(action["reason"]))
    return tuple(map(mask, words))


def _told(one: Submitted) -> str:
    number = f"#{one.action.pk}" if one.action is not None else ""
    said = {QUEUED: "queued", KNOWN: "in the queue already", REJECTED: one.message}.get(one.code, f"{one.code}: {one.message}")
    return f"{number} {said}".strip()


def _time(given: str) -> datetime:
    if not given:
        return datetime.now(UTC)
    try:
        read = datetime.fromisoformat(given)
    except ValueError as err:
        raise Refused(f"{given} is no time: write it as 2026-07-01 or 2026-07-01T12:00:00Z.") from err
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _sources(given: str) -> dict[str, str]:
    if not given:
        return {}
    try:
        read = json.loads(Path(given).read_bytes())
    except (OSError, ValueError) as err:
        raise Refused(f"{given} cannot be read as JSON: {err}") from err
    if not isinstance(read, dict) or not all(isinstance(value, str) for value in read.values()):
        raise Refused(f"{given} is no JSON object of node ids and digests.")
    return read
