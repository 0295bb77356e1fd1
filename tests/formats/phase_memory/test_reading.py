"""Record files and log lines of phase-memory stores are read strictly, by all their names, and nothing of them is changed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats import jsonfile
from stores.formats.base import LineClass
from stores.formats.canonical import Form, pretty
from stores.formats.lines import split_lines
from stores.formats.phase_memory import aliases, records
from stores.formats.phase_memory.layout import EntryKind, Role, file_name, may_be_created, named_id, path_for, place_of
from stores.formats.phase_memory.reading import LogLine, new_root, read_log_line, read_record, read_root

NODE: dict[str, object] = {"id": "decision.a", "kind": "decision", "text": "Pages by cursor."}


def line(data: bytes, record_type: str = "event") -> LogLine:
    (found,) = [read_log_line(record_type, one) for one in split_lines([data])]
    return found


@pytest.mark.parametrize(
    ("data", "refused"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"{", "bad_json"),
        (b"[]", "not_object"),
        (b'{"id":"a"}{"id":"b"}', "bad_json"),
        (b'{"id":"a","id":"b"}', "dup_key"),
        (b'{"id":"a","c":NaN}', "nan"),
        (b'{"id":"a\xff"}', "bad_utf8"),
        (b'{"kind":"decision"}', "bad_id"),
        (b'{"id":""}', "bad_id"),
        (b'{"id":7}', "bad_id"),
        (b'{"id":"a\\u0007"}', "bad_id"),
        (b'{"id":"../../profiles/admin"}', "bad_id"),
        (b'{"id":"a\\\\..\\\\b"}', "bad_id"),
        (b'{"id":".."}', "bad_id"),
        (json.dumps({"id": "a" * 201}).encode(), "bad_id"),
        (b'{"id":"a"}' + b" " * jsonfile.SIZE_CAP, "too_large"),
    ],
    ids=lambda case: repr(case)[:24],
)
def test_a_bad_record_file_is_refused_for_its_cause(data: bytes, refused: str) -> None:
    read = read_record("node", data)
    assert (read.refused, read.id, read.value) == (refused, "", {})


@pytest.mark.parametrize("name", ["artifact.src/a/models.py", "turn:ab:№7", "entity.x (legacy)", "..a", "a" * 200])
def test_odd_ids_are_read_and_have_file_names_of_their_own(name: str) -> None:
    read = read_record("node", pretty({**NODE, "id": name}))
    assert (read.refused, read.id, read.form) == ("", name, Form())
    assert "/" not in file_name(name)
    assert named_id(f"nodes/{file_name(name)}") == name


def test_names_are_percent_encoded_but_for_letters_digits_and_four_marks() -> None:
    assert path_for("node", "Az09_-.~ /№") == "nodes/Az09_-.~%20%2F%E2%84%96.json"
    assert may_be_created("decision.contract-boundary")
    assert not any(may_be_created(odd) for odd in ("a/b", "a b", "..", "a.json", "con", "é", "a" * 129))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
def test_every_id_comes_back_from_its_file_name(name: str) -> None:
    assert named_id(f"nodes/{file_name(name)}") == name


@pytest.mark.parametrize(
    ("path", "kind", "role"),
    [
        ("phase-memory.json", EntryKind.FILE, Role.ROOT),
        ("nodes", EntryKind.FOLDER, Role.FOLDER),
        ("nodes", EntryKind.FILE, Role.MISPLACED),
        ("nodes/a.json", EntryKind.FILE, Role.RECORD),
        ("nodes/a.json", EntryKind.OTHER, Role.MISPLACED),
        ("nodes/a.json", EntryKind.LINK, Role.LINK),
        ("nodes/a.json", EntryKind.FOLDER, Role.UNEXPECTED),
        ("nodes/a.txt", EntryKind.FILE, Role.UNEXPECTED),
        ("nodes/.a.json", EntryKind.FILE, Role.IGNORED),
        ("nodes/old/a.json", EntryKind.FILE, Role.IGNORED),
        ("events.jsonl", EntryKind.FILE, Role.LOG),
        ("events.jsonl", EntryKind.FOLDER, Role.MISPLACED),
        ("events.jsonl.bak", EntryKind.FILE, Role.UNEXPECTED),
        (".git", EntryKind.FOLDER, Role.IGNORED),
        ("cache", EntryKind.FOLDER, Role.UNEXPECTED),
    ],
)
def test_every_entry_has_its_place(path: str, kind: EntryKind, role: Role) -> None:
    assert place_of(path, kind).role is role


@pytest.mark.parametrize(
    ("data", "version", "cause"),
    [
        (None, "", "missing"),
        (b"", "", "empty"),
        (b"{}", "", "no_version"),
        (b'{"schema_version":7}', "", "no_version"),
        (b'{"schema_version":"a","schema_version":"b"}', "", "dup_key"),
        (b'{"schema_version":"phase_memory.local_store.v1","id":7}\n', "phase_memory.local_store.v1", ""),
        (b'\xef\xbb\xbf{"schema_version":"phase_memory.local_store.v9"}\r\n', "phase_memory.local_store.v9", ""),
    ],
)
def test_the_root_file_says_the_version_or_why_not(data: bytes | None, version: str, cause: str) -> None:
    root = read_root(data)
    assert read_root(new_root()).supported
    assert (root.version, root.cause, root.supported) == (version, cause, version == "phase_memory.local_store.v1")


@pytest.mark.parametrize(
    ("data", "line_class", "refused"),
    [
        (b" \t\r\n", LineClass.BLANK, ""),
        (b'{"event_id":"a"}\n', LineClass.RECORD, ""),
        (b'{"event_id":"a"}', LineClass.RECORD, ""),
        (b'{"event_id":"a"', LineClass.PENDING, "bad_json"),
        (b"\0\0\0", LineClass.PENDING, "nul_run"),
        (b'{"path_id":"p"}\n', LineClass.REFUSED, "bad_id"),
        (b'{"id":null,"event_id":"a"}\n', LineClass.RECORD, ""),
        (b'{"id":"a"}{"id":"b"}\n', LineClass.REFUSED, "glued"),
        (b'{"id":"' + b"a" * (1 << 20) + b'"}\n', LineClass.REFUSED, "line_too_long"),
    ],
    ids=lambda case: repr(case)[:24],
)
def test_every_line_has_one_class(data: bytes, line_class: LineClass, refused: str) -> None:
    read = line(data)
    assert (read.line_class, read.refused) == (line_class, refused)


def test_an_audit_record_without_an_own_id_has_that_of_its_operation() -> None:
    assert line(b'{"operation_id":"op.1","operation":"graph.import"}\n', "audit").id == "op.1"


@given(st.binary(max_size=80))
def test_any_bytes_are_read_without_an_error(data: bytes) -> None:
    read_record("node", data)
    read_root(data)
    for record_type in ("event", "audit"):
        for one in split_lines([data]):
            read_log_line(record_type, one)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = [
    "kind",
    "text",
    "content",
    "phase",
    "lifecycle_state",
    "state",
    "status",
    "confidence",
    "policy",
    "metadata",
    "provenance",
    "usage",
    "freshness",
    "namespace",
    "tags",
    "source",
    "target",
    "event_ids",
    "parent_path_id",
    "merge_target",
    "node_ids",
    "items",
    "omitted",
    "budget",
    "node_updates",
    "path_updates",
    "timestamp",
    "actor",
    "sequence",
    "targets",
    "dry_run",
    "requires_review",
    "title",
    "created_at",
]


@given(st.dictionaries(st.sampled_from(FIELDS), json_values))
def test_records_with_values_of_any_type_are_read(value: dict[str, object]) -> None:
    for record_type, read in records.READERS.items():
        record = {**value, aliases.ID_FIELD[record_type]: "a"}
        found = read(record)
        assert (found[0], found[-1]) == ("a", record)


def test_a_node_is_read_by_its_own_names_and_by_others() -> None:
    own = records.node({**NODE, "lifecycle_state": "stale", "provenance": {"source_event_ids": ["e", 7, "e"]}, "confidence": True})
    assert (own.text, own.state, own.phase, own.phase_assumed, own.confidence) == (NODE["text"], "stale", "fluid", True, None)
    assert own.provenance.source_event_ids == ("e",)
    other: dict[str, object] = {
        "schema_version": "phase_memory.node.v1",
        "node": {"id": "b", "kind": "claim", "content": "x", "status": "archived"},
    }
    read = records.node(other)
    assert (read.id, read.text, read.state, read.value) == ("b", "x", "archived", other)
    assert not read.durable
    assert records.node({**NODE, "phase": "rigid"}).durable


def test_an_event_says_what_it_changed() -> None:
    record: dict[str, object] = {
        "id": "e",
        "schema_version": "acme.v1",
        "node_updates": [{"node_id": "n", "operation": "create"}, {"operation": "create"}, 7],
        "path_updates": [{"path_id": "p", "operation": "merge", "merge_target": "q"}],
    }
    read = records.event(record)
    assert [tuple(change) for change in read.changes] == [("node", "n", "create", ""), ("path", "p", "merge", "q")]
    assert not read.known_version
    assert records.event(record, {"acme.v1"}).known_version


@pytest.mark.parametrize(("marker", "approved"), [(None, False), ("", False), (" ", False), (True, False), ("memoryui:1", True)])
def test_only_a_text_that_is_not_blank_approves(marker: object, approved: bool) -> None:
    assert records.audit({"audit_id": "a", "approval_marker": marker}).approved is approved


def test_a_field_is_written_back_under_the_name_that_the_record_has() -> None:
    assert aliases.spelling("path", {"merged_into": "p"}, "merge_target") == "merged_into"
    assert aliases.spelling("path", {"merge_target": None, "merged_into": "p"}, "merge_target") == "merged_into"
    assert aliases.spelling("path", {"merge_target": None}, "merge_target") == "merge_target"
    assert aliases.spelling("path", {}, "merge_target") == "merge_target"
    assert aliases.canonical_names("edge", {"id": "e", "from": "a", "to": "b", "type": "supports"}) == {
        "id": "e",
        "source": "a",
        "target": "b",
        "kind": "supports",
    }
