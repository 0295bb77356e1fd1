"""Reads phase-memory stores from disk for tests: the least that a reader has to do."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from stores.formats.lines import split_lines
from stores.formats.phase_memory.layout import AUDIT, EVENTS, FOLDERS, ROOT_FILE, EntryKind, Role, place_of
from stores.formats.phase_memory.reading import read_root
from stores.formats.phase_memory.vocabulary import EVENT_VERSIONS
from stores.health.phase_memory import StoreFacts, record_facts, unreadable


def kind_of(entry: os.DirEntry[str]) -> EntryKind:
    """Say what a directory entry is, links not followed."""
    if entry.is_symlink():
        return EntryKind.LINK
    if entry.is_dir(follow_symlinks=False):
        return EntryKind.FOLDER
    return EntryKind.FILE if entry.is_file(follow_symlinks=False) else EntryKind.OTHER


def read_facts(root: Path, event_versions: Collection[str] = EVENT_VERSIONS) -> StoreFacts:
    """Give the facts of a store on disk."""
    facts = StoreFacts(event_versions)
    root_file = root / ROOT_FILE
    facts.put_root(read_root(root_file.read_bytes() if root_file.is_file() else None), root_file.is_symlink())
    for name, extend in ((EVENTS, facts.extend_events), (AUDIT, facts.extend_audit)):
        log = root / name
        if log.is_file() and not log.is_symlink():
            extend(split_lines([log.read_bytes()]))
    for folder in ("", *FOLDERS):
        place = root / folder
        if not place.is_dir() or (folder and place.is_symlink()):
            continue
        with os.scandir(place) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                path = f"{folder}/{entry.name}" if folder else entry.name
                kind = kind_of(entry)
                role = place_of(path, kind).role
                if role is Role.RECORD:
                    facts.put_file(record_facts(path, Path(entry.path).read_bytes()))
                elif role is Role.MISPLACED and folder:
                    facts.put_file(unreadable(path, "not_regular"))
                else:
                    facts.put_entry(path, kind)
    return facts
