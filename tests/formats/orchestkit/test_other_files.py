"""Whatever a file holds, its reader raises nothing, gives each line one class and each record a value for every column."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats import KINDS
from stores.formats.base import FileSpec, Parsed
from stores.formats.lines import split_lines
from stores.formats.orchestkit import flows, foreign, graph_items, mem0, memory_md, preferences, session_events, solutions
from stores.formats.orchestkit.flows import flow_detail
from stores.formats.orchestkit.foreign import foreign_detail, metrics_points
from stores.formats.orchestkit.graph_items import graph_detail
from stores.formats.orchestkit.mem0 import mem0_detail
from stores.formats.orchestkit.memory_md import memory_md_detail
from stores.formats.orchestkit.preferences import preference_detail
from stores.formats.orchestkit.session_events import event_detail
from stores.formats.orchestkit.solutions import solution_detail
from tests.formats.reading import read_all, read_whole

NAMED = (*flows.SPECS, solutions.SPEC, mem0.SPEC, session_events.SPEC, graph_items.SPEC, *preferences.SPECS)
OTHERS = (*NAMED, *memory_md.SPECS, *foreign.SPECS, *foreign.GENERIC_SPECS, memory_md.NOTES_SPEC)
LINES = [spec for spec in OTHERS if not spec.whole]
WHOLE = [spec for spec in OTHERS if spec.whole]
OWN = [b"", b"\n", b"{}", b"[]", b"null", b'"\\ud83d"', b'{"a":"\\u0000"}', b"[" * 3000 + b"]" * 3000, b"\xff\xfe{\0}\0", b'{"a":1e999}']
KEYS = (
    *("usage", "preferences", "pattern_counts", "pattern_success_rates", "actions", "stats", "session_id", "event_type", "identity"),
    *(
        "payload",
        "name",
        "observations",
        "from",
        "to",
        "text",
        "metadata",
        "timestamp",
        "success",
        "type",
        "entities",
        "queues",
        "decisions",
    ),
)
ODD_VALUES = st.recursive(
    st.sampled_from([*KEYS, "entity", "relation", "\ud83d", "\0", "2026-02-10T10:35:24.351Z", None, True, -1, 10**30, 0.5, 1e300]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=7),
    max_leaves=20,
)
DETAILS = (flow_detail, foreign_detail, graph_detail, mem0_detail, memory_md_detail, preference_detail, event_detail, solution_detail)


def hostile(shared: Path) -> list[bytes]:
    found = [path.read_bytes() for path in sorted((shared / "samples/hostile").glob("json*/*"))]
    assert len(found) >= 30
    return found


def check(spec: FileSpec, parsed: Parsed) -> None:
    """A record has a storable value for every column, the others have none."""
    if str(parsed.line_class) != "record":
        assert parsed.values is None
        return
    assert parsed.values is not None
    assert len(parsed.values) == len(spec.columns)
    texts = [value for value in (*parsed.values, parsed.natural_id, parsed.search) if isinstance(value, str)]
    assert not any("\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text) for text in texts)
    assert all(abs(value) < 1 << 63 for value in parsed.values if isinstance(value, int))
    assert dict(zip(spec.columns, parsed.values, strict=True))["at_state"] in ("ok", "naive", "missing", "odd")


def javascript_takes(data: bytes) -> bool | None:
    """Say whether `JSON.parse` takes a file's text; None where Python cannot tell."""

    def refuse(word: str) -> object:
        raise ValueError(word)

    try:
        json.loads(data.decode("utf-8", "replace"), parse_constant=refuse, parse_int=lambda digits: 0)
    except RecursionError:
        return None
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("spec", LINES, ids=lambda spec: spec.full_path)
def test_hostile_lines_have_one_class_each(spec: FileSpec, shared: Path) -> None:
    for data in [*hostile(shared), *OWN]:
        reading = read_all(spec, data)
        assert len(reading.parsed) == len(list(split_lines([data])))
        for parsed in reading.parsed:
            check(spec, parsed)
        assert len(reading.state.encode()) < 16_384


