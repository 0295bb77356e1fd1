"""Reads what a phase-memory store holds of a graph straight from its disk: every record file and every line of the event log."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from stores.apply.reading import read_if_there
from stores.errors import Conflict, StoreUnreadable
from stores.files import CannotRead, StoreRoot, printable_name
from stores.formats.base import LineClass
from stores.formats.jsonfile import SIZE_CAP
from stores.formats.lines import split_lines
from stores.formats.phase_memory.aliases import Record, stated_id
from stores.formats.phase_memory.exchange import Omitted
from stores.formats.phase_memory.exportable import Exportable, exportable
from stores.formats.phase_memory.layout import EVENTS, FOLDER_OF, ROOT_FILE, EntryKind, Role, named_id, place_of
from stores.formats.phase_memory.reading import LogLine, RecordFile, read_log_line, read_record, read_root

TYPES = ("node", "edge", "path")
"""Record files of a graph."""


@dataclass(slots=True)
class GraphOnDisk:
    """What a store holds of a graph."""

    sorted: Exportable
    paths: set[str] = field(default_factory=set)
    """Of every entry in the record folders, whatever it is."""
    found: dict[tuple[str, str], Record] = field(default_factory=dict)
    """What counts, by type and id."""
    not_interpreted: set[tuple[str, str]] = field(default_factory=set)
    """Types and ids that are there and whose record is not interpreted."""


def require_supported(root: StoreRoot) -> None:
    """Refuse a store whose version is not the one that is written; raises Conflict."""
    found = read_root(read_if_there(root, ROOT_FILE))
    if not found.supported:
        said = f"has the version {printable_name(found.version)}" if found.version else f"cannot be read ({found.cause.replace('_', ' ')})"
        raise Conflict(f"{ROOT_FILE} {said}, so nothing is written to this store.")


def read_graph(root: StoreRoot, event_versions: Collection[str]) -> GraphOnDisk:
    """Read a store whole; what cannot be read is among what is omitted. Raises StoreUnreadable for a folder or a log that cannot be read."""
    files: list[tuple[str, RecordFile]] = []
    paths: set[str] = set()
    unread: list[Omitted] = []
    for record_type in TYPES:
        for path, data in _files(root, FOLDER_OF[record_type], paths, unread):
            files.append((path, read_record(record_type, data)))
    lines = list(_lines(root))
    made = exportable(files, lines, event_versions)
    made = made._replace(omitted=(*made.omitted, *unread))
    on_disk = GraphOnDisk(made, paths)
    for record_type, records in (("node", made.nodes), ("edge", made.edges), ("path", made.paths), ("event", made.events)):
        for read_id, record in _by_id(record_type, records):
            on_disk.found[(record_type, read_id)] = record
    on_disk.not_interpreted = {(read.record_type, read.id) for _, read in files if read.id} | {
        ("event", line.id) for _, line in lines if line.id
    }
    on_disk.not_interpreted -= on_disk.found.keys()
    return on_disk


def read_profiles(root: StoreRoot) -> tuple[dict[str, Record], set[str]]:
    """Give the profiles of a store by their id, and the path of every entry in their folder. Raises StoreUnreadable."""
    paths: set[str] = set()
    found: dict[str, Record] = {}
    for _, data in _files(root, FOLDER_OF["profile"], paths, []):
        read = read_record("profile", data)
        if not read.refused:
            found.setdefault(read.id, read.value)
    return found, paths


def _by_id(record_type: str, records: Collection[Record]) -> Iterator[tuple[str, Record]]:
    for record in records:
        given = stated_id(record_type, record)
        if isinstance(given, str):
            yield given, record


def _files(root: StoreRoot, folder: str, paths: set[str], unread: list[Omitted]) -> Iterator[tuple[str, bytes]]:
    """Give the record files of a folder with their bytes, by name; note every entry, and why one cannot be read."""
    try:
        with root.folder(folder) as opened:
            for entry in sorted(opened.entries(), key=lambda one: one.name):
                path = f"{folder}/{entry.name}"
                paths.add(path)
                kind = EntryKind.LINK if entry.is_symlink() else EntryKind.FILE if entry.is_file(follow_symlinks=False) else EntryKind.OTHER
                role = place_of(path, kind).role
                if role is Role.LINK:
                    unread.append(Omitted(printable_name(path), None, named_id(path), "symlink"))
                if role is not Role.RECORD:
                    continue
                try:
                    yield path, opened.read(entry.name, SIZE_CAP)[1]
                except CannotRead as err:
                    unread.append(Omitted(printable_name(path), None, named_id(path), err.state))
    except CannotRead as err:
        if err.state != "missing":
            raise StoreUnreadable(str(err)) from err


def _lines(root: StoreRoot) -> Iterator[tuple[int, LogLine]]:
    """Give every line of the event log with its number."""
    try:
        with root.open(EVENTS) as opened:
            for line in split_lines(opened.chunks(0, opened.stat.size_bytes)):
                read = read_log_line("event", line)
                if read.line_class is not LineClass.BLANK:
                    yield line.number, read
    except CannotRead as err:
        if err.state != "missing":
            raise StoreUnreadable(str(err)) from err
