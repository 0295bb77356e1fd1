"""Pages of single records of a phase-memory store; those of paths are in `views.paths`."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from stores.formats.phase_memory import records
from stores.formats.phase_memory.aliases import Record
from stores.formats.phase_memory.details import value_of
from stores.formats.phase_memory.forecast import forecast
from stores.htmx import page_or_fragment
from stores.lists.graphs import PICTURE_SIZE
from stores.models import Activation, AuditRecord, Edge, Event, MirroredRecord, Node, Profile
from stores.record_parts import activations as activation_parts
from stores.record_parts import memory_graph, memory_logs
from stores.record_parts import nodes as node_parts
from stores.record_parts import profiles as profile_parts
from stores.record_parts.base import Content
from stores.selectors import memory_nodes, phase_board
from stores.selectors.record_detail import RecordPage, find_record, record_page, text_of
from stores.views.record_details import common
from stores.views.requests import signed_in, step_links, steps

PICKED = "picked"
"""The part of a node's or edge's page that stands beside the picture."""


@require_safe
def node_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One node: its text, its place in the graph, where it comes from, and what became of it."""
    record = find_record(signed_in(request), Node, pk)
    read = records.node(_value(record))
    around = memory_nodes.node_around(record, read.provenance.source_event_ids)
    content = node_parts.node_content(record, read, around)
    depth = steps(request)
    extra: dict[str, object] = {
        "around": around,
        "depths": step_links(depth),
        "picture_url": f"{reverse('node_data', args=[pk])}?depth={depth}",
    }
    template = page_or_fragment(request, "stores/node_detail.html", PICKED)
    return _page(request, template, record_page(record), content, extra)


@require_safe
def node_data(request: HttpRequest, pk: int) -> JsonResponse:
    """What the picture of a node's neighbourhood is drawn from."""
    record = find_record(signed_in(request), Node, pk)
    made = memory_nodes.node_picture(record, steps(request), PICTURE_SIZE)
    return JsonResponse(memory_graph.picture_document(made))


@require_safe
def edge_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One edge: both ends, what it says, and what happened to it."""
    record = find_record(signed_in(request), Edge, pk)
    read = records.edge(_value(record))
    around = memory_nodes.edge_around(record, read.provenance.source_event_ids)
    template = page_or_fragment(request, "stores/edge_detail.html", PICKED)
    return _page(request, template, record_page(record), node_parts.edge_content(record, read, around), {})


@require_safe
def activation_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One activation: what was chosen and passed over, and how much of the budget that took."""
    record = find_record(signed_in(request), Activation, pk)
    chosen, omitted = memory_nodes.activation_items(record)
    profile = memory_nodes.profile_named(record.store_id, record.profile_id)
    content = activation_parts.content(record, records.activation(_value(record)), chosen, omitted, profile)
    return _page(request, "stores/record_page.html", record_page(record), content, {})


@require_safe
def memory_event_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One line of the event log: what it changed, and which memory comes from it."""
    record = find_record(signed_in(request), Event, pk)
    content = memory_logs.event_content(record, records.event(_value(record)), memory_nodes.event_around(record))
    return _page(request, "stores/record_page.html", record_page(record), content, {})


@require_safe
def audit_record_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One line of the store's own audit log: what was decided, by whom, and what that touched."""
    record = find_record(signed_in(request), AuditRecord, pk)
    read = records.audit(_value(record))
    content = memory_logs.audit_content(record, read, memory_nodes.audit_around(record, read.event_ids))
    return _page(request, "stores/record_page.html", record_page(record), content, {})


@require_safe
def profile_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One profile: its rules in words, beside what the store really holds."""
    record = find_record(signed_in(request), Profile, pk)
    rules = phase_board.rules_of(record)
    groups = phase_board.node_groups(record.store)
    use = phase_board.profile_use(record, groups)
    due = forecast(rules, groups, phase_board.today(timezone.now()))
    content = profile_parts.content(record, records.profile(_value(record)), rules, use, due)
    return _page(request, "stores/record_page.html", record_page(record), content, {})


def _value(record: MirroredRecord) -> Record:
    return value_of(record.record_type, bytes(text_of(record).raw))


def _page(request: HttpRequest, template: str, page: RecordPage, content: Content, extra: dict[str, object]) -> HttpResponse:
    return render(request, template, {**common(request, page), "content": content, **extra})
