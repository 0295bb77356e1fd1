"""The known schema versions of events, for operators."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from stores import event_versions as changing
from stores.accounts import require_operator
from stores.formats.visible import one_line
from stores.forms.event_versions import EventVersionForm
from stores.selectors import event_versions as versions


@require_safe
def event_versions(request: HttpRequest) -> HttpResponse:
    """Every version that is known, who made it so, and which unknown ones the stores have."""
    require_operator(request.user)
    return _page(request, EventVersionForm())


@require_POST
def event_version_add(request: HttpRequest) -> HttpResponse:
    """Make a version known."""
    user = require_operator(request.user)
    form = EventVersionForm(request.POST)
    if not form.is_valid():
        return _page(request, form, 422)
    name = form.cleaned_data["name"]
    if changing.add(name, form.cleaned_data["note"], by=user):
        messages.success(request, f"Events of {one_line(name)} are interpreted from the next look at each store on")
    else:
        messages.info(request, f"{one_line(name)} was known already")
    return redirect("event_versions")


@require_POST
def event_version_drop(request: HttpRequest, pk: int) -> HttpResponse:
    """Let a version be unknown again."""
    user = require_operator(request.user)
    version = versions.find_version(pk)
    changing.drop(version, by=user)
    messages.success(request, f"Events of {one_line(version.name)} are no longer interpreted")
    return redirect("event_versions")


def _page(request: HttpRequest, form: EventVersionForm, status: int = 200) -> HttpResponse:
    context = {"versions": versions.event_versions(request.user), "form": form}
    return render(request, "stores/event_versions.html", context, status=status)
