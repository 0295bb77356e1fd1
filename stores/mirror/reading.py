"""Reads one source file into the mirror: as little of it as its identity allows."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import connection

from stores.files import CannotRead, FileStat, OpenedFile, StoreRoot
from stores.formats.base import Fault, FileSpec, RepairMode, Severity
from stores.formats.lines import Zeros
from stores.mirror.identity import HEAD_BYTES, RACY_NS, Known, Reading, head_window, plan_reading
from stores.mirror.packs import PACK_LINES, Pack, Place, telling
from stores.mirror.reading_ahead import read_packs
from stores.mirror.record_types import RECORD_TYPES
from stores.mirror.rows import fault as fault_row
from stores.mirror.saving import FileWriter, Tally
from stores.models import Change, FileVersion, SourceFile
from stores.sqlite.checkpoints import beside_transactions

BATCH_ROWS = 5000
BATCH_S = 0.25
CROWDED_FOR_S = 3.0
PAUSE_S = 0.002
VERSIONS_KEPT = 200
VERSION_BYTES = 1024 * 1024
VANISHED = "file vanished"
"""Why records are gone whose file is no longer there, nor anywhere else in the store."""
GONE_REASON_LENGTH = 120

OnProgress = Callable[[str, int, int], None]
"""path, bytes done, bytes in all"""
OnPack = Callable[[int, Pack], None]
"""Offset at which this reading of the file began, and what was read on; it is not saved yet."""


@dataclass
class FileReading:
    """What reading one file came to."""

    reading: Reading = Reading.UNCHANGED
    tally: Tally | None = None
    bytes_read: int = 0
    failed: bool = False
    files: int = 1
    """How many files were read: of a folder of record files, those that had moved."""


def read_source(
    root: StoreRoot,
    source: SourceFile,
    spec: FileSpec,
    now: datetime,
    *,
    whole: bool = False,
    scrub: bool = False,
    moved_to: str = "",
    progress: OnProgress | None = None,
    on_pack: OnPack | None = None,
) -> FileReading:
    """Bring the records of one file up to date; `root` is the folder of the spec's anchor.

    `whole` reads all of it whatever its identity says; `scrub` does so too and takes any difference in what was already read as
    a silent rewrite (ruling 1). `moved_to` is where the file that was read lies now, if it was seen elsewhere: why its records are
    gone. Nothing is raised for what the file holds; a file that cannot be read keeps its records and says so.
    """
    known = _known(source, spec)
    gone_reason = _moved_words(moved_to)
    try:
        opened = root.open(spec.path_below(source.path))
    except CannotRead as err:
        return _unreadable(source, spec, err, now, gone_reason)
    with opened:
        try:
            reading = Reading.WHOLE if whole or scrub else plan_reading(known, opened)
            if reading is Reading.UNCHANGED:
                _readable_again(source)
                return FileReading()
            return _read(opened, source, spec, now, reading, scrub and known is not None, gone_reason, progress, on_pack)
        except OSError as err:
            return _unreadable(source, spec, CannotRead("unreadable", f"{source.path}: {err.strerror or err}."), now)


def stands_still(source: SourceFile, stat: FileStat) -> bool:
    """Say whether a file that was just seen need not even be opened: all its facts are those of its last reading (ruling 11)."""
    if source.state != "ok" or source.rereading or source.read_at is None:
        return False
    facts = (source.device, source.inode, source.size_bytes, source.mtime_ns, source.ctime_ns)
    return facts == stat and abs(stat.mtime_ns - int(source.read_at.timestamp() * 1e9)) >= RACY_NS


def _moved_words(moved_to: str) -> str:
    """Say where a file went, as the reason of records that are gone (ruling 29)."""
    if not moved_to:
        return ""
    return f"{'archived' if moved_to.startswith('archive/') else 'moved'} to {moved_to}"[:GONE_REASON_LENGTH]


def _readable_again(source: SourceFile) -> None:
    if source.state != "ok":
        source.state, source.error = "ok", ""
        source.save(update_fields=["state", "error"])


def _known(source: SourceFile, spec: FileSpec) -> Known | None:
    if not source.exists or source.read_at is None:
        return None
    return Known(
        FileStat(source.device, source.inode, source.size_bytes, source.mtime_ns, source.ctime_ns),
        source.offset,
        bytes(source.head_sha256),
        bytes(source.tail_sha256),
        int(source.read_at.timestamp() * 1e9),
        source.rereading or source.state == "importing",
        spec.append_only,
    )


def _read(
    opened: OpenedFile,
    source: SourceFile,
    spec: FileSpec,
    now: datetime,
    reading: Reading,
    scrub: bool,
    gone_reason: str,
    progress: OnProgress | None,
    on_pack: OnPack | None,
) -> FileReading:
    before = _Before.of(source)
    whole = reading is not Reading.CONTINUE
    if whole:
        source.generation += 1
        source.rereading = True
        source.offset, source.next_line, source.reader_state = 0, 1, ""
        source.lines_record = source.lines_refused = source.lines_blank = 0
        source.info_counts = {}
    stat = opened.stat
    source.exists, source.error, source.state = True, "", "importing"
    source.device, source.inode, source.size_bytes = stat.device, stat.inode, stat.size_bytes
    source.mtime_ns, source.ctime_ns = stat.mtime_ns, stat.ctime_ns
    # The moment before the first byte is read: a later change then never looks older than this reading.
    source.read_at = datetime.now(UTC)
    if spec.append_only and (scrub or source.scrubbed_at is None):
        source.scrubbed_at = now
    writer = FileWriter(source, spec, now, whole=whole, gone_reason=gone_reason or before.gone_reason(stat))
    start = source.offset
    _feed(opened, source, spec, writer, stat.size_bytes, progress, on_pack)
    tally = writer.tally
    what = before.what_happened(source, reading, tally, scrub)
    if what:
        if before.lines and source.line_count < before.lines:
            SourceFile.objects.filter(pk=source.pk).update(shrank_at=now)
            source.shrank_at = now
        Change.objects.create(
            store_id=source.store_id,
            path=source.path,
            what=what,
            at=now,
            created=tally.created,
            updated=tally.updated,
            removed=tally.removed,
            bytes_before=before.size_bytes,
            bytes_after=source.size_bytes,
        )
        if what == "silent_rewrite":
            _note_silent_rewrite(source, now)
        if not spec.append_only:
            _keep_version(opened, source, now, progress)
    return FileReading(reading, tally, stat.size_bytes - start)


def _feed(
    opened: OpenedFile,
    source: SourceFile,
    spec: FileSpec,
    writer: FileWriter,
    end: int,
    progress: OnProgress | None,
    on_pack: OnPack | None,
) -> None:
    """Read on from the source's offset and save in batches, small ones while others want to write."""
    place = Place(source.offset, source.next_line, source.reader_state)
    # Taken before the rest is read: who writes the file anew meanwhile is then seen the next time.
    head = opened.at(0, HEAD_BYTES)
    batch: list[Pack] = []
    began = time.monotonic()
    crowded_until = 0.0
    facets = RECORD_TYPES[spec.record_type].facets

    def tell() -> None:
        if progress:
            progress(source.path, source.offset, end)

    with (
        closing(read_packs(opened, end, spec, place, source.info_counts, facets, source.path, tell)) as packs,
        beside_transactions(connection) as checkpoint,
    ):
        for pack in packs:
            if on_pack:
                on_pack(place.offset, pack)
            batch.append(pack)
            clock = time.monotonic()
            last = pack.end_state is not None
            if (
                not last
                and clock >= crowded_until
                and clock - began < BATCH_S
                and sum(each.size for each in batch) + PACK_LINES <= BATCH_ROWS
            ):
                continue
            source.offset, source.next_line, source.reader_state = pack.place
            source.head_sha256, source.tail_sha256 = head_window(head, source.offset), pack.window
            if pack.end_state is not None:
                source.end_state, source.state = pack.end_state, "ok"
                writer.finish(batch)
            else:
                writer.flush(batch)
                if getattr(connection, "waited_for_turnstile", False):
                    crowded_until = time.monotonic() + CROWDED_FOR_S
                checkpoint()
                crowded = time.monotonic() < crowded_until
                # As long as others come, half of the time is theirs: of the database and, as hashing a password takes, of the processors.
                time.sleep(max(PAUSE_S, min(BATCH_S, time.monotonic() - clock)) if crowded else PAUSE_S)
            batch = []
            if progress:
                progress(source.path, end if last else source.offset, end)
            began = time.monotonic()


