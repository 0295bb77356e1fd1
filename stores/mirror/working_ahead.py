"""Has work done in a process of its own, ahead of this one: decoding and saving then share the work of two cores.

`started` is what this process calls. The module that it names is run as a program, gets its job on standard input, and hands over
what it makes with `hand_over`. Such a module knows neither Django nor the database.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from stores.mirror.giving_back import SELDOM

PIPE_BYTES = 1024 * 1024
LENGTH_BYTES = 4
SWITCH_S = 0.0002


@contextmanager
def started(module: str, job: bytes, descriptors: Sequence[int]) -> Iterator[Iterator[bytes]]:
    """Start a process that has these files open, and give what it hands over, piece by piece; an empty piece only says that it goes on.

    A process that cannot start hands over nothing, one that is ended less than all. It is ended with the context.
    """
    try:
        process = subprocess.Popen(  # noqa: S603  our own interpreter and modules
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            pass_fds=tuple(descriptors),
            process_group=0,
        )
    except OSError:
        yield iter(())
        return
    with process:
        try:
            if process.stdin and process.stdout:
                with contextlib.suppress(BrokenPipeError):
                    # What it is told comes this way and not as an argument, which every account of the host could read.
                    process.stdin.write(job)
                    process.stdin.close()
                yield _received(process.stdout)
        finally:
            process.kill()


def _received(pipe: IO[bytes]) -> Iterator[bytes]:
    while len(length := pipe.read(LENGTH_BYTES)) == LENGTH_BYTES:
        size = int.from_bytes(length, "big")
        piece = pipe.read(size)
        if len(piece) < size:
            return
        yield piece


class Signs:
    """Signs of life of this process, between two pieces that are far apart: each is handed over as an empty piece."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[bytes | None] | None = None

    def go_into(self, waiting: queue.Queue[bytes | None]) -> None:
        """Take the queue of what is handed over."""
        self._waiting = waiting

    def __call__(self) -> None:
        """Give one, unless what waits to be taken is one enough."""
        if self._waiting is not None:
            with contextlib.suppress(queue.Full):
                self._waiting.put_nowait(bytes(LENGTH_BYTES))


def hand_over(pieces: Iterable[bytes], waiting_at_most: int, signs: Signs | None = None) -> None:
    """Hand over what this process makes, while it makes the next; as many pieces at most wait in it. None of them is empty."""
    gc.set_threshold(*SELDOM)
    with contextlib.suppress(OSError):
        fcntl.fcntl(sys.stdout.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    waiting: queue.Queue[bytes | None] = queue.Queue(waiting_at_most)
    # The thread that writes needs Python for a moment only, and the parent waits for it meanwhile.
    sys.setswitchinterval(SWITCH_S)
    if signs:
        signs.go_into(waiting)
    writer = threading.Thread(target=_write, args=(waiting,))
    writer.start()
    try:
        for piece in pieces:
            waiting.put(len(piece).to_bytes(LENGTH_BYTES, "big") + piece)
    finally:
        waiting.put(None)
        writer.join()


def _write(waiting: queue.Queue[bytes | None]) -> None:
    """Write pieces while the next ones are made; ends the process when nobody takes them any more."""
    while (piece := waiting.get()) is not None:
        view = memoryview(piece)
        while view:
            try:
                view = view[os.write(sys.stdout.fileno(), view) :]
            except BrokenPipeError:
                os._exit(0)
