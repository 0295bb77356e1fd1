"""Checks an approval marker offline."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.core.management.base import CommandParser

from stores.management.base import DONE, FAILED, Refused, StoreCommand, columns
from stores.review import keys, markers


class Command(StoreCommand):
    """Tell whether a marker is one of ours, and what it says."""

    help = (
        "Check the signature of an approval marker, as audit records hold it, and print what it says: who approved which action with\n"
        "which digest, for which store, until when. Neither database nor network is asked. The exit code is 1 for a marker that no known\n"
        "key has signed. One that has expired was genuine all the same: it is said beside it."
    )
    examples = ("verify_marker eyJhbGciOi…", "verify_marker - --keys keys.json --json < marker.txt")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which marker, by which keys."""
        parser.add_argument("marker", metavar="M", help="the marker, a compact JWS; - reads standard input")
        parser.add_argument(
            "--keys",
            default="",
            metavar="FILE",
            help="a JWKS document such as /api/v1/keys gives; default: the keys that this data folder trusts",
        )

    def run(self, **options: Any) -> int:
        """Check and print."""
        known = _keys(options["keys"])
        text = sys.stdin.read(markers.LONGEST + 2) if options["marker"] == "-" else options["marker"]
        try:
            said = markers.read(text.strip(), known)
        except markers.MarkerRefused as refused:
            if self.as_json:
                self.print_json({"valid": False, "reason": str(refused)})
            else:
                self.print_lines([f"Not valid: {refused}"])
            if not known:
                self.say("No key is known here: name a file with --keys.")
            return FAILED
        expired = said.exp <= datetime.now(UTC)
        claims = {
            "store": said.aud,
            "action_id": said.action_id,
            "digest": said.digest,
            "reviewer": said.sub,
            "review_id": said.jti,
            "installation": said.iss,
            "policy_version": said.policy_version,
            "separation": said.sep,
            "approved_at": said.iat.isoformat().replace("+00:00", "Z"),
            "expires_at": said.exp.isoformat().replace("+00:00", "Z"),
        }
        if self.as_json:
            self.print_json({"valid": True, "expired": expired, **claims})
        else:
            self.print_lines([f"Valid{', but it has expired' if expired else ''}.", *columns(list(claims.items()))])
        return DONE


def _keys(name: str) -> dict[str, Ed25519PublicKey]:
    try:
        return keys.keys_in(json.loads(Path(name).read_bytes())) if name else keys.trusted_keys()
    except OSError as err:
        raise Refused(f"{err.filename} cannot be read: {err.strerror}.") from err
    except (ValueError, RecursionError) as err:
        raise Refused(f"{name or 'A key of this data folder'} holds no keys that can be read: {err}") from err
