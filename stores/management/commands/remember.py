"""Appends a decision to a store."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from stores.apply.appending import make_decision, nobody_drains, remember_decision
from stores.formats.orchestkit import Said
from stores.formats.orchestkit.remembering import TYPES
from stores.formats.secrets import mask
from stores.management.applying import actor, bring_up_to_date, own_store
from stores.management.base import DONE, StoreCommand
from stores.management.proposing import propose_instead
from stores.models import Store
from stores.selectors.wording import counted


class Command(StoreCommand):
    """Remember something as OrchestKit's own writer would have."""

    help = (
        "Append a decision to decisions.jsonl, and what it asks of the knowledge graph to graph-queue.jsonl, byte for byte as\n"
        "OrchestKit's writer did. Agents that still read the store are told of it in their next session.\n\n"
        "Where nobody drains the queue only the decision is written: operations would pile up unread. --queue writes them all the\n"
        "same. Texts that look like secrets are refused. With --submit the lines are not written but proposed."
    )
    examples = (
        'remember shop-api --what "Use cursor pagination for orders" --why "Offsets skip rows" --entity cursor-pagination --entity postgresql',
        'remember shop-api --type preference --what "Prefers small commits"',
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        """What is remembered, and where."""
        parser.add_argument("slug", metavar="SLUG", help="the store")
        parser.add_argument(
            "--what", required=True, help="the decision, in a sentence; more than 300 characters are cut as OrchestKit cuts them"
        )
        parser.add_argument("--why", default="", help="the reason, at most 200 characters")
        parser.add_argument("--type", default="decision", choices=TYPES, help="default: decision")
        for name, metavar, about in (
            ("entity", "NAME", "what it is about, in small letters, such as postgresql"),
            ("alternative", "TEXT", "what was not chosen"),
            ("constraint", "TEXT", "what it has to respect"),
            ("tradeoff", "TEXT", "what it costs"),
        ):
            parser.add_argument(f"--{name}", action="append", default=[], metavar=metavar, help=f"{about}; may be repeated")
        parser.add_argument("--queue", action="store_true", help="write the operations for the graph although nobody drains the queue")
        parser.add_argument("--submit", action="store_true", help="put it into the review queue instead; exit code 3")
        parser.add_argument("--force", action="store_true", help="write it although it looks like a secret")

    def run(self, **options: Any) -> int:
        """Append the lines under one lock, the queue after the log."""
        store = own_store(options["slug"])
        said = Said(
            options["what"],
            options["why"],
            options["type"],
            tuple(options["entity"]),
            tuple(options["alternative"]),
            tuple(options["constraint"]),
            tuple(options["tradeoff"]),
        )
        if options["submit"]:
            return self._submit(store, said, queue_too=options["queue"])
        done = remember_decision(store, said, actor(), queue_too=options["queue"], force=options["force"])
        bring_up_to_date(store, self.say)
        record = done.remembered.record
        if self.as_json:
            self.print_json(
                {
                    "store": store.slug,
                    "id": record["id"],
                    "type": record["type"],
                    "what": mask(record["content"]["what"]),
                    "confidence": record["metadata"]["confidence"],
                    "category": record["metadata"]["category"],
                    "user_id": record["identity"]["user_id"],
                    "queued": done.queued,
                    "note": done.why_not_queued,
                    "change": done.change,
                }
            )
            return DONE
        self.print_lines([f"{record['id']} is remembered in {store.slug}; {counted(done.queued, 'operation')} queued for the graph"])
        if done.why_not_queued:
            self.say(f"Only the decision was written: nobody drains this queue ({done.why_not_queued}). --queue writes the operations too.")
        return DONE

    def _submit(self, store: Store, said: Said, *, queue_too: bool) -> int:
        """Propose the same lines; what looks like a secret could be approved by nobody, so it is refused here too."""
        record = make_decision(store, said).record
        queues = queue_too or not nobody_drains(store)
        proposal = {"action": "remember", "target_type": "decision", "target_ids": [record["id"]]}
        return propose_instead(self, store, {**proposal, "parameters": {"record": record, "queue": queues}})
