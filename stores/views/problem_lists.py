"""The list of problems, open ones first and by age (ux.md 2.4)."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from stores.lists.specs import PROBLEMS
from stores.selectors.records import RecordList
from stores.views import records
from stores.views.requests import signed_in


@require_safe
def problem_list(request: HttpRequest) -> HttpResponse:
    """Problems of all stores: find, filter, sort, page."""
    found = RecordList(signed_in(request), records.asked(request, PROBLEMS), with_tallies=True)
    return records.answer(request, "stores/problem_list.html", found)


@require_safe
def problem_export(request: HttpRequest, form: str) -> HttpResponseBase:
    """The same as a file."""
    return records.export(request, PROBLEMS, form)
