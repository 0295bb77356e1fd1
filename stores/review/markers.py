"""Approval markers: a signed statement that one person approved exactly one action (DESIGN §7). Reading one needs no database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

TYPE: Final = "memoryui-approval+jws"
ALGORITHM: Final = "EdDSA"
LONGEST: Final = 4096
_HEADER: Final = frozenset({"alg", "typ", "kid"})
_TEXTS: Final = ("iss", "sub", "jti", "aud", "action_id", "digest", "policy_version", "sep")


class MarkerRefused(ValueError):
    """A text that is no marker of a key that counts; the message says why, for people."""


@dataclass(frozen=True, slots=True)
class Marker:
    """What an approval says."""

    iss: str
    """The installation."""
    sub: str
    """The reviewer's account id; no name, as stores are committed (ruling 52)."""
    jti: str
    """`memoryui:` and the number of the review."""
    aud: str
    """The store's id."""
    action_id: str
    digest: str
    policy_version: str
    iat: datetime
    exp: datetime
    sep: str = "four_eyes"
    """four_eyes; none where a single reviewer may approve own proposals; broken for break-glass."""


def sign(marker: Marker, kid: str, key: Ed25519PrivateKey) -> str:
    """Give a marker as a compact JWS."""
    claims: dict[str, Any] = {name: getattr(marker, name) for name in _TEXTS}
    claims |= {"iat": int(marker.iat.timestamp()), "exp": int(marker.exp.timestamp())}
    return jwt.encode(claims, key, algorithm=ALGORITHM, headers={"typ": TYPE, "kid": kid})


def read(text: str, keys: Mapping[str, Ed25519PublicKey]) -> Marker:
    """Check a marker's form and signature and give what it says; whether it is in time and about this action is asked elsewhere.

    Raises MarkerRefused. The key is one of `keys` by its id; a key or an address of one in the marker makes it refused.
    """
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
        raise MarkerRefused("This is no approval marker.")
    try:
        header = jwt.get_unverified_header(text)
        if set(header) != _HEADER or header["typ"] != TYPE or header["alg"] != ALGORITHM:
            raise MarkerRefused("This is no approval marker of memoryui.")
        key = keys.get(header["kid"]) if isinstance(header["kid"], str) else None
        if key is None:
            raise MarkerRefused("It is signed by a key that is not among the known ones.")
        options: Any = {"verify_exp": False, "verify_iat": False, "verify_aud": False, "verify_nbf": False}
        claims = jwt.decode(text, key, algorithms=[ALGORITHM], options=options)
    except (jwt.PyJWTError, ValueError, TypeError, UnicodeError) as err:
        if isinstance(err, MarkerRefused):
            raise
        raise MarkerRefused("Its signature is not one of this installation's.") from err
    texts: dict[str, str] = {name: value for name in _TEXTS if isinstance(value := claims.get(name), str)}
    if len(texts) < len(_TEXTS):
        raise MarkerRefused("It lacks something that an approval says.")
    return Marker(iat=_time(claims.get("iat")), exp=_time(claims.get("exp")), **texts)


def _time(given: object) -> datetime:
    if not isinstance(given, int) or isinstance(given, bool):
        raise MarkerRefused("It does not say when it was given, or how long it counts.")
    try:
        return datetime.fromtimestamp(given, UTC)
    except (OverflowError, ValueError, OSError) as err:
        raise MarkerRefused("It does not say when it was given, or how long it counts.") from err
