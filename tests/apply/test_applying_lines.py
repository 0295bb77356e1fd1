"""Approved edits of logs that agents append to: exactly the approved lines change, and no other line is lost, whenever it came (rulings 4, 38)."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from stores.apply import edited_logs
from stores.apply.draining import drain
from stores.apply.verifying import look_after
from stores.files import StoreRoot
from stores.models import Drain, LifecycleAction, Review, Store
from tests.apply.actions import ACTOR, applied, approved, imported, now, proposed, switch
from tests.apply.faulty import before_call
from tests.apply.places import GRAPH, QUEUE, entities_line, graph_of, left_in_store, make_store, open_journal, queued_lines
from tests.memory_folders import decision

pytestmark = pytest.mark.django_db
BAD = b'{"id": "decision-torn", "content": {"wh\n'
LATE = decision("came while it was written", 77)


def sha(line: bytes) -> str:
    return hashlib.sha256(line.removesuffix(b"\n")).hexdigest()


def line_store(folder: Path, log: bytes | None = None, **files: bytes) -> tuple[Store, Path]:
    """Make and import a store of line files; applying is on."""
    store, memory = make_store(folder)
    if log is not None:
        (memory / "decisions.jsonl").write_bytes(log)
    for name, data in files.items():
        (memory / f"{name.replace('_', '-')}.jsonl").write_bytes(data)
    imported(store)
    switch()
    return store, memory


def on_lines(store: Store, verb: str, *lines: bytes, file: str = "decisions.jsonl") -> LifecycleAction:
    digests = {sha(line): f"sha256:{sha(line)}" for line in lines}
    return approved(proposed(store, verb, *digests, target_type="line", source_digests=digests, parameters={"file": file}))


ONE, TWO, THREE = (decision(f"use cursors in part {number}", number) for number in (1, 2, 3))


def test_lines_are_set_aside_and_every_other_one_stays(tmp_path: Path) -> None:
    store, memory = line_store(tmp_path, ONE + BAD + TWO)
    action = on_lines(store, "set_aside_lines", BAD)
    result = applied(store, action)
    assert (result.action.state, (memory / "decisions.jsonl").read_bytes()) == ("applied", ONE + TWO)
    assert result.action.receipt["as_approved"] is True
    assert Review.objects.get().spent_at is not None
    assert (open_journal(), left_in_store(memory)) == ([], [])


def test_a_line_appended_after_the_approval_comes_through_byte_for_byte(tmp_path: Path) -> None:
    store, memory = line_store(tmp_path, ONE + BAD + TWO)
    action = on_lines(store, "set_aside_lines", BAD)
    odd = b'{ "id":"x",  "content":{}}\r\n'
    with (memory / "decisions.jsonl").open("ab") as opened:
        opened.write(odd)
    applied(store, action)
    assert (memory / "decisions.jsonl").read_bytes() == ONE + TWO + odd


def test_records_that_were_glued_together_come_apart(tmp_path: Path) -> None:
    glued = ONE.removesuffix(b"\n") + TWO
    store, memory = line_store(tmp_path, glued + THREE)
    applied(store, on_lines(store, "repair_lines", glued))
    assert (memory / "decisions.jsonl").read_bytes() == ONE + TWO + THREE


def test_duplicates_are_merged_into_the_one_that_is_kept(tmp_path: Path) -> None:
    twin = decision("use cursors in part 1", 9)
    store, memory = line_store(tmp_path, ONE + TWO + twin)
    digests = {json.loads(one)["id"]: f"sha256:{sha(one)}" for one in (ONE, twin)}
    keep = json.loads(ONE)["id"]
    action = proposed(store, "merge_duplicates", *digests, target_type="decision", source_digests=digests, parameters={"keep": keep})
    applied(store, approved(action))
    assert (memory / "decisions.jsonl").read_bytes() == ONE + TWO


def test_a_decision_is_retired(tmp_path: Path) -> None:
    store, memory = line_store(tmp_path, ONE + TWO)
    name = json.loads(ONE)["id"]
    applied(store, approved(proposed(store, "retire_decision", name, target_type="decision")))
    assert (memory / "decisions.jsonl").read_bytes() == TWO


PROBLEM = b'{"id":"prob-1","text":"Docker times out","status":"open","confidence":0.75}\n'


@pytest.mark.parametrize(
    ("verb", "was", "parameters", "fields"),
    [
        ("close_problem", "open", {}, {"status": "solved"}),
        ("abandon_problem", "open", {}, {"status": "abandoned"}),
        ("reopen_problem", "solved", {}, {"status": "open"}),
    ],
)
def test_a_problem_changes_its_state(tmp_path: Path, verb: str, was: str, parameters: dict[str, str], fields: dict[str, str]) -> None:
    line = PROBLEM.replace(b'"open"', f'"{was}"'.encode())
    store, memory = line_store(tmp_path, None, open_problems=line + PROBLEM.replace(b"prob-1", b"prob-2"))
    applied(store, approved(proposed(store, verb, "prob-1", target_type="problem", parameters=parameters)))
    first, second = (memory / "open-problems.jsonl").read_bytes().splitlines(keepends=True)
    assert json.loads(first) == json.loads(line) | fields
    assert second == PROBLEM.replace(b"prob-1", b"prob-2")


def test_a_log_that_lacks_its_last_line_break_gets_one(tmp_path: Path) -> None:
    store, memory = line_store(tmp_path, ONE + TWO.removesuffix(b"\n"))
    action = proposed(store, "append_newline", "decisions.jsonl", target_type="file", requires_review=False)
    assert applied(store, action).action.state == "applied"
    assert (memory / "decisions.jsonl").read_bytes() == ONE + TWO


def test_a_line_that_is_gone_is_not_looked_for_elsewhere(tmp_path: Path) -> None:
    store, memory = line_store(tmp_path, ONE + BAD + TWO)
    action = on_lines(store, "set_aside_lines", BAD)
    (memory / "decisions.jsonl").write_bytes(ONE + b"{}" + BAD + TWO)
    result = applied(store, action)
    assert (result.verdict.reason_code, result.action.state) == ("target_missing", "stale")
    assert (memory / "decisions.jsonl").read_bytes() == ONE + b"{}" + BAD + TWO


def test_a_log_that_somebody_has_open_waits_until_it_is_quiet(tmp_path: Path) -> None:
    store, memory = line_store(tmp_path, ONE + BAD + TWO)
    action = on_lines(store, "set_aside_lines", BAD)
    log = memory / "decisions.jsonl"
    with log.open("ab"):
        result = applied(store, action)
        assert (result.verdict.reason_code, result.action.state, log.read_bytes()) == ("store_busy", "approved", ONE + BAD + TWO)
        assert "60 s" in result.action.message
        quiet = (now() - timedelta(seconds=61)).timestamp()
        os.utime(log, (quiet, quiet))
        assert applied(store, action).action.state == "applied"
    assert log.read_bytes() == ONE + TWO


def test_what_an_agent_still_appends_to_the_displaced_log_is_carried_over(tmp_path: Path) -> None:
    store, memory = line_store(tmp_path, ONE + BAD + TWO)
    action = on_lines(store, "set_aside_lines", BAD)
    log = memory / "decisions.jsonl"
    with log.open("ab", buffering=0) as agent:
        quiet = (now() - timedelta(seconds=61)).timestamp()
        os.utime(log, (quiet, quiet))
        applied(store, action)
        agent.write(LATE + THREE + b'{"id": "to')
        look_after(store, ACTOR)
        assert log.read_bytes() == ONE + TWO + LATE + THREE
        agent.write(b'rn"}\n' + LATE)
        look_after(store, ACTOR)
        look_after(store, ACTOR)
        assert log.read_bytes() == ONE + TWO + LATE + THREE + b'{"id": "torn"}\n' + LATE
    action.refresh_from_db()
    (carried,) = action.receipt["carried"]
    assert carried["lines"] == [sha(one) for one in (LATE, THREE, b'{"id": "torn"}\n', LATE)]


@pytest.mark.parametrize("half", [1, len(LATE) - 20])
def test_a_log_that_ends_in_a_line_that_an_agent_has_begun_waits_for_the_rest(tmp_path: Path, half: int) -> None:
    store, memory = line_store(tmp_path, ONE + BAD + TWO)
    action = on_lines(store, "set_aside_lines", BAD)
    log = memory / "decisions.jsonl"
    with log.open("ab", buffering=0) as agent:
        agent.write(LATE[:half])
        quiet = (now() - timedelta(seconds=61)).timestamp()
        os.utime(log, (quiet, quiet))
        result = applied(store, action)
        assert (result.verdict.reason_code, result.action.state) == ("store_busy", "approved")
        agent.write(LATE[half:])
    assert applied(store, action).action.state == "applied"
    look_after(store, ACTOR)
    assert log.read_bytes() == ONE + TWO + LATE


def test_a_log_that_ends_in_a_line_whose_writer_is_gone_is_edited_with_it(tmp_path: Path) -> None:
    store, memory = line_store(tmp_path, ONE + BAD + TWO)
    action = on_lines(store, "set_aside_lines", BAD)
    log = memory / "decisions.jsonl"
    with log.open("ab") as agent:
        agent.write(LATE[:30])
    assert applied(store, action).action.state == "applied"
    assert log.read_bytes() == ONE + TWO + LATE[:30]


def test_a_displaced_log_is_watched_until_nobody_has_it_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, memory = line_store(tmp_path, ONE + BAD + TWO)
    log = memory / "decisions.jsonl"
    action = on_lines(store, "set_aside_lines", BAD)
    with log.open("ab", buffering=0) as agent:
        quiet = (now() - timedelta(seconds=61)).timestamp()
        os.utime(log, (quiet, quiet))
        applied(store, action)
        monkeypatch.setattr(edited_logs, "QUIET_FOR", timedelta(0))
        look_after(store, ACTOR)
        agent.write(LATE)
    look_after(store, ACTOR)
    assert log.read_bytes() == ONE + TWO + LATE
    look_after(store, ACTOR)
    with StoreRoot(memory) as root, root.locked(0) as held:
        assert held
    assert not list((tmp_path / "data/journal" / str(store.uid) / "logs").iterdir())


def test_lines_that_came_between_reading_and_exchanging_are_carried_over_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log_bytes = ONE + BAD + TWO
    for at in (2, 12, 16, 17, 18, 19, 20):
        store, memory = line_store(tmp_path / str(at), log_bytes)
        action = on_lines(store, "set_aside_lines", BAD)
        log = memory / "decisions.jsonl"

        def agent(log: Path = log) -> None:
            with log.open("ab", buffering=0) as opened:
                opened.write(LATE)

        with before_call(monkeypatch, at, agent) as layer:
            assert applied(store, action).action.state == "applied"
        assert layer.calls > at
        assert log.read_bytes() == ONE + TWO + LATE


def test_a_queue_is_drained_into_the_graph_and_archived(tmp_path: Path) -> None:
    store, memory = line_store(tmp_path)
    action = approved(proposed(store, "drain_queue", "graph-queue.jsonl", target_type="file"))
    result = applied(store, action)
    assert result.action.state == "applied", result.verdict.message
    entities, relations = graph_of(memory / "memory.json")
    assert entities == {"kept": ["stands"], "redis": ["first", "second"], "a decision": []}
    assert relations == Counter({("redis", "a decision", "CHOSE"): 1})
    assert not (memory / "graph-queue.jsonl").exists()
    row = Drain.objects.get()
    assert (row.journal_id, row.state, row.to_byte, row.operations) == (result.change, "verifying", len(QUEUE), 3)
    assert (open_journal(), left_in_store(memory)) == ([], [])


def test_operations_that_came_after_the_approval_wait_for_the_next_drain(tmp_path: Path) -> None:
    store, memory = line_store(tmp_path)
    action = approved(proposed(store, "archive_queue", "graph-queue.jsonl", target_type="file"))
    late = entities_line("later", "came late")
    applied(store, action)
    (archived,) = (memory / "archive").iterdir()
    with archived.open("ab") as agent:
        agent.write(late)
    assert (memory / "memory.json").read_bytes() == GRAPH
    drain(store, ACTOR)
    assert graph_of(memory / "memory.json")[0] == {"kept": ["stands"], "later": ["came late"]}
    assert queued_lines(memory) == Counter([*QUEUE.splitlines(), *late.splitlines()])


def test_a_queue_that_grew_is_drained_as_approved_and_the_rest_waits_for_the_next_drain(tmp_path: Path) -> None:
    store, memory = line_store(tmp_path)
    action = approved(proposed(store, "drain_queue", "graph-queue.jsonl", target_type="file"))
    late = entities_line("later", "came late")
    with (memory / "graph-queue.jsonl").open("ab") as agent:
        agent.write(late)
    assert applied(store, action).action.state == "applied"
    assert graph_of(memory / "memory.json")[0].keys() == {"kept", "redis", "a decision"}
    assert queued_lines(memory) == Counter([*QUEUE.splitlines(), *late.splitlines()])
    assert Drain.objects.get().to_byte == len(QUEUE)
    drain(store, ACTOR)
    assert graph_of(memory / "memory.json")[0]["later"] == ["came late"]


def test_a_queue_that_says_something_else_is_stale(tmp_path: Path) -> None:
    store, memory = line_store(tmp_path)
    action = approved(proposed(store, "drain_queue", "graph-queue.jsonl", target_type="file"))
    (memory / "graph-queue.jsonl").write_bytes(entities_line("other", "one"))
    result = applied(store, action)
    assert (result.verdict.reason_code, result.action.state) == ("stale_source", "stale")
    assert (memory / "memory.json").read_bytes() == GRAPH and (memory / "graph-queue.jsonl").exists()


def test_a_queue_is_not_drained_into_a_graph_that_the_agents_left(tmp_path: Path) -> None:
    store, memory = line_store(tmp_path)
    action = approved(proposed(store, "drain_queue", "graph-queue.jsonl", target_type="file"))
    project = memory.parents[1]
    (project / "graphs").mkdir()
    server = {
        "command": "npx",
        "args": ["@modelcontextprotocol/server-memory"],
        "env": {"MEMORY_FILE_PATH": str(project / "graphs/g.json")},
    }
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"memory": server}}))
    result = applied(store, action)
    assert (result.action.state, "by now" in result.verdict.message) == ("failed", True)
    assert (memory / "graph-queue.jsonl").read_bytes() == QUEUE and (memory / "memory.json").read_bytes() == GRAPH
