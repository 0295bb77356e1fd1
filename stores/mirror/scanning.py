"""What lies in a store: every entry becomes a source file with its size and time, and what cannot be read becomes a fault."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import NamedTuple

from stores.files import MAX_INT64, Entry, StoreRoot
from stores.formats.base import Fault as FoundFault
from stores.formats.base import FileSpec, Kind, RepairMode, Severity
from stores.models import SourceFile, Store

PATH_LENGTH = 400
LISTED_LIMIT = 20_000
"""Files without a reader that get a row of their own; the rest is only counted."""
READ_LIMIT = 20_000
"""Files with a reader that are read."""


class Scan(NamedTuple):
    """Sizes and newest time of all files, and faults of entries."""

    size_bytes: int
    file_count: int
    changed_at: datetime | None
    faults: tuple[tuple[str, FoundFault], ...]
    """(path, fault)"""
    found: dict[str, FoundFile]
    """By path the files that have a reader."""
    listed: dict[str, Entry]
    """By path those that have none."""

    def path_of(self, device: int, inode: int) -> str:
        """Give where a file lies now, "" when it was not seen."""
        for path, entry in (*self.listed.items(), *((path, found.entry) for path, found in self.found.items())):
            if (entry.stat.device, entry.stat.inode) == (device, inode):
                return path
        return ""


class FoundFile(NamedTuple):
    """A file that has a reader."""

    entry: Entry
    spec: FileSpec


def scan(root: StoreRoot, store: Store, kind: Kind, known: Collection[str]) -> Scan:
    """Walk a store and bring its list of source files up to date; files that have a reader are left to it.

    `known` are the paths of the files that were read before: whatever they are now, their reader tells it.
    """
    spec_of = kind.spec_of
    size = count = newest = unread = 0
    faults: list[tuple[str, FoundFault]] = []
    listed: dict[str, Entry] = {}
    found_files: dict[str, FoundFile] = {}
    for entry in root.walk():
        if entry.kind == "directory":
            continue
        if entry.kind == "file":
            count += 1
            size += entry.stat.size_bytes
            newest = max(newest, entry.stat.mtime_ns)
        path = _own_path(entry.path)
        is_readable = entry.kind in ("file", "symlink", "other") and entry.is_named and len(path) <= PATH_LENGTH
        spec = spec_of(path) if is_readable else None
        if spec is not None and (path in known or path in kind.expected or (entry.kind == "file" and len(found_files) < READ_LIMIT)):
            found_files[path] = FoundFile(entry, spec)
            continue
        unread += spec is not None and entry.kind == "file"
        # A file that has a reader is opened by it, and its fault tells what was lost.
        found = _fault(entry)
        if found is not None:
            faults.append((path[:PATH_LENGTH], found))
        if entry.kind != "not_walked" and len(listed) < LISTED_LIMIT:
            listed[path[:PATH_LENGTH]] = entry
    if unread:
        message = f"{unread:,} files are not read: a store has at most {READ_LIMIT:,} files with records"
        faults.append((".", _file_fault("too_large", ".", message, Severity.WARNING)))
    # A name that is cut, or no UTF-8, may come to the path of a file that is read.
    save_listed(store, {path: entry for path, entry in listed.items() if path not in found_files and path not in known})
    return Scan(min(size, MAX_INT64), count, moment(newest), tuple(faults), found_files, listed)


def _own_path(path: str) -> str:
    """Give the path of a store's own file, never one that looks like a companion's."""
    return f"./{path}" if path.startswith(("project:", "home:")) else path


def moment(nanoseconds: int) -> datetime | None:
    """Give the time of a newest modification; None where there is none, or one that no calendar has."""
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, UTC) if nanoseconds else None
    except (OverflowError, OSError, ValueError):
        return None


def _fault(entry: Entry) -> FoundFault | None:
    if entry.kind == "symlink":
        message = "A link, which is not followed: what it points to is not part of this store"
        return _file_fault("symlink", entry.path, message, Severity.WARNING)
    if entry.kind == "other":
        return _file_fault("unreadable", entry.path, "Neither a file nor a folder, so it is not opened", Severity.WARNING)
    if entry.kind == "not_walked":
        message = "Not looked into: the folder cannot be opened, lies deeper than 8 levels, or the store has more than 200,000 entries"
        return _file_fault("too_large", entry.path or ".", message, Severity.WARNING)
    return None


def _file_fault(code: str, path: str, message: str, severity: Severity) -> FoundFault:
    return FoundFault(
        code=code, severity=severity, message=message, subject_type="file", key=path[:64], details={}, repair_mode=RepairMode.MANUAL
    )


def save_listed(store: Store, listed: dict[str, Entry]) -> None:
    """Bring the rows of files without a reader up to date."""
    known = {source.path: source for source in SourceFile.objects.filter(store=store, record_type="").defer("reader_state", "end_state")}
    new, moved = [], []
    for path, entry in listed.items():
        state = {"file": "listed", "symlink": "symlink"}.get(entry.kind, "not_regular")
        facts = (state, True, *entry.stat)
        source = known.pop(path, None)
        if source is None:
            new.append(SourceFile(store=store, path=path, **dict(zip(_FACTS, facts, strict=True))))
        elif tuple(getattr(source, name) for name in _FACTS) != facts:
            for name, value in zip(_FACTS, facts, strict=True):
                setattr(source, name, value)
            moved.append(source)
    SourceFile.objects.bulk_create(new, batch_size=500)
    SourceFile.objects.bulk_update(moved, _FACTS, batch_size=500)
    gone = [source.pk for source in known.values()]
    if gone:
        SourceFile.objects.filter(pk__in=gone).delete()


_FACTS = ("state", "exists", "device", "inode", "size_bytes", "mtime_ns", "ctime_ns")
