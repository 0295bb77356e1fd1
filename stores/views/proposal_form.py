"""The page of a form in which something is proposed, and the nodes that are looked for in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from stores.action_words import counted, verb_words
from stores.forms.proposing import FIND, NODES, PATHS, About, ProposalForm
from stores.lifecycle.vocabulary import Verb
from stores.models import MemoryPath, Node, Store
from stores.selectors import proposals
from stores.selectors.node_search import NodeChoice, find_nodes, nodes_named
from stores.selectors.proposal_words import says

TEMPLATE: Final = "stores/propose_form.html"
_JOINS: Final = ("merge", "compact")
MOST_PICKED: Final = 1_000


def is_looking(request: HttpRequest) -> bool:
    """Say whether the form was sent to look for nodes, not to propose."""
    return request.method == "POST" and request.POST.get("step") == FIND


def with_nodes(request: HttpRequest, store: Store, verb: Verb, about: About, picked: Iterable[str] = ()) -> About:
    """Add the nodes that are ticked, and those that are looked for; `picked` are ticked when the form is opened."""
    if verb.name not in _JOINS:
        return about
    ticked = request.POST.getlist("picked")[:MOST_PICKED] if request.method == "POST" else list(picked)
    nodes = nodes_named(store, ticked)
    if is_looking(request):
        nodes += find_nodes(store, request.POST.get(FIND, ""), verb.from_states, {about.target_id, *ticked})
    return replace(about, nodes=[(one.id, _label(one)) for one in nodes])


def unsent(form: ProposalForm, given: QueryDict) -> ProposalForm:
    """Fill a form with what was typed so far, without judging it."""
    for name, field in form.fields.items():
        if isinstance(field, forms.MultipleChoiceField):
            form.initial[name] = given.getlist(name)
        else:
            form.initial[name] = name in given if isinstance(field, forms.BooleanField) else given.get(name, "")
    return form


def form_page(
    request: HttpRequest, store: Store, verb: Verb, form: ProposalForm, made_for: About, status: int = 200, **more: Any
) -> HttpResponse:
    """Show the form; `more` says what it is about and where it leads back."""
    lists = {field.widget.attrs.get("list") for field in form.fields.values()}
    context = {
        "store": store,
        "verb": verb,
        "title": verb_words(verb.name).does,
        "says": says(verb.name),
        "form": form,
        "looked": _found_words(request, made_for) if is_looking(request) else "",
        "known_nodes": proposals.known_ids(store, Node, made_for.target_id) if NODES in lists else [],
        "known_paths": proposals.known_ids(store, MemoryPath, made_for.target_id) if PATHS in lists else [],
        **more,
    }
    return render(request, TEMPLATE, context, status=status)


def _found_words(request: HttpRequest, made_for: About) -> str:
    ticked = set(request.POST.getlist("picked"))
    number = sum(name not in ticked for name, _ in made_for.nodes)
    return f"{counted(number, 'node')} found" if number else "No other node that fits has these words"


def _label(node: NodeChoice) -> str:
    return f"{node.title} · {node.id} · {node.phase}, {node.state}"
