"""Finds stores below folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from stores.errors import BadRequest, MemoryUIError
from stores.management.base import DONE, FAILED, StoreCommand
from stores.management.progress import folder_spinner
from stores.management.store_commands import register
from stores.mirror.discovering import Found, discover
from stores.models import Store, Worker
from stores.worker.identity import this_worker


class Command(StoreCommand):
    """Find stores of every kind, and register them if asked."""

    help = (
        "Find folders of agent memory below ROOT, nested ones too, without following links. Each is printed as it is found.\n\n"
        "A stray store lies inside the project of another one: a hook ran there in another folder. Folders such as node_modules,\n"
        ".git and virtual environments are passed over, as is whatever lies more than 12 levels down."
    )
    examples = ("discover_stores ~/src", "discover_stores ~/src --add", "discover_stores --json")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Where to look and whether to register."""
        parser.add_argument("roots", metavar="ROOT", nargs="*", help="folder to look below; default: MEMORYUI_STORE_ROOTS")
        parser.add_argument("--add", action="store_true", help="register every store found, each named after its project")
        parser.add_argument("--cross-devices", action="store_true", help="also look into other file systems mounted below ROOT")

    def run(self, **options: Any) -> int:
        """Look, print, register."""
        roots = [Path(root) for root in options["roots"]] or list(settings.STORE_ROOTS)
        for root in roots:
            if not root.is_dir():
                raise BadRequest(f"{root} is no folder that can be read.")
        worker = this_worker()
        known = dict(Store.objects.filter(worker=worker).values_list("path", "slug"))
        rows: list[dict[str, object]] = []
        unnameable: list[str] = []
        with folder_spinner(self.verbosity if not self.as_json else 0) as show:
            for found in discover(roots, cross_devices=options["cross_devices"], on_folder=show, on_unnameable=unnameable.append):
                row = self._row(found, known.get(found.path), worker, options["add"])
                if row["added"]:
                    known[found.path] = str(row["store"])
                rows.append(row)
                if not self.as_json:
                    self.print_lines([_line(row)])
        for path in unnameable:
            self.say(f"{path} is a store, but its path is no UTF-8 text and cannot be registered: rename the folder.")
        if self.as_json:
            self.print_json({"looked_in": [str(root) for root in roots], "found": rows, "cannot_be_registered": unnameable})
        else:
            fresh = sum(1 for row in rows if not row["store"])
            self.say(f"{len(rows)} found, {sum(1 for row in rows if row['added'])} added, {fresh} not registered.")
        return FAILED if any(row["error"] for row in rows) else DONE

    def _row(self, found: Found, slug: str | None, worker: Worker, add: bool) -> dict[str, object]:
        added, error = False, ""
        if slug is None and add:
            try:
                slug, added = register(found.path, worker).slug, True
            except MemoryUIError as err:
                error = str(err)
        return {
            "path": found.path,
            "kind": found.kind,
            "project": found.project,
            "stray": found.stray,
            "store": slug,
            "added": added,
            "error": error,
        }


def _line(row: dict[str, object]) -> str:
    state = f"added as {row['store']}" if row["added"] else f"registered as {row['store']}" if row["store"] else "not registered"
    stray = ", stray: inside another store's project" if row["stray"] else ""
    return f"{row['path']}  {row['kind']}{stray}  {row['error'] or state}"
