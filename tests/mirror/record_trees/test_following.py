"""A store of record files is followed file by file, and whatever happens to it, the mirror says what a fresh one would."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from stores.formats.canonical import digest, log_line
from stores.mirror.importing import ImportProgress, import_store
from stores.mirror.links import LINKS
from stores.mirror.record_trees import remembering
from stores.mirror.relocating import remove_store
from stores.models import (
    Activation,
    AuditRecord,
    Change,
    Event,
    EventText,
    EventUpdate,
    EventVersion,
    Fault,
    MemoryPath,
    Node,
    RecordFile,
    RecordTree,
    RecordVersion,
    RefusedLine,
    SourceFile,
    Store,
)
from tests.mirror.images import image, register
from tests.phase_memory_folders import append, audit, edge, event, make_store, node, path, put

pytestmark = pytest.mark.django_db

LONG_AGO = 1_770_000_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return settled(make_store(tmp_path.resolve() / "store"))


@pytest.fixture
def store(root: Path) -> Store:
    store = register(root, kind="phase-memory")
    import_store(store)
    return store


def settled(root: Path) -> Path:
    """Date back what was just written, so that none counts as just being written; the rest is left untouched."""
    for place in [*root.rglob("*.json"), *root.glob("*.jsonl")]:
        if place.lstat().st_mtime > LONG_AGO + 1:
            os.utime(place, (LONG_AGO, LONG_AGO), follow_symlinks=False)
    return root


def codes(store: Store) -> list[tuple[str, str]]:
    return sorted(Fault.objects.filter(store=store).values_list("code", "path"))


def test_every_record_is_mirrored_with_what_it_says(store: Store) -> None:
    first, second, third = Node.objects.filter(store=store).order_by("natural_id")
    assert (first.natural_id, first.agent, first.title, first.path) == ("node.a", "agent.planner", "Pages by cursor.", "nodes/node.a.json")
    assert [item.event_id for item in first.source_events.all()] == ["event.0001"]
    assert (second.label, second.phase, second.state, second.review) == ("draft, local", "fluid", "active", "")
    assert (third.phase, third.review) == ("rigid", "reviewed")
    assert bytes(third.digest).hex() == digest(node("node.c", phase="rigid")).removeprefix("sha256:")
    only = MemoryPath.objects.get(store=store)
    assert [item.event_id for item in only.listed_events.order_by("position")] == ["event.0002", "event.0003"]
    said = Activation.objects.get(store=store).items.order_by("position").values_list("node_id", "chosen", "reason", "tokens")
    assert list(said) == [("node.a", True, "recent", 20.0), ("node.b", False, "budget_items", None)]
    began = Event.objects.get(store=store, natural_id="event.0001")
    assert list(began.updates.values_list("target_type", "target_id", "operation")) == [("node", "node.a", "create")]
    applied = AuditRecord.objects.get(store=store, sequence=2)
    assert (applied.applied, applied.approved, applied.subject_id) == (True, True, "action:1")
    assert list(applied.targets.values_list("target_id", flat=True)) == ["node.c"]
    assert codes(store) == []


def test_nothing_is_read_where_nothing_moved(store: Store) -> None:
    stamp = RecordTree.objects.get(store=store).stamp
    run = import_store(store)
    assert (run.files_read, run.bytes_read) == (0, 0)
    assert RecordTree.objects.get(store=store).stamp == stamp


def test_a_reworded_record_keeps_its_key_and_its_earlier_wording(root: Path, store: Store) -> None:
    before = Node.objects.get(store=store, natural_id="node.a")
    first = (root / "nodes/node.a.json").read_bytes()
    put(root, "node", node("node.a", text="Pages by offset.", provenance={"source_event_ids": ["event.0002", "event.0003"]}))
    run = import_store(store)
    after = Node.objects.get(store=store, natural_id="node.a")
    assert (after.pk, after.title, run.files_read) == (before.pk, "Pages by offset.", 1)
    assert [item.event_id for item in after.source_events.order_by("position")] == ["event.0002", "event.0003"]
    version = RecordVersion.objects.get(store=store, record_type="node", record_id=before.pk)
    assert (bytes(version.raw), bytes(version.digest)) == (first, bytes(before.digest))
    assert list(Change.objects.filter(store=store, path="nodes/node.a.json").values_list("what", "updated")) == [("rewritten", 1)]


def test_a_renamed_file_keeps_its_record(root: Path, store: Store) -> None:
    before = Node.objects.get(store=store, natural_id="node.b")
    (root / "nodes/node.b.json").rename(root / "nodes/other.json")
    import_store(store)
    after = Node.objects.get(store=store, natural_id="node.b")
    assert (after.pk, after.gone_at, after.path) == (before.pk, None, "nodes/other.json")
    assert codes(store) == [("filename_id_mismatch", "nodes/other.json")]


def test_a_file_that_went_takes_its_record_along_and_brings_it_back(root: Path, store: Store) -> None:
    place = root / "nodes/node.b.json"
    content, pk = place.read_bytes(), Node.objects.get(store=store, natural_id="node.b").pk
    place.unlink()
    import_store(store)
    gone = Node.objects.get(pk=pk)
    assert (gone.gone_at is not None, gone.gone_reason) == (True, "file vanished")
    assert codes(store) == [("missing_edge_endpoint", "edges/edge.a.json")]
    place.write_bytes(content)
    import_store(store)
    assert Node.objects.get(pk=pk).gone_at is None
    assert codes(store) == []


def test_a_file_that_cannot_be_read_any_more_shows_its_last_good_version(root: Path, store: Store) -> None:
    place = root / "nodes/node.b.json"
    place.write_bytes(b'{"id": "node.b", ')
    settled(root)
    now = datetime(2026, 6, 1, tzinfo=UTC)
    import_store(store, now=now)
    kept = Node.objects.get(store=store, natural_id="node.b")
    assert (kept.title, kept.unreadable_since, kept.unreadable_cause, kept.gone_at) == ("Pages by cursor.", now, "bad_json", None)
    assert bytes(RecordFile.objects.get(store=store, path="nodes/node.b.json").raw) == b'{"id": "node.b", '
    # Rules take the file as it is: the id that it may hold is not there.
    assert codes(store) == [("malformed_record_file", "nodes/node.b.json"), ("missing_edge_endpoint", "edges/edge.a.json")]
    put(root, "node", node("node.b", text="Mended."))
    import_store(store)
    mended = Node.objects.get(pk=kept.pk)
    assert (mended.title, mended.unreadable_since, mended.unreadable_cause) == ("Mended.", None, "")
    assert codes(store) == []


def test_of_two_files_with_one_id_the_one_of_that_name_counts(root: Path, store: Store) -> None:
    shutil.copy(root / "nodes/node.a.json", root / "nodes/copy.json")
    import_store(store)
    both = dict(Node.objects.filter(store=store, natural_id="node.a", gone_at__isnull=True).values_list("path", "is_duplicate"))
    assert both == {"nodes/node.a.json": False, "nodes/copy.json": True}
    (root / "nodes/copy.json").unlink()
    import_store(store)
    assert not Node.objects.filter(store=store, is_duplicate=True, gone_at__isnull=True).exists()


def test_links_and_pipes_are_faults_and_not_opened(root: Path, store: Store, tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_bytes(b'{"id": "node.secret", "kind": "decision"}')
    (root / "nodes/link.json").symlink_to(tmp_path / "secret.json")
    os.mkfifo(root / "nodes/pipe.json")
    (root / "nodes/notes.txt").write_text("x")
    import_store(store)
    assert codes(store) == [
        ("malformed_record_file", "nodes/pipe.json"),
        ("symlink_in_store", "nodes/link.json"),
        ("unexpected_file", "nodes/notes.txt"),
    ]
    assert not Node.objects.filter(store=store, natural_id="node.secret").exists()


def test_a_refused_line_of_a_log_is_kept_and_an_audit_record_closes_it(root: Path, store: Store) -> None:
    with (root / "events.jsonl").open("ab") as log:
        log.write(b'{"id": "event.4", \n')
    import_store(store)
    fault = Fault.objects.get(store=store)
    assert (fault.code, fault.line, fault.told_key, fault.told_subject, fault.closed_in_store) == (
        "malformed_event_line",
        4,
        None,
        None,
        False,
    )
    refused = RefusedLine.objects.get(store=store)
    assert (bytes(refused.raw), refused.line) == (b'{"id": "event.4", ', 4)
    last = json.loads((root / "audit.jsonl").read_bytes().splitlines()[-1])
    target = {"file": "events.jsonl", "line": 4, "sha256": bytes(refused.sha256).hex()}
    append(root, "audit.jsonl", audit(3, last, operation="store.repair.acknowledge", decision="acknowledged", targets=[target]))
    import_store(store)
    fault.refresh_from_db()
    assert fault.closed_in_store


def test_an_operator_makes_a_version_known_without_a_restart(root: Path, store: Store) -> None:
    append(root, "events.jsonl", event(4, schema_version="other.event.v3"))
    import_store(store)
    assert codes(store) == [("unknown_event_schema_version", "events.jsonl")]
    assert Event.objects.get(store=store, natural_id="event.0004").standing == "unknown version"
    EventVersion.objects.create(name="other.event.v3")
    import_store(store)
    assert codes(store) == []
    assert Event.objects.get(store=store, natural_id="event.0004").standing == ""


def test_a_store_whose_root_file_is_broken_tells_only_that(root: Path, store: Store) -> None:
    (root / "nodes/node.b.json").unlink()
    (root / "phase-memory.json").write_text("{}")
    import_store(store)
    assert codes(store) == [("store_root_missing", "phase-memory.json")]
    store.refresh_from_db()
    assert store.verdict == "unavailable"
    (root / "phase-memory.json").write_text('{"schema_version": "phase_memory.local_store.v1"}')
    import_store(store)
    assert codes(store) == [("missing_edge_endpoint", "edges/edge.a.json")]


def test_a_store_that_is_gone_has_no_records_until_it_is_back(root: Path, store: Store) -> None:
    elsewhere = root.with_name("moved")
    root.rename(elsewhere)
    import_store(store)
    assert not Node.objects.filter(store=store, gone_at__isnull=True).exists()
    assert codes(store) == [("unreadable", ".")]
    elsewhere.rename(root)
    import_store(store)
    assert Node.objects.filter(store=store, gone_at__isnull=True).count() == 3
    assert codes(store) == []


def test_an_import_that_was_cut_off_is_made_up_for(root: Path, store: Store) -> None:
    put(root, "edge", edge("edge.b", "node.a", "node.lost"))
    import_store(store)
    Fault.objects.filter(store=store).delete()
    remembering.unstamp(store)
    remembering.forget(store)
    import_store(store)
    assert codes(store) == [("missing_edge_endpoint", "edges/edge.b.json")]


class Stopped(BaseException):
    """What a worker raises where it is told to end."""


@pytest.mark.parametrize("log", ["events.jsonl", "audit.jsonl"])
@pytest.mark.parametrize("cold", [False, True])
def test_a_stop_while_a_log_is_read_loses_nothing(root: Path, store: Store, log: str, cold: bool) -> None:
    changed = [{"node_id": "node.b", "operation": "update"}]
    append(root, "events.jsonl", event(4, schema_version="other.event.v9"), event(5, node_updates=changed), event(5, kind="odd"))
    last = json.loads((root / "audit.jsonl").read_bytes().splitlines()[-1])
    target = {"record_type": "node", "id": "node.b", "before_digest": None, "after_digest": "x"}
    append(root, "audit.jsonl", audit(3, last, operation="lifecycle.apply", targets=[target]), audit(9))
    settled(root)

    def stop(progress: ImportProgress) -> None:
        if progress.path == log:
            raise Stopped

    with pytest.raises(Stopped):
        import_store(store, progress=stop)
    if cold:
        remembering.forget(store)
    import_store(store)
    assert EventUpdate.objects.filter(store=store, target_id="node.b").count() == 1
    ended = whole_image(store)
    assert any(code == "duplicate_event_id" for code, *_ in ended["told"])
    remove_store(store)
    fresh = register(root, kind="phase-memory")
    import_store(fresh, full=True)
    assert ended == whole_image(fresh)


def test_a_last_line_that_ends_later_keeps_its_faults_and_its_links(root: Path, store: Store) -> None:
    changed = [{"node_id": "node.b", "operation": "update"}]
    tear(root / "events.jsonl", log_line(event(4, schema_version="other.event.v9", node_updates=changed)).rstrip(b"\n"))
    import_store(settle_first(root, store))
    said = Event.objects.filter(store=store, natural_id="event.0004").values_list("fault_count", "standing")
    assert list(said) == [(1, "unknown version")]
    tear(root / "events.jsonl", b"\n")
    import_store(settle_first(root, store))
    assert list(said.all()) == [(1, "unknown version")]
    assert EventUpdate.objects.filter(store=store, target_id="node.b").count() == 1


def test_what_stood_in_a_log_before_is_not_read_again(root: Path, store: Store) -> None:
    import_store(store)
    other = log_line(event(3, node_updates=[{"node_id": "node.other", "operation": "update"}])).rstrip(b"\n")
    EventText.objects.filter(record__store=store, record__line=3).update(raw=other)
    for number in (4, 5):
        append(root, "events.jsonl", event(number, node_updates=[{"node_id": "node.b", "operation": "update"}]))
        import_store(store)
    assert list(EventUpdate.objects.filter(store=store).values_list("target_id", flat=True).order_by("id")) == [
        "node.a",
        "node.b",
        "node.b",
    ]


def whole_image(store: Store) -> dict[str, Any]:
    """Give everything that the mirror says; records of one folder in no order."""
    result = {name: sorted(value, key=repr) if isinstance(value, list) else value for name, value in image(store).items()}
    for name, table in LINKS.items():
        columns = ("record__natural_id", "position", *table.columns)
        live = table.model._default_manager.filter(store=store, record__gone_at__isnull=True)
        result[f"{name} links"] = sorted(live.values_list(*columns), key=repr)
    told = Fault.objects.filter(store=store).values_list("code", "path", "line", "own_key", "closed_in_store", "repair_mode")
    result["told"] = sorted(told, key=repr)
    folders = SourceFile.objects.filter(store=store).exclude(record_type="")
    result["lines"] = sorted(folders.values_list("path", "lines_record", "lines_refused", "exists"))
    return result


def tear(log: Path, data: bytes) -> None:
    """Append bytes that end where they happen to."""
    with log.open("ab") as opened:
        opened.write(data)


def move(root: Path, what: str, number: int) -> None:
    """Do one thing that agents, people and accidents do to a store."""
    name = f"node.{'abcdef'[number % 6]}"
    place = root / f"nodes/{name}.json"
    phases = ("ephemeral", "fluid", "stabilized", "rigid", "liquid")
    moves: dict[str, Callable[[], object]] = {
        "write node": lambda: put(root, "node", node(name, phase=phases[number % 5], text=f"text {number}")),
        "supersede": lambda: put(root, "node", node(name, superseded_by=f"node.{'abcdef'[number // 2 % 6]}", phase="rigid")),
        "drop node": lambda: place.unlink(missing_ok=True),
        "copy node": lambda: shutil.copy(place, root / f"nodes/copy{number % 3}.json") if place.exists() else None,
        "drop copy": lambda: (root / f"nodes/copy{number % 3}.json").unlink(missing_ok=True),
        "break": lambda: (root / f"edges/broken{number % 2}.json").write_text('{"id": '),
        "mend": lambda: (root / f"edges/broken{number % 2}.json").unlink(missing_ok=True),
        "write edge": lambda: put(root, "edge", edge(f"edge.{number % 3}", name, f"node.{'abcdef'[number // 3 % 6]}")),
        "write path": lambda: put(
            root, "path", path(f"path.{'abc'[number % 3]}", f"event.{number % 8:04d}", parent_path_id=f"path.{'abc'[number // 2 % 3]}")
        ),
        "drop path": lambda: (root / f"paths/path.{'abc'[number % 3]}.json").unlink(missing_ok=True),
        "event": lambda: append(root, "events.jsonl", event(number % 8, path_id=f"path.{'abcd'[number % 4]}", action_id=f"a{number % 3}")),
        "torn event": lambda: tear(root / "events.jsonl", log_line(event(number % 9))[: 20 + number % 400]),
        "audit": lambda: append(
            root, "audit.jsonl", audit(3, operation="lifecycle.apply", subject_id=f"a{number % 3}", targets=[{"record_type": "node", "id": name, "after_digest": "x"}])
        ),
        "truncate": lambda: os.truncate(root / "events.jsonl", (root / "events.jsonl").stat().st_size // 2),
        "other file": lambda: (root / f"extra{number % 2}.txt").write_text("x"),
        "link": lambda: (root / "edges/link.json").symlink_to("nowhere") if not (root / "edges/link.json").is_symlink() else None,
        "drop folder": lambda: shutil.rmtree(root / "activations", ignore_errors=True),
        "version": lambda: (root / "phase-memory.json").write_text(
            json.dumps({"schema_version": f"phase_memory.local_store.v{1 + number % 2}"})
        ),
    }  # fmt: skip
    moves[what]()


MOVES = (
    "write node", "supersede", "drop node", "copy node", "drop copy", "break", "mend", "write edge", "write path", "drop path",
    "event", "torn event", "audit", "truncate", "other file", "link", "drop folder", "version",
)  # fmt: skip


@settings(
    max_examples=12,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    turns=st.lists(st.lists(st.tuples(st.sampled_from(MOVES), st.integers(0, 400)), min_size=1, max_size=4), max_size=5), cold=st.booleans()
)
def test_any_changes_end_as_a_fresh_mirror(tmp_path: Path, turns: list[list[tuple[str, int]]], cold: bool) -> None:
    root = tmp_path.resolve() / "store"
    shutil.rmtree(root, ignore_errors=True)
    make_store(root)
    store = register(root, kind="phase-memory")
    import_store(settle_first(root, store))
    for turn in turns:
        for what, number in turn:
            move(root, what, number)
        settled(root)
        if cold:
            remembering.forget(store)
        import_store(store)
    ended = whole_image(store)
    remove_store(store)
    fresh = register(root, kind="phase-memory")
    import_store(fresh, full=True)
    assert ended == whole_image(fresh)
    remove_store(fresh)


def settle_first(root: Path, store: Store) -> Store:
    settled(root)
    return store


def test_reading_again_keeps_two_hundred_versions(root: Path, store: Store) -> None:
    pk = Node.objects.get(store=store, natural_id="node.a").pk
    start = datetime(2026, 6, 1, tzinfo=UTC)
    RecordVersion.objects.bulk_create(
        RecordVersion(
            record_type="node", record_id=pk, store=store, replaced_at=start + timedelta(minutes=one), line=1, sha256=b"", raw=b""
        )
        for one in range(200)
    )
    put(root, "node", node("node.a", text="The newest."))
    import_store(store, now=start + timedelta(days=1))
    versions = RecordVersion.objects.filter(record_type="node", record_id=pk)
    assert (versions.count(), versions.order_by("replaced_at")[0].replaced_at) == (200, start + timedelta(minutes=1))
