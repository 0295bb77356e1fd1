"""Builds the mirror of stores anew."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from stores.management.base import DONE, FAILED, StoreCommand, columns, own_stores
from stores.management.importing import import_patiently, run_row
from stores.management.progress import import_bars
from stores.management.store_commands import HOLD_WAIT_S, note
from stores.mirror import resetting
from stores.mirror.holding import held
from stores.mirror.importing import run_as_json
from stores.worker.identity import this_worker


class Command(StoreCommand):
    """Drop the mirror of stores and read it from disk again."""

    help = (
        "Start the mirror of a store clean: everything mirrored of it is dropped and read from disk again.\n\n"
        "Stores, accounts, acknowledgements and the audit stay; nothing on disk is changed. What only the mirror remembered goes:\n"
        "earlier versions, gone records, measurements, and the addresses of records."
    )
    examples = ("reset_mirror shop-api", "reset_mirror")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which stores."""
        parser.add_argument("slugs", metavar="SLUG", nargs="*", help="store to read anew; default: every store of this host")

    def run(self, **options: Any) -> int:
        """Drop and import one store after the other."""
        runs = []
        with import_bars(self.verbosity if not self.as_json else 0) as show:
            for store in own_stores(options["slugs"], this_worker()):
                with held(store, HOLD_WAIT_S):
                    with transaction.atomic():
                        note(store, "mirror_reset", {})
                    resetting.reset_mirror(store)
                runs.append(import_patiently(store, full=True, show=show, say=self.say))
        if self.as_json:
            self.print_json({"runs": [run_as_json(run) for run in runs]})
        else:
            self.print_lines(columns([run_row(run) for run in runs]))
        return FAILED if any(run.status != "ok" for run in runs) else DONE
