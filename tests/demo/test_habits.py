"""What the sample sessions leave beside decisions is what OrchestKit's own files look like, as their readers judge them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

from stores.demo.stories import Story, stories
from stores.formats.orchestkit import KIND, flows, memory_md, preferences, session_events

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
MEMORY = ".claude/memory/"


@pytest.fixture(scope="module")
def told() -> dict[str, Story]:
    return {story.project: story for story in stories(NOW) if story.registered}


def content(story: Story, path: str) -> bytes:
    data = story.content(path, NOW)
    assert data is not None, path
    return data


def records(story: Story, path: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in content(story, path).splitlines()]


def test_every_file_is_one_that_a_reader_takes(told: dict[str, Story]) -> None:
    find = KIND.spec_of
    for story in told.values():
        for path in story.happened:
            name = path.removeprefix(MEMORY) if path.startswith(MEMORY) else f"project:{path}"
            spec = find(name)
            assert spec is not None and spec.record_type, name


def test_flows_are_in_form_and_each_session_has_an_earlier_one(told: dict[str, Story]) -> None:
    for story in told.values():
        found = records(story, f"{MEMORY}completed-flows.jsonl")
        assert not [odd for flow in found for odd in flows.judge(flow).oddities]
        sessions = [flow["session_id"] for flow in found]
        assert all(sessions.count(session) == 2 for session in sessions)
        assert len(sessions) >= 8


def test_events_are_of_both_writers_and_some_share_an_id(told: dict[str, Story]) -> None:
    for story in told.values():
        paths = [path for path in story.happened if path.endswith("/events.jsonl")]
        events = [event for path in paths for event in records(story, path)]
        assert {session_events.shape_of(event) for event in events} == {"tracker", "hook"}
        ids = [str(event["event_id"]) for event in events]
        assert len(set(ids)) < len(ids)
        assert any(event["event_type"] == "decision_made" for event in events)


def test_preferences_are_what_their_counts_give(told: dict[str, Story]) -> None:
    for story in told.values():
        tools = json.loads(content(story, f"{MEMORY}tool-preferences.json"))
        ways = json.loads(content(story, f"{MEMORY}workflow-preferences.json"))
        assert preferences.unlike_tools(tools) == ()
        assert preferences.unlike_workflows(ways) == ()
        assert any(bar.chosen for bar in preferences.tool_bars(tools))


def test_one_index_is_too_long_and_one_is_not(told: dict[str, Story]) -> None:
    short = memory_md.budget(content(told["shop-api"], ".claude/agent-memory/code-reviewer/MEMORY.md"))
    long = memory_md.budget(content(told["billing-core"], ".claude/agent-memory/release-engineer/MEMORY.md"))
    assert short.not_loaded == 0
    assert long.not_loaded == 35
    assert long.long_lines != ()


def test_the_log_of_counts_grows(told: dict[str, Story]) -> None:
    for story in told.values():
        counts = [one["decisions"]["total"] for one in records(story, ".claude/logs/memory-metrics.jsonl")]  # type: ignore[index]
        assert counts == sorted(counts)
        assert counts[0] < counts[-1]


def test_a_solution_names_a_problem_of_the_store(told: dict[str, Story]) -> None:
    for story in told.values():
        # One record of the sample is torn, and still begins with its id.
        problems = {found.decode() for found in re.findall(rb'"id":"(prob-[^"]+)"', content(story, f"{MEMORY}open-problems.jsonl"))}
        pairs = records(story, f"{MEMORY}problem-solutions.jsonl")
        assert pairs
        assert {pair["problem_id"] for pair in pairs} <= problems
