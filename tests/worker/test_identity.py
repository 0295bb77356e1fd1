"""One worker a data folder, the same one after every start."""

from __future__ import annotations

import threading
import uuid
from pathlib import Path

import pytest
from pytest_django import Settings

from stores.errors import MemoryUIError, OtherHost, WorkerRunning
from stores.models import Worker
from stores.worker import identity
from tests.factories import make_store, make_worker

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data(settings: Settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path / "deep" / "data"
    return tmp_path / "deep" / "data"


def test_the_worker_is_the_same_at_every_start_and_its_id_lies_in_the_data_folder(data: Path) -> None:
    first = identity.this_worker()
    assert identity.this_worker() == first
    assert uuid.UUID((data / "worker_id").read_text().strip()) == first.uid
    assert (data / "worker_id").stat().st_mode & 0o777 == 0o600
    assert Worker.objects.count() == 1


def test_label_and_roots_are_those_of_the_running_worker_and_not_of_a_command(settings: Settings) -> None:
    first = identity.this_worker()
    settings.WORKER_LABEL, settings.STORE_ROOTS = "build-07", (Path("/srv"),)
    assert identity.this_worker().label == first.label
    identity.introduce(first)
    assert Worker.objects.values_list("label", "roots").get() == ("build-07", ["/srv"])


def test_first_starts_at_once_agree_on_one_id(data: Path) -> None:
    barrier = threading.Barrier(8)
    given: list[uuid.UUID] = []

    def start() -> None:
        barrier.wait()
        given.append(identity._read_or_make_id(data))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(given)) == 1
    assert [path.name for path in data.iterdir()] == ["worker_id"]


def test_a_damaged_id_is_told_and_not_replaced(data: Path) -> None:
    data.mkdir(parents=True)
    (data / "worker_id").write_text("nonsense\n")
    with pytest.raises(MemoryUIError, match="holds no worker id"):
        identity.this_worker()
    assert (data / "worker_id").read_text() == "nonsense\n"


def test_the_lock_of_a_data_folder_has_one_holder(data: Path) -> None:
    identity.this_worker()
    with identity.only_worker(data), pytest.raises(WorkerRunning), identity.only_worker(data):
        pass
    with identity.only_worker(data):
        pass


def test_a_store_of_another_worker_is_refused_by_name() -> None:
    ours, theirs = identity.this_worker(), make_worker("build-07")
    identity.require_ours(make_store(worker=ours), ours)
    with pytest.raises(OtherHost, match="build-07"):
        identity.require_ours(make_store(worker=theirs), ours)
