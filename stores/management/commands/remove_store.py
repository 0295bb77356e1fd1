"""Lets a store go."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils import timezone

from stores.management.base import DONE, StoreCommand, store_named, terminal_actor
from stores.management.store_commands import HOLD_WAIT_S, note
from stores.mirror import relocating
from stores.mirror.holding import held
from stores.review.closing import end_actions_of
from stores.worker.identity import require_ours, this_worker


class Command(StoreCommand):
    """Drop a store and its mirror from the database."""

    help = (
        "Stop looking after a store: its mirror, measurements and acknowledgements are deleted from memoryui's database.\n\n"
        "The folder on disk is not touched, and the audit keeps its events. add_store takes the store up again."
    )
    examples = ("remove_store shop-api",)

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which store."""
        parser.add_argument("slug", metavar="SLUG", help="the store")

    def run(self, **options: Any) -> int:
        """Drop it while no import runs."""
        store = store_named(options["slug"])
        require_ours(store, this_worker())
        path = store.path
        with held(store, HOLD_WAIT_S):
            with transaction.atomic():
                note(store, "store_removed", {"path": path, "kind": store.kind})
            end_actions_of(store, timezone.now(), actor=None, actor_label=terminal_actor(), through="terminal")
            relocating.remove_store(store)
        if self.as_json:
            self.print_json({"store": options["slug"], "path": path, "removed": True})
        else:
            self.print_lines([f"Removed {options['slug']}; the files in {path} were not touched"])
        return DONE
