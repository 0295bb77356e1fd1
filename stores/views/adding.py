"""Registering stores: what lies unregistered below the roots of each host, and what to type."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from stores.accounts import require_operator
from stores.context import Page
from stores.formats import KINDS
from stores.forms.stores import FOUND_AT_MOST, AddStoreForm, DiscoverForm, FoundStoresForm
from stores.models import User
from stores.selectors.discoveries import being_added, discoveries
from stores.selectors.tasks import task_view
from stores.selectors.wording import counted
from stores.tasks.asking import ask_for_discovery, ask_to_add_store


@require_safe
def store_add(request: HttpRequest) -> HttpResponse:
    """Where each host looked, what it found, and a form for any other folder."""
    require_operator(request.user)
    return render(request, "stores/store_add.html", adding_context(request, timezone.now()))


@require_POST
def store_add_path(request: HttpRequest) -> HttpResponse:
    """Ask a worker to register one folder."""
    user = require_operator(request.user)
    form = AddStoreForm(request.POST)
    if not form.is_valid():
        return render(request, "stores/store_add.html", adding_context(request, timezone.now(), form), status=422)
    asked = form.cleaned_data
    ask_to_add_store(asked["worker"], asked["path"], by=user, kind=asked["kind"], name=asked["name"])
    return redirect("store_add")


@require_POST
def store_add_found(request: HttpRequest) -> HttpResponse:
    """Ask a worker to register the ticked ones of what it found."""
    user = require_operator(request.user)
    found = {host.worker.pk: [one.path for one in host.found] for host in discoveries(timezone.now())}
    of_worker = found.get(int(request.POST["worker"]), []) if request.POST.get("worker", "").isdecimal() else []
    form = FoundStoresForm(request.POST, found=of_worker)
    if not form.is_valid():
        for errors in form.errors.values():
            messages.warning(request, " ".join(str(error) for error in errors))
        return redirect("store_add")
    for path in form.cleaned_data["path"][:FOUND_AT_MOST]:
        ask_to_add_store(form.cleaned_data["worker"], path, by=user)
    return redirect("store_add")


@require_POST
def store_discover(request: HttpRequest) -> HttpResponse:
    """Ask a worker to look below its roots."""
    user = require_operator(request.user)
    form = DiscoverForm(request.POST)
    if form.is_valid():
        ask_for_discovery(form.cleaned_data["worker"], by=user)
    return redirect("store_add")


def _kinds() -> list[tuple[str, str]]:
    """Give title and mark of each kind; the marks of code in them are for terminals."""
    return [(kind.title, kind.what.replace("`", "")) for kind in KINDS.values()]


def adding_context(request: HttpRequest, now: datetime, form: AddStoreForm | None = None) -> dict[str, Any]:
    """Give what the pages about unregistered stores show; folders are named to operators only."""
    user = request.user
    if not isinstance(user, User) or not Page(request).is_operator:
        return {"kinds": _kinds(), "operator": False}
    hosts = discoveries(now)
    adding = [task_view(task, now) for task in being_added(user, now)]
    found = sum(len(host.found) for host in hosts)
    return {
        "operator": True,
        "kinds": _kinds(),
        "hosts": [(host, task_view(host.task, now) if host.task and host.is_open else None) for host in hosts],
        "found_text": counted(found, "store") + " found" if any(host.looked_at for host in hosts) else "",
        "adding": adding,
        "form": form or AddStoreForm(),
        "roots": [str(root) for root in settings.STORE_ROOTS],
    }
