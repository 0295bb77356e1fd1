"""Real stores with proposed actions, and people who decide on them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stores.mirror.importing import import_store
from stores.models import LifecycleAction, Store, User
from stores.review.deciding import Manner
from stores.review.submitting import Proposer, Submitted, submit
from tests.factories import make_user
from tests.lifecycle.cases import action
from tests.mirror.images import register
from tests.phase_memory_folders import Record, make_store, node

NOW = datetime(2026, 4, 10, 12, 0, tzinfo=UTC)
AGENT = Proposer("agent planner", "agent", "API")
PLANNER = Proposer("planner", "planner", "terminal")
NODE = node("node.b", policy={"labels": ["local", "draft"]})
"""A node of the store that is not durable."""
DURABLE = node("node.c", phase="rigid")


def imported(folder: Path, name: str = "memory") -> tuple[Store, Path]:
    """Make a store of a few records and mirror it."""
    root = make_store(folder.resolve() / name)
    store = register(root, kind="phase-memory")
    import_store(store)
    store.refresh_from_db()
    return store, root


def proposed(store: Store, *records: Mapping[str, object], proposer: Proposer = AGENT) -> list[Submitted]:
    """Hand in proposals."""
    return submit(store, records, proposer, NOW)


def queued(store: Store, record: Mapping[str, object] | None = None, proposer: Proposer = AGENT) -> LifecycleAction:
    """Queue one action; by default one that moves a node into a durable phase and so needs a review."""
    (result,) = proposed(store, record or promotion(), proposer=proposer)
    assert result.action is not None, result
    return LifecycleAction.objects.get(pk=result.action.pk)


def promotion(**more: object) -> Record:
    """Give an action that makes a node durable."""
    return action("transition_phase", NODE, **{"from_phase": "fluid", "to_phase": "stabilized", **more})


def archiving(**more: object) -> Record:
    """Give an action that needs no review."""
    return action("archive", NODE, **{"to_state": "archived", **more})


def deletion(**more: object) -> Record:
    """Give an action that takes something away."""
    return action("request_delete", NODE, **{"to_state": "delete_requested", **more})


def reviewer(username: str = "", **changes: Any) -> User:
    """Make an account that may decide."""
    return make_user(username, groups=("reviewer",), **changes)


def by_page(reason: str = "", **more: Any) -> Manner:
    """Give the manner of a decision on a page."""
    return Manner("page", NOW, reason, **more)
