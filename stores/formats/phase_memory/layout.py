"""Where the files of a phase-memory store lie, and how ids and file names belong together."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from stores.formats import identifiers

ROOT_FILE: Final = "phase-memory.json"
EVENTS: Final = "events.jsonl"
AUDIT: Final = "audit.jsonl"
LOGS: Final = (EVENTS, AUDIT)
FOLDERS: Final[dict[str, str]] = {
    "profiles": "profile",
    "nodes": "node",
    "edges": "edge",
    "paths": "path",
    "activations": "activation",
}
"""Folder to type of record."""
FOLDER_OF: Final[dict[str, str]] = {record_type: folder for folder, record_type in FOLDERS.items()}
ENTRIES: Final = (*FOLDERS, *LOGS)
"""What has to be there beside the root file."""
ENDING: Final = ".json"


class EntryKind(StrEnum):
    """What a directory says of an entry, links not followed."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


class Role(StrEnum):
    """What an entry is to the store."""

    ROOT = "root"
    RECORD = "record"
    LOG = "log"
    FOLDER = "folder"
    LINK = "link"
    UNEXPECTED = "unexpected"
    IGNORED = "ignored"
    MISPLACED = "misplaced"
    """Has the name of something of the layout, but is not a file or not a folder."""


class Place(NamedTuple):
    """What is expected at a path."""

    role: Role
    record_type: str = ""


def place_of(path: str, kind: EntryKind = EntryKind.FILE) -> Place:
    """Say what an entry is to the store, by its path relative to it; what lies deeper than the record folders is ignored.

    An unexpected folder stands for all that is in it.
    """
    folder, _, name = path.rpartition("/")
    if name.startswith(".") or folder not in ("", *FOLDERS):
        return Place(Role.IGNORED)
    if kind is EntryKind.LINK:
        return Place(Role.LINK, FOLDERS.get(folder, ""))
    if folder:
        if kind is EntryKind.FOLDER or not name.endswith(ENDING):
            return Place(Role.UNEXPECTED)
        return Place(Role.RECORD if kind is EntryKind.FILE else Role.MISPLACED, FOLDERS[folder])
    if name in FOLDERS:
        return Place(Role.FOLDER if kind is EntryKind.FOLDER else Role.MISPLACED, FOLDERS[name])
    if name in LOGS or name == ROOT_FILE:
        right = Role.ROOT if name == ROOT_FILE else Role.LOG
        return Place(right if kind is EntryKind.FILE else Role.MISPLACED)
    return Place(Role.UNEXPECTED)


def file_name(record_id: str) -> str:
    """Give the name of the file that holds a record: all but letters, digits and `_ . - ~` is percent-encoded."""
    return quote(record_id, safe="", errors="surrogatepass") + ENDING


def path_for(record_type: str, record_id: str) -> str:
    """Give the path at which a record is created; only for ids that `may_be_created` allows."""
    return f"{FOLDER_OF[record_type]}/{file_name(record_id)}"


def named_id(path: str) -> str:
    """Give the id that a file's name stands for; what is no UTF-8 when decoded stands for no id and comes back otherwise."""
    return unquote(path.rpartition("/")[2].removesuffix(ENDING), errors="surrogateescape")


def is_named_by(path: str, record_id: str) -> bool:
    """Say whether a file's name stands for an id."""
    # Most ids stand in their names as they are.
    return (path.endswith(f"/{record_id}{ENDING}") and "%" not in path and "/" not in record_id) or named_id(path) == record_id


def may_be_created(record_id: str) -> bool:
    """Say whether an id may become a new file's name (ruling 27)."""
    return identifiers.fits_file_name(record_id)
