"""What workers found below their roots that is not registered, and what is being registered."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from stores.formats import KINDS
from stores.models import Store, Task, User, Worker
from stores.selectors import verdicts

FRESH = timedelta(days=7)
"""A discovery older than this says little; a new one is asked for with a button."""
ADDED_LATELY = timedelta(minutes=30)


class FoundStore(NamedTuple):
    """A folder that is a store of some kind and not registered."""

    path: str
    name: str
    kind: str
    stray: bool


class Place(NamedTuple):
    """One root of a host: was it read, and what lies below it?"""

    path: str
    found: int | None
    """None: nobody has looked yet."""


class HostDiscovery(NamedTuple):
    """What the worker of one host found."""

    worker: Worker
    alive: bool
    silence: str
    task: Task | None
    """The newest discovery, done or under way."""
    places: list[Place]
    found: list[FoundStore]
    more: bool
    looked_at: datetime | None

    @property
    def is_open(self) -> bool:
        """Whether the worker is looking, or is about to."""
        return self.task is not None and self.task.state in ("waiting", "running")


def discoveries(now: datetime) -> list[HostDiscovery]:
    """Give what each worker found, by the label of the worker, without what is being registered: 4 queries. Only for operators: it names folders that nobody limited."""
    workers = list(Worker.objects.order_by("label", "id"))
    registered = set(Store.objects.values_list("worker_id", "path"))
    for worker_id, arguments in Task.objects.filter(kind="add_store", state__in=["waiting", "running"]).values_list(
        "worker_id", "arguments"
    ):
        registered.add((worker_id, str(arguments.get("path"))))
    newest: dict[int, Task] = {}
    done: dict[int, Task] = {}
    recent = Task.objects.filter(kind="discover", created_at__gte=now - FRESH).defer("content").order_by("-id")[:200]
    for task in recent:
        newest.setdefault(task.worker_id, task)
        if task.state == "done":
            done.setdefault(task.worker_id, task)
    return [_of_worker(worker, newest.get(worker.pk), done.get(worker.pk), registered, now) for worker in workers]


def found_by(task: Task, registered: set[tuple[int, str]]) -> list[FoundStore]:
    """Give what a done discovery found and what is still not registered, strays last."""
    told = task.result.get("found", [])
    found = []
    for one in told if isinstance(told, list) else []:
        if not isinstance(one, Mapping) or not one.get("path") or (task.worker_id, str(one["path"])) in registered:
            continue
        kind = str(one.get("kind", ""))
        path = str(one["path"])
        name = str(one.get("project", "")).rstrip("/").rpartition("/")[2] or path
        found.append(FoundStore(path, name, KINDS[kind].title if kind in KINDS else kind, bool(one.get("stray"))))
    return sorted(found, key=lambda one: (one.stray, one.path))


def being_added(user: User, now: datetime) -> list[Task]:
    """Give the registrations that `user` asked for lately, newest first: one query."""
    asked = Task.objects.filter(kind="add_store", asked_by=user, created_at__gte=now - ADDED_LATELY)
    return list(asked.select_related("worker").defer("content").order_by("-id")[:50])


def _of_worker(worker: Worker, newest: Task | None, done: Task | None, registered: set[tuple[int, str]], now: datetime) -> HostDiscovery:
    found = found_by(done, registered) if done else []
    roots = [str(root) for root in (done.result.get("looked_in") if done else None) or worker.roots]
    silent = verdicts.is_silent(worker, now)
    return HostDiscovery(
        worker=worker,
        alive=not silent,
        silence=verdicts.silence(worker, now) if silent else "",
        task=newest,
        places=[Place(root, sum(_lies_in(one.path, root) for one in found) if done else None) for root in roots],
        found=found,
        more=bool(done and done.result.get("more")),
        looked_at=done.finished_at if done else None,
    )


def _lies_in(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
