"""Whatever happens to the files of a store while the worker runs, the mirror ends as that of a full import."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django import Settings

from stores.mirror.relocating import remove_store
from stores.models import Worker
from stores.worker.loop import Loop
from stores.worker.stopping import Stop
from tests.installations import wait_for
from tests.mirror.images import fresh_image, image, register
from tests.mirror.moves import FILES, Move, do, moves

PAUSES_S = (0.0, 0.0, 0.03, 0.12)
"""Between two moves: none, about as long as the kernel's hints are gathered, longer."""


@contextmanager
def running(worker: Worker) -> Iterator[None]:
    """Run the worker's loop in a thread while the block runs."""
    stop, failures = Stop(), []

    def work() -> None:
        try:
            Loop(worker, stop).run()
        except BaseException as err:
            failures.append(err)
            raise
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.request()
        thread.join()
    assert not failures


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@hypothesis_settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(st.tuples(st.sampled_from(FILES), moves, st.sampled_from(PAUSES_S)), min_size=2, max_size=12))
def test_any_sequence_of_changes_ends_in_the_mirror_of_a_full_import(settings: Settings, steps: list[tuple[str, Move, float]]) -> None:
    settings.SWEEP_SECONDS = 0.3
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / ".claude" / "memory"
        root.mkdir(parents=True)
        store = register(root)
        with running(store.worker):
            pause = threading.Event()
            for file, move, pause_s in steps:
                do(root / file, move)
                pause.wait(pause_s)
            expected = fresh_image(root)
            seen: list[dict[str, Any]] = []

            def equal() -> bool:
                seen[:] = [image(store)]
                return seen[0] == expected

            try:
                wait_for(equal, within_s=60, every_s=0.1)
            except AssertionError:
                assert seen[0] == expected
        remove_store(store)
