"""Which versions wrote a store is told by what only they wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.formats.orchestkit.generation import written_by
from tests.formats.reading import line_of

WITH_IDENTITY = line_of({"content": {"what": "x"}, "identity": {"user_id": "dana"}})
WITHOUT = line_of({"content": {"what": "x"}})


@pytest.mark.parametrize(
    ("name", "versions", "until"),
    [
        ("pending-decisions.jsonl", "5.2.4", "2026-01-29"),
        ("graph-queue.jsonl", "5.2.4 to 6.0.3", "2026-02-13"),
        ("archive/2026-02-10T10-35-24-351Z-graph-queue.jsonl", "5.5 to 6.0.3", "2026-02-13"),
        ("open-problems.jsonl", "5.2.4 to 7.1", "2026-03-06"),
        ("flows/s1.json", "5.2.4 to 7.1", "2026-03-06"),
        ("tool-preferences.json", "before 7.0", "2026-03-02"),
        ("project:.claude/feedback/tool-preferences.json", "7.0 or later", ""),
    ],
)
def test_a_name_tells_a_version(name: str, versions: str, until: str) -> None:
    [found] = written_by({name, "notes.txt", "graph.html"})
    assert (found.versions, found.until) == (versions, until)


@pytest.mark.parametrize(
    ("path", "raw", "versions"),
    [
        ("decisions.jsonl", WITH_IDENTITY, "5.2.4 to 6.0.3"),
        ("decisions.jsonl", WITHOUT, "5.2.4"),
        ("decisions.jsonl", line_of({"ts": 1, "pid": 2, "cwd": "/x", "auto_captured": True, "summary": "y"}), "6.0.22 to 7.1"),
        ("memory.json", line_of({"type": "entity", "name": "x", "entityType": "y", "observations": []}), "later than 7.1"),
        (
            "sessions/s/events.jsonl",
            line_of({"event_type": "x", "identity": {"machine_id": "m"}, "payload": {}}),
            "before mid-2026",
        ),
        ("sessions/s/events.jsonl", line_of({"event_type": "x", "identity": {"user_id": "m"}, "payload": {}}), "up to today's"),
        ("project:.claude/rules/recent-decisions.md", b"## Recent Project Decisions\n", "6.7 or later"),
    ],
)
def test_a_record_tells_a_version(path: str, raw: bytes, versions: str) -> None:
    assert [one.versions for one in written_by((), {path: [raw, raw]})] == [versions]


@pytest.mark.parametrize("raw", [b"", b"{", b"null", b"[]", b'{"content":5}', b'{"type":"entity"}'])
def test_what_tells_nothing_is_no_sign(raw: bytes) -> None:
    for path in ("decisions.jsonl", "memory.json", "sessions/s/events.jsonl", "project:.claude/rules/recent-decisions.md", "other.md"):
        assert written_by({"notes.md"}, {path: [raw]}) == ()


def test_several_versions_come_in_the_order_of_their_ends() -> None:
    found = written_by({"open-problems.jsonl", "pending-decisions.jsonl"}, {"decisions.jsonl": [WITH_IDENTITY, WITHOUT]})
    assert [one.until for one in found] == ["2026-01-28", "2026-01-29", "2026-02-13", "2026-03-06"]


def test_the_shared_stores_name_their_versions(shared: Path) -> None:
    for store, expected in (
        ("shop-api", {"5.2.4 to 6.0.3", "before 7.0", "before mid-2026"}),
        ("plugin-repo", {"5.2.4 to 6.0.3", "6.7 or later", "up to today's"}),
    ):
        project = shared / "samples/orchestkit" / store
        root = project / ".claude/memory"
        samples = {str(path.relative_to(root)): path.read_bytes().splitlines() for path in root.rglob("*.jsonl")}
        samples |= {f"project:{path.relative_to(project)}": [path.read_bytes()] for path in project.glob(".claude/rules/*.md")}
        names = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
        assert expected <= {one.versions for one in written_by(names, samples)}, store
