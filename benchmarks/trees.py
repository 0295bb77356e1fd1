"""A store of record files by the thousand, imported and swept, beside what reading and looking alone take.

Run as a program: `trees.py floor FOLDER` reads and decodes every file of a store, then looks at each; it prints one JSON document.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

ROUNDS = 5
FOLDERS = ("profiles", "nodes", "edges", "paths", "activations")
EDGES_A_NODE = 2
NODES_A_PATH = 8
EVENTS_A_NODE = 3


def write_tree(root: Path, nodes: int) -> int:
    """Write a store of so many nodes with their edges, paths and events; give how many record files it has."""
    from stores.formats.canonical import log_line, pretty

    for folder in FOLDERS:
        (root / folder).mkdir(parents=True)
    (root / "phase-memory.json").write_bytes(pretty({"schema_version": "phase_memory.local_store.v1"}))
    (root / "audit.jsonl").write_bytes(b"")
    paths: dict[str, list[str]] = {}
    with (root / "events.jsonl").open("wb") as log:
        for number in range(nodes):
            path = f"path.{number // NODES_A_PATH:05d}"
            for turn in range(EVENTS_A_NODE):
                event = f"event.{number * EVENTS_A_NODE + turn:07d}"
                paths.setdefault(path, []).append(event)
                log.write(log_line(_event(event, path, f"node.{number:06d}", turn)))
            _write(root / "nodes", f"node.{number:06d}", pretty(_node(number, path)))
            for turn in range(EDGES_A_NODE):
                name = f"edge.{number:06d}-{turn}"
                target = f"node.{(number * 7 + turn) % nodes:06d}"
                _write(root / "edges", name, pretty({"id": name, "kind": "supports", "source": f"node.{number:06d}", "target": target}))
    for path, events in paths.items():
        _write(root / "paths", path, pretty({"path_id": path, "parent_path_id": None, "state": "active", "event_ids": events}))
    return nodes * (1 + EDGES_A_NODE) + len(paths)


def _write(folder: Path, name: str, data: bytes) -> None:
    (folder / f"{name}.json").write_bytes(data)


def _node(number: int, path: str) -> dict[str, object]:
    return {
        "id": f"node.{number:06d}",
        "kind": ("decision", "finding", "observation", "risk")[number % 4],
        "text": f"Part {number} pages by cursor because inserts shift offsets, and {number * 7919 % 1000} readers saw rows twice.",
        "phase": ("ephemeral", "fluid", "stabilized", "rigid")[number % 4],
        "lifecycle_state": "active",
        "confidence": (number % 100) / 100,
        "policy": {"labels": ["project-local"], "trust_zone": "local"},
        "provenance": {"agent": f"agent.{number % 5}", "path_id": path, "source_event_ids": [f"event.{number * EVENTS_A_NODE:07d}"]},
        "created_at": "2026-03-01T10:00:00Z",
        "updated_at": "2026-03-02T10:00:00Z",
        "version": 1,
    }


def _event(name: str, path: str, node: str, turn: int) -> dict[str, object]:
    return {
        "schema_version": "phase_memory.memory.event.v1",
        "id": name,
        "kind": "updated" if turn else "recorded",
        "timestamp": "2026-03-01T10:00:00Z",
        "path_id": path,
        "actor": "agent.planner",
        "node_updates": [{"node_id": node, "operation": "update" if turn else "create"}],
    }


def floor(root: Path) -> dict[str, float]:
    """Read and decode every file of the tree, then look at every entry; medians of some rounds."""
    reads, looks = [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for place in _files(root):
            with open(place, "rb") as opened:  # noqa: PTH123  the floor is as quick as Python can be
                msgspec.json.decode(opened.read())
        for name in ("events.jsonl", "audit.jsonl"):
            for line in (root / name).read_bytes().splitlines():
                msgspec.json.decode(line)
        reads.append(time.perf_counter() - began)
        began = time.perf_counter()
        for entry in _walk(str(root)):
            entry.stat(follow_symlinks=False)
        looks.append(time.perf_counter() - began)
    return {"read_s": statistics.median(reads), "look_s": statistics.median(looks)}


def _files(root: Path) -> Iterator[str]:
    for folder in FOLDERS:
        with os.scandir(root / folder) as entries:
            yield from (entry.path for entry in entries)


def _walk(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path)


def measure(store: Any) -> dict[str, float]:
    """Import the store, then look again as the running worker does."""
    from stores.mirror.importing import import_store

    began = time.perf_counter()
    import_store(store, trigger="sweep")
    imported = time.perf_counter() - began
    sweeps = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        import_store(store, trigger="sweep")
        sweeps.append(time.perf_counter() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    # The first one reads again what was written within two seconds of its first reading.
    return {"import_s": imported, "sweep_s": statistics.median(sweeps[1:]), "peak_mb": peak}


def section(files: int, own: dict[str, float], least: dict[str, float]) -> list[str]:
    """Give the part of the page that tells of it."""
    return [
        "",
        f"## A store of {files:,} record files",
        "",
        "| measured | memoryui | compared with | × | goal |",
        "|---|---:|---:|---:|---|",
        f"| full import | {own['import_s']:.1f} s | {least['read_s']:.1f} s to read and decode the tree | {own['import_s'] / least['read_s']:.1f} | ≤ 3 × |",
        f"| sweep with nothing changed, in the running worker | {own['sweep_s'] * 1000:.0f} ms | {least['look_s'] * 1000:.0f} ms for `os.scandir` and `stat` | "
        f"{own['sweep_s'] / least['look_s']:.1f} | ≤ 2 × |",
        f"| peak memory of that import | {own['peak_mb']:.0f} MB | | | < 200 MB |",
    ]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(floor(Path(sys.argv[2]))))
