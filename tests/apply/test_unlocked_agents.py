"""An agent that takes no lock appends from a process of its own during a thousand applies and repairs: no line of it is lost, doubled or torn.

It opens a log for each line, which it then often writes in two pieces, or keeps what it opened for some lines. How long all of it goes on
is counted in applies; what must be there in the end is what the agent says that it wrote.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from stores.apply.applying import apply_action
from stores.apply.draining import drain
from stores.apply.verifying import look_after
from stores.formats.canonical import digest
from stores.models import AuditEvent, Drain, LifecycleAction, Store
from stores.review.approving import approve_all
from stores.review.deciding import Manner
from stores.review.submitting import submit
from tests.apply.actions import ACTOR, PROPOSER, imported, memory_store, now, proposal, proposed, reviewer
from tests.apply.places import graph_of, left_in_store, open_journal, queued_lines
from tests.apply.test_applying_lines import BAD, ONE, TWO, line_store, sha
from tests.memory_folders import decision
from tests.phase_memory_folders import node, put

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

LINES_A_TURN = 4
AGENT = """
import json, os, random, sys
mode, said, *paths = sys.argv[1:]
chance, held, number = random.Random(7), {}, 0
told = open(said, "wb")

def line_for(path, number):
    pad = "x" * chance.randrange(300)
    if path.endswith("graph-queue.jsonl"):
        entity = {"name": f"of the agent {number % 9}", "entityType": "Tool", "observations": [f"number {number}{pad}"]}
        record = {"type": "create_entities", "payload": {"entities": [entity]}, "timestamp": "2026-03-01T10:00:00.000Z"}
    elif path.endswith("decisions.jsonl"):
        record = {"id": f"decision-agent-{number}", "content": {"what": f"number {number}{pad}"}, "timestamp": "2026-03-01T10:00:00.000Z"}
    elif path.endswith("events.jsonl"):
        record = {"schema_version": "phase_memory.memory.event.v1", "id": f"event.agent-{number}", "kind": "recorded", "note": pad}
    else:
        record = {"audit_id": f"audit.agent-{number}", "operation": "agent", "note": pad}
    return (json.dumps(record) + "\\n").encode()

def wait():
    for _ in range(chance.randrange(12_000)):
        pass

def write(path, line, in_two):
    descriptor = held.pop(path, None)
    if descriptor is None:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    cut = chance.randrange(1, len(line)) if in_two else len(line)
    assert os.write(descriptor, line[:cut]) == cut
    if in_two:
        wait()
        assert os.write(descriptor, line[cut:]) == len(line) - cut
    if mode == "opens" or number % 10 == 0:
        os.close(descriptor)
    else:
        held[path] = descriptor

for _ in iter(lambda: os.read(0, 1), b""):
    for _ in range(LINES):
        path = chance.choice(paths)
        line = line_for(path, number)
        number += 1
        wait()
        write(path, line, mode == "opens" and chance.random() < 0.5)
        told.write(os.path.basename(path).encode() + b" " + line)
told.close()
""".replace("LINES", str(LINES_A_TURN))
"""Appends some lines whenever it is told to, at moments that nobody knows, and notes for us what it wrote."""


class Agent:
    """The process, and what it wrote."""

    def __init__(self, process: subprocess.Popen[bytes], said: Path) -> None:
        self._process, self._said = process, said

    def go_on(self) -> None:
        """Let it write its next lines, while we do what comes next."""
        assert self._process.stdin is not None
        self._process.stdin.write(b".")

    def end(self) -> dict[str, list[bytes]]:
        """Let it end; give its lines by the name of their log, in their order."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(60) == 0
        written: dict[str, list[bytes]] = {}
        for said in self._said.read_bytes().splitlines():
            name, _, line = said.partition(b" ")
            written.setdefault(name.decode(), []).append(line)
        return written


@contextmanager
def agent_at(folder: Path, mode: str, *logs: Path) -> Iterator[Agent]:
    """Run an agent beside the block."""
    said = folder / "said-by-the-agent"
    command = [sys.executable, "-c", AGENT, mode, str(said), *map(str, logs)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0) as process:
        yield Agent(process, said)


def all_approved(store: Store, proposals: list[dict[str, object]]) -> list[LifecycleAction]:
    rows = [one.action for one in submit(store, proposals, PROPOSER, now()) if one.action is not None]
    assert len(rows) == len(proposals)
    approve_all(reviewer(), rows, {row.pk: row.digest for row in rows}, Manner("page", now(), password_given=True))
    return rows


def applied_beside(agent: Agent, store: Store, row: LifecycleAction) -> None:
    """Apply an action while the agent writes; what it is in the way of is tried again, as the worker does."""
    for _ in range(200):
        agent.go_on()
        result = apply_action(store, row.pk, ACTOR, now())
        if result.action.state == "applied":
            return
        assert (result.action.state, result.verdict.reason_code) in (("approved", "store_blocked"), ("approved", "store_busy")), (
            result.verdict
        )
    pytest.fail("the agent kept an action from being applied 200 times")


def check_receipts(rows: list[LifecycleAction]) -> None:
    for row in rows:
        row.refresh_from_db()
        assert (row.state, row.receipt["as_approved"], row.receipt["change"]) == ("applied", True, row.change_id)
        assert all(one.get("as_written", True) for one in row.receipt["files"])
    assert AuditEvent.objects.filter(event="action_applied").count() == len(rows)
    assert not AuditEvent.objects.filter(event__in=("action_failed", "action_stale")).exists()


