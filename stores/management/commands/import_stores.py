"""Mirrors stores."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from stores.management.base import DONE, FAILED, StoreCommand, columns, own_stores
from stores.management.importing import import_patiently, run_row
from stores.management.progress import import_bars
from stores.mirror.importing import run_as_json
from stores.worker.identity import this_worker


class Command(StoreCommand):
    """Bring the mirror up to date."""

    help = (
        "Mirror stores: read what changed on disk since the last import and measure their health.\n\n"
        "Importing twice changes nothing. Bad lines become faults (see list_faults) and do not stop the rest; the exit code is 1\n"
        "only when a file or a folder cannot be read at all."
    )
    examples = ("import_stores", "import_stores shop-api", "import_stores shop-api --full --json")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which stores, and how much of them."""
        parser.add_argument("slugs", metavar="SLUG", nargs="*", help="store to import; default: every store of this host")
        parser.add_argument("--full", action="store_true", help="read every file from its start, also where nothing seems changed")

    def run(self, **options: Any) -> int:
        """Import one store after the other."""
        stores = own_stores(options["slugs"], this_worker())
        runs = []
        with import_bars(self.verbosity if not self.as_json else 0) as show:
            for store in stores:
                runs.append(import_patiently(store, full=options["full"], show=show, say=self.say))
        if self.as_json:
            self.print_json({"runs": [run_as_json(run) for run in runs]})
        elif runs:
            self.print_lines(columns([run_row(run) for run in runs]))
            for run in runs:
                if run.error:
                    self.say(f"{run.store.slug}: {run.error}")
        else:
            self.say("No store is registered on this host. Register one with add_store or discover_stores --add.")
        return FAILED if any(run.status != "ok" for run in runs) else DONE
