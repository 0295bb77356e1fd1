"""People propose: about a record, a path to begin, a queue, a fault, a whole plan. Nothing is written here; all of it is decided on later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from stores.action_words import counted
from stores.errors import Conflict, NotFound
from stores.formats.orchestkit import queue
from stores.forms.proposing import About, ProposalForm
from stores.lifecycle.vocabulary import VERBS, Verb
from stores.mirror.record_types import RECORD_TYPES
from stores.models import MirroredRecord, Store, User
from stores.review import offering, planning, repairs
from stores.review.submitting import KNOWN, PLANNER, QUEUED, Proposer, Submitted, submit
from stores.selectors import proposals
from stores.selectors.faults import find_fault
from stores.selectors.record_detail import find_record, record_page, spec_of, text_of
from stores.selectors.review_counts import queue_url
from stores.selectors.stores import find_store
from stores.views.proposal_form import form_page, is_looking, unsent, with_nodes
from stores.views.requests import signed_in

QUEUE_VERBS = ("drain_queue", "archive_queue")


@require_http_methods(["GET", "HEAD", "POST"])
def propose_on_record(request: HttpRequest, record_type: str, pk: int, verb: str) -> HttpResponse:
    """Ask what a verb needs to know about a record, then propose it."""
    user = signed_in(request)
    if record_type not in RECORD_TYPES:
        raise NotFound("No such type of record.")
    record = find_record(user, RECORD_TYPES[record_type].model, pk)
    raw = bytes(text_of(record).raw)
    page = record_page(record)
    doubles = proposals.doubles_of(record)
    verbs = {one.name: one for one in offering.offered(record, [row.fault.code for row in page.faults], has_doubles=bool(doubles))}
    if verb not in VERBS.get(record.store.kind, {}):
        raise NotFound("There is no such action for this kind of store.")
    target_id = offering.target_id(record, raw)
    if verb not in verbs or not target_id:
        raise Conflict("As the record is now this cannot be proposed about it: look at it again.")
    phase = str(getattr(record, "phase", ""))
    about = About(target_id, phase, [(one.target_id, _beside(one)) for one in doubles])
    return _propose(request, user, record.store, verbs[verb], record_type, about, record=record, seen=bytes(record.sha256).hex())


@require_http_methods(["GET", "HEAD", "POST"])
def propose_path(request: HttpRequest, slug: str) -> HttpResponse:
    """Propose to begin a path."""
    user = signed_in(request)
    store = find_store(user, slug, holding="path")
    return _propose(request, user, store, _verb(store, "create_path"), "path", About())


@require_http_methods(["GET", "HEAD", "POST"])
def propose_queue(request: HttpRequest, slug: str, verb: str) -> HttpResponse:
    """Propose to drain a store's queue, or to put it away."""
    user = signed_in(request)
    store = find_store(user, slug, holding="queue_operation")
    if verb not in QUEUE_VERBS:
        raise NotFound("A queue can be drained or archived.")
    return _propose(request, user, store, _verb(store, verb), "file", About(queue.PATH))


@require_POST
def propose_repair(request: HttpRequest, slug: str, fault_id: int) -> HttpResponse:
    """Propose what mends one fault, in the planner's name: nobody chose anything about it."""
    user = signed_in(request)
    store = find_store(user, slug)
    fault = find_fault(store, fault_id).fault
    made = repairs.repair_of(store, fault, timezone.now())
    if not made:
        raise Conflict(
            "The mirror does not hold what this repair takes, or the fault is acknowledged: look at it again after the next import."
        )
    return _answer(request, store, _planned(store, made, user))


@require_POST
def propose_safe_repairs(request: HttpRequest, slug: str) -> HttpResponse:
    """Propose everything that mends a fault of the store and needs no review."""
    user = signed_in(request)
    store = find_store(user, slug)
    made = repairs.safe_repairs(store, timezone.now())
    if not made:
        messages.info(request, "No fault of this store can be mended without a review")
        return redirect("store_faults", slug)
    return _answer(request, store, _planned(store, made, user))


