"""What is asked for before anything is applied: the policy for all stores, that of one, and the switch that stops all applying."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from stores.accounts import require_operator, require_reviewer
from stores.errors import Conflict, NotAllowed
from stores.forms.policy import PolicyForm, initial_of, values_of
from stores.forms.switch import SwitchForm
from stores.models import ReviewPolicy, Store, User
from stores.review import custody, policies, presets
from stores.review.installation import set_applying
from stores.selectors import review_counts
from stores.selectors.policies import PolicyPage, policy_page, stores_with_own_policy
from stores.selectors.policy_impact import impact_of
from stores.selectors.stores import find_store
from stores.sign_ins import confirmed
from stores.views.requests import signed_in

WRONG_PASSWORD = "This is not your password."  # noqa: S105  a sentence


@require_http_methods(["GET", "HEAD", "POST"])
def default_policy(request: HttpRequest) -> HttpResponse:
    """The policy for all stores that have none of their own: reviewers read it, superusers change it."""
    return _policy(request, require_reviewer(signed_in(request)), None)


@require_http_methods(["GET", "HEAD", "POST"])
def store_policy(request: HttpRequest, slug: str) -> HttpResponse:
    """The policy of one store."""
    # The store first: who may not see it is told that there is none.
    store = find_store(request.user, slug)
    return _policy(request, require_reviewer(signed_in(request)), store)


@require_http_methods(["GET", "HEAD", "POST"])
def store_policy_drop(request: HttpRequest, slug: str) -> HttpResponse:
    """Drop the policy of one store, so that the one for all stores holds there; what that changes is said before."""
    store = find_store(request.user, slug)
    user = require_reviewer(signed_in(request))
    if not user.is_superuser:
        raise NotAllowed("Policies are changed by those who administer memoryui.")
    found, now = policy_page(user, store), timezone.now()
    if not found.is_own:
        raise Conflict("The store has no policy of its own.")
    if request.method == "POST":
        seen, instead = request.POST.get("seen", ""), request.POST.get("instead", "")
        default = policies.drop_policy(store, seen, instead, user, now, through="page")
        messages.success(request, f"Dropped: policy {default.version}, the one for all stores, is in force")
        return redirect("store_policy", store.slug)
    default = policy_page(user, None).policy
    context = {"store": store, "found": found, "default": default, "impact": impact_of(store, default, now)}
    return render(request, "stores/policy_drop.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def review_switch(request: HttpRequest) -> HttpResponse:
    """Let queued actions be applied, or stop all applying at once; with the password, as it concerns every store."""
    state = review_counts.switch()
    if request.method != "POST":
        return _switch_page(request, SwitchForm(), state)
    user = require_operator(request.user)
    form = SwitchForm(request.POST)
    if not form.is_valid():
        return _switch_page(request, form, state)
    if confirmed(request, user.username, form.cleaned_data["password"]) is None:
        form.add_error("password", WRONG_PASSWORD)
        return _switch_page(request, form, state)
    wanted = form.cleaned_data["to"] == "on"
    turned = set_applying(wanted, user, timezone.now(), reason=form.cleaned_data["reason"], through="page")
    done = "Approved actions are applied from now on" if wanted else "Nothing is applied any more until somebody turns it on"
    messages.success(request, done if turned else "It stood so already")
    return redirect("review_switch")


def _policy(request: HttpRequest, user: User, store: Store | None) -> HttpResponse:
    found = policy_page(user, store)
    kind = store.kind if store is not None else ""
    if request.method == "POST":
        if not user.is_superuser:
            raise NotAllowed("Policies are changed by those who administer memoryui.")
        form = PolicyForm(request.POST, kind=kind, for_all=store is None, initial=values_of(found.policy))
        return _changed(request, user, store, found, form)
    name = request.GET.get("preset", "")
    chosen = name if name in presets.PRESETS and user.is_superuser else ""
    values = presets.preset(chosen, kind) if chosen else values_of(found.policy)
    form = PolicyForm(initial=initial_of(values, found.seen), kind=kind, for_all=store is None)
    return _page(request, user, store, found, form, preset=chosen)


def _changed(request: HttpRequest, user: User, store: Store | None, found: PolicyPage, form: PolicyForm) -> HttpResponse:
    """Show what a policy would change; save it once that was seen."""
    if not form.is_valid():
        return _page(request, user, store, found, form, status=422)
    if form.cleaned_data["seen"] != found.seen:
        raise Conflict("The policy was changed by somebody else meanwhile: look at it again.")
    now = timezone.now()
    if request.POST.get("step") == "look" or form.cleaned_data["looked"] != form.fingerprint:
        wanted = ReviewPolicy(store=store, number=found.policy.number + 1, **form.values)
        return _page(request, user, store, found, form, impact=impact_of(store, wanted, now), looked=form.fingerprint)
    saved = policies.change_policy(store, form.values, form.cleaned_data["seen"], user, now, through="page")
    messages.success(request, f"Policy {saved.version} is in force")
    return redirect("store_policy", store.slug) if store is not None else redirect("default_policy")


def _page(
    request: HttpRequest, user: User, store: Store | None, found: PolicyPage, form: PolicyForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    if not user.is_superuser:
        for field in form.fields.values():
            field.disabled = True
    context = {
        "store": store,
        "found": found,
        "form": form,
        "may_change": user.is_superuser,
        "presets": presets.PRESETS.items(),
        "with_own": stores_with_own_policy(user) if store is None else [],
        "custody": custody.SHARED if found.shares_one_user else "",
        **more,
    }
    return render(request, "stores/policy.html", context, status=status)


def _switch_page(request: HttpRequest, form: SwitchForm, state: review_counts.Switch) -> HttpResponse:
    context = {"form": form, "state": state, "custody": custody.SHARED if custody.shares_one_user() else ""}
    return render(request, "stores/review_switch.html", context, status=422 if form.is_bound else 200)
