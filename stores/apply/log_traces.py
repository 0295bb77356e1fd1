"""What an apply looks for in logs: the last line, the last record of an audit log, the traces of an apply that was interrupted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from stores.apply.reading import stat_of
from stores.errors import StoreUnreadable
from stores.files import LONGEST_WAIT_S, TORN_AFTER_S, CannotRead, StoreRoot
from stores.formats.base import Line, LineClass
from stores.formats.lines import split_lines
from stores.formats.phase_memory.aliases import Record
from stores.formats.phase_memory.layout import AUDIT, EVENTS
from stores.formats.phase_memory.reading import LogLine, read_log_line
from stores.formats.phase_memory.vocabulary import AUDIT_VERSION

_FIRST_LOOK: Final = 64 * 1024
_LOOK_AGAIN_S: Final = 0.005


def last_line(root: StoreRoot, path: str) -> Line | None:
    """Give the last line of a log; None where there is no log or nothing in it. Raises StoreUnreadable.

    One without its end is waited for while its writer may be at it: a line is seen half also when it is written at once.
    """
    began = time.monotonic()
    while True:
        changed_at = _changed_at(root, path)
        line = next((lines[-1] for lines in _looks(root, path) if lines), None)
        is_begun = line is not None and not line.terminated and time.time() - changed_at < TORN_AFTER_S
        if not is_begun or time.monotonic() - began > LONGEST_WAIT_S:
            return line
        time.sleep(_LOOK_AGAIN_S)


def _changed_at(root: StoreRoot, path: str) -> float:
    found = stat_of(root, path)
    return found.mtime_ns / 1e9 if found is not None else 0.0


def last_audit(root: StoreRoot) -> Record | None:
    """Give the last well-formed record of the store's audit log; None where there is none. Raises StoreUnreadable."""
    for lines in _looks(root, AUDIT):
        for line in reversed(lines):
            read = read_log_line("audit", line)
            if read.line_class is LineClass.RECORD and read.record.get("schema_version") == AUDIT_VERSION:
                return read.value
    return None


def _looks(root: StoreRoot, path: str) -> Iterator[list[Line]]:
    """Give the whole lines of the end of a log, then of all of it where that is longer."""
    try:
        with root.open(path) as opened:
            size = opened.stat.size_bytes
            start = max(0, size - _FIRST_LOOK)
            end = opened.at(start, size - start)
            if start:
                # The first line of it may be the rest of one.
                end = end.partition(b"\n")[2]
            yield list(split_lines([end]))
            if start:
                yield list(split_lines(opened.chunks(0, size)))
    except CannotRead as err:
        if err.state != "missing":
            raise StoreUnreadable(str(err)) from err


def has_event(root: StoreRoot, event_id: str, action_id: str) -> bool:
    """Say that the event log holds the event of an action. Raises StoreUnreadable."""
    return any(
        read.id == event_id and read.record.get("action_id", action_id) == action_id
        for read in _records(root, EVENTS, "event", event_id.encode())
    )


def audit_of(root: StoreRoot, action_id: str, since: datetime) -> str:
    """Give the id of the audit record of an action's apply since it was queued, "" where the log has none. Raises StoreUnreadable."""
    for read in _records(root, AUDIT, "audit", action_id.encode()):
        said = read.record
        at = said.get("timestamp")
        is_apply = said.get("decision") == "applied" and said.get("dry_run") is not True and said.get("subject_id") == action_id
        if is_apply and isinstance(at, str) and at >= f"{since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}":
            return read.id
    return ""


def _records(root: StoreRoot, path: str, record_type: str, mark: bytes) -> Iterator[LogLine]:
    """Give the records of a log in whose lines some bytes stand."""
    try:
        with root.open(path) as opened:
            for line in split_lines(opened.chunks(0, opened.stat.size_bytes)):
                if mark in line.data:
                    read = read_log_line(record_type, line)
                    if read.line_class is LineClass.RECORD:
                        yield read
    except CannotRead as err:
        if err.state != "missing":
            raise StoreUnreadable(str(err)) from err
