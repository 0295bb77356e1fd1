"""What has no page of its own is recognised and shown as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.formats.base import FileSpec
from stores.formats.orchestkit import foreign
from stores.formats.orchestkit.foreign import MetricsPoint, foreign_detail, metrics_points
from tests.formats.reading import line_of, lines_of, read_all, read_whole, record, values

BY_PATH = {spec.path: spec for spec in (*foreign.SPECS, *foreign.GENERIC_SPECS)}
METRICS: dict[str, object] = {
    "timestamp": "2026-02-10T10:35:24.351Z",
    "decisions": {"total": 21, "byCategory": {"database": 4}, "byType": {"decision": 21}},
    "queues": {"graphQueueDepth": 3, "mem0QueueDepth": 2},
    "completedFlows": 5,
    "sessionCount": 7,
    "mem0Available": False,
}


@pytest.mark.parametrize(
    ("path", "value", "form", "title", "session"),
    [
        (
            "archive/*-graph-queue.jsonl",
            {"type": "create_entities", "payload": {"entities": [{"name": "redis"}]}, "timestamp": "2026-02-10T10:35:24.351Z"},
            "archived queue",
            "redis",
            "",
        ),
        (foreign.METRICS_PATH, METRICS, "metrics", "21 decisions, 3 waiting", ""),
        (
            foreign.CONSULT_PATH,
            {"ts": "2026-02-10T10:35:24.351Z", "session": "s1", "tool": "search_nodes", "query": "redis"},
            "consulted",
            "search_nodes redis",
            "s1",
        ),
        (
            "pending-decisions.jsonl",
            {"id": "dec-1", "content": {"what": "Use X"}, "metadata": {"session_id": "s2", "timestamp": "2026-02-10T10:35:24.351Z"}},
            "pending decision",
            "Use X",
            "s2",
        ),
        (
            "*.jsonl",
            {"when": "2026-02-10T10:35:24.351Z", "trajectory": "t", "action": "moved", "commit": "c", "mode": "m"},
            "trajectory",
            "moved",
            "",
        ),
        (
            "*.jsonl",
            {"ts": "2026-02-10T10:35:24.351Z", "pid": 1, "cwd": "/x", "auto_captured": True, "summary": "done"},
            "memory-capture",
            "done",
            "",
        ),
        ("*.jsonl", {"x": {"y": "deep"}, "ts": "2026-02-10T10:35:24.351Z"}, "unknown", "deep", ""),
        ("analytics/*.jsonl", {"event": "run", "timestamp": "2026-02-10T10:35:24.351Z"}, "analytics", "run", ""),
    ],
)
def test_a_foreign_line_says_what_it_is(path: str, value: object, form: str, title: str, session: str) -> None:
    found, parsed = record(BY_PATH[path], value)
    assert found == {"form": form, "title": title, "session": session, "at_ms": 1_770_719_724_351, "at_state": "ok"}
    assert parsed.faults == ()


@pytest.mark.parametrize(
    ("path", "source", "value", "form", "title", "session"),
    [
        ("sessions/*/counter.json", "sessions/s1/counter.json", {"counter": 2}, "counter", "2 events counted", "s1"),
        ("users/*/profile.json", "users/dana/profile.json", {"user_id": "dana"}, "profile", "dana", ""),
        ("*.json", "x.json", [1, 2], "unknown", "2 items", ""),
        ("*.json", "x.json", "words", "unknown", "words", ""),
        (".claude/context/knowledge/decisions/active.json", "", [{"id": 1}], "knowledge base", "1 item", ""),
        (".claude/feedback/skill-usage.json", "", {"version": "1.0"}, "skill usage", "1.0", ""),
    ],
)
def test_a_foreign_file_says_what_it_is(path: str, source: str, value: object, form: str, title: str, session: str) -> None:
    spec = BY_PATH[path]
    parsed = read_whole(spec, json.dumps(value, indent=2).encode(), source)
    found = values(spec, parsed)
    assert (found["form"], found["title"], found["session"], parsed.faults) == (form, title, session, ())


@pytest.mark.parametrize("spec", [spec for spec in BY_PATH.values() if not spec.whole], ids=lambda spec: spec.path)
@pytest.mark.parametrize(
    "value", [None, 5, "x", [], {}, [[[]]], {"timestamp": {}, "id": 5, "session": []}, {"content": {"what": "\ud83d"}}]
)
def test_nothing_is_refused_that_javascript_takes(spec: FileSpec, value: object) -> None:
    reading = read_all(spec, json.dumps(value).encode() + b"\n")
    assert (reading.classes(), set(reading.codes()) - {"lone_surrogate"}) == (["record"], set())


def test_a_refused_line_is_named() -> None:
    assert read_all(BY_PATH["*.jsonl"], b"{oops\n").classes() == ["refused"]


def test_a_foreign_record_is_shown_field_by_field() -> None:
    detail = foreign_detail(line_of({"a": "b", "c": [1, {"d": None}]}))
    assert (detail.text, detail.fields, detail.items) == ("b", (("a", "b"), ("c", '[1,{"d":null}]')), ())
    assert foreign_detail(b'["x",{"y":1}]').items == ("x", '{"y":1}')
    assert foreign_detail(b"[" * 5000 + b"]" * 5000).fields == ()


def test_the_log_of_metrics_becomes_points_in_the_order_of_time() -> None:
    earlier = {**METRICS, "timestamp": "2026-02-09T10:35:24.351Z", "decisions": {"total": 20}, "queues": None, "completedFlows": "x"}
    lines = [line_of(one) for one in (METRICS, {"timestamp": "soon", "decisions": {}}, {"timestamp": METRICS["timestamp"]}, None, earlier)]
    assert metrics_points([*lines, b"{broken"]) == (
        MetricsPoint(1_770_633_324_351, 20, 0, 0, 0, 7),
        MetricsPoint(1_770_719_724_351, 21, 3, 2, 5, 7),
    )


def test_a_known_name_comes_before_the_generic_one() -> None:
    assert read_all(BY_PATH["*.jsonl"], lines_of([METRICS])).codes() == []
    assert [spec.path for spec in foreign.SPECS if spec.path in ("*.jsonl", "*.json")] == []


def test_the_shared_foreign_files_read_without_a_fault(shared: Path) -> None:
    root = shared / "samples/orchestkit"
    usage = root / "academic-helper/.claude/feedback/skill-usage.json"
    assert read_whole(BY_PATH[".claude/feedback/skill-usage.json"], usage.read_bytes()).faults == ()
    counters = list(root.glob("*/.claude/memory/sessions/*/counter.json"))
    assert len(counters) == 2
    for path in counters:
        spec = BY_PATH["sessions/*/counter.json"]
        found = values(spec, read_whole(spec, path.read_bytes(), f"sessions/{path.parent.name}/counter.json"))
        assert found["session"] == path.parent.name
        assert str(found["title"]).startswith(f"{json.loads(path.read_bytes())['counter']} event")
