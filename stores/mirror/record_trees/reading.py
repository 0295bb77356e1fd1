"""Reads record files one by one: their bytes, what the rules need of them, and what the mirror keeps."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import NamedTuple

from stores.files import CannotRead, FileStat, OpenedFolder
from stores.formats import storable
from stores.formats.jsonfile import SIZE_CAP
from stores.formats.lines import CAP, HEAD
from stores.formats.phase_memory.layout import FOLDERS
from stores.formats.phase_memory.mirrored import MIRRORS, Mirrored
from stores.formats.phase_memory.reading import read_record
from stores.formats.record_keys import record_key
from stores.health.phase_memory import RecordFacts, unreadable
from stores.health.phase_memory.record_facts import facts_of
from stores.mirror.identity import RACY_NS
from stores.mirror.record_trees.naming import shown_name
from stores.mirror.record_trees.packed_facts import pack


class ReadFile(NamedTuple):
    """One record file as it was read."""

    name: str
    """As the directory gives it."""
    path: str
    stat: FileStat
    racy: bool
    """It was read within 2 s of its last change (ruling 11)."""
    state: str
    """ok, refused, unreadable or too_large."""
    sha256: bytes
    facts: RecordFacts
    packed_facts: bytes
    """The same as `packed_facts.pack` gives them."""
    mirrored: Mirrored | None
    """None where it is no record."""
    natural_id: str
    """The record's id as the mirror has it."""
    key: int
    raw: bytes
    """Up to 1 MiB, else the first 4 KiB."""

    @property
    def is_young_and_refused(self) -> bool:
        """Whether it may be half written: then it is read again at the end of the run."""
        return self.racy and self.state == "refused"


def read_files(opened: OpenedFolder, names: Iterable[str]) -> Iterator[ReadFile]:
    """Read files of one record folder; one that is gone or became a link meanwhile is passed over, the next sweep sees it."""
    for name in names:
        read = read_file(opened, name)
        if read is not None:
            yield read


def read_file(opened: OpenedFolder, name: str) -> ReadFile | None:
    """Read one file; None for one that is no longer there."""
    path = f"{opened.path}/{shown_name(name)}"
    now_ns = time.time_ns()
    try:
        stat, data = opened.read(name, SIZE_CAP)
    except CannotRead as err:
        seen = None if err.state in ("missing", "symlink") else opened.stat(name)
        return None if seen is None else _without_record(name, path, seen, False, unreadable(path, err.state))
    racy = abs(stat.mtime_ns - now_ns) < RACY_NS
    if len(data) > SIZE_CAP:
        return _without_record(name, path, stat, racy, unreadable(path, "too_large"), raw=data[:HEAD])
    record_type = FOLDERS[opened.path]
    read = read_record(record_type, data)
    facts = facts_of(path, read)
    raw = data if len(data) <= CAP else data[:HEAD]
    digest = sha256(data).digest()
    if read.refused:
        return _without_record(name, path, stat, racy, facts, digest, raw)
    natural_id = storable.name(facts.id)
    mirrored = MIRRORS[record_type](read.value)
    return ReadFile(name, path, stat, racy, "ok", digest, facts, pack(facts), mirrored, natural_id, record_key(natural_id, digest), raw)


def _without_record(
    name: str, path: str, stat: FileStat, racy: bool, facts: RecordFacts, digest: bytes = b"", raw: bytes = b""
) -> ReadFile:
    state = "refused" if digest else "too_large" if facts.refused == "too_large" else "unreadable"
    return ReadFile(name, path, stat, racy, state, digest, facts, pack(facts), None, "", 0, raw)
