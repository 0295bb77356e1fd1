"""Follows a store to another folder."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from stores.management.base import DONE, StoreCommand, store_named
from stores.management.store_commands import HOLD_WAIT_S, note
from stores.mirror import relocating
from stores.mirror.holding import held
from stores.worker.identity import require_ours, this_worker


class Command(StoreCommand):
    """Point a store to its new place."""

    help = (
        "Tell memoryui that a store's folder lies elsewhere now. Records keep their addresses and history.\n\n"
        "PATH must hold the same content as what was mirrored, or more; --force takes other content all the same, and the next\n"
        "import then shows what differs."
    )
    examples = ("relocate_store shop-api ~/src/shop-api",)

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which store, and where it is now."""
        parser.add_argument("slug", metavar="SLUG", help="the store")
        parser.add_argument("path", metavar="PATH", help="where its folder, or its project, lies now")
        parser.add_argument("--force", action="store_true", help="also when the content there differs from what was mirrored")

    def run(self, **options: Any) -> int:
        """Change the path while no import runs."""
        store = store_named(options["slug"])
        require_ours(store, this_worker())
        before = store.path
        with held(store, HOLD_WAIT_S), transaction.atomic():
            relocating.relocate_store(store, options["path"], force=options["force"])
            note(store, "store_relocated", {"from": before, "to": store.path, "forced": options["force"]})
        if self.as_json:
            self.print_json({"store": store.slug, "from": before, "path": store.path})
        else:
            self.print_lines([f"{store.slug} is at {store.path} now"])
            self.say(f"A running worker reads it within seconds; without one, run `manage.py import_stores {store.slug}`.")
        return DONE
