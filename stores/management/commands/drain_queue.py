"""Drains the queue of a store into its graph."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from stores.apply.draining import Draining, drain, look
from stores.formats.orchestkit import queue
from stores.formats.secrets import mask
from stores.management.applying import actor, bring_up_to_date, own_store, shown, troubles
from stores.management.base import DONE, StoreCommand
from stores.management.progress import spinner
from stores.management.proposing import graph_parameters, propose_instead
from stores.models import Store
from stores.selectors.wording import counted


class Command(StoreCommand):
    """Write what waits in the queue into the knowledge graph, and archive the queue."""

    help = (
        "Aggregate what waits in graph-queue.jsonl and merge it into the graph file of the MCP memory server. The file is read again\n"
        "and compared; only then the queue moves to archive/, where it is kept. Nothing that the graph holds is taken out of it.\n\n"
        "The graph is the file that .mcp.json or MEMORY_FILE_PATH name, else memory.json in the store. For ten minutes the worker looks\n"
        "whether the entities stay there, since a memory server that runs may write an older copy over them."
    )
    examples = ("drain_queue shop-api --dry-run", "drain_queue shop-api", "drain_queue shop-api --submit")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which store."""
        parser.add_argument("slug", metavar="SLUG", help="the store")
        parser.add_argument("--dry-run", action="store_true", help="say what would be written, and write nothing")
        parser.add_argument("--submit", action="store_true", help="put the drain into the review queue instead; exit code 3")
        parser.add_argument("--graph", default="", metavar="FILE", help="the graph file, where the configuration does not tell it")

    def run(self, **options: Any) -> int:
        """Drain, or say what a drain would do."""
        store = own_store(options["slug"])
        if options["submit"]:
            return self._submit(store, options["graph"])
        dry_run = options["dry_run"]
        with spinner(self.verbosity if not self.as_json else 0, f"draining {store.slug}"):
            done = [look(store, graph=options["graph"])] if dry_run else drain(store, actor(), graph=options["graph"])
        if done and not dry_run:
            bring_up_to_date(store, self.say)
        done = [one for one in done if one.sources]
        if self.as_json:
            self.print_json({"store": store.slug, "dry_run": dry_run, "drains": [_document(one) for one in done]})
            return DONE
        for one in done:
            self._print(one, dry_run)
        if not done:
            self.say(f"Nothing waits in the queue of {store.slug}.")
        return DONE

    def _submit(self, store: Store, graph: str) -> int:
        """Propose the drain of what waits now."""
        proposal = {"action": "drain_queue", "target_type": "file", "target_ids": [queue.PATH]}
        return propose_instead(self, store, {**proposal, "parameters": graph_parameters(store, graph)})

    def _print(self, one: Draining, dry_run: bool) -> None:
        written = (
            f"{counted(len(one.merge.entities), 'entity', 'entities')}, {counted(len(one.merge.relations), 'relation')} and "
            f"{counted(one.merge.observations, 'observation')}"
        )
        lines = [f"{counted(one.operations, 'operation')} {'would add' if dry_run else 'added'} {written} to {one.graph.path}"]
        if one.archive_path:
            lines.append(f"the queue {'would go' if dry_run else 'went'} to {one.archive_path}")
        account = one.aggregate.account
        if account.missing_ends:
            lines.append(f"made for relations that named them: {shown(account.missing_ends)}")
        self.print_lines(lines)
        self.say(f"{one.graph.reason}.")
        for title, found in (("cannot be read", one.unreadable), ("cannot be used, or not wholly", account.skipped)):
            if found:
                self.say(f"Kept in the archive only, {title}: {', '.join(f'line {trouble.line}' for trouble in found[:20])}.")
        if account.poison:
            self.say(f"{counted(len(account.poison), 'line')} would have stopped OrchestKit's own drain for ever; what they say was used.")
        if account.classic_loses:
            self.say(f"OrchestKit's own drain would have lost observations of {counted(len(account.classic_loses), 'entity', 'entities')}.")
        if one.graph_lines_left_out:
            self.say(
                f"{counted(one.graph_lines_left_out, 'line')} of the graph, at which its server stops, are left out of it; the journal keeps them."
            )


def _document(one: Draining) -> dict[str, Any]:
    account = one.aggregate.account
    return {
        "graph": one.graph.path,
        "graph_reason": one.graph.reason,
        "archive": one.archive_path,
        "late_from": [source.archive_path for source in one.sources if not source.is_queue],
        "operations": one.operations,
        "entities": len(one.merge.entities),
        "relations": len(one.merge.relations),
        "observations": one.merge.observations,
        "missing_ends": [mask(name) for name in account.missing_ends],
        "poison": troubles(account.poison),
        "skipped": troubles(account.skipped),
        "unreadable": troubles(one.unreadable),
        "classic_would_lose": sum(len(lost.contents) for lost in account.classic_loses),
        "graph_lines_left_out": one.graph_lines_left_out,
        "torn_bytes": one.torn_bytes,
        "change": one.change,
    }
