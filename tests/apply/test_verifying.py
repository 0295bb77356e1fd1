"""For ten minutes a drain is looked after: what vanishes from the graph is written again, the third time it is a fault."""

from __future__ import annotations

import os
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from stores.apply.draining import drain
from stores.apply.graph_location import UnknownGraph
from stores.apply.verifying import look_after
from stores.errors import Conflict
from stores.files import LOCK_WAIT_S, StoreRoot
from stores.mirror.importing import import_store
from stores.models import AuditEvent, Drain, Fault, SourceFile
from tests.apply.faulty import Killed, faulty
from tests.apply.places import ACTOR, GRAPH, entities_line, graph_of, left_in_store, line, make_store, open_journal

pytestmark = pytest.mark.django_db


def overwrite(memory: Path, graph: bytes = GRAPH) -> None:
    """Do what a memory server does that still holds an older graph."""
    (memory / "memory.json.tmp").write_bytes(graph)
    (memory / "memory.json.tmp").replace(memory / "memory.json")


def test_a_drain_that_lasts_ten_minutes_is_kept(tmp_path: Path) -> None:
    store, _ = make_store(tmp_path)
    drain(store, ACTOR)
    row = Drain.objects.get()
    look_after(store, ACTOR, row.at + timedelta(minutes=9))
    assert Drain.objects.get().state == "verifying"
    look_after(store, ACTOR, row.at + timedelta(minutes=11))
    row.refresh_from_db()
    assert (row.state, row.rewritten, row.settled_at is not None, row.displaced) == ("kept", 0, True, "")


