"""Asking a worker for something that only it can do: the web touches no disk."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from stores.models import Store, Task, User, Worker


def ask_for_import(store: Store, *, by: User | None, full: bool = False) -> Task:
    """Give the task that imports `store`: a new one, or the one that waits already."""
    return _ask_once("import", store.worker, store, {"full": full}, by)


def ask_for_plan(store: Store, *, by: User | None, repairs: bool = False) -> Task:
    """Give the task that plans for `store` and puts into the review queue what is new: a new one, or the one that waits already.

    `repairs` plans what mends its faults instead of what its rules ask for.
    """
    return _ask_once("plan", store.worker, store, {"repairs": repairs}, by)


def ask_for_discovery(worker: Worker, *, by: User | None) -> Task:
    """Give the task that looks for unregistered stores below the roots of `worker`: a new one, or the one that is open already."""
    return _ask_once("discover", worker, None, {}, by)


def ask_to_add_store(worker: Worker, path: str, *, by: User | None, kind: str = "", slug: str = "", name: str = "") -> Task:
    """Give a new task that registers the folder `path` on the host of `worker`, then imports it; "" leaves the choice to the worker."""
    return Task.objects.create(
        kind="add_store", worker=worker, arguments={"path": path, "kind": kind, "slug": slug, "name": name}, asked_by=by
    )


def ask_to_relocate(store: Store, path: str, *, by: User | None, force: bool = False) -> Task:
    """Give a new task that points `store` to the folder `path` of its host, then imports it."""
    return Task.objects.create(kind="relocate", worker=store.worker, store=store, arguments={"path": path, "force": force}, asked_by=by)


def ask_to_reset_mirror(store: Store, *, by: User | None) -> Task:
    """Give the task that drops the mirror of `store` and builds it anew: a new one, or the one that waits already."""
    return _ask_once("reset_mirror", store.worker, store, {}, by)


def ask_to_remove_store(store: Store, *, by: User | None) -> Task:
    """Give the task that lets `store` go. It is no task of the store, with which it would vanish."""
    return _ask_once("remove_store", store.worker, None, {"uid": str(store.uid), "slug": store.slug}, by)


def ask_for_bytes(store: Store, path: str, offset: int, length: int, *, by: User | None, shown: tuple[int, int] | None = None) -> Task:
    """Give a new task that reads `length` bytes (the worker gives at most 1 MiB) from `offset` of the store's file `path`.

    `shown` is the (offset, length) inside of it that somebody wants to see; the rest is there to find secrets that reach into it.
    """
    wanted = {"shown_offset": shown[0], "shown_length": shown[1]} if shown else {}
    return Task.objects.create(
        kind="read_bytes",
        worker=store.worker,
        store=store,
        arguments={"path": path, "offset": offset, "length": length, **wanted},
        asked_by=by,
    )


def _ask_once(kind: str, worker: Worker, store: Store | None, arguments: Mapping[str, object], by: User | None) -> Task:
    with transaction.atomic():
        # A running one may have passed the change that the asker has in mind, so only a waiting one serves for two.
        waiting = Task.objects.filter(kind=kind, worker=worker, store=store, state="waiting", arguments=arguments).first()
        return waiting or Task.objects.create(kind=kind, worker=worker, store=store, arguments=dict(arguments), asked_by=by)
