"""What imports found changed in the files of stores, in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from stores.display import size
from stores.formats import KINDS
from stores.formats.base import FileSpec
from stores.models import Change, Store
from stores.selectors import wording
from stores.selectors.record_words import RECORD_WORDS

PER_PAGE = 50

_WORDS = {
    "created": ("ok", "appeared"),
    "appended": ("ok", "grew"),
    "rewritten": ("note", "was rewritten"),
    "edited": ("note", "was edited in its middle"),
    "replaced": ("note", "was replaced by another file"),
    "truncated": ("late", "lost its end"),
    "vanished": ("late", "vanished"),
    "returned": ("ok", "came back"),
    "unreadable": ("failing", "cannot be read"),
    "silent_rewrite": ("failing", "changed without any sign of it"),
}


_DRAINED = ("ok", "was drained")
_SHRANK = frozenset({"truncated", "rewritten", "replaced", "edited"})


class ChangeRow(NamedTuple):
    """One change as a page shows it."""

    change: Change
    state: str
    """The shape."""
    what: str
    """"decisions.jsonl grew"."""
    records: str
    """"12 decisions came, 1 went", "" when no record moved."""
    bytes: str
    """"281 kB → 286 kB"."""


def change_row(change: Change, store: Store) -> ChangeRow:
    """Put a change into words."""
    state, word = _DRAINED if _is_drain(change, store) else _WORDS.get(change.what, ("note", change.what))
    spec = _spec(change, store)
    nouns = RECORD_WORDS.get(spec.record_type) if spec else None
    one, many = (nouns.one, nouns.many) if nouns else ("record", "records")
    parts: list[str] = []
    for count, verb in ((change.created, "came"), (change.updated, "changed"), (change.removed, "went")):
        if count:
            noun = wording.counted(count, one, many) if not parts else f"{count:,}"
            parts.append(f"{noun} {verb}")
    return ChangeRow(change, state, f"{change.path} {word}", ", ".join(parts), _bytes(change))


def changes_of(store: Store, page: int) -> tuple[list[ChangeRow], bool]:
    """Give one page of the store's changes, newest first, and whether more follow: one query."""
    start = (max(1, page) - 1) * PER_PAGE
    found = list(Change.objects.filter(store=store).order_by("-at", "-id")[start : start + PER_PAGE + 1])
    return [change_row(change, store) for change in found[:PER_PAGE]], len(found) > PER_PAGE


def newest_changes(store_ids: Iterable[int], limit: int) -> list[Change]:
    """Give the newest changes of some stores with their store, newest first: one query that walks the key backwards."""
    return list(Change.objects.filter(store_id__in=list(store_ids)).select_related("store__worker").order_by("-id")[:limit])


def _is_drain(change: Change, store: Store) -> bool:
    """Tell whether a queue gave more than it took: then its agent wrote it anew, whatever became of the file."""
    spec = _spec(change, store)
    is_queue = spec is not None and spec.record_type == "queue_operation"
    return is_queue and change.what in _SHRANK and change.removed > change.created


def _bytes(change: Change) -> str:
    if change.bytes_before == change.bytes_after:
        return size(change.bytes_after)
    return f"{size(change.bytes_before)} → {size(change.bytes_after)}"


def _spec(change: Change, store: Store) -> FileSpec | None:
    return KINDS[store.kind].spec_of(change.path) if store.kind in KINDS else None
