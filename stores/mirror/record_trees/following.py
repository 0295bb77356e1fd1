"""Brings the mirror of a store of record files up to date: sweep, logs, record files, rules."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256

from django.db import connection

from stores.files import CannotRead, FileStat, StoreRoot
from stores.formats.base import FileSpec, Kind
from stores.formats.jsonfile import SIZE_CAP
from stores.formats.phase_memory.layout import EVENTS, LOGS, ROOT_FILE
from stores.formats.phase_memory.reading import RootFile, read_root
from stores.mirror.giving_back import let_go
from stores.mirror.identity import Reading
from stores.mirror.reading import BATCH_S, PAUSE_S, VANISHED, FileReading, OnPack, OnProgress
from stores.mirror.reading_again import read_again
from stores.mirror.record_trees import remembering, reviews
from stores.mirror.record_trees.diagnosing import Diagnosis, event_versions
from stores.mirror.record_trees.events_alongside import EventsAlongside
from stores.mirror.record_trees.reading import ReadFile, read_file
from stores.mirror.record_trees.reading_ahead import FileReader
from stores.mirror.record_trees.remembering import LogEnd, Tree
from stores.mirror.record_trees.saving import CHANGES_TOLD, RecordWriter
from stores.mirror.record_trees.sweeping import AGAIN, FolderSweep, Sweep, facts_of, sweep
from stores.mirror.slicing import SLICE_BYTES
from stores.mirror.sources import Sources
from stores.models import Change, Fault, RecordFile, SourceFile, Store
from stores.sqlite.checkpoints import beside_transactions
from stores.sqlite.pages import let_go_of_pages

BATCH_FILES = 1000
BATCH_ROWS = 5000
LET_GO_AFTER = 8
"""Transactions after which memory is given back: what the rules know of a large store needs the room."""

ReadLog = Callable[[SourceFile, FileSpec, FileStat | None, OnPack | None], FileReading]
"""Given what the sweep saw of the log, None where there is none, and who wants to hear of what is read."""


@dataclass
class Followed:
    """What an import of record files came to, by source file."""

    swept: Sweep
    readings: dict[str, FileReading] = field(default_factory=dict)


@dataclass
class _Folder:
    """One record folder during one import."""

    source: SourceFile
    spec: FileSpec
    writer: RecordWriter
    swept: FolderSweep
    reading: FileReading = field(default_factory=lambda: FileReading(files=0))
    was_read: bool = False
    """An earlier import has read the folder."""
    bytes_before: int = 0


def follow(
    store: Store, root: StoreRoot, kind: Kind, sources: Sources, now: datetime, *, full: bool, read_log: ReadLog, progress: OnProgress
) -> Followed:
    """Bring records, faults and counts up to date with the disk; `read_log` reads one of the logs.

    Where nothing moved since the last import, that costs one `stat` a file and a query or two.
    """
    tree = remembering.recall(store)
    known = {folder: dict.fromkeys(names, AGAIN) for folder, names in tree.known.items()} if full else tree.known
    swept = sweep(root, known)
    found = Followed(swept)
    root_file = _root_file(root, swept)
    versions = event_versions()
    basis = _basis(swept, root_file, versions)
    began_complete = bool(tree.stamp)
    with FileReader(root, {spec.path: swept.folders[spec.path].changed for spec in kind.files if spec.folder}) as files:
        specs = {spec.path: spec for spec in kind.files}
        alongside = EventsAlongside(versions)
        for path in LOGS:
            on_pack = alongside.take if path == EVENTS else None
            found.readings[path] = read_log(sources.get(path, specs[path]), specs[path], swept.logs.get(path), on_pack)
        logs = [sources.known[path] for path in LOGS]
        # An import that was cut off may have left records behind whose faults nobody looked at.
        moved = [
            log for log in logs if tree.logs.get(log.path) != LogEnd.of(log) or found.readings[log.path].reading is not Reading.UNCHANGED
        ]
        new_lines = {log.record_type: tree.first_new_line(log) for log in moved}
        folders = [_folder(store, sources, spec, swept, now) for spec in kind.files if spec.folder]
        for folder in folders:
            found.readings[folder.spec.path] = folder.reading
        if not (swept.moved or moved or full or basis != tree.basis or not began_complete):
            return found
        remembering.begin(store, tree)
        diagnosis = Diagnosis(store, root, tree, now, versions, anew=full or not began_complete)
        diagnosis.follow(swept, root_file, sources.known, new_lines, alongside.log)
        again: list[tuple[_Folder, str]] = []
        for folder in folders:
            again += _read_folder(root, folder, files, tree, diagnosis, progress)
    _read_again(root, again, tree, diagnosis)
    for folder in folders:
        _finish_folder(folder, now)
    diagnosis.conclude(sources.known, progress)
    reviews.mark(store)
    remembering.end(store, tree, basis, logs)
    return found


def lose(store: Store) -> None:
    """Take note that the store's folder is gone: so are its record files, whose records the caller takes out, and what was found."""
    remembering.forget(store)
    RecordFile.objects.filter(store=store)._raw_delete(using="default")
    Fault.objects.filter(store=store, is_diagnostic=True).delete()
    remembering.unstamp(store)


