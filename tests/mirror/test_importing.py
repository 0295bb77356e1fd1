"""One import after another over real files: identity of records, versions, vanished and unreadable files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from stores.mirror.importing import ImportProgress, import_store
from stores.mirror.resetting import check_mirror, reset_mirror
from stores.models import Change, Decision, Fault, FileVersion, Problem, QueueOperation, RecordVersion, RefusedLine, SourceFile, Store
from tests.mirror.images import fresh_image, image, register

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project" / ".claude" / "memory"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def store(root: Path) -> Store:
    return register(root)


def decision(what: str, number: int = 0, **more: object) -> bytes:
    record = {"id": f"decision-mx3a2c3b-{number:03d}", "type": "decision", "content": {"what": what}, "entities": ["redis"], **more}
    return json.dumps(record).encode() + b"\n"


def problem(number: int, text: str, status: str = "open") -> bytes:
    return json.dumps({"id": f"prob-{number}", "timestamp": "2026-03-01T10:00:00Z", "text": text, "status": status}).encode() + b"\n"


def test_every_line_has_one_class_and_keeps_its_place(root: Path, store: Store) -> None:
    first, second = decision("use redis", 1), decision("use postgres", 2)
    (root / "decisions.jsonl").write_bytes(first + b"\n" + b"{broken\n" + second + b'{"torn":')
    import_store(store)
    source = SourceFile.objects.get(store=store, path="decisions.jsonl")
    assert (source.lines_record, source.lines_refused, source.lines_blank, source.tail_pending) == (2, 1, 1, 1)
    placed = list(Decision.objects.filter(store=store).order_by("line").values_list("line", "offset", "length", "title"))
    assert placed == [(1, 0, len(first) - 1, "use redis"), (4, len(first) + 1 + 8, len(second) - 1, "use postgres")]
    refused = RefusedLine.objects.get(store=store, line=3)
    assert bytes(refused.raw) == b"{broken"
    assert (bytes(refused.before), bytes(refused.after)) == (b"", second[:200].rstrip(b"\n")[:200])
    assert source.offset == len(first) + 1 + 8 + len(second)


def test_a_log_that_is_written_anew_while_it_is_read_is_read_again(root: Path, store: Store) -> None:
    log = root / "decisions.jsonl"
    log.write_bytes(b"".join(decision("use redis", number) for number in range(6_000)))
    rewritten: list[int] = []

    def rewrite(progress: ImportProgress) -> None:
        if not rewritten and 0 < progress.bytes_done < progress.bytes_total:
            rewritten.append(progress.bytes_done)
            with log.open("r+b") as out:
                out.write(b"".join(decision("use postgres", number) for number in range(6_000)))

    import_store(store, progress=rewrite)
    assert rewritten
    import_store(store)
    assert image(store) == fresh_image(root)


@pytest.mark.parametrize("name", ["decisions.jsonl", "graph-queue.jsonl", "open-problems.jsonl"])
def test_a_sparse_file_of_1_tib_costs_what_was_written_into_it(root: Path, store: Store, name: str) -> None:
    with (root / name).open("wb") as out:
        out.write(problem(1, "before"))
        out.seek(1 << 40)
        out.write(b"\n" + problem(2, "after") + b"{}")
    run = import_store(store)
    source = SourceFile.objects.get(store=store, path=name)
    assert (run.status, source.lines_record, source.lines_refused, source.tail_record) == ("ok", 2, 1, 1)
    refused = RefusedLine.objects.get(store=store)
    assert (refused.line, refused.offset, refused.length) == (2, len(problem(1, "before")), (1 << 40) - len(problem(1, "before")))
    assert Fault.objects.filter(store=store, line=2, severity="error").values_list("code", flat=True).get() == "too_large"
    with (root / name).open("ab") as out:
        out.write(b"\n" + problem(3, "later"))
    assert sum(counts["total"] for counts in import_store(store).records.values()) == 4
    assert image(store) == fresh_image(root)


@pytest.mark.parametrize("seconds", [13_000_000_000, 9_300_000_000, -2_100_000_000])
def test_a_file_may_be_dated_in_any_century(root: Path, store: Store, seconds: int) -> None:
    for name in ("decisions.jsonl", "notes.md"):
        (root / name).write_bytes(decision("use redis"))
        os.utime(root / name, (seconds, seconds))
    assert import_store(store).status == "ok"
    assert import_store(store).bytes_read == 0
    assert Decision.objects.get(store=store).title == "use redis"


def test_importing_twice_changes_nothing(root: Path, store: Store) -> None:
    (root / "decisions.jsonl").write_bytes(decision("use redis", 1) + decision("use redis", 2))
    first = import_store(store)
    keys = list(Decision.objects.values_list("pk", flat=True))
    changes = Change.objects.count()
    for full in (False, True):
        run = import_store(store, full=full)
        assert run.records["decision"] == {"created": 0, "updated": 0, "removed": 0, "total": 2}
    assert first.records["decision"]["created"] == 2
    assert list(Decision.objects.values_list("pk", flat=True)) == keys
    assert Change.objects.count() == changes


def test_an_append_reads_only_what_came(root: Path, store: Store) -> None:
    path = root / "decisions.jsonl"
    path.write_bytes(b"".join(decision(f"decision number {number}", number) for number in range(500)))
    import_store(store)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    import_store(store)
    with path.open("ab") as out:
        out.write(decision("use cursors", 777))
    run = import_store(store)
    assert run.records["decision"]["created"] == 1
    assert run.bytes_read == len(decision("use cursors", 777))


def test_a_record_keeps_its_key_through_append_replace_deletion_and_return(root: Path, store: Store) -> None:
    path = root / "decisions.jsonl"
    wanted = decision("use redis", 7)
    path.write_bytes(decision("another", 1) + wanted)
    import_store(store)
    key = Decision.objects.get(title="use redis").pk
    path.write_bytes(decision("in front", 3) + wanted + decision("behind", 4))
    import_store(store)
    moved = Decision.objects.get(pk=key)
    assert (moved.line, moved.gone_at) == (2, None)
    path.unlink()
    import_store(store)
    gone = Decision.objects.get(pk=key)
    assert gone.gone_at is not None
    assert gone.gone_reason == "file vanished"
    path.write_bytes(wanted)
    import_store(store)
    assert Decision.objects.get(pk=key).gone_at is None
    assert [change.what for change in Change.objects.order_by("id")] == ["created", "rewritten", "vanished", "returned"]
    assert image(store) == fresh_image(root)


def test_equal_lines_without_an_id_pair_in_file_order(root: Path, store: Store) -> None:
    line = b'{"type":"create_entities","payload":null,"timestamp":"2026-03-01T10:00:00Z"}\n'
    path = root / "graph-queue.jsonl"
    path.write_bytes(line * 3)
    import_store(store)
    keys = list(QueueOperation.objects.order_by("line").values_list("pk", flat=True))
    path.write_bytes(line * 2)
    import_store(store)
    live = QueueOperation.objects.filter(gone_at__isnull=True).order_by("line").values_list("pk", flat=True)
    assert list(live) == keys[:2]


def test_a_reworded_problem_keeps_its_earlier_wording(root: Path, store: Store) -> None:
    path = root / "open-problems.jsonl"
    path.write_bytes(problem(1, "timeout in docker") + problem(2, "flaky test"))
    import_store(store)
    before = problem(1, "timeout in docker").rstrip(b"\n")
    path.write_bytes(problem(1, "timeout in docker", "solved") + problem(2, "flaky test"))
    run = import_store(store)
    assert run.records["problem"]["updated"] == 1
    version = RecordVersion.objects.get(record_type="problem", record_id=Problem.objects.get(natural_id="prob-1").pk)
    assert bytes(version.raw) == before
    assert [bytes(kept.content).count(b"solved") for kept in FileVersion.objects.order_by("id")] == [0, 1]


def test_a_change_that_no_time_stamp_shows_is_found_by_the_daily_scrub(root: Path, store: Store) -> None:
    path = root / "decisions.jsonl"
    path.write_bytes(decision("use redis", 1) + decision("use mysql", 2))
    os.utime(path, ns=(1_700_000_000_000_000_000, 1_700_000_000_000_000_000))
    import_store(store)
    with path.open("r+b") as out:
        out.seek(path.read_bytes().index(b"mysql"))
        out.write(b"MySQL")
    # What a disk fault or a clock set back does: other bytes, and everything that is asked of the file as it was.
    source = SourceFile.objects.get(store=store, path="decisions.jsonl")
    stat = path.stat()
    SourceFile.objects.filter(pk=source.pk).update(mtime_ns=stat.st_mtime_ns, ctime_ns=stat.st_ctime_ns, read_at="2026-01-01T00:00:00Z")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    SourceFile.objects.filter(pk=source.pk).update(ctime_ns=path.stat().st_ctime_ns)
    import_store(store, trigger="sweep")
    assert Decision.objects.filter(title="use mysql", gone_at__isnull=True).exists()
    import_store(store, trigger="sweep", scrub=True)
    assert Decision.objects.filter(title="use MySQL", gone_at__isnull=True).exists()
    assert Change.objects.order_by("-id").first().what == "silent_rewrite"  # type: ignore[union-attr]
    assert Fault.objects.filter(store=store, code="silent_rewrite", path="decisions.jsonl").count() == 1


def test_a_link_in_place_of_a_file_is_a_fault_and_is_not_followed(root: Path, store: Store, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_bytes(decision("outside text", 1))
    (root / "decisions.jsonl").symlink_to(secret)
    run = import_store(store)
    assert run.status in ("partial", "failed")
    assert not Decision.objects.filter(store=store).exists()
    fault = Fault.objects.get(store=store, code="symlink", path="decisions.jsonl")
    assert fault.severity == "error"
    assert "is a link, and links are not followed" in fault.message


def test_an_unreadable_file_keeps_its_records_and_says_so(root: Path, store: Store) -> None:
    path = root / "decisions.jsonl"
    path.write_bytes(decision("use redis", 1))
    import_store(store)
    path.unlink()
    os.mkfifo(path)
    run = import_store(store)
    assert run.status == "partial" or run.status == "failed"
    assert Decision.objects.filter(store=store, gone_at__isnull=True).count() == 1
    assert SourceFile.objects.get(store=store, path="decisions.jsonl").state == "not_regular"
    path.unlink()
    path.write_bytes(decision("use redis", 1))
    assert import_store(store).status == "ok"
    assert image(store) == fresh_image(root)


def test_a_store_that_is_gone_is_unavailable_and_comes_back(root: Path, store: Store) -> None:
    (root / "decisions.jsonl").write_bytes(decision("use redis", 1))
    import_store(store)
    away = root.with_name("away")
    root.rename(away)
    assert import_store(store).status == "failed"
    store.refresh_from_db()
    assert store.verdict == "unavailable"
    assert not Decision.objects.filter(store=store, gone_at__isnull=True).exists()
    away.rename(root)
    assert import_store(store).status == "ok"
    assert image(store) == fresh_image(root)


def test_a_reset_mirror_is_built_anew_and_a_damaged_count_is_found(root: Path, store: Store) -> None:
    (root / "decisions.jsonl").write_bytes(decision("use redis", 1) + b"{\n")
    import_store(store)
    before = image(store)
    reset_mirror(store)
    assert not Decision.objects.filter(store=store).exists()
    import_store(store)
    assert image(store) == before
    assert check_mirror(store) == []
    store.facet_counts.filter(record_type="decision", facet="").update(count=5)
    assert len(check_mirror(store)) == 1
    assert check_mirror(store) == []


def operation(kind: str, part: str, *items: dict[str, object]) -> bytes:
    return json.dumps({"type": kind, "payload": {part: list(items)}, "timestamp": "2026-03-01T10:00:00Z"}).encode() + b"\n"


def test_what_the_queue_shows_as_a_whole_is_seen_again_while_it_grows(root: Path, store: Store) -> None:
    queue = root / "graph-queue.jsonl"
    to_redis = operation("create_relations", "relations", {"from": "a", "to": "redis", "relationType": "CHOSE"})
    to_nothing = operation("create_relations", "relations", {"from": "a", "to": "nothing", "relationType": "CHOSE"})
    makes_a = operation("create_entities", "entities", {"name": "a", "entityType": "Tool", "observations": []})
    bare = operation("add_observations", "observations", {"entityName": "a"})
    queue.write_bytes(to_redis + to_nothing + makes_a + bare)

    def standings() -> list[str]:
        import_store(store)
        assert image(store) == fresh_image(root)
        return list(QueueOperation.objects.filter(store=store, gone_at=None).order_by("line").values_list("standing", flat=True))

    assert standings() == ["dangling end", "dangling end", "waiting", "waiting"]
    kept = Fault.objects.get(store=store, code="dangling_relation", line=2)
    with queue.open("ab") as out:
        out.write(operation("create_entities", "entities", {"name": "redis", "entityType": "Tool", "observations": []}) + makes_a + bare)
    assert standings() == ["waiting", "dangling end", "waiting", "poison", "waiting", "duplicate", "poison"]
    assert Fault.objects.get(store=store, code="dangling_relation") == kept
    queue.write_bytes(makes_a + to_redis + to_redis)
    assert standings() == ["waiting", "dangling end", "duplicate"]
    (root / "memory.json").write_bytes(b'{"type":"entity","name":"redis","entityType":"Tool","observations":[]}\n')
    assert standings() == ["waiting", "waiting", "duplicate"]
    queue.unlink()
    assert standings() == []
