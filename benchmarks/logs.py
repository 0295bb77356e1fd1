"""Writes logs of decisions to measure with: the same bytes for the same arguments, about 780 bytes a line."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

WORDS = [
    "redis",
    "postgres",
    "cache",
    "cursor",
    "page",
    "index",
    "queue",
    "retry",
    "token",
    "session",
    "schema",
    "trace",
    "deploy",
    "build",
    "test",
    "review",
    "graph",
    "memory",
    "path",
    "merge",
    "limit",
    "batch",
    "stream",
    "worker",
    "search",
    "filter",
    "event",
    "audit",
    "lock",
    "file",
    "line",
    "offset",
    "digest",
    "branch",
    "release",
    "rollback",
    "metric",
    "alert",
    "budget",
]
AREAS = ("database", "frontend", "backend", "testing", "security", "general")
START = datetime(2026, 1, 1, tzinfo=UTC)
BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"


def decisions(count: int, seed: int = 11) -> Iterator[bytes]:
    """Give `count` lines of a decisions.jsonl, each with its line break, times rising by 40 s."""
    chance = random.Random(seed)  # noqa: S311  the same log each time is wanted

    def words(number: int) -> str:
        return " ".join(chance.choices(WORDS, k=number))

    for number in range(count):
        kind = chance.choice(("decision", "preference"))
        at = START + timedelta(seconds=40 * number)
        record = {
            "id": f"{kind}-{_base36(int(at.timestamp() * 1000))}-{_base36(chance.randrange(36**5))}",
            "type": kind,
            "content": {
                "what": words(10),
                "why": words(12),
                "alternatives": [words(3), words(3)],
                "constraints": [words(4)],
                "tradeoffs": [words(5)],
            },
            "entities": chance.choices(WORDS, k=3),
            "relations": [],
            "identity": {
                "user_id": f"person{chance.randrange(40)}@team.example",
                "anonymous_id": f"{chance.randrange(16**8):08x}",
                "machine_id": f"machine-{chance.randrange(9)}",
            },
            "metadata": {
                "session_id": f"session-{number // 50}",
                "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                "confidence": round(chance.random(), 2),
                "source": "user_prompt",
                "project": "atlas",
                "category": chance.choice(AREAS),
                "importance": chance.choice(("high", "medium", "low")),
                "is_generalizable": True,
                "sharing_scope": "team",
            },
        }
        yield json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def operations(count: int, seed: int = 11) -> Iterator[bytes]:
    """Give `count` lines of a graph-queue.jsonl that nobody drains: entities of decisions, and relations that begin at them."""
    chance = random.Random(seed)  # noqa: S311  the same queue each time is wanted
    for number in range(count):
        at = (START + timedelta(seconds=20 * number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        name = f"decision-{seed}-{number - number % 2}"
        payload: dict[str, object]
        if number % 2:
            ends = [name, chance.choice(WORDS) if number > 200 else name]
            payload = {"relations": [{"from": ends[0], "to": ends[1], "relationType": "CHOSE"}]}
        else:
            entities = [(name, "Decision"), (chance.choice(WORDS), "Technology")]
            payload = {"entities": [{"name": one, "entityType": kind, "observations": [f"Timestamp: {at}"]} for one, kind in entities]}
        record = {"type": "create_relations" if number % 2 else "create_entities", "payload": payload, "timestamp": at}
        yield json.dumps(record, separators=(",", ":")).encode() + b"\n"


def write_queue(path: Path, count: int) -> None:
    """Write a graph-queue.jsonl."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as out:
        for line in operations(count):
            out.write(line)


def write_log(path: Path, count: int) -> None:
    """Write a decisions.jsonl."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as out:
        for line in decisions(count):
            out.write(line)


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = BASE36[digit] + digits
    return digits or "0"
