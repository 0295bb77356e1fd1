"""What a drain of a store's queue would write."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from stores.selectors.drain_preview import drain_preview
from stores.selectors.store_page import store_frame
from stores.views.stores import render_tab


@require_safe
def store_drain(request: HttpRequest, slug: str) -> HttpResponse:
    """What a drain would write now, and the drains that were."""
    frame = store_frame(request.user, slug, "backlog", timezone.now())
    return render_tab(request, "stores/store_drain.html", frame, {"drain": drain_preview(frame)})
