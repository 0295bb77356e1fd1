"""The other files of a store: those of which there may be many, those that are one record, and companions beside it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from stores.mirror import reading_ahead
from stores.mirror.importing import import_store
from stores.mirror.relocating import relocate_store
from stores.mirror.resetting import check_mirror
from stores.models import (
    Change,
    Decision,
    Fault,
    Flow,
    ForeignRecord,
    GraphItem,
    ImportRun,
    Mem0Operation,
    MemoryMd,
    PreferenceFile,
    QueueOperation,
    RefusedLine,
    SessionEvent,
    SourceFile,
    Store,
)
from tests.mirror.images import fresh_image, image, register

pytestmark = pytest.mark.django_db

LONG_AGO = time.time() - 3600


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project" / ".claude" / "memory"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def store(root: Path) -> Store:
    return register(root)


def write(path: Path, *records: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def event(number: int, session: str = "s") -> dict[str, object]:
    identity = {"session_id": session, "timestamp": "2026-03-01T10:00:00.000Z"}
    return {"event_id": f"evt-{number}-1", "event_type": "tool_used", "identity": identity, "payload": {"name": "Grep", "success": True}}


def flow(session: str, minute: int, actions: int = 1) -> dict[str, object]:
    at = f"2026-03-01T10:{minute:02d}:00.000Z"
    return {"session_id": session, "actions": [], "last_action_at": at, "stats": {"total_actions": actions}}


def operation(name: str) -> dict[str, object]:
    entity = {"name": name, "entityType": "Tool", "observations": []}
    return {"type": "create_entities", "payload": {"entities": [entity]}, "timestamp": "2026-03-01T10:00:00Z"}


def live(model: type, store: Store) -> list[object]:
    return list(model.objects.filter(store=store, gone_at__isnull=True).order_by("file__path", "line"))  # type: ignore[attr-defined]


def total(run: ImportRun, record_type: str) -> tuple[int, int, int, int]:
    counts = run.records[record_type]
    return counts["created"], counts["updated"], counts["removed"], counts["total"]


def test_a_session_that_comes_is_read_and_one_that_goes_takes_its_records_along(root: Path, store: Store) -> None:
    write(root / "sessions/one/events.jsonl", event(1), event(2))
    import_store(store)
    write(root / "sessions/two/events.jsonl", event(3))
    assert total(import_store(store), "session_event") == (1, 0, 0, 3)
    (root / "sessions/one/events.jsonl").unlink()
    (root / "sessions/one").rmdir()
    assert total(import_store(store), "session_event") == (0, 0, 2, 1)
    assert [one.file.path for one in live(SessionEvent, store)] == ["sessions/two/events.jsonl"]  # type: ignore[attr-defined]
    assert set(SessionEvent.objects.exclude(gone_at=None).values_list("gone_reason", flat=True)) == {"file vanished"}
    source = SourceFile.objects.get(store=store, path="sessions/one/events.jsonl")
    assert (source.exists, source.state) == (False, "missing")
    assert Change.objects.filter(path=source.path).values_list("what", flat=True)[0] == "vanished"
    write(root / "sessions/one/events.jsonl", event(1), event(2))
    assert total(import_store(store), "session_event") == (2, 0, 0, 3)
    assert check_mirror(store) == []


def test_sessions_that_stand_still_cost_no_query_each(root: Path, store: Store) -> None:
    queries = []
    for sessions in (3, 60):
        for number in range(sessions):
            os.utime(write(root / f"sessions/s{number}/events.jsonl", event(number)), (LONG_AGO, LONG_AGO))
        import_store(store, trigger="sweep")
        with CaptureQueriesContext(
            connection,
        ) as captured:
            run = import_store(store, trigger="sweep")
        assert (run.files_read, run.bytes_read) == (0, 0)
        queries.append(len(captured))
    assert queries[0] == queries[1]


def test_a_line_appended_to_one_of_many_sessions_is_all_that_is_read(root: Path, store: Store) -> None:
    for number in range(20):
        os.utime(write(root / f"sessions/s{number}/events.jsonl", event(number)), (LONG_AGO, LONG_AGO))
    import_store(store)
    line = json.dumps(event(99)) + "\n"
    with (root / "sessions/s7/events.jsonl").open("a") as out:
        out.write(line)
    run = import_store(store)
    assert (run.files_read, run.bytes_read) == (1, len(line))
    assert total(run, "session_event") == (1, 0, 0, 21)


def test_operations_of_a_queue_that_was_archived_say_where_they_are(root: Path, store: Store) -> None:
    queue = write(root / "graph-queue.jsonl", operation("redis"), operation("go"))
    import_store(store)
    (root / "archive").mkdir()
    name = "archive/2026-02-01T10-00-00-000Z-graph-queue.jsonl"
    queue.rename(root / name)
    run = import_store(store)
    assert total(run, "queue_operation") == (0, 0, 2, 0)
    assert set(QueueOperation.objects.values_list("gone_reason", flat=True)) == {f"archived to {name}"}
    assert [one.form for one in live(ForeignRecord, store)] == ["archived queue"] * 2  # type: ignore[attr-defined]


def test_a_new_queue_in_the_place_of_an_archived_one_does_not_hide_where_that_went(root: Path, store: Store) -> None:
    queue = write(root / "graph-queue.jsonl", operation("redis"))
    import_store(store)
    (root / "archive").mkdir()
    queue.rename(root / "archive/x-graph-queue.jsonl")
    write(queue, operation("go"))
    import_store(store)
    assert [one.title for one in live(QueueOperation, store)] != []  # type: ignore[attr-defined]
    assert QueueOperation.objects.exclude(gone_at=None).get().gone_reason == "archived to archive/x-graph-queue.jsonl"


def test_a_queue_that_is_deleted_went_nowhere_even_if_its_number_comes_again(root: Path, store: Store) -> None:
    queue = write(root / "graph-queue.jsonl", operation("redis"))
    import_store(store)
    queue.unlink()
    write(root / "archive/x-graph-queue.jsonl", operation("another"), operation("entirely"))
    import_store(store)
    assert QueueOperation.objects.get().gone_reason == "file vanished"


def standings(store: Store) -> list[tuple[str, int, str]]:
    flows = Flow.objects.filter(store=store, gone_at__isnull=True).order_by("file__path", "line")
    return list(flows.values_list("file__path", "line", "standing"))


def test_the_last_line_of_a_session_is_its_last_flow(root: Path, store: Store) -> None:
    log = write(root / "completed-flows.jsonl", flow("a", 1), flow("b", 2), flow("a", 3))
    import_store(store)
    assert [standing for _, _, standing in standings(store)] == ["earlier", "last", "last"]
    with log.open("a") as out:
        out.write(json.dumps(flow("b", 1)) + "\n")
    import_store(store)
    assert [standing for _, _, standing in standings(store)] == ["earlier", "earlier", "last", "last"]
    write(log, flow("a", 1), flow("b", 2))
    import_store(store)
    assert [standing for _, _, standing in standings(store)] == ["last", "last"]
    assert check_mirror(store) == []


def test_the_file_of_a_session_counts_where_it_tells_of_something_later(root: Path, store: Store) -> None:
    write(root / "completed-flows.jsonl", flow("a", 1), flow("a", 5))
    own = write(root / "flows/a.json", flow("a", 9))
    import_store(store)
    assert [standing for _, _, standing in standings(store)] == ["earlier", "earlier", "last"]
    write(own, flow("a", 2))
    import_store(store)
    assert [standing for _, _, standing in standings(store)] == ["earlier", "last", "earlier"]
    write(own, flow("another", 2))
    import_store(store)
    assert [standing for _, _, standing in standings(store)] == ["earlier", "last", "last"]
    assert image(store) == fresh_image(root)


def test_of_equal_texts_in_the_retired_queue_the_newest_waits(root: Path, store: Store) -> None:
    def queued(text: str, minute: int) -> dict[str, object]:
        return {"text": text, "user_id": "u", "metadata": {}, "queued_at": f"2026-03-01T10:{minute:02d}:00.000Z"}

    log = write(root / "mem0-queue.jsonl", queued("Use redis", 5), queued(" use REDIS ", 3), queued("use go", 1))
    import_store(store)
    assert [one.standing for one in live(Mem0Operation, store)] == ["waiting", "duplicate", "waiting"]  # type: ignore[attr-defined]
    with log.open("a") as out:
        out.write(json.dumps(queued("use redis", 9)) + "\n")
    import_store(store)
    assert [one.standing for one in live(Mem0Operation, store)] == ["duplicate", "duplicate", "waiting", "waiting"]  # type: ignore[attr-defined]
    write(log, queued(" use REDIS ", 3))
    import_store(store)
    assert [one.standing for one in live(Mem0Operation, store)] == ["waiting"]  # type: ignore[attr-defined]
    assert check_mirror(store) == []


def test_a_run_counts_entities_and_relations_of_the_graph_apart(root: Path, store: Store) -> None:
    entity = {"type": "entity", "name": "redis", "entityType": "Tool", "observations": ["fast"]}
    relation = {"type": "relation", "from": "redis", "to": "go", "relationType": "USES"}
    write(root / "memory.json", entity, {**entity, "name": "go"}, relation, {"other": 1})
    run = import_store(store)
    assert total(run, "graph_entity") == (2, 0, 0, 2)
    assert total(run, "graph_relation") == (1, 0, 0, 1)
    assert total(run, "foreign") == (1, 0, 0, 1)
    write(root / "memory.json", {**entity, "observations": ["fast", "old"]}, {**entity, "name": "c"}, {**entity, "name": "go"})
    run = import_store(store)
    assert total(run, "graph_entity")[2:] == (0, 3)
    assert total(run, "graph_entity")[0] == 1
    assert total(run, "graph_relation") == (0, 0, 1, 0)
    assert total(run, "foreign") == (0, 0, 1, 0)


def test_a_file_that_is_one_record_keeps_its_address_and_its_earlier_content(root: Path, store: Store) -> None:
    file = root / "tool-preferences.json"
    file.write_text('{"usage": {"testing": {"Bash:pytest": 3}}, "preferences": {}}')
    import_store(store)
    first = PreferenceFile.objects.get(store=store)
    assert (first.natural_id, first.line, first.offset, first.length) == ("tool-preferences.json", 1, 0, file.stat().st_size)
    file.write_text('{\n  "usage": {"testing": {"Bash:pytest": 4}},\n  "preferences": {}\n}')
    assert total(import_store(store), "preference_file") == (0, 1, 0, 1)
    again = PreferenceFile.objects.get(store=store)
    assert (again.pk, bytes(again.text.raw)) == (first.pk, file.read_bytes())
    file.write_text("{")
    assert total(import_store(store), "preference_file") == (0, 0, 1, 0)
    assert bytes(RefusedLine.objects.get(store=store).raw) == b"{"


def test_of_a_file_beyond_the_cap_only_the_head_is_kept(root: Path, store: Store) -> None:
    with (root / "tool-preferences.json").open("wb") as out:
        out.write(b'{"usage":')
        out.truncate(16 * 1024 * 1024 + 1)
    (root / "notes.md").write_bytes(b"# Long\n" + b"a" * 2_000_000)
    run = import_store(store)
    assert run.status == "ok"
    refused = RefusedLine.objects.get(store=store)
    assert (refused.length, len(refused.raw), bytes(refused.raw)[:9]) == (16 * 1024 * 1024 + 1, 4096, b'{"usage":')
    assert Fault.objects.get(store=store, path="tool-preferences.json").code == "too_large"
    note = MemoryMd.objects.get(store=store)
    assert (note.length, len(note.text.raw)) == (2_000_007, 4096)


def test_companions_are_read_below_their_own_anchor(root: Path, store: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    project, home = root.parents[1], root.parents[2] / "home"
    monkeypatch.setenv("HOME", str(home))
    settings.STORE_ROOTS = (root.parents[2],)
    encoded = str(project).replace("/", "-").replace(".", "-")
    for path in (
        project / ".claude/rules/recent-decisions.md",
        project / ".claude/rules/other.md",
        project / ".claude/agent-memory/tester/MEMORY.md",
        home / f".claude/projects/{encoded}/memory/MEMORY.md",
        home / ".claude/projects/-another-project/memory/MEMORY.md",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# Notes\n")
    import_store(store)
    read = set(SourceFile.objects.filter(store=store, exists=True).exclude(record_type="").values_list("path", flat=True))
    assert read == {
        "project:.claude/rules/recent-decisions.md",
        "project:.claude/agent-memory/tester/MEMORY.md",
        f"home:.claude/projects/{encoded}/memory/MEMORY.md",
    }
    store.refresh_from_db()
    assert store.file_count == 0
    (project / ".claude/rules/recent-decisions.md").unlink()
    assert total(import_store(store), "memory_md") == (0, 0, 1, 2)
    settings.STORE_ROOTS = (project,)
    note = home / f".claude/projects/{encoded}/memory/MEMORY.md"
    note.write_text("# Said after the home folder was closed\n")
    assert total(import_store(store), "memory_md") == (0, 0, 1, 1)
    gone = MemoryMd.objects.get(store=store, file__path__startswith="home:")
    assert (bytes(gone.text.raw), gone.gone_reason) == (b"# Notes\n", "outside the allowed folders")
    settings.STORE_ROOTS = (root.parents[2],)
    assert total(import_store(store), "memory_md") == (1, 0, 0, 2)


def test_a_companion_that_is_a_link_is_not_followed(root: Path, store: Store) -> None:
    secret = root.parents[2] / "secret.md"
    secret.write_text("# Secret\n")
    rules = root.parent / "rules"
    rules.mkdir()
    (rules / "recent-decisions.md").symlink_to(secret)
    (root.parent / "agent-memory").symlink_to(root.parents[2])
    assert import_store(store).status == "ok"
    assert not MemoryMd.objects.exists()
    # One that was read and is a link now keeps what it said, with the reason.
    (rules / "recent-decisions.md").unlink()
    (rules / "recent-decisions.md").write_text("# Rules\n")
    import_store(store)
    (rules / "recent-decisions.md").unlink()
    (rules / "recent-decisions.md").symlink_to(secret)
    import_store(store)
    assert [bytes(one.text.raw) for one in live(MemoryMd, store)] == [b"# Rules\n"]  # type: ignore[attr-defined]
    assert Fault.objects.get(store=store, path="project:.claude/rules/recent-decisions.md").code == "symlink"


def test_a_file_named_like_a_companion_is_no_companion(root: Path, store: Store) -> None:
    (root / "project:.claude" / "rules").mkdir(parents=True)
    (root / "project:.claude" / "rules" / "recent-decisions.md").write_text("# Not it\n")
    (root / "project:note.md").write_text("# Not it\n")
    (root.parent / "rules").mkdir()
    (root.parent / "rules" / "recent-decisions.md").write_text("# It\n")
    import_store(store)
    assert [bytes(one.text.raw) for one in live(MemoryMd, store)] == [b"# It\n"]  # type: ignore[attr-defined]
    listed = SourceFile.objects.filter(store=store, state="listed").values_list("path", flat=True)
    assert sorted(listed) == ["./project:.claude/rules/recent-decisions.md", "./project:note.md"]


def test_names_that_are_no_text_or_too_long_are_listed_and_not_read(root: Path, store: Store) -> None:
    odd = os.fsencode(root) + b"/sessions/\xff"
    os.makedirs(odd)  # noqa: PTH103  a name that is no text has no Path of its own
    with open(odd + b"/events.jsonl", "wb") as out:  # noqa: PTH123
        out.write(json.dumps(event(1)).encode() + b"\n")
    write(root / "sessions" / "\\xff" / "events.jsonl", event(2), event(3))
    write(root / ("n" * 250 + ".json"), {"a": 1})
    for _ in range(2):
        assert import_store(store).status == "ok"
        assert [one.file.path for one in live(SessionEvent, store)] == [r"sessions/\xff/events.jsonl"] * 2  # type: ignore[attr-defined]


def test_a_file_that_another_reader_takes_now_is_read_anew(root: Path, store: Store) -> None:
    write(root / "decisions.jsonl", {"id": "decision-mx3a2c3b-a1", "content": {"what": "use redis"}, "entities": []})
    import_store(store)
    # As an earlier version may have left it, whose reader of this file was another one.
    SourceFile.objects.filter(store=store, path="decisions.jsonl").update(record_type="queue_operation")
    QueueOperation.objects.filter(store=store).delete()
    write(root / "notes.md", "x")
    SourceFile.objects.create(store=store, path="notes.md", state="listed")
    SourceFile.objects.create(store=store, path="nobody.reads", record_type="foreign", exists=True, state="ok")
    assert import_store(store).status == "ok"
    assert Decision.objects.filter(store=store, gone_at__isnull=True).count() == 1
    assert MemoryMd.objects.filter(store=store, gone_at__isnull=True).count() == 1
    assert not SourceFile.objects.filter(store=store, path="nobody.reads").exists()
    assert check_mirror(store) == []


def test_a_store_whose_folder_goes_loses_all_its_records(root: Path, store: Store) -> None:
    write(root / "sessions/one/events.jsonl", event(1))
    (root.parent / "rules").mkdir()
    (root.parent / "rules" / "recent-decisions.md").write_text("# It\n")
    import_store(store)
    root.rename(root.with_name("elsewhere"))
    import_store(store)
    assert live(SessionEvent, store) == live(MemoryMd, store) == []
    root.with_name("elsewhere").rename(root)
    import_store(store)
    assert len(live(SessionEvent, store)) == len(live(MemoryMd, store)) == 1
    assert image(store) == fresh_image(root)


def test_graph_names_come_from_the_graph_beside_the_queue(root: Path, store: Store) -> None:
    relation = {"from": "redis", "to": "go", "relationType": "USES"}
    write(
        root / "graph-queue.jsonl", {"type": "create_relations", "payload": {"relations": [relation]}, "timestamp": "2026-03-01T10:00:00Z"}
    )
    import_store(store)
    assert QueueOperation.objects.get().standing == "dangling end"
    write(root / "memory.json", *({"type": "entity", "name": name, "entityType": "Tool", "observations": []} for name in ("redis", "go")))
    import_store(store)
    assert QueueOperation.objects.get().standing == "waiting"
    assert GraphItem.objects.count() == 2


def test_a_session_is_read_ahead_by_a_process_of_its_own(
    root: Path, store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(reading_ahead, "AHEAD_FROM_BYTES", 1)
    monkeypatch.setattr(reading_ahead, "packs_of", None)  # so that only the other process can read
    write(root / "sessions/one/events.jsonl", *(event(number) for number in range(20)))
    assert total(import_store(store), "session_event") == (20, 0, 0, 20)
    assert "ended early" not in caplog.text


def test_a_store_that_moves_is_recognised_without_its_companions(root: Path, store: Store) -> None:
    write(root / "sessions/one/events.jsonl", event(1))
    (root.parent / "rules").mkdir()
    (root.parent / "rules" / "recent-decisions.md").write_text("# It\n")
    import_store(store)
    new = root.parents[2] / "new" / ".claude" / "memory"
    new.parent.mkdir(parents=True)
    root.rename(new)
    relocate_store(store, new)
    run = import_store(store)
    assert (total(run, "session_event")[2:], total(run, "memory_md")[2:]) == ((0, 1), (1, 0))
