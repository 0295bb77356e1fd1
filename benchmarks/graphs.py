"""Writes graph files to measure with, and measures the pages of a graph: the same bytes for the same arguments."""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.logs import WORDS

ENTITIES = 5_000
RELATIONS = 12_000
ROUNDS = 9
TYPES = ("Decision", "Technology", "Pattern", "Tool", "Problem", "Solution", "Workflow", "Agent")
RELATION_TYPES = ("USES", "CHOSE", "CHOSE_OVER", "RELATES_TO", "SOLVED_BY", "TRADEOFF")
GOALS_MS = {"page": 150.0, "neighbourhood": 100.0}


def lines(entities: int, relations: int, seed: int = 11) -> Iterator[bytes]:
    """Give the lines of a memory.json: a few entities have most of the relations, as in real graphs."""
    chance = random.Random(seed)  # noqa: S311  the same graph each time is wanted
    names = [f"{chance.choice(WORDS)} {chance.choice(WORDS)} {number}" for number in range(entities)]
    for number, name in enumerate(names):
        said = [f"Seen in build {number}", f"Timestamp: 2026-{1 + number % 11:02d}-{1 + number % 28:02d}T10:00:00.000Z"]
        yield _line({"type": "entity", "name": name, "entityType": TYPES[number % len(TYPES)], "observations": said})
    for _ in range(relations):
        start, end = chance.choice(names), names[int(chance.random() ** 3 * entities)]
        yield _line({"type": "relation", "from": start, "to": end, "relationType": chance.choice(RELATION_TYPES)})


def write_graph(folder: Path) -> None:
    """Write a project below `folder` whose store holds nothing but a graph file."""
    memory = folder / "project" / ".claude" / "memory"
    memory.mkdir(parents=True)
    (memory / "memory.json").write_bytes(b"".join(lines(ENTITIES, RELATIONS)))


def measure(store: Any) -> dict[str, Any]:
    """Import a store's graph, then ask for its pages and for the neighbourhood of its most connected entity, each several times."""
    from django.contrib.auth.models import Group
    from django.test import Client

    from stores.mirror import graph
    from stores.mirror.importing import import_store
    from stores.models import GraphEntity, User

    import_store(store)
    began = time.perf_counter()
    while graph.go_on(store):
        pass
    built_s = time.perf_counter() - began
    user = User.objects.create_user("bench", password=None)
    user.groups.add(Group.objects.get(name="viewer"))
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(user)
    hub = GraphEntity.objects.filter(store=store).order_by("-degree").values_list("pk", flat=True)[0]
    own = f"/stores/{store.slug}"
    asked = {
        "page": f"{own}/graph/",
        "page, a word": f"{own}/graph/?q=redis",
        "page, two filters": f"{own}/graph/?type=Tool&dated=180",
        "picture": f"{own}/graph/data/",
        "neighbourhood": f"{own}/entities/{hub}/data/?depth=1",
        "neighbourhood, two steps": f"{own}/entities/{hub}/data/?depth=2",
        "entity": f"{own}/entities/{hub}/",
    }
    seconds: dict[str, list[float]] = {name: [] for name in asked}
    for turn in range(ROUNDS + 1):
        for name, address in asked.items():
            began = time.perf_counter()
            response = client.get(address)
            taken = time.perf_counter() - began
            if response.status_code != 200:
                raise SystemExit(f"{address} answered {response.status_code}")
            if turn:
                seconds[name].append(taken)
    return {"built_s": built_s, "median_ms": {name: statistics.median(taken) * 1000 for name, taken in seconds.items()}}


def section(measured: dict[str, Any]) -> list[str]:
    """Give the lines of the page that tell of it."""
    rows = [
        "",
        f"## Graph of {ENTITIES:,} entities and {RELATIONS:,} relations",
        "",
        f"Built by the worker in {measured['built_s']:.1f} s, a little in each turn.",
        "",
        "| asked for | median ms in the server | goal |",
        "|---|---:|---|",
    ]
    for name, median in measured["median_ms"].items():
        goal = next((limit for word, limit in GOALS_MS.items() if name.startswith(word)), None)
        rows.append(f"| {name} | {median:.0f} | {f'< {goal:.0f}' if goal else ''} |")
    return rows


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
