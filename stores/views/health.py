"""Health: the conditions of all stores, those of one, and muting."""

from __future__ import annotations

from datetime import timedelta

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from stores import muting
from stores.accounts import require_operator
from stores.context import Page
from stores.errors import NotFound
from stores.forms.stores import MuteForm
from stores.models import Condition, User
from stores.pager import make_pager
from stores.review import custody
from stores.selectors import stores as store_facts
from stores.selectors.health import SEGMENTS, STORES_A_PAGE, health_page, store_conditions
from stores.selectors.store_page import Band, store_frame
from stores.selectors.stores import is_muted
from stores.views.requests import page_number, url_with
from stores.views.stores import render_tab

_SEGMENT_WORDS = {"not_ok": "Not ok", "all": "All", "muted": "Muted"}
MUTED_FOR = timedelta(days=7)


@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """Every condition of every visible store, failing first."""
    now = timezone.now()
    segment = request.GET.get("show", "") if request.GET.get("show") in SEGMENTS else "not_ok"
    slug = request.GET.get("store", "")[:80]
    found = health_page(request.user, now, segment=segment, slug=slug, page=page_number(request))
    segments = [
        {
            "label": f"{_SEGMENT_WORDS[name]} {number:,}",
            "url": url_with(request, show="" if name == "not_ok" else name, page=""),
            "current": name == segment,
        }
        for name, number in found.segments.items()
    ]
    context = {
        "found": found,
        "verdict": Band(found.verdict, found.headline, [found.worst] if found.worst else [], found.measured_at),
        "segments": segments,
        "segment": segment,
        "slug": slug,
        "any_store_url": url_with(request, store="", page=""),
        "stores": [(store, url_with(request, store=store.slug, page="")) for store in found.stores],
        "all_url": url_with(request, show="all", page=""),
        "custody": custody.SHARED if custody.shares_one_user() else "",
        "pager": make_pager(request.GET, number_now=found.page, per_page=STORES_A_PAGE, count=found.groups_total),
    }
    return render(request, "stores/health.html", context)


@require_safe
def store_health_tab(request: HttpRequest, slug: str) -> HttpResponse:
    """Every condition of one store, and what the kind's own tool would say."""
    now = timezone.now()
    frame = store_frame(request.user, slug, "health", now)
    content = {
        "rows": store_conditions(frame.judged, frame.conditions, now),
        "as_of": frame.store.measured_at if frame.judged.verdict == "unmeasured" else None,
        "operator": Page(request).is_operator,
    }
    return render_tab(request, "stores/store_health.html", frame, content)


@require_http_methods(["GET", "HEAD", "POST"])
def condition_mute(request: HttpRequest, slug: str, condition_id: int) -> HttpResponse:
    """Ask until when and why, then mute."""
    user = require_operator(request.user)
    now = timezone.now()
    condition = _condition(user, slug, condition_id)
    form = MuteForm(request.POST) if request.method == "POST" else MuteForm(initial={"until": (now + MUTED_FOR).date()})
    if request.method == "POST" and form.is_valid():
        muting.mute(condition, until=form.cleaned_data["until"], why=form.cleaned_data["why"], by=user)
        messages.success(request, f"Muted: {condition.title}")
        return redirect(_place(condition))
    context = {"condition": condition, "store": condition.store, "form": form, "muted": is_muted(condition, now), "back": _place(condition)}
    return render(request, "stores/condition_mute.html", context, status=422 if request.method == "POST" else 200)


@require_POST
def condition_unmute(request: HttpRequest, slug: str, condition_id: int) -> HttpResponse:
    """Let a condition count again."""
    user = require_operator(request.user)
    condition = _condition(user, slug, condition_id)
    if muting.unmute(condition, by=user):
        messages.success(request, f"Counts again: {condition.title}")
    return redirect(_place(condition))


def _condition(user: User, slug: str, condition_id: int) -> Condition:
    store = store_facts.find_store(user, slug)
    condition = Condition.objects.filter(store=store, pk=condition_id).select_related("store", "muted_by").first()
    if condition is None:
        raise NotFound("The store has no such condition any more.")
    return condition


def _place(condition: Condition) -> str:
    return f"{reverse('store_health_tab', args=[condition.store.slug])}#condition-{condition.pk}"
