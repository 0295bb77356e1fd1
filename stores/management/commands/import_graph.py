"""Imports a graph envelope into a phase-memory store, or makes a store of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from stores.apply import importing_graph
from stores.apply.importing_graph import Importing
from stores.errors import BadRequest
from stores.formats.phase_memory.exchange import NotImported
from stores.formats.phase_memory.kind import KIND
from stores.formats.secrets import mask
from stores.management.applying import actor, bring_up_to_date, own_store
from stores.management.base import DONE, FAILED, StoreCommand
from stores.management.progress import spinner
from stores.management.store_commands import register
from stores.mirror.registering import check_inside_roots
from stores.models import Store
from stores.selectors.wording import counted
from stores.worker.identity import this_worker

REVIEW_NEEDED = 3
SHOWN = 50
REASONS = {
    "conflict": "the store has another content under this id, which stays",
    "durable": "it would be durable memory, on which a person has to decide",
    "needs_refused": "it points at a node on which a person has to decide first",
    "name_taken": "another file has the name that it would get",
    "repeated": "the envelope has its id twice, the first one counts",
    "bad_id": "its id cannot become the name of a file",
    "invalid": "a field that it must have is missing or of the wrong type",
}


class Command(StoreCommand):
    """Take the records of an envelope into a store, without writing over anything."""

    help = (
        "Import a graph envelope (markitect.memory.graph.v1) into a store, or with --into into a new one that is made and registered.\n"
        "Nothing that exists is written over. Everything that is not taken is listed with its reason. Durable memory, and records that\n"
        "the store has with other content, need a review: in a store that exists they are left out, and the exit code is 3."
    )
    examples = (
        "import_graph atlas --graph graph.json --dry-run",
        "import_graph --into ~/memory/atlas --profile profile.json --graph graph.json",
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Where to, and from which files."""
        parser.add_argument("slug", metavar="SLUG", nargs="?", default="", help="the store")
        parser.add_argument("--into", default="", metavar="DIR", help="make a store in this new or empty folder instead, and register it")
        parser.add_argument("--name", default=None, help="name of the store that --into makes; default: from its folder")
        parser.add_argument("--graph", required=True, metavar="FILE", help="the envelope")
        parser.add_argument("--profile", default="", metavar="FILE", help="a profile that the store is to have besides")
        parser.add_argument("--dry-run", action="store_true", help="say what would be written, and write nothing")

    def run(self, **options: Any) -> int:
        """Import, or say what an import would do."""
        if bool(options["slug"]) == bool(options["into"]):
            raise BadRequest("Name either a registered store or, with --into, a new folder.")
        graph = _read(options["graph"])
        profile = _read(options["profile"]) if options["profile"] else None
        dry_run, quiet = options["dry_run"], self.verbosity if not self.as_json else 0
        if options["into"]:
            planned = importing_graph.look_at_new(graph, profile)
            folder = Path(os.path.abspath(options["into"]))
            check_inside_roots(os.path.realpath(folder))
            if dry_run:
                return self._told("", str(folder), planned, dry_run=True)
            importing_graph.make_store(folder)
            store = register(folder, this_worker(), name=options["name"])
        else:
            store = own_store(options["slug"], KIND)
        with spinner(quiet, f"importing into {store.slug}"):
            done = self._done(store, graph, profile, dry_run=dry_run, is_new=bool(options["into"]))
        if done.change or options["into"]:
            bring_up_to_date(store, self.say)
        return self._told(store.slug, store.path, done, dry_run=dry_run)

    def _done(self, store: Store, graph: bytes, profile: bytes | None, *, dry_run: bool, is_new: bool) -> Importing:
        if dry_run:
            return importing_graph.look(store, graph, profile)
        return importing_graph.import_into(store, graph, profile, actor(), durable_too=is_new)

    def _told(self, slug: str, path: str, done: Importing, *, dry_run: bool) -> int:
        code = REVIEW_NEEDED if done.needs_review else FAILED if done.not_imported else DONE
        if self.as_json:
            self.print_json(
                {
                    "store": slug,
                    "path": path,
                    "dry_run": dry_run,
                    "imported": {**{f"{name}s": number for name, number in sorted(done.counts.items())}, "events": done.events},
                    "same": done.same,
                    "not_imported": [{**one._asdict(), "id": mask(one.id)} for one in done.not_imported],
                    "needs_review": done.needs_review,
                    "change": done.change,
                }
            )
            return code
        parts = [counted(number, name) for name, number in sorted(done.counts.items())]
        parts += [counted(done.events, "event")] if done.events else []
        what = ", ".join(parts) or "nothing new"
        self.print_lines([f"{what} {'would go' if dry_run else 'went'} into {slug or path}, {counted(done.same, 'record')} there already"])
        for one in done.not_imported[:SHOWN]:
            self.say(f"Not imported: {_name(one)}: {REASONS.get(one.reason, one.reason)}")
        if len(done.not_imported) > SHOWN:
            self.say(f"Not imported: {counted(len(done.not_imported) - SHOWN, 'more record')}; --json lists them all.")
        if done.needs_review:
            self.say(
                "What needs a review was left out: there is no way to ask for one yet, so change it by hand, or import into a new store."
            )
        return code


def _name(one: NotImported) -> str:
    return f"{one.record_type} {mask(one.id)}" if one.id else f"a {one.record_type} without an id"


def _read(name: str) -> bytes:
    try:
        return Path(name).expanduser().read_bytes()
    except OSError as err:
        raise BadRequest(f"{name} cannot be read: {os.strerror(err.errno or 0).lower()}.") from err
