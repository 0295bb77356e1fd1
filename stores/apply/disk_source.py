"""Answers from the disk, under the store's lock, what a store holds at the moment at which an action is to be applied (rulings 2, 5, 25)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

from stores.apply.graph_reading import require_supported
from stores.apply.log_traces import last_line
from stores.apply.reading import entry_kind, read_if_there
from stores.errors import Conflict, StoreUnreadable
from stores.files import StoreRoot
from stores.formats import javascript, storable
from stores.formats.base import LineClass
from stores.formats.canonical import digest
from stores.formats.lines import split_lines
from stores.formats.orchestkit import decisions
from stores.formats.phase_memory.aliases import unwrapped
from stores.formats.phase_memory.layout import AUDIT, EVENTS, FOLDER_OF, LOGS, may_be_created, path_for
from stores.formats.phase_memory.reading import read_log_line, read_record
from stores.lifecycle.changes import (
    Change,
    Create,
    EditLog,
    EndLine,
    LineMissing,
    MakeFolder,
    Move,
    Replace,
    Standing,
    TakeOut,
    bytes_digest,
    line_of,
)
from stores.lifecycle.effects import FileNow
from stores.lifecycle.targets import StoreFault, TargetNow, plain
from stores.lifecycle.vocabulary import PHASE_MEMORY
from stores.models import ActionTarget, LifecycleAction, Store
from stores.review import keeping
from stores.review.mirror_source import MirrorSource, hash_named

_OF_LINES: Final = frozenset({"line", "decision", "problem"})
_LOG_TYPES: Final = {EVENTS: "event", AUDIT: "audit"}


class DiskSource:
    """A locked store, as one action's targets are looked for in it; each file is read once.

    `instead` gives the bytes that files had before an apply that was interrupted: so that can be judged which began it.
    """

    def __init__(self, store: Store, root: StoreRoot, action: LifecycleAction, instead: Mapping[str, bytes | None] | None = None) -> None:
        self._store, self._root = store, root
        self._mirror = MirrorSource(store)
        self._data: dict[str, bytes | None] = dict(instead or {})
        record = keeping.record_of(action)
        digests, parameters = record.get("source_digests"), record.get("parameters")
        self._digests: Mapping[str, object] = digests if isinstance(digests, dict) else {}
        file = parameters.get("file") if isinstance(parameters, dict) else None
        self._log = file if isinstance(file, str) else ""
        rows = ActionTarget.objects.filter(action=action).exclude(path="")
        self._events: dict[str, TargetNow] | None = None
        self._paths = {(row.record_type, row.target_id): row.path for row in rows}

    def target(self, record_type: str, given: str) -> TargetNow | None:
        """Give a record as the gate is told it. Raises StoreUnreadable for a file that is there and cannot be read."""
        if record_type == "file":
            return self._file_target(given)
        if record_type in _OF_LINES:
            return self._line_target(record_type, given)
        if record_type == "event":
            return self._event_targets().get(given)
        there = self.file(record_type, given)
        if there is None:
            return None
        value = read_record(record_type, there.data).value
        return TargetNow(record_type, given, there.path, digest(value), plain(unwrapped(record_type, value)))

    def file(self, record_type: str, given: str) -> FileNow | None:
        """Give the file of a record; its id is inside.

        It is looked for where it was when the action was made, where the mirror knows it, and where it is made when it is new: another
        action may have made it a moment ago.
        """
        if record_type == "file":
            data = self.data(given)
            return None if data is None else FileNow(given, data)
        if record_type not in FOLDER_OF:
            return None
        listed = self._paths.get((record_type, storable.name(given)), "")
        known = self._mirror.file(record_type, given)
        usual = path_for(record_type, given) if may_be_created(given) else ""
        for path in dict.fromkeys((listed, known.path if known else "", usual)):
            data = self.data(path) if path else None
            if data is None:
                continue
            read = read_record(record_type, data)
            if not read.refused and read.id == given:
                return FileNow(path, data)
        return None

    def data(self, path: str) -> bytes | None:
        """Give the bytes of a file, None where there is none. Raises StoreUnreadable."""
        if path not in self._data:
            self._data[path] = read_if_there(self._root, path)
        return self._data[path]

    def faults(self, paths: Iterable[str]) -> list[StoreFault]:
        """Give what the mirror knows to be wrong with these files, and what the ends of the logs show at this moment."""
        wanted = list(paths)
        found = self._mirror.faults(wanted)
        if self._store.kind == PHASE_MEMORY:
            found += self._of_root()
            wanted += LOGS
        return found + [fault for path in dict.fromkeys(wanted) if path.endswith(".jsonl") for fault in self._at_end(path)]

    def standing(self, change: Change) -> Standing:
        """Say how the disk stands to a change; what is appended always finds its place."""
        if isinstance(change, Move):
            there = self.data(change.path)
            if there is None:
                return Standing.AFTER if entry_kind(self._root, change.to) else Standing.OTHER
            return change.standing(there) if not entry_kind(self._root, change.to) else Standing.OTHER
        if isinstance(change, Replace | TakeOut | Create | EditLog):
            return change.standing(self.data(change.path))
        if isinstance(change, MakeFolder):
            kind = entry_kind(self._root, change.path)
            return Standing.BEFORE if not kind else Standing.AFTER if kind == "directory" else Standing.OTHER
        if isinstance(change, EndLine):
            data = self.data(change.path)
            return Standing.OTHER if data is None else Standing.BEFORE if data and not data.endswith(b"\n") else Standing.AFTER
        return Standing.BEFORE

    def _file_target(self, path: str) -> TargetNow | None:
        kind = entry_kind(self._root, path) if path not in self._data else "file"
        if kind and kind != "file":
            return TargetNow("file", path, path, "")
        there = self.file("file", path)
        return None if there is None else TargetNow("file", path, path, f"sha256:{sha256(there.data).hexdigest()}")

    def _event_targets(self) -> dict[str, TargetNow]:
        """Give every event of the log by its id, of several the first."""
        if self._events is None:
            self._events = {}
            for line in split_lines([self.data(EVENTS) or b""]):
                read = read_log_line("event", line)
                if read.line_class is LineClass.RECORD:
                    self._events.setdefault(read.id, TargetNow("event", read.id, EVENTS, digest(read.record), plain(read.record)))
        return self._events

    def _line_target(self, record_type: str, given: str) -> TargetNow | None:
        """Find a line by the sha256 that the action names it by: no other one may be taken for it."""
        path = self._paths.get((record_type, storable.name(given)), "") or self._log
        said = self._digests.get(given)
        name = hash_named(said) if isinstance(said, str) else None
        if name is None and record_type == "decision":
            return self._decision(given)
        data = self.data(path) if path else None
        if data is None or name is None:
            return None
        try:
            line = line_of(data, name)
        except LineMissing:
            return None
        parsed = javascript.parse(line) if record_type != "line" else None
        record = plain(parsed.value) if parsed is not None and parsed.accepted else {}
        return TargetNow(record_type, given, path, f"sha256:{name.hex()}", record)

    def _decision(self, given: str) -> TargetNow | None:
        """Find a decision that is to be new by its id."""
        mark = given.encode("utf-8", "surrogatepass")
        for line in (self.data(decisions.PATH) or b"").split(b"\n"):
            parsed = javascript.parse(line) if mark in line else None
            record = plain(parsed.value) if parsed is not None and parsed.accepted else {}
            if record.get("id") == given:
                return TargetNow("decision", given, decisions.PATH, bytes_digest(line), record)
        return None

    def _of_root(self) -> list[StoreFault]:
        try:
            require_supported(self._root)
        except Conflict:
            return [StoreFault("", "unsupported_store_version", is_error=True, blocks=True)]
        return []

    def _at_end(self, path: str) -> list[StoreFault]:
        """Say that a log ends in a line that cannot be read: what is appended would not be seen for what it is."""
        try:
            line = last_line(self._root, path)
        except StoreUnreadable:
            return [StoreFault(path, "unreadable", is_error=True, at_end=True)]
        if line is None or line.terminated:
            return []
        if path in _LOG_TYPES:
            is_torn = read_log_line(_LOG_TYPES[path], line).line_class is not LineClass.RECORD
            return [StoreFault(path, "truncated_last_line", is_error=True, at_end=True)] if is_torn else []
        return [] if javascript.parse(line.data).accepted else [StoreFault(path, "tail_torn", is_error=True, at_end=True)]
