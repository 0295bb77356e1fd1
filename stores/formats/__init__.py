"""Bytes on disk to values, one module or package a kind of store; pure: no Django, no disk, no clock."""

from __future__ import annotations

from typing import Final

from stores.formats import orchestkit
from stores.formats.base import Kind
from stores.formats.phase_memory.kind import KIND as PHASE_MEMORY

KINDS: Final[dict[str, Kind]] = {kind.name: kind for kind in (orchestkit.KIND, PHASE_MEMORY)}
"""Every kind of store, by name: the only registry."""


def recognise(path: str, names: frozenset[str]) -> Kind | None:
    """Tell the kind of a folder from its path (with "/") and the names in it; None for what is no store."""
    return next((kind for kind in KINDS.values() if kind.recognises(path, names)), None)
