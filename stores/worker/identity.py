"""Which worker this is: a UUID in the data folder, and the lock that lets one process a folder be it (ruling 39)."""

from __future__ import annotations

import fcntl
import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from stores.errors import MemoryUIError, OtherHost, WorkerRunning
from stores.files import why, write_new_file
from stores.models import Store, Worker

ID_FILE = "worker_id"


def this_worker() -> Worker:
    """Give the worker of this data folder; id file and row are made at first use.

    Raises MemoryUIError when the data folder cannot be used.
    """
    uid = _read_or_make_id(settings.DATA_DIR)
    try:
        with transaction.atomic():
            return Worker.objects.get_or_create(uid=uid, defaults=_what_it_says_of_itself())[0]
    except IntegrityError:
        return Worker.objects.get(uid=uid)


def introduce(worker: Worker) -> None:
    """Write label and roots as they are set now: only the running worker does, since a command may be called with other settings."""
    said = _what_it_says_of_itself()
    Worker.objects.filter(pk=worker.pk).update(**said)
    worker.label, worker.roots = said["label"], said["roots"]


def _what_it_says_of_itself() -> dict[str, Any]:
    label = settings.WORKER_LABEL or socket.gethostname() or "worker"
    return {"label": label[:120], "roots": [str(root) for root in settings.STORE_ROOTS]}


def require_ours(store: Store, worker: Worker) -> None:
    """Raise OtherHost, which names the owner, when `store` belongs to another worker."""
    if store.worker_id != worker.pk:
        raise OtherHost(
            f"Store {store.slug} belongs to the worker {store.worker.label}. Run the command on that host, with its data folder."
        )


@contextmanager
def only_worker(data_dir: Path) -> Iterator[None]:
    """Be the only worker of this data folder while the block runs.

    The lock is a `flock` on the folder itself; the kernel ends it with the process. Raises WorkerRunning when it is taken.
    """
    try:
        descriptor = os.open(data_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as err:
        raise _unusable(data_dir, err) from err
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as err:
            raise WorkerRunning(
                f"A worker runs on the data folder {data_dir} already. It does everything that is due; stop it first."
            ) from err
        yield
    finally:
        os.close(descriptor)


def _read_or_make_id(data_dir: Path) -> uuid.UUID:
    path = data_dir / ID_FILE
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            # Two first starts at once end with the same id: the second file is not made.
            write_new_file(path, f"{uuid.uuid4()}\n".encode("ascii"))
        return uuid.UUID(path.read_text("ascii").strip())
    except OSError as err:
        raise _unusable(data_dir, err) from err
    except ValueError as err:
        raise MemoryUIError(f"{path} holds no worker id. Put back the file of this host, or delete it to start as a new worker.") from err


def _unusable(data_dir: Path, err: OSError) -> MemoryUIError:
    return MemoryUIError(f"The data folder {data_dir} cannot be used: {why(err)}. MEMORYUI_DATA_DIR names it.")