def _root_file(root: StoreRoot, swept: Sweep) -> RootFile:
    if swept.root_kind is None:
        return read_root(None)
    try:
        return read_root(root.read(ROOT_FILE, SIZE_CAP))
    except (CannotRead, OSError) as err:
        return RootFile("", err.state if isinstance(err, CannotRead) else "unreadable")


def _basis(swept: Sweep, root_file: RootFile, versions: Iterable[str]) -> str:
    said = [root_file.version, root_file.cause, str(swept.root_kind), sorted(versions)]
    entries = sorted((path, str(kind)) for path, kind in swept.entries.items())
    return sha256(json.dumps([said, entries], ensure_ascii=True).encode()).hexdigest()


def _folder(store: Store, sources: Sources, spec: FileSpec, swept: Sweep, now: datetime) -> _Folder:
    source = sources.get(spec.path, spec)
    one = swept.folders[spec.path]
    folder = _Folder(
        source, spec, RecordWriter(source, spec, now), one, was_read=source.read_at is not None, bytes_before=source.size_bytes
    )
    folder.reading.failed = bool(one.error)
    state = "unreadable" if one.error else "ok" if one.exists else "missing"
    if (source.state, source.error, source.exists) != (state, one.error, one.exists or bool(one.error)) and not one.changed:
        source.state, source.error, source.exists = state, one.error, one.exists or bool(one.error)
        source.save(update_fields=["state", "error", "exists"])
    return folder


def _read_folder(
    root: StoreRoot, folder: _Folder, files: FileReader, tree: Tree, diagnosis: Diagnosis, progress: OnProgress
) -> list[tuple[_Folder, str]]:
    """Read what changed in one folder; give the names of young files that do not parse and may be half written (ruling 11)."""
    swept, path = folder.swept, folder.spec.path
    known = tree.known.setdefault(path, {})
    if swept.vanished:
        folder.writer.take_out(swept.vanished, VANISHED if swept.exists else "folder vanished")
        diagnosis.drop(f"{path}/{name}" for name in swept.vanished)
        for name in swept.vanished:
            known.pop(name, None)
    if not swept.changed:
        return []
    folder.source.state, folder.source.exists, folder.source.error = "importing", True, ""
    folder.source.save(update_fields=["state", "exists", "error"])
    again: list[tuple[_Folder, str]] = []
    total = len(swept.changed)
    done = 0
    with suppress(CannotRead), root.folder(path) as opened, beside_transactions(connection) as checkpoint:
        for number, batch in enumerate(_batches(files.read(opened, swept.changed))):
            again += [(folder, file.name) for file in batch if file.is_young_and_refused]
            began = time.monotonic()
            _save(folder, [file for file in batch if not file.is_young_and_refused], tree, diagnosis)
            checkpoint()
            crowded = getattr(connection, "waited_for_turnstile", False)
            time.sleep(max(PAUSE_S, min(BATCH_S, time.monotonic() - began)) if crowded else PAUSE_S)
            done += len(batch)
            if number % LET_GO_AFTER == 0:
                let_go_of_pages(connection)
                let_go()
            progress(path, done, total)
    return again


