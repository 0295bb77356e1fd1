"""The worker."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from stores.errors import BadRequest
from stores.management.base import DONE, FAILED, StoreCommand, columns
from stores.management.importing import run_row
from stores.mirror.importing import run_as_json
from stores.worker import messenger
from stores.worker.identity import only_worker, this_worker
from stores.worker.loop import Done, Loop
from stores.worker.stopping import Stop, StopRequested, stop_on_signals


class Command(StoreCommand):
    """Keep the mirror up to date."""

    help = (
        "Run the worker of this host: it mirrors stores as their files change, measures their health and does what the pages ask\n"
        "of a disk. It runs until it is stopped (Ctrl-C, SIGTERM) and ends at a safe point. One worker runs for a data folder.\n\n"
        "--once does everything that is due and ends; it serves where no worker may run, for example from cron."
    )
    examples = ("watch_stores", "watch_stores --once --json")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Whether to stay."""
        parser.add_argument("--once", action="store_true", help="do everything that is due, then end")

    def run(self, **options: Any) -> int:
        """Be the worker of this data folder."""
        if self.as_json and not options["once"]:
            raise BadRequest("--json goes with --once: a worker that stays has no end at which to print a document.")
        worker = this_worker()
        stop = Stop()
        with only_worker(settings.DATA_DIR), stop_on_signals(stop):
            loop = Loop(worker, stop)
            if not options["once"]:
                with messenger.messages_sent():
                    loop.run()
                return DONE
            try:
                done = loop.once()
                if messenger.is_configured():
                    messenger.step(datetime.now(UTC))
            except StopRequested:
                self.say("Stopped before the end; the next run goes on from there.")
                return FAILED
        self._print(done)
        return FAILED if any(one.run is None or one.run.status != "ok" for one in done) else DONE

    def _print(self, done: list[Done]) -> None:
        if self.as_json:
            errors = [{"store": one.store.slug, "error": one.error} for one in done if one.run is None]
            self.print_json({"runs": [run_as_json(one.run) for one in done if one.run], "errors": errors})
            return
        self.print_lines(columns([run_row(one.run) for one in done if one.run]))
        for one in done:
            if one.run is None:
                self.say(f"{one.store.slug}: {one.error}")
