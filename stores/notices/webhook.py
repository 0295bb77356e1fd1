"""Posts one message to one address: signed, with a time limit, and without going anywhere else."""

from __future__ import annotations

import hmac
import http.client
import json
import ssl
from datetime import datetime
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

TIMEOUT_S: Final = 5.0
SIGNATURE: Final = "Memoryui-Signature"


class NotTaken(Exception):
    """The other side did not take the message; the text says why and holds nothing of what was sent."""


def signature(secret: str, at: int, body: bytes) -> str:
    """Give the header by which the receiver knows that a body is ours: HMAC-SHA256 over the time and the body."""
    return f"t={at},v1={hmac.new(secret.encode(), b'%d.%b' % (at, body), sha256).hexdigest()}"


def post(url: str, text: str, secret: str, now: datetime) -> None:
    """Post a text as Slack and its likes take it; raises NotTaken. A redirect is not followed, it counts as a refusal."""
    read = urlsplit(url)
    body = json.dumps({"text": text}).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "memoryui"}
    if secret:
        headers[SIGNATURE] = signature(secret, int(now.timestamp()), body)
    connection = _connection(read.scheme, read.hostname or "", read.port)
    try:
        connection.request("POST", f"{read.path or '/'}{f'?{read.query}' if read.query else ''}", body, headers)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as err:
        raise NotTaken(f"no answer ({type(err).__name__})") from err
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise NotTaken(f"answered {status}")


def _connection(scheme: str, host: str, port: int | None) -> http.client.HTTPConnection:
    if scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=ssl.create_default_context())
    return http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
