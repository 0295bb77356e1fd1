"""Agents that append while queues are drained, also with the queue kept open, lose no operation (ruling 4)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from stores.apply import carrying
from stores.apply.draining import drain, look
from stores.files import StoreRoot
from stores.models import AuditEvent, Drain
from tests.apply.faulty import Killed, fault_points
from tests.apply.places import ACTOR, QUEUE, entities_line, graph_of, left_in_store, make_store, open_journal, queued_lines

pytestmark = pytest.mark.django_db

APPENDER = """
import json, os, sys
path, mode = sys.argv[1:]
held, number = None, 0
for _ in iter(lambda: os.read(0, 1), b""):
    # As many lines as one drain sees: they come before it, during it or after it.
    for _ in range(4):
        entity = {"name": f"of the agent {number % 9}", "entityType": "Tool", "observations": [f"number {number}"]}
        operation = {"type": "create_entities", "payload": {"entities": [entity]}, "timestamp": "2026-03-01T10:00:00.000Z"}
        if held is None:
            held = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(held, (json.dumps(operation) + "\\n").encode())
        number += 1
        if mode == "opens" or number % 10 == 0:
            os.close(held)
            held = None
        os.sched_yield()
print(number)
"""
"""Opens the queue for each line, or keeps what it opened for ten lines, wherever that file is by then."""


@pytest.mark.parametrize(("mode", "drains"), [("opens", 40), ("keeps", 200)])
def test_an_agent_that_appends_during_many_drains_loses_nothing(tmp_path: Path, mode: str, drains: int) -> None:
    store, memory = make_store(tmp_path)
    command = [sys.executable, "-c", APPENDER, str(memory / "graph-queue.jsonl"), mode]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as agent:
        assert agent.stdin is not None and agent.stdout is not None
        for _ in range(drains):
            agent.stdin.write(b".")
            drain(store, ACTOR)
        agent.stdin.close()
        appended = int(agent.stdout.read())
    while drain(store, ACTOR):
        pass
    entities, relations = graph_of(memory / "memory.json")
    said = [text for name, texts in entities.items() if name.startswith("of the agent") for text in texts]
    assert sorted(said) == sorted(f"number {number}" for number in range(appended))
    assert appended == 4 * drains
    assert relations == Counter({("redis", "a decision", "CHOSE"): 1})
    lines = queued_lines(memory)
    assert (sum(lines.values()), max(lines.values())) == (3 + appended, 1)


def test_lines_that_come_late_are_drained_with_the_next_drain(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    agent = os.open(memory / "graph-queue.jsonl", os.O_WRONLY | os.O_APPEND)
    try:
        drain(store, ACTOR)
        os.write(agent, entities_line("late", "one"))
        (done,) = drain(store, ACTOR)
        os.write(agent, entities_line("later", "two"))
    finally:
        os.close(agent)
    (archived,) = (memory / "archive").iterdir()
    assert [(source.archive_path, source.is_queue) for source in done.sources] == [(f"archive/{archived.name}", False)]
    drain(store, ACTOR)
    assert {"late", "later"} <= set(graph_of(memory / "memory.json")[0])
    taken = Drain.objects.order_by("pk").values_list("from_byte", "to_byte")
    sizes = [len(QUEUE), len(entities_line("late", "one")), len(entities_line("later", "two"))]
    assert list(taken) == [(0, sizes[0]), (sizes[0], sum(sizes[:2])), (sum(sizes[:2]), sum(sizes))]
    assert drain(store, ACTOR) == []


def test_a_queue_that_somebody_put_in_the_place_of_the_one_that_was_read_is_drained_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, memory = make_store(tmp_path)
    real_move = StoreRoot.move

    def move(root: StoreRoot, path: str, to: str) -> None:
        monkeypatch.undo()
        (memory / "graph-queue.jsonl").unlink()
        (memory / "graph-queue.jsonl").write_bytes(entities_line("other", "one"))
        real_move(root, path, to)

    monkeypatch.setattr(StoreRoot, "move", move)
    drain(store, ACTOR)
    assert {"redis", "other"} <= set(graph_of(memory / "memory.json")[0])


def test_an_archived_queue_is_watched_while_somebody_may_write_to_it(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    now = datetime.now(UTC)

    def settled(seconds: int) -> bool:
        with StoreRoot(memory) as root:
            carrying.settle(store, root, now + timedelta(seconds=seconds))
        return Drain.objects.get().settled_at is not None

    with (memory / "graph-queue.jsonl").open("ab"):
        drain(store, ACTOR)
        assert not settled(60)
        assert not settled(100_000)
    assert not settled(5)
    assert settled(60)


def test_a_late_line_keeps_the_archived_queue_watched(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    with (memory / "graph-queue.jsonl").open("ab") as agent:
        drain(store, ACTOR)
        agent.write(entities_line("late", "one"))
    with StoreRoot(memory) as root:
        carrying.settle(store, root, datetime.now(UTC) + timedelta(hours=1))
    assert Drain.objects.get().settled_at is None


@pytest.mark.parametrize("late", [entities_line("late", "one"), entities_line("redis", "first")], ids=["new", "known"])
def test_a_drain_of_late_lines_alone_that_dies_at_any_step_takes_them_once(
    tmp_path: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch, late: bytes
) -> None:
    died = 0
    for number, enter in enumerate(fault_points(monkeypatch, "kill")):
        store, memory = make_store(tmp_path, name=f"p{number}")
        with (memory / "graph-queue.jsonl").open("ab") as agent:
            drain(store, ACTOR)
            agent.write(late)
        with enter():
            try:
                drain(store, ACTOR)
            except Killed:
                died += 1
        drain(store, ACTOR)
        assert {"kept", "redis", "a decision"} <= set(graph_of(memory / "memory.json")[0])
        assert ("late" in graph_of(memory / "memory.json")[0]) is (b"late" in late)
        pieces = [(0, len(QUEUE)), (len(QUEUE), len(QUEUE + late))]
        assert list(Drain.objects.filter(store=store).order_by("pk").values_list("from_byte", "to_byte")) == pieces
        assert AuditEvent.objects.filter(object_label=store.slug, event="queue_drained").count() == 2
        assert (left_in_store(memory), open_journal()) == ([], [])
        done = data_folder / "journal" / str(store.uid) / "done"
        for journal_id in Drain.objects.filter(store=store).values_list("journal_id", flat=True):
            assert json.loads((done / journal_id / "receipt.json").read_text())["outcome"] == "applied"
    assert died >= 10


def test_a_look_at_what_a_drain_would_do_writes_nothing(tmp_path: Path) -> None:
    store, _ = make_store(tmp_path)
    drain(store, ACTOR)
    # Long enough ago that the archived queue need not be watched any more.
    Drain.objects.update(at=datetime.now(UTC) - timedelta(days=2))
    assert look(store).sources == ()
    assert Drain.objects.get().settled_at is None
    drain(store, ACTOR)
    assert Drain.objects.get().settled_at is not None


def test_an_archived_queue_that_cannot_be_read_holds_up_no_drain_and_stays_watched(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    with (memory / "graph-queue.jsonl").open("ab") as agent:
        drain(store, ACTOR)
        agent.write(entities_line("late", "one"))
    archived = memory / Drain.objects.get().archive_path
    archived.rename(tmp_path / "away")
    archived.mkdir()
    (memory / "graph-queue.jsonl").write_bytes(entities_line("new"))
    drain(store, ACTOR)
    assert "new" in graph_of(memory / "memory.json")[0]
    archived.rmdir()
    (tmp_path / "away").rename(archived)
    drain(store, ACTOR)
    assert {"new", "late"} <= set(graph_of(memory / "memory.json")[0])
