"""Which schema versions of events are known, and which ones stores have that are not."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from django.conf import settings
from django.db.models import Count

from stores.accounts import Visitor, visible_stores
from stores.errors import NotFound
from stores.formats.phase_memory.vocabulary import EVENT_VERSIONS
from stores.models import Event, EventVersion, Fault

LINES_READ = 2_000
SHOWN = 50
CODE = "unknown_event_schema_version"


class UnknownVersion(NamedTuple):
    """A version that events of visible stores have and that nobody made known."""

    name: str
    number: int
    stores: int


class EventVersions(NamedTuple):
    """What the page of versions shows."""

    built_in: list[str]
    configured: list[str]
    """Those of the setting."""
    added: list[EventVersion]
    unknown: list[UnknownVersion]


def event_versions(user: Visitor) -> EventVersions:
    """Give every version that is known, and the unknown ones of the stores that the account sees. Three queries."""
    added = list(EventVersion.objects.select_related("added_by").order_by("name"))
    places = Fault.objects.filter(store__in=visible_stores(user), code=CODE).order_by("store_id", "line").values_list("file_id", "line")
    lines: dict[int, list[int]] = {}
    for file_id, line in places[:LINES_READ]:
        if file_id is not None and line is not None:
            lines.setdefault(file_id, []).append(line)
    counts: Counter[str] = Counter()
    stores: dict[str, set[int]] = {}
    if lines:
        found = Event.objects.filter(
            file_id__in=lines, line__in={line for of_file in lines.values() for line in of_file}, standing="unknown version"
        )
        for name, store_id, number in found.order_by().values_list("schema_version", "store_id").annotate(number=Count("pk")):
            counts[name] += number
            stores.setdefault(name, set()).add(store_id)
    return EventVersions(
        sorted(EVENT_VERSIONS),
        sorted(set(settings.EVENT_VERSIONS) - EVENT_VERSIONS),
        added,
        [UnknownVersion(name, number, len(stores[name])) for name, number in counts.most_common(SHOWN)],
    )


def find_version(pk: int) -> EventVersion:
    """Give a version that an operator added; NotFound otherwise. One query."""
    version = EventVersion.objects.filter(pk=pk).first()
    if version is None:
        raise NotFound("No such version, or somebody has dropped it already.")
    return version
