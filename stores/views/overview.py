"""The first page: do I have to do something, and on the first run, what can be registered."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from stores.context import page_of
from stores.selectors.overview import overview as read_overview
from stores.selectors.recent import recent_events
from stores.selectors.store_page import Band
from stores.views.adding import adding_context


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Verdict, what needs a person, stores, the last 14 days and the last events; without a store, how to register one."""
    now = timezone.now()
    frame = page_of(request)
    told = read_overview(request.user, now, frame.review if frame.is_reviewer else None)
    if not told.stores:
        return render(request, "stores/first_run.html", adding_context(request, now))
    band = Band(told.verdict, told.headline, told.reasons, told.measured_at)
    events = recent_events(told.stores)
    return render(request, "stores/overview.html", {"overview": told, "verdict": band, "events": events})
