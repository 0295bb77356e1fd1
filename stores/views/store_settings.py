"""Settings of one store, for operators: name, who sees it, where it lies, its mirror, and letting it go."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from stores import store_settings as changing
from stores.accounts import require_operator, visible_stores
from stores.forms.stores import GroupsForm, RelocateForm, RenameForm, TypedSlugForm
from stores.models import Store, User
from stores.selectors import verdicts
from stores.selectors.stores import find_store
from stores.tasks.asking import ask_to_relocate, ask_to_remove_store, ask_to_reset_mirror


@require_safe
def store_settings(request: HttpRequest, slug: str) -> HttpResponse:
    """All that an operator may change about a store."""
    _, store = _operator_and_store(request, slug)
    return _page(request, store)


@require_POST
def store_rename(request: HttpRequest, slug: str) -> HttpResponse:
    """Change the name; the slug stays."""
    user, store = _operator_and_store(request, slug)
    form = RenameForm(request.POST, instance=Store(pk=store.pk, name=store.name))
    if not form.is_valid():
        return _page(request, store, rename_form=form)
    if changing.rename(store, form.cleaned_data["name"], by=user):
        messages.success(request, f"Renamed to {form.cleaned_data['name']}")
    return redirect("store_settings", slug)


@require_POST
def store_limit(request: HttpRequest, slug: str) -> HttpResponse:
    """Change who sees the store."""
    user, store = _operator_and_store(request, slug)
    form = GroupsForm(request.POST)
    if not form.is_valid():
        return _page(request, store, groups_form=form)
    if changing.limit_to_groups(store, form.cleaned_data["groups"], by=user):
        messages.success(request, "Saved who sees this store")
    if not visible_stores(user).filter(pk=store.pk).exists():
        messages.info(request, "Your account is in none of these groups, so it does not see the store any more")
        return redirect("store_list")
    return redirect("store_settings", slug)


@require_POST
def store_relocate(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask the worker to follow the store to another folder."""
    user, store = _operator_and_store(request, slug)
    form = RelocateForm(request.POST)
    if not form.is_valid():
        return _page(request, store, relocate_form=form)
    task = ask_to_relocate(store, form.cleaned_data["path"], by=user, force=form.cleaned_data["force"])
    return redirect("task_detail", task.pk)


@require_POST
def store_reset(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask the worker to drop the mirror and to build it anew."""
    user, store = _operator_and_store(request, slug)
    form = TypedSlugForm(request.POST, expected=store.slug, prefix="reset")
    if not form.is_valid():
        return _page(request, store, reset_form=form)
    return redirect("task_detail", ask_to_reset_mirror(store, by=user).pk)


@require_POST
def store_remove(request: HttpRequest, slug: str) -> HttpResponse:
    """Let the store go: by its worker, or here where that is silent and so cannot be importing."""
    user, store = _operator_and_store(request, slug)
    form = TypedSlugForm(request.POST, expected=store.slug, prefix="remove")
    if not form.is_valid():
        return _page(request, store, remove_form=form)
    if not verdicts.is_silent(store.worker, timezone.now()):
        return redirect("task_detail", ask_to_remove_store(store, by=user).pk)
    changing.remove_without_worker(store, by=user)
    messages.success(request, f"Removed {slug}; its files on disk were not touched")
    return redirect("store_list")


def _operator_and_store(request: HttpRequest, slug: str) -> tuple[User, Store]:
    # The store first: who may not see it is told that there is none, operator or not.
    store = find_store(request.user, slug)
    return require_operator(request.user), store


def _page(request: HttpRequest, store: Store, **refused: Any) -> HttpResponse:
    forms = {
        "rename_form": RenameForm(instance=Store(pk=store.pk, name=store.name)),
        "groups_form": GroupsForm(initial={"groups": store.groups.all()}),
        "relocate_form": RelocateForm(initial={"path": store.path}),
        "reset_form": TypedSlugForm(expected=store.slug, prefix="reset"),
        "remove_form": TypedSlugForm(expected=store.slug, prefix="remove"),
        **refused,
    }
    silent = verdicts.is_silent(store.worker, timezone.now())
    context = {"store": store, "silent": verdicts.silence(store.worker, timezone.now()) if silent else "", **forms}
    return render(request, "stores/store_settings.html", context, status=422 if refused else 200)
