"""What the agent will be told at the next session."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from stores.formats.orchestkit.injection import CLASSIC, VARIANTS
from stores.selectors.store_page import store_frame
from stores.selectors.told import VARIANT_LABELS, told
from stores.views.requests import url_with
from stores.views.stores import render_tab


@require_safe
def store_told(request: HttpRequest, slug: str) -> HttpResponse:
    """The text in one of three forms, what became of the last lines, and what a clean-up would change."""
    frame = store_frame(request.user, slug, "told", timezone.now())
    variant = request.GET.get("variant", "") if request.GET.get("variant") in VARIANTS else CLASSIC
    segments = [
        {"label": label, "url": url_with(request, variant="" if name == CLASSIC else name), "current": name == variant}
        for name, label in VARIANT_LABELS.items()
    ]
    return render_tab(request, "stores/store_told.html", frame, {"told": told(frame, variant), "segments": segments})
