"""What the worker does and when: hints at once, tasks every second, sweeps and upkeep in their turn."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connections
from django.db.models import Q

from stores.apply import verifying
from stores.apply.steps import Actor
from stores.errors import Conflict, MemoryUIError
from stores.files import LOCK_WAIT_S
from stores.formats import KINDS
from stores.mirror import measuring
from stores.mirror.importing import import_store
from stores.models import ImportRun, SourceFile, Store, Worker
from stores.tasks import claiming, doing
from stores.worker import upkeep
from stores.worker.actions import Actions
from stores.worker.graphs import Graphs
from stores.worker.heartbeat import Heartbeat
from stores.worker.identity import introduce
from stores.worker.planning import ask_for_due_plans
from stores.worker.stopping import Stop, StopRequested
from stores.worker.watching import Folder, Watcher, folders_of

TURN_S = 1.0
"""Due tasks and new stores are looked for this often (DESIGN §3)."""
TASKS_A_TURN = 20
SWEEP_SHARE = 10
"""A sweep takes at most a tenth of the time (ruling 19)."""
SETTLED_AFTER_S = 10.5
MEASURE_EVERY_S = 30.0
WALK_EVERY_S = 60.0
WATCH_AGAIN_AFTER_S = 5.0
UPKEEP_EVERY_S = 3600.0
PLANS_EVERY_S = 60.0
"""How often it is asked which stores have had no plan for a day."""
DATABASE_WAIT_S = 5.0

T = TypeVar("T")

log = logging.getLogger(__name__)


class Done(NamedTuple):
    """What became of one store in `once`."""

    store: Store
    run: ImportRun | None
    error: str


class Loop:
    """The work of one worker, until it is asked to stop."""

    def __init__(self, worker: Worker, stop: Stop) -> None:
        self._worker = worker
        self._stop = stop
        self._heartbeat = Heartbeat(worker.pk)
        self._actions = Actions(worker)
        self._graphs = Graphs(worker, self._attempt, self._meanwhile)
        self._watcher = Watcher(self._hear)
        self._lock = threading.Lock()
        self._hinted: set[int] = set()
        self._moved: set[int] = set()
        self._stores: dict[int, Store] = {}
        self._folders: dict[int, tuple[Folder, ...]] = {}
        self._errors: dict[int, str] = {}
        self._settle_at: dict[int, float] = {}
        self._measured_at: dict[int, float] = {}
        self._note = ""
        self._sweep_due = time.monotonic() + settings.SWEEP_SECONDS
        self._walk_due = self._watch_again_at = self._scrub_due = self._upkeep_due = self._plans_due = self._meanwhile_due = 0.0
        self._nested = self._watches = False
        self._busy: int | None = None

    def run(self) -> None:
        """Work until the end is asked for; a database that is away is waited for."""
        self._begin()
        self._heartbeat.start()
        self._watches = True
        log.info("Worker %s looks after the stores below %s.", self._worker.label, ", ".join(self._worker.roots))
        try:
            while True:
                try:
                    self._turn()
                    self._stop.wait(TURN_S)
                except (OperationalError, InterfaceError) as err:
                    log.warning("The database cannot be used (%s); trying again.", err)
                    connections.close_all()
                    self._stop.wait(DATABASE_WAIT_S)
                self._stop.check()
        except StopRequested:
            pass
        finally:
            self._watcher.close()
            self._heartbeat.stop()
            log.info("Worker %s stopped.", self._worker.label)

    def once(self) -> list[Done]:
        """Do everything that is due, once, without watching; give what became of each store."""
        self._begin()
        try:
            self._do_tasks()
            self._look_for_stores()
            done = []
            for store in list(self._stores.values()):
                self._stop.check()
                run = self._import(store, "sweep")
                done.append(Done(store, run, self._errors.get(store.pk, "")))
            while self._apply_due():
                self._stop.check()
            while self._scrub_one():
                self._stop.check()
            self._graphs.finish()
            for _ in range(0, ask_for_due_plans(self._worker, datetime.now(UTC)), TASKS_A_TURN):
                self._do_tasks()
            upkeep.prune(self._worker, datetime.now(UTC))
            return done
        finally:
            self._heartbeat.stop()

    def _begin(self) -> None:
        # Whoever holds the lock of the data folder knows that no other doer of these tasks lives.
        claiming.end_leases(self._worker, datetime.now(UTC))
        self._actions.take_over(datetime.now(UTC))
        introduce(self._worker)
        self._heartbeat.begin()

    def _turn(self) -> None:
        self._look_for_stores()
        self._between()
        self._sweep_if_due()
        self._settle_and_measure()
        self._graphs.go_on()
        clock = time.monotonic()
        if clock >= self._walk_due:
            self._walk(set(self._stores))
            self._walk_due = clock + WALK_EVERY_S
        if clock >= self._scrub_due and not self._scrub_one():
            self._scrub_due = clock + min(60.0, settings.SCRUB_HOURS * 360)
        if clock >= self._plans_due:
            self._plans_due = clock + PLANS_EVERY_S
            ask_for_due_plans(self._worker, datetime.now(UTC))
        if clock >= self._upkeep_due:
            self._upkeep_due = clock + UPKEEP_EVERY_S
            upkeep.prune(self._worker, datetime.now(UTC))

    def _between(self) -> None:
        """Do what must not wait for the end of a sweep."""
        self._stop.check()
        self._heartbeat.step()
        self._follow_hints()
        self._do_tasks()
        self._apply_due()

    def _apply_due(self) -> bool:
        """Apply what is due, and import at once what was written, so that pages show it; False when nothing was."""
        written = self._actions.apply_due(self._stores)
        for store_id in written:
            self._import(self._stores[store_id], "apply")
        return bool(written)

    def _meanwhile(self) -> None:
        """Do once a second what must not wait for the end of a long import or task: other stores are seen and asked for meanwhile.

        Called between two transactions of the long work; what is done here is not interrupted in its turn.
        """
        self._stop.check()
        self._heartbeat.step()
        if self._nested or time.monotonic() < self._meanwhile_due:
            return
        self._nested = True
        try:
            self._follow_hints()
            self._do_tasks()
            self._settle_and_measure()
        finally:
            self._nested = False
            self._meanwhile_due = time.monotonic() + TURN_S

    @contextmanager
    def _busy_with(self, store_id: int | None) -> Iterator[None]:
        """Remember which store long work holds, so that what is done meanwhile leaves it alone."""
        if self._nested:
            yield
            return
        self._busy = store_id
        try:
            yield
        finally:
            self._busy = None

    def _hear(self, stores: set[int], moved: set[int]) -> None:
        """Take a hint; runs in the thread that watches."""
        with self._lock:
            self._hinted |= stores
            self._moved |= moved
        if stores:
            self._stop.ring()

    def _follow_hints(self) -> None:
        with self._lock:
            hinted = sorted(self._hinted - {self._busy})
        for store_id in hinted:
            with self._lock:
                self._hinted.discard(store_id)
            store = self._stores.get(store_id)
            if store is not None:
                self._import(store, "event")
        with self._lock:
            if not self._moved or time.monotonic() < self._watch_again_at:
                return
            moved, self._moved = self._moved, set()
        self._walk(moved)
        self._watch_again_at = time.monotonic() + WATCH_AGAIN_AFTER_S

    def _do_tasks(self) -> None:
        for _ in range(TASKS_A_TURN):
            task = claiming.claim_due(self._worker, datetime.now(UTC), busy=self._busy)
            if task is None:
                return
            with self._heartbeat.doing(task.pk), self._busy_with(task.store_id):
                try:
                    doing.do(task, self._meanwhile)
                except StopRequested:
                    claiming.put_back(task)
                    raise
            self._stop.check()
        self._stop.ring()

    def _look_for_stores(self) -> None:
        """See which stores came, moved or went; one query when none did."""
        places = dict(Store.objects.filter(worker=self._worker).order_by("pk").values_list("pk", "path"))
        known = {pk: store.path for pk, store in self._stores.items()}
        if places == known:
            return
        stores = Store.objects.filter(worker=self._worker).select_related("worker").order_by("pk")
        self._stores = {store.pk: store for store in stores}
        for gone in known.keys() - self._stores.keys():
            for by_store in (self._folders, self._errors, self._settle_at, self._measured_at):
                by_store.pop(gone, None)
        fresh = {pk for pk, store in self._stores.items() if known.get(pk) != store.path}
        with self._lock:
            self._hinted |= fresh
            self._moved |= fresh
        self._watch_again_at = 0.0

    def _walk(self, stores: set[int]) -> None:
        """See which folders there are to watch in these stores, and watch them."""
        for store_id in stores & self._stores.keys():
            self._folders[store_id] = folders_of(self._stores[store_id].path)
        if self._watcher.watch(self._folders):
            with self._lock:
                self._hinted |= self._stores.keys()
            self._stop.ring()
        if self._watcher.note != self._note:
            Worker.objects.filter(pk=self._worker.pk).update(note=self._watcher.note)
            self._note = self._watcher.note

    def _sweep_if_due(self) -> None:
        if time.monotonic() < self._sweep_due:
            return
        spent_s = 0.0
        for store_id in list(self._stores):
            self._between()
            store = self._stores.get(store_id)
            if store is None:
                continue
            began = time.monotonic()
            run = self._import(store, "sweep")
            # What a change costs is no reason to look for changes less often.
            spent_s += 0.0 if run is not None and run.bytes_read else time.monotonic() - began
            root = self._folders.get(store_id, ())[:1]
            if root and store.root_inode != root[0].inode:
                with self._lock:
                    self._moved.add(store_id)
        period_s = round(max(settings.SWEEP_SECONDS, SWEEP_SHARE * spent_s), 1)
        if period_s != self._worker.sweep_s:
            Worker.objects.filter(pk=self._worker.pk).update(sweep_s=period_s)
            self._worker.sweep_s = period_s
        self._sweep_due = time.monotonic() + period_s

    def _settle_and_measure(self) -> None:
        """Look again at torn tails that had time to grow, and at stores whose measurement grows old between two sweeps."""
        clock = time.monotonic()
        settled = {store_id for store_id, at in self._settle_at.items() if clock >= at}
        old = {store_id for store_id, at in self._measured_at.items() if clock >= at + MEASURE_EVERY_S}
        for store_id in sorted((settled | old) - {self._busy}):
            self._settle_at.pop(store_id, None)
            store = self._stores.get(store_id)
            if store is not None:
                self._attempt(store, partial(measuring.measure, store))
                self._measured_at[store_id] = clock

    def _scrub_one(self) -> bool:
        """Read the logs of one store whole whose last scrub is too long ago (ruling 1); False when there is none."""
        before = datetime.now(UTC) - timedelta(hours=settings.SCRUB_HOURS)
        due = SourceFile.objects.filter(Q(scrubbed_at__lt=before), store__worker=self._worker, exists=True, state="ok").order_by(
            "scrubbed_at"
        )
        spec_of = {name: kind.spec_of for name, kind in KINDS.items()}
        for store_id, kind, path in due.values_list("store_id", "store__kind", "path").iterator():
            spec = spec_of[kind](path) if kind in spec_of else None
            if spec is not None and spec.append_only:
                store = self._stores.get(store_id)
                return store is not None and self._import(store, "scrub") is not None
        return False

    def _import(self, store: Store, trigger: str) -> ImportRun | None:
        """Import one store; None when that was not possible: it is tried again with the next turn, hint or sweep."""
        scrub = trigger == "scrub"
        wait_s = 0.0 if self._watches else LOCK_WAIT_S
        with self._busy_with(store.pk):
            run = self._attempt(
                store, lambda: import_store(store, scrub=scrub, trigger=trigger, progress=lambda _: self._meanwhile(), lock_wait_s=wait_s)
            )
        if run is None:
            return None
        self._errors.pop(store.pk, None)
        self._measured_at[store.pk] = time.monotonic()
        if run.bytes_read or run.records:
            self._attempt(store, partial(self._actions.note_changes, store, run))
        self._attempt(store, partial(verifying.look_after, store, Actor(f"worker {self._worker.label}", "worker")))
        if run.bytes_read and SourceFile.objects.filter(store=store, tail_pending__gt=0).exists():
            self._settle_at[store.pk] = time.monotonic() + SETTLED_AFTER_S
        return run

    def _attempt(self, store: Store, work: Callable[[], T]) -> T | None:
        """Do something with one store; whatever goes wrong with it is logged once and touches no other store.

        Only a database that is away comes out as an exception.
        """
        try:
            return work()
        except (OperationalError, InterfaceError):
            self._hear({store.pk}, set())
            raise
        except Conflict as err:
            # A command imports the store at this moment; the next turn looks whether it is through.
            self._errors[store.pk] = str(err)
            with self._lock:
                self._hinted.add(store.pk)
        except MemoryUIError as err:
            self._note_error(store, str(err))
        except Exception as err:
            if Store.objects.filter(pk=store.pk).exists() and self._note_error(store, f"An unexpected {type(err).__name__}: {err}"):
                log.exception("Store %s cannot be brought up to date.", store.slug)
        return None

    def _note_error(self, store: Store, error: str) -> bool:
        """Log what stopped an import, unless it is what stopped the last one; True when it is new."""
        if self._errors.get(store.pk) == error:
            return False
        self._errors[store.pk] = error
        log.warning("Store %s: %s", store.slug, error)
        return True