@dataclass
class _Before:
    """What the mirror said of a file before this reading."""

    existed: bool
    read: bool
    inode: int
    size_bytes: int
    lines: int
    all_lines: tuple[int, ...]
    had_rows_before: bool

    @classmethod
    def of(cls, source: SourceFile) -> _Before:
        return cls(
            source.exists,
            source.read_at is not None,
            source.inode,
            source.size_bytes,
            source.line_count,
            _line_counts(source),
            source.generation > 0,
        )

    def gone_reason(self, stat: FileStat) -> str:
        if stat.size_bytes < self.size_bytes and stat.inode == self.inode:
            return "file truncated"
        return "file replaced" if stat.inode != self.inode else "line removed"

    def what_happened(self, source: SourceFile, reading: Reading, tally: Tally, scrub: bool) -> str:
        """Name the change for the list of changes; "" if nothing differs."""
        if not self.read or not self.existed:
            return "returned" if self.had_rows_before else "created"
        if not tally.anything and self.all_lines == _line_counts(source):
            return ""
        if scrub and (source.inode, source.size_bytes) == (self.inode, self.size_bytes):
            return "silent_rewrite"
        if reading is Reading.CONTINUE:
            return "appended"
        if source.inode != self.inode:
            return "replaced"
        if source.size_bytes < self.size_bytes:
            return "truncated"
        return "rewritten"


