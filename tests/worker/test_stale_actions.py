"""What an import finds changed ends the actions that it proves stale, at a cost that follows what changed and not how long the queue is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from stores.apply.steps import Actor
from stores.mirror.importing import import_store
from stores.models import LifecycleAction, Store
from stores.review.submitting import submit
from stores.worker.stale_actions import StaleActions
from tests.apply.actions import ACTOR, PROPOSER, imported, memory_store, now, proposal, proposed
from tests.apply.test_applying_lines import BAD, ONE, TWO, line_store, on_lines
from tests.phase_memory_folders import edge, node, put

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data_folder(settings: Any, tmp_path: Path) -> None:
    """Point the journal to a folder of this test."""
    settings.DATA_DIR = tmp_path.resolve() / "data"
    settings.STORE_ROOTS = (tmp_path.resolve(),)


@dataclass
class Reads:
    """What was asked of the database."""

    queries: int = 0
    rows: int = 0
    """Of its answers."""
    statements: list[str] = field(default_factory=list)


@contextmanager
def counted_reads() -> Iterator[Reads]:
    """Count queries and the rows that they give; each is asked once more, for the number of its rows."""
    reads, asking = Reads(), False

    def execute(run: Callable[..., Any], sql: str, params: Any, many: bool, context: Mapping[str, Any]) -> Any:
        nonlocal asking
        if asking or not sql.startswith("SELECT") or "FOR UPDATE" in sql:
            return run(sql, params, many, context)
        asking = True
        try:
            with connection.cursor() as cursor:
                cursor.execute(f"SELECT count(*) FROM ({sql}) AS asked", params)  # noqa: S608  a query of the code under test
                reads.rows += cursor.fetchone()[0]
        finally:
            asking = False
        reads.queries += 1
        reads.statements.append(sql)
        return run(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield reads


def long_queue(folder: Path, number: int) -> tuple[Store, Path, StaleActions]:
    """Make a store with so many nodes, an open action about each, and somebody who has looked at them once."""
    store, root = memory_store(folder, f"of-{number}")
    names = [f"many.{one:03d}" for one in range(number)]
    for name in names:
        put(root, "node", node(name))
    imported(store)
    queued = submit(store, [proposal("transition_phase", name, to_phase="stabilized") for name in names], PROPOSER, now())
    assert sum(one.action is not None for one in queued) == number
    stale = StaleActions()
    put(root, "node", node("not.asked.for"))
    assert stale.note(store, import_store(store), ACTOR) == 0
    return store, root, stale


def states() -> dict[str, str]:
    return dict(LifecycleAction.objects.values_list("first_target", "state"))


def test_the_cost_of_an_import_does_not_grow_with_the_queue(tmp_path: Path) -> None:
    costs = []
    for number in (8, 160):
        store, root, stale = long_queue(tmp_path, number)
        put(root, "node", node("many.003", text="Somebody wrote this."))
        run = import_store(store)
        with counted_reads() as reads:
            assert stale.note(store, run, ACTOR) == 1
        costs.append((reads.queries, reads.rows))
        assert LifecycleAction.objects.get(store=store, state="stale").first_target == "many.003"
    assert costs[0] == costs[1]
    # One change, one action, one record file, and what the audit's chain goes on from.
    assert costs[1] <= (6, 4)


def test_an_import_of_what_nobody_asks_for_costs_two_queries(tmp_path: Path) -> None:
    store, root, stale = long_queue(tmp_path, 8)
    put(root, "edge", edge("edge.new", "many.001", "many.002"))
    run = import_store(store)
    with counted_reads() as reads:
        assert stale.note(store, run, ACTOR) == 0
    assert (reads.queries, reads.rows) == (2, 1), reads.statements


def test_neither_look_walks_over_all_rows_of_the_store(tmp_path: Path) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL reads tables as small as these whole, whatever indexes there are")
    store, root, stale = long_queue(tmp_path, 8)
    put(root, "node", node("many.003", text="Somebody wrote this."))
    run = import_store(store)
    plans: list[str] = []

    def explained(run: Callable[..., Any], sql: str, params: Any, many: bool, context: Mapping[str, Any]) -> Any:
        if sql.startswith("SELECT"):
            told = connection.connection.execute(f"EXPLAIN QUERY PLAN {sql}".replace("%s", "?"), params)
            plans.extend(row[3] for row in told)
        return run(sql, params, many, context)

    with connection.execute_wrapper(explained):
        stale.note(store, run, ACTOR)
    looks = [plan for plan in plans if "stores_change" in plan or "stores_lifecycleaction" in plan]
    assert len(looks) == 3
    assert all("USING INTEGER PRIMARY KEY (rowid" in plan for plan in looks), looks


def test_what_was_queued_since_and_what_a_command_imported_is_looked_at(tmp_path: Path) -> None:
    store, root, stale = long_queue(tmp_path, 4)
    put(root, "node", node("many.001", text="Somebody wrote this."))
    import_store(store)  # by a command: nobody looks at the queue then
    late = proposed(store, "archive", "many.001", requires_review=False)
    put(root, "node", node("many.001", text="And this."))
    import_store(store)
    put(root, "node", node("another"))
    assert stale.note(store, import_store(store), ACTOR) == 2
    assert {one.state for one in LifecycleAction.objects.filter(first_target="many.001")} == {"stale"}
    late.refresh_from_db()
    assert late.state == "stale"


def test_many_files_that_change_at_once_are_all_looked_at(tmp_path: Path) -> None:
    store, root, stale = long_queue(tmp_path, 30)
    for number in range(25):
        put(root, "node", node(f"many.{number:03d}", text="Somebody wrote this."))
    assert stale.note(store, import_store(store), ACTOR) == 25
    assert sum(state == "stale" for state in states().values()) == 25


def test_a_file_that_is_no_target_of_its_action_counts_too(tmp_path: Path) -> None:
    store, root, stale = long_queue(tmp_path, 4)
    compact = proposed(store, "compact", "node.a", "node.b", parameters={"strategy": "summarize", "summary_text": "Both in one."})
    made = [change["path"] for change in json.loads(compact.effect)["changes"] if change["do"] == "create"]
    summary = next(path for path in made if path.startswith("nodes/"))
    put(root, "node", node("another"))
    assert stale.note(store, import_store(store), ACTOR) == 0
    (root / summary).write_text(json.dumps(node("made.by.an.agent")))
    assert stale.note(store, import_store(store), ACTOR) == 1
    compact.refresh_from_db()
    assert compact.state == "stale"


def test_lines_are_looked_for_only_where_some_went(tmp_path: Path) -> None:
    store, memory = line_store(tmp_path, ONE + BAD + TWO)
    name = json.loads(TWO)["id"]
    retire = proposed(store, "retire_decision", name, target_type="decision")
    on_lines(store, "set_aside_lines", BAD)
    stale = StaleActions()
    log = memory / "decisions.jsonl"
    for number in range(2):
        with log.open("ab") as agent:
            agent.write(ONE.replace(b"part 1", f"part {number + 50}".encode()))
        run = import_store(store)
        with counted_reads() as reads:
            assert stale.note(store, run, Actor("worker test", "worker")) == 0
    assert (reads.queries, reads.rows) == (2, 1), reads.statements
    log.write_bytes(log.read_bytes().replace(TWO, b""))
    assert stale.note(store, import_store(store), ACTOR) == 1
    retire.refresh_from_db()
    assert retire.state == "stale"


def test_an_action_that_is_closed_is_forgotten(tmp_path: Path) -> None:
    store, root, stale = long_queue(tmp_path, 4)
    LifecycleAction.objects.filter(store=store, first_target="many.001").update(state="withdrawn")
    costs = []
    for number in range(2):
        put(root, "node", node("many.001", text=f"Somebody wrote this {number}."))
        run = import_store(store)
        with counted_reads() as reads:
            assert stale.note(store, run, ACTOR) == 0
        costs.append(reads.queries)
    assert costs == [3, 2]
