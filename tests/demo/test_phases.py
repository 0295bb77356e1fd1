"""The sample store of phase-memory: the same for the same moment, of a size to look at, with the trouble that it is there to show."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from stores.demo.phases import phase_story
from stores.demo.replaying import bring_to
from stores.demo.stories import Story
from stores.health.phase_memory import check_all
from tests.phase_memory_stores import read_facts

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def story() -> Story:
    return phase_story(NOW)


def test_the_same_moment_gives_the_same_bytes_and_nothing_lies_in_the_future(story: Story) -> None:
    assert phase_story(NOW).happened == story.happened
    assert all(at <= NOW for moments in story.happened.values() for at, _ in moments)


def test_it_has_some_hundred_nodes_on_paths_that_fork_merge_and_end(story: Story, tmp_path: Path) -> None:
    bring_to(tmp_path, story, NOW)
    root = tmp_path / story.project
    paths = [json.loads(place.read_bytes()) for place in (root / "paths").glob("*.json")]
    assert {path["state"] for path in paths} == {"active", "merged", "abandoned", "compacted"}
    assert sum(path["parent_path_id"] == "path.search" for path in paths) == 2
    assert 150 <= len(list((root / "nodes").glob("*.json"))) <= 500


def test_its_faults_are_those_that_happen(story: Story, tmp_path: Path) -> None:
    bring_to(tmp_path, story, NOW)
    codes = {one.code for one in check_all(read_facts(tmp_path / story.project)).listed()}
    assert codes >= {
        "audit_sequence_gap",
        "malformed_event_line",
        "malformed_record_file",
        "missing_edge_endpoint",
        "path_event_missing",
        "unexpected_file",
        "unreviewed_durable_change",
    }


def test_it_is_in_order_until_the_last_days(story: Story, tmp_path: Path) -> None:
    bring_to(tmp_path, story, NOW - timedelta(days=14))
    assert check_all(read_facts(tmp_path / story.project)).listed() == []
