"""Writes a phase-memory store as one graph envelope."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from stores.apply import exporting_graph
from stores.apply.exporting_graph import Exported
from stores.apply.writing_out import write_out
from stores.errors import BadRequest
from stores.formats.phase_memory.kind import KIND
from stores.formats.secrets import mask
from stores.management.applying import own_store
from stores.management.base import DONE, StoreCommand
from stores.management.progress import spinner
from stores.selectors.wording import counted

SHOWN = 50


class Command(StoreCommand):
    """Write nodes, edges, paths and events of a store as one document that other tools read."""

    help = (
        "Write what a phase-memory store holds as a graph envelope (markitect.memory.graph.v1): nodes, edges, events and paths, in an\n"
        "order that does not change. What cannot be read is left out and listed, in the envelope too. It holds memory as it is, with\n"
        "whatever secrets stand in it."
    )
    examples = ("export_graph atlas --graph-id graph.atlas --out atlas.json", "export_graph atlas --graph-id graph.atlas > atlas.json")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which store, under which id, and where the envelope goes."""
        parser.add_argument("slug", metavar="SLUG", help="the store")
        parser.add_argument("--graph-id", required=True, metavar="ID", help="the id that the envelope gets")
        parser.add_argument(
            "--out", default="", metavar="FILE", help="a new file outside every store; without it the envelope goes to standard output"
        )

    def run(self, **options: Any) -> int:
        """Export."""
        store = own_store(options["slug"], KIND)
        if not options["graph_id"].strip() or not options["graph_id"].isprintable():
            raise BadRequest("The id of a graph is a word of printable characters.")
        with spinner(self.verbosity if not self.as_json else 0, f"reading {store.slug}"):
            made = exporting_graph.export(store, options["graph_id"])
        if options["out"]:
            self._told(store.slug, str(write_out(options["out"], made.envelope)), made)
        else:
            self.stdout.write(made.envelope.decode("utf-8"), ending="")
        for one in made.omitted[:SHOWN]:
            place_of = f"{one.file}, line {one.line}" if one.line else one.file
            self.say(f"Left out: {place_of}{f' ({mask(one.id)})' if one.id else ''}: {one.reason.replace('_', ' ')}")
        if len(made.omitted) > SHOWN:
            self.say(f"Left out: {counted(len(made.omitted) - SHOWN, 'more record')}; the envelope lists them all.")
        return DONE

    def _told(self, slug: str, place: str, made: Exported) -> None:
        if self.as_json:
            omitted = [{**one._asdict(), "id": mask(one.id)} for one in made.omitted]
            self.print_json({"store": slug, "out": place, "bytes": len(made.envelope), "records": made.counts, "omitted": omitted})
            return
        numbers = ", ".join(counted(number, name) for name, number in made.counts.items())
        self.print_lines([f"{numbers} written to {place}"])
