"""The faults of a store, one of them open, and letting one be."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from stores.accounts import require_reviewer
from stores.acknowledging import acknowledge, take_back
from stores.context import Page
from stores.forms.stores import AcknowledgeForm
from stores.pager import make_pager
from stores.selectors import stores as store_facts
from stores.selectors.faults import PER_GROUP, SEVERITIES, FaultFilter, fault_page, find_fault
from stores.selectors.store_page import store_frame
from stores.views.requests import page_number, url_with, whole_number
from stores.views.stores import frame_context, render_tab


@require_safe
def store_faults(request: HttpRequest, slug: str) -> HttpResponse:
    """Faults by file, by severity, one open."""
    frame = store_frame(request.user, slug, "faults", timezone.now())
    severity = request.GET.get("severity", "") if request.GET.get("severity") in SEVERITIES else ""
    chosen = FaultFilter(severity, request.GET.get("file", "")[:400], request.GET.get("code", "")[:40], page_number(request))
    found = fault_page(frame.store, frame.line_files, chosen, whole_number(request, "open", 0, 2**62))
    segments = [{"label": f"All {found.total:,}", "url": url_with(request, severity="", page="", open=""), "current": not severity}]
    segments += [
        {
            "label": f"{word.capitalize()} {number:,}",
            "state": word,
            "url": url_with(request, severity=word, page="", open=""),
            "current": word == severity,
        }
        for word, number in found.by_severity
    ]
    content = {
        "found": found,
        "chosen": chosen,
        "segments": segments,
        "any_file_url": url_with(request, file="", page="", open=""),
        "files": [(path, number, url_with(request, file=path, page="", open="")) for path, number in found.paths],
        "without_code_url": url_with(request, code="", page="", open=""),
        "clear_url": reverse("store_faults", args=[slug]),
        "close_url": url_with(request, open=""),
        "open_url": f"{url_with(request, open='')}&open=".replace("?&", "?"),
        "reviewer": Page(request).is_reviewer,
        "pager_noun": "fault" if found.listed == found.matching else "row",
        "pager": make_pager(request.GET, number_now=chosen.page, per_page=PER_GROUP, count=found.listed) if chosen.path else None,
    }
    return render_tab(request, "stores/store_faults.html", frame, content)


@require_safe
def fault_detail(request: HttpRequest, slug: str, fault_id: int) -> HttpResponse:
    """One fault, open."""
    frame = store_frame(request.user, slug, "faults", timezone.now())
    row = find_fault(frame.store, fault_id)
    listed = f"{reverse('store_faults', args=[slug])}?{urlencode({'file': row.fault.path})}"
    content = {"row": row, "close_url": listed, "reviewer": Page(request).is_reviewer}
    return render(request, "stores/fault_detail.html", {**frame_context(frame), **content})


@require_POST
def fault_acknowledge(request: HttpRequest, slug: str, fault_id: int) -> HttpResponse:
    """Note that a reviewer has seen a fault and lets it be."""
    user = require_reviewer(request.user)
    store = store_facts.find_store(user, slug)
    fault = find_fault(store, fault_id).fault
    form = AcknowledgeForm(request.POST)
    note = form.cleaned_data["note"] if form.is_valid() else ""
    acknowledge(fault, by=user, note=note)
    messages.success(request, f"Acknowledged {fault.code} in {fault.path}")
    return redirect("fault_detail", slug, fault_id)


@require_POST
def fault_take_back(request: HttpRequest, slug: str, fault_id: int) -> HttpResponse:
    """Take an acknowledgement back."""
    user = require_reviewer(request.user)
    fault = find_fault(store_facts.find_store(user, slug), fault_id).fault
    take_back(fault, by=user)
    messages.success(request, f"{fault.code} in {fault.path} counts again")
    return redirect("fault_detail", slug, fault_id)
