"""replay_decisions: the graph of the decisions, into a file or into the graph."""

from __future__ import annotations

from pathlib import Path

from tests.apply.places import graph_of
from tests.commands.conftest import Manage
from tests.memory_folders import make_project

WANTED = {"redis", "decision-mx3a2c3b-0000", "decision-mx3a2c3b-0001", "decision-mx3a2c3b-0002"}


def test_the_graph_goes_into_a_new_file(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    manage("add_store", memory)
    out = tmp_path / "graph.json"
    done = manage("replay_decisions", "shop-api", "--out", out, "--json")
    assert (done.code, done.document["decisions"], done.document["entities"], done.document["relations"]) == (0, 3, 4, 3)
    entities, relations = graph_of(out)
    assert set(entities) == WANTED
    assert set(relations) == {(name, "redis", "CHOSE") for name in WANTED - {"redis"}}
    assert not (memory / "memory.json").exists()
    assert manage("replay_decisions", "shop-api", "--out", out).code == 2


def test_the_graph_of_the_store_is_brought_up_to_date(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    manage("add_store", memory)
    assert manage("replay_decisions", "shop-api", "--dry-run").code == 0
    assert not (memory / "memory.json").exists()
    # Seven of each decision, and each of the three is mentioned once with redis.
    assert manage("replay_decisions", "shop-api", "--json").document["added"] == {"entities": 4, "relations": 3, "observations": 24}
    assert set(graph_of(memory / "memory.json")[0]) == WANTED
    assert manage("replay_decisions", "shop-api", "--json").document["added"] == {"entities": 0, "relations": 0, "observations": 0}
