"""Stores with a queue for tests of drains, and what a reader of their files finds that shares no code with the product."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from django.conf import settings

from stores.apply.steps import Actor
from stores.models import Store
from tests.memory_folders import decision, make_project
from tests.mirror.images import register

ACTOR = Actor("os:tester@host")


def entities_line(name: str, *observations: str) -> bytes:
    """Give a queue line that creates one entity."""
    entity = {"name": name, "entityType": "Technology", "observations": list(observations)}
    return line({"type": "create_entities", "payload": {"entities": [entity]}, "timestamp": "2026-03-01T10:00:00.000Z"})


def relation_line(start: str, end: str) -> bytes:
    """Give a queue line that relates two entities."""
    relation = {"from": start, "to": end, "relationType": "CHOSE"}
    return line({"type": "create_relations", "payload": {"relations": [relation]}, "timestamp": "2026-03-01T10:00:00.000Z"})


def line(record: object) -> bytes:
    """Write one line as JavaScript does."""
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


GRAPH = line({"type": "entity", "name": "kept", "entityType": "Tool", "observations": ["stands"]})
QUEUE = entities_line("redis", "first") + relation_line("redis", "a decision") + entities_line("redis", "second")


def make_store(folder: Path, queue: bytes = QUEUE, graph: bytes | None = GRAPH, name: str = "shop-api") -> tuple[Store, Path]:
    """Make and register a store with two decisions, a queue and a graph."""
    memory = make_project(folder.resolve(), name, decisions=2)
    (memory / "graph-queue.jsonl").write_bytes(queue)
    if graph is not None:
        (memory / "memory.json").write_bytes(graph)
    return register(memory), memory


def graph_of(path: Path) -> tuple[dict[str, list[str]], Counter[tuple[str, str, str]]]:
    """Read a graph file as its server does, strictly: entities with observations, and how often each relation stands."""
    entities: dict[str, list[str]] = {}
    relations: Counter[tuple[str, str, str]] = Counter()
    for text in path.read_bytes().decode().split("\n"):
        if not text.strip():
            continue
        item: dict[str, Any] = json.loads(text)
        if item["type"] == "entity":
            assert item["name"] not in entities, "an entity stands twice"
            entities[item["name"]] = item["observations"]
        else:
            relations[item["from"], item["to"], item["relationType"]] += 1
    return entities, relations


def queued_lines(memory: Path) -> Counter[bytes]:
    """Count every line of the queue and of the archived queues."""
    found: Counter[bytes] = Counter()
    for path in [memory / "graph-queue.jsonl", *(memory / "archive").glob("*-graph-queue.jsonl")]:
        if path.exists():
            found.update(one for one in path.read_bytes().split(b"\n") if one)
    return found


def left_in_store(memory: Path) -> list[str]:
    """Name what lies in a store and has no name of OrchestKit's."""
    return sorted(str(path.relative_to(memory)) for path in memory.rglob("*") if path.name.startswith("."))


def open_journal() -> list[str]:
    """Name the changes that are begun and not closed."""
    return sorted(str(path) for path in Path(settings.DATA_DIR, "journal").glob("*/open/*"))


__all__ = [
    "ACTOR",
    "GRAPH",
    "QUEUE",
    "decision",
    "entities_line",
    "graph_of",
    "left_in_store",
    "line",
    "make_store",
    "open_journal",
    "queued_lines",
    "relation_line",
]
