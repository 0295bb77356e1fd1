"""The product in a process of its own, on a data folder that goes with it. Run as a program: `product.py WHAT FOLDER [NUMBER]`.

WHAT is `import` (a full import of FOLDER's log or queue), `append` (that, then NUMBER lines appended and imported one by one), `lists`
(that, then every list page measured), `graph` (FOLDER's graph file imported and the pages of its graph measured), `tree` (FOLDER's
record files imported and swept), `paths` (FOLDER's paths imported and their pages measured), or `approvals` (a change of each of FOLDER's
nodes proposed, and all of them approved at once); each prints one JSON document.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import approvals, graphs, paths, trees
from benchmarks.logs import decisions, operations

LIST_QUERIES = {
    "newest": "",
    "page 200": "page=200",
    "area": "category=database",
    "type": "type=preference",
    "said by": "said_by=person7@team.example",
    "area and type": "category=database&type=decision",
    "area, type and said by": "category=database&type=decision&said_by=person7@team.example",
    "sorted by area": "sort=category",
    "sorted by type, from the end": "sort=-type",
    "oldest first": "sort=at",
    "a frequent word": "q=redis",
    "two words": "q=redis+rollback",
    "a phrase": "q=%22cursor+page%22",
    "a word that does not occur": "q=zeppelin",
    "a word and an area": "q=redis&category=security",
    "100 rows": "per_page=100",
}
ROUNDS = 7
REPOSITORY = Path(__file__).parents[1]


def prepare(folder: Path) -> Any:
    """Start Django on a fresh database and register the store below `folder`."""
    os.environ.update(
        MEMORYUI_DATA_DIR=str(folder / "data"),
        MEMORYUI_STORE_ROOTS=str(folder),
        MEMORYUI_DATABASE_URL="",
        DJANGO_SETTINGS_MODULE="memoryui.settings",
    )
    # In a process of its own: what making the tables takes is not the import's.
    subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity=0"], cwd=REPOSITORY, check=True)
    import django

    django.setup()
    from stores.mirror.registering import add_store
    from stores.worker.identity import this_worker

    return add_store(folder / "project", worker=this_worker())


def measure_import(store: Any) -> dict[str, Any]:
    """Import the whole log, or the whole queue."""
    from stores.mirror.importing import import_store

    began = time.perf_counter()
    run = import_store(store)
    taken = time.perf_counter() - began
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {
        "seconds": taken,
        "records": run.records["decision"]["created"] + run.records["queue_operation"]["created"],
        "peak_mb": max(children, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024,
    }


def measure_appends(store: Any, number: int) -> dict[str, Any]:
    """Append lines one by one, to the queue where there is no log of decisions, and import each as the worker does."""
    from stores.mirror.importing import import_store

    log = Path(store.path) / "decisions.jsonl"
    lines = decisions(number, seed=99)
    if not log.exists():
        log, lines = log.with_name("graph-queue.jsonl"), operations(number, seed=99)
    seconds: list[float] = []
    bytes_read: list[int] = []
    for line in lines:
        with log.open("ab") as out:
            out.write(line)
        began = time.perf_counter()
        run = import_store(store, trigger="event")
        seconds.append(time.perf_counter() - began)
        bytes_read.append(run.bytes_read)
    began = time.perf_counter()
    import_store(store, trigger="sweep")
    return {
        "median_ms": statistics.median(seconds) * 1000,
        "worst_ms": max(seconds) * 1000,
        "bytes_read": max(bytes_read),
        "unchanged_ms": (time.perf_counter() - began) * 1000,
    }


def measure_lists() -> dict[str, Any]:
    """Ask for every kind of list page, each several times in turn, as a signed-in person."""
    from django.contrib.auth.models import Group
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from stores.models import User

    user = User.objects.create_user("bench", password=None)
    user.groups.add(Group.objects.get(name="viewer"))
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(user)
    seconds: dict[str, list[float]] = {name: [] for name in LIST_QUERIES}
    queries: dict[str, int] = {}
    for turn in range(ROUNDS + 1):
        for name, query in LIST_QUERIES.items():
            with CaptureQueriesContext(connection) as captured:
                began = time.perf_counter()
                response = client.get(f"/decisions/?{query}")
                taken = time.perf_counter() - began
            if response.status_code != 200:
                raise SystemExit(f"/decisions/?{query} answered {response.status_code}")
            queries[name] = len(captured)
            if turn:
                seconds[name].append(taken)
    return {name: {"median_ms": statistics.median(taken) * 1000, "queries": queries[name]} for name, taken in seconds.items()}


def main() -> None:
    """Do what the command line says."""
    what, folder = sys.argv[1], Path(sys.argv[2])
    store = prepare(folder)
    if what == "tree":
        sys.stdout.write(json.dumps(trees.measure(store)))
        return
    if what == "paths":
        sys.stdout.write(json.dumps(paths.measure(store)))
        return
    if what == "approvals":
        sys.stdout.write(json.dumps(approvals.measure(store)))
        return
    if what == "graph":
        sys.stdout.write(json.dumps(graphs.measure(store)))
        return
    result = measure_import(store)
    if what == "append":
        result |= measure_appends(store, int(sys.argv[3]))
    elif what == "lists":
        result["lists"] = measure_lists()
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main()
