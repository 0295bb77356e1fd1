"""Keeps imports off a store while something else changes what is mirrored of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from stores.errors import Conflict, StoreUnreadable
from stores.files import StoreRoot
from stores.models import Store


@contextmanager
def held(store: Store, wait_s: float) -> Iterator[None]:
    """Hold the store's lock while the block runs, waiting `wait_s` for an import under way; raises Conflict after that.

    A store whose folder cannot be opened needs no holding: an import finds nothing to read there.
    """
    try:
        root = StoreRoot(store.path)
    except StoreUnreadable:
        yield
        return
    with root, root.locked(wait_s) as locked:
        if not locked:
            raise Conflict(f"Store {store.slug} is busy: an import held it for {wait_s:.0f} s. Try again when it is through.")
        yield
