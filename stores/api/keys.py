"""The public keys of approval markers, for anybody who wants to check one."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Field, Router, Schema

from stores.review.keys import jwks

router = Router(tags=["keys"])


class KeyOut(Schema):
    """A public key as RFC 8037 writes it."""

    kty: str
    crv: str
    alg: str
    use: str
    x: str
    kid: str


class KeysOut(Schema):
    """A JWKS document (RFC 7517)."""

    keys: list[KeyOut] = Field(description="Every key that ever signed, the newest first.")


@router.get("/keys", auth=None, response=KeysOut, summary="Public keys of approval markers")
def key_list(request: HttpRequest) -> dict[str, list[Any]]:
    """Open to everybody: with these keys `verify_marker`, or any JWS library, checks a marker without memoryui."""
    return jwks()
