"""Brings the mirror of one store up to date with its disk: scan, read, look across lines, measure."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet

from stores.errors import Conflict, StoreUnreadable
from stores.files import LOCK_WAIT_S, CannotRead, FileStat, StoreRoot
from stores.formats import KINDS
from stores.formats.base import Fault as FoundFault
from stores.formats.base import FileSpec, Kind, RepairMode, Severity
from stores.mirror import across_lines, graph, measuring, noted, reading_again
from stores.mirror.companions import Anchors
from stores.mirror.giving_back import give_back, seldom_collecting
from stores.mirror.identity import Reading, windows
from stores.mirror.reading import FileReading, OnPack, read_source, stands_still, vanished
from stores.mirror.record_trees import following
from stores.mirror.record_types import RECORD_TYPES
from stores.mirror.rows import fault as fault_row
from stores.mirror.scanning import PATH_LENGTH, Scan, save_listed, scan
from stores.mirror.sources import Sources
from stores.models import FacetCount, Fault, ImportRun, SourceFile, Store

DONE = ("created", "updated", "removed")
OUTSIDE = "outside the allowed folders"
"""Why records of a companion are gone that may not be read any more (MEMORYUI_STORE_ROOTS)."""


@dataclass(frozen=True)
class ImportProgress:
    """Where an import stands."""

    store: str
    path: str
    bytes_done: int
    bytes_total: int


class _Waiting(NamedTuple):
    """A file that is to be read."""

    root: StoreRoot
    source: SourceFile
    spec: FileSpec
    scanned: Scan | None
    on_pack: OnPack | None = None

    def may_be_half_written(self) -> bool:
        """Whether it would be a fault now, and may be whole in a moment (ruling 11)."""
        if not self.spec.whole:
            return False
        try:
            with self.root.open(self.spec.path_below(self.source.path)) as opened:
                return reading_again.may_be_half_written(opened, self.spec, self.source.path)
        except (CannotRead, OSError):
            return False


@dataclass
class _Work:
    """One import under way."""

    store: Store
    now: datetime
    trigger: str
    full: bool
    scrub: bool
    progress: Callable[[ImportProgress], None] | None
    readings: dict[str, FileReading] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    """Record types by path of what was read."""
    again: list[_Waiting] = field(default_factory=list)
    error: str = ""

    def report(self, path: str, done: int, total: int) -> None:
        if self.progress:
            self.progress(ImportProgress(self.store.slug, path, done, total))

    def read(
        self,
        root: StoreRoot,
        source: SourceFile,
        spec: FileSpec,
        scanned: Scan | None,
        seen: FileStat | None = None,
        on_pack: OnPack | None = None,
    ) -> None:
        """Bring the records of one file up to date; one that was `seen` as it was read last is not even opened."""
        if seen is not None and not self.full and not self.scrub and stands_still(source, seen):
            self.readings[source.path] = FileReading()
            return
        self.types[source.path] = spec.record_type
        one = _Waiting(root, source, spec, scanned, on_pack)
        if one.may_be_half_written():
            self.readings[source.path] = FileReading()
            self.again.append(one)
        else:
            self._read(one)

    def read_again(self) -> None:
        """Read the files that were met half written, while their folders are still open."""
        waiting, self.again = self.again, []
        reading_again.read_again(waiting, self._waits_on)

    def _waits_on(self, one: _Waiting, is_last: bool) -> bool:
        if not is_last and one.may_be_half_written():
            return True
        self._read(one)
        return False

    def _read(self, one: _Waiting) -> None:
        root, source, spec, scanned, on_pack = one
        self.readings[source.path] = read_source(
            root,
            source,
            spec,
            self.now,
            whole=self.full,
            scrub=self.scrub and spec.append_only,
            moved_to=_moved_to(root, source, scanned) if scanned else "",
            progress=self.report,
            on_pack=on_pack,
        )
        give_back(self.readings[source.path].bytes_read)


def import_store(
    store: Store,
    *,
    full: bool = False,
    scrub: bool = False,
    trigger: str = "command",
    progress: Callable[[ImportProgress], None] | None = None,
    now: datetime | None = None,
    lock_wait_s: float = LOCK_WAIT_S,
) -> ImportRun:
    """Mirror what is on disk and measure the store's health.

    `full` reads every file whole; `scrub` does so as the daily check of logs (ruling 1). Bad content never raises: it becomes faults.
    The run is saved when something was read, changed or failed, or when a command or a task asked for it; its status is ok,
    partial (some file cannot be read) or failed (none can). `now` is the moment to write down, the present one by default.
    Raises Conflict when another import holds the store for longer than `lock_wait_s`.
    """
    given, now = now, now or datetime.now(UTC)
    began = time.monotonic()
    work = _Work(store, now, trigger, full, scrub, progress)
    kind = KINDS[store.kind]
    try:
        with seldom_collecting(), _opened_root(store) as root, root.locked(lock_wait_s) as locked:
            if not locked:
                raise Conflict(f"Store {store.slug} is busy: another import holds it. Try again in a moment.")
            store.refresh_from_db()
            sources = Sources(store, kind, now)
            if kind.has_folders:
                scanned = _read_tree(work, root, kind, sources)
            else:
                scanned = scan(root, store, kind, sources.known.keys())
                _read_own_files(work, root, kind, sources, scanned)
            _read_companions(work, kind, sources)
            across_lines.look(store, root, sources.known, now, work.report)
            if any(reading.reading is not Reading.UNCHANGED for reading in work.readings.values()):
                noted.attach(store)
            _save_scan(store, root, scanned, now)
            graph.follow(store, root, work.readings, now)
    except StoreUnreadable as err:
        work.error = str(err)
        _lost(store, kind, str(err), now)
    measuring.measure(store, now=given or datetime.now(UTC), stray_stores=_stray_stores_due(store, now, trigger))
    return _run(work, time.monotonic() - began)


def _opened_root(store: Store) -> StoreRoot:
    """Open the store's folder; raises StoreUnreadable when the link by which it was added leads elsewhere now (ruling 34)."""
    real = os.path.realpath(store.given_path)
    if real != store.path:
        raise StoreUnreadable(
            f"{store.given_path} now leads to {real}, not to {store.path}. If the store moved, run relocate_store {store.slug} with its new path."
        )
    return StoreRoot(store.path)


