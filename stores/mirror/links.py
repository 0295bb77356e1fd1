"""What records point at, as rows of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from django.db.models import Model

from stores.mirror import bulk
from stores.models import ActivationItem, AuditTarget, EventUpdate, NodeSource, PathEvent

_IDS = 500


class LinkTable(NamedTuple):
    """The table of one type's links, and its columns after record and position."""

    model: type[Model]
    columns: tuple[str, ...]


LINKS: Final[dict[str, LinkTable]] = {
    "node": LinkTable(NodeSource, ("event_id",)),
    "path": LinkTable(PathEvent, ("event_id",)),
    "activation": LinkTable(ActivationItem, ("node_id", "chosen", "reason", "tokens", "score")),
    "event": LinkTable(EventUpdate, ("target_type", "target_id", "operation", "named")),
    "audit": LinkTable(AuditTarget, ("target_type", "target_id", "before_digest", "after_digest")),
}

Links = tuple[tuple[object, ...], ...]


def save_links(record_type: str, store_id: int, links: Iterable[tuple[int, Links]], reworded: Collection[int] = ()) -> None:
    """Insert the links of records, each given with its record's key; those of `reworded` records are made anew.

    Call it in the transaction that saves the records.
    """
    table = LINKS.get(record_type)
    if table is None:
        return
    ids = list(reworded)
    for start in range(0, len(ids), _IDS):
        table.model._default_manager.filter(record__in=ids[start : start + _IDS]).delete()
    rows = [(record_id, position, *link) for record_id, of_record in links for position, link in enumerate(of_record)]
    if rows:
        bulk.insert(table.model, rows, ("record", "position", *table.columns), {"store": store_id})
