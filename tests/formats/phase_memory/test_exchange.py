"""A store goes out as a graph envelope and comes in again: the same bytes, nothing overwritten, what is left out is listed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.canonical import canonical, log_line, pretty
from stores.formats.lines import split_lines
from stores.formats.phase_memory.aliases import ID_FIELD
from stores.formats.phase_memory.exchange import ImportPlan, Omitted, export_graph, exported, import_graph, import_profile, imported
from stores.formats.phase_memory.exportable import Exportable, exportable
from stores.formats.phase_memory.layout import FOLDERS, path_for
from stores.formats.phase_memory.reading import read_log_line, read_record

Record = dict[str, object]

NODE: Record = {
    "schema_version": "phase_memory.node.v1",
    "id": "decision.a",
    "kind": "decision",
    "text": "Pages by cursor.",
    "phase": "stabilized",
    "lifecycle_state": "active",
    "tags": ["api"],
    "metadata": {"title": "Cursor"},
}
EDGE: Record = {"id": "edge.a", "kind": "supports", "source": "decision.a", "target": "decision.b", "weight": 0.5}
PATH: Record = {"path_id": "path.a", "state": "active", "event_ids": ["event.1"]}
EVENT: Record = {"schema_version": "phase_memory.event.v1", "id": "event.1", "kind": "recorded", "path_id": "path.a"}


def nothing(record_type: str, record_id: str) -> Record | None:
    return None


class Store:
    """A store as its files and its log, written only by what an import plans."""

    def __init__(self, files: Mapping[str, bytes] | None = None, log: bytes = b"") -> None:
        self.files = dict(files or {})
        self.log = log

    def contents(self) -> Exportable:
        files = [(path, read_record(FOLDERS[path.partition("/")[0]], data)) for path, data in self.files.items()]
        return exportable(files, [(line.number, read_log_line("event", line)) for line in split_lines([self.log])])

    def export(self) -> bytes:
        found = self.contents()
        return export_graph("graph.a", nodes=found.nodes, edges=found.edges, events=found.events, paths=found.paths, omitted=found.omitted)

    def find(self, record_type: str, record_id: str) -> Record | None:
        found = self.contents()
        records = {"node": found.nodes, "edge": found.edges, "path": found.paths, "event": found.events}[record_type]
        return next((one for one in records if one.get(ID_FIELD[record_type]) == record_id), None)

    def take(self, plan: ImportPlan) -> None:
        for new in plan.records:
            assert new.path not in self.files
            self.files[new.path] = new.data
        self.log += b"".join(new.line for new in plan.events)


def store_of(*records: tuple[str, Record]) -> Store:
    files = {path_for(kind, str(one[ID_FIELD[kind]])): pretty(one) for kind, one in records if kind != "event"}
    return Store(files, b"".join(log_line(one) for kind, one in records if kind == "event"))


def copy_of(store: Store) -> tuple[Store, ImportPlan]:
    """Import what a store exports into an empty one."""
    fresh = Store()
    plan = import_graph(store.export(), find=nothing)
    fresh.take(plan)
    return fresh, plan


FULL = store_of(("node", NODE), ("edge", EDGE), ("path", PATH), ("event", EVENT))


def test_an_envelope_has_contract_names_on_top_and_ours_below() -> None:
    envelope = json.loads(FULL.export())
    assert envelope == {
        "schema_version": "markitect.memory.graph.v1",
        "id": "graph.a",
        "nodes": [
            {
                "id": "decision.a",
                "kind": "decision",
                "text": "Pages by cursor.",
                "phase": "stabilized",
                "metadata": {"title": "Cursor", "phase_memory": {"lifecycle_state": "active", "tags": ["api"]}},
            }
        ],
        "edges": [
            {
                "id": "edge.a",
                "kind": "supports",
                "source": "decision.a",
                "target": "decision.b",
                "metadata": {"phase_memory": {"weight": 0.5}},
            }
        ],
        "events": [{"id": "event.1", "kind": "recorded", "path_id": "path.a"}],
        "metadata": {"exported_from": "phase_memory.local_store.v1", "paths": [PATH]},
    }


def test_what_comes_in_is_what_went_out() -> None:
    copied, plan = copy_of(FULL)
    assert copied.export() == FULL.export()
    assert copied.files["nodes/decision.a.json"] == pretty(NODE)
    assert json.loads(copied.log) == {**EVENT, "schema_version": "phase_memory.memory.event.v1"}
    assert [(new.id, new.durable) for new in plan.records] == [("decision.a", True), ("edge.a", False), ("path.a", False)]
    assert (plan.same, plan.not_imported, plan.refused) == (0, (), "")


def test_importing_twice_writes_nothing_twice() -> None:
    plan = import_graph(FULL.export(), find=FULL.find, taken=FULL.files)
    assert plan == ImportPlan(same=4)


def test_nothing_that_exists_is_written_over() -> None:
    changed = store_of(("node", {**NODE, "text": "Else."}), ("event", {**EVENT, "kind": "updated"}), ("path", PATH))
    plan = import_graph(FULL.export(), find=changed.find, taken=changed.files)
    assert [new.id for new in plan.records] == ["edge.a"]
    assert plan.events == ()
    assert [tuple(one) for one in plan.not_imported] == [("node", "decision.a", "conflict"), ("event", "event.1", "conflict")]
    assert plan.same == 1
    taken = import_graph(FULL.export(), find=nothing, taken={"nodes/decision.a.json"})
    assert ("node", "decision.a", "name_taken") in taken.not_imported
    unread = import_graph(FULL.export(), find=nothing, unreadable=lambda kind, record_id: record_id == "edge.a")
    assert ("edge", "edge.a", "conflict") in unread.not_imported


def envelope(**more: object) -> bytes:
    return json.dumps({"schema_version": "markitect.memory.graph.v1", "id": "g", **more}).encode()


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([{"id": "a", "kind": "claim"}, {"id": "a", "kind": "risk"}], ("node", "a", "repeated")),
        ([{"id": "../../a", "kind": "claim"}], ("node", "../../a", "bad_id")),
        ([{"id": "a b", "kind": "claim"}], ("node", "a b", "bad_id")),
        ([{"id": 7, "kind": "claim"}], ("node", "", "bad_id")),
        ([{"id": "a"}], ("node", "a", "invalid")),
        ([{"id": "a", "kind": "claim", "confidence": "high"}], ("node", "a", "invalid")),
        (["a"], ("node", "", "invalid")),
    ],
)
def test_what_cannot_become_a_record_is_listed(nodes: list[object], reason: tuple[str, str, str]) -> None:
    assert [tuple(one) for one in import_graph(envelope(nodes=nodes), find=nothing).not_imported] == [reason]


@pytest.mark.parametrize(
    ("data", "refused"),
    [
        (b"", "bad_json"),
        (b"[]", "not_object"),
        (b"{}", "not_a_graph"),
        (b'{"schema_version":"markitect.memory.graph.v2"}', "not_a_graph"),
        (envelope(nodes={}), "not_a_graph"),
        (b'{"id":"a","id":"b"}', "dup_key"),
    ],
)
def test_what_is_no_envelope_is_refused(data: bytes, refused: str) -> None:
    assert import_graph(data, find=nothing) == ImportPlan(refused=refused)


def test_contract_records_come_in_without_fields_of_ours() -> None:
    plan = import_graph(envelope(nodes=[{"id": "a", "kind": "claim", "text": "x"}]), find=nothing)
    assert json.loads(plan.records[0].data) == {"id": "a", "kind": "claim", "text": "x", "schema_version": "phase_memory.node.v1"}


def test_what_cannot_be_read_is_left_out_and_listed() -> None:
    damaged = Store(FULL.files, FULL.log + log_line(EVENT) + b"{\n\n" + log_line({**EVENT, "id": "e", "schema_version": "acme.v1"}))
    damaged.files |= {
        "nodes/copy.json": pretty(NODE),
        "nodes/bad.json": b"[",
        "nodes/late.json": pretty({"id": "late", "kind": "claim", "schema_version": "phase_memory.node.v2"}),
        "edges/half.json": pretty({"id": "half", "kind": "supports"}),
    }
    expected = [
        Omitted("edges/half.json", None, "half", "invalid_record"),
        Omitted("events.jsonl", 2, "event.1", "duplicate"),
        Omitted("events.jsonl", 3, "", "bad_json"),
        Omitted("events.jsonl", 5, "e", "unknown_event_schema_version"),
        Omitted("nodes/bad.json", None, "", "bad_json"),
        Omitted("nodes/copy.json", None, "decision.a", "duplicate"),
        Omitted("nodes/late.json", None, "late", "unknown_record_schema_version"),
    ]
    told = json.loads(damaged.export())
    assert told["metadata"].pop("omitted") == [one._asdict() for one in expected]
    assert told == json.loads(FULL.export())


PROFILE: Record = {"schema_version": "markitect.memory.profile.v1", "id": "atlas", "title": "Atlas", "memory_kinds": ["reasoning"]}


@pytest.mark.parametrize(
    ("data", "there", "taken", "outcome"),
    [
        (pretty(PROFILE), None, False, "new"),
        (json.dumps({"id": "atlas"}).encode(), {"id": "atlas"}, True, "same"),
        (pretty(PROFILE), {"id": "atlas"}, True, "conflict"),
        (pretty(PROFILE), None, True, "name_taken"),
        (pretty({**PROFILE, "id": "a/b"}), None, False, "bad_id"),
        (pretty({**PROFILE, "schema_version": "markitect.memory.graph.v1"}), None, False, "not_a_profile"),
        (b"[]", None, False, "not_object"),
    ],
)
def test_a_profile_comes_in_as_it_is_and_over_nothing(data: bytes, there: Record | None, taken: bool, outcome: str) -> None:
    plan = import_profile(data, find=lambda kind, record_id: there, taken=lambda path: taken)
    told = [one.reason for one in plan.not_imported] + ["new" for _ in plan.records] + ["same"] * plan.same
    assert [*told, *([plan.refused] if plan.refused else [])] == [outcome]
    assert [(new.path, new.data) for new in plan.records] == ([("profiles/atlas.json", pretty(PROFILE))] if outcome == "new" else [])


names = st.from_regex(r"[a-z][a-z0-9]{0,3}(\.[a-z]{1,3})?", fullmatch=True).filter(lambda name: not name.endswith((".tmp",)))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
extra = st.dictionaries(
    st.sampled_from(
        ["text", "content", "summary", "metadata", "phase", "state", "status", "tags", "phase_memory", "policy", "title", "node"]
    ),
    json_values | st.dictionaries(st.sampled_from(["phase_memory", "title", "metadata"]), json_values, max_size=2),
    max_size=5,
)


@st.composite
def stores(draw: st.DrawFn) -> Store:
    records: list[tuple[str, Record]] = []
    for kind, base in (
        ("node", {"kind": "claim"}),
        ("edge", {"kind": "supports", "source": "a", "target": "b"}),
        ("path", {"state": "active", "event_ids": []}),
        ("event", {"kind": "updated", "schema_version": "phase_memory.event.v1"}),
    ):
        for name in draw(st.lists(names, max_size=3, unique=True)):
            own = {key: value for key, value in draw(extra).items() if key not in base}
            records.append((kind, {**own, **base, ID_FIELD[kind]: name}))
    return store_of(*records)


@given(stores())
def test_any_store_goes_out_in_and_out_as_the_same_bytes(store: Store) -> None:
    copied, plan = copy_of(store)
    assert [one for one in plan.not_imported if one.reason != "bad_id"] == []
    if not plan.not_imported:
        assert copied.export() == store.export()
        assert import_graph(store.export(), find=copied.find, taken=copied.files).records == ()


@given(extra)
def test_importing_undoes_exporting(own: Record) -> None:
    record: Record = {**own, "id": "a", "kind": "claim"}
    once = exported("node", record)
    assert canonical(exported("node", imported("node", once))) == canonical(once)


def test_generated_stores_go_out_in_and_out_as_the_same_bytes(shared: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(shared / "tools/gen_store.py"), "--nodes", "60", "--seed", "5"]
    for name, arguments in (("clean", ()), ("faulty", ("--faults", "all", "--faults-per-kind", "2"))):
        subprocess.run([*command, "--out", str(tmp_path / name), *arguments], check=True, capture_output=True)
        root = tmp_path / name / "store"
        files = {
            f"{folder}/{file.name}": file.read_bytes()
            for folder in FOLDERS
            for file in sorted((root / folder).glob("*.json"))
            if not file.is_symlink()
        }
        store = Store(files, (root / "events.jsonl").read_bytes())
        first = json.loads(store.export())
        omitted = first["metadata"].pop("omitted", [])
        assert bool(omitted) == (name == "faulty")
        copied, plan = copy_of(store)
        assert plan.not_imported == ()
        assert copied.export() == pretty(first)
        if name == "clean":
            made = json.loads((tmp_path / name / "input/memory-graph.json").read_bytes())
            assert all(first[part] == made[part] for part in ("id", "nodes", "edges", "events", "metadata") if part != "id")
