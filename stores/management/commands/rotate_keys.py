"""Makes a new key for approval markers."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from stores.errors import NotAllowed
from stores.management.base import DONE, StoreCommand
from stores.management.signing_in import add_sign_in_arguments, sign_in
from stores.review import keys


class Command(StoreCommand):
    """Sign with a new key from now on."""

    help = (
        "Make a new key that signs approvals from now on. Run it where the web runs: the private key lies in its data folder and\n"
        "nowhere else. Markers of older keys still count as long as a worker trusts the key; the new one is trusted here at once, and\n"
        "on other hosts after enroll_worker has pinned it there. This needs a superuser."
    )
    examples = ("rotate_keys --as root",)

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Who says so."""
        add_sign_in_arguments(parser)

    def run(self, **options: Any) -> int:
        """Make the key."""
        user = sign_in(options).user
        if not user.is_superuser:
            raise NotAllowed("Keys are made by those who administer memoryui.")
        kid, _ = keys.make_key(timezone.now(), actor=user, through="terminal")
        if self.as_json:
            self.print_json({"kid": kid})
        else:
            self.print_lines([f"Approvals are signed with the key {kid} from now on."])
            self.say("Pin it on every other host that applies: enroll_worker there takes it from /api/v1/keys.")
        return DONE
