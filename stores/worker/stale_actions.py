"""Calls stale what no longer fits a store's files, when an import finds them changed: what that costs follows what changed (DESIGN §7)."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import F, QuerySet

from stores import audit
from stores.apply.steps import Actor
from stores.lifecycle.changes import EditLog, Standing
from stores.lifecycle.packing import Damaged
from stores.lifecycle.states import OPEN, State
from stores.models import Change, ImportRun, LifecycleAction, RecordFile, Store
from stores.review import keeping, moving
from stores.review.mirror_source import MirrorSource
from stores.review.moving import MovedMeanwhile

ANEW_EVERY_S: Final = 3600.0
"""All open actions of a store are looked at when a worker first imports it, and then so often."""
_LOOKED_AT: Final = (State.PENDING, State.READY, State.APPROVED)
_WHOLE: Final = ("replace", "take_out", "create")
_BATCH: Final = 500


@dataclass(slots=True)
class _Known:
    """What is remembered of one store: up to where it was looked at, and which open actions are about which file."""

    anew_at: float
    action: int = 0
    """The last action that was looked at; those of one store get their keys in the order in which they are queued."""
    change: int = 0
    """The last change that was looked at."""
    whole: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Path to the actions that replace the file, make it or take it away; and folder to those about any file in it."""
    edited: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Path to the actions that edit lines of the log."""
    paths: dict[int, list[str]] = field(default_factory=dict)
    """Where each action stands in the two."""

    def remember(self, pk: int, changes: Iterable[Mapping[str, Any]]) -> None:
        """Note what an action is about."""
        paths = self.paths[pk] = []
        for change in changes:
            path = str(change["path"])
            if change.get("do") in _WHOLE:
                paths += (path, path.rpartition("/")[0])
                for place in paths[-2:]:
                    self.whole[place].add(pk)
            elif change.get("do") == "edit":
                paths.append(path)
                self.edited[path].add(pk)

    def forget(self, pk: int) -> None:
        """Let go of an action that is closed."""
        for path in self.paths.pop(pk, ()):
            for by_path in (self.whole, self.edited):
                if path in by_path:
                    by_path[path].discard(pk)
                    if not by_path[path]:
                        del by_path[path]


class StaleActions:
    """What one worker knows of the files that open actions are about."""

    def __init__(self) -> None:
        self._stores: dict[int, _Known] = {}

    def note(self, store: Store, run: ImportRun, actor: Actor) -> int:
        """End the actions that an import proved stale, and give their number.

        Looked at are those that are new, and those about a file that changed since the last look, by whoever's import: two queries where
        there are none, and two more for 500 of them.
        """
        if not any(said.get(what) for said in run.records.values() for what in ("created", "updated", "removed")):
            return 0
        known = self._stores.get(store.pk)
        if known is None or time.monotonic() >= known.anew_at:
            known = self._stores[store.pk] = _Known(time.monotonic() + ANEW_EVERY_S, change=_last_change(store))
        about = _about_changed(store, known) | _new(store, known)
        rows = list(_open_ones(store, sorted(about)))
        for closed in about - {row.pk for row in rows}:
            known.forget(closed)
        waiting = [row for row in rows if State(row.state) in _LOOKED_AT]
        stale = _of_files(store, waiting)
        stale |= _of_lines(store, [row for row in waiting if row.pk not in stale])
        return _end(store, [(row, stale[row.pk]) for row in waiting if row.pk in stale], actor)


def _last_change(store: Store) -> int:
    last: int | None = Change.objects.filter(store=store).order_by("-at", "-pk").values_list("pk", flat=True).first()
    return last or 0


def _about_changed(store: Store, known: _Known) -> set[int]:
    """Give the actions about files that changed since the last look; of many that changed at once only their folder is told."""
    found: set[int] = set()
    for pk, path, removed in _behind(Change.objects.order_by("pk"), store, known.change).values_list("pk", "path", "removed"):
        known.change = pk
        found |= known.whole.get(path, set())
        if removed:
            found |= known.edited.get(path, set())
    return found


def _new(store: Store, known: _Known) -> set[int]:
    """Remember what the actions are about that were queued since the last look, and give them."""
    found: set[int] = set()
    mine = LifecycleAction.objects.order_by("pk")
    fresh = _behind(mine, store, known.action) if known.action else mine.filter(store=store, state__in=sorted(OPEN))
    for pk, effect in fresh.values_list("pk", "effect").iterator(chunk_size=_BATCH):
        known.action = pk
        known.remember(pk, json.loads(effect).get("changes", ()))
        found.add(pk)
    return found


def _behind(rows: QuerySet[Any], store: Store, last: int) -> QuerySet[Any]:
    """Give a store's rows behind a key, found by the key: an index that begins with the store would be walked from its beginning."""
    found: QuerySet[Any] = rows.alias(of_store=F("store_id") + 0).filter(pk__gt=last, of_store=store.pk)
    return found


