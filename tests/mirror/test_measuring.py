"""The history of a store's health: a row when a value changed, at most one a minute, at least one an hour (ruling 60)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pytest_django import Settings

from stores.mirror import measuring
from stores.mirror.importing import import_store
from stores.models import Condition, Measurement, Store
from tests.memory_folders import make_project
from tests.mirror.images import register

pytestmark = pytest.mark.django_db
START = datetime(2026, 3, 1, 11, 0, tzinfo=UTC)
OPERATION = b'{"type":"create_entities","payload":{"entities":[{"name":"a","entityType":"Tool","observations":[]}]},"timestamp":"2026-03-01T10:00:00Z"}\n'


@pytest.fixture
def store(tmp_path: Path) -> Store:
    root = tmp_path.resolve() / ".claude" / "memory"
    root.mkdir(parents=True)
    (root / "graph-queue.jsonl").write_bytes(OPERATION)
    store = register(root)
    import_store(store, trigger="sweep", now=START)
    return store


def times(store: Store) -> list[timedelta]:
    return [at - START for at in Measurement.objects.filter(store=store).order_by("at").values_list("at", flat=True)]


def test_a_backlog_that_only_grows_older_is_no_change(store: Store) -> None:
    for minutes in range(1, 60):
        measuring.measure(store, now=START + timedelta(minutes=minutes))
    assert times(store) == [timedelta(0)]
    measuring.measure(store, now=START + timedelta(minutes=60))
    assert times(store) == [timedelta(0), timedelta(hours=1)]


def test_a_change_is_kept_but_at_most_once_a_minute(store: Store) -> None:
    path = Path(store.path) / "graph-queue.jsonl"
    for seconds in (20, 40, 70):
        with path.open("ab") as out:
            out.write(OPERATION.replace(b'"a"', b'"b%d"' % seconds))
        import_store(store, trigger="event", now=START + timedelta(seconds=seconds))
    assert times(store) == [timedelta(0), timedelta(seconds=70)]
    assert Measurement.objects.filter(store=store).latest("at").values["queue_depth"] == 4


def test_rows_older_than_90_days_become_one_a_day_with_the_mean_of_their_values(store: Store) -> None:
    Measurement.objects.all().delete()
    day = datetime(2026, 3, 3, tzinfo=UTC)
    for hour, depth in ((1, 10.0), (2, 20.0), (30, 7.0)):
        Measurement.objects.create(
            store=store, at=day + timedelta(hours=hour), verdict="healthy", values={"queue_depth": depth, "odd": None}
        )
    young = day + timedelta(days=100)
    Measurement.objects.create(store=store, at=young, verdict="healthy", values={"queue_depth": 1.0})
    measuring.thin_out(young + timedelta(hours=1))
    kept = [(row.daily, row.values.get("queue_depth")) for row in Measurement.objects.filter(store=store).order_by("at")]
    assert kept == [(True, 15.0), (True, 7.0), (False, 1.0)]


def condition(store: Store, code: str) -> Condition:
    return Condition.objects.get(store=store, code=code)


def test_sessions_that_leave_nothing_fail_and_one_entity_in_the_graph_mends_that(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "project" / ".claude" / "memory"
    for number in range(10):
        folder = root / "sessions" / f"s{number}"
        folder.mkdir(parents=True)
        (folder / "events.jsonl").write_text('{"event_id":"evt-1-1","event_type":"session_start","identity":{},"payload":{}}\n')
    store = register(root)
    import_store(store)
    assert (condition(store, "no_decisions_with_sessions").status, condition(store, "no_decisions_with_sessions").value) == ("failing", 10)
    (root / "memory.json").write_text('{"type":"entity","name":"redis","entityType":"Tool","observations":[]}\n')
    import_store(store)
    assert condition(store, "no_decisions_with_sessions").status == "ok"


def test_decisions_that_vanish_with_their_file_degrade_the_store_until_they_are_back(tmp_path: Path) -> None:
    memory = make_project(tmp_path.resolve(), decisions=3)
    (memory / "graph-queue.jsonl").write_text('{"type":"create_entities","payload":{"entities":[]}}\n')
    store = register(memory)
    import_store(store)
    assert (store.verdict, condition(store, "memory_vanished").status) == ("healthy", "ok")
    kept = (memory / "decisions.jsonl").rename(tmp_path / "elsewhere")
    (memory / "graph-queue.jsonl").unlink()
    import_store(store)
    found = condition(store, "memory_vanished")
    assert (store.verdict, found.status, found.value) == ("degraded", "failing", 3)
    assert found.message == "decisions.jsonl is gone, with 3 records"
    kept.rename(memory / "decisions.jsonl")
    import_store(store)
    assert (store.verdict, condition(store, "memory_vanished").status) == ("healthy", "ok")


def test_a_memory_md_beyond_its_budget_fails_by_name(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "project" / ".claude" / "memory"
    notes = root.parent / "agent-memory" / "tester" / "MEMORY.md"
    for folder in (root, notes.parent):
        folder.mkdir(parents=True)
    notes.write_text("- a line\n" * 200)
    store = register(root)
    import_store(store)
    assert condition(store, "memory_md_budget").value == 0
    notes.write_text("- a line\n" * 207)
    import_store(store)
    failing = condition(store, "memory_md_budget")
    assert (failing.status, failing.value, failing.path) == ("failing", 7, "project:.claude/agent-memory/tester/MEMORY.md")


def test_where_the_memory_server_keeps_the_graph_is_read_from_the_project(tmp_path: Path, settings: Settings) -> None:
    root = tmp_path.resolve() / "project" / ".claude" / "memory"
    root.mkdir(parents=True)
    store = register(root)
    import_store(store)
    assert condition(store, "graph_place").value_text == "no server"
    server = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}
    (root.parents[1] / ".mcp.json").write_text(json.dumps({"mcpServers": {"memory": server}}))
    import_store(store)
    assert condition(store, "graph_place").status == "failing"
    named = {**server, "env": {"MEMORY_FILE_PATH": f"{root}/memory.json"}}
    (root.parents[1] / ".mcp.json").write_text(json.dumps({"mcpServers": {"memory": named}}))
    import_store(store)
    assert condition(store, "graph_place").status == "ok"
    settings.STORE_ROOTS = (root,)
    import_store(store)
    assert condition(store, "graph_place").value_text == "no server"


def test_a_configuration_gets_nothing_of_our_environment_but_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path.resolve() / "project" / ".claude" / "memory"
    root.mkdir(parents=True)
    monkeypatch.setenv("MEMORYUI_SECRET_KEY", str(root))
    server = {"command": "npx", "args": ["server-memory"], "env": {"MEMORY_FILE_PATH": "${MEMORYUI_SECRET_KEY}/memory.json"}}
    (root.parents[1] / ".mcp.json").write_text(json.dumps({"mcpServers": {"memory": server}}))
    store = register(root)
    import_store(store)
    assert condition(store, "graph_place").value_text == "unknown"


def test_corrupt_lines_of_sessions_fail_as_those_of_the_other_files(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "project" / ".claude" / "memory"
    (root / "sessions" / "one").mkdir(parents=True)
    (root / "sessions" / "one" / "events.jsonl").write_text("{broken\n{also\n")
    store = register(root)
    import_store(store)
    others = Condition.objects.get(store=store, code="corrupt_lines", path="")
    assert (others.status, others.value) == ("failing", 2)
    assert "sessions/one/events.jsonl" in others.message


def test_the_retired_queue_counts_in_the_classic_check_where_its_key_is_set(tmp_path: Path, settings: Settings) -> None:
    settings.MEM0_KEY_PRESENT = True
    root = tmp_path.resolve() / "project" / ".claude" / "memory"
    root.mkdir(parents=True)
    store = register(root)
    for lines, status in ((50, "healthy"), (51, "degraded")):
        (root / "mem0-queue.jsonl").write_text('{"text":"use redis","metadata":{}}\n' * lines)
        import_store(store)
        store.refresh_from_db()
        assert store.classic["tiers"]["mem0"]["status"] == status


@pytest.mark.parametrize(
    "graph",
    [
        '{"entities":[{"name":"redis","entityType":"Tool","observations":[]}],"relations":[]}',
        '{"type":"entity","name":"redis","entityType":"Tool","observations":[{"text":"fast","timestamp":"2026-03-01T10:00:00Z"}]}\n',
        "null\n",
    ],
)
def test_a_graph_that_the_memory_server_cannot_show_fails(tmp_path: Path, graph: str) -> None:
    root = tmp_path.resolve() / "project" / ".claude" / "memory"
    (root / "sessions" / "s").mkdir(parents=True)
    (root / "memory.json").write_text('{"type":"entity","name":"redis","entityType":"Tool","observations":["fast"]}\n')
    store = register(root)
    import_store(store)
    assert condition(store, "graph_refused").status == "ok"
    (root / "memory.json").write_text(graph)
    import_store(store)
    failing = condition(store, "graph_refused")
    assert (failing.status, failing.value, failing.path) == ("failing", 1, "memory.json")
