"""Takes over the stores of another worker."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils import timezone

from stores.errors import BadRequest, MemoryUIError
from stores.management.base import DONE, FAILED, StoreCommand, store_named
from stores.management.store_commands import note
from stores.mirror import adopting
from stores.models import Store, Worker
from stores.worker.identity import this_worker


class Command(StoreCommand):
    """Move stores of another worker to this host's worker."""

    help = (
        "Take over the stores of another worker: after its data folder was lost, or when the projects moved to this host.\n\n"
        "A store must lie here at the same path and be the same: the very folder that was read last, or one with the mirrored content.\n"
        "Stores keep their addresses, history, reviews and notes. Nothing is taken from a worker that was seen in the last two minutes."
    )
    examples = ("adopt_stores --from build-01", "adopt_stores --from 4f0c61ce-6a0e-4f0a-9a4e-0d7c6a3f8d11 shop-api")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """From whom, and which."""
        parser.add_argument("--from", metavar="OLD", dest="old", required=True, help="label or id of the worker that had them")
        parser.add_argument("slugs", metavar="SLUG", nargs="*", help="only these stores")
        parser.add_argument("--force", action="store_true", help="also while the other one may be at work, and where the content differs")

    def run(self, **options: Any) -> int:
        """Take over what can be; the exit code is 1 where a store could not."""
        worker, old, force = this_worker(), adopting.worker_named(options["old"]), options["force"]
        if old.pk == worker.pk:
            raise BadRequest(f"{old.label} is this host's own worker: its stores are here.")
        stores = self._wanted(old, options["slugs"])
        adopting.check_gone(old, timezone.now(), force=force)
        refused: dict[str, str] = {}
        for store in stores:
            try:
                with transaction.atomic():
                    adopting.adopt(store, worker, force=force)
                    note(store, "store_adopted", {"from": str(old.uid), "to": str(worker.uid), "path": store.path, "forced": force})
            except MemoryUIError as err:
                refused[store.slug] = str(err)
        self._tell(old, worker, stores, refused)
        return FAILED if refused else DONE

    def _wanted(self, old: Worker, slugs: list[str]) -> list[Store]:
        if not slugs:
            return list(Store.objects.filter(worker=old).order_by("slug"))
        stores = [store_named(slug) for slug in dict.fromkeys(slugs)]
        for store in stores:
            if store.worker_id != old.pk:
                raise BadRequest(f"{store.slug} belongs to the worker {store.worker.label}, not to {old.label}.")
        return stores

    def _tell(self, old: Worker, worker: Worker, stores: list[Store], refused: dict[str, str]) -> None:
        if self.as_json:
            told = [
                {"store": one.slug, "path": one.path, "adopted": one.slug not in refused, "message": refused.get(one.slug, "")}
                for one in stores
            ]
            self.print_json({"from": str(old.uid), "to": str(worker.uid), "stores": told})
            return
        self.print_lines(f"{one.slug}: {refused.get(one.slug) or f'now of {worker.label}'}" for one in stores)
        if not stores:
            self.say(f"The worker {old.label} has no stores.")
        elif len(refused) < len(stores):
            self.say("A running worker reads them within seconds; without one, run `manage.py import_stores`.")
