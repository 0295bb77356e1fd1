"""Web and worker in one."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from stores.management.base import StoreCommand
from stores.management.installing import prepare
from stores.management.serving import listen, serve
from stores.models import User


class Command(StoreCommand):
    """Run memoryui on this host."""

    help = (
        "Run memoryui on this host: the database is brought up to date, then the pages and the worker run until Ctrl-C.\n\n"
        "Only this host can reach it, unless --host says otherwise and MEMORYUI_BASE_URL names the address that people use."
    )
    examples = ("serve", "serve --port 8123")
    offers_json = False

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Where to listen."""
        parser.add_argument("--port", type=int, default=8000, metavar="N", help="port of the pages (default: 8000); 0 takes any free one")
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this host only)")

    def run(self, **options: Any) -> int:
        """Prepare, serve, end."""
        listening = listen(options["host"], options["port"])
        prepare(self)
        return serve(listening, announce=self._announce)

    def _announce(self, address: str) -> None:
        self.print_lines([f"memoryui is on {address}"])
        self.stdout.flush()
        if User.objects.filter(is_active=True).exists():
            self.say(f"Sign in at {address}/sign-in/ with your account. Ctrl-C stops memoryui.")
        else:
            self.say(
                "There is no account yet: make the first one with `python manage.py createsuperuser` in another terminal, then sign in."
            )
