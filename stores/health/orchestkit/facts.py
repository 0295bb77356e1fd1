"""What the rules of an OrchestKit store look at, and from where on they fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from stores.formats.orchestkit.graph_place import GraphPlace

QUEUE_LIMIT: Final = 50
"""The documented limit of the queue, which holds from it on; the classic check speaks up above it (ruling 28)."""


class FileFacts(NamedTuple):
    """What was read of one line file."""

    path: str
    exists: bool
    readable: bool
    lines: int
    """Lines that are not blank: what JavaScript counts."""
    corrupt: int
    """Lines that `JSON.parse` refuses, a torn tail too."""
    settled_corrupt: int
    """The same without a torn tail that is younger than 10 s (ruling 24)."""
    size_bytes: int
    last_modified_ms: int | None
    causes: Mapping[str, int]
    """Refused lines by the code of their fault."""


class MemoryFileFacts(NamedTuple):
    """What was read of one `MEMORY.md`."""

    path: str
    lines: int
    size_bytes: int
    not_loaded: int
    """Lines at the end that agents never see."""
    long_lines: int


class StoreFacts(NamedTuple):
    """Everything that the rules look at. Times are milliseconds since 1970 UTC, None where not known."""

    directory_exists: bool
    directory_readable: bool
    decisions: FileFacts
    queue: FileFacts
    problems: FileFacts
    mem0_queue_depth: int = 0
    mem0_key: bool = False
    queue_oldest_ms: int | None = None
    """Time of the oldest waiting operation, by its own word."""
    queue_last_shrink_ms: int | None = None
    queue_first_seen_ms: int | None = None
    decisions_since_shrink: int = 0
    poison: int = 0
    dangling: int = 0
    duplicates_in_queue: int = 0
    double_hook: int = 0
    silencing_lines: tuple[int, ...] = ()
    stray_stores: tuple[str, ...] = ()
    stray_measured: bool = True
    other_corrupt: Mapping[str, int] = {}
    """Corrupt lines, settled ones, of each other file that agents read and that has some."""
    sessions: int = 0
    """Sessions of which there are events."""
    graph_entities: int = 0
    memory_files: tuple[MemoryFileFacts, ...] = ()
    """Every `MEMORY.md` that belongs to the store."""
    vanished: Mapping[str, int] = {}
    """Records that each file which is no longer there took with it; a queue that was drained or archived took none."""
    graph_place: GraphPlace | None = None
    """Where the memory server keeps the graph; None where no server is configured."""
    graph_refused: int = 0
    """Lines of the graph file at which the memory server shows agents no graph, or nothing of it."""
    drains_verifying: int = 0
    """Drains of less than ten minutes ago, whose entities are still looked for."""
    drains_lost: int = 0
    """Drains of which the graph no longer holds what they wrote, although it was written again."""


class Limits(NamedTuple):
    """From where on a condition fails."""

    queue_depth: int = QUEUE_LIMIT
    queue_oldest_s: int = 86_400
    undrained_s: int = 7 * 86_400
    sessions_without_decisions: int = 10


DEFAULT_LIMITS: Final = Limits()
