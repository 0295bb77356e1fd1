"""What a plan finds, whatever it was made from."""

from __future__ import annotations

from typing import NamedTuple

from stores.formats.phase_memory.aliases import Record


class Found(NamedTuple):
    """What is proposed, and what could not be."""

    actions: list[Record]
    left_out: list[str]
