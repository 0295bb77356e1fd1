"""What must stand before memoryui can serve: the database of this version, and the static files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, SystemCheckError

from stores.files import write_file_atomically
from stores.management.base import Refused
from stores.worker.identity import only_worker

NOT_SERVED = ("*.map", "redoc*", "htmax*", "htmx-*", "xregexp*", "jquery.js", "select2.full.js")
"""Files of our dependencies that no page asks for: compressing them would only make the first start longer."""


def prepare(command: BaseCommand) -> None:
    """Migrate, collect static files and run the system checks, whose warnings go to standard error.

    Raises Refused when a check finds an error; WorkerRunning, before anything is changed, when another process is the worker of
    this data folder.
    """
    settings.DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    with only_worker(settings.DATA_DIR):
        call_command("migrate", interactive=False, verbosity=0)
        collect_static_files()
    try:
        command.check()
    except SystemCheckError as err:
        raise Refused(str(err)) from err


def collect_static_files() -> bool:
    """Copy and compress the static files unless those that were collected last are the ones there are; True if it was done."""
    mark = Path(settings.DATA_DIR) / "static_files_collected"
    wanted = hashlib.sha256("\n".join(sorted(_facts())).encode("utf-8", "surrogateescape")).hexdigest()
    if mark.exists() and mark.read_text("ascii") == wanted and Path(settings.STATIC_ROOT).is_dir():
        return False
    # Cleared first: collectstatic goes by times alone and would keep a newer copy of an older version.
    call_command("collectstatic", clear=True, interactive=False, verbosity=0, ignore_patterns=list(NOT_SERVED))
    write_file_atomically(mark, wanted.encode("ascii"))
    return True


def _facts() -> Iterator[str]:
    """Give name, size and time of each static file, and what else decides what is made of them."""
    yield f"whitenoise {version('whitenoise')} without {NOT_SERVED}"
    for finder in get_finders():
        for name, storage in finder.list(list(NOT_SERVED)):
            found = Path(storage.path(name)).stat()
            yield f"{name} {found.st_size} {found.st_mtime_ns}"
