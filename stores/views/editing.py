"""An action proposed otherwise: its form, filled in with what it says now (ux.md 2.8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from stores import action_words
from stores.errors import BadRequest, Conflict, NotAllowed
from stores.forms.proposing import FIND, ProposalForm, initial_of
from stores.lifecycle.vocabulary import verb_named
from stores.models import LifecycleAction, Store, User
from stores.review import editing, keeping
from stores.review.deciding import Manner, action_seen_by
from stores.review.mirror_source import MirrorSource
from stores.selectors.node_search import nodes_named
from stores.selectors.proposal_words import says
from stores.views.proposal_form import form_page, is_looking, unsent, with_nodes
from stores.views.requests import signed_in


@require_http_methods(["GET", "HEAD", "POST"])
def action_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Propose an action otherwise; it is withdrawn then, and the new one goes on in its place."""
    user = signed_in(request)
    action = action_seen_by(user, pk)
    store, verb = action.store, verb_named(action.kind, action.verb)
    if store is None or verb is None or not is_offered(user, action):
        raise _refusal(user, action)
    about, initial = initial_of(keeping.record_of(action))
    target = MirrorSource(store).target(action.target_type, about.target_id) if about.target_id else None
    about = replace(about, phase=str(target.phase) if target is not None and initial.get("to_phase") != target.phase else "")
    about = replace(about, doubles=[(one, one) for one in initial.get("doubles", ())])
    if FIND in ProposalForm(verb=verb.name, about=about).fields:
        listed = initial["others"].split("\n")
        there = [one.id for one in nodes_named(store, listed)]
        initial |= {"picked": there, "others": "\n".join(one for one in listed if one not in there)}
    about = with_nodes(request, store, verb, about, initial.get("picked", ()))
    more: dict[str, Any] = {
        "edits": action,
        "record": None,
        "about": action_words.subject(action),
        "back": action.get_absolute_url(),
        "takes_its_place": action.state in editing.REPLACED,
    }
    seen = action.digest.removeprefix("sha256:")
    if request.method != "POST":
        form = ProposalForm(verb=verb.name, about=about, initial={**initial, "seen": seen})
        return form_page(request, store, verb, form, about, **more)
    if is_looking(request):
        return form_page(request, store, verb, unsent(ProposalForm(verb=verb.name, about=about), request.POST), about, **more)
    form = ProposalForm(request.POST, verb=verb.name, about=about)
    if not form.is_valid():
        return form_page(request, store, verb, form, about, 422, **more)
    wanted = form.wanted
    edited = editing.Edited(wanted.target_ids, wanted.parameters, form.asks, form.cleaned_data["reason"], wanted.beside)
    try:
        made = editing.edit(user, pk, f"sha256:{form.cleaned_data['seen']}", edited, Manner("page", timezone.now()))
    except (BadRequest, Conflict) as err:
        form.add_error(None, str(err))
        return form_page(request, store, verb, form, about, err.status if isinstance(err, Conflict) else 422, **more)
    ended = f"; #{pk} is withdrawn" if more["takes_its_place"] else ""
    messages.success(request, f"#{made.pk} proposes it otherwise{ended}. You cannot approve it, as you changed it")
    return redirect(made)


def is_offered(user: User, action: LifecycleAction) -> bool:
    """Say whether there is a form for the action, and whether it still can be proposed otherwise by an account."""
    return bool(says(action.verb)) and editing.may_edit(user, action)


def _refusal(user: User, action: LifecycleAction) -> Conflict | NotAllowed:
    store: Store | None = action.store
    if store is None or action.state not in editing.EDITABLE or not says(action.verb):
        return Conflict("It cannot be proposed otherwise: there is no form for it, or it is over.")
    return NotAllowed("This needs the role reviewer. Someone who administers accounts can give it to you.")
