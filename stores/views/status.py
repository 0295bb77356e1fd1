"""The status strip: the only part of a page that is polled (ux.md, part 3)."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from stores.context import Page


@require_safe
def status_strip(request: HttpRequest) -> HttpResponse:
    """Give the strip, or 204 where it still says what the page shows (`seen` is the version of that)."""
    page = Page(request)
    if request.GET.get("seen") == page.strip.version:
        return HttpResponse(status=204)
    return render(request, "_strip.html", {"page": page})
