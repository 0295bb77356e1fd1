"""Answers from the mirror what a store holds: the web reads no disk (DESIGN §3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from stores.formats import javascript, storable
from stores.formats.canonical import digest
from stores.formats.identifiers import is_usable
from stores.formats.orchestkit import decisions, problems
from stores.formats.phase_memory.aliases import unwrapped
from stores.formats.phase_memory.details import value_of
from stores.formats.phase_memory.layout import AUDIT, EVENTS
from stores.formats.phase_memory.reading import LONGEST_ID, read_record
from stores.formats.record_keys import record_key
from stores.lifecycle.changes import Change, Create, EditLog, Move, Replace, Standing, TakeOut
from stores.lifecycle.effects import FileNow
from stores.lifecycle.targets import StoreFault, TargetNow, plain
from stores.lifecycle.vocabulary import ORCHESTKIT, PHASE_MEMORY
from stores.mirror.record_types import RECORD_TYPES
from stores.models import (
    Decision,
    Edge,
    Event,
    Fault,
    MemoryPath,
    Node,
    Problem,
    Profile,
    RecordFile,
    RefusedLine,
    SourceFile,
    Store,
    acknowledged,
)

_TREE: Final[Mapping[str, Any]] = {"node": Node, "edge": Edge, "path": MemoryPath, "profile": Profile}
_USUAL: Final = ("node", "edge", "path")
_LINES: Final[Mapping[str, tuple[Any, str]]] = {"decision": (Decision, decisions.PATH), "problem": (Problem, problems.PATH)}
_LOGS: Final = (EVENTS, AUDIT)
_MOST_LINES: Final = 200_000
_BATCH: Final = 500


class _Found(NamedTuple):
    file: FileNow | None
    """None of what stands in a log among others."""
    target: TargetNow


class MirrorSource:
    """A store as the last import found it; what was asked once is remembered."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._files: dict[str, bytes | None] = {}
        self._read: dict[tuple[str, str], _Found | None] = {}

    def target(self, record_type: str, given: str) -> TargetNow | None:
        """Give a record as the gate is told it."""
        if record_type == "file":
            there = self.file("file", given)
            return None if there is None else TargetNow("file", given, given, f"sha256:{sha256(there.data).hexdigest()}")
        if record_type == "line":
            return self._line(given)
        found = self._found(record_type, given)
        return None if found is None else found.target

    def file(self, record_type: str, given: str) -> FileNow | None:
        """Give the file of a record; of the type `file` by its path."""
        if record_type == "file":
            data = self.data(given)
            return None if data is None else FileNow(given, data)
        found = self._found(record_type, given)
        return None if found is None else found.file

    def preload(self, ids: Iterable[str], record_types: Sequence[str] = _USUAL) -> None:
        """Look up records that will be asked for: a query of each type for 500 of them."""
        if self._store.kind != PHASE_MEMORY:
            return
        wanted = sorted({one for one in ids if is_usable(one) and len(one) <= LONGEST_ID})
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            for record_type in (one for one in record_types if one in _TREE or one == "event"):
                found = self._of_events(batch) if record_type == "event" else self._of_tree(record_type, batch)
                self._read |= {(record_type, one): found.get(one) for one in batch}

    def data(self, path: str) -> bytes | None:
        """Give the bytes of a file; None where there is none, or where the mirror does not keep all of it."""
        if path not in self._files:
            self._files[path] = self._data(path)
        return self._files[path]

    def faults(self, paths: Iterable[str]) -> list[StoreFault]:
        """Give what is wrong with these files, with the logs that an apply appends to, and with the store itself; one query."""
        wanted = sorted({*paths, *(_LOGS if self._store.kind == PHASE_MEMORY else ()), ""})
        rows = Fault.objects.filter(~acknowledged(), store=self._store, path__in=wanted, closed_in_store=False)
        return [fault_of(row) for row in rows[:_BATCH]]

    def standing(self, change: Change) -> Standing:
        """Say how the mirror stands to a change; what is appended always finds its place."""
        if isinstance(change, EditLog):
            data = self.data(change.path)
            return Standing.OTHER if data is None else change.standing(data)
        if isinstance(change, Replace | TakeOut | Create | Move):
            return change.standing(self.data(change.path))
        return Standing.BEFORE

    def _found(self, record_type: str, given: str) -> _Found | None:
        key = (record_type, given)
        if key not in self._read:
            if record_type in _TREE:
                self._read[key] = self._of_tree(record_type, [given]).get(given)
            elif record_type == "event":
                self._read[key] = self._of_events([given]).get(given)
            else:
                self._read[key] = self._of_log(record_type, given)
        return self._read[key]

    def _of_tree(self, record_type: str, ids: Sequence[str]) -> dict[str, _Found]:
        wanted, keys = set(ids), [record_key(one, b"") for one in ids]
        rows = _TREE[record_type]._default_manager.filter(
            file__record_type=record_type, file__store=self._store, key__in=keys, gone_at__isnull=True, is_duplicate=False
        )
        found: dict[str, _Found] = {}
        for path, raw in rows.filter(unreadable_since__isnull=True).order_by("path", "id").values_list("path", "text__raw"):
            read = read_record(record_type, bytes(raw))
            if not read.refused and read.id in wanted and read.id not in found:
                target = TargetNow(record_type, read.id, path, digest(read.value), plain(unwrapped(record_type, read.value)))
                found[read.id] = _Found(FileNow(path, bytes(raw)), target)
        return found

    def _of_events(self, ids: Sequence[str]) -> dict[str, _Found]:
        """Find events by their id, of several the first: also those that are not interpreted have taken it."""
        names = {storable.name(one): one for one in ids}
        rows = Event.objects.filter(
            file__store=self._store, key__in=[record_key(one, b"") for one in ids], natural_id__in=list(names), gone_at__isnull=True
        )
        found: dict[str, _Found] = {}
        for name, raw in rows.order_by("line", "id").values_list("natural_id", "text__raw"):
            value = value_of("event", bytes(raw))
            found.setdefault(names[name], _Found(None, TargetNow("event", names[name], EVENTS, digest(value), value)))
        return found

    def _of_log(self, record_type: str, given: str) -> _Found | None:
        if record_type not in _LINES:
            return None
        model, path = _LINES[record_type]
        rows = model._default_manager.filter(file__store=self._store, file__path=path, gone_at__isnull=True)
        columns = ("sha256", "text__raw")
        found = list(rows.filter(key=record_key(given, b""), natural_id=storable.name(given)).order_by("line").values_list(*columns))
        if not found and (name := hash_named(given)) is not None:
            found = list(rows.filter(sha256=name).values_list(*columns)[:1])
        if not found:
            return None
        line_sha256, raw = found[-1]
        parsed = javascript.parse(bytes(raw))
        record = plain(parsed.value) if parsed.accepted else {}
        return _Found(FileNow(path, bytes(raw)), TargetNow(record_type, given, path, f"sha256:{bytes(line_sha256).hex()}", record))

    def _line(self, given: str) -> TargetNow | None:
        """Find a line of any log by what its planner named it: the hex digits of its sha256."""
        name = hash_named(given)
        if name is None:
            return None
        refused = RefusedLine.objects.filter(store=self._store, sha256=name).select_related("file").first()
        if refused is not None:
            return TargetNow("line", given, refused.file.path, f"sha256:{name.hex()}", line=refused.line)
        for file in SourceFile.objects.filter(store=self._store, exists=True, record_type__in=RECORD_TYPES):
            rows = RECORD_TYPES[file.record_type].model._default_manager.filter(file=file, gone_at__isnull=True)
            number = rows.filter(sha256=name).values_list("line", flat=True).first() if self._store.kind == ORCHESTKIT else None
            if number is not None:
                return TargetNow("line", given, file.path, f"sha256:{name.hex()}", line=number)
        return None

    def _data(self, path: str) -> bytes | None:
        tree = RecordFile.objects.filter(store=self._store, path=path).first()
        if tree is not None:
            return self._tree_data(tree)
        file = SourceFile.objects.filter(store=self._store, path=path, exists=True).first()
        return None if file is None or file.cannot_be_read else _assembled(file)

    def _tree_data(self, tree: RecordFile) -> bytes | None:
        raw = bytes(tree.raw)
        if not raw and tree.record_id is not None and tree.folder.record_type in RECORD_TYPES:
            records: Any = RECORD_TYPES[tree.folder.record_type].model._default_manager
            raw = bytes(records.filter(pk=tree.record_id).values_list("text__raw", flat=True).first() or b"")
        return raw if sha256(raw).digest() == bytes(tree.sha256) else None