@pytest.mark.parametrize("spec", WHOLE, ids=lambda spec: spec.full_path)
def test_hostile_files_are_a_record_or_refused(spec: FileSpec, shared: Path) -> None:
    for data in [*hostile(shared), *OWN]:
        parsed = read_whole(spec, data, "sessions/x/y.json")
        check(spec, parsed)
        taken = True if spec.record_type == "memory_md" else javascript_takes(data)
        assert taken is None or str(parsed.line_class) == ("record" if taken else "refused")
        assert all(fault.byte is None or 0 <= fault.byte <= len(data) for fault in parsed.faults)


def test_hostile_bytes_are_taken_apart_without_a_raise(shared: Path) -> None:
    for data in [*hostile(shared), *OWN]:
        for raw in [data, *data.split(b"\n")[:60]]:
            for detail in DETAILS:
                detail(raw)
        metrics_points(data.split(b"\n"))


def test_no_fault_repeats_what_memory_says(shared: Path) -> None:
    mark = "sk-verysecret0123456789abcdef"
    value = {
        "type": mark,
        "name": mark,
        "event_type": mark,
        "usage": {mark: {mark: 5}},
        "preferences": {mark: 7},
        "text": 5,
        "what": mark,
    }
    for spec in LINES:
        for fault in read_all(spec, json.dumps(value).encode()).faults():
            assert mark not in f"{fault.message}{fault.details}"
    for spec in WHOLE:
        for fault in read_whole(spec, json.dumps(value).encode()).faults:
            assert mark not in f"{fault.message}{fault.details}"


@given(ODD_VALUES)
def test_any_value_is_a_record(value: object) -> None:
    data = json.dumps(value).encode()
    for spec in NAMED:
        parsed = read_whole(spec, data) if spec.whole else read_all(spec, data).parsed[0]
        assert str(parsed.line_class) == "record"
        check(spec, parsed)
    for detail in DETAILS:
        detail(data)
    metrics_points([data])


@pytest.mark.parametrize(
    ("path", "record_type"),
    [
        ("completed-flows.jsonl", "flow"),
        ("flows/s1.json", "flow"),
        ("problem-solutions.jsonl", "problem_solution"),
        ("mem0-queue.jsonl", "mem0_operation"),
        ("sessions/s1/events.jsonl", "session_event"),
        ("sessions/s1/counter.json", "foreign"),
        ("memory.json", "graph_entity"),
        ("tool-preferences.json", "preference_file"),
        ("workflow-preferences.json", "preference_file"),
        ("project:.claude/feedback/tool-preferences.json", "preference_file"),
        ("project:.claude/agent-memory/reviewer/MEMORY.md", "memory_md"),
        ("home:.claude/projects/-home-dana-shop-api/memory/MEMORY.md", "memory_md"),
        ("home:.claude/projects/-home-dana-shop-api/memory/topic.md", "memory_md"),
        ("project:.claude/rules/recent-decisions.md", "memory_md"),
        ("idea.md", "memory_md"),
        ("archive/2026-02-10T10-35-24-351Z-graph-queue.jsonl", "foreign"),
        ("project:.claude/logs/memory-metrics.jsonl", "foreign"),
        ("pending-decisions.jsonl", "foreign"),
        ("whatever.jsonl", "foreign"),
        ("whatever.json", "foreign"),
        ("decisions.jsonl", "decision"),
    ],
)
def test_the_first_fitting_description_of_a_file_counts(path: str, record_type: str) -> None:
    spec = KINDS["orchestkit"].spec_of(path)
    assert spec is not None
    assert spec.record_type == record_type


@pytest.mark.parametrize(
    "path", ["graph.html", "sessions/s1/once-flags/x.done", "flows/a/b.json", "home:.claude/projects/a/b/memory/MEMORY.md"]
)
def test_what_nobody_reads_has_no_description(path: str) -> None:
    assert KINDS["orchestkit"].spec_of(path) is None


def test_an_index_is_told_from_a_topic() -> None:
    find = KINDS["orchestkit"].spec_of
    for index, topic in (
        ("project:.claude/agent-memory/a/MEMORY.md", "project:.claude/agent-memory/a/hooks.md"),
        ("home:.claude/projects/-a/memory/MEMORY.md", "home:.claude/projects/-a/memory/hooks.md"),
    ):
        assert find(index) in memory_md.SPECS
        assert (find(index).reader, find(topic).reader) == (memory_md.IndexReader, memory_md.TopicReader)  # type: ignore[union-attr]
