"""A clean end: a signal asks for it, and whatever runs ends at its next safe point."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopRequested(BaseException):
    """The worker was asked to end; raised between two transactions only, and caught by the loop alone."""


class Stop:
    """Whether the process was asked to end, and a bell that wakes whoever waits."""

    def __init__(self) -> None:
        self.requested = threading.Event()
        self._bell = threading.Event()

    def request(self) -> None:
        """Ask for the end."""
        self.requested.set()
        self._bell.set()

    def ring(self) -> None:
        """Wake the waiter without asking for the end."""
        self._bell.set()

    def wait(self, seconds: float) -> None:
        """Wait until the bell rings, at most `seconds`."""
        self._bell.wait(seconds)
        self._bell.clear()

    def check(self) -> None:
        """Raise StopRequested if the end was asked for."""
        if self.requested.is_set():
            raise StopRequested


@contextmanager
def stop_on_signals(stop: Stop) -> Iterator[None]:
    """Let SIGTERM, SIGINT and SIGHUP ask for the end while the block runs; a second SIGINT interrupts at once."""

    def ask(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        stop.request()

    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = [(number, signal.signal(number, ask)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
