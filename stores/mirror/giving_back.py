"""Gives memory back to the system between two large files, which would else add up over the files of a store."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager

LARGE_BYTES = 1024 * 1024
SELDOM = (50_000, 20, 20)
"""Objects that come before garbage is looked for: what an import makes by the hundred thousand stays, or goes by itself."""

_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
"""The C library keeps freed memory for later; only GNU's can be asked to let go of it."""


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Look for garbage less often meanwhile."""
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def give_back(bytes_read: int) -> None:
    """Let go of what reading a file of so many bytes took; does nothing after a small one."""
    if bytes_read >= LARGE_BYTES:
        gc.collect()
        let_go()


def let_go() -> None:
    """Let go of memory that is free already, in a millisecond or two."""
    if _trim is not None:
        _trim(0)
