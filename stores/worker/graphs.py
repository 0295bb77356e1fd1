"""Goes on with the graphs that imports left behind, a little in each turn, so that nothing else waits for them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from stores.errors import StoreUnreadable
from stores.files import StoreRoot
from stores.mirror import graph
from stores.models import Store, Worker

LOOK_EVERY_S = 5.0
A_TURN_S = 0.4


Attempt = Callable[[Store, Callable[[], bool]], bool | None]
"""Does something with a store; None where it went wrong, which is then noted."""


class Graphs:
    """The graphs of one worker's stores."""

    def __init__(self, worker: Worker, attempt: Attempt, check: Callable[[], None]) -> None:
        self._worker, self._attempt, self._check = worker, attempt, check
        self._behind: list[Store] = []
        self._look_due = 0.0

    def go_on(self) -> None:
        """Take as many steps as fit into a turn."""
        clock = time.monotonic()
        if not self._behind and clock >= self._look_due:
            self._behind = graph.behind(self._worker)
            self._look_due = clock + LOOK_EVERY_S
        while self._behind and time.monotonic() < clock + A_TURN_S:
            self._check()
            if not self._step(self._behind[0]):
                self._behind.pop(0)

    def finish(self) -> None:
        """Bring all graphs up to date."""
        for store in graph.behind(self._worker):
            while self._step(store):
                self._check()

    def _step(self, store: Store) -> bool:
        return bool(self._attempt(store, partial(_step, store)))


def _step(store: Store) -> bool:
    """Take one step; False when the graph is up to date, or somebody imports the store: then its turn comes again."""
    try:
        with StoreRoot(store.path) as root, root.locked(0.0) as locked:
            return locked and graph.go_on(store, root)
    except StoreUnreadable:
        # Nobody else writes the mirror of a folder that cannot be opened.
        return graph.go_on(store)
