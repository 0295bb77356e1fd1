"""The queue: what waits to be written into the graph, and whether anything takes it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from stores.context import Page
from stores.lists.specs import QUEUE
from stores.models import QueueOperation
from stores.selectors import verdicts
from stores.selectors.origins import origins
from stores.selectors.queues import queues
from stores.selectors.records import RecordList
from stores.views import records
from stores.views.requests import signed_in


@require_safe
def queue_list(request: HttpRequest) -> HttpResponse:
    """Queue operations of all stores, oldest first, below what is to be said of the queues."""
    now = timezone.now()
    found = RecordList(signed_in(request), records.asked(request, QUEUE), with_tallies=True)
    frame = Page(request)
    freshness = {one.store.pk: verdicts.freshness(one.store.worker, one.store.imported_at, now) for one in frame.judged}
    operations = [record for record in found.page_rows if isinstance(record, QueueOperation)]
    extra = {"page": frame, "queues": queues(found, freshness, now)}
    return records.answer(request, "stores/queue_list.html", found, origins(operations), extra)


@require_safe
def queue_export(request: HttpRequest, form: str) -> HttpResponseBase:
    """The same as a file."""
    return records.export(request, QUEUE, form)
