"""Imports a graph envelope into a phase-memory store, or makes a store of it."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from stores.apply import importing_graph, steps
from stores.apply.importing_graph import Importing, Take
from stores.errors import BadRequest
from stores.formats.phase_memory.exchange import NotImported
from stores.formats.phase_memory.kind import KIND
from stores.formats.secrets import mask
from stores.management.applying import actor, bring_up_to_date, own_store
from stores.management.base import DONE, FAILED, StoreCommand, columns
from stores.management.progress import spinner
from stores.management.proposing import WAITS, terminal_proposer
from stores.management.store_commands import register
from stores.mirror.registering import check_inside_roots
from stores.models import Store
from stores.review.graph_imports import Proposed, propose
from stores.selectors.wording import counted
from stores.worker.identity import this_worker

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
    """Take the records of an envelope into a store, without writing over anything that nobody has approved."""

    help = (
        "Import a graph envelope (markitect.memory.graph.v1) into a store, or with --into into a new one that is made and registered.\n"
        "Nothing that exists is written over. Durable memory, records that the store has with other content, and what points at them go\n"
        "into the review queue instead, one action a record: their ids are printed and the exit code is 3. The same import twice makes no\n"
        "second action. Once approved, apply_actions or the worker writes exactly what was approved.\n\n"
        "With --submit nothing is written directly: what is new waits for a review too, as do the events of the log. Whatever cannot be\n"
        "taken at all is listed with its reason; if there is nothing else, the exit code is 1."
    )
    examples = (
        "import_graph atlas --graph graph.json --dry-run",
        "import_graph atlas --graph graph.json --submit",
        "import_graph --into ~/memory/atlas --profile profile.json --graph graph.json",
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Where to, and from which files."""
        parser.add_argument("slug", metavar="SLUG", nargs="?", default="", help="the store")
        parser.add_argument("--into", default="", metavar="DIR", help="make a store in this new or empty folder instead, and register it")
        parser.add_argument("--name", default=None, help="name of the store that --into makes; default: from its folder")
        parser.add_argument("--graph", required=True, metavar="FILE", help="the envelope")
        parser.add_argument("--profile", default="", metavar="FILE", help="a profile that the store is to have besides")
        parser.add_argument("--dry-run", action="store_true", help="say what would be written or proposed, and do neither")
        parser.add_argument("--submit", action="store_true", help="put everything into the review queue instead of writing it; exit code 3")

    def run(self, **options: Any) -> int:
        """Import, propose what a person has to decide on, or say what an import would do."""
        if bool(options["slug"]) == bool(options["into"]):
            raise BadRequest("Name either a registered store or, with --into, a new folder.")
        graph = _read(options["graph"])
        profile = _read(options["profile"]) if options["profile"] else None
        dry_run, quiet = options["dry_run"], self.verbosity if not self.as_json else 0
        take = Take.NOTHING if options["submit"] else Take.ALL_NEW if options["into"] else Take.NEW
        if options["into"]:
            planned = importing_graph.look_at_new(graph, profile, take)
            folder = Path(os.path.abspath(options["into"]))
            check_inside_roots(os.path.realpath(folder))
            if dry_run:
                return self._told("", str(folder), planned, [], dry_run=True)
            if take is not Take.NOTHING:
                steps.require_direct_writes(Store(), actor())
            importing_graph.make_store(folder)
            store = register(folder, this_worker(), name=options["name"])
        else:
            store = own_store(options["slug"], KIND)
        with spinner(quiet, f"importing into {store.slug}"):
            if dry_run or take is Take.NOTHING:
                done = importing_graph.look(store, graph, profile, take)
            else:
                done = importing_graph.import_into(store, graph, profile, actor(), take)
        if done.change or options["into"] or (done.brought and not dry_run):
            bring_up_to_date(store, self.say)
        proposed = [] if dry_run else self._proposed(store, done)
        return self._told(store.slug, store.path, done, proposed, dry_run=dry_run)

    def _proposed(self, store: Store, done: Importing) -> list[Proposed]:
        """Queue what a person has to decide on."""
        if not done.brought:
            return []
        store.refresh_from_db()
        return propose(store, done.brought, terminal_proposer(), timezone.now())

    def _told(self, slug: str, path: str, done: Importing, proposed: list[Proposed], *, dry_run: bool) -> int:
        waits = done.needs_review if dry_run else any(not one.result.is_refused for one in proposed)
        code = WAITS if waits else FAILED if done.not_imported or proposed else DONE
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
                    "submitted": list(map(_document, proposed)),
                    "change": done.change,
                }
            )
            return code
        parts = [counted(number, name) for name, number in sorted(done.counts.items())]
        parts += [counted(done.events, "event")] if done.events else []
        what = ", ".join(parts) or "nothing new"
        self.print_lines([f"{what} {'would go' if dry_run else 'went'} into {slug or path}, {counted(done.same, 'record')} there already"])
        self._say_what_is_left_out(done)
        if dry_run and done.needs_review:
            brought = Counter(one.record_type for one in (*done.brought.records, *done.brought.events))
            self.say(f"Would be proposed: {', '.join(counted(number, name) for name, number in sorted(brought.items()))}.")
        self._print_proposed(proposed)
        return code

    def _say_what_is_left_out(self, done: Importing) -> None:
        for one in done.not_imported[:SHOWN]:
            self.say(f"Not imported: {_name(one)}: {_why(one)}")
        if len(done.not_imported) > SHOWN:
            self.say(f"Not imported: {counted(len(done.not_imported) - SHOWN, 'more record')}; --json lists them all.")

    def _print_proposed(self, proposed: list[Proposed]) -> None:
        rows = [_row(one) for one in proposed if not one.result.is_refused]
        self.print_lines(columns(rows))
        for one in [one for one in proposed if one.result.is_refused][:SHOWN]:
            self.say(f"Not proposed: {one.record_type} {mask(one.id)}: {one.result.message or one.result.code}")
        if rows:
            self.say(f"{counted(len(rows), 'action')} {'waits' if len(rows) == 1 else 'wait'} for a review: nothing of that was written.")


def _row(one: Proposed) -> tuple[str, ...]:
    action = one.result.action
    about = (f"#{action.pk}", action.action_id, action.state, action.verb) if action is not None else ("", "", "", "")
    more = f" and {one.number - 1:,} more" if one.number > 1 else ""
    return (*about, one.record_type, f"{mask(one.id)}{more}")


def _document(one: Proposed) -> dict[str, Any]:
    action = one.result.action
    return {
        "record_type": one.record_type,
        "id": mask(one.id),
        "records": one.number,
        "code": one.result.code,
        "message": mask(one.result.message),
        "verb": action.verb if action else None,
        "action": action.pk if action else None,
        "action_id": action.action_id if action else None,
        "state": action.state if action else None,
    }


def _name(one: NotImported) -> str:
    return f"{one.record_type} {mask(one.id)}" if one.id else f"a {one.record_type} without an id"


def _why(one: NotImported) -> str:
    if (one.record_type, one.reason) == ("event", "conflict"):
        return "the log has another event under this id, and a log is never rewritten"
    return REASONS.get(one.reason, one.reason)


def _read(name: str) -> bytes:
    try:
        return Path(name).expanduser().read_bytes()
    except OSError as err:
        raise BadRequest(f"{name} cannot be read: {os.strerror(err.errno or 0).lower()}.") from err
