"""Says which queued actions no longer fit what the mirror holds, many at once: the web reads no disk (DESIGN §7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Final

from stores.lifecycle.changes import Change, Create, Replace, Standing, TakeOut
from stores.lifecycle.effects import Effect
from stores.models import LifecycleAction, RecordFile, Store
from stores.review.mirror_source import MirrorSource

_BATCH: Final = 500


def stale_among(actions: Sequence[LifecycleAction], effects: Mapping[int, Effect]) -> dict[int, str]:
    """Give what is not as it was for each action of which anything is not: its key and a path. A query for 500 record files."""
    found: dict[int, str] = {}
    by_store: dict[int, list[LifecycleAction]] = defaultdict(list)
    for action in actions:
        if action.store_id is None:
            found[action.pk] = action.store_slug
        else:
            by_store[action.store_id].append(action)
    stores = Store.objects.in_bulk(list(by_store))
    for store_id, listed in by_store.items():
        paths = {
            change.path for action in listed for change in effects[action.pk].changes if isinstance(change, Replace | TakeOut | Create)
        }
        hashes = _hashes(store_id, sorted(paths))
        source = MirrorSource(stores[store_id])
        for action in listed:
            moved = _moved(effects[action.pk].changes, hashes, source)
            if moved is not None:
                found[action.pk] = moved
    return found


def _moved(changes: Iterable[Change], hashes: Mapping[str, bytes], source: MirrorSource) -> str | None:
    for change in changes:
        if isinstance(change, Replace | TakeOut) and change.path in hashes:
            if hashes[change.path] != sha256(change.before).digest():
                return change.path
        elif (isinstance(change, Create) and change.path in hashes) or source.standing(change) is not Standing.BEFORE:
            return change.path
    return None


def _hashes(store_id: int, paths: Sequence[str]) -> dict[str, bytes]:
    """Give the sha256 of record files by their paths."""
    found: dict[str, bytes] = {}
    for start in range(0, len(paths), _BATCH):
        batch = paths[start : start + _BATCH]
        rows = RecordFile.objects.filter(store=store_id, path__in=batch).values_list("path", "sha256")
        found |= {path: bytes(name) for path, name in rows}
    return found