def _moved_to(root: StoreRoot, source: SourceFile, scanned: Scan) -> str:
    """Give where the file lies now that was read under this path; "" when it is in its place, or was not seen anywhere."""
    found = scanned.found.get(source.path)
    if not source.offset or (found is not None and found.entry.stat.inode == source.inode):
        return ""
    path = scanned.path_of(source.device, source.inode)
    try:
        # Another file may have got the number of one that was deleted.
        with root.open(path) as opened:
            return path if windows(opened, source.offset) == (bytes(source.head_sha256), bytes(source.tail_sha256)) else ""
    except CannotRead:
        return ""


def _read_own_files(work: _Work, root: StoreRoot, kind: Kind, sources: Sources, scanned: Scan) -> None:
    """Read the files that every store has, then those that were found, and last those that are no longer where they were."""
    for spec in kind.files:
        if spec.path in kind.expected:
            work.read(root, sources.get(spec.path, spec), spec, scanned)
    positions = {spec: position for position, spec in enumerate(kind.files)}
    for path, found in sorted(scanned.found.items(), key=lambda item: (positions[item[1].spec], item[0])):
        if path not in kind.expected:
            work.read(root, sources.get(path, found.spec), found.spec, scanned, found.entry.stat)
    for source, spec in sources.others(work.readings, anchored=False):
        work.read(root, source, spec, scanned)


def _read_tree(work: _Work, root: StoreRoot, kind: Kind, sources: Sources) -> Scan:
    """Bring the record files of a store up to date, its logs, and what its rules find."""

    def read_log(source: SourceFile, spec: FileSpec, seen: FileStat | None, on_pack: OnPack | None) -> FileReading:
        work.read(root, source, spec, None, seen, on_pack)
        return work.readings[source.path]

    store = work.store
    followed = following.follow(store, root, kind, sources, work.now, full=work.full, read_log=read_log, progress=work.report)
    work.readings |= followed.readings
    work.types |= {spec.path: spec.record_type for spec in kind.files}
    swept = followed.swept
    save_listed(store, swept.listed)
    return Scan(swept.size_bytes, swept.file_count, swept.changed_at, swept.faults, {}, swept.listed)


def _read_companions(work: _Work, kind: Kind, sources: Sources) -> None:
    with Anchors(work.store) as anchors:
        for path, spec, stat in anchors.companions(kind):
            root = anchors.root(spec.anchor)
            if root and path not in work.readings and len(path) <= PATH_LENGTH and (stat or path in sources.known):
                work.read(root, sources.get(path, spec), spec, None, stat)
        for source, spec in sources.others(work.readings, anchored=True):
            if not anchors.allows(spec):
                work.types[source.path] = spec.record_type
                work.readings[source.path] = vanished(source, spec, work.now, OUTSIDE)
            elif (root := anchors.root(spec.anchor)) is not None:
                work.read(root, source, spec, None)
        work.read_again()


def _save_scan(store: Store, root: StoreRoot, scanned: Scan, now: datetime) -> None:
    store.root_device, store.root_inode = root.stat.device, root.stat.inode
    store.size_bytes, store.file_count, store.changed_at = scanned.size_bytes, scanned.file_count, scanned.changed_at
    store.imported_at = now
    _save_file_faults(store, list(scanned.faults), now)
    store.save(update_fields=["root_device", "root_inode", "size_bytes", "file_count", "changed_at", "imported_at"])


