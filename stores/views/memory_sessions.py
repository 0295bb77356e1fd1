"""Sessions of a store, and one session from its first event to its last."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from stores.formats import storable
from stores.memory_words import value_of
from stores.pager import make_pager
from stores.record_parts import events
from stores.record_parts.base import company_parts
from stores.selectors import memory_sessions
from stores.selectors.stores import find_store
from stores.views.requests import page_number, url_with

SESSIONS_A_PAGE = 100


@require_safe
def session_list(request: HttpRequest, slug: str) -> HttpResponse:
    """The sessions of a store, all or those in whose time no decision was written down."""
    store = find_store(request.user, slug, holding="session_event")
    found = memory_sessions.sessions_of(store)
    without = request.GET.get("decisions") == "none"
    rows = [row for row in found.rows if row.decisions == 0] if without else found.rows
    empty = sum(row.decisions == 0 for row in found.rows)
    segments = [
        {"label": f"All {len(found.rows):,}", "url": url_with(request, decisions="", page=""), "state": "", "current": not without},
        {"label": f"Without a decision {empty:,}", "url": url_with(request, decisions="none", page=""), "state": "", "current": without},
    ]
    page = min(page_number(request), max(1, -(-len(rows) // SESSIONS_A_PAGE)))
    shown = rows[(page - 1) * SESSIONS_A_PAGE : page * SESSIONS_A_PAGE]
    pager = make_pager(request.GET, number_now=page, per_page=SESSIONS_A_PAGE, count=len(rows))
    context = {
        "store": store,
        "view": events.sessions_table(store, shown, pager),
        "capped": found.capped,
        "without": without,
        "segments": segments,
        "number": len(rows),
        "events_url": f"{reverse('event_list')}?store={store.slug}",
    }
    return render(request, "stores/session_list.html", context)


@require_safe
def session_timeline(request: HttpRequest, slug: str) -> HttpResponse:
    """One session: its events in their order, by both writers, and what else the store holds of its time."""
    store = find_store(request.user, slug, holding="session_event")
    told = memory_sessions.timeline(store, storable.name(request.GET.get("id", "")))
    only_failed = request.GET.get("outcome") == "failure"
    listed = told.failed if only_failed else told.events
    segments = [
        {"label": f"All {len(told.events):,}", "url": url_with(request, outcome="", page=""), "state": "", "current": not only_failed},
        {
            "label": f"Failed {len(told.failed):,}",
            "url": url_with(request, outcome="failure", page=""),
            "state": "failing",
            "current": only_failed,
        },
    ]
    page = min(page_number(request), max(1, -(-len(listed) // memory_sessions.EVENTS_A_PAGE)))
    pager = make_pager(request.GET, number_now=page, per_page=memory_sessions.EVENTS_A_PAGE, count=len(listed))
    company = memory_sessions.company(store, told.session, told.first_ms, told.last_ms)
    context = {
        "store": store,
        "told": told,
        "title": value_of(told.session),
        "segments": segments if told.failed or only_failed else [],
        "figures": events.timeline_figures(told),
        "view": events.timeline_table(told, memory_sessions.events_of(listed, page), pager),
        "broken": memory_sessions.broken_files(told),
        "company": company_parts(company),
    }
    return render(request, "stores/session_timeline.html", context)
