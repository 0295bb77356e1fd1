"""Pages of single records that one template shows: flows, events, solutions, the retired queue, preferences, Markdown, graph lines, others."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from stores.formats.orchestkit import flows, foreign, graph_items, mem0, memory_md, preferences, session_events, solutions
from stores.models import Flow, ForeignRecord, GraphItem, Mem0Operation, MemoryMd, PreferenceFile, ProblemSolution, SessionEvent
from stores.record_parts import events as event_parts
from stores.record_parts import flows as flow_parts
from stores.record_parts import markdown as markdown_parts
from stores.record_parts import others as other_parts
from stores.record_parts import preferences as preference_parts
from stores.record_parts.base import Content
from stores.selectors import memory_sessions
from stores.selectors.record_detail import RecordPage, find_record, markdown_beside, metrics_history, problem_named, record_page
from stores.views.record_details import common
from stores.views.requests import signed_in


@require_safe
def flow_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One flow: its steps in their order, other versions of it, what was decided meanwhile."""
    record = find_record(signed_in(request), Flow, pk)
    page = record_page(record)
    company = memory_sessions.company(record.store, record.session, record.started_ms or record.at_ms, record.at_ms)
    content = flow_parts.content(record, flows.flow_detail(page.raw), memory_sessions.versions_of(record), company)
    return _render(request, page, content)


@require_safe
def event_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One event of a session."""
    record = find_record(signed_in(request), SessionEvent, pk)
    page = record_page(record)
    return _render(request, page, event_parts.content(record, session_events.event_detail(page.raw)))


@require_safe
def solution_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One pair of a problem and what was taken for its solution."""
    record = find_record(signed_in(request), ProblemSolution, pk)
    page = record_page(record)
    problem = problem_named(record.store, record.problem_id)
    return _render(request, page, other_parts.solution_content(record, solutions.solution_detail(page.raw), problem))


@require_safe
def mem0_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One operation of the retired queue."""
    record = find_record(signed_in(request), Mem0Operation, pk)
    page = record_page(record)
    return _render(request, page, other_parts.mem0_content(record, mem0.mem0_detail(page.raw)))


@require_safe
def preference_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One file of preferences: its counts as bars, its conclusions worked out anew."""
    record = find_record(signed_in(request), PreferenceFile, pk)
    page = record_page(record)
    return _render(request, page, preference_parts.content(record, preferences.preference_detail(page.raw)))


@require_safe
def memory_file_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One Markdown file: which lines an agent loads, and which it never sees."""
    record = find_record(signed_in(request), MemoryMd, pk)
    page = record_page(record)
    return _render(
        request, page, markdown_parts.content(record, memory_md.memory_md_detail(page.raw), len(page.raw), markdown_beside(record))
    )


@require_safe
def graph_item_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One line of the graph file."""
    record = find_record(signed_in(request), GraphItem, pk)
    page = record_page(record)
    return _render(request, page, other_parts.graph_content(record, graph_items.graph_detail(page.raw)))


@require_safe
def other_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One record of another tool or an older version, field by field; of a log of metrics its history too."""
    record = find_record(signed_in(request), ForeignRecord, pk)
    page = record_page(record)
    history = foreign.metrics_points(metrics_history(record)) if record.form == foreign.METRICS else ()
    return _render(request, page, other_parts.foreign_content(record, foreign.foreign_detail(page.raw), history))


def _render(request: HttpRequest, page: RecordPage, content: Content) -> HttpResponse:
    return render(request, "stores/record_page.html", {**common(request, page), "content": content})
