"""A drain writes all of the queue into the graph, checks it, and only then archives the queue; whatever goes wrong, nothing is lost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from stores.apply.draining import NothingUsable, drain, look
from stores.apply.graph_location import UnknownGraph
from stores.apply.replaying import replay_into_graph
from stores.apply.steps import Unfinished
from stores.errors import CannotWrite, Conflict, OutsideRoots, StoreUnreadable
from stores.files import StoreRoot
from stores.models import AuditEvent, Drain
from tests.apply.faulty import Killed, before_call, fault_points, no_audit
from tests.apply.places import (
    ACTOR,
    GRAPH,
    QUEUE,
    entities_line,
    graph_of,
    left_in_store,
    make_store,
    open_journal,
    queued_lines,
)

pytestmark = pytest.mark.django_db

ENTITIES = {"kept": ["stands"], "redis": ["first", "second"], "a decision": []}
RELATIONS = Counter({("redis", "a decision", "CHOSE"): 1})


def as_object(data: bytes, indent: int | None) -> bytes:
    """Give the lines of a graph as one object."""
    lines = [json.loads(line) for line in data.split(b"\n") if line]
    entities, relations = ([one for one in lines if one["type"] == kind] for kind in ("entity", "relation"))
    return json.dumps({"entities": entities, "relations": relations}, indent=indent).encode()


def with_times(data: bytes) -> bytes:
    """Give a graph whose observations are objects."""
    lines = [json.loads(line) for line in data.split(b"\n") if line]
    for one in lines:
        if one["type"] == "entity":
            one["observations"] = [{"text": text, "timestamp": "2026-03-01T10:00:00Z"} for text in one["observations"]]
    return b"".join(json.dumps(one).encode() + b"\n" for one in lines)


SPOILED: dict[str, Callable[[bytes], bytes]] = {
    "one line": lambda data: as_object(data, None),
    "spread": lambda data: as_object(data, 2),
    "timed": with_times,
    "bom": lambda data: b"\xef\xbb\xbf" + data,
}


def check_drained(memory: Path, queue: bytes = QUEUE) -> None:
    """Hold the store against what must be there after a drain, whatever happened before it."""
    assert graph_of(memory / "memory.json") == (ENTITIES, RELATIONS)
    assert queued_lines(memory) == Counter(one for one in queue.split(b"\n") if one)
    assert not (memory / "graph-queue.jsonl").exists()
    assert left_in_store(memory) == []
    assert open_journal() == []


def test_a_drain_writes_the_graph_and_archives_the_queue(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    (done,) = drain(store, ACTOR)
    check_drained(memory)
    (archived,) = (memory / "archive").iterdir()
    assert archived.read_bytes() == QUEUE
    assert archived.name.endswith("Z-graph-queue.jsonl") and ":" not in archived.name
    assert (memory / "memory.json").read_bytes().endswith(b"\n")
    assert (done.operations, done.merge.entities, done.aggregate.account.missing_ends) == (3, ("redis", "a decision"), ("a decision",))
    row = Drain.objects.get()
    assert (row.archive_path, row.from_byte, row.to_byte, row.state) == (f"archive/{archived.name}", 0, len(QUEUE), "verifying")
    event = AuditEvent.objects.get(event="queue_drained")
    assert (event.actor_label, event.detail["operations"], event.detail["change"]) == (ACTOR.label, 3, done.change)


def test_the_receipt_and_the_displaced_graph_are_kept(tmp_path: Path, data_folder: Path) -> None:
    store, _ = make_store(tmp_path)
    (done,) = drain(store, ACTOR)
    kept = data_folder / "journal" / str(store.uid) / "done" / done.change
    receipt = json.loads((kept / "receipt.json").read_text())
    assert [one["as_written"] for one in receipt["files"] if "put" in one] == [True]
    assert (kept / "0.displaced").read_bytes() == GRAPH
    assert sorted(path.name for path in kept.iterdir()) == ["0.displaced", "intent.json", "receipt.json"]


def test_the_journal_is_for_nobody_else(tmp_path: Path, data_folder: Path) -> None:
    store, _ = make_store(tmp_path)
    drain(store, ACTOR)
    journal = data_folder / "journal"
    assert {path.stat().st_mode & 0o777 for path in [journal, *journal.rglob("*")] if path.is_dir()} == {0o700}
    assert all(path.stat().st_mode & 0o077 == 0 for path in journal.rglob("intent.json"))


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    would = look(store)
    assert (would.operations, would.merge.entities, would.change) == (3, ("redis", "a decision"), "")
    assert ((memory / "graph-queue.jsonl").read_bytes(), (memory / "memory.json").read_bytes()) == (QUEUE, GRAPH)
    assert not (memory / "archive").exists()
    assert (Drain.objects.count(), AuditEvent.objects.count(), open_journal()) == (0, 0, [])


def test_draining_twice_does_nothing_the_second_time(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    drain(store, ACTOR)
    graph = (memory / "memory.json").stat()
    assert drain(store, ACTOR) == []
    assert (memory / "memory.json").stat().st_mtime_ns == graph.st_mtime_ns
    assert len(list((memory / "archive").iterdir())) == 1


def test_operations_that_the_graph_holds_already_are_archived_without_writing_it(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    drain(store, ACTOR)
    graph = (memory / "memory.json").stat().st_ino
    (memory / "graph-queue.jsonl").write_bytes(QUEUE)
    assert len(drain(store, ACTOR)) == 1
    assert (memory / "memory.json").stat().st_ino == graph
    assert queued_lines(memory) == Counter({one: 2 for one in QUEUE.split(b"\n") if one})


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_a_graph_that_the_server_cannot_show_is_written_anew_though_it_lacks_nothing(
    tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    store, memory = make_store(tmp_path)
    drain(store, ACTOR)
    good = (memory / "memory.json").read_bytes()
    (memory / "memory.json").write_bytes(spoil(good))
    (memory / "graph-queue.jsonl").write_bytes(QUEUE)
    drain(store, ACTOR)
    assert (memory / "memory.json").read_bytes() == good
    replay_into_graph(store, ACTOR)
    good = (memory / "memory.json").read_bytes()
    (memory / "memory.json").write_bytes(spoil(good))
    assert replay_into_graph(store, ACTOR).change
    assert (memory / "memory.json").read_bytes() == good


def test_poison_and_corrupt_lines_stop_nothing_and_stay_in_the_archive(tmp_path: Path) -> None:
    queue = b"null\n" + QUEUE + b'{"type":"create_entities","payload":{"entities":[null]}}\n{"torn":\n'
    store, memory = make_store(tmp_path, queue)
    (done,) = drain(store, ACTOR)
    check_drained(memory, queue)
    assert [one.line for one in done.aggregate.account.poison] == [1, 5]
    assert [one.line for one in done.unreadable] == [6]


def test_a_queue_of_which_nothing_can_be_used_stays(tmp_path: Path) -> None:
    queue = b'{"action":"create_entity","entity":{}}\n{"torn\n'
    store, memory = make_store(tmp_path, queue)
    with pytest.raises(NothingUsable):
        drain(store, ACTOR)
    assert (memory / "graph-queue.jsonl").read_bytes() == queue
    assert open_journal() == []


def test_a_torn_last_line_is_taken_once_it_is_whole(tmp_path: Path) -> None:
    late = entities_line("late", "arrived")
    store, memory = make_store(tmp_path, QUEUE + late[:20])
    with (memory / "graph-queue.jsonl").open("ab") as agent:
        drain(store, ACTOR)
        assert "late" not in graph_of(memory / "memory.json")[0]
        agent.write(late[20:])
    drain(store, ACTOR)
    assert graph_of(memory / "memory.json")[0]["late"] == ["arrived"]
    assert queued_lines(memory) == Counter(one for one in (QUEUE + late).split(b"\n") if one)


def test_a_last_line_without_its_line_break_is_taken(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path, QUEUE[:-1])
    drain(store, ACTOR)
    check_drained(memory)


def test_a_missing_graph_is_made_and_a_broken_one_is_mended(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path, graph=None)
    drain(store, ACTOR)
    assert graph_of(memory / "memory.json")[0] == {name: said for name, said in ENTITIES.items() if name != "kept"}
    other, memory = make_store(tmp_path, graph=b"\xef\xbb\xbf" + GRAPH + b"null\n{torn\n", name="other")
    (done,) = drain(other, ACTOR)
    check_drained(memory)
    assert done.graph_lines_left_out == 2


def test_a_busy_store_is_left_alone(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    with StoreRoot(memory) as other, other.locked(), pytest.raises(Conflict, match="busy"):
        drain(store, ACTOR, wait_s=0.05)
    assert (memory / "graph-queue.jsonl").read_bytes() == QUEUE


def test_a_graph_that_is_a_link_is_not_written(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path, graph=None)
    target = tmp_path / "elsewhere.json"
    target.write_bytes(GRAPH)
    (memory / "memory.json").symlink_to(target)
    with pytest.raises(StoreUnreadable):
        drain(store, ACTOR)
    assert target.read_bytes() == GRAPH
    assert (memory / "graph-queue.jsonl").read_bytes() == QUEUE


def test_a_graph_that_cannot_be_kept_in_its_mode_is_not_written(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    (tmp_path / "second name").hardlink_to(memory / "memory.json")
    with pytest.raises(CannotWrite, match="owner of the store"):
        drain(store, ACTOR)
    assert ((memory / "graph-queue.jsonl").read_bytes(), (memory / "memory.json").read_bytes()) == (QUEUE, GRAPH)
    assert (left_in_store(memory), open_journal()) == ([], [])


def configured(memory: Path, value: str) -> None:
    """Name the graph's file in the project's configuration."""
    server = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"], "env": {"MEMORY_FILE_PATH": value}}
    (memory.parents[1] / ".mcp.json").write_text(json.dumps({"mcpServers": {"memory": server}}))


def test_the_graph_goes_where_the_server_keeps_it(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path, graph=None)
    place = memory.parents[1].resolve() / "graphs" / "graph.jsonl"
    place.parent.mkdir()
    configured(memory, str(place))
    (done,) = drain(store, ACTOR)
    assert done.graph.path == str(place)
    assert set(graph_of(place)[0]) == {"redis", "a decision"}
    assert not (memory / "memory.json").exists()
    row = Drain.objects.get()
    assert (row.graph_folder, row.graph_path) == (str(place.parent), "graph.jsonl")


def test_a_relative_path_is_joined_to_the_package_of_the_server(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path, graph=None)
    configured(memory, "graphs/graph.jsonl")
    with pytest.raises(UnknownGraph, match="relative"):
        drain(store, ACTOR)
    package = memory.parents[1] / "node_modules" / "@modelcontextprotocol" / "server-memory" / "dist" / "graphs"
    package.mkdir(parents=True)
    drain(store, ACTOR)
    assert set(graph_of(package / "graph.jsonl")[0]) == {"redis", "a decision"}


def test_what_a_project_says_leads_to_no_file_outside_of_it(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    outside = tmp_path.resolve() / "graph.jsonl"
    for place in (str(outside), "/etc/graph.jsonl", "/", f"{memory.parents[1]}/../graph.jsonl"):
        configured(memory, place)
        with pytest.raises(UnknownGraph, match="outside the project"):
            drain(store, ACTOR)
    assert (memory / "graph-queue.jsonl").read_bytes() == QUEUE
    # A person may name it.
    drain(store, ACTOR, graph=str(outside))
    assert set(graph_of(outside)[0]) == {"redis", "a decision"}


def test_a_graph_outside_the_allowed_folders_is_not_written(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    with pytest.raises(OutsideRoots):
        drain(store, ACTOR, graph="/etc/graph.jsonl")
    assert (memory / "graph-queue.jsonl").read_bytes() == QUEUE


@pytest.mark.parametrize(
    "content", [b"export PATH=$HOME/bin\n", b'{\n  "name": "shop"\n}\n', b'{"name": "shop"}\n', b"null\n", b"\xff\xfe"]
)
def test_a_file_that_is_no_graph_is_not_displaced(tmp_path: Path, content: bytes) -> None:
    store, memory = make_store(tmp_path, graph=content)
    with pytest.raises(UnknownGraph, match="no line of it belongs to a graph"):
        drain(store, ACTOR)
    assert ((memory / "memory.json").read_bytes(), (memory / "graph-queue.jsonl").read_bytes()) == (content, QUEUE)


def test_a_configuration_learns_nothing_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYUI_SECRET_KEY", "not-for-agents")
    store, memory = make_store(tmp_path)
    configured(memory, "/${MEMORYUI_SECRET_KEY}/graph.jsonl")
    with pytest.raises(UnknownGraph) as refused:
        drain(store, ACTOR)
    assert "not-for-agents" not in str(refused.value)


@pytest.mark.parametrize(("mode", "least"), [("kill", 25), ("torn", 4)])
def test_dying_at_any_step_loses_and_doubles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, least: int) -> None:
    died = 0
    for number, enter in enumerate(fault_points(monkeypatch, mode)):
        store, memory = make_store(tmp_path, name=f"p{number}")
        with enter() as layer:
            try:
                drain(store, ACTOR)
            except Killed:
                died += 1
        assert layer.hit == layer.dead
        drain(store, ACTOR)
        check_drained(memory)
        assert AuditEvent.objects.filter(store_uid=store.uid, event="queue_drained").count() == 1
        assert Drain.objects.filter(store=store).count() == 1
    assert died >= least


def test_dying_while_the_record_is_written_loses_nothing(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    with no_audit(Killed()), pytest.raises(Killed):
        drain(store, ACTOR)
    assert Drain.objects.count() == 0
    assert drain(store, ACTOR) == []
    check_drained(memory)
    assert (Drain.objects.count(), AuditEvent.objects.filter(event="queue_drained").count()) == (1, 1)


@pytest.mark.parametrize(("mode", "least"), [("EIO", 10), ("short", 0), ("full", 4)])
def test_a_disk_that_fails_at_any_step_leaves_all_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, least: int
) -> None:
    failed = struck = 0
    for number, enter in enumerate(fault_points(monkeypatch, mode)):
        store, memory = make_store(tmp_path, name=f"p{number}")
        with enter() as layer:
            try:
                drain(store, ACTOR)
            except Unfinished:
                assert not (memory / "graph-queue.jsonl").exists()
            except CannotWrite:
                failed += 1
                assert ((memory / "graph-queue.jsonl").read_bytes(), (memory / "memory.json").read_bytes()) == (QUEUE, GRAPH)
                assert (left_in_store(memory), open_journal()) == ([], [])
        struck += layer.hit
        drain(store, ACTOR)
        check_drained(memory)
    # Where there is room for half of a write, the rest is written by the next one: that is no failure.
    assert failed == 0 if mode == "short" else failed >= least
    # The intent, two files beside it, the graph and the receipt are written in any case.
    assert struck >= 5


def test_an_agent_that_replaces_the_graph_meanwhile_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = GRAPH + b'{"type":"entity","name":"theirs","entityType":"Tool","observations":[]}\n'
    conflicts = 0
    for at in range(1, 200):
        store, memory = make_store(tmp_path, name=f"p{at}")

        def replace(memory: Path = memory) -> None:
            (memory / "new").write_bytes(theirs)
            (memory / "new").replace(memory / "memory.json")

        with before_call(monkeypatch, at, replace) as layer:
            try:
                drain(store, ACTOR)
            except (Conflict, CannotWrite):
                conflicts += 1
                assert (memory / "memory.json").read_bytes() == theirs
                assert (memory / "graph-queue.jsonl").read_bytes() == QUEUE
        if layer.calls < at:
            break
        assert (left_in_store(memory), open_journal()) == ([], [])
        # A server that still held the old graph may come last: what it wrote stands, and the queue is in the archive.
        assert "theirs" in graph_of(memory / "memory.json")[0]
        assert queued_lines(memory) == Counter(one for one in QUEUE.split(b"\n") if one)
    else:
        pytest.fail("a drain has fewer steps than that")
    assert conflicts > 5