def fault_of(row: Fault) -> StoreFault:
    """Give a fault as the gate is told it."""
    at_end = row.code in ("tail_torn", "truncated_last_line") or row.pending
    return StoreFault(row.path, row.code, row.severity == "error", at_end, row.repair_mode == "block")


def hash_named(given: str) -> bytes | None:
    """Give the sha256 that a target's id is, None for an id of another sort."""
    try:
        name = bytes.fromhex(given.removeprefix("sha256:"))
    except ValueError:
        return None
    return name if len(name) == 32 else None


def _assembled(file: SourceFile) -> bytes | None:
    """Put a file of lines together from its records and refused lines; None where the mirror has not all of it.

    Blank lines are taken for empty ones: no change is about them.
    """
    if file.record_type not in RECORD_TYPES or file.state != "ok":
        return None
    records: Any = RECORD_TYPES[file.record_type].model._default_manager
    live = records.filter(file=file, gone_at__isnull=True)
    if live.count() > _MOST_LINES:
        return None
    pieces = [(offset, length, bytes(raw)) for offset, length, raw in live.values_list("offset", "length", "text__raw")]
    refused = RefusedLine.objects.filter(file=file).values_list("offset", "length", "raw")
    pieces += [(offset, length, bytes(raw)) for offset, length, raw in refused]
    whole = bytearray()
    for offset, length, raw in sorted(pieces):
        if len(raw) != length or offset < len(whole):
            return None
        whole += b"\n" * (offset - len(whole)) + raw
    return bytes(whole + b"\n" * (file.size_bytes - len(whole)))
