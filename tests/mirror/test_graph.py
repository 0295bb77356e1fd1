"""The graph of a store follows its graph file, its queue and its decisions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stores.files import StoreRoot
from stores.formats.orchestkit import aggregate_operations, build_operations
from stores.mirror import graph
from stores.mirror.importing import import_store
from stores.models import Decision, GraphEntity, GraphMention, GraphRelation, GraphSource, Store
from tests.memory_folders import decision
from tests.mirror.images import graph_image, register

pytestmark = pytest.mark.django_db


def entity(name: str, kind: str = "Technology", *observations: str) -> bytes:
    """Give one entity as a line of memory.json."""
    return json.dumps({"type": "entity", "name": name, "entityType": kind, "observations": observations}).encode() + b"\n"


def relation(start: str, end: str, kind: str = "USES") -> bytes:
    """Give one relation as a line of memory.json."""
    return json.dumps({"type": "relation", "from": start, "to": end, "relationType": kind}).encode() + b"\n"


def operation(kind: str, part: str, *items: dict[str, Any]) -> bytes:
    """Give one operation as a line of the queue."""
    return json.dumps({"type": kind, "payload": {part: items}, "timestamp": "2026-03-01T10:00:00.000Z"}).encode() + b"\n"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """The empty folder of a store."""
    folder = tmp_path.resolve() / "shop" / ".claude" / "memory"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def store(memory: Path) -> Store:
    return register(memory)


def look(store: Store) -> None:
    import_store(store, trigger="event")


def names(store: Store, **which: Any) -> set[str]:
    return set(GraphEntity.objects.filter(store=store, **which).values_list("name", flat=True))


def relations(store: Store) -> set[tuple[str, str, str]]:
    return set(GraphRelation.objects.filter(store=store).values_list("start__name", "end__name", "type"))


def test_names_in_any_script_stay_apart(memory: Path, store: Store) -> None:
    told = [
        "数据库",
        "缓存",
        "מסד נתונים",
        "מטמון",
        "🐘",
        "🐘‍🐘",
        "🦭",
        "PostgreSQL",
        "postgresql",
        "post-gresql",
        "caf\u00e9",
        "cafe\u0301",
    ]
    (memory / "memory.json").write_bytes(b"".join(entity(name) for name in told))
    look(store)
    assert len(set(told)) == 12
    assert names(store) == set(told)
    assert GraphEntity.objects.filter(store=store).values("key").distinct().count() == 12


def test_a_decision_a_waiting_operation_and_a_line_of_the_file_meet_in_one_entity(memory: Path, store: Store) -> None:
    (memory / "memory.json").write_bytes(entity("redis", "Tool", "fast", "Timestamp: 2026-01-01T00:00:00Z") + relation("redis", "nobody"))
    (memory / "graph-queue.jsonl").write_bytes(
        operation("create_entities", "entities", {"name": "redis", "entityType": "Cache", "observations": ["a", "b", "c"]})
        + operation("create_relations", "relations", {"from": "redis", "to": "lua", "relationType": "USES"})
    )
    (memory / "decisions.jsonl").write_bytes(decision("use redis for sessions"))
    look(store)
    redis = GraphEntity.objects.get(store=store, name="redis")
    assert (redis.type, redis.filed, redis.queued, redis.decisions) == ("Tool", 1, 2, 1)
    assert (redis.degree, redis.observations) == (3, 3)
    assert redis.newest_ms == 1_772_359_200_000  # 2026-03-01T10:00Z
    assert relations(store) == {
        ("redis", "nobody", "USES"),
        ("redis", "lua", "USES"),
        ("decision-mx3a2c3b-0001", "redis", "CHOSE"),
    }
    nobody = GraphEntity.objects.get(store=store, name="nobody")
    assert (nobody.type, nobody.filed, nobody.queued, nobody.decisions, nobody.degree) == ("", 0, 0, 0, 1)
    main = GraphEntity.objects.get(store=store, name="decision-mx3a2c3b-0001")
    assert (main.type, main.title) == ("Decision", "use redis for sessions")
    behind = GraphMention.objects.filter(entity=redis, record_type="decision").values_list("record_id", flat=True)
    assert list(behind) == [Decision.objects.get(store=store).pk]


def test_the_graph_of_decisions_is_their_replay(memory: Path, store: Store, shared: Path) -> None:
    data = (shared / "samples/orchestkit/shop-api/.claude/memory/decisions.jsonl").read_bytes()
    (memory / "decisions.jsonl").write_bytes(data)
    look(store)
    records = [json.loads(line) for line in data.split(b"\n") if line.strip()]
    replayed = aggregate_operations((0, told) for record in records for told in build_operations(record)).graph
    assert names(store) == set(replayed.nodes)
    assert relations(store) == {tuple(edge) for edge in replayed.edges}
    assert dict(GraphEntity.objects.filter(store=store).values_list("name", "type")) == {
        node.name: node.kind for node in replayed.nodes.values()
    }


def test_an_append_adds_only_what_is_new(memory: Path, store: Store) -> None:
    path = memory / "decisions.jsonl"
    path.write_bytes(decision("use redis", 1) + decision("keep redis", 2))
    look(store)
    before = GraphSource.objects.get(store=store, record_type="decision")
    kept = dict(GraphEntity.objects.filter(store=store).values_list("name", "pk"))
    path.write_bytes(path.read_bytes() + decision("drop redis", 3))
    look(store)
    after = GraphSource.objects.get(store=store, record_type="decision")
    assert (before.taken, after.taken, after.complete, after.whole) == (2, 3, True, False)
    assert after.seen_id > before.seen_id
    assert GraphEntity.objects.get(store=store, name="redis").decisions == 3
    assert GraphMention.objects.filter(store=store).count() == 6
    now = dict(GraphEntity.objects.filter(store=store).values_list("name", "pk"))
    assert {name: now[name] for name in kept} == kept
    assert len(now) == len(kept) + 1


def test_what_is_no_longer_told_goes_and_the_rest_keeps_its_address(memory: Path, store: Store) -> None:
    path = memory / "memory.json"
    path.write_bytes(entity("a", "Tool", "one") + entity("b") + entity("c") + relation("a", "b") + relation("b", "c"))
    look(store)
    kept = GraphEntity.objects.get(store=store, name="a").pk
    path.write_bytes(entity("a", "Pattern", "one", "two") + entity("c"))
    look(store)
    assert names(store) == {"a", "c"}
    assert relations(store) == set()
    again = GraphEntity.objects.get(store=store, name="a")
    assert (again.pk, again.type, again.observations, again.degree) == (kept, "Pattern", 2, 0)


def test_a_drained_queue_leaves_what_decisions_and_the_file_tell(memory: Path, store: Store) -> None:
    queue = memory / "graph-queue.jsonl"
    queue.write_bytes(operation("create_entities", "entities", {"name": "redis", "entityType": "Cache", "observations": []}))
    (memory / "decisions.jsonl").write_bytes(decision("use redis"))
    look(store)
    assert GraphEntity.objects.get(store=store, name="redis").type == "Cache"
    queue.unlink()
    look(store)
    redis = GraphEntity.objects.get(store=store, name="redis")
    assert (redis.type, redis.queued, redis.decisions) == ("Technology", 0, 1)
    queue.write_bytes(operation("create_entities", "entities", {"name": "redis", "entityType": "Cache", "observations": []}))
    look(store)
    assert GraphEntity.objects.get(store=store, name="redis").queued == 1


def test_a_long_log_is_left_to_the_workers_idle_time(memory: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "AT_ONCE", 4)
    monkeypatch.setattr(graph, "SLICE", 3)
    path = memory / "decisions.jsonl"
    path.write_bytes(b"".join(decision(f"use redis {number}", number) for number in range(7)))
    look(store)
    source = GraphSource.objects.get(store=store, record_type="decision")
    assert (source.taken, source.complete) == (0, False)
    assert graph.behind(store.worker) == [store]
    assert graph.go_on(store)
    source.refresh_from_db()
    assert (source.taken, source.complete) == (3, False)
    path.write_bytes(path.read_bytes() + decision("use redis 8", 8))
    look(store)
    while graph.go_on(store):
        pass
    source.refresh_from_db()
    assert (source.taken, source.complete) == (8, True)
    assert GraphEntity.objects.get(store=store, name="redis").decisions == 8
    assert graph.behind(store.worker) == []


def test_only_the_newest_of_too_many_are_taken(memory: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "TAKEN_AT_MOST", 5)
    path = memory / "decisions.jsonl"
    path.write_bytes(b"".join(decision(f"use redis {number}", number) for number in range(12)))
    look(store)
    source = GraphSource.objects.get(store=store, record_type="decision")
    assert (source.taken, source.left_out, source.complete) == (5, 7, True)
    assert names(store) == {"redis", *(f"decision-mx3a2c3b-{number:04d}" for number in range(7, 12))}
    path.write_bytes(path.read_bytes() + b"".join(decision(f"use redis {number}", number) for number in (12, 13)))
    look(store)
    path.write_bytes(path.read_bytes() + decision("use redis 14", 14))
    look(store)
    source.refresh_from_db()
    assert (source.taken + source.left_out, source.complete) == (15, True)
    assert source.taken in (5, 6)
    assert names(store) == {"redis", *(f"decision-mx3a2c3b-{number:04d}" for number in range(15 - source.taken, 15))}


def test_hostile_lines_give_what_can_be_used_and_stop_nothing(memory: Path, store: Store) -> None:
    (memory / "graph-queue.jsonl").write_bytes(
        b'null\n{"type":"create_entities","payload":{"entities":[null,{"name":""},{"name":7},{"name":"ok"}]}}\n'
        b'{"type":"create_relations","payload":{"relations":[{"from":"ok","to":"ok","relationType":"SELF"}]}}\n' + b"[" * 20_000 + b"\n"
    )
    (memory / "decisions.jsonl").write_bytes(b'{"id":"x","content":{"what":7}}\n{"content":{"what":"no id"}}\n')
    (memory / "memory.json").write_bytes(b'null\n{"type":"entity","name":"\\ud83d\\u0000"}\n')
    look(store)
    assert names(store) == {"7", "ok", "\ufffd\u2400"}
    assert GraphEntity.objects.get(store=store, name="ok").degree == 1


def test_a_graph_of_changes_equals_one_that_is_made_at_the_end(memory: Path, store: Store) -> None:
    file, queue, log = memory / "memory.json", memory / "graph-queue.jsonl", memory / "decisions.jsonl"
    made = operation("create_entities", "entities", {"name": "redis", "entityType": "Cache", "observations": ["x"]})
    for step in (
        lambda: log.write_bytes(decision("use redis", 1) + decision("use lua", 2, entities=["lua", "redis"])),
        lambda: file.write_bytes(entity("lua", "Tool") + relation("lua", "redis")),
        lambda: queue.write_bytes(made + made),
        lambda: log.write_bytes(decision("use lua", 2, entities=["lua", "redis"])),
        lambda: file.write_bytes(entity("redis", "Database", "kept")),
        lambda: queue.unlink(),
        lambda: log.write_bytes(log.read_bytes() + decision("use go", 3, entities=["go"])),
        lambda: queue.write_bytes(made),
    ):
        step()
        look(store)
        told = graph_image(store)
        GraphSource.objects.filter(store=store).delete()
        GraphMention.objects.filter(store=store).delete()
        GraphRelation.objects.filter(store=store).delete()
        GraphEntity.objects.filter(store=store).delete()
        while graph.go_on(store):
            pass
        assert told == graph_image(store)


ONE_OBJECT = {
    "entities": [
        {"name": "redis", "entityType": "Database", "observations": [{"text": "fast", "timestamp": "2026-02-01T00:00:00Z"}, "small"]},
        {"name": "数据库", "type": "Concept", "observations": []},
    ],
    "relations": [{"from": "redis", "to": "数据库", "relationType": "IS_A"}, {"from": "redis", "to": "nobody", "relationType": "USES"}],
}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_graph_file_that_is_one_object_is_in_the_graph(memory: Path, store: Store, indent: int | None) -> None:
    path = memory / "memory.json"
    path.write_text(json.dumps(ONE_OBJECT, indent=indent))
    look(store)
    assert names(store, filed=1) == {"redis", "数据库"}
    assert names(store) == {"redis", "数据库", "nobody"}
    assert relations(store) == {("redis", "数据库", "IS_A"), ("redis", "nobody", "USES")}
    redis = GraphEntity.objects.get(store=store, name="redis")
    assert (redis.type, redis.filed, redis.observations, redis.degree, redis.newest_ms) == ("Database", 1, 2, 2, 1_769_904_000_000)
    assert GraphEntity.objects.get(store=store, name="数据库").type == "Concept"
    assert graph.behind(store.worker) == []
    # Each change of the file is followed, to another object and to lines.
    path.write_text(json.dumps({**ONE_OBJECT, "relations": []}, indent=indent))
    look(store)
    assert (names(store), relations(store)) == ({"redis", "数据库"}, set())
    path.write_bytes(entity("redis", "Tool") + entity("go"))
    look(store)
    assert names(store, filed=1) == names(store) == {"redis", "go"}
    assert GraphEntity.objects.get(store=store, name="redis").type == "Tool"
    path.write_bytes(path.read_bytes() + json.dumps(ONE_OBJECT).encode() + b"\n")
    look(store)
    assert dict(GraphEntity.objects.filter(store=store).values_list("name", "filed")) == {"redis": 2, "go": 1, "数据库": 1, "nobody": 0}
    path.unlink()
    look(store)
    assert names(store) == set()


def test_the_last_item_of_a_spread_object_counts_once(memory: Path, store: Store) -> None:
    last = entity("last").decode().strip()
    (memory / "memory.json").write_text('{"entities": [\n' + entity("first").decode().strip() + ",\n" + last + '\n], "relations": []}\n')
    look(store)
    assert dict(GraphEntity.objects.filter(store=store).values_list("name", "filed")) == {"first": 1, "last": 1}


def test_a_large_object_is_left_to_the_workers_idle_time(memory: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "AT_ONCE", 4)
    monkeypatch.setattr(graph, "SLICE", 3)
    many = [{"name": f"e{number}", "entityType": "Tool", "observations": []} for number in range(10)]
    (memory / "memory.json").write_text(json.dumps({"entities": many, "relations": []}, indent=1))
    look(store)
    assert (names(store), graph.behind(store.worker)) == (set(), [store])
    assert not graph.go_on(store), "without the folder nothing can be told of the file"
    with StoreRoot(store.path) as root:
        while graph.go_on(store, root):
            pass
    assert len(names(store, filed=1)) == 10
    assert graph.behind(store.worker) == []
    monkeypatch.setattr(graph, "TAKEN_AT_MOST", 5)
    (memory / "memory.json").write_text(json.dumps({"entities": many, "relations": []}))
    with StoreRoot(store.path) as root:
        look(store)
        while graph.go_on(store, root):
            pass
    source = GraphSource.objects.get(store=store, record_type="graph_entity")
    assert (source.taken, source.left_out, source.complete, len(names(store))) == (5, 5, True, 5)
