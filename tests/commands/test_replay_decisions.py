"""replay_decisions: the graph of the decisions, into a file or into the graph."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.models import LifecycleAction, ReviewPolicy, Store
from stores.review import renewing
from tests.apply.actions import approved, now, switch
from tests.apply.places import GRAPH, graph_of
from tests.commands.conftest import Manage
from tests.memory_folders import decision, make_project

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


def ready(manage: Manage, tmp_path: Path) -> Path:
    """Make and import a project; applying is on."""
    memory = make_project(tmp_path)
    manage("add_store", memory)
    manage("import_stores", "shop-api")
    switch()
    return memory


def test_a_replay_can_be_proposed_and_the_approved_graph_is_written_though_decisions_came_in(manage: Manage, tmp_path: Path) -> None:
    memory = ready(manage, tmp_path)
    proposed = manage("replay_decisions", "shop-api", "--submit", "--json")
    assert (proposed.code, proposed.document["state"], (memory / "memory.json").exists()) == (3, "pending", False)
    again = manage("replay_decisions", "shop-api", "--submit")
    assert (again.code, again.out.split()) == (3, [f"#{proposed.document['action']}", proposed.document["action_id"]])
    row = approved(LifecycleAction.objects.get())
    with (memory / "decisions.jsonl").open("ab") as log:
        log.write(decision("use another index", 7))
    assert manage("apply_actions", "shop-api", "--action", str(row.pk)).code == 0
    entities, relations = graph_of(memory / "memory.json")
    assert set(entities) == WANTED
    assert set(relations) == {(name, "redis", "CHOSE") for name in WANTED - {"redis"}}
    # What came in later is in the next one, in which nothing else is new.
    manage("import_stores", "shop-api")
    assert manage("replay_decisions", "shop-api", "--json").document["added"]["entities"] == 1


def test_a_graph_that_changed_after_the_approval_is_not_written_over(manage: Manage, tmp_path: Path) -> None:
    memory = ready(manage, tmp_path)
    (memory / "memory.json").write_bytes(GRAPH)
    manage("replay_decisions", "shop-api", "--submit")
    row = approved(LifecycleAction.objects.get())
    agents = GRAPH + b'{"type":"entity","name":"new","entityType":"Tool","observations":["by an agent"]}\n'
    (memory / "memory.json").write_bytes(agents)
    manage("apply_actions", "shop-api")
    row.refresh_from_db()
    assert (row.state, (memory / "memory.json").read_bytes()) == ("stale", agents)


def test_a_replay_can_be_taken_back(manage: Manage, tmp_path: Path) -> None:
    memory = ready(manage, tmp_path)
    (memory / "memory.json").write_bytes(GRAPH)
    manage("replay_decisions", "shop-api", "--submit")
    row = approved(LifecycleAction.objects.get())
    assert manage("apply_actions", "shop-api").code == 0
    undone = approved(renewing.undo(switch(), row.pk, "not wanted", now(), through="page"))
    assert manage("apply_actions", "shop-api").code == 0
    undone.refresh_from_db()
    assert (undone.state, (memory / "memory.json").read_bytes()) == ("applied", GRAPH)


@pytest.mark.parametrize("more", [("--out", "graph.json"), ("--dry-run",), ("--graph", "graph.json")])
def test_what_does_not_go_with_a_proposal_is_refused(manage: Manage, tmp_path: Path, more: tuple[str, ...]) -> None:
    memory = ready(manage, tmp_path)
    refused = manage("replay_decisions", "shop-api", "--submit", *more)
    assert (refused.code, "--submit" in refused.err, LifecycleAction.objects.count()) == (2, True, 0)
    assert not (memory / "memory.json").exists()


def test_a_graph_outside_the_store_is_written_by_no_action(manage: Manage, tmp_path: Path) -> None:
    memory = ready(manage, tmp_path)
    project = memory.parent.parent
    configured = {"mcpServers": {"memory": {"command": "server-memory", "env": {"MEMORY_FILE_PATH": str(project / "graph.json")}}}}
    (project / ".mcp.json").write_text(json.dumps(configured))
    for command in ("replay_decisions", "drain_queue"):
        refused = manage(command, "shop-api", "--submit")
        assert (refused.code, "outside" in refused.err) == (2, True), refused
    assert LifecycleAction.objects.count() == 0


def test_an_approved_replay_does_not_go_into_a_graph_that_the_agents_left(manage: Manage, tmp_path: Path) -> None:
    memory = ready(manage, tmp_path)
    manage("replay_decisions", "shop-api", "--submit")
    row = approved(LifecycleAction.objects.get())
    project = memory.parent.parent
    configured = {"mcpServers": {"memory": {"command": "server-memory", "env": {"MEMORY_FILE_PATH": str(project / "graph.json")}}}}
    (project / ".mcp.json").write_text(json.dumps(configured))
    manage("apply_actions", "shop-api")
    row.refresh_from_db()
    assert (row.state, "graph.json" in row.message, (memory / "memory.json").exists()) == ("failed", True, False)


def test_where_commands_may_not_write_the_flag_that_works_is_named(manage: Manage, tmp_path: Path) -> None:
    memory = ready(manage, tmp_path)
    ReviewPolicy.objects.create(store=Store.objects.get(), submit_only=True)
    refused = manage("replay_decisions", "shop-api")
    assert (refused.code, "--submit" in refused.err, (memory / "memory.json").exists()) == (2, True, False)
    assert manage("replay_decisions", "shop-api", "--submit").code == 3
