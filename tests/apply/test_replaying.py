"""A graph rebuilt from the decisions is the one that their queue makes (docs/formats.md)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.db import OperationalError

from stores.apply.draining import drain
from stores.apply.replaying import look, replay_into_file, replay_into_graph
from stores.apply.steps import Unfinished
from stores.errors import BadRequest, CannotWrite, Conflict
from stores.models import AuditEvent, Store
from tests.apply.faulty import Killed, fault_points, no_audit
from tests.apply.places import ACTOR, GRAPH, graph_of, left_in_store, make_store, open_journal
from tests.mirror.images import register

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["academic-helper", "shop-api"])
def test_the_replay_of_a_real_store_is_the_drain_of_its_queue(tmp_path: Path, shared: Path, name: str) -> None:
    memory = tmp_path.resolve() / name / ".claude" / "memory"
    shutil.copytree(shared / "samples" / "orchestkit" / name / ".claude" / "memory", memory)
    for path in [memory, *memory.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    (memory / "memory.json").unlink(missing_ok=True)
    store = register(memory)
    out = tmp_path / "replayed.json"
    replay_into_file(store, str(out), ACTOR)
    drain(store, ACTOR)
    entities, relations = graph_of(out)
    drained_entities, drained_relations = graph_of(memory / "memory.json")
    assert entities == drained_entities
    assert relations == drained_relations
    assert len(entities) > 5


def test_a_replay_adds_to_the_graph_and_takes_nothing_out(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    would = look(store)
    assert (memory / "memory.json").read_bytes() == GRAPH
    done = replay_into_graph(store, ACTOR)
    entities, _ = graph_of(memory / "memory.json")
    assert entities["kept"] == ["stands"]
    assert set(entities) == {"kept", "redis", "decision-mx3a2c3b-0000", "decision-mx3a2c3b-0001"}
    assert done.merge == would.merge
    again = replay_into_graph(store, ACTOR)
    assert (again.change, AuditEvent.objects.filter(event="decisions_replayed").count()) == ("", 1)


def test_a_file_that_exists_or_lies_in_the_store_is_not_written(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    out = tmp_path / "out.json"
    out.write_bytes(b"mine")
    with pytest.raises(Conflict):
        replay_into_file(store, str(out), ACTOR)
    with pytest.raises(BadRequest):
        replay_into_file(store, str(memory / "out.json"), ACTOR)
    assert out.read_bytes() == b"mine"
    assert not (memory / "out.json").exists()


REPLAYED = {"redis", "decision-mx3a2c3b-0000", "decision-mx3a2c3b-0001"}
"""What the two decisions of the store ask for."""


def check_replayed(store: Store, graph: bytes | None, replays: int) -> None:
    """Hold the store against what must be there after a replay, and the audit against how many changed the graph."""
    memory = Path(store.path)
    assert set(graph_of(memory / "memory.json")[0]) == REPLAYED | ({"kept"} if graph else set())
    assert (left_in_store(memory), open_journal()) == ([], [])
    assert AuditEvent.objects.filter(event="decisions_replayed", object_label=store.slug).count() == replays


@pytest.mark.parametrize("graph", [GRAPH, None], ids=["a graph", "no graph"])
@pytest.mark.parametrize(("mode", "least"), [("kill", 20), ("torn", 3)])
def test_a_replay_that_dies_at_any_step_stands_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, least: int, graph: bytes | None
) -> None:
    died = 0
    for number, enter in enumerate(fault_points(monkeypatch, mode)):
        store, _ = make_store(tmp_path, graph=graph, name=f"p{number}")
        with enter():
            try:
                replay_into_graph(store, ACTOR)
            except Killed:
                died += 1
        told = AuditEvent.objects.filter(object_label=store.slug).exists()
        again = replay_into_graph(store, ACTOR)
        # What the audit tells is not taken back, so there is nothing left to do.
        assert not (told and again.change)
        check_replayed(store, graph, 1)
    assert died >= least


@pytest.mark.parametrize("graph", [GRAPH, None], ids=["a graph", "no graph"])
@pytest.mark.parametrize(("mode", "least"), [("EIO", 5), ("full", 2)])
def test_a_disk_that_fails_leaves_a_replay_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, least: int, graph: bytes | None
) -> None:
    failed = 0
    for number, enter in enumerate(fault_points(monkeypatch, mode, step=2)):
        store, memory = make_store(tmp_path, graph=graph, name=f"p{number}")
        with enter():
            try:
                replay_into_graph(store, ACTOR)
            except Unfinished:
                assert set(graph_of(memory / "memory.json")[0]) >= REPLAYED
            except CannotWrite:
                failed += 1
                assert (memory / "memory.json").exists() is (graph is not None)
                assert graph is None or (memory / "memory.json").read_bytes() == graph
                assert AuditEvent.objects.filter(object_label=store.slug).count() == 0
        replay_into_graph(store, ACTOR)
        check_replayed(store, graph, 1)
    assert failed >= least


@pytest.mark.parametrize("graph", [GRAPH, None], ids=["a graph", "no graph"])
@pytest.mark.parametrize("cause", [Killed(), OperationalError("database is locked")], ids=["killed", "locked"])
def test_a_replay_whose_record_could_not_be_written_stands(tmp_path: Path, graph: bytes | None, cause: Killed | OperationalError) -> None:
    store, memory = make_store(tmp_path, graph=graph)
    with no_audit(cause), pytest.raises((Killed, Unfinished)):
        replay_into_graph(store, ACTOR)
    written = (memory / "memory.json").read_bytes()
    inode = (memory / "memory.json").stat().st_ino
    assert replay_into_graph(store, ACTOR).change == ""
    assert ((memory / "memory.json").read_bytes(), (memory / "memory.json").stat().st_ino) == (written, inode)
    check_replayed(store, graph, 1)
