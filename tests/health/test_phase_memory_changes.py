"""After any change of a store, checking what the change touched finds what checking everything finds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from stores.formats.base import Line
from stores.formats.canonical import digest, log_line, pretty
from stores.formats.lines import split_lines
from stores.formats.phase_memory.layout import EntryKind
from stores.formats.phase_memory.reading import read_root
from stores.health.phase_memory import Finding, Findings, StoreFacts, Unit, check_all, check_changed, record_facts

NODES = ("n1", "n2", "N1")
PATHS = ("p1", "p2", "p3")
EVENTS = ("e1", "e2", "e3", "e4")
ACTIONS = ("action:1", "action:2")
STABLE: dict[str, object] = {"id": "n1", "kind": "decision", "phase": "rigid", "text": "x"}
ROOT = pretty({"schema_version": "phase_memory.local_store.v1"})

some = st.sampled_from
maybe_node = st.none() | some(NODES)
maybe_path = st.none() | some(PATHS)
event_lists = st.lists(some(EVENTS), max_size=4)


def with_values(**fields: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries(fields)


nodes = with_values(
    id=some(NODES),
    kind=some(["decision", "vibe"]),
    phase=some(["fluid", "rigid", "liquid"]),
    superseded_by=maybe_node,
    provenance=with_values(source_event_ids=event_lists),
) | st.just(STABLE)
edges = with_values(id=some(["edge"]), kind=st.just("supports"), source=some(NODES), target=some(NODES), state=some(["active", "archived"]))
paths = with_values(
    path_id=some(PATHS),
    state=some(["active", "merged", "compacted"]),
    parent_path_id=maybe_path,
    merge_target=maybe_path,
    compacted_summary_id=maybe_node,
    event_ids=event_lists | st.just("none"),
)
activations = with_values(id=st.just("a1"), node_ids=st.lists(some(NODES), max_size=2))
bad_file = some([b"", b"[]", b'{"id":"n1","id":"n2"}', b'{"kind":"decision"}'])


def files_of(folder: str, names: Iterable[str], records: st.SearchStrategy[dict[str, object]]) -> st.SearchStrategy[tuple[str, bytes]]:
    data = records.map(pretty) | records.map(lambda record: json.dumps(record).encode()) | bad_file
    return st.tuples(some([f"{folder}/{name}.json" for name in names]), data)


put_file = (
    files_of("nodes", ("n1", "n2", "N1", "x"), nodes)
    | files_of("edges", ("edge", "x"), edges)
    | files_of("paths", ("p1", "p2", "p3", "x"), paths)
    | files_of("activations", ("a1",), activations)
)
event_records = with_values(
    id=some(EVENTS),
    schema_version=some(["phase_memory.event.v1", "phase_memory.event.v1", "acme.v1"]),
    kind=some(["updated", "policy_decision", "dreamt"]),
    timestamp=some(["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]),
    path_id=maybe_path,
    action_id=st.none() | some(ACTIONS),
)
audit_records = with_values(
    audit_id=st.just("x"),
    schema_version=st.just("phase_memory.audit.event.v1"),
    operation=some(["lifecycle.apply", "graph.export"]),
    decision=st.just("applied"),
    requires_review=st.booleans(),
    sequence=some([1, 2]),
    previous_digest=st.none(),
    subject_id=some(ACTIONS),
    targets=st.lists(with_values(record_type=st.just("node"), id=some(NODES), after_digest=some([digest(STABLE), "sha256:0"])), max_size=1),
)


def pieces(records: st.SearchStrategy[dict[str, object]]) -> st.SearchStrategy[bytes]:
    """Give what a writer appends: whole lines, and now and then a torn one or one without its line break."""
    lines = st.lists(records.map(log_line), max_size=3).map(b"".join)
    return st.tuples(lines, some([b"", b"", b"{\n", b"\n", b'{"id"', b"}"]) | records.map(lambda one: log_line(one)[:-1])).map(b"".join)


changes = (
    st.tuples(st.just("put"), put_file)
    | st.tuples(st.just("put"), put_file)
    | st.tuples(st.just("drop"), put_file.map(lambda file: file[0]))
    | st.tuples(st.just("events"), pieces(event_records))
    | st.tuples(st.just("audit"), pieces(audit_records))
    | st.tuples(some(["replace events", "replace audit"]), pieces(event_records) | pieces(audit_records))
    | st.tuples(st.just("entry"), st.tuples(some(["nodes", "events.jsonl", "left.txt"]), some(list(EntryKind))))
    | st.tuples(st.just("no entry"), some(["nodes", "events.jsonl", "left.txt"]))
    | st.tuples(st.just("root"), st.none() | st.just(ROOT))
)


class Model:
    """A store as bytes, its facts kept up to date, and its findings checked only where something changed."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.logs = {"events": b"", "audit": b""}
        self.entries: dict[str, EntryKind] = {}
        self.root: bytes | None = ROOT
        self.facts = StoreFacts()
        self.facts.put_root(read_root(ROOT))
        self.findings = check_all(self.facts)

    def change(self, what: str, given: object) -> None:
        check_changed(self.facts, self.findings, self._units(what, given))

    def _units(self, what: str, given: object) -> set[Unit]:
        facts = self.facts
        match what, given:
            case "put", (str(path), bytes(data)):
                self.files[path] = data
                return facts.put_file(record_facts(path, data))
            case "drop", str(path):
                self.files.pop(path, None)
                return facts.drop_file(path)
            case "events" | "audit", bytes(data):
                before = self.logs[what]
                self.logs[what] = before + data
                lines = resumed(before, data)
                return facts.extend_events(lines) if what == "events" else facts.extend_audit(lines)
            case "replace events", bytes(data):
                self.logs["events"] = data
                return facts.replace_events(split_lines([data]))
            case "replace audit", bytes(data):
                self.logs["audit"] = data
                return facts.replace_audit(split_lines([data]))
            case "entry", (str(path), EntryKind() as kind):
                self.entries[path] = kind
                return facts.put_entry(path, kind)
            case "no entry", str(path):
                self.entries.pop(path, None)
                return facts.drop_entry(path)
            case "root", data:
                self.root = data if isinstance(data, bytes) else None
                return facts.put_root(read_root(self.root))
        raise AssertionError(what)

    def anew(self) -> Findings:
        facts = StoreFacts()
        facts.put_root(read_root(self.root))
        facts.extend_events(split_lines([self.logs["events"]]))
        facts.extend_audit(split_lines([self.logs["audit"]]))
        for path, data in sorted(self.files.items()):
            facts.put_file(record_facts(path, data))
        for path, kind in self.entries.items():
            facts.put_entry(path, kind)
        return check_all(facts)


