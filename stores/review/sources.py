"""What a store holds, as the gate and the effects are told it: from the mirror here, from the disk in `apply`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from stores.lifecycle.effects import FileNow
from stores.lifecycle.targets import StoreFault, TargetNow


class Source(Protocol):
    """One store as it is now."""

    def target(self, record_type: str, given: str) -> TargetNow | None:
        """Give a record as the gate is told it, None where it is not there."""

    def file(self, record_type: str, given: str) -> FileNow | None:
        """Give the file of a record; of the type `file` by its path."""

    def faults(self, paths: Iterable[str]) -> list[StoreFault]:
        """Give what is wrong with these files, with the logs that an apply appends to, and with the store itself."""
