"""What several commands about stores do alike: register one, and say in the audit what was done."""

from __future__ import annotations

from pathlib import Path

from django.db import transaction

from stores import audit
from stores.management.base import terminal_actor
from stores.mirror import registering
from stores.models import Store, Worker

HOLD_WAIT_S = 60.0
"""How long a command waits for an import of the store that it is about."""


def register(path: str | Path, worker: Worker, *, kind: str | None = None, slug: str | None = None, name: str | None = None) -> Store:
    """Register a store and say so in the audit; raises what `registering.add_store` raises."""
    with transaction.atomic():
        store = registering.add_store(path, kind=kind, slug=slug, name=name, worker=worker)
        note(store, "store_added", {"path": store.path, "kind": store.kind})
    return store


def note(store: Store, event: audit.Event, detail: dict[str, object]) -> None:
    """Add an event about a store to the audit: done by whoever sits at this terminal."""
    audit.record(event, actor=None, actor_label=terminal_actor(), object_label=store.slug, store=store, through="terminal", detail=detail)
