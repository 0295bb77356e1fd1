"""Pages of single records: decision, problem, queue operation; and the one place where a masked value is shown."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from stores import audit, record_facts
from stores.accounts import require_reviewer
from stores.context import Page
from stores.errors import NotFound
from stores.formats import orchestkit
from stores.mirror.record_types import RECORD_TYPES
from stores.models import Decision, Problem, QueueOperation
from stores.selectors.entities import entity_named
from stores.selectors.origins import origins
from stores.selectors.proposals import record_actions
from stores.selectors.record_detail import RecordPage, find_record, record_page, same_text, text_of
from stores.views import noting
from stores.views.requests import signed_in

MODELS = {name: of_type.model for name, of_type in RECORD_TYPES.items()}
NAMES_SHOWN = 100


@require_safe
def decision_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One decision: what was decided, by whom, where it stands on disk, what says the same."""
    record = find_record(signed_in(request), Decision, pk)
    page = record_page(record)
    detail = orchestkit.decision_detail(page.raw)
    same = same_text(record)
    content = {
        "detail": detail,
        "told": record_facts.told(detail),
        "others": record_facts.others(detail.other),
        "origin": record_facts.origin(record, detail),
        "same": same,
        **noting.beside(request, record),
        "in_graph": entity_named(record.store_id, record.natural_id) if record.natural_id else None,
        "entities": detail.entities[:NAMES_SHOWN],
        "entities_left": max(0, len(detail.entities) - NAMES_SHOWN),
    }
    return _render(request, "stores/decision_detail.html", page, content, has_doubles=same.number > 0)


@require_safe
def problem_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One problem: what went wrong, since when, and what is said to have solved it."""
    record = find_record(signed_in(request), Problem, pk)
    page = record_page(record)
    detail = orchestkit.problem_detail(page.raw)
    content = {
        "detail": detail,
        "facts_of": record_facts.problem_facts(record, detail),
        **noting.beside(request, record),
        "solution": record_facts.solution(detail),
        "others": record_facts.others(detail.other),
        "entities": detail.entities[:NAMES_SHOWN],
        "entities_left": max(0, len(detail.entities) - NAMES_SHOWN),
    }
    return _render(request, "stores/problem_detail.html", page, content)


@require_safe
def queue_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One queue operation: everything that it would create, and what keeps it."""
    record = find_record(signed_in(request), QueueOperation, pk)
    page = record_page(record)
    detail = orchestkit.queue_detail(page.raw)
    content = {
        "detail": detail,
        "facts_of": record_facts.queue_facts(record, detail),
        "origin": origins([record]).get(record.pk),
        "others": record_facts.others(detail.other),
        "entities": detail.entities[:NAMES_SHOWN],
        "relations": detail.relations[:NAMES_SHOWN],
        "observations": detail.observations[:NAMES_SHOWN],
        "left": max(0, len(detail.entities) - NAMES_SHOWN)
        + max(0, len(detail.relations) - NAMES_SHOWN)
        + max(0, len(detail.observations) - NAMES_SHOWN),
    }
    return _render(request, "stores/queue_detail.html", page, content)


@require_POST
def record_unmask(request: HttpRequest, record_type: str, pk: int) -> HttpResponse:
    """Show the raw line of a record with its secrets, once, to a reviewer; the audit keeps who looked (ruling 20)."""
    user = require_reviewer(signed_in(request))
    model = MODELS.get(record_type)
    if model is None:
        raise NotFound("No such type of record.")
    record = find_record(user, model, pk)
    page = record_page(record)
    audit.record(
        "unmasked",
        actor=user,
        object_label=f"{record.file.path}, line {record.line}",
        store=record.store,
        through="page",
        detail={"record_type": record_type, "record": record.pk, "values": page.secrets},
    )
    text = bytes(text_of(record).raw).decode("utf-8", "replace")
    return render(request, "stores/record_unmasked.html", {"page_of": page, "record": record, "text": text})


def _render(
    request: HttpRequest, template: str, page: RecordPage, content: dict[str, object], *, has_doubles: bool = False
) -> HttpResponse:
    return render(request, template, {**common(request, page, has_doubles=has_doubles), **content})


def common(request: HttpRequest, page: RecordPage, *, has_doubles: bool = False) -> dict[str, object]:
    """Give what pages of all types of record show."""
    return {
        "actions": record_actions(page.record, [row.fault.code for row in page.faults], has_doubles=has_doubles),
        "page_of": page,
        "record": page.record,
        "store": page.record.store,
        "disk": record_facts.on_disk(page),
        "reviewer": Page(request).is_reviewer,
    }
