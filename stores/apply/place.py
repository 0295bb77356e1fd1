"""Where a change happens: the store's folder, and others that it reaches, each opened once and held under lock."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from stores.errors import Conflict, StoreUnreadable
from stores.files import LOCK_WAIT_S, StoreRoot
from stores.models import Store


class Place:
    """The folders of one change; they stay open and locked until it ends."""

    def __init__(self, store: Store, wait_s: float, stack: ExitStack) -> None:
        self._store, self._wait_s, self._stack = store, wait_s, stack
        self._opened: dict[str, StoreRoot] = {}
        self.root = self._hold(store.path)

    def at(self, folder: str) -> StoreRoot:
        """Give the folder with this real path; "" is the store. Raises StoreUnreadable, or Conflict when somebody else holds it."""
        return self.root if folder in ("", self._store.path) else self._opened.get(folder) or self._hold(folder)

    def _hold(self, folder: str) -> StoreRoot:
        root = self._stack.enter_context(StoreRoot(folder))
        if not self._stack.enter_context(root.locked(self._wait_s)):
            raise Conflict(
                f"Store {self._store.slug} is busy: somebody else held {folder} for {self._wait_s:.0f} s. Try again in a moment."
            )
        self._opened[folder] = root
        return root


@contextmanager
def held(store: Store, wait_s: float = LOCK_WAIT_S) -> Iterator[Place]:
    """Open and lock a store for a change; raises StoreUnreadable, or Conflict after `wait_s`."""
    real = os.path.realpath(store.given_path)
    if real != store.path:
        raise StoreUnreadable(f"{store.given_path} now leads to {real}, not to {store.path}: nothing is written there.")
    with ExitStack() as stack:
        yield Place(store, wait_s, stack)
