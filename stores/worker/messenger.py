"""Sends messages beside the worker's work: a slow mail server holds up no import and no apply."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

from django.conf import settings
from django.db import Error, connections

from stores.notices import planning, sending

EVERY_S: Final = 15.0
END_WAIT_S: Final = 10.0
"""So long the end of the worker waits for a message that is just being sent."""

log = logging.getLogger(__name__)


def is_configured() -> bool:
    """Say whether this worker sends any messages."""
    return bool(settings.WEBHOOK_URL) or (settings.MAIL is not None and settings.NOTIFY_MAIL_HOUR >= 0)


def step(now: datetime) -> int:
    """Plan and send what is due; give how many messages were taken."""
    planning.plan(now)
    return sending.send_due(now)


@contextmanager
def messages_sent() -> Iterator[None]:
    """Send what is due every few seconds while the block runs; nothing where no messages are configured."""
    if not is_configured():
        yield
        return
    ended = threading.Event()
    thread = threading.Thread(target=_run, args=(ended,), name="messenger", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(END_WAIT_S)


def _run(ended: threading.Event) -> None:
    try:
        while True:
            try:
                step(datetime.now(UTC))
            except Error as err:
                log.warning("The database holds up messages (%s).", type(err).__name__)
                connections.close_all()
            except Exception:
                log.exception("Messages cannot be sent.")
            if ended.wait(EVERY_S):
                return
    finally:
        connections.close_all()
