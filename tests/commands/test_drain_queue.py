"""drain_queue: what waits is in the graph, the queue in the archive, and its operations are gone from the mirror with the reason."""

from __future__ import annotations

from pathlib import Path

from stores.models import AuditEvent, Drain, LifecycleAction, QueueOperation, ReviewPolicy, Store
from tests.apply.places import GRAPH, QUEUE, graph_of
from tests.commands.conftest import Manage
from tests.memory_folders import make_project


def make_queue(manage: Manage, tmp_path: Path) -> Path:
    memory = make_project(tmp_path)
    (memory / "graph-queue.jsonl").write_bytes(QUEUE)
    (memory / "memory.json").write_bytes(GRAPH)
    manage("add_store", memory)
    manage("import_stores", "shop-api")
    return memory


def test_a_drain_says_what_it_did_and_the_mirror_knows(manage: Manage, tmp_path: Path) -> None:
    memory = make_queue(manage, tmp_path)
    assert QueueOperation.objects.filter(gone_at=None).count() == 3
    done = manage("drain_queue", "shop-api", "--json")
    assert done.code == 0
    (drained,) = done.document["drains"]
    assert drained["graph"] == str(memory.resolve() / "memory.json")
    assert (drained["operations"], drained["entities"], drained["relations"], drained["observations"]) == (3, 2, 1, 2)
    assert (drained["missing_ends"], drained["classic_would_lose"], drained["late_from"]) == (["a decision"], 1, [])
    assert (memory / drained["archive"]).read_bytes() == QUEUE
    assert set(graph_of(memory / "memory.json")[0]) == {"kept", "redis", "a decision"}
    assert QueueOperation.objects.filter(gone_at=None).count() == 0
    assert all("archive" in reason for reason in QueueOperation.objects.values_list("gone_reason", flat=True))
    assert AuditEvent.objects.get(event="queue_drained").actor_label.startswith("os:")
    assert manage("drain_queue", "shop-api", "--json").document["drains"] == []
    assert Drain.objects.count() == 1


def test_a_dry_run_says_it_and_does_not_do_it(manage: Manage, tmp_path: Path) -> None:
    memory = make_queue(manage, tmp_path)
    would = manage("drain_queue", "shop-api", "--dry-run", "--json")
    assert (would.code, would.document["dry_run"], would.document["drains"][0]["entities"]) == (0, True, 2)
    said = manage("drain_queue", "shop-api", "--dry-run")
    assert "would add 2 entities, 1 relation and 2 observations" in said.out
    assert ((memory / "graph-queue.jsonl").read_bytes(), (memory / "memory.json").read_bytes()) == (QUEUE, GRAPH)


def test_another_graph_can_be_named(manage: Manage, tmp_path: Path) -> None:
    memory = make_queue(manage, tmp_path)
    assert manage("drain_queue", "shop-api", "--graph", tmp_path / "graph.jsonl").code == 0
    assert set(graph_of(tmp_path / "graph.jsonl")[0]) == {"redis", "a decision"}
    assert (memory / "memory.json").read_bytes() == GRAPH


def test_what_cannot_be_drained_is_one_line_and_exit_2(manage: Manage, tmp_path: Path) -> None:
    memory = make_queue(manage, tmp_path)
    (memory / "graph-queue.jsonl").write_bytes(b"{torn\n[]\n")
    refused = manage("drain_queue", "shop-api")
    assert (refused.code, refused.out) == (2, "")
    assert "None of the 2 lines" in refused.err
    assert manage("drain_queue", "nowhere").code == 2
    assert manage("drain_queue", "shop-api", "--graph", "/etc/graph").code == 2


def test_the_worker_looks_after_a_drain(manage: Manage, tmp_path: Path) -> None:
    memory = make_queue(manage, tmp_path)
    manage("drain_queue", "shop-api")
    (memory / "memory.json").write_bytes(GRAPH)
    assert manage("watch_stores", "--once").code == 0
    assert set(graph_of(memory / "memory.json")[0]) == {"kept", "redis", "a decision"}
    repeated = AuditEvent.objects.get(event="drain_repeated")
    assert (repeated.through, repeated.actor_label.startswith("worker ")) == ("worker", True)


def test_a_drain_can_be_proposed_instead_and_then_nothing_is_written(manage: Manage, tmp_path: Path) -> None:
    memory = make_queue(manage, tmp_path)
    before = {path.name: path.read_bytes() for path in memory.iterdir() if path.is_file()}
    proposed = manage("drain_queue", "shop-api", "--submit", "--json")
    assert (proposed.code, proposed.document["state"]) == (3, "pending")
    again = manage("drain_queue", "shop-api", "--submit", "--json")
    assert again.document["action"] == proposed.document["action"]
    assert {path.name: path.read_bytes() for path in memory.iterdir() if path.is_file()} == before
    assert LifecycleAction.objects.get().verb == "drain_queue"


def test_a_policy_can_keep_commands_from_writing(manage: Manage, tmp_path: Path) -> None:
    memory = make_queue(manage, tmp_path)
    ReviewPolicy.objects.create(store=Store.objects.get(slug="shop-api"), submit_only=True)
    before = {path.name: path.read_bytes() for path in memory.iterdir() if path.is_file()}
    for command in (("drain_queue", "shop-api"), ("remember", "shop-api", "--what", "Pages by cursor")):
        refused = manage(*command)
        assert refused.code == 2
        assert "waits for a review" in refused.err
    assert {path.name: path.read_bytes() for path in memory.iterdir() if path.is_file()} == before
