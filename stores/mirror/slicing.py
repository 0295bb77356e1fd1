"""How many records may be held at once: lines are short as a rule, and a megabyte long in a hostile file."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, takewhile

from stores.formats.lines import CAP, HEAD

SLICE_BYTES = 8 * 1024 * 1024


def number_within(lengths: Iterable[int], most: int = SLICE_BYTES) -> int:
    """Say how many records from the first on may be held together, given the lengths of their lines: one at least."""
    kept = (length if length <= CAP else HEAD for length in lengths)
    return max(1, sum(1 for _ in takewhile(lambda total: total <= most, accumulate(kept))))
