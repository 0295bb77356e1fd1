"""How long a session lasts without use."""

from __future__ import annotations

import time

from django.http import HttpRequest

WRITE_EVERY_S = 300
"""A session is written at most this often for being used: with the use of tokens that is all that reading writes (ruling 8)."""
_USED_AT = "used_at"


def note_use(request: HttpRequest) -> None:
    """Let the session of this request end MEMORYUI_SESSION_HOURS from now on, give or take five minutes."""
    now = int(time.time())
    if now - int(request.session.get(_USED_AT, 0)) >= WRITE_EVERY_S:
        request.session[_USED_AT] = now
