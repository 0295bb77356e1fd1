"""Progress of long work, on a terminal only: bars go to standard error, so results stay clean."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from stores.formats.visible import one_line
from stores.mirror.importing import ImportProgress

OnImport = Callable[[ImportProgress], None]
OnFolder = Callable[[str], None]


def _wanted(verbosity: int) -> bool:
    return verbosity > 0 and sys.stderr.isatty()


@contextmanager
def import_bars(verbosity: int) -> Iterator[OnImport | None]:
    """Give what draws one bar a file while its bytes are read; None where nobody watches."""
    if not _wanted(verbosity):
        yield None
        return
    parts = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*parts, console=Console(stderr=True), transient=True) as bars:
        tasks = {}

        def show(progress: ImportProgress) -> None:
            key = (progress.store, progress.path)
            if key not in tasks:
                tasks[key] = bars.add_task(escape(one_line(f"{progress.store}/{progress.path}")), total=progress.bytes_total)
            bars.update(tasks[key], completed=progress.bytes_done, total=progress.bytes_total)

        yield show


@contextmanager
def folder_spinner(verbosity: int) -> Iterator[OnFolder | None]:
    """Give what counts the folders that are looked into; None where nobody watches."""
    if not _wanted(verbosity):
        yield None
        return
    parts = (SpinnerColumn(), TextColumn("{task.completed:,} folders"), TextColumn("{task.description}"))
    with Progress(*parts, console=Console(stderr=True), transient=True) as spinner:
        task = spinner.add_task("", total=None)

        def show(folder: str) -> None:
            spinner.update(task, advance=1, description=escape(one_line(folder[-80:])))

        yield show


@contextmanager
def spinner(verbosity: int, doing: str) -> Iterator[None]:
    """Show that work goes on, where somebody watches."""
    if not _wanted(verbosity):
        yield
        return
    with Progress(SpinnerColumn(), TextColumn("{task.description}"), console=Console(stderr=True), transient=True) as bar:
        bar.add_task(escape(one_line(doing)), total=None)
        yield