def test_vanished_entities_are_written_again_twice_and_then_are_a_fault(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    drain(store, ACTOR)
    import_store(store)
    for times in (1, 2):
        overwrite(memory)
        look_after(store, ACTOR)
        assert set(graph_of(memory / "memory.json")[0]) == {"kept", "redis", "a decision"}
        assert (Drain.objects.get().state, Drain.objects.get().rewritten) == ("verifying", times)
        assert Fault.objects.filter(code="drain_lost").count() == 0
    overwrite(memory)
    look_after(store, ACTOR)
    assert Drain.objects.get().state == "lost"
    fault = Fault.objects.get(code="drain_lost")
    assert (fault.severity, fault.path, fault.store) == (
        "error",
        "memory.json" if SourceFile.objects.filter(path="memory.json").exists() else "graph-queue.jsonl",
        store,
    )
    assert AuditEvent.objects.filter(event="drain_repeated").count() == 2
    assert (left_in_store(memory), open_journal()) == ([], [])
    look_after(store, ACTOR)
    import_store(store, full=True)
    assert Fault.objects.filter(code="drain_lost").count() == 1


def test_a_lost_drain_that_is_there_again_is_no_fault_any_more(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    drain(store, ACTOR)
    whole = (memory / "memory.json").read_bytes()
    import_store(store)
    for _ in range(3):
        overwrite(memory)
        look_after(store, ACTOR)
    assert Fault.objects.filter(code="drain_lost").exists()
    (memory / "memory.json").write_bytes(whole)
    look_after(store, ACTOR)
    assert not Fault.objects.filter(code="drain_lost").exists()


def test_a_graph_that_did_not_move_is_not_read_again(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    drain(store, ACTOR)
    look_after(store, ACTOR)
    stamp = Drain.objects.get().graph_stamp
    (memory / "archive").rename(tmp_path / "away")
    look_after(store, ACTOR)
    assert (Drain.objects.get().graph_stamp, Drain.objects.get().state) == (stamp, "verifying")


def test_a_graph_that_cannot_be_read_is_no_lost_one(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    drain(store, ACTOR)
    (memory / "memory.json").rename(tmp_path / "away")
    (memory / "memory.json").mkdir()
    look_after(store, ACTOR)
    assert (Drain.objects.get().rewritten, Drain.objects.get().state) == (0, "verifying")


def test_a_displaced_graph_that_somebody_still_writes_to_is_told(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    import_store(store)
    server = os.open(memory / "memory.json", os.O_WRONLY | os.O_APPEND)
    try:
        drain(store, ACTOR)
        look_after(store, ACTOR, datetime.now(UTC) + timedelta(minutes=1))
        assert Drain.objects.get().displaced != ""
        os.write(server, b'{"type":"entity","name":"late","entityType":"Tool","observations":[]}\n')
    finally:
        os.close(server)
    look_after(store, ACTOR, datetime.now(UTC) + timedelta(minutes=1))
    fault = Fault.objects.get(code="conflict_after_apply")
    assert "late" in Path(fault.message.rpartition(" in ")[2]).read_text()
    assert Drain.objects.get().displaced == ""


def test_nothing_is_asked_of_the_disk_without_a_drain(tmp_path: Path, django_assert_num_queries: object) -> None:
    store, memory = make_store(tmp_path)
    (memory.parents[1]).rename(tmp_path / "away")
    with django_assert_num_queries(1):  # type: ignore[operator]
        look_after(store, ACTOR)


def test_a_drain_whose_graph_nobody_could_see_is_not_called_kept(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    drain(store, ACTOR)
    whole = (memory / "memory.json").read_bytes()
    after = Drain.objects.get().verify_until + timedelta(minutes=1)
    (memory / "memory.json").unlink()
    (memory / "memory.json").mkdir()
    look_after(store, ACTOR, after)
    assert Drain.objects.get().state == "lost"
    assert "cannot be read" in Fault.objects.get(code="drain_lost").message
    (memory / "memory.json").rmdir()
    (memory / "memory.json").write_bytes(whole)
    look_after(store, ACTOR, after)
    assert (Drain.objects.get().state, Fault.objects.filter(code="drain_lost").exists()) == ("kept", False)


@pytest.mark.parametrize("state", ["verifying", "lost"])
def test_without_its_archived_queue_no_drain_is_found_whole(tmp_path: Path, state: str) -> None:
    store, memory = make_store(tmp_path)
    drain(store, ACTOR)
    row = Drain.objects.get()
    for _ in range(3 if state == "lost" else 0):
        overwrite(memory)
        look_after(store, ACTOR)
    assert Drain.objects.get().state == state
    (memory / row.archive_path).rename(tmp_path / "away")
    overwrite(memory, GRAPH + b"\n")
    look_after(store, ACTOR, row.verify_until + timedelta(minutes=1))
    assert Drain.objects.get().state == "lost"
    assert Fault.objects.filter(code="drain_lost").count() == 1


def test_entities_that_vanish_from_a_store_that_was_never_imported_are_told_too(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    drain(store, ACTOR)
    for _ in range(3):
        overwrite(memory)
        look_after(store, ACTOR)
    assert Fault.objects.get(code="drain_lost").path == "graph-queue.jsonl"


def test_a_graph_that_became_something_else_ends_in_a_fault_and_keeps_no_other_drain_from_being_looked_at(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    drain(store, ACTOR)
    other = tmp_path / "other"
    other.mkdir()
    (memory / "graph-queue.jsonl").write_bytes(entities_line("elsewhere"))
    drain(store, ACTOR, graph=str(other / "graph.json"))
    first, second = Drain.objects.order_by("pk")
    (memory / "memory.json").write_bytes(b'{"name": "a package"}')
    with pytest.raises(UnknownGraph):
        look_after(store, ACTOR, first.verify_until - timedelta(minutes=1))
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, second.state, bool(second.graph_stamp)) == ("verifying", "verifying", True)
    with pytest.raises(UnknownGraph):
        look_after(store, ACTOR, second.verify_until)
    assert list(Drain.objects.order_by("pk").values_list("state", flat=True)) == ["lost", "kept"]
    assert "cannot be written again" in Fault.objects.get(code="drain_lost").message
    # It is not tried for ever.
    look_after(store, ACTOR, second.verify_until)


def test_a_store_that_somebody_holds_is_not_waited_for(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    drain(store, ACTOR)
    overwrite(memory)
    begun = time.monotonic()
    with StoreRoot(store.path) as root, root.locked(0), pytest.raises(Conflict):
        look_after(store, ACTOR)
    assert time.monotonic() - begun < LOCK_WAIT_S
    assert (Drain.objects.get().state, Drain.objects.get().rewritten) == ("verifying", 0)


def test_a_change_that_was_interrupted_is_settled_by_the_next_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, memory = make_store(tmp_path)
    with pytest.raises(Killed), faulty(monkeypatch, "kill", 12):
        drain(store, ACTOR)
    assert open_journal() != []
    look_after(store, ACTOR)
    assert (left_in_store(memory), open_journal()) == ([], [])


def bytes_read() -> int:
    """Give how many bytes this process has read so far, as the kernel counts."""
    return int(re.findall(r"rchar: (\d+)", Path("/proc/self/io").read_text())[0])


def test_a_graph_that_nobody_wrote_is_read_once(tmp_path: Path) -> None:
    size = 4_000_000
    big = line({"type": "entity", "name": "big", "entityType": "Tool", "observations": ["x" * size]})
    store, _ = make_store(tmp_path, graph=GRAPH + big)
    drain(store, ACTOR)
    quiet = datetime.now(UTC) + timedelta(minutes=1)
    before = bytes_read()
    look_after(store, ACTOR, quiet)
    once = bytes_read()
    look_after(store, ACTOR, quiet)
    look_after(store, ACTOR, quiet)
    assert once - before >= size
    assert bytes_read() - once < size
