"""Checks the mirror against itself."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from stores.management.base import DONE, FAILED, StoreCommand, own_stores
from stores.management.store_commands import HOLD_WAIT_S
from stores.mirror import resetting
from stores.mirror.holding import held
from stores.worker.identity import this_worker


class Command(StoreCommand):
    """Check and mend what the mirror derives from its records."""

    help = (
        "Check that text indexes and counts say what the mirrored records say, and make anew what does not.\n\n"
        "Exit code 1 when something was wrong; it is mended then, and a second run ends with 0. To compare the mirror with the\n"
        "disk, use import_stores --full; to build it anew, reset_mirror."
    )
    examples = ("check_mirror", "check_mirror shop-api --json")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which stores."""
        parser.add_argument("slugs", metavar="SLUG", nargs="*", help="store whose counts to check; default: every store of this host")

    def run(self, **options: Any) -> int:
        """Check each store while no import of it runs, then the indexes that all share."""
        stores = own_stores(options["slugs"], this_worker())
        found: list[str] = []
        for store in stores:
            with held(store, HOLD_WAIT_S):
                found += resetting.check_counts(store)
        found += resetting.check_text_indexes()
        if self.as_json:
            self.print_json({"checked": [store.slug for store in stores], "found": found})
        else:
            self.print_lines(found or [f"In order: text indexes, and counts of {', '.join(store.slug for store in stores) or 'no store'}"])
        return FAILED if found else DONE
