"""Doing tasks: one function a kind, each on the host whose disk it is about."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from stores import audit
from stores.errors import BadRequest, MemoryUIError
from stores.files import CannotRead, StoreRoot
from stores.formats import KINDS
from stores.mirror import importing, registering, relocating, resetting
from stores.mirror.companions import Anchors
from stores.mirror.discovering import discover
from stores.mirror.holding import held
from stores.models import SourceFile, Store, Task
from stores.review import planning
from stores.review.closing import end_actions_of
from stores.tasks import claiming

MAX_BYTES = 1024 * 1024
"""Most that one `read_bytes` gives (ruling 40)."""
MAX_FOUND = 1_000
"""Most unregistered stores that one `discover` names."""
HOLD_WAIT_S = 5.0
"""How long a task waits for an import that a command does at the same moment."""

Meanwhile = Callable[[], None]

log = logging.getLogger(__name__)


class Outcome(NamedTuple):
    """What a task gave: a small JSON object, and bytes where it read some."""

    result: dict[str, object]
    content: bytes = b""


def do(task: Task, meanwhile: Meanwhile = lambda: None) -> None:
    """Do a claimed task and store its result or its error.

    `meanwhile` is called now and then, never within a transaction: the worker does there what cannot wait, or raises what ends
    the task early. Nothing else comes out as an exception but a database that is away.
    """
    try:
        outcome = _DOERS[task.kind](task, meanwhile)
    except MemoryUIError as err:
        claiming.fail(task, timezone.now(), str(err))
    except Exception as err:
        log.exception("Task %s (%s) failed.", task.pk, task.kind)
        claiming.fail(task, timezone.now(), f"An unexpected {type(err).__name__}: the worker's log says more.")
    else:
        claiming.finish(task, timezone.now(), outcome.result, outcome.content)


def _discover(task: Task, meanwhile: Meanwhile) -> Outcome:
    """Name what lies unregistered below the roots of this host."""
    started = time.monotonic()
    known = set(Store.objects.filter(worker=task.worker).values_list("path", flat=True))
    found: list[dict[str, object]] = []
    more = False
    for one in discover(settings.STORE_ROOTS, on_folder=lambda _: meanwhile()):
        if one.path in known:
            continue
        if len(found) == MAX_FOUND:
            more = True
            break
        found.append({"path": one.path, "kind": one.kind, "project": one.project, "stray": one.stray})
    return Outcome(
        {
            "found": found,
            "more": more,
            "looked_in": [str(root) for root in settings.STORE_ROOTS],
            "duration_s": round(time.monotonic() - started, 3),
        }
    )


def _import(task: Task, meanwhile: Meanwhile) -> Outcome:
    store = _store_of(task)
    run = importing.import_store(store, full=bool(task.arguments.get("full")), trigger="task", progress=lambda _: meanwhile())
    return Outcome(importing.run_as_json(run))


def _plan(task: Task, meanwhile: Meanwhile) -> Outcome:
    """Plan and queue; a plan that nobody asked for is content with a store for which there is nothing to plan by."""
    store, now = _store_of(task), timezone.now()
    try:
        planned = planning.plan(store, planning.Asked(now, repairs=task.arguments.get("repairs") is True))
    except BadRequest as err:
        if task.asked_by is not None:
            raise
        return Outcome({"store": store.slug, "planned": 0, "counts": {}, "left_out": [str(err)]})
    meanwhile()
    results = planning.submit_plan(store, planned, "page" if task.asked_by else "worker", now)
    counts = dict(sorted(Counter(one.code for one in results).items()))
    return Outcome({"store": store.slug, "planned": len(planned.actions), "counts": counts, "left_out": planned.left_out})


def _add_store(task: Task, meanwhile: Meanwhile) -> Outcome:
    chosen = {name: _text(task, name) or None for name in ("kind", "slug", "name")}
    with transaction.atomic():
        store = registering.add_store(_text(task, "path"), **chosen, worker=task.worker, by=task.asked_by)
        _note(task, store, "store_added", {"path": store.path, "kind": store.kind})
    run = importing.import_store(store, trigger="task", progress=lambda _: meanwhile())
    return Outcome(importing.run_as_json(run))


def _relocate(task: Task, meanwhile: Meanwhile) -> Outcome:
    store, force = _store_of(task), task.arguments.get("force") is True
    before = store.path
    with held(store, HOLD_WAIT_S), transaction.atomic():
        relocating.relocate_store(store, _text(task, "path"), force=force)
        _note(task, store, "store_relocated", {"from": before, "to": store.path, "forced": force})
    run = importing.import_store(store, trigger="task", progress=lambda _: meanwhile())
    return Outcome({**importing.run_as_json(run), "from": before, "path": store.path})


def _reset_mirror(task: Task, meanwhile: Meanwhile) -> Outcome:
    store = _store_of(task)
    with held(store, HOLD_WAIT_S):
        _note(task, store, "mirror_reset", {})
        resetting.reset_mirror(store)
    run = importing.import_store(store, full=True, trigger="task", progress=lambda _: meanwhile())
    return Outcome(importing.run_as_json(run))


def _remove_store(task: Task, meanwhile: Meanwhile) -> Outcome:
    """Let a store go; one that is gone already is removed as well as it can be."""
    slug = _text(task, "slug")
    store = Store.objects.filter(uid=_text(task, "uid"), worker=task.worker).first()
    if store is not None:
        with held(store, HOLD_WAIT_S):
            _note(task, store, "store_removed", {"path": store.path, "kind": store.kind})
            label = f"worker {task.worker.label}" if task.asked_by is None else ""
            end_actions_of(store, timezone.now(), actor=task.asked_by, actor_label=label, through="page")
            relocating.remove_store(store)
    return Outcome({"removed": slug})


def _note(task: Task, store: Store, event: audit.Event, detail: dict[str, object]) -> None:
    """Add to the audit what was done for whoever asked on a page."""
    label = "" if task.asked_by else f"worker {task.worker.label}"
    audit.record(event, actor=task.asked_by, actor_label=label, object_label=store.slug, store=store, through="page", detail=detail)


def _read_bytes(task: Task, meanwhile: Meanwhile) -> Outcome:
    """Read a piece of one file of the store, no more than MAX_BYTES."""
    store, path = _store_of(task), _text(task, "path")
    offset, length = _whole_number(task, "offset"), _whole_number(task, "length")
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise BadRequest("The task's `path` is no path below the store's root.")
    spec = KINDS[store.kind].spec_of(path) if store.kind in KINDS else None
    anchor = spec.anchor if spec else ""
    if anchor and not SourceFile.objects.filter(store=store, path=path).exclude(record_type="").exists():
        # Below the project and the home folder nothing is opened but what an import took as a companion.
        raise BadRequest(f"{path} is no companion of this store.")
    with StoreRoot(store.path) as own, Anchors(store) as anchors:
        root = anchors.root(anchor) if anchor else own
        if root is None:
            raise BadRequest(f"{path}: the folder it lies in cannot be opened.")
        try:
            with root.open(spec.path_below(path) if spec else path) as opened:
                content = opened.at(offset, min(length, MAX_BYTES))
        except CannotRead as err:
            raise BadRequest(str(err)) from err
    result: dict[str, object] = {
        "path": path,
        "offset": offset,
        "length": len(content),
        "size_bytes": opened.stat.size_bytes,
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    return Outcome(result, content)


def _store_of(task: Task) -> Store:
    if task.store is None or task.store.worker_id != task.worker_id:
        raise BadRequest("The task names no store of this worker.")
    return task.store


def _text(task: Task, name: str) -> str:
    value = task.arguments.get(name, "")
    if not isinstance(value, str) or "\0" in value:
        raise BadRequest(f"The task's `{name}` is no text.")
    return value


def _whole_number(task: Task, name: str) -> int:
    value = task.arguments.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**62:
        raise BadRequest(f"The task's `{name}` is no whole number from 0 on.")
    return value


_DOERS: dict[str, Callable[[Task, Meanwhile], Outcome]] = {
    "discover": _discover,
    "import": _import,
    "plan": _plan,
    "add_store": _add_store,
    "read_bytes": _read_bytes,
    "relocate": _relocate,
    "reset_mirror": _reset_mirror,
    "remove_store": _remove_store,
}
