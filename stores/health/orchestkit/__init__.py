"""Health of an OrchestKit store."""

from __future__ import annotations

from stores.health.orchestkit.classic import Classic, classic
from stores.health.orchestkit.conditions import conditions, verdict
from stores.health.orchestkit.facts import FileFacts, Limits, MemoryFileFacts, StoreFacts

__all__ = ["Classic", "FileFacts", "Limits", "MemoryFileFacts", "StoreFacts", "classic", "conditions", "verdict"]
