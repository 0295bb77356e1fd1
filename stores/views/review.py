"""The review queue: its list, what came since it was opened, and its exports (ux.md 2.8)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from stores import action_lists, filters
from stores.context import Page, keys_off
from stores.csv_lines import csv_lines
from stores.htmx import page_or_fragment
from stores.lifecycle.differences import Place
from stores.lists.actions import FACETS, ActionQuery, read_actions
from stores.selectors.action_documents import ActionDocument, action_document
from stores.selectors.actions import ActionList
from stores.selectors.queue_states import outcome
from stores.views.requests import record_id, signed_in

FRAGMENT = "list"
FORMS = {"csv": "text/csv; charset=utf-8", "json": "application/json; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}
NAMES = (("csv", "CSV"), ("json", "JSON"), ("jsonl", "JSON lines"))


@require_safe
def review_list(request: HttpRequest) -> HttpResponse:
    """Actions of all stores: tabs, find, filter, sort, select; five queries besides those of the frame."""
    user = signed_in(request)
    query = read_actions(request.GET)
    found = ActionList(user, query, timezone.now())
    page = Page(request)
    expanded = {name for name in request.GET.getlist(filters.MORE) if name in {facet.column for facet in FACETS}}
    rows = action_lists.rows_of(found)
    opened = record_id(request, "open")
    shown: dict[str, Any] = {
        "tabs": action_lists.tabs_of(found),
        "facets": action_lists.facets_of(found, expanded),
        "find": action_lists.find_of(found),
        "chips": action_lists.chips_of(found),
        "clear_url": action_lists.cleared(query),
        "sorts": action_lists.sorts_of(query),
        "sort_label": next((one.label for one in action_lists.sorts_of(query) if one.current), ""),
        "rows": rows,
        "opened": opened,
        "open_url": _open_url(request, opened, query) if opened else "",
        "count": found.count,
        "row_count": found.row_count,
        "pager": action_lists.pager_of(found),
        "outcome": outcome(found, user) if not rows else None,
        "kept": filters_kept(query.parameters(without=("page",))),
        "newer_url": _newer_url(query.address(reverse("review_newer")), found.newest),
        "decides": page.is_reviewer,
        "operates": page.is_operator,
        "keys_off": keys_off(request),
        "exports": [
            {"label": label, "url": query.address(reverse("review_export", args=[form]), without=("page",))} for form, label in NAMES
        ],
        "views_url": query.changed().address(reverse("saved_view_list", args=["review"])),
    }
    return render(request, page_or_fragment(request, "stores/review_list.html", FRAGMENT), shown)


@require_safe
def review_newer(request: HttpRequest) -> HttpResponse:
    """How many actions came into the list since it was opened; 204 while it is as many as the page says."""
    query = read_actions(request.GET)
    since, said = record_id(request, "since"), record_id(request, "said")
    number = ActionList(signed_in(request), query, timezone.now()).newer_than(since)
    if number == said and request.headers.get("HX-Request") == "true":
        return HttpResponse(status=204)
    url = _newer_url(query.address(reverse("review_newer")), since)
    shown = {"newer": number, "newer_url": f"{url}&said={number}", "list_url": query.changed().address(reverse("review_list"))}
    return render(request, "stores/_review_newer.html", shown)


@require_safe
def review_export(request: HttpRequest, form: str) -> HttpResponseBase:
    """All actions that fit a list as a file."""
    if form not in FORMS:
        raise Http404
    found = ActionList(signed_in(request), read_actions(request.GET), timezone.now())
    documents = (action_document(action) for action in found.chunks())
    if form == "csv":
        lines = csv_lines(tuple(ActionDocument.__annotations__), (tuple(document.values()) for document in documents))
    else:
        lines = _json_lines(documents) if form == "jsonl" else _array(documents)
    return StreamingHttpResponse(
        lines, content_type=FORMS[form], headers={"Content-Disposition": f'attachment; filename="memoryui-review.{form}"'}
    )


def filters_kept(parameters: list[tuple[str, str]]) -> list[filters.Field]:
    """Give parameters as fields of a form."""
    return [filters.Field(name, value) for name, value in parameters]


def _open_url(request: HttpRequest, pk: int, query: ActionQuery) -> str:
    """Give the action that is opened beside the list, with the line of it that is to be seen."""
    at = Place.read(request.GET.get("at", ""))
    return action_lists.action_url(pk, query, **({"at": str(at)} if at is not None else {}))


def _newer_url(address: str, since: int) -> str:
    return f"{address}{'&' if '?' in address else '?'}since={since}"


def _array(documents: Iterator[ActionDocument]) -> Iterator[bytes]:
    before = "["
    for document in documents:
        yield f"{before}\n{json.dumps(document, ensure_ascii=False)}".encode()
        before = ","
    yield b"[]\n" if before == "[" else b"\n]\n"


def _json_lines(documents: Iterator[ActionDocument]) -> Iterator[bytes]:
    for document in documents:
        yield f"{json.dumps(document, ensure_ascii=False)}\n".encode()
