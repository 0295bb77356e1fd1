"""Hands the stores of one worker to another: after a lost data folder, or when projects moved to another host (ruling 39)."""

from __future__ import annotations

import os
import uuid
from datetime import datetime, timedelta

from django.db import transaction

from stores.errors import AlreadyRegistered, BadRequest, Conflict, NotFound
from stores.files import StoreRoot
from stores.mirror.registering import check_inside_roots
from stores.mirror.relocating import check_same_content
from stores.models import Store, Task, Worker

ALIVE_FOR = timedelta(minutes=2)
"""A worker that was seen within this time may be at work."""


def worker_named(name: str) -> Worker:
    """Give the worker of an id or a label; NotFound for none, BadRequest where several have the label."""
    try:
        found = list(Worker.objects.filter(uid=uuid.UUID(name)))
    except ValueError:
        found = list(Worker.objects.filter(label=name))
    if not found:
        known = ", ".join(sorted({one.label for one in Worker.objects.all()})[:8])
        raise NotFound(f"No worker is called {name}. There are: {known or 'none'}.")
    if len(found) > 1:
        raise BadRequest(f"Several workers are called {name}; name one by its id: {', '.join(str(one.uid) for one in found)}.")
    return found[0]


def check_gone(old: Worker, now: datetime, *, force: bool = False) -> None:
    """Raise Conflict where a worker may still be at work; one that said that it stopped is not."""
    stopped = old.stopped_at is not None and old.seen_at is not None and old.stopped_at >= old.seen_at
    if force or stopped or old.seen_at is None or now - old.seen_at >= ALIVE_FOR:
        return
    seconds = max(0, round((now - old.seen_at).total_seconds()))
    raise Conflict(
        f"The worker {old.label} was seen {seconds} s ago. Stop it first, or wait for two minutes: two workers must not serve one store. "
        "--force takes its stores all the same."
    )


def adopt(store: Store, worker: Worker, *, force: bool = False) -> None:
    """Make a store that of another worker, on whose host it lies at the same path, and what waits to be done about it.

    It is the same where its folder is the very one that was read last, or holds the mirrored bytes, or more; `force` takes other content
    too. Raises StoreUnreadable, OutsideRoots, BadRequest or AlreadyRegistered.
    """
    real = os.path.realpath(store.given_path)
    if real != store.path:
        raise BadRequest(f"{store.given_path} leads to {real} on this host, not to {store.path}.")
    with StoreRoot(real) as root:
        is_same = (root.stat.device, root.stat.inode) == (store.root_device, store.root_inode)
    check_inside_roots(real)
    other = Store.objects.filter(worker=worker, path=real).exclude(pk=store.pk).first()
    if other is not None:
        raise AlreadyRegistered(f"{real} is registered here already, as {other.slug}. Let one of the two go with remove_store.")
    if not (force or is_same):
        check_same_content(store, real)
    with transaction.atomic():
        Task.objects.filter(store=store, worker_id=store.worker_id, state="waiting").update(worker=worker)
        moved = Store.objects.filter(pk=store.pk, worker_id=store.worker_id).update(worker=worker)
        if moved != 1:
            raise Conflict(f"{store.slug} was handed to another worker a moment ago.")
    store.worker = worker