def resumed(before: bytes, data: bytes) -> Iterable[Line]:
    """Give the lines from the first on that was not finished before."""
    start = before.rfind(b"\n") + 1
    return split_lines([before[start:] + data], number=before.count(b"\n") + 1, offset=start) if data else ()


def told(findings: Findings) -> list[tuple[Finding, Mapping[str, object]]]:
    return [(one._replace(details={}), one.details) for one in findings.listed()]


@settings(max_examples=200, deadline=None)
@given(st.lists(changes, max_size=14))
def test_checking_what_changed_finds_what_checking_everything_finds(steps: list[tuple[str, object]]) -> None:
    model = Model()
    for what, given_ in steps:
        model.change(what, given_)
        assert told(model.findings) == told(model.anew())


FIELDS = [
    "kind",
    "type",
    "relation",
    "text",
    "phase",
    "lifecycle_state",
    "state",
    "status",
    "confidence",
    "weight",
    "metadata",
    "provenance",
    "superseded_by",
    "source",
    "from",
    "target",
    "event_ids",
    "parent_path_id",
    "merge_target",
    "compacted_summary_id",
    "node_ids",
    "schema_version",
    "timestamp",
    "path_id",
    "action_id",
    "operation",
    "decision",
    "sequence",
    "previous_digest",
    "subject_id",
    "targets",
    "dry_run",
    "requires_review",
    "approval_marker",
    "review_id",
]
odd_values = st.recursive(
    st.none() | st.booleans() | st.integers() | some(["", "node", "lifecycle.apply", "applied", "phase_memory.audit.event.v1", "\ud800"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(some(["id", "source_event_ids", "line", "file", "after_digest"]), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(FIELDS), odd_values), st.sampled_from(["phase_memory.event.v1", "phase_memory.audit.event.v1", ""]))
def test_values_of_any_type_are_checked_without_an_error(value: dict[str, object], version: str) -> None:
    record = {**value, "schema_version": version} if version else value
    facts = StoreFacts()
    facts.put_root(read_root(ROOT))
    for name in ("id", "path_id", "audit_id"):
        data = json.dumps({**record, name: "a"}).encode() + b"\n"
        facts.extend_events(split_lines([data], number=facts.events.lines + 1))
        facts.extend_audit(split_lines([data], number=facts.audit.lines + 1))
    for folder in ("nodes", "edges", "paths", "activations", "profiles"):
        facts.put_file(record_facts(f"{folder}/a.json", json.dumps({**value, "id": "a", "path_id": "a"}).encode()))
    for found in check_all(facts).listed():
        assert json.loads(json.dumps(found.document()))["code"] == found.code
        assert found.message.isprintable()


def test_a_change_touches_little_of_a_store() -> None:
    facts = StoreFacts()
    facts.put_root(read_root(ROOT))
    for number in range(50):
        facts.put_file(record_facts(f"nodes/k{number}.json", pretty({"id": f"k{number}", "kind": "decision"})))
        edge = {"id": f"l{number}", "kind": "supports", "source": f"k{number}", "target": f"k{(number + 1) % 50}"}
        facts.put_file(record_facts(f"edges/l{number}.json", pretty(edge)))
    text = pretty({"id": "k7", "kind": "decision", "text": "changed"})
    assert facts.put_file(record_facts("nodes/k7.json", text)) == {Unit("file", "nodes/k7.json"), Unit("group", "k7", "node")}
    assert facts.drop_file("nodes/k7.json") == {
        Unit("file", "nodes/k7.json"),
        Unit("group", "k7", "node"),
        Unit("fold", "k7", "node"),
        Unit("group", "l6", "edge"),
        Unit("group", "l7", "edge"),
    }


def test_an_event_that_a_growing_last_line_takes_away_is_missed_by_those_who_name_it() -> None:
    model = Model()
    record: dict[str, object] = {"id": "e1", "schema_version": "phase_memory.event.v1", "kind": "recorded"}
    model.change("events", log_line(record)[:-1])
    model.change("put", ("nodes/n1.json", pretty({"id": "n1", "kind": "claim", "provenance": {"source_event_ids": ["e1"]}})))
    assert "source_event_missing" not in [one.code for one in model.findings.listed()]
    model.change("events", b"{\n")
    assert ("source_event_missing", "e1") in [(one.code, one.key) for one in model.findings.listed()]
    assert told(model.findings) == told(model.anew())
    model.change("events", log_line(record))
    assert "source_event_missing" not in [one.code for one in model.findings.listed()]


def test_an_audited_change_that_a_growing_last_line_takes_away_binds_no_more() -> None:
    model = Model()
    model.change("put", ("nodes/n1.json", pretty(STABLE)))
    target = {"record_type": "node", "id": "n1", "after_digest": "sha256:0"}
    apply = {"schema_version": "phase_memory.audit.event.v1", "audit_id": "a", "operation": "lifecycle.apply", "decision": "applied"}
    model.change("audit", log_line({**apply, "targets": [target]})[:-1])
    assert "unreviewed_durable_change" in [one.code for one in model.findings.listed()]
    model.change("audit", b"{\n")
    assert "unreviewed_durable_change" not in [one.code for one in model.findings.listed()]
    assert told(model.findings) == told(model.anew())