def _save_file_faults(store: Store, found: list[tuple[str, FoundFault]], now: datetime) -> None:
    """Replace the faults of whole files; those that stay keep their row."""
    for source in SourceFile.objects.filter(store=store, state__in=["unreadable", "symlink", "not_regular"]).exclude(record_type=""):
        code = "symlink" if source.state == "symlink" else "unreadable"
        if any(path == source.path for path, _ in found):
            continue
        message = f"Cannot be read, so its records are those of the last reading: {source.error}"
        found.append(
            (
                source.path,
                FoundFault(code, Severity.ERROR, message, subject_type="file", key=source.path[:64], repair_mode=RepairMode.MANUAL),
            )
        )
    own = Fault.objects.filter(store=store, file__isnull=True, is_diagnostic=False)
    kept = set(own.values_list("path", "code", "message"))
    wanted = {(path, item.code, item.message): (path, item) for path, item in found}
    if kept == set(wanted):
        return
    with transaction.atomic():
        for path, code, message in kept - set(wanted):
            own.filter(path=path, code=code, message=message).delete()
        rows = []
        for identity in sorted(set(wanted) - kept):
            path, item = wanted[identity]
            row = fault_row(item, SourceFile(store=store, path=path), 0, False, now)
            row.file_id = None
            rows.append(row)
        Fault.objects.bulk_create(rows, batch_size=500)


def _lost(store: Store, kind: Kind, message: str, now: datetime) -> None:
    """The folder cannot be opened: a missing one has no records, an unreadable one keeps them as they were."""
    if not os.path.lexists(store.path):
        sources = Sources(store, kind, now)
        for spec in kind.files:
            if spec.path in kind.expected:
                vanished(sources.get(spec.path, spec), spec, now)
        for source, spec in sources.others(kind.expected):
            vanished(source, spec, now)
        SourceFile.objects.filter(store=store, record_type="").delete()
        if kind.has_folders:
            following.lose(store)
    found = [(".", FoundFault("unreadable", Severity.ERROR, message, subject_type="file", key=".", repair_mode=RepairMode.MANUAL))]
    _save_file_faults(store, found, now)
    store.imported_at = now
    store.save(update_fields=["imported_at"])


def _stray_stores_due(store: Store, now: datetime, trigger: str) -> bool:
    """Say whether the project is to be searched for stray stores now: when asked for, else every ten minutes."""
    return trigger in ("command", "task") or store.stray_checked_at is None or (now - store.stray_checked_at).total_seconds() >= 600


def _run(work: _Work, duration_s: float) -> ImportRun:
    store = work.store
    failed = [path for path, reading in work.readings.items() if reading.failed]
    status = "failed" if work.error or (failed and len(failed) == len(work.readings)) else "partial" if failed else "ok"
    read = [reading for reading in work.readings.values() if reading.reading is not Reading.UNCHANGED]
    run = ImportRun(
        store=store,
        mode="full" if work.full else "incremental",
        status=status,
        trigger=work.trigger,
        started_at=work.now,
        duration_s=round(duration_s, 4),
        records=_records(work),
        faults=Fault.objects.filter(store=store).count(),
        files_read=sum(reading.files for reading in read),
        bytes_read=sum(reading.bytes_read for reading in read),
        error=work.error or "; ".join(SourceFile.objects.filter(store=store, path__in=failed[:100]).values_list("error", flat=True)),
    )
    changed = any(reading.tally and reading.tally.anything for reading in work.readings.values())
    if changed or work.trigger in ("command", "task") or (status != "ok" and _is_news(run)):
        run.save()
    return run


def _records(work: _Work) -> dict[str, dict[str, int]]:
    """Count what the import did by type of record, and how many there are now."""
    kind = KINDS[work.store.kind]
    counts = {(row[0], row[1]): row[2] for row in _kept_counts(work.store)}
    records: dict[str, dict[str, int]] = {}
    for record_type in dict.fromkeys(spec.record_type for spec in kind.files):
        tallies = [reading.tally for path, reading in work.readings.items() if reading.tally and work.types.get(path) == record_type]
        for value, name in RECORD_TYPES[record_type].parts.items() or [("", record_type)]:
            told = records.setdefault(name, dict.fromkeys((*DONE, "total"), 0))
            for what in DONE:
                told[what] += sum(tally.parts[value, what] if value else int(getattr(tally, what)) for tally in tallies)
            told["total"] += counts.get((record_type, value), 0)
    return records


def _kept_counts(store: Store) -> QuerySet[FacetCount, tuple[str, str, int]]:
    """Give (record type, value, count): "" counts all records of a type, other values its parts."""
    parted = {name: record_type.facets[0] for name, record_type in RECORD_TYPES.items() if record_type.parts}
    chosen = Q(facet="")
    for name, facet in parted.items():
        chosen |= Q(record_type=name, facet=facet)
    return FacetCount.objects.filter(chosen, store=store).values_list("record_type", "value", "count")


def _is_news(run: ImportRun) -> bool:
    last = ImportRun.objects.filter(store=run.store).order_by("-started_at", "-id").values_list("status", "error").first()
    return last != (run.status, run.error)


def run_as_json(run: ImportRun) -> dict[str, Any]:
    """Give a run in the shape of DESIGN §5."""
    return {
        "store": run.store.slug,
        "mode": run.mode,
        "status": run.status,
        "records": run.records,
        "faults": run.faults,
        "files_read": run.files_read,
        "bytes_read": run.bytes_read,
        "duration_s": run.duration_s,
        "error": run.error,
    }
