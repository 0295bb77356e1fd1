"""Keeps what an action writes: the document with it, its bytes by their hash (ruling 2)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from stores.lifecycle import packing
from stores.lifecycle.effects import Effect
from stores.models import KeptBytes, LifecycleAction

_BATCH: Final = 500


def keep(effects: Iterable[Effect]) -> list[str]:
    """Store the bytes of effects, each once, and give their documents as JSON."""
    packed = [packing.pack(effect) for effect in effects]
    pieces = {name: data for one in packed for name, data in one.pieces.items()}
    KeptBytes.objects.bulk_create(
        [KeptBytes(sha256=name, content=data) for name, data in sorted(pieces.items())], ignore_conflicts=True, batch_size=_BATCH
    )
    return [json.dumps(one.document) for one in packed]


def effect_of(action: LifecycleAction) -> Effect:
    """Give what an action writes; raises `packing.Damaged` when any of it is missing or not what it was."""
    return effects_of([action])[action.pk]


def effects_of(actions: Iterable[LifecycleAction]) -> dict[int, Effect]:
    """Give what actions write, by their keys: a query for 500 pieces. Raises `packing.Damaged`."""
    documents: dict[int, Any] = {one.pk: json.loads(one.effect) for one in actions}
    names = sorted({name for document in documents.values() for name in _named(document)})
    pieces: dict[str, bytes] = {}
    for start in range(0, len(names), _BATCH):
        rows = KeptBytes.objects.filter(sha256__in=names[start : start + _BATCH]).values_list("sha256", "content")
        pieces |= {name: bytes(content) for name, content in rows}
    return {pk: packing.unpack(document, pieces.get) for pk, document in documents.items()}


def record_of(action: LifecycleAction) -> dict[str, Any]:
    """Give an action's record."""
    record: dict[str, Any] = json.loads(action.record)
    return record


def _named(document: Mapping[str, Any]) -> Iterable[str]:
    """Give the names of the pieces that a packed effect points at."""
    for one in document.get("changes", ()):
        yield from (one[name] for name in ("before", "after") if isinstance(one.get(name), str))
        yield from one.get("lines", ())
        for before, after, _ in one.get("edits", ()):
            yield before
            yield from after
