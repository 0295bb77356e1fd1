"""Writes a store of many paths, and measures their pages: the same bytes for the same arguments."""

from __future__ import annotations

import random
import statistics
import time
from pathlib import Path
from typing import Any

PATHS = 10_000
EVENTS = 200_000
TREES = 400
ROUNDS = 9
GOALS_MS = {"tree": 150.0, "a level": 100.0}


def write_paths(root: Path, paths: int = PATHS, events: int = EVENTS, trees: int = TREES, seed: int = 7) -> None:
    """Write a store: every path branches off an earlier one of its tree, a third ended by merging, a few by being abandoned."""
    from stores.formats.canonical import log_line, pretty

    chance = random.Random(seed)  # noqa: S311  the same paths each time are wanted
    for folder in ("profiles", "nodes", "edges", "paths", "activations"):
        (root / folder).mkdir(parents=True)
    (root / "phase-memory.json").write_bytes(pretty({"schema_version": "phase_memory.local_store.v1"}))
    (root / "audit.jsonl").write_bytes(b"")
    parents = [number - trees * chance.randint(1, min(4, number // trees)) if number >= trees else -1 for number in range(paths)]
    listed: list[list[str]] = [[] for _ in range(paths)]
    with (root / "events.jsonl").open("wb") as log:
        for number in range(events):
            # Work moves from the oldest paths to the newest, a few hundred of them at a time.
            on = min(paths - 1, max(0, int(number / events * paths) + chance.randint(-150, 150)))
            name = f"event.{number:07d}"
            listed[on].append(name)
            log.write(log_line(_event(name, on, number)))
    for number in range(paths):
        (root / "paths" / f"path.{number:05d}.json").write_bytes(pretty(_path(number, parents[number], listed[number], chance)))


def _event(name: str, path: int, number: int) -> dict[str, object]:
    day, second = 1 + number % 28, number % 60
    return {
        "schema_version": "phase_memory.memory.event.v1",
        "id": name,
        "kind": "recorded",
        "timestamp": f"2026-03-{day:02d}T10:00:{second:02d}Z",
        "path_id": f"path.{path:05d}",
        "actor": "agent.planner",
        "payload": {"note": f"Step {number} of the search rewrite"},
    }


def _path(number: int, parent: int, events: list[str], chance: random.Random) -> dict[str, object]:
    above = f"path.{parent:05d}" if parent >= 0 else None
    ended = chance.random()
    merged = above is not None and ended < 0.33
    abandoned = not merged and ended > 0.9
    return {
        "path_id": f"path.{number:05d}",
        "parent_path_id": above,
        "title": f"Search rewrite, part {number}",
        "state": "merged" if merged else "abandoned" if abandoned else "active",
        "merge_target": above if merged else None,
        "abandoned_reason": "It led nowhere" if abandoned else None,
        "event_ids": events,
        "created_at": f"2026-03-{1 + number % 28:02d}T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}Z",
    }


def measure(store: Any) -> dict[str, Any]:
    """Import the store, then ask for the pages of its paths, each several times; the tree also as after an import."""
    from django.contrib.auth.models import Group
    from django.test import Client

    from stores.mirror.importing import import_store
    from stores.models import MemoryPath, RecordTree, User

    began = time.perf_counter()
    import_store(store)
    imported = time.perf_counter() - began
    user = User.objects.create_user("bench", password=None)
    user.groups.add(Group.objects.get(name="viewer"))
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(user)
    by_events = MemoryPath.objects.filter(store=store).order_by("-event_count", "pk")
    longest, other = by_events.values_list("pk", flat=True)[:2]
    top = MemoryPath.objects.filter(store=store, parent_path_id="").order_by("pk").values_list("pk", flat=True)[0]
    own = f"/stores/{store.slug}/paths/"
    asked = {
        "tree": own,
        "tree, first answer after an import": own,
        "tree with a path beside it": f"{own}?path={longest}",
        "a path alone, for htmx": f"{own}?path={longest}",
        "a level that is opened": f"{own}level/?under={top}",
        "tree, a word": f"{own}?q=rewrite",
        "page of a path": f"/paths/{longest}/",
        "lanes, 100 events": f"{own}lanes/",
        "lanes, 1,000 events": f"{own}lanes/?rows=1000",
        "two paths compared": f"{own}compare/?left={longest}&right={other}",
    }
    parts = {"a path alone, for htmx": "path", "a level that is opened": "level"}
    seconds: dict[str, list[float]] = {name: [] for name in asked}
    for turn in range(ROUNDS + 1):
        for name, address in asked.items():
            headers = {"HX-Request": "true", "HX-Target": parts[name]} if name in parts else {}
            if "after an import" in name:
                RecordTree.objects.filter(store=store).update(stamp=f"turn {turn}")
            began = time.perf_counter()
            response = client.get(address, headers=headers)
            taken = time.perf_counter() - began
            if response.status_code != 200:
                raise SystemExit(f"{address} answered {response.status_code}")
            if turn:
                seconds[name].append(taken)
    return {"imported_s": imported, "median_ms": {name: statistics.median(taken) * 1000 for name, taken in seconds.items()}}


def section(measured: dict[str, Any]) -> list[str]:
    """Give the part of the page that tells of it."""
    rows = [
        "",
        f"## Paths of a store with {PATHS:,} paths and {EVENTS:,} events",
        "",
        f"Imported in {measured['imported_s']:.0f} s. Whole answers of the server; what is remembered between answers is dropped by every import.",
        "",
        "| asked for | median ms in the server | goal |",
        "|---|---:|---|",
    ]
    for name, median in measured["median_ms"].items():
        goal = GOALS_MS.get("a level" if name.startswith("a level") else name)
        rows.append(f"| {name} | {median:.0f} | {f'< {goal:.0f}' if goal else ''} |")
    return rows
