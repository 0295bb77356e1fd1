"""An import from a command: patient with a worker that imports the same store, and one line to show for it."""

from __future__ import annotations

from collections.abc import Callable

from stores import display
from stores.errors import Conflict
from stores.management.progress import OnImport
from stores.mirror.importing import import_store
from stores.models import ImportRun, Store
from stores.selectors import wording

BUSY_TRIES = 12
"""Each waits up to 5 s for the other import."""


def import_patiently(store: Store, *, full: bool, show: OnImport | None, say: Callable[[str], None]) -> ImportRun:
    """Import a store; another import of it, say a worker's, is waited for. Raises Conflict when it takes over a minute."""
    for tries_left in reversed(range(BUSY_TRIES)):
        try:
            return import_store(store, full=full, trigger="command", progress=show)
        except Conflict:
            if not tries_left:
                raise
            say(f"Another import holds {store.slug}; waiting for it.")
    raise AssertionError("the last try returns or raises")


def run_row(run: ImportRun) -> tuple[str, ...]:
    """Give one import as cells of a line."""

    def total(name: str) -> int:
        return sum(int(counts.get(name, 0)) for counts in run.records.values())

    return (
        run.store.slug,
        run.mode,
        run.status,
        wording.counted(total("total"), "record"),
        f"+{total('created'):,} ~{total('updated'):,} −{total('removed'):,}",
        wording.counted(run.faults, "fault"),
        f"{display.size(run.bytes_read)} read in {run.duration_s:.2f} s",
    )
