"""The keys of approval markers: made at first use where the web runs, rotated by a command, public ones kept for ever (ruling 13)."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from django.conf import settings
from django.db import transaction

from stores import audit
from stores.errors import CannotWrite
from stores.files import make_folder, why, write_new_file
from stores.models import SigningKey, User

_PRIVATE: Final = "private"
_TRUSTED: Final = "trusted"

Jwk = dict[str, str]


def signing_key() -> tuple[str, Ed25519PrivateKey]:
    """Give the id of the newest key and the key; the first of an installation is made here. Raises CannotWrite.

    Where the key lies on another machine none is made: a second one, beside the stores, would be theirs who may not approve (ruling 13).
    """
    row = SigningKey.objects.filter(retired_at__isnull=True).first()
    if row is None:
        return make_key(datetime.now(UTC))
    try:
        return row.kid, Ed25519PrivateKey.from_private_bytes((_folder(_PRIVATE) / f"{row.kid}.key").read_bytes())
    except (OSError, ValueError) as err:
        raise CannotWrite(
            "The key that signs approvals is not in this data folder, so nothing can be approved from here: do it where the web runs, "
            "or make a new key there with rotate_keys."
        ) from err


def make_key(now: datetime, *, actor: User | None = None, through: audit.Through = "page") -> tuple[str, Ed25519PrivateKey]:
    """Make a new key that signs from now on; older ones still verify. Who may is asked by the caller. Raises CannotWrite.

    Without an actor it is the first approval that needs one.
    """
    key = Ed25519PrivateKey.generate()
    jwk = _public_jwk(key.public_key())
    kid = jwk["kid"]
    try:
        make_folder(_folder(_PRIVATE))
        write_new_file(_folder(_PRIVATE) / f"{kid}.key", key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption()))
    except OSError as err:
        raise CannotWrite(f"The key of approvals cannot be written into the data folder ({why(err)}), so nothing can be approved.") from err
    trust(jwk)
    with transaction.atomic():
        SigningKey.objects.filter(retired_at__isnull=True).update(retired_at=now)
        SigningKey.objects.create(kid=kid, jwk=jwk, created_at=now)
        audit.record("key_made", actor=actor, actor_label="" if actor else "the first approval", object_label=kid, through=through)
    return kid, key


def trust(jwk: Jwk) -> str:
    """Pin a public key in this data folder, so that the worker here takes markers signed by it; give its id. Raises CannotWrite, ValueError."""
    kid = _public_jwk(_public_key(jwk))["kid"]
    try:
        make_folder(_folder(_TRUSTED))
        write_new_file(_folder(_TRUSTED) / f"{kid}.json", json.dumps({**jwk, "kid": kid}, sort_keys=True).encode("ascii"))
    except OSError as err:
        raise CannotWrite(f"The public key cannot be written into the data folder: {why(err)}.") from err
    return kid


def distrust(kid: str) -> bool:
    """Take a pinned key out of this data folder; False when it is none."""
    path = _folder(_TRUSTED) / f"{kid}.json"
    if Path(kid).name != kid or not path.exists():
        return False
    path.unlink()
    return True


def trusted_keys() -> dict[str, Ed25519PublicKey]:
    """Give the public keys that are pinned in this data folder, by their ids; never any from the database."""
    folder = _folder(_TRUSTED)
    listed = [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))] if folder.is_dir() else []
    return keys_in({"keys": listed})


def keys_in(document: Any) -> dict[str, Ed25519PublicKey]:
    """Read a JWKS document; keys of another sort are left out. Each one's id is made from the key, whatever it says. Raises ValueError."""
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("This is no list of keys: it needs the form of /api/v1/keys.")
    found = [_public_key(one) for one in listed if isinstance(one, dict) and one.get("crv") == "Ed25519"]
    return {_public_jwk(one)["kid"]: one for one in found}


def jwks() -> dict[str, list[Any]]:
    """Give all public keys that ever signed, as /api/v1/keys shows them; one query."""
    return {"keys": [row.jwk for row in SigningKey.objects.all()]}


def _public_key(jwk: Any) -> Ed25519PublicKey:
    given = jwk.get("x")
    if jwk.get("kty") != "OKP" or jwk.get("crv") != "Ed25519" or not isinstance(given, str):
        raise ValueError("A key of approvals is an OKP key of the curve Ed25519.")
    return Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)))


def _public_jwk(key: Ed25519PublicKey) -> Jwk:
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    x = base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")
    return {"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "x": x, "kid": sha256(raw).hexdigest()[:32]}


def _folder(name: str) -> Path:
    place: Path = settings.DATA_DIR / "keys" / name
    return place
