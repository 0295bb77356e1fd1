"""The lists of records that need no more than a heading and a list."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from stores.context import Page
from stores.lists.phase_memory import MEMORY_EVENTS, PATHS, PHASE_MEMORY
from stores.lists.registry import SPECS
from stores.lists.specs import EVENTS
from stores.selectors.records import RecordList
from stores.views import records
from stores.views.requests import signed_in

NEAR = 8
"""Stores whose sessions or trees are offered."""


@require_safe
def record_list(request: HttpRequest, section: str) -> HttpResponse:
    """Records of one type of all stores: find, filter, sort, page."""
    found = RecordList(signed_in(request), records.asked(request, SPECS[section]), with_tallies=True)
    return records.answer(request, "stores/record_list.html", found, extra={"near": _near(request, found)})


@require_safe
def record_export(request: HttpRequest, section: str, form: str) -> HttpResponseBase:
    """The same as a file."""
    return records.export(request, SPECS[section], form)


def _near(request: HttpRequest, found: RecordList) -> dict[str, object]:
    """Give the other way to events, session by session, and to paths, as a tree; from others of the kind to the lists beside them."""
    if found.spec is EVENTS:
        label, route, stores = "Session by session:", "session_list", found.asked_stores
    elif found.spec is PATHS:
        held = found.store_tally.counts
        label, route, stores = "As a tree:", "store_paths", [one for one in found.asked_stores if held.get(one.slug)]
    elif found.spec in PHASE_MEMORY:
        beside = [{"text": spec.title, "url": reverse(f"{spec.name}_list")} for spec in PHASE_MEMORY if spec is not found.spec]
        if found.spec is MEMORY_EVENTS and Page(request).is_operator:
            beside.append({"text": "Known versions", "url": reverse("event_versions")})
        return {"label": "Beside them:", "links": beside}
    else:
        return {}
    return {"label": label, "links": [{"text": one.name, "url": reverse(route, args=[one.slug])} for one in stores[:NEAR]]}
