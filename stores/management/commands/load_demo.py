"""Sample stores and users."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from memoryui.demo_place import demo_folder
from stores.demo.accounts import Account, make_accounts
from stores.demo.agent import Agent
from stores.demo.phases import phase_story
from stores.demo.queue import fill_queue
from stores.demo.replaying import clear, is_made, replay
from stores.demo.stories import stories
from stores.errors import BadRequest
from stores.management.base import StoreCommand, terminal_actor
from stores.management.installing import prepare
from stores.management.serving import listen, serve
from stores.management.store_commands import register
from stores.mirror.importing import import_store
from stores.models import Store, User
from stores.worker.identity import only_worker, this_worker


class Command(StoreCommand):
    """Make the demo, and run it."""

    help = (
        "Make a demo to look at: five projects of a small team with a past of two weeks, and four accounts whose passwords are\n"
        "printed once. All of it lies in var/demo of this checkout, apart from any real installation; delete that folder to start\n"
        "anew. With --serve the pages and the worker run on this host until Ctrl-C, and an agent goes on writing to one store."
    )
    examples = ("load_demo", "load_demo --serve --port 8123", "load_demo --new-passwords")
    offers_json = False

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Whether to run it, and how."""
        parser.add_argument("--serve", action="store_true", help="run pages and worker afterwards")
        parser.add_argument("--port", type=int, default=8000, metavar="N", help="port of the pages (default: 8000); 0 takes any free one")
        parser.add_argument("--no-live", action="store_true", help="with --serve: no agent writes to the stores meanwhile")
        parser.add_argument("--new-passwords", action="store_true", help="make new passwords for the demo's accounts and print them")

    def run(self, **options: Any) -> int:
        """Make what is missing, say what there is, serve if asked."""
        if demo_folder() != settings.DATA_DIR:
            raise BadRequest(f"load_demo only works on the demo's own folder {demo_folder()}, started as `manage.py load_demo`.")
        listening = listen("127.0.0.1", options["port"]) if options["serve"] else None
        prepare(self)
        folder = settings.DATA_DIR / "stores"
        self._make_stores(folder)
        accounts = make_accounts(new_passwords=options["new_passwords"], by=terminal_actor())
        people = User.objects.in_bulk(["reviewer", "admin"], field_name="username")
        fill_queue(list(Store.objects.order_by("pk")), people["reviewer"], people["admin"], datetime.now(UTC))
        self.print_lines([f"Demo in {settings.DATA_DIR}: sample data, not your agents' memory.", *_account_lines(accounts)])
        if listening is None:
            self.say("Run it with `python manage.py load_demo --serve`, or `make demo`.")
            return 0
        agent = None if options["no_live"] else Agent(folder)
        return serve(listening, announce=self._announce, tick=agent.tick if agent else lambda: None)

    def _make_stores(self, folder: Path) -> None:
        worker, now = this_worker(), datetime.now(UTC)
        told = (*stories(now), phase_story(now))
        with only_worker(settings.DATA_DIR), self._bar() as bar:
            task = bar.add_task("Making sample stores", total=1.0)
            if not is_made(folder):
                clear(folder)
                replay(folder, told, lambda project: register(project, worker), now, lambda share: bar.update(task, completed=share))
            known = set(Store.objects.filter(worker=worker).values_list("path", flat=True))
            for story in told:
                # The database may have been deleted, and the stores not.
                if story.registered and str(folder / story.project / story.root) not in known:
                    import_store(register(folder / story.project, worker))

    def _bar(self) -> Progress:
        parts = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
        watched = self.verbosity > 0 and sys.stderr.isatty()
        return Progress(*parts, console=Console(stderr=True), transient=True, disable=not watched)

    def _announce(self, address: str) -> None:
        self.print_lines([f"memoryui is on {address}"])
        self.stdout.flush()
        self.say("Ctrl-C stops it.")


def _account_lines(accounts: list[Account]) -> list[str]:
    if not any(account.password for account in accounts):
        return ["The passwords were printed when the demo was made; --new-passwords makes new ones."]
    return [
        "Accounts, shown once:",
        *(f"  {account.name:<10}{account.password or 'as printed before'}" for account in accounts),
    ]
