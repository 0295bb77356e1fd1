"""What we write, the real memory server loads whole, and goes on writing to."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from pathlib import Path

import pytest

from stores.apply.draining import drain
from stores.apply.replaying import replay_into_file, replay_into_graph
from stores.apply.verifying import look_after
from stores.mirror.importing import import_store
from stores.models import Drain, Fault
from tests.apply.memory_server import MemoryServer, Refused, why_not
from tests.apply.places import ACTOR, GRAPH, QUEUE, entities_line, graph_of, make_store, relation_line
from tests.mirror.images import register

pytestmark = [pytest.mark.django_db, pytest.mark.skipif(bool(why_not()), reason=why_not() or "the server runs here")]

HOSTILE = (
    entities_line("line\u2028separator\u0085", "tab\there", 'quote " and \\ and </script>')
    + entities_line("__proto__", "emoji \U0001f600", "\u05e9\u05dc\u05d5\u05dd")
    + b'{"type":"create_entities","payload":{"entities":[{"name":"half","entityType":"Tool","observations":["cut \\ud83d"]}]}}\n'
    + b'{"type":"add_observations","payload":{"observations":[{"entityName":"only observed","contents":["nul \\u0000"]}]}}\n'
    + relation_line("no entity", "\u4e2d\u6587")
)


def check_served(graph: Path) -> None:
    """Hold what the server answers against the file, then let it write, and hold its file against what was there."""
    kind = f"TESTED_{time.monotonic_ns()}"
    entities, relations = graph_of(graph)
    with MemoryServer(graph) as server:
        served = server.call("read_graph")
        assert {one["name"]: one["observations"] for one in served["entities"]} == entities
        assert Counter((one["from"], one["to"], one["relationType"]) for one in served["relations"]) == relations
        opened = server.call("open_nodes", names=list(entities))
        assert [one["name"] for one in opened["entities"]] == list(entities)
        first, second = list(entities)[:2]
        made = server.call("create_relations", relations=[{"from": first, "to": second, "relationType": kind}])
        assert len(made if isinstance(made, list) else made["relations"]) == 1
        again = server.call("create_entities", entities=[{"name": first, "entityType": "Tool", "observations": []}])
        assert (again if isinstance(again, list) else again["entities"]) == []
    saved_entities, saved_relations = graph_of(graph)
    assert saved_entities == entities
    assert saved_relations == relations + Counter({(first, second, kind): 1})


def test_a_drained_graph_is_served_whole(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path, QUEUE + HOSTILE)
    drain(store, ACTOR)
    assert {"kept", "redis", "__proto__", "half", "only observed", "no entity", "\u4e2d\u6587"} <= set(graph_of(memory / "memory.json")[0])
    check_served(memory / "memory.json")


def test_a_drain_adds_to_what_the_server_saved(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path, graph=None)
    with MemoryServer(memory / "memory.json") as server:
        server.call("create_entities", entities=[{"name": "redis", "entityType": "Tool", "observations": ["by the server"]}])
    assert not (memory / "memory.json").read_bytes().endswith(b"\n")
    drain(store, ACTOR)
    assert graph_of(memory / "memory.json")[0]["redis"] == ["by the server", "first", "second"]
    check_served(memory / "memory.json")


def test_a_graph_at_which_the_server_stops_is_mended_by_a_drain(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path, graph=GRAPH + b"null\n{torn\n")
    with MemoryServer(memory / "memory.json") as server, pytest.raises(Refused):
        server.call("read_graph")
    drain(store, ACTOR)
    check_served(memory / "memory.json")


@pytest.mark.parametrize("name", ["academic-helper", "shop-api", "plugin-repo"])
def test_graphs_of_real_stores_are_served_whole(tmp_path: Path, shared: Path, name: str) -> None:
    memory = tmp_path.resolve() / name / ".claude" / "memory"
    shutil.copytree(shared / "samples" / "orchestkit" / name / ".claude" / "memory", memory)
    for path in [memory, *memory.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    store = register(memory)
    if (memory / "decisions.jsonl").exists():
        replay_into_file(store, str(tmp_path / "replayed.json"), ACTOR)
        check_served(tmp_path / "replayed.json")
    drain(store, ACTOR)
    check_served(memory / "memory.json")
    replay_into_graph(store, ACTOR)
    check_served(memory / "memory.json")


def test_what_the_server_writes_on_top_makes_no_drain_lost(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    with MemoryServer(memory / "memory.json") as server:
        server.call("read_graph")
        drain(store, ACTOR)
        server.call("create_entities", entities=[{"name": "theirs", "entityType": "Tool", "observations": []}])
    look_after(store, ACTOR)
    assert {"redis", "theirs"} <= set(graph_of(memory / "memory.json")[0])
    assert (Drain.objects.get().state, Drain.objects.get().rewritten) == ("verifying", 0)


@pytest.mark.parametrize(
    ("graph", "tool"),
    [
        (b'{"entities":[{"name":"redis","entityType":"Tool","observations":["fast"]}],"relations":[]}', ""),
        (b'{\n "entities": [{"name": "redis", "entityType": "Tool", "observations": ["fast"]}],\n "relations": []\n}\n', "read_graph"),
        (b'{"type":"entity","name":"redis","entityType":"Tool","observations":[{"text":"fast","timestamp":"2026-03-01"}]}\n', "read_graph"),
        (b'{"type":"entity","name":"redis","observations":["fast"]}\n', "read_graph"),
        (b'{"type":"entity","name":"redis","entityType":"Tool"}\n', "search_nodes"),
    ],
)
def test_what_is_called_lost_to_the_server_is_lost_and_a_drain_brings_it_back(tmp_path: Path, graph: bytes, tool: str) -> None:
    store, memory = make_store(tmp_path, graph=graph)
    import_store(store)
    faults = {code for (code,) in Fault.objects.filter(store=store, path="memory.json", severity="error").values_list("code")}
    assert faults & {"graph_refused", "pretty_json"}
    with MemoryServer(memory / "memory.json") as server:
        if tool:
            with pytest.raises(Refused):
                server.call(tool, **({"query": "fast"} if tool == "search_nodes" else {}))
        else:
            assert server.call("read_graph") == {"entities": [], "relations": []}
    drain(store, ACTOR)
    check_served(memory / "memory.json")
    assert "redis" in graph_of(memory / "memory.json")[0]