@pytest.mark.parametrize(("mode", "number"), [("opens", 600), ("keeps", 200)])
def test_the_logs_of_a_phase_memory_store(tmp_path: Path, mode: str, number: int) -> None:
    store, root = memory_store(tmp_path)
    names = [f"many.{one:03d}" for one in range(number)]
    for name in names:
        put(root, "node", node(name))
    imported(store)
    there = {log: (root / log).read_bytes().splitlines() for log in ("events.jsonl", "audit.jsonl")}
    rows = all_approved(store, [proposal("transition_phase", name, to_phase="stabilized") for name in names])
    with agent_at(tmp_path, mode, root / "events.jsonl", root / "audit.jsonl") as agent:
        for row in rows:
            applied_beside(agent, store, row)
        written = agent.end()
    assert sum(map(len, written.values())) >= number * LINES_A_TURN
    check_receipts(rows)
    found = {log: (root / log).read_bytes().splitlines() for log in there}
    for log, before in there.items():
        theirs = set(written[log])
        ours = [line for line in found[log][len(before) :] if line not in theirs]
        assert found[log][: len(before)] == before
        assert [line for line in found[log] if line in theirs] == written[log]
        records = [json.loads(line) for line in ours]
        if log == "events.jsonl":
            events = {one["action_id"]: one["id"] for one in records}
            assert len(ours) == len(events) == number
        else:
            applied = [one for one in records if one["decision"] == "applied"]
            assert {one["subject_id"]: (one["audit_id"], one["event_ids"]) for one in applied} == {
                row.action_id: (row.receipt["audit_id"], [events[row.action_id]]) for row in rows
            }
            assert len(applied) == number
            assert [one["previous_digest"] for one in records[1:]] == [digest(one) for one in records[:-1]]
    for row in rows:
        assert json.loads((root / f"nodes/{row.first_target}.json").read_bytes())["phase"] == "stabilized"
    assert (left_in_store(root), open_journal()) == ([], [])


@pytest.mark.parametrize(("mode", "edits", "drains"), [("opens", 120, 10), ("keeps", 60, 10)])
def test_the_logs_of_an_orchestkit_store(tmp_path: Path, mode: str, edits: int, drains: int) -> None:
    bad = [BAD.replace(b"torn", f"torn-{one:03d}".encode()) for one in range(edits // 2)]
    halves = [(decision(f"glued {one}", 1000 + one), decision(f"glued too {one}", 2000 + one)) for one in range(edits // 2)]
    glued = [first.removesuffix(b"\n") + second for first, second in halves]
    store, memory = line_store(tmp_path, ONE + b"".join(bad) + b"".join(glued) + TWO)
    asked = [("set_aside_lines", line) for line in bad] + [("repair_lines", line) for line in glued]
    rows = all_approved(store, [_about_line(verb, line) for verb, line in asked])
    drained: list[LifecycleAction] = []
    with agent_at(tmp_path, mode, memory / "decisions.jsonl", memory / "graph-queue.jsonl") as agent:
        for place, row in enumerate(rows):
            applied_beside(agent, store, row)
            if len(drained) < (place + 1) * drains // len(rows) and _waits(memory):
                drained.append(_drain(agent, imported(store)))
        while len(drained) < drains:
            agent.go_on()
            if _waits(memory):
                drained.append(_drain(agent, imported(store)))
        written = agent.end()
    look_after(store, ACTOR)
    assert len(rows) + len(drained) == edits + drains
    check_receipts([*rows, *drained])
    lines = (memory / "decisions.jsonl").read_bytes().splitlines(keepends=True)
    mine = {line + b"\n" for line in written["decisions.jsonl"]}
    assert [line for line in lines if line not in mine] == [ONE, *(half for pair in halves for half in pair), TWO]
    assert Counter(line for line in lines if line in mine) == Counter(mine)
    carried = [name for row in LifecycleAction.objects.all() for one in row.receipt.get("carried", ()) for name in one["lines"]]
    assert set(Counter(carried).values()) <= {1}
    assert set(carried) <= {sha256(line.removesuffix(b"\n")).hexdigest() for line in mine}
    queued = queued_lines(memory)
    assert Counter({line: count for line, count in queued.items() if b"of the agent" in line}) == Counter(written["graph-queue.jsonl"])
    while drain(store, ACTOR):
        pass
    entities, _ = graph_of(memory / "memory.json")
    said = [text for name, texts in entities.items() if name.startswith("of the agent") for text in texts]
    assert Counter(said) == Counter(json.loads(line)["payload"]["entities"][0]["observations"][0] for line in written["graph-queue.jsonl"])
    assert set(Drain.objects.values_list("state", flat=True)) == {"verifying"}
    assert open_journal() == []


def _about_line(verb: str, line: bytes) -> dict[str, object]:
    digests = {sha(line): f"sha256:{sha(line)}"}
    return proposal(verb, *digests, target_type="line", source_digests=digests, parameters={"file": "decisions.jsonl"})


def _waits(memory: Path) -> bool:
    queue = memory / "graph-queue.jsonl"
    return queue.exists() and b"\n" in queue.read_bytes()


def _drain(agent: Agent, store: Store) -> LifecycleAction:
    row = proposed(store, "drain_queue", "graph-queue.jsonl", target_type="file")
    approve_all(reviewer(), [row], {row.pk: row.digest}, Manner("page", now(), password_given=True))
    applied_beside(agent, store, row)
    return row
