"""Registers a store."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from stores.formats import KINDS
from stores.management.base import DONE, StoreCommand
from stores.management.store_commands import register
from stores.worker.identity import this_worker


class Command(StoreCommand):
    """Register one folder of agent memory."""

    help = (
        "Register a folder of agent memory as a store, so that it is mirrored and shown.\n\n"
        "PATH is the memory folder itself or the project that holds it. Nothing in it is changed. The folder must lie below\n"
        "MEMORYUI_STORE_ROOTS and be recognised as a store, unless --kind says what it is."
    )
    examples = ("add_store ~/src/shop-api", "add_store ~/src/shop-api/.claude/memory --slug shop --name 'Shop API'")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """PATH and what may be chosen instead of derived."""
        parser.add_argument("path", metavar="PATH", help="the memory folder, or the project that holds it")
        parser.add_argument("--kind", choices=sorted(KINDS), help="what the store is; without it the folder must be recognised")
        parser.add_argument("--slug", help="short name for addresses and commands; default: from the project's name")
        parser.add_argument("--name", help="name on the pages; default: the project's name")

    def run(self, **options: Any) -> int:
        """Register and say what comes next."""
        worker = this_worker()
        store = register(options["path"], worker, kind=options["kind"], slug=options["slug"], name=options["name"])
        if self.as_json:
            self.print_json({"store": store.slug, "name": store.name, "kind": store.kind, "path": store.path, "worker": worker.label})
        else:
            self.print_lines([f"Registered {store.slug} ({KINDS[store.kind].title}) at {store.path}"])
            self.say(f"A running worker mirrors it within seconds; without one, run `manage.py import_stores {store.slug}`.")
        return DONE
