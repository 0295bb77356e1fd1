"""What was asked of a worker, as a page and as the fragment that asks for itself until it is done."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from stores.selectors.tasks import find_task, task_view


@require_safe
def task_detail(request: HttpRequest, task_id: int) -> HttpResponse:
    """One task; for htmx only its line."""
    told = task_view(find_task(request.user, task_id), timezone.now())
    as_fragment = request.headers.get("HX-Request") == "true" and request.headers.get("HX-History-Restore-Request") != "true"
    return render(request, "stores/_task.html" if as_fragment else "stores/task_detail.html", {"told": told})
