"""What reviewers note beside problems and decisions, and choosing the decision that took another one's place (ruling 35)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from stores import note_cells, noting
from stores.accounts import require_reviewer, who_sees
from stores.context import Page
from stores.errors import MemoryUIError, NotFound
from stores.formats.secrets import mask
from stores.forms.noting import PEOPLE_OFFERED, DecisionNoteForm, NoteForm, ProblemNoteForm
from stores.lists.queries import ListQuery
from stores.lists.specs import DECISIONS
from stores.models import Decision, MirroredRecord, Problem, RecordNote, User
from stores.selectors.noted import Noted, chain_of
from stores.selectors.record_detail import find_record
from stores.selectors.records import RecordList
from stores.views.requests import signed_in

CANDIDATES = 25


def beside(request: HttpRequest, record: MirroredRecord) -> dict[str, Any]:
    """Give what the page of a problem or decision shows of notes: up to 5 queries."""
    note = noting.note_of(record)
    form = _form(record, note) if Page(request).is_reviewer else None
    chain = chain_of(record, note) if isinstance(record, Decision) else None
    return {"noted": note_cells.facts_of(record, note), "standing": Noted.of(note).standing, "note_form": form, "chain": chain}


@require_POST
def note_problem(request: HttpRequest, pk: int) -> HttpResponse:
    """Note owner, due day and text beside a problem."""
    user = require_reviewer(signed_in(request))
    record = find_record(user, Problem, pk)
    form = ProblemNoteForm(request.POST, people=_people(record))
    return _save(
        request,
        record,
        form,
        lambda given: noting.note_problem(
            user, record, owner=given["owner"], due_on=given["due_on"], note=given["note"], revision=given["revision"]
        ),
    )


@require_POST
def note_decision(request: HttpRequest, pk: int) -> HttpResponse:
    """Note standing, tags and text beside a decision."""
    user = require_reviewer(signed_in(request))
    record = find_record(user, Decision, pk)
    form = DecisionNoteForm(request.POST, superseded=Noted.of(noting.note_of(record)).successor_id is not None)
    return _save(
        request,
        record,
        form,
        lambda given: noting.note_decision(
            user, record, standing=given["standing"], tags=given["tags"], note=given["note"], revision=given["revision"]
        ),
    )


@require_http_methods(["GET", "HEAD", "POST"])
def decision_successor(request: HttpRequest, pk: int) -> HttpResponse:
    """Search for the decision of the same store that took this one's place, and say so."""
    user = require_reviewer(signed_in(request))
    record = find_record(user, Decision, pk)
    refused: MemoryUIError | None = None
    if request.method == "POST":
        try:
            noting.supersede(user, record, _chosen(user, request.POST.get("by", "")))
        except MemoryUIError as err:
            refused = err
        else:
            messages.success(request, "Noted: another decision took its place")
            return redirect("decision_detail", pk)
    text = " ".join(request.GET.get("q", "").split())[:200]
    found = RecordList(user, ListQuery(spec=DECISIONS, text=text, stores=(record.store.slug,), per_page=CANDIDATES))
    shown = {
        "record": record,
        "store": record.store,
        "text": text,
        "rows": [one for one in found.page_rows if one.pk != record.pk],
        "refused": str(refused) if refused else "",
    }
    return render(request, "stores/decision_successor.html", shown, status=refused.status if refused else 200)


def _save(request: HttpRequest, record: MirroredRecord, form: NoteForm, save: Callable[[dict[str, Any]], object]) -> HttpResponse:
    """Save a form that fits and go back to the record; else show it again with what is wrong and what was typed."""
    status = 422
    if form.is_valid():
        try:
            save(form.cleaned_data)
        except MemoryUIError as err:
            form.add_error(None, str(err))
            status = err.status
        else:
            messages.success(request, "Noted")
            return redirect(record.get_absolute_url())  # type: ignore[attr-defined]
    shown = {"record": record, "store": record.store, "note_form": form, "post_url": request.path}
    return render(request, "stores/note_form.html", shown, status=status)


def _form(record: MirroredRecord, note: RecordNote | None) -> NoteForm:
    noted = Noted.of(note)
    # A secret that somebody typed is not shown again, in a form neither; what is saved is what stands there then.
    given = {"note": mask(noting.clean_text(noted.note)), "revision": note.revision if note else 0}
    if isinstance(record, Problem):
        return ProblemNoteForm(initial={**given, "owner": noted.owner, "due_on": noted.due_on}, people=_people(record))
    given |= {"standing": noted.standing, "tags": ", ".join(mask(noting.clean_text(tag)) for tag in noted.tags)}
    return DecisionNoteForm(initial=given, superseded=noted.successor_id is not None)


def _people(record: MirroredRecord) -> dict[str, User]:
    return {one.username: one for one in who_sees(record.store)[:PEOPLE_OFFERED]}


def _chosen(user: User, text: str) -> Decision:
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise NotFound("Choose one of the decisions that are listed.")
    return find_record(user, Decision, int(text))
