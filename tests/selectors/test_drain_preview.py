"""What a drain would write, from the mirror, is what it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from stores.mirror.importing import import_store
from stores.mirror.registering import add_store
from stores.models import Condition, Drain, Store
from stores.selectors import drain_preview as module
from stores.selectors.drain_preview import DrainPreview, drain_preview
from stores.selectors.store_page import store_frame
from tests.factories import AT, make_user, make_worker
from tests.memory_folders import decision

pytestmark = pytest.mark.django_db


def entity(name: str, *observations: str) -> dict[str, Any]:
    return {"name": name, "entityType": "Technology", "observations": list(observations)}


def relation(start: str, end: str) -> dict[str, Any]:
    return {"from": start, "to": end, "relationType": "USES"}


def operation(kind: str, part: str, items: object, second: int = 0) -> bytes:
    value = {"type": f"{kind}", "payload": {part: items}, "timestamp": f"2026-03-01T10:00:{second:02d}.000Z"}
    return json.dumps(value).encode() + b"\n"


def imported(memory: Path, queue: bytes, graph: bytes | None = None) -> Store:
    (memory / "decisions.jsonl").write_bytes(decision("use cursors"))
    (memory / "graph-queue.jsonl").write_bytes(queue)
    if graph is not None:
        (memory / "memory.json").write_bytes(graph)
    store = add_store(memory, worker=make_worker(), by=make_user(groups=["viewer", "operator"]))
    import_store(store)
    return store


def look(store: Store) -> DrainPreview:
    return drain_preview(store_frame(make_user(), store.slug, "backlog", timezone.now()))


QUEUE = b"".join(
    [
        operation("create_entities", "entities", [entity("redis", "fast"), entity("postgresql", "safe")], 1),
        operation("create_entities", "entities", [entity("redis", "fast", "in memory")], 2),
        operation("create_relations", "relations", [relation("redis", "postgresql"), relation("redis", "the cache")], 3),
        operation("create_entities", "entities", None, 4),
        b"null\n",
        b"not json\n",
    ]
)


def test_new_and_known_missing_and_lost_are_told_apart(tmp_path: Path) -> None:
    graph = [{"type": "entity", **entity("postgresql", "old")}, {"type": "relation", **relation("redis", "postgresql")}]
    found = look(imported(tmp_path, QUEUE, b"\n".join(json.dumps(line).encode() for line in graph)))
    assert (found.new_entities, found.existing, found.new_relations) == (2, ["postgresql"], 1)
    assert list(found.missing_ends) == ["the cache"]
    assert [trouble.line for trouble in found.poison] == [5]
    assert found.unreadable == 1
    assert [(loss.name, loss.contents) for loss in found.losses] == [("redis", ("in memory",))]
    assert found.sentence == (
        "Creates 2 entities, 1 of which only relations name, and 1 relation; adds to 1 entity that exists already; "
        "1 poison line would stop OrchestKit's own drain, not this one"
    )
    assert not found.is_part
    assert [one.record.line for one in found.operations] == [1, 2, 3, 4, 5]


def test_an_end_that_the_graph_has_is_not_missing(tmp_path: Path) -> None:
    queue = operation("create_relations", "relations", [relation("redis", "the cache")])
    graph = b"\n".join(json.dumps({"type": "entity", **entity(name)}).encode() for name in ("redis", "the cache"))
    found = look(imported(tmp_path, queue, graph))
    assert (found.new_entities, list(found.missing_ends), found.sentence) == (
        0,
        [],
        "Creates 0 entities and 1 relation; adds to 2 entities that exist already",
    )


def test_the_preview_of_the_shared_stores_is_what_a_replay_aggregates(tmp_path: Path, shared: Path) -> None:
    """The format page says how many entities and relations their queues make."""
    for source in sorted((shared / "samples/orchestkit").glob("*/.claude/memory/graph-queue.jsonl")):
        memory = tmp_path / source.parents[2].name
        memory.mkdir()
        data = source.read_bytes()
        names: set[str] = set()
        edges: set[tuple[str, str, str]] = set()
        for line in data.splitlines():
            payload = json.loads(line)["payload"]
            names |= {one["name"] for one in payload.get("entities", ())}
            edges |= {(one["from"], one["to"], one["relationType"]) for one in payload.get("relations", ())}
        ends = {end for start, end, _ in edges} | {start for start, _, _ in edges}
        found = look(imported(memory, data))
        assert (found.new_entities, found.new_relations) == (len(names | ends), len(edges))
        assert set(found.missing_ends) == ends - names


@pytest.mark.parametrize("reach", ["operations", "bytes"])
def test_of_a_long_queue_the_oldest_operations_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reach: str) -> None:
    lines = [operation("create_entities", "entities", [entity(f"part {number}")], number) for number in range(9)]
    monkeypatch.setattr(
        module, "OPERATIONS_AT_MOST" if reach == "operations" else "BYTES_AT_MOST", 3 if reach == "operations" else 3 * len(lines[0])
    )
    found = look(imported(tmp_path, b"".join(lines)))
    assert (found.is_part, found.looked_at, found.total, found.new_entities) == (True, 3, 9, 3)
    assert [one.record.line for one in found.operations] == [1, 2, 3]


def test_a_graph_elsewhere_is_not_compared(tmp_path: Path) -> None:
    store = imported(tmp_path, QUEUE, json.dumps({"type": "entity", **entity("redis")}).encode())
    for value, refused in (("elsewhere", False), ("its own package", True), ("unknown", True)):
        Condition.objects.filter(store=store, code="graph_place").update(value_text=value, message="It says so", status="note")
        found = look(store)
        assert (found.target.path, found.target.reason, found.target.refused) == ("", "It says so", refused)
        assert found.existing == []
    Condition.objects.filter(store=store, code="graph_place").update(value_text="expected")
    assert look(store).target.path == f"{store.path}/memory.json"
    assert look(store).existing == ["redis"]


def test_the_drains_that_were_are_listed_with_their_state(tmp_path: Path) -> None:
    store = imported(tmp_path, b"")
    for number, state in enumerate(("kept", "lost", "verifying")):
        Drain.objects.create(
            store=store, journal_id=f"j{number}", at=AT, actor="os:ines@build-01", graph_folder="", graph_path="memory.json",
            archive_path=f"archive/{number}-graph-queue.jsonl", from_byte=0, to_byte=9, operations=3, entities=2, relations=1, observations=4,
            left_out=0, state=state, verify_until=AT, rewritten=2 if state == "lost" else 0,
        )  # fmt: skip
    found = look(store)
    assert [(past.state, past.words) for past in found.drains] == [
        ("applying", "being verified"),
        ("failing", "lost, written again 2 times"),
        ("ok", "verified"),
    ]
    assert (found.total, list(found.operations)) == (0, [])


def test_a_queue_of_unreadable_lines_says_so(tmp_path: Path) -> None:
    found = look(imported(tmp_path, b"not json\nnor this\n"))
    assert (found.total, found.unreadable) == (0, 2)


def test_it_asks_as_often_however_long_the_queue_is(tmp_path: Path) -> None:
    asked = []
    for size in (1, 200):
        memory = tmp_path / str(size)
        memory.mkdir()
        lines = [operation("create_entities", "entities", [entity(f"part {number}")], number % 60) for number in range(size)]
        frame = store_frame(make_user(), imported(memory, b"".join(lines), b"{}\n").slug, "backlog", timezone.now())
        with CaptureQueriesContext(connection) as queries:
            drain_preview(frame)
        asked.append(len(queries))
    assert asked == [5, 5]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_graph_that_is_one_object_counts_as_what_exists(tmp_path: Path, indent: int | None) -> None:
    memory = tmp_path.resolve() / "shop" / ".claude" / "memory"
    memory.mkdir(parents=True)
    graph = {"entities": [entity("redis", "fast")], "relations": []}
    found = look(imported(memory, QUEUE, json.dumps(graph, indent=indent).encode()))
    assert list(found.existing) == ["redis"]