def _open_ones(store: Store, keys: Sequence[int]) -> Iterable[LifecycleAction]:
    for start in range(0, len(keys), _BATCH):
        mine = LifecycleAction.objects.filter(pk__in=keys[start : start + _BATCH], store=store, state__in=sorted(OPEN)).order_by("pk")
        yield from mine.only("pk", "state", "revision", "verb", "action_id", "effect")


def _of_files(store: Store, rows: Iterable[LifecycleAction]) -> dict[int, str]:
    """Give the actions that would replace a record file which says something else by now, and its path; a query for 500 files.

    A file that cannot be read at the moment is looked at again when it can.
    """
    wanted = [(row.pk, change) for row in rows for change in json.loads(row.effect).get("changes", ()) if change.get("do") in _WHOLE]
    paths = sorted({str(change["path"]) for _, change in wanted})
    known: dict[str, tuple[str, str]] = {}
    for start in range(0, len(paths), _BATCH):
        found = RecordFile.objects.filter(store=store, path__in=paths[start : start + _BATCH]).values_list("path", "state", "sha256")
        known |= {path: (state, bytes(name).hex()) for path, state, name in found}
    stale: dict[int, str] = {}
    for pk, change in wanted:
        path = str(change["path"])
        state, name = known.get(path, ("gone", ""))
        in_tree = path in known or "/" in path
        if in_tree and state in ("ok", "gone") and not _fits(change, name):
            stale.setdefault(pk, path)
    return stale


def _fits(change: Mapping[str, Any], name: str) -> bool:
    """Say that a file with this hash, "" for none, is as it was before a change or is after it."""
    return name in (change.get("before", ""), change.get("after", ""))


def _of_lines(store: Store, rows: Iterable[LifecycleAction]) -> dict[int, str]:
    """Give the actions about lines of a log that are not there any more, as far as the mirror has the whole log."""
    about = [row for row in rows if any(change.get("do") == "edit" for change in json.loads(row.effect).get("changes", ()))]
    source, stale = MirrorSource(store), {}
    for row in about:
        try:
            changes = [change for change in keeping.effect_of(row).changes if isinstance(change, EditLog)]
        except Damaged:
            continue
        for change in changes:
            data = source.data(change.path)
            if data is not None and change.standing(data) is not Standing.BEFORE:
                stale[row.pk] = change.path
    return stale


def _end(store: Store, found: Iterable[tuple[LifecycleAction, str]], actor: Actor) -> int:
    ended = 0
    for row, path in found:
        message = "A file that it is about has changed since the action was made."
        try:
            with transaction.atomic():
                fields = {"status": "skipped", "reason_code": "stale_source", "message": message}
                moving.move(row, State.STALE, datetime.now(UTC), **fields)
                audit.record(
                    "action_stale",
                    actor=None,
                    actor_label=actor.label,
                    object_label=f"#{row.pk} {row.verb}",
                    store=store,
                    through="worker",
                    detail={"action": row.pk, "action_id": row.action_id, "path": path},
                )
        except MovedMeanwhile:
            continue
        ended += 1
    return ended
