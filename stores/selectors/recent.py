"""The last things that happened: what imports found changed, and what people did to stores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlencode

from django.urls import reverse

from stores.formats import KINDS
from stores.models import AuditEvent, Change, Store
from stores.selectors import changes, wording
from stores.selectors.changes import ChangeRow

SHOWN = 15
FILES_AN_IMPORT = 12
"""Changes that are read for each line: as many files of a store may have changed at once."""

_DID = {
    "store_added": "added the store",
    "store_removed": "removed the store",
    "store_relocated": "moved the store",
    "store_adopted": "handed to another worker",
    "store_renamed": "renamed",
    "store_groups_changed": "changed who sees",
    "mirror_reset": "reset the mirror of",
    "unmasked": "unmasked",
    "muted": "muted",
    "unmuted": "unmuted",
    "fault_acknowledged": "acknowledged",
    "record_noted": "noted something beside",
    "view_shared": "shared the view",
    "remembered": "remembered a decision in",
    "queue_drained": "drained the queue of",
    "drain_repeated": "wrote drained entities again into the graph of",
    "decisions_replayed": "rebuilt the graph of",
    "graph_imported": "imported a graph into",
}


_WORST_FIRST = ("failing", "late", "note", "ok")


class Event(NamedTuple):
    """One line of "Recent"."""

    at: datetime
    state: str
    """The shape."""
    who: str
    what: str
    store: str
    fact: str
    url: str


def recent_events(stores: Iterable[Store]) -> list[Event]:
    """Give the last SHOWN imports that found a change and audited events of these visible stores, newest first: 2 queries."""
    of_uid = {store.uid: store for store in stores}
    found = _imports(changes.newest_changes((store.pk for store in of_uid.values()), SHOWN * FILES_AN_IMPORT))
    for event in AuditEvent.objects.filter(store_uid__in=list(of_uid)).order_by("-number")[:SHOWN]:
        store = of_uid.get(event.store_uid) if event.store_uid else None
        if store is None:
            continue
        found.append(
            Event(
                at=event.at,
                state="superseded",
                who=event.actor_label,
                what=f"{_DID.get(event.event, event.event.replace('_', ' '))} {event.object_label}",
                store=store.name,
                fact=f"through {event.through}",
                url=f"{reverse('audit')}?{urlencode({'store': store.slug})}",
            )
        )
    return sorted(found, key=lambda one: one.at, reverse=True)[:SHOWN]


def _imports(found: Iterable[Change]) -> list[Event]:
    """Put changes into words, those of one import together."""
    together: dict[tuple[int, datetime], list[Change]] = defaultdict(list)
    for change in found:
        together[change.store_id, change.at].append(change)
    return [_import(one, [changes.change_row(change, one[0].store) for change in one]) for one in map(_weightiest_first, together.values())]


def _weightiest_first(found: list[Change]) -> list[Change]:
    """Order changes as their kind orders its files: decisions before the logs that lie beside a store."""
    kind = KINDS[found[0].store.kind]
    places = {spec.full_path: place for place, spec in enumerate(kind.files)}
    spec_of = kind.spec_of

    def place_of(change: Change) -> int:
        spec = spec_of(change.path)
        return places[spec.full_path] if spec is not None else len(places)

    return sorted(found, key=place_of)


def _import(found: list[Change], rows: list[ChangeRow]) -> Event:
    store = found[0].store
    only_more = len(found) > 1 and all(change.what == "appended" and not (change.updated or change.removed) for change in found)
    words = [", ".join(filter(None, [row.what, row.records])) for row in rows]
    came = [row.records.removesuffix(" came") for row in rows if row.records]
    return Event(
        at=found[0].at,
        state=min((row.state for row in rows), key=_WORST_FIRST.index),
        who=f"{store.worker.label} read",
        what=f"{wording.listed(came, len(came))} came" if only_more and came else "; ".join(words),
        store=store.name,
        fact=rows[0].bytes if len(rows) == 1 else wording.counted(len(rows), "file"),
        url=reverse("store_changes", args=[store.slug]),
    )
