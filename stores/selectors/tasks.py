"""What the web asked of a worker, for who may know of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q
from django.urls import reverse

from stores import display
from stores.accounts import Visitor, visible_stores
from stores.errors import NotFound
from stores.models import Store, Task, User
from stores.selectors import verdicts, wording

DOING = {
    "discover": "Looking for stores",
    "import": "Importing",
    "plan": "Planning",
    "read_bytes": "Reading bytes",
    "add_store": "Adding a store",
    "relocate": "Following the store to its new folder",
    "reset_mirror": "Building the mirror anew",
    "remove_store": "Removing the store",
}


class TaskView(NamedTuple):
    """A task as a page shows it."""

    task: Task
    state: str
    """The shape."""
    sentence: str
    is_open: bool
    url: str
    link: str
    """Where its result is shown, with the words of the link; "" where there is none."""


def find_task(user: Visitor, task_id: int) -> Task:
    """Give a task that `user` asked for or whose store `user` may see; raises NotFound. One query."""
    mine = Q(asked_by=user) & (Q(store__isnull=True) | Q(store__in=visible_stores(user))) if isinstance(user, User) else Q(pk__in=[])
    seen = Task.objects.filter(mine | Q(store__in=visible_stores(user)), pk=task_id)
    task = seen.select_related("worker", "store").defer("content").first()
    if task is None:
        raise NotFound("There is no such task, or it is not yours to see.")
    return task


def task_view(task: Task, now: datetime) -> TaskView:
    """Put a task into words."""
    url, link = _result_page(task)
    state, sentence = _sentence(task, now)
    return TaskView(task, state, sentence, task.state in ("waiting", "running"), url, link)


def _sentence(task: Task, now: datetime) -> tuple[str, str]:
    doing = DOING.get(task.kind, task.kind)
    about = {"add_store": f" {task.arguments.get('path')}", "remove_store": f" {task.arguments.get('slug')}"}.get(task.kind, "")
    if task.state == "waiting":
        if verdicts.is_silent(task.worker, now):
            return "unmeasured", f"{doing}{about}: waits, {verdicts.silence(task.worker, now)}"
        return "pending", f"{doing}{about}: waits for worker {task.worker.label}"
    if task.state == "running":
        since = display.age(task.started_at, now) if task.started_at else display.NOT_KNOWN
        return "applying", f"{doing}{about} on {task.worker.label}, for {since}"
    if task.state == "failed":
        return "failed", f"{doing}{about} failed: {task.error}"
    return "applied", _done(task)


def _done(task: Task) -> str:
    result = task.result
    if task.kind == "discover":
        found = result.get("found")
        number = len(found) if isinstance(found, list) else 0
        return f"Looked through {wording.counted(len(result.get('looked_in') or []), 'folder')}: {wording.counted(number, 'store')} found"
    if task.kind == "read_bytes":
        return f"Read {wording.counted(int(result.get('length') or 0), 'byte')} of {result.get('path', '')}"
    if task.kind == "plan":
        counts = result.get("counts")
        new = int(counts.get("queued", 0)) if isinstance(counts, Mapping) else 0
        return f"Planned {wording.counted(int(result.get('planned') or 0), 'action')}: {new:,} new in the review queue"
    if task.kind == "relocate":
        return f"The store lies at {result.get('path', '')} now"
    if task.kind == "remove_store":
        return f"Removed {result.get('removed', '')}; its files on disk were not touched"
    if task.kind == "reset_mirror":
        return f"Mirror built anew: {_imported(result)}"
    if task.kind == "add_store":
        return f"Added {result.get('store', '')}, {_imported(result)}"
    return f"Imported: {_imported(result)}"


def _imported(result: Mapping[str, object]) -> str:
    """Say what an import changed: "12 decisions came, 1 went", or that nothing did."""
    moved = {"created": 0, "updated": 0, "removed": 0}
    records = result.get("records")
    for counts in records.values() if isinstance(records, Mapping) else ():
        for verb in moved:
            moved[verb] += int(counts.get(verb, 0)) if isinstance(counts, Mapping) else 0
    words = {"created": "came", "updated": "changed", "removed": "went"}
    parts = [f"{number:,} {words[verb]}" for verb, number in moved.items() if number]
    text = f"records: {', '.join(parts)}" if parts else "no record changed"
    status, error = result.get("status"), result.get("error")
    return text if status == "ok" else f"{text}; {status}{f': {error}' if error else ''}"


def _result_page(task: Task) -> tuple[str, str]:
    if task.state != "done":
        return "", ""
    if task.kind == "discover":
        return reverse("store_add"), "Show what was found"
    if task.kind == "remove_store":
        return reverse("store_list"), "All stores"
    store: Store | None = task.store
    if task.kind == "add_store":
        slug = task.result.get("store")
        return (reverse("store_detail", args=[slug]), "Open it") if isinstance(slug, str) and slug else ("", "")
    if store is None:
        return "", ""
    if task.kind == "read_bytes":
        return f"{reverse('store_raw', args=[store.slug])}?task={task.pk}", "Show them"
    return store.get_absolute_url(), "Show the store as it is now"
