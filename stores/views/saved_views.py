"""Saved views: shown, kept, dropped; a view that is shared with the team is an event of the audit."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from stores import audit
from stores.errors import BadRequest, NotFound
from stores.forms.saved_views import SavedViewForm
from stores.htmx import page_or_fragment
from stores.lists.registry import SECTIONS
from stores.models import SavedView
from stores.selectors.saved_views import saved_views, store_named
from stores.views.requests import signed_in


@require_safe
def saved_view_list(request: HttpRequest, section: str) -> HttpResponse:
    """Views of one list, and the form that keeps what the list shows now; as a page, and as the part that a menu of the list loads."""
    spec = SECTIONS.get(section)
    if spec is None:
        raise NotFound("There is no such list.")
    query = spec.read(request.GET).changed()
    home = reverse(f"{spec.name}_list")
    shown = {
        "spec": spec,
        "home": home,
        "here": query.address(home),
        "query": query.address().removeprefix("?"),
        "views": saved_views(signed_in(request), spec, query),
    }
    return render(request, page_or_fragment(request, "stores/saved_views.html", "views-menu"), shown)


@require_POST
def saved_view_save(request: HttpRequest) -> HttpResponse:
    """Keep what a list shows under a name; a view of this name is replaced."""
    user = signed_in(request)
    form = SavedViewForm(request.POST)
    if not form.is_valid():
        raise BadRequest("A view needs a name of 1 to 80 characters and one of the lists.")
    kept = form.cleaned_data
    with transaction.atomic():
        before = SavedView.objects.filter(owner=user, section=kept["section"], name=kept["name"]).first()
        SavedView.objects.update_or_create(
            owner=user, section=kept["section"], name=kept["name"], defaults={"query": kept["query"], "shared": kept["shared"]}
        )
        if kept["shared"] or (before is not None and before.shared):
            detail = {"section": kept["section"], "shared": kept["shared"]}
            about = store_named(SECTIONS[kept["section"]], kept["query"])
            audit.record("view_shared", actor=user, object_label=kept["name"], store=about, through="page", detail=detail)
    messages.success(request, f"View {kept['name']} saved")
    home = reverse(f"{SECTIONS[kept['section']].name}_list")
    return redirect(f"{home}?{kept['query']}")


@require_POST
def saved_view_delete(request: HttpRequest, view_id: int) -> HttpResponse:
    """Drop a view of one's own."""
    user = signed_in(request)
    with transaction.atomic():
        view = SavedView.objects.filter(owner=user, pk=view_id).first()
        if view is None:
            raise NotFound("You have no such view.")
        view.delete()
        if view.shared:
            about = store_named(SECTIONS[view.section], view.query) if view.section in SECTIONS else None
            detail = {"section": view.section, "shared": False}
            audit.record("view_shared", actor=user, object_label=view.name, store=about, through="page", detail=detail)
    messages.success(request, f"View {view.name} dropped")
    return redirect(f"{SECTIONS[view.section].name}_list" if view.section in SECTIONS else "account")
