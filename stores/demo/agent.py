"""An agent that goes on working in one project of the demo, so that changes can be seen as they come."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

from stores.demo import parts
from stores.demo.records import line
from stores.demo.stories import DECISIONS, MEMORY, QUEUE
from stores.demo.team import Project
from stores.files import append_line
from stores.formats.orchestkit import build_operations

PROJECT = "data-platform"
EVERY_S = 24.0
QUEUE_LINES = 24
"""At so many queued operations the agent drains its queue, as the classic hook does: by deleting it."""


class Agent:
    """Writes a decision and its queue operations every 24 seconds, one line at a time."""

    def __init__(self, folder: Path) -> None:
        self._memory = folder / PROJECT / MEMORY
        self._project = Project(PROJECT, parts.DATA, seed=int(time.time()))
        self._due = time.monotonic() + EVERY_S

    def tick(self) -> None:
        """Write if it is time; a store that was taken away is left alone."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + EVERY_S
        if not self._memory.is_dir():
            return
        ((_, decision),) = self._project.sitting(datetime.now(UTC), 1)
        append_line(self._memory / DECISIONS, line(decision))
        queue = self._memory / QUEUE
        if queue.exists() and queue.read_bytes().count(b"\n") >= QUEUE_LINES:
            queue.unlink()
        for operation in build_operations(decision):
            append_line(queue, line(operation))
