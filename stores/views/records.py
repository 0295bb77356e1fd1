"""What the lists of records share: one page, its fragment `list`, its export (DESIGN §10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from stores import exports, filters, row_groups, tables
from stores.context import Page
from stores.htmx import page_or_fragment
from stores.lists.queries import PAGE_SIZE, PAGE_SIZES, ListQuery, read
from stores.lists.specs import QUEUE, ListSpec
from stores.selectors.completeness import completeness, outcome
from stores.selectors.origins import Origin
from stores.selectors.record_faults import faults_of
from stores.selectors.records import RecordList
from stores.views.requests import signed_in

FRAGMENT = "list"
SIZE_COOKIE = "per_page"
SIZE_KEPT_S = 365 * 24 * 3600
FILES = (("csv", "CSV"), ("json", "JSON"), ("jsonl", "JSON lines"))


def asked(request: HttpRequest, spec: ListSpec) -> ListQuery:
    """Give what the address asks of a list; where it names no page size, the one that this browser asked for last."""
    query = read(spec, request.GET)
    kept = request.COOKIES.get(SIZE_COOKIE, "")
    if "per_page" not in request.GET and kept in {str(size) for size in PAGE_SIZES}:
        return query.changed(per_page=int(kept), page=query.page)
    return query


def answer(
    request: HttpRequest,
    template: str,
    found: RecordList,
    origins: Mapping[int, Origin] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> HttpResponse:
    """Answer with a list as a page or as its part `list`, and keep the page size that was asked for."""
    shown = {**listing(request, found, origins), **(extra or {})}
    response = render(request, page_or_fragment(request, template, FRAGMENT), shown)
    size = request.GET.get("per_page", "")
    if size in {str(one) for one in PAGE_SIZES} and size != request.COOKIES.get(SIZE_COOKIE, str(PAGE_SIZE)):
        response.set_cookie(SIZE_COOKIE, size, max_age=SIZE_KEPT_S, secure=request.is_secure(), httponly=True, samesite="Lax")
    return response


def listing(request: HttpRequest, found: RecordList, origins: Mapping[int, Origin] | None = None) -> dict[str, Any]:
    """Give what `stores/_record_list.html` shows."""
    query, spec = found.query, found.spec
    # What is wrong with an operation is its standing.
    faults = faults_of(found.page_rows) if spec is not QUEUE else {}
    home = reverse(f"{spec.name}_list")
    expanded = {
        name for name in request.GET.getlist(filters.MORE) if name in {"store", *(facet.column for facet in (*spec.facets, *spec.notes))}
    }
    return {
        "spec": spec,
        "home": home,
        "facets": filters.facets_of(found, home, expanded),
        "find": filters.find_of(found, home),
        "chips": filters.chips_of(found),
        "clear_url": filters.cleared(query),
        "completeness": completeness(found),
        "view": tables.table_of(found, faults, origins),
        "outcome": outcome(found, Page(request).is_operator),
        "count_text": filters.count_text(found),
        "exports": [
            {
                "label": label,
                "url": query.address(reverse(f"{spec.name}_export", args=[form]), without=("page", "per_page", "cols", "group")),
            }
            for form, label in FILES
        ],
        "ways": row_groups.segments(query),
        "columns": filters.column_choices(query),
        "columns_kept": filters.passed_on(query, "cols"),
        "page_sizes": filters.page_sizes(query),
        "views_url": query.changed().address(reverse("saved_view_list", args=[spec.section])),
    }


def export(request: HttpRequest, spec: ListSpec, form: str) -> HttpResponseBase:
    """Stream all that fits a list."""
    if form not in exports.FORMS:
        raise Http404
    return exports.export(RecordList(signed_in(request), read(spec, request.GET)), form)
