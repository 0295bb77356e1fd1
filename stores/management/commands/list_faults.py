"""Lists the faults of a store."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from stores import display
from stores.management.base import DONE, StoreCommand, columns, store_named
from stores.models import Fault
from stores.selectors import documents, wording


class Command(StoreCommand):
    """Every fault with its place and what would mend it."""

    help = (
        "List what is wrong in a store, as the last import found it: file, line and byte of each fault, worst first, and what\n"
        "would mend it. Nothing is changed."
    )
    examples = ("list_faults shop-api", "list_faults shop-api --json")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which store."""
        parser.add_argument("slug", metavar="SLUG", help="the store")

    def run(self, **options: Any) -> int:
        """Read the faults from the mirror."""
        store = store_named(options["slug"])
        found = Fault.objects.filter(store=store).order_by("rank", "path", "line", "id").iterator(chunk_size=2000)
        faults = documents.fault_documents(store, found)
        if self.as_json:
            self.print_json({"store": store.slug, "faults": faults})
            return DONE
        if store.imported_at is None:
            self.say(f"Store {store.slug} has not been imported yet, so its faults are not known.")
            return DONE
        self.print_lines(columns([_row(fault) for fault in faults]))
        self.say(f"{wording.counted(len(faults), 'fault')} as of {display.iso(store.imported_at)}.")
        return DONE


def _row(fault: documents.FaultDocument) -> tuple[str, ...]:
    place = fault["file"] if fault["line"] is None else f"{fault['file']}:{fault['line']}"
    byte = "" if fault["byte"] is None else f"byte {fault['byte']:,}"
    repair = fault["repair"]
    mending = " ".join(filter(None, (repair["mode"], repair["action"])))
    marks = f"{' (pending)' if fault['pending'] else ''}{' (acknowledged)' if fault['acknowledged'] else ''}"
    return (fault["severity"], fault["code"], place, byte, mending, f"{fault['message']}{marks}")
