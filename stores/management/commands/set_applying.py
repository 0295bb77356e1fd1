"""Lets approved actions be applied, or stops all applying."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from stores.accounts import require_operator
from stores.formats import storable
from stores.management.base import DONE, StoreCommand
from stores.management.signing_in import add_sign_in_arguments, sign_in
from stores.review.installation import set_applying


class Command(StoreCommand):
    """Turn the global switch."""

    help = (
        "Turn the switch without which nothing is applied to any store: it is off after an installation. What was approved waits\n"
        "while it is off. This needs the role operator; who turns it, and why, stands in the audit."
    )
    examples = ("set_applying on --as ines", 'set_applying off --as ines --reason "disk of build-01 is failing"')

    def add_own_arguments(self, parser: CommandParser) -> None:
        """On or off, and who says so."""
        parser.add_argument("state", choices=("on", "off"), help="on: apply what may be applied · off: apply nothing")
        add_sign_in_arguments(parser)
        parser.add_argument("--reason", default="", help="why, for the audit")

    def run(self, **options: Any) -> int:
        """Turn it."""
        user = require_operator(sign_in(options).user)
        wanted = options["state"] == "on"
        turned = set_applying(wanted, user, timezone.now(), reason=storable.text(options["reason"]), through="terminal")
        if self.as_json:
            self.print_json({"applying": wanted, "changed": turned})
        else:
            self.print_lines([f"Applying is {options['state']}{'' if turned else ' already'}."])
        return DONE
