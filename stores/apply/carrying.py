"""What agents append to a queue after it was moved to the archive: they may hold it open, and no line of theirs is lost (ruling 4)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from django.db.models import Max

from stores.apply.reading import read_from
from stores.errors import StoreUnreadable
from stores.files import CannotRead, StoreRoot, has_writer
from stores.formats import javascript
from stores.models import Drain, Store

QUIET_FOR = timedelta(seconds=10)
WATCHED_WITHOUT_LEASE = timedelta(hours=24)
"""How long an archived queue is watched where the kernel does not tell who has it open."""


class Piece(NamedTuple):
    """Whole lines of an archived queue that no drain took yet."""

    archive_path: str
    from_byte: int
    data: bytes


def whole_lines(data: bytes) -> bytes:
    """Give the lines that are complete: all but a torn last one. A last object without its line break is complete as it is."""
    end = data.rfind(b"\n") + 1
    return data if isinstance(javascript.parse(data[end:]).value, dict) else data[:end]


class _Archived(NamedTuple):
    """An archived queue that is watched."""

    path: str
    taken: int
    """Bytes that drains took of it."""
    last_at: datetime
    """When the last of them was."""


def late_pieces(store: Store, root: StoreRoot) -> Iterator[Piece]:
    """Give what was appended to archived queues after their drains, oldest first; one query."""
    for archived in _watched(store):
        try:
            whole = whole_lines(read_from(root, archived.path, archived.taken))
        except StoreUnreadable:
            # It stays watched, and is taken when it can be read.
            continue
        if whole.strip():
            yield Piece(archived.path, archived.taken, whole)


def settle(store: Store, root: StoreRoot, now: datetime | None = None) -> None:
    """Stop watching archived queues that nobody can append to any more, and whose every line was taken; at most two queries."""
    now = now or datetime.now(UTC)
    settled = [archived.path for archived in _watched(store) if archived.last_at <= now - QUIET_FOR and _is_settled(root, archived, now)]
    if settled:
        Drain.objects.filter(store=store, settled_at=None, archive_path__in=settled).update(settled_at=now)


def _is_settled(root: StoreRoot, archived: _Archived, now: datetime) -> bool:
    try:
        with root.open(archived.path) as opened:
            written = has_writer(opened.descriptor)
    except CannotRead as err:
        return err.state == "missing"
    may_be_written = archived.last_at > now - WATCHED_WITHOUT_LEASE if written is None else written
    # Read after the question, so that nobody can have appended in between.
    return not may_be_written and not whole_lines(read_from(root, archived.path, archived.taken)).strip()


def _watched(store: Store) -> list[_Archived]:
    drains = Drain.objects.filter(store=store, settled_at=None).order_by().values_list("archive_path")
    return sorted(_Archived(*row) for row in drains.annotate(taken=Max("to_byte"), last_at=Max("at")))
