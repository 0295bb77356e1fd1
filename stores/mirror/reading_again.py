"""Reads files once more that may be half written: young ones that do not parse (ruling 11)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from stores.files import OpenedFile
from stores.formats.base import FileSpec, LineClass
from stores.formats.lines import WHOLE_CAP, whole_line
from stores.mirror.identity import RACY_NS

AGAIN_AFTER_S = 0.3
AGAIN_ROUNDS = 3

Item = TypeVar("Item")


def read_again(waiting: Sequence[Item], read: Callable[[Item, bool], bool]) -> None:
    """Read what may be half written until it is whole, in at most three rounds with one common wait before each.

    `read` reads one, and says that it did not as it may still be half written; in the last round it has to read whatever is there.
    """
    for turn in range(AGAIN_ROUNDS):
        if not waiting:
            return
        time.sleep(AGAIN_AFTER_S)
        waiting = [one for one in waiting if read(one, turn + 1 == AGAIN_ROUNDS)]


def may_be_half_written(opened: OpenedFile, spec: FileSpec, path: str) -> bool:
    """Say that a file which is one record was written just now and is none as it stands."""
    if not spec.whole or abs(time.time_ns() - opened.stat.mtime_ns) >= RACY_NS or opened.stat.size_bytes > WHOLE_CAP:
        # A file beyond the cap is none whatever it holds, and would take long to read.
        return False
    line = whole_line(opened.chunks(0, opened.stat.size_bytes))
    return spec.reader(path).read(line).line_class is not LineClass.RECORD