def _batches(files: Iterator[ReadFile]) -> Iterator[list[ReadFile]]:
    """Part files so that one transaction stays short (ruling 8), and little is held."""
    batch: list[ReadFile] = []
    rows = size = 0
    for file in files:
        batch.append(file)
        rows += 3 + (len(file.mirrored.links) if file.mirrored else 0)
        size += len(file.raw)
        if len(batch) >= BATCH_FILES or rows >= BATCH_ROWS or size >= SLICE_BYTES:
            yield batch
            batch, rows, size = [], 0, 0
    if batch:
        yield batch


def _save(folder: _Folder, files: list[ReadFile], tree: Tree, diagnosis: Diagnosis) -> None:
    if not files:
        return
    folder.writer.save(files)
    diagnosis.put(file.facts for file in files)
    known = tree.known[folder.spec.path]
    for file in files:
        known[file.path.partition("/")[2]] = AGAIN if file.racy else facts_of(file.stat)
        folder.reading.bytes_read += file.stat.size_bytes
    folder.reading.files += len(files)


def _read_again(root: StoreRoot, again: list[tuple[_Folder, str]], tree: Tree, diagnosis: Diagnosis) -> None:
    """Read young files once more that did not parse; what still does not parse in the end is a fault (ruling 11)."""

    def read(one: tuple[_Folder, str], is_last: bool) -> bool:
        folder, name = one
        with suppress(CannotRead), root.folder(folder.spec.path) as opened:
            file = read_file(opened, name)
            if file is not None and file.is_young_and_refused and not is_last:
                return True
            if file is not None:
                _save(folder, [file], tree, diagnosis)
        return False

    read_again(again, read)


def _finish_folder(folder: _Folder, now: datetime) -> None:
    """Write down what the folder holds now, and what changed in it."""
    source, swept, tally = folder.source, folder.swept, folder.writer.tally
    folder.reading.tally = tally
    if not (swept.changed or swept.vanished):
        return
    if folder.reading.files or tally.anything:
        folder.reading.reading = Reading.CONTINUE
    files = RecordFile.objects.filter(folder=source)
    troubled = files.exclude(state="ok").count()
    source.lines_record, source.lines_refused = files.count() - troubled, troubled
    source.size_bytes, source.mtime_ns, source.read_at = swept.size_bytes, swept.newest_ns, datetime.now(UTC)
    if swept.exists and not swept.error:
        source.state, source.exists = "ok", True
    source.save()
    told = folder.writer.told
    if folder.was_read and len(told) <= CHANGES_TOLD:
        for path, what, before, after in told:
            counts = (int(what in ("created", "returned")), int(what == "rewritten"), int(what == "vanished"))
            _change(source, path, what, now, counts, (before, after))
    elif told:
        what = "rewritten" if folder.was_read else "created"
        _change(source, source.path, what, now, (tally.created, tally.updated, tally.removed), (folder.bytes_before, source.size_bytes))


def _change(source: SourceFile, path: str, what: str, now: datetime, counts: tuple[int, int, int], sizes: tuple[int, int]) -> None:
    created, updated, removed = counts
    Change.objects.create(
        store_id=source.store_id,
        path=path[:400],
        what=what,
        at=now,
        created=created,
        updated=updated,
        removed=removed,
        bytes_before=sizes[0],
        bytes_after=sizes[1],
    )
