"""A file that is one record and is met half written is read again before anybody is told of a fault (ruling 11)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from stores.mirror import reading_again
from stores.mirror.importing import import_store
from stores.models import Fault, ForeignRecord, Store
from tests.mirror.images import register

pytestmark = pytest.mark.django_db

WHOLE = b'{"sessionId":"s-1","count":3}'
WAIT_S = reading_again.AGAIN_AFTER_S
"""Before any test makes it shorter."""
Waits = Callable[[Callable[[int], None]], list[float]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project" / ".claude" / "memory"
    (folder / "sessions" / "one").mkdir(parents=True)
    (folder / "sessions" / "two").mkdir()
    return folder


@pytest.fixture
def store(root: Path) -> Store:
    return register(root)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Waits:
    """Let something happen in each wait, which is told its number; give the list of how long each was."""

    def set_up(happens: Callable[[int], None]) -> list[float]:
        waited: list[float] = []

        def wait(seconds: float) -> None:
            waited.append(seconds)
            happens(len(waited))

        monkeypatch.setattr(reading_again, "AGAIN_AFTER_S", WAIT_S)
        monkeypatch.setattr(reading_again, "time", SimpleNamespace(sleep=wait, time_ns=time.time_ns))
        return waited

    return set_up


def records(store: Store) -> int:
    return ForeignRecord.objects.filter(store=store, gone_at__isnull=True).count()


@pytest.mark.parametrize("half", [b"", b'{"sessionId":"s-1","co'], ids=["empty", "cut"])
def test_a_file_that_is_whole_after_a_moment_was_never_at_fault(root: Path, store: Store, waits: Waits, half: bytes) -> None:
    first, second = (root / "sessions" / name / "counter.json" for name in ("one", "two"))
    first.write_bytes(WHOLE)
    second.write_bytes(WHOLE)
    import_store(store)
    assert records(store) == 2
    first.write_bytes(half)
    second.write_bytes(half)
    rows = set(ForeignRecord.objects.values_list("pk", "gone_at"))

    def agent(number: int) -> None:
        # Nothing of it is in the mirror while it is waited for.
        assert set(ForeignRecord.objects.values_list("pk", "gone_at")) == rows
        (first, second)[number - 1].write_bytes(WHOLE)

    waited = waits(agent)
    import_store(store)
    # One wait for both, and one more for the second alone.
    assert waited == [0.3, 0.3]
    assert (records(store), Fault.objects.filter(store=store, path__startswith="sessions/").count()) == (2, 0)
    assert set(ForeignRecord.objects.values_list("pk", "gone_at")) == rows


def test_what_stays_half_written_is_a_fault_after_three_rounds(root: Path, store: Store, waits: Waits) -> None:
    (root / "sessions" / "one" / "counter.json").write_bytes(WHOLE[:-3])
    waited = waits(lambda number: None)
    import_store(store)
    assert waited == [0.3, 0.3, 0.3]
    assert Fault.objects.filter(store=store, path="sessions/one/counter.json", severity="error").count() == 1


def test_an_old_file_a_whole_one_and_a_log_are_not_waited_for(root: Path, store: Store, waits: Waits) -> None:
    old = root / "sessions" / "one" / "counter.json"
    old.write_bytes(WHOLE[:-3])
    os.utime(old, (time.time() - 10, time.time() - 10))
    (root / "sessions" / "two" / "counter.json").write_bytes(WHOLE)
    (root / "decisions.jsonl").write_bytes(b'{"id":"torn')
    waited = waits(lambda number: None)
    import_store(store)
    assert (waited, records(store)) == ([], 1)
    assert Fault.objects.filter(store=store, path="sessions/one/counter.json", severity="error").count() == 1
