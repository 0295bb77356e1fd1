"""Walks a store of record files and says what moved since they were read: one `stat` a file, and nothing else for those that stand still."""

from __future__ import annotations

import os
import stat as stat_module
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from stores.files import MAX_ENTRIES, MAX_INT64, CannotRead, Entry, FileStat, OpenedFolder, StoreRoot
from stores.formats.base import Fault, RepairMode, Severity
from stores.formats.phase_memory.layout import ENDING, FOLDERS, LOGS, ROOT_FILE, EntryKind, Role, place_of
from stores.mirror.record_trees.naming import is_plain, shown_name
from stores.mirror.scanning import LISTED_LIMIT, moment

Facts = bytes
"""Size, mtime, ctime and inode of a file as it was read, packed; nothing for one that is read again whatever they are."""
AGAIN: Final = b""
_pack = struct.Struct("<4q").pack
_KIND_WORDS = {EntryKind.FILE: "file", EntryKind.FOLDER: "directory", EntryKind.LINK: "symlink", EntryKind.OTHER: "other"}


@dataclass
class FolderSweep:
    """What became of one record folder."""

    changed: list[str] = field(default_factory=list)
    """Names of files that are to be read, as the directory gives them."""
    vanished: list[str] = field(default_factory=list)
    """Names under which files were known that are there no more."""
    size_bytes: int = 0
    newest_ns: int = 0
    files: int = 0
    exists: bool = True
    error: str = ""
    """Why it cannot be looked into; its records then stay as they are."""
    cut: bool = False
    """It has more entries than are looked at."""


@dataclass
class Sweep:
    """What lies in the store."""

    folders: dict[str, FolderSweep] = field(default_factory=dict)
    entries: dict[str, EntryKind] = field(default_factory=dict)
    """Everything but record files, the root file and what is ignored."""
    logs: dict[str, FileStat] = field(default_factory=dict)
    listed: dict[str, Entry] = field(default_factory=dict)
    """Files that no reader takes, the root file among them; only so many."""
    root_kind: EntryKind | None = None
    size_bytes: int = 0
    file_count: int = 0
    newest_ns: int = 0
    cut: bool = False
    """The store's own folder has more entries than are looked at."""

    @property
    def faults(self) -> tuple[tuple[str, Fault], ...]:
        """Faults of whole folders, each with its path."""
        message = f"Not looked at whole: a folder has at most {MAX_ENTRIES:,} entries that are read"
        found = Fault("too_large", Severity.WARNING, message, subject_type="file", repair_mode=RepairMode.MANUAL)
        cut = [*(["."] if self.cut else []), *(path for path, folder in self.folders.items() if folder.cut)]
        return tuple((path, found._replace(key=path)) for path in cut)

    @property
    def changed_at(self) -> datetime | None:
        """Newest modification of any file."""
        return moment(self.newest_ns)

    @property
    def moved(self) -> bool:
        """Whether any record file has to be read or is gone."""
        return any(folder.changed or folder.vanished for folder in self.folders.values())


def sweep(root: StoreRoot, known: Mapping[str, Mapping[str, Facts]]) -> Sweep:
    """Walk a store; `known` holds by folder and name the facts of each record file as it was read."""
    found = Sweep()
    with root.folder("") as top:
        for number, entry in enumerate(top.entries()):
            if number >= MAX_ENTRIES:
                found.cut = True
                break
            kind, stat = _look(entry)
            if kind is not None:
                _take(found, entry.name, kind, stat)
    for folder in FOLDERS:
        found.folders[folder] = _sweep_folder(root, folder, known.get(folder, {}), found)
    for one in found.folders.values():
        found.size_bytes += one.size_bytes
        found.file_count += one.files
        found.newest_ns = max(found.newest_ns, one.newest_ns)
    found.size_bytes = min(found.size_bytes, MAX_INT64)
    return found


def facts_of(stat: FileStat) -> Facts:
    """Give what a file is known by."""
    return _pack(stat.size_bytes, stat.mtime_ns, stat.ctime_ns, stat.inode)


def packed_facts(size_bytes: int, mtime_ns: int, ctime_ns: int, inode: int) -> Facts:
    """Give the same from what the database has."""
    return _pack(size_bytes, mtime_ns, ctime_ns, inode)


