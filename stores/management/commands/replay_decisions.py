"""Rebuilds the graph of a store from its decisions."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from stores.apply import replaying
from stores.errors import BadRequest
from stores.formats.orchestkit import decisions
from stores.management.applying import actor, bring_up_to_date, own_store, troubles
from stores.management.base import DONE, StoreCommand
from stores.management.progress import spinner
from stores.management.proposing import graph_parameters, propose_instead
from stores.models import Store
from stores.selectors.wording import counted


class Command(StoreCommand):
    """Make the knowledge graph anew from the decision log."""

    help = (
        "Build the graph that the decisions of a store ask for: into a new file with --out, else into the graph of the MCP memory\n"
        "server, from which nothing is taken out. Doing it twice changes nothing. With --submit the graph is not written but proposed."
    )
    examples = (
        "replay_decisions shop-api --dry-run",
        "replay_decisions shop-api --out ~/graph.json",
        "replay_decisions shop-api --submit",
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which store, and where the graph goes."""
        parser.add_argument("slug", metavar="SLUG", help="the store")
        parser.add_argument(
            "--out", default="", metavar="FILE", help="a new file for the graph, outside the store; the store's own stays as it is"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what the graph would hold, and write nothing")
        parser.add_argument("--submit", action="store_true", help="put it into the review queue instead; exit code 3")
        parser.add_argument("--graph", default="", metavar="FILE", help="the graph file, where the configuration does not tell it")

    def run(self, **options: Any) -> int:
        """Replay, or say what a replay would do."""
        store = own_store(options["slug"])
        dry_run, graph = options["dry_run"], options["graph"]
        if options["submit"]:
            return self._submit(store, options["out"], graph, dry_run=dry_run)
        with spinner(self.verbosity if not self.as_json else 0, f"replaying {store.slug}"):
            if dry_run:
                done = replaying.look(store, graph=graph)
            elif options["out"]:
                done = replaying.replay_into_file(store, options["out"], actor())
            else:
                done = replaying.replay_into_graph(store, actor(), graph=graph)
        if done.change:
            bring_up_to_date(store, self.say)
        wanted = done.replay.aggregate.graph
        if self.as_json:
            self.print_json(
                {
                    "store": store.slug,
                    "dry_run": dry_run,
                    "graph": done.graph,
                    "decisions": done.replay.decisions,
                    "operations": done.replay.aggregate.account.operations,
                    "entities": len(wanted.nodes),
                    "relations": len(wanted.edges),
                    "observations": wanted.observations,
                    "added": {
                        "entities": len(done.merge.entities),
                        "relations": len(done.merge.relations),
                        "observations": done.merge.observations,
                    },
                    "skipped": troubles(done.replay.skipped),
                    "change": done.change,
                }
            )
            return DONE
        made = f"{counted(len(wanted.nodes), 'entity', 'entities')}, {counted(len(wanted.edges), 'relation')}"
        new = f"{counted(len(done.merge.entities), 'entity', 'entities')} and {counted(len(done.merge.relations), 'relation')}"
        what = f"{counted(done.replay.decisions, 'decision')} make {made}"
        self.print_lines([f"{what}: written to {done.graph}" if options["out"] and not dry_run else f"{what}; {new} new in {done.graph}"])
        if done.replay.skipped:
            self.say(f"{counted(len(done.replay.skipped), 'line')} are no decisions of OrchestKit, and were left out.")
        return DONE

    def _submit(self, store: Store, out: str, graph: str, *, dry_run: bool) -> int:
        """Propose what a replay would write into the graph now."""
        if out or dry_run:
            raise BadRequest("--submit proposes to write into the graph of the store: it goes neither with --out nor with --dry-run.")
        proposal = {"action": "replay_decisions", "target_type": "file", "target_ids": [decisions.PATH]}
        return propose_instead(self, store, {**proposal, "parameters": graph_parameters(store, graph)})
