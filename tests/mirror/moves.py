"""What may happen to a store's files between two looks of the mirror."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

Move = tuple[Any, ...]
"""A name, and what it needs."""

FILES = ("decisions.jsonl", "graph-queue.jsonl", "open-problems.jsonl")
OTHER_FILES = (
    "completed-flows.jsonl",
    "flows/s1.json",
    "flows/s2.json",
    "mem0-queue.jsonl",
    "sessions/one/events.jsonl",
    "sessions/two/events.jsonl",
    "sessions/two/counter.json",
    "problem-solutions.jsonl",
    "memory.json",
    "graph-queue.jsonl",
    "archive/2026-02-01T10-00-00-000Z-graph-queue.jsonl",
    "tool-preferences.json",
    "notes.md",
    "other.jsonl",
    "../rules/recent-decisions.md",
    "../agent-memory/one/MEMORY.md",
    "../logs/memory-metrics.jsonl",
)
"""Those of which there may be many, those that are one record, and companions, all relative to the store."""


def _decision(number: int) -> bytes:
    return (
        b'{"id":"decision-mx3a2c%02d-abc%d","type":"decision","content":{"what":"use redis for line %d"},"entities":["redis"],'
        b'"metadata":{"timestamp":"2026-03-01T10:00:%02d.000Z","category":"database"}}' % (number % 100, number % 10, number, number % 60)
    )


def _operation(number: int) -> bytes:
    return (
        b'{"type":"create_relations","payload":{"relations":[{"from":"a%d","to":"b%d","relationType":"CHOSE"}]},"timestamp":"2026-03-01T10:00:00Z"}'
        % (number % 4, number % 3)
    )


def _problem(number: int) -> bytes:
    return (
        b'{"id":"prob-%d","timestamp":"2026-03-01T10:00:00Z","session_id":"s","text":"redis open line %d","entities":[],"project":"p","status":"%s"}'
        % (number % 5, number, b"open" if number % 2 else b"solved")
    )


def _flow(number: int) -> bytes:
    return (
        b'{"session_id":"s%d","actions":[],"started_at":"2026-03-01T10:00:00.000Z","last_action_at":"2026-03-01T10:%02d:00.000Z",'
        b'"stats":{"total_actions":%d},"inferred_pattern":"mixed"}' % (number % 3, number * 7 % 60, number)
    )


def _mem0(number: int) -> bytes:
    return b'{"text":"Redis line %d","user_id":"u","metadata":{"category":"database"},"queued_at":"2026-03-01T10:%02d:00.000Z"}' % (
        number % 4,
        number * 7 % 60,
    )


def _event(number: int) -> bytes:
    return (
        b'{"event_id":"evt-%d-1","event_type":"tool_used","identity":{"session_id":"s","timestamp":"2026-03-01T10:00:00.000Z"},'
        b'"payload":{"name":"Grep","success":true}}' % (1_772_359_200_000 + number % 5)
    )


def _graph_item(number: int) -> bytes:
    if number % 2:
        return b'{"type":"entity","name":"a%d","entityType":"Tool","observations":["redis open line"]}' % (number % 4)
    return b'{"type":"relation","from":"a%d","to":"b%d","relationType":"CHOSE"}' % (number % 4, number % 3)


ODD_LINES = (
    b"",
    b"   ",
    "\u00a0".encode(),
    "\ufeff{}".encode(),
    b'{"a":1}\xc2\xa0',
    b"null",
    b'{"id":"x"}{"id":"y"}',
    b'{"torn":"off',
    b"<<<<<<< HEAD",
    b"\xff\xfe{\x00}\x00",
    b'{"id":"decision-mx3a2c01-abc1","content":{"what":"no entities"}}',
    b'{"type":"create_entities","payload":{"entities":[null]}}',
    b'{"type":"create_entities","payload":{"entities":[{"name":"a1","entityType":"Tool","observations":[]}]}}',
    b"\r",
)

lines = st.one_of(
    st.integers(0, 30).map(_decision), st.integers(0, 30).map(_operation), st.integers(0, 30).map(_problem), st.sampled_from(ODD_LINES)
)
other_lines = st.one_of(
    *(st.integers(0, 30).map(made) for made in (_flow, _mem0, _event, _graph_item, _operation)),
    st.sampled_from((*ODD_LINES, b"# Notes", b"- [redis](x.md) open line", b"---", b"type: project")),
)


def moves_of(lines: st.SearchStrategy[bytes]) -> st.SearchStrategy[Move]:
    """Give any move, with these lines for what is written."""
    return st.one_of(
        st.tuples(st.just("append"), lines, st.booleans()),
        st.tuples(st.just("append many"), st.lists(lines, min_size=2, max_size=6), st.booleans()),
        st.tuples(st.just("rewrite and grow"), st.integers(0, 2000), lines),
        st.tuples(st.just("same size edit"), st.integers(0, 2000), st.integers(0, 255)),
        st.tuples(st.just("truncate"), st.integers(0, 2000)),
        st.tuples(st.just("truncate and grow past"), st.integers(0, 2000), st.lists(lines, min_size=1, max_size=8)),
        st.tuples(st.just("replace"), st.lists(lines, max_size=6), st.booleans()),
        st.tuples(st.just("delete")),
        st.tuples(st.just("delete and make again"), st.lists(lines, max_size=4), st.booleans()),
        st.tuples(st.just("touch")),
        st.tuples(st.just("move away"), st.integers(0, 2)),
        st.tuples(st.just("remove the folder")),
        st.tuples(st.just("nothing")),
    )


moves = moves_of(lines)
other_moves = moves_of(other_lines)


def do(path: Path, move: Move) -> None:
    """Do one move to a file."""
    name, *arguments = move
    path.parent.mkdir(parents=True, exist_ok=True)
    data = path.read_bytes() if path.exists() else b""
    if name == "append":
        line, ended = arguments
        with path.open("ab") as out:
            out.write(line + (b"\n" if ended else b""))
    elif name == "append many":
        some, ended = arguments
        with path.open("ab") as out:
            out.write(b"\n".join(some) + (b"\n" if ended else b""))
    elif name == "rewrite and grow":
        place, line = arguments
        place %= len(data) + 1
        with path.open("r+b" if path.exists() else "wb") as out:
            out.write(data[:place] + line + b"\n" + data[place:])
    elif name == "same size edit":
        place, byte = arguments
        if data:
            place %= len(data)
            with path.open("r+b") as out:
                out.seek(place)
                out.write(bytes([byte]))
    elif name == "truncate":
        if path.exists():
            os.truncate(path, arguments[0] % (len(data) + 1))
    elif name == "truncate and grow past":
        place, some = arguments
        if path.exists():
            os.truncate(path, place % (len(data) + 1))
        with path.open("ab") as out:
            out.write(b"\n".join(some) + b"\n" + b"x" * (len(data) % 7))
    elif name == "replace":
        some, ended = arguments
        temporary = path.with_name("temporary")
        temporary.write_bytes(b"\n".join(some) + (b"\n" if ended else b""))
        temporary.replace(path)
    elif name == "delete":
        path.unlink(missing_ok=True)
    elif name == "delete and make again":
        some, ended = arguments
        path.unlink(missing_ok=True)
        path.write_bytes(b"\n".join(some) + (b"\n" if ended else b""))
    elif name == "move away" and path.exists():
        path.replace(path.with_name(f"moved-{arguments[0]}{path.suffix}"))
    elif name == "remove the folder" and path.parent.name not in ("memory", ".claude"):
        shutil.rmtree(path.parent)
    elif name == "touch" and path.exists():
        os.utime(path)