def _are(facts: Facts, stat: os.stat_result) -> bool:
    """Say whether a file is as it was read."""
    try:
        return facts == _pack(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    except struct.error:
        return facts == facts_of(FileStat.of(stat))


def _look(entry: os.DirEntry[str]) -> tuple[EntryKind | None, FileStat]:
    """Say what an entry is, links not followed; None for one that went meanwhile."""
    try:
        result = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None, FileStat(0, 0, 0, 0, 0)
    except OSError:
        return EntryKind.OTHER, FileStat(0, 0, 0, 0, 0)
    return _kind(result.st_mode), FileStat.of(result)


def _kind(mode: int) -> EntryKind:
    if stat_module.S_ISREG(mode):
        return EntryKind.FILE
    if stat_module.S_ISLNK(mode):
        return EntryKind.LINK
    return EntryKind.FOLDER if stat_module.S_ISDIR(mode) else EntryKind.OTHER


def _take(found: Sweep, name: str, kind: EntryKind, stat: FileStat) -> None:
    """Take note of an entry of the store's own folder."""
    path = shown_name(name)
    if kind is EntryKind.FILE:
        found.size_bytes += stat.size_bytes
        found.file_count += 1
        found.newest_ns = max(found.newest_ns, stat.mtime_ns)
    if path == ROOT_FILE:
        found.root_kind = kind
    elif place_of(path, kind).role is not Role.IGNORED:
        found.entries[path] = kind
    if path in LOGS and kind is EntryKind.FILE:
        found.logs[path] = stat
    elif path not in FOLDERS and path not in LOGS and kind is not EntryKind.FOLDER:
        _list(found, path, kind, stat, path == name)


def _list(found: Sweep, path: str, kind: EntryKind, stat: FileStat, is_named: bool) -> None:
    if len(found.listed) < LISTED_LIMIT:
        found.listed[path] = Entry(path, _KIND_WORDS[kind], stat, is_named)


def _sweep_folder(root: StoreRoot, folder: str, known: Mapping[str, Facts], found: Sweep) -> FolderSweep:
    swept = FolderSweep()
    if found.entries.get(folder) is not EntryKind.FOLDER:
        swept.exists, swept.vanished = False, list(known)
        return swept
    try:
        with root.folder(folder) as opened:
            stood = _walk(opened, known, swept, found)
            # The indexes that begin with a path then grow at their end.
            swept.changed.sort()
            if stood + len(swept.changed) != len(known) or any(name not in known for name in swept.changed):
                _find_vanished(opened, known, swept, found.entries)
    except (CannotRead, OSError) as err:
        return FolderSweep(error=str(err))
    return swept


def _walk(opened: OpenedFolder, known: Mapping[str, Facts], swept: FolderSweep, found: Sweep) -> int:
    """Look at every entry; give how many stand as they were read."""
    stood = size = newest = count = 0
    get = known.get
    for entry in opened.entries():
        count += 1
        if count > MAX_ENTRIES:
            swept.cut = True
            break
        name = entry.name
        facts = get(name)
        if facts and "\\" not in name:
            try:
                stat = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if _are(facts, stat):
                stood += 1
                size += stat.st_size
                if stat.st_mtime_ns > newest:
                    newest = stat.st_mtime_ns
                continue
        kind, seen = _look(entry)
        if kind is None:
            continue
        if kind is EntryKind.FILE and is_plain(name) and name.endswith(ENDING) and name[0] != ".":
            # Nearly all that is new is such a file.
            swept.changed.append(name)
            size += seen.size_bytes
            newest = max(newest, seen.mtime_ns)
            continue
        shown = shown_name(name)
        path = f"{opened.path}/{shown}"
        place = place_of(path, kind)
        if place.role in (Role.RECORD, Role.MISPLACED):
            if known.get(shown, AGAIN) != facts_of(seen):
                swept.changed.append(name)
            else:
                stood += 1
            size += seen.size_bytes
            newest = max(newest, seen.mtime_ns)
        elif place.role is not Role.IGNORED:
            found.entries[path] = kind
            if kind is not EntryKind.FOLDER:
                _list(found, path, kind, seen, shown == name)
                found.file_count += 1
                found.size_bytes += seen.size_bytes
    swept.size_bytes, swept.newest_ns, swept.files = size, newest, stood + len(swept.changed)
    return stood


def _find_vanished(opened: OpenedFolder, known: Mapping[str, Facts], swept: FolderSweep, others: Mapping[str, EntryKind]) -> None:
    if swept.cut or not known:
        # What lies behind the last entry that is looked at is not gone.
        return
    names = {shown_name(entry.name) for entry in opened.entries()}
    swept.vanished = [name for name in known if name not in names or f"{opened.path}/{name}" in others]
