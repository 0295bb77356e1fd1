"""Says how healthy stores are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandParser

from stores.management.base import StoreCommand, columns, store_named
from stores.models import Condition, Store
from stores.selectors import documents, verdicts

EXIT_CODES = {"healthy": 0, "degraded": 1, "unavailable": 3, "unmeasured": 4}
"""The worst store decides; 2 is left for refusals and crashes (ruling 28)."""


class Command(StoreCommand):
    """Verdict, conditions and files of stores, as last measured."""

    help = (
        "Say how healthy stores are, as the worker or the last import measured them. A measurement older than two minutes counts\n"
        "as unmeasured: run import_stores first where no worker runs.\n\n"
        "Exit code: 0 healthy, 1 degraded, 3 unavailable, 4 unmeasured; the worst store decides. 2 means that the command failed."
    )
    examples = ("store_health", "store_health shop-api --json")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which stores."""
        parser.add_argument("slugs", metavar="SLUG", nargs="*", help="store to judge; default: every store")

    def run(self, **options: Any) -> int:
        """Judge stores by the mirror."""
        now = datetime.now(UTC)
        slugs = dict.fromkeys(options["slugs"])
        stores = [store_named(slug) for slug in slugs] if slugs else list(Store.objects.select_related("worker"))
        judged = verdicts.worst_first(verdicts.judge(store, now) for store in stores)
        overall = verdicts.overall(one.verdict for one in judged)
        if self.as_json:
            self.print_json({"overall": overall, "stores": documents.health_documents(judged)})
        elif judged:
            self._print(judged)
        else:
            self.say("No store is registered. Register one with add_store or discover_stores --add.")
        return EXIT_CODES[overall]

    def _print(self, judged: list[verdicts.JudgedStore]) -> None:
        self.print_lines(columns([(one.store.slug, one.verdict, one.sentence) for one in judged]))
        rows = []
        for one in judged:
            for condition in Condition.objects.filter(store=one.store, status__in=("failing", "note")).order_by("position"):
                place = f"{one.store.slug}/{condition.path}" if condition.path else one.store.slug
                rows.append((condition.status, place, condition.message))
        if rows:
            self.print_lines(["", *columns(rows)])
