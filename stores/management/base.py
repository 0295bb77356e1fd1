"""What all commands share: one JSON document or readable lines, exit codes, one clear line for what cannot be done (DESIGN §5)."""

from __future__ import annotations

import difflib
import getpass
import json
import os
import socket
import sys
import traceback
from argparse import RawDescriptionHelpFormatter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter
from django.db import DatabaseError, connection

from stores.errors import MemoryUIError, UnknownStore
from stores.formats.visible import one_line
from stores.models import Store, Worker
from stores.worker import identity

DONE = 0
FAILED = 1
REFUSED = 2
"""Also for a crash: nobody may take it for a verdict (ruling 28)."""
INTERRUPTED = 130
PIPE_CLOSED = 141


class Refused(CommandError):
    """What was asked cannot be done; Django prints it as one line and ends with the exit code of refusals."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message), returncode=REFUSED)


class _HelpFormatter(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Own options first, and the examples as they are written."""


class StoreCommand(BaseCommand):
    """A command about stores.

    A subclass gives `help`, `examples` (lines after `manage.py`), its arguments in `add_own_arguments`, and `run`, which gives
    the exit code. Results go to standard output, messages to standard error.
    """

    examples: ClassVar[Sequence[str]] = ()
    offers_json: ClassVar[bool] = True
    requires_system_checks = ()
    suppressed_base_arguments = {"--version", "--pythonpath", "--settings", "--skip-checks", "--force-color"}

    as_json: bool
    verbosity: int

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Declare the command's own arguments."""

    def run(self, **options: Any) -> int:
        """Do the work and give the exit code."""
        raise NotImplementedError

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Make a parser whose errors are one line, with examples after the options."""
        examples = "\n".join(f"  python manage.py {example}" for example in self.examples)
        parser = super().create_parser(
            prog_name, subcommand, formatter_class=_HelpFormatter, epilog=f"examples:\n{examples}" if examples else None, **kwargs
        )
        parser.called_from_command_line = False
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command's own arguments and --json."""
        self.add_own_arguments(parser)
        if self.offers_json:
            parser.add_argument(
                "--json", action="store_true", dest="as_json", help="print one JSON document on standard output, for scripts"
            )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command; whatever stands in its way becomes one line and the exit code of refusals."""
        self.as_json, self.verbosity = options.get("as_json", False), options["verbosity"]
        try:
            code = self.run(**options)
        except MemoryUIError as err:
            raise Refused(str(err)) from err
        except DatabaseError as err:
            raise Refused(_about_database(err)) from err
        if code:
            sys.exit(code)

    def run_from_argv(self, argv: list[str]) -> None:
        """Run from the command line; a crash ends with the exit code of refusals, never with that of a verdict."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        try:
            super().run_from_argv(argv)
            sys.stdout.flush()
        except CommandError as err:
            if "--traceback" in argv:
                raise
            self.stderr.write(f"{one_line(str(err).removeprefix('Error: ')).rstrip('.')}. See `manage.py {argv[1]} --help`.")
            sys.exit(REFUSED)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        except BrokenPipeError:
            # The reader went away; what Python still holds for it must not be written at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(PIPE_CLOSED)
        except Exception as err:  # noqa: BLE001  any crash must end with the exit code of refusals
            if "--traceback" in argv:
                traceback.print_exc()
            else:
                place = traceback.extract_tb(err.__traceback__)[-1]
                where = f"{Path(place.filename).name}, line {place.lineno}"
                self.stderr.write(
                    f"Crashed: {type(err).__name__}: {one_line(str(err))} ({where}). Run it again with --traceback for the whole story."
                )
            sys.exit(REFUSED)

    def print_json(self, document: object) -> None:
        """Print the one JSON document, as plain ASCII so that no terminal can be moved by it."""
        self.stdout.write(json.dumps(document, indent=2))

    def print_lines(self, lines: Iterable[str]) -> None:
        """Print lines of a result; control characters of memory text are shown, not obeyed."""
        for line in lines:
            self.stdout.write(one_line(line))

    def say(self, message: str) -> None:
        """Print a message on standard error, unless --verbosity 0 asks for silence."""
        if self.verbosity:
            self.stderr.write(one_line(message), lambda text: text)


def terminal_actor() -> str:
    """Give who acts, as the audit names it: `os:<user>@<host>`."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return f"os:{user}@{socket.gethostname()}"


def store_named(slug: str) -> Store:
    """Give the store of this slug; raises UnknownStore with the most similar slugs."""
    store = Store.objects.select_related("worker").filter(slug=slug).first()
    if store is not None:
        return store
    known = list(Store.objects.order_by("slug").values_list("slug", flat=True))
    near = difflib.get_close_matches(slug, known, n=3)
    if not known:
        raise UnknownStore(f"No store is called {slug}: none is registered yet. Register one with add_store or discover_stores --add.")
    hint = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(known[:8])}{', …' if len(known) > 8 else ''}."
    raise UnknownStore(f"No store is called {slug}. {hint}")


def own_stores(slugs: Sequence[str], worker: Worker) -> list[Store]:
    """Give the named stores, or all of this host's when none is named; raises UnknownStore, or OtherHost for one of another host."""
    if not slugs:
        return list(Store.objects.filter(worker=worker).select_related("worker").order_by("slug"))
    stores = [store_named(slug) for slug in dict.fromkeys(slugs)]
    for store in stores:
        identity.require_ours(store, worker)
    return stores


def columns(rows: Sequence[Sequence[str]], gap: str = "  ") -> list[str]:
    """Align rows of text in columns; the last one stays as it is."""
    widths = [max((len(one_line(row[index])) for row in rows), default=0) for index in range(len(rows[0]) - 1)] if rows else []
    return [
        gap.join([*(one_line(cell).ljust(width) for cell, width in zip(row[:-1], widths, strict=True)), one_line(row[-1])]).rstrip()
        for row in rows
    ]


def _about_database(err: DatabaseError) -> str:
    text = str(err).strip()
    if "no such table" in text or "does not exist" in text or "no such column" in text:
        return "The database is not set up for this version: run `python manage.py migrate` first."
    return f"The database ({connection.vendor}) cannot be used: {text}"
