"""Checks the chain of the product audit, the copy that a worker keeps of it, and the audit log of a store."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from stores import audit, audit_copy
from stores.audit_copy import CopyVerdict
from stores.errors import BadRequest
from stores.files import CannotRead, StoreRoot
from stores.formats.lines import split_lines
from stores.formats.phase_memory.layout import AUDIT
from stores.health.phase_memory.audit_chain import ChainReport, check_chain
from stores.lifecycle.states import State
from stores.lifecycle.vocabulary import PHASE_MEMORY
from stores.management.base import DONE, FAILED, StoreCommand, store_named
from stores.models import LifecycleAction, Store
from stores.selectors.audit import chain_sentence
from stores.selectors.wording import counted
from stores.worker.identity import require_ours, this_worker

_WORDS = {
    "intact": "every record follows the one above it",
    "torn_tail": "the last line is cut off, as a crash leaves it; nothing else is wrong",
    "altered": "a record is not what was written",
    "gap": "records are missing in the middle",
    "truncated": "the newest records are missing",
}


class Command(StoreCommand):
    """Recompute every event's digest and follow the chain to its head."""

    help = (
        "Check that no event of memoryui's own audit was changed, removed or cut off: every digest is computed anew and followed\n"
        "from the first event to the head that the database keeps; where a worker has its data folder here, its own copy too.\n"
        "With SLUG the audit log of that phase-memory store, on its disk: its chain, and every record that memoryui wrote into it.\n"
        "Exit code 0 for an intact chain, 1 for one that is not."
    )
    examples = ("verify_audit", "verify_audit atlas", "verify_audit --json")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which log."""
        parser.add_argument("slug", nargs="?", default="", metavar="SLUG", help="check the audit log of this store instead")

    def run(self, **options: Any) -> int:
        """Check the whole chain."""
        if options["slug"]:
            return self._check_store(store_named(options["slug"]))
        verdict = audit.verify()
        place = settings.DATA_DIR / audit.COPY
        copy = audit_copy.check_copy(place, f"worker {this_worker().label}") if place.is_file() else None
        if self.as_json:
            self.print_json(
                {
                    "status": verdict.status,
                    "checked": verdict.checked,
                    "events": verdict.count,
                    "first_bad": verdict.first_bad,
                    "head": verdict.head,
                    "copy": copy._asdict() if copy is not None else None,
                }
            )
        else:
            lines = [f"{verdict.status}: {chain_sentence(verdict)}", f"head {verdict.head}"]
            self.print_lines([*lines, *([_of_copy(copy)] if copy is not None else [])])
        return DONE if verdict.status == "intact" and (copy is None or copy.status == "intact") else FAILED

    def _check_store(self, store: Store) -> int:
        if store.kind != PHASE_MEMORY:
            raise BadRequest(f"Stores of the kind {store.kind} keep no audit of their own: `verify_audit` alone checks memoryui's.")
        require_ours(store, this_worker())
        try:
            with StoreRoot(store.path) as root, root.open(AUDIT) as opened:
                report = check_chain(split_lines(opened.chunks(0, opened.stat.size_bytes)), _written(store))
        except CannotRead as err:
            raise BadRequest(f"{AUDIT} cannot be read: {err}") from err
        if self.as_json:
            self.print_json({"store": store.slug, **report._asdict(), "missing": list(report.missing)})
        else:
            self.print_lines(_of_store(store, report))
        return DONE if report.status == "intact" else FAILED


def _written(store: Store) -> list[str]:
    """Give the ids of the audit records that memoryui wrote into a store, in their order."""
    applied = LifecycleAction.objects.filter(store_uid=store.uid, state=State.APPLIED).order_by("applied_at", "id")
    return [one for one in applied.values_list("receipt__audit_id", flat=True) if isinstance(one, str) and one]


def _of_copy(copy: CopyVerdict) -> str:
    place = f", first at event {copy.first_bad:,}" if copy.first_bad is not None else ""
    foreign = f", {counted(copy.foreign, 'line')} of others" if copy.foreign else ""
    return f"copy {copy.status}: {counted(copy.events, 'event')} of the worker here{place}{foreign}"


def _of_store(store: Store, report: ChainReport) -> list[str]:
    place = f", first at line {report.first_bad:,}" if report.first_bad is not None else ""
    lines = [f"{report.status}: {_WORDS[report.status]}{place}"]
    lines.append(
        f"{counted(report.records, 'record')} in {store.slug}: {report.ours:,} by memoryui, {report.foreign:,} by others, not vouched for"
    )
    if report.malformed:
        lines.append(f"{counted(report.malformed, 'line')} that {'is' if report.malformed == 1 else 'are'} no record")
    if report.missing:
        lines.append(f"missing: {', '.join(report.missing[:10])}{' …' if len(report.missing) > 10 else ''}")
    return lines
