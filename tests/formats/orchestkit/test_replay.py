"""The graph that is rebuilt from decisions is the one that the queue asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.formats.js_values import stringify
from stores.formats.orchestkit import Replay, aggregate_classically, aggregate_operations, new_file, read_operations, replay_decisions
from stores.formats.orchestkit.replay import decision_operations
from tests.formats.reading import lines_of
from tests.memory_folders import decision


@pytest.mark.parametrize("store", ["academic-helper", "shop-api"])
def test_the_decisions_of_a_real_store_give_the_graph_of_its_queue(shared: Path, store: str) -> None:
    memory = shared / "samples" / "orchestkit" / store / ".claude" / "memory"
    decisions = (memory / "decisions.jsonl").read_bytes()
    queued = read_operations((memory / "graph-queue.jsonl").read_bytes()).operations
    replayed = replay_decisions(decisions)
    assert (replayed.decisions, replayed.skipped, replayed.odd) == (decisions.count(b"\n"), [], [])
    ours, theirs = aggregate_classically(decision_operations(decisions, Replay())), aggregate_classically(queued)
    assert stringify(ours.entities) == stringify(theirs.entities)
    assert stringify(ours.relations) == stringify(theirs.relations)
    assert new_file(replayed.aggregate.graph) == new_file(aggregate_operations(queued).graph)


def test_what_is_no_decision_is_named_by_its_line() -> None:
    broken = b'{"id":"half\n'
    foreign = lines_of([{"decision": "use x"}, {"content": {"what": "nameless"}}, 5])
    odd = lines_of([{"id": "decision-mx3a2c3b-1", "content": {"what": "x"}}])
    replayed = replay_decisions(decision("use redis") + broken + foreign + b" \n" + odd)
    assert [trouble.line for trouble in replayed.skipped] == [2, 3, 4, 5]
    assert [(trouble.line, trouble.reason) for trouble in replayed.odd] == [(7, "No list of entities")]
    assert replayed.decisions == 2
    assert list(replayed.aggregate.graph.nodes) == ["decision-mx3a2c3b-0001", "redis", "decision-mx3a2c3b-1"]


def test_names_that_the_graph_has_are_not_made_again() -> None:
    line = decision("use cursors", content={"what": "use cursors", "alternatives": ["offsets", "keys"]})
    replayed = replay_decisions(line, known=["offsets"])
    assert replayed.aggregate.account.missing_ends == ("use cursors", "keys")