@require_http_methods(["GET", "HEAD", "POST"])
def store_plan(request: HttpRequest, slug: str) -> HttpResponse:
    """What the rules of a store, or its faults, would propose now; a POST proposes exactly what was shown."""
    user = signed_in(request)
    store = find_store(user, slug)
    if store.kind not in VERBS:
        raise NotFound("Nothing can be planned for stores of this kind.")
    given = request.POST if request.method == "POST" else request.GET
    wants_repairs, profile, now = given.get("what") == "repairs", given.get("profile", "")[:200], timezone.now()
    found = proposals.plan_page(store, now, profile=profile, repairs=wants_repairs)
    context: dict[str, Any] = {"store": store, "found": found, "repairs": wants_repairs, "profile": profile}
    if request.method != "POST" or found.plan is None:
        return render(request, "stores/store_plan.html", context)
    if given.get("digest") != found.digest:
        return render(request, "stores/store_plan.html", {**context, "moved": True}, status=409)
    return _answer(request, store, planning.submit_plan(store, found.plan, "page", now, asked_by=user))


def _propose(
    request: HttpRequest,
    user: User,
    store: Store,
    verb: Verb,
    target_type: str,
    about: About,
    *,
    record: MirroredRecord | None = None,
    seen: str = "",
) -> HttpResponse:
    about = with_nodes(request, store, verb, about)
    if request.method != "POST":
        return _form_page(request, store, verb, ProposalForm(verb=verb.name, about=about, initial={"seen": seen}), record, about)
    if is_looking(request):
        return _form_page(request, store, verb, unsent(ProposalForm(verb=verb.name, about=about), request.POST), record, about)
    form = ProposalForm(request.POST, verb=verb.name, about=about)
    if not form.is_valid():
        return _form_page(request, store, verb, form, record, about, 422)
    if form.cleaned_data["seen"] != seen:
        form.data = request.POST.copy()
        form.data["seen"] = seen
        form.add_error(None, "The record has changed since the page was shown. Look at it again, then propose.")
        return _form_page(request, store, verb, form, record, about, 409)
    wanted = form.wanted
    proposal = {
        "action": verb.name,
        "target_type": target_type,
        "target_ids": wanted.target_ids,
        "parameters": wanted.parameters,
        "reason": form.cleaned_data["reason"],
        "requires_review": False,  # The gate adds a review where one is needed.
        **wanted.beside,
    }
    results = submit(store, [proposal], Proposer(user.username, "page", "page", user), timezone.now())
    if any(one.is_refused for one in results):
        form.add_error(None, next(one.message for one in results if one.is_refused))
        return _form_page(request, store, verb, form, record, about, 422)
    return _answer(request, store, results)


def _form_page(
    request: HttpRequest, store: Store, verb: Verb, form: ProposalForm, record: MirroredRecord | None, about: About, status: int = 200
) -> HttpResponse:
    back = reverse(f"{spec_of(record).name}_detail", args=[record.pk]) if record is not None else store.get_absolute_url()
    named = "the queue" if about.target_id == queue.PATH else ""
    return form_page(request, store, verb, form, about, status, record=record, about=named, back=back)


def _planned(store: Store, made: Sequence[object], user: User) -> list[Submitted]:
    return submit(store, made, Proposer(PLANNER, PLANNER, "page", asked_by=user), timezone.now())


def _answer(request: HttpRequest, store: Store, results: Sequence[Submitted]) -> HttpResponse:
    """Lead to the action, or to the queue where there are several, and say what became of each."""
    queued = [one for one in results if one.code == QUEUED]
    known = [one for one in results if one.code == KNOWN]
    refused = [one for one in results if one.is_refused]
    if queued:
        messages.success(request, f"Proposed {counted(len(queued), 'action')}; nothing is written before it may be applied")
    if known:
        messages.info(request, f"{counted(len(known), 'action')} {'was' if len(known) == 1 else 'were'} in the queue already")
    if refused:
        words = "; ".join(sorted({one.message for one in refused})[:3])
        messages.warning(request, f"{counted(len(refused), 'action')} not proposed: {words}")
    rows = [one.action for one in (*queued, *known) if one.action is not None]
    if len(rows) == 1 and not refused:
        return redirect(rows[0])
    return redirect(queue_url(store=store.slug) if rows else reverse("store_plan", args=[store.slug]))


def _verb(store: Store, name: str) -> Verb:
    verb = VERBS.get(store.kind, {}).get(name)
    if verb is None:
        raise NotFound("There is no such action for this kind of store.")
    return verb


def _beside(double: proposals.Double) -> str:
    return f"line {double.record.line:,}"
