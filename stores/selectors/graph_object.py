"""What a graph file says of an entity that is written as one object: no line of it is a record, yet the mirror keeps all of them."""

from __future__ import annotations

from stores.formats import storable
from stores.formats.orchestkit import graph_items, object_records
from stores.models import GraphItem, RefusedLine, SourceFile

BYTES_AT_MOST = 2 * 1024 * 1024
"""A longer file is not put together for a page."""


def observations_in_object(store_id: int, name: str) -> list[str]:
    """Give the observations of an entity, with their times left out: at most three queries."""
    records = object_records(_text(store_id)) or []
    items = [one for one in records if graph_items.what_is(one) == graph_items.ENTITY and storable.name(one["name"]) == name]
    listed = [one.get("observations") for one in items]
    return [graph_items.observation(said).text for some in listed if isinstance(some, list) for said in some]


def _text(store_id: int) -> bytes:
    """Put the graph file together from its lines; nothing where it is too long."""
    file = SourceFile.objects.filter(store=store_id, path=graph_items.PATH, size_bytes__lte=BYTES_AT_MOST).only("pk").first()
    if file is None:
        return b""
    lines = dict(RefusedLine.objects.filter(file=file).values_list("line", "raw"))
    records = GraphItem.objects.filter(store=store_id, file=file, gone_at__isnull=True).order_by()
    lines |= dict(records.values_list("line", "text__raw"))
    return b"\n".join(bytes(lines[number]) for number in sorted(lines))
