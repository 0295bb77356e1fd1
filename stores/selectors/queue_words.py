"""How an operation of the queue stands and what it would write, in the words of every page."""

from __future__ import annotations

from stores.models import QueueOperation


def standing_words(operation: QueueOperation) -> str:
    """Say how an operation stands: "waits", "poison", "dangling end"."""
    return "waits" if operation.standing == "waiting" else operation.standing


def would_write_words(operation: QueueOperation) -> str:
    """Say what the drain would write: "1 decision, 2 relations", "nothing"."""
    return "cannot be read as an operation" if operation.standing == "poison" else operation.would_write or "nothing"