def _line_counts(source: SourceFile) -> tuple[int, ...]:
    return (
        source.lines_record,
        source.lines_refused,
        source.lines_blank,
        source.tail_record,
        source.tail_refused,
        source.tail_blank,
        source.tail_pending,
    )


def _note_silent_rewrite(source: SourceFile, now: datetime) -> None:
    found = Fault(
        code="silent_rewrite",
        severity=Severity.WARNING,
        message="Lines were changed without any sign of it in the file's size or times: only the daily check of the whole file found it",
        subject_type="file",
        key=source.path[:64],
        repair_mode=RepairMode.ACKNOWLEDGE,
    )
    fault_row(found, source, source.generation, False, now).save()


def _keep_version(opened: OpenedFile, source: SourceFile, now: datetime, progress: OnProgress | None) -> None:
    """Keep the content of a file that its writers rewrite: 200 versions, at most a year old but for the newest (ruling 37)."""
    digest = hashlib.sha256()

    def tell() -> None:
        if progress:
            progress(source.path, source.size_bytes, source.size_bytes)

    for chunk in telling(opened.chunks(0, source.size_bytes), tell):
        digest.update(chunk.mark if isinstance(chunk, Zeros) else chunk)
    content = opened.at(0, source.size_bytes if source.size_bytes <= VERSION_BYTES else 4096)
    versions = FileVersion.objects.filter(file=source)
    newest = versions.order_by("-seen_at", "-id").first()
    if newest is not None and bytes(newest.sha256) == digest.digest():
        return
    FileVersion.objects.create(file=source, seen_at=now, sha256=digest.digest(), size_bytes=source.size_bytes, content=content)
    kept = list(versions.order_by("-seen_at", "-id").values_list("pk", flat=True)[:VERSIONS_KEPT])
    versions.exclude(pk__in=kept).delete()
    versions.filter(seen_at__lt=now - timedelta(days=366)).exclude(pk__in=kept[:1]).delete()


def _unreadable(source: SourceFile, spec: FileSpec, err: CannotRead, now: datetime, gone_reason: str = "") -> FileReading:
    """Note that a file cannot be read. Its records stay as they were; a missing file's records are gone."""
    if err.state == "missing":
        return vanished(source, spec, now, gone_reason)
    failed = FileReading(failed=True)
    if (source.state, source.error) == (err.state, str(err)):
        return failed
    if source.state != err.state:
        Change.objects.create(store_id=source.store_id, path=source.path, what="unreadable", at=now, bytes_before=source.size_bytes)
    source.state, source.error, source.exists = err.state, str(err), True
    source.save(update_fields=["state", "error", "exists"])
    return failed


def vanished(source: SourceFile, spec: FileSpec, now: datetime, gone_reason: str = "") -> FileReading:
    """Take the records of a file out that is no longer there; `gone_reason` says why, if that is known."""
    if not source.exists and source.state == "missing":
        return FileReading()
    before = source.size_bytes
    had = source.line_count
    source.generation += 1
    writer = FileWriter(source, spec, now, whole=True, gone_reason=gone_reason or VANISHED)
    source.exists, source.state, source.error = False, "missing", ""
    source.inode = source.size_bytes = source.mtime_ns = source.ctime_ns = source.offset = 0
    source.next_line, source.reader_state, source.end_state = 1, "", ""
    source.head_sha256 = source.tail_sha256 = b""
    source.lines_record = source.lines_refused = source.lines_blank = 0
    if had:
        source.shrank_at = now
    writer.finish()
    Change.objects.create(
        store_id=source.store_id,
        path=source.path,
        what="vanished",
        at=now,
        removed=writer.tally.removed,
        bytes_before=before,
        bytes_after=0,
    )
    return FileReading(Reading.WHOLE, writer.tally)
