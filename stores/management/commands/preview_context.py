"""Shows what an agent is told of a store when its session starts."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from stores.apply.reading import read_if_there
from stores.files import StoreRoot
from stores.formats.orchestkit import decisions, preview
from stores.formats.orchestkit.injection import CLASSIC, REASONS, TOLD, VARIANTS
from stores.formats.secrets import find_secrets, mask
from stores.management.applying import own_store
from stores.management.base import DONE, StoreCommand
from stores.selectors.wording import counted


class Command(StoreCommand):
    """The text that OrchestKit's loader injects into the next session."""

    help = (
        "Print the text that OrchestKit's loader would put into an agent's next session, from decisions.jsonl as it is now, and which\n"
        "lines took a place without being told. Texts that look like secrets are masked. Nothing is changed."
    )
    examples = ("preview_context shop-api", "preview_context shop-api --variant v7 --json")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which store, and whose loader."""
        parser.add_argument("slug", metavar="SLUG", help="the store")
        versions = "; ".join(f"{name}: {about}" for name, about in VARIANTS.items())
        parser.add_argument("--variant", default=CLASSIC, choices=tuple(VARIANTS), help=f"{versions}. Default: {CLASSIC}")

    def run(self, **options: Any) -> int:
        """Read the log and say what the loader says."""
        store = own_store(options["slug"])
        with StoreRoot(store.path) as root:
            data = read_if_there(root, decisions.PATH) or b""
        told = preview(data, options["variant"])
        if self.as_json:
            dropped = [{"line": line, "reason": reason, "message": REASONS[reason]} for line, reason in told.dropped]
            entries = [slot for slot in reversed(told.slots) if slot.fate == TOLD][: told.items]
            self.print_json(
                {
                    "store": store.slug,
                    "variant": options["variant"],
                    "text": mask(told.text),
                    "items": told.items,
                    "dropped": dropped,
                    "throws": told.throws,
                    "told": [{"line": one.line, "id": one.natural_id, "what": mask(one.what)} for one in entries],
                    "masked": len(find_secrets(told.text)),
                    "used": told.used,
                    "limit": told.limit,
                }
            )
            return DONE
        self.print_lines(mask(told.text).split("\n") if told.text else [])
        places = counted(len(told.slots), "place")
        self.say(f"{counted(told.items, 'entry', 'entries')} in {places}, {told.used:,} of {told.limit:,} characters.")
        for line, reason in told.dropped:
            self.say(f"line {line:,}: {REASONS[reason]}.")
        return DONE
