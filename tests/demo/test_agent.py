"""The demo's agent: whole lines, now and then, into one project."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from stores.demo import agent as demo_agent
from stores.demo.agent import PROJECT, Agent
from stores.demo.stories import DECISIONS, MEMORY, QUEUE


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / PROJECT / MEMORY
    folder.mkdir(parents=True)
    return folder


def test_it_writes_nothing_before_its_time(memory: Path, tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    for _ in range(20):
        agent.tick()
    assert list(memory.iterdir()) == []


def test_it_writes_a_decision_and_its_operations_and_drains_its_queue(
    memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_agent, "EVERY_S", 0.0)
    agent = Agent(tmp_path)
    depths = []
    for _ in range(30):
        agent.tick()
        depths.append((memory / QUEUE).read_bytes().count(b"\n"))
    decisions = [json.loads(line) for line in (memory / DECISIONS).read_bytes().splitlines()]
    assert len(decisions) == 30
    assert len({decision["content"]["what"] for decision in decisions}) > 20
    assert max(depths) <= demo_agent.QUEUE_LINES + 2
    assert any(later < earlier for earlier, later in itertools.pairwise(depths))


def test_a_store_that_was_taken_away_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_agent, "EVERY_S", 0.0)
    Agent(tmp_path).tick()
    assert list(tmp_path.iterdir()) == []
