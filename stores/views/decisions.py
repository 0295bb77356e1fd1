"""The list of decisions."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from stores.lists.specs import DECISIONS
from stores.selectors.records import RecordList
from stores.views import records
from stores.views.requests import signed_in


@require_safe
def decision_list(request: HttpRequest) -> HttpResponse:
    """Decisions of all stores: find, filter, sort, page."""
    found = RecordList(signed_in(request), records.asked(request, DECISIONS), with_tallies=True)
    return records.answer(request, "stores/decision_list.html", found)


@require_safe
def decision_export(request: HttpRequest, form: str) -> HttpResponseBase:
    """The same as a file."""
    return records.export(request, DECISIONS, form)
