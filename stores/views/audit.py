"""The audit page: who did what, and whether the chain still holds (ux.md 2.10)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from stores.csv_lines import csv_lines
from stores.errors import BadRequest
from stores.models import AuditEvent
from stores.pager import make_pager
from stores.selectors import audit

PER_PAGE = 50
CAP = 10_000
"""Events are counted, and paged, up to here."""
EXPORTS = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
}
TROUBLE = frozenset({"sign_in_failed", "decision_refused", "action_denied", "action_failed", "action_stale", "applying_off"})
FILTERS = ("event", "actor", "store", "since", "batch", "action")


class Row(NamedTuple):
    """One event as the page shows it."""

    event: AuditEvent
    words: str
    state: str
    url: str
    """The list with this row opened, or closed again."""
    opened: bool
    details: list[audit.DetailLine]
    alone_url: str
    """The page of the event, which leads on among the events of the same filter."""


class Chip(NamedTuple):
    """A filter that is set, and the list without it."""

    name: str
    value: str
    url: str


@require_safe
def audit_list(request: HttpRequest) -> HttpResponse:
    """Events, newest first: filter, page, open one, check the chain. At most 9 queries besides the frame's."""
    wanted = _filter(request.GET)
    page = _whole_number(request.GET.get("page"), 1)
    if page < 1 or page * PER_PAGE > CAP:
        raise BadRequest(f"Pages go from 1 to {CAP // PER_PAGE}. Narrow the filter to see older events.")
    found = audit.events(request.user, wanted)
    count = found.order_by()[: CAP + 1].count()
    opened = _whole_number(request.GET.get("open"), 0)
    verdict = audit.page_verdict(whole=request.GET.get("check") == "whole")
    shown = {
        "verdict": {
            "state": "ok" if verdict.status == "intact" else "failing",
            "sentence": audit.chain_sentence(verdict),
            "when": timezone.now(),
            "when_word": "checked",
        },
        "chain": verdict,
        "rows": [_row(event, request.GET, opened) for event in found[(page - 1) * PER_PAGE : page * PER_PAGE]],
        "found": min(count, CAP),
        "capped": count > CAP,
        "wanted": wanted,
        "chips": _chips(wanted, request.GET),
        "clear_url": request.path,
        "events": audit.event_words(),
        "actors": audit.actors(),
        "stores": audit.filterable_stores(request.user),
        "query": _only(request.GET, FILTERS).urlencode(),
        "pager": make_pager(
            _only(request.GET, (*FILTERS, "page")), number_now=page, per_page=PER_PAGE, count=min(count, CAP), capped=count > CAP
        ),
    }
    return render(request, "stores/audit.html", shown)


@require_safe
def audit_export(request: HttpRequest, form: str) -> HttpResponseBase:
    """Stream the filtered events as CSV, JSON or JSON lines."""
    if form not in EXPORTS:
        raise Http404
    events = audit.exported(audit.events(request.user, _filter(request.GET)))
    lines: Iterator[bytes] | Iterator[str]
    if form == "csv":
        lines = csv_lines(audit.ExportedEvent._fields, _flat(events))
    else:
        lines = _json_list(events) if form == "json" else _json_lines(events)
    return StreamingHttpResponse(
        lines, content_type=EXPORTS[form], headers={"Content-Disposition": f'attachment; filename="memoryui-audit.{form}"'}
    )


@require_safe
def audit_event(request: HttpRequest, number: int) -> HttpResponse:
    """One event, with what it changed, and the way to those before and after it among the events of the same filter."""
    found = audit.find_event(request.user, number, _filter(request.GET))
    event = found.event
    shown = {
        "event": event,
        "words": audit.words(event.event),
        "state": "late" if event.event in TROUBLE else "superseded",
        "details": audit.detail_lines(event),
        "earlier_url": _alone(found.earlier, request.GET) if found.earlier else "",
        "later_url": _alone(found.later, request.GET) if found.later else "",
        "list_url": f"{reverse('audit')}?{_only(request.GET, FILTERS).urlencode()}",
    }
    return render(request, "stores/audit_event.html", shown)


def _alone(number: int, query: QueryDict) -> str:
    kept = _only(query, FILTERS).urlencode()
    return reverse("audit_event", args=[number]) + (f"?{kept}" if kept else "")


def _filter(query: QueryDict) -> audit.AuditFilter:
    return audit.AuditFilter(
        event=query.get("event", "")[:40],
        actor=query.get("actor", "")[:150],
        store=query.get("store", "")[:80],
        since=audit.parse_since(query.get("since", "")),
        batch=query.get("batch", "")[:40],
        action=_whole_number(query.get("action"), 0),
    )


def _row(event: AuditEvent, query: QueryDict, opened: int) -> Row:
    is_open = event.number == opened
    target = _only(query, (*FILTERS, "page"))
    if not is_open:
        target["open"] = str(event.number)
    return Row(
        event=event,
        words=audit.words(event.event),
        state="late" if event.event in TROUBLE else "superseded",
        url=f"?{target.urlencode()}",
        opened=is_open,
        details=audit.detail_lines(event) if is_open else [],
        alone_url=_alone(event.number, query),
    )


def _chips(wanted: audit.AuditFilter, query: QueryDict) -> list[Chip]:
    said = {
        "event": ("Event", audit.words(wanted.event)),
        "actor": ("Actor", wanted.actor),
        "store": ("Store", wanted.store),
        "since": ("Since", f"{wanted.since.day} {wanted.since:%b %Y}" if wanted.since else ""),
        "batch": ("Batch", wanted.batch),
        "action": ("Action", f"#{wanted.action}" if wanted.action else ""),
    }
    return [
        Chip(name, value, f"?{_only(query, [one for one in FILTERS if one != field]).urlencode()}")
        for field, (name, value) in said.items()
        if value
    ]


def _only(query: QueryDict, fields: tuple[str, ...] | list[str]) -> QueryDict:
    kept = QueryDict(mutable=True)
    for field in fields:
        if value := query.get(field):
            kept[field] = value
    return kept


def _whole_number(text: str | None, default: int) -> int:
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise BadRequest("A page or a number of an event is a whole number.")
    return int(text)


def _flat(events: Iterator[audit.ExportedEvent]) -> Iterator[tuple[object, ...]]:
    for event in events:
        yield tuple(json.dumps(value, sort_keys=True) if isinstance(value, dict) else value for value in event)


def _json_list(events: Iterator[audit.ExportedEvent]) -> Iterator[bytes]:
    begin = b"["
    for event in events:
        yield begin + json.dumps(event._asdict()).encode()
        begin = b",\n"
    yield b"]\n" if begin != b"[" else b"[]\n"


def _json_lines(events: Iterator[audit.ExportedEvent]) -> Iterator[bytes]:
    for event in events:
        yield json.dumps(event._asdict()).encode() + b"\n"
