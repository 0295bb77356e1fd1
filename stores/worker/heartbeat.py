"""Signs of life of the worker, written beside its work so that a long import does not look like a dead worker."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from django.db import Error, connections

from stores.models import Worker
from stores.tasks import claiming

BEAT_S = 2.0
STUCK_AFTER_S = 120.0
"""A worker that came no step further for this long gives no sign of life: pages then say that it is silent."""

log = logging.getLogger(__name__)


class Heartbeat:
    """A thread that writes `Worker.seen_at` and renews the leases of the tasks that are being done."""

    def __init__(self, worker_id: int) -> None:
        self._worker_id = worker_id
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self._last_step = time.monotonic()
        self._renew_at: dict[int, float] = {}

    def begin(self) -> None:
        """Write that the worker starts."""
        now = datetime.now(UTC)
        Worker.objects.filter(pk=self._worker_id).update(started_at=now, seen_at=now, stopped_at=None, note="")

    def start(self) -> None:
        """Go on with signs of life in a thread."""
        self._thread.start()

    def step(self) -> None:
        """Say that the work goes on."""
        self._last_step = time.monotonic()

    @contextmanager
    def doing(self, task_id: int) -> Iterator[None]:
        """Keep the lease of a claimed task renewed while the block runs."""
        self._renew_at[task_id] = time.monotonic() + claiming.RENEW_AFTER.total_seconds()
        try:
            yield
        finally:
            self._renew_at.pop(task_id, None)

    def stop(self) -> None:
        """End the signs of life and write when the worker stopped."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        now = datetime.now(UTC)
        try:
            Worker.objects.filter(pk=self._worker_id).update(seen_at=now, stopped_at=now)
        except Error as err:
            log.warning("The database did not take that the worker stopped (%s).", type(err).__name__)

    def _run(self) -> None:
        try:
            while not self._ended.wait(BEAT_S):
                try:
                    self._beat()
                except Error as err:
                    log.warning("The database took no sign of life (%s).", type(err).__name__)
                    connections.close_all()
        finally:
            connections.close_all()

    def _beat(self) -> None:
        clock = time.monotonic()
        if clock - self._last_step > STUCK_AFTER_S:
            return
        now = datetime.now(UTC)
        Worker.objects.filter(pk=self._worker_id).update(seen_at=now)
        for task_id, due in list(self._renew_at.items()):
            if clock >= due and claiming.renew(task_id, now):
                self._renew_at[task_id] = clock + claiming.RENEW_AFTER.total_seconds()
