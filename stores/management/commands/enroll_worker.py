"""Says whose approvals the worker of this host takes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandParser

from stores import audit
from stores.apply.steps import Actor
from stores.management.applying import actor
from stores.management.base import DONE, Refused, StoreCommand
from stores.review import keys

MOST_BYTES: Final = 1024 * 1024


class Command(StoreCommand):
    """Pin the public keys of approvals in this host's data folder."""

    help = (
        "The worker of a host takes an approval only if a key signed it that is pinned in the host's own data folder; none ever comes from\n"
        "the database. Where web and worker share a data folder this is done by itself. On every other host fetch the keys from the web,\n"
        "compare them with what is shown there, and pin them here."
    )
    examples = ("enroll_worker --keys keys.json", "enroll_worker --list", "enroll_worker --remove 1c0a…")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """What to do with which keys."""
        what = parser.add_mutually_exclusive_group()
        what.add_argument(
            "--keys", default="", metavar="FILE", help="pin the keys of a JWKS document, as /api/v1/keys gives it; - reads standard input"
        )
        what.add_argument("--list", action="store_true", help="only say which keys are pinned (the default)")
        what.add_argument("--remove", default="", metavar="KID", help="take approvals of this key no more")

    def run(self, **options: Any) -> int:
        """Pin, take out or list."""
        pinned: list[str] = []
        removed: list[str] = []
        if options["keys"]:
            pinned = _pin(options["keys"])
        elif options["remove"]:
            if not keys.distrust(options["remove"]):
                raise Refused(f"No key {options['remove']} is pinned here.")
            removed = [options["remove"]]
        for kid in pinned:
            _note("key_pinned", kid, actor())
        for kid in removed:
            _note("key_unpinned", kid, actor())
        known = sorted(keys.trusted_keys())
        if self.as_json:
            self.print_json({"keys": known, "pinned": pinned, "removed": removed})
        else:
            self.print_lines([f"{kid}{'  new' if kid in pinned else ''}" for kid in known])
            if not known:
                self.say("No key is pinned here, so no approval counts on this host.")
        return DONE


def _pin(name: str) -> list[str]:
    """Pin the keys of a document that are not pinned yet; give their ids."""
    before = keys.trusted_keys()
    try:
        content = sys.stdin.buffer.read(MOST_BYTES + 1) if name == "-" else Path(name).read_bytes()
        document = json.loads(content)
        found = keys.keys_in(document)
        if not found:
            raise Refused(f"{name} holds no key of approvals.")
        for jwk in document["keys"]:
            if isinstance(jwk, dict) and jwk.get("crv") == "Ed25519":
                keys.trust(jwk)
    except OSError as err:
        raise Refused(f"{name} cannot be read: {err.strerror}.") from err
    except (ValueError, RecursionError) as err:
        raise Refused(f"{name} holds no keys that can be read: {err}") from err
    return sorted(found.keys() - before.keys())


def _note(event: audit.Event, kid: str, by: Actor) -> None:
    audit.record(event, actor=None, actor_label=by.label, object_label=kid, through="terminal")
