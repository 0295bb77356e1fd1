"""Everything that the rules look at in one phase-memory store, kept up to date file by file.

Each change says which units have to be checked again: what it touches itself, what points at it, and what waited for it. The
logs are put in before the record files, so that these find the events they name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from stores.formats.base import Line
from stores.formats.phase_memory.layout import AUDIT, ENTRIES, EVENTS, ROOT_FILE, EntryKind, Role, is_named_by, place_of
from stores.formats.phase_memory.reading import RootFile
from stores.formats.phase_memory.vocabulary import EVENT_VERSIONS
from stores.health.phase_memory.audit_log import AuditLog
from stores.health.phase_memory.event_log import EventLog
from stores.health.phase_memory.record_facts import ActivationRefs, EdgeRefs, NodeRefs, PathRefs, RecordFacts, Refs


class Unit(NamedTuple):
    """The least that is checked at a time.

    `root`; `entry` (of a path); `file` (a path); `group` (the files of one id of one type); `fold` (ids of a type that differ in
    case only, by their small form); `path_events` (the events that name a path); `cycles`; `actions`; `log` (of a name).
    """

    what: str
    name: str = ""
    record_type: str = ""


CYCLES = Unit("cycles")
ACTIONS = Unit("actions")
EVENT_LINES = Unit("log", EVENTS)
AUDIT_LINES = Unit("log", AUDIT)
ROOT = Unit("root", ROOT_FILE)


class StoreFacts:
    """The facts of one store."""

    def __init__(self, event_versions: Collection[str] = EVENT_VERSIONS) -> None:
        self.root = RootFile("", "missing")
        self.root_is_link = False
        self.entries: dict[str, EntryKind] = {}
        """What lies in the store, record files and the root file left out."""
        self.files: dict[str, RecordFacts] = {}
        self.events = EventLog(event_versions)
        self.audit = AuditLog()
        self._groups: dict[str, dict[str, tuple[str, ...]]] = {}
        """Type to id to the paths of its files, the one that stands for the id first."""
        self._folds: dict[str, dict[str, tuple[str, ...]]] = {}
        self._referrers: dict[str, dict[str, set[Unit]]] = {"node": {}, "path": {}}
        """Type to id to the units that point at it, whether it exists or not."""
        self._waiting: dict[str, set[Unit]] = {}
        """Id of an event that is not in the log to the units that name it."""

    def exists(self, record_type: str, record_id: str) -> bool:
        """Say whether a readable file has the id."""
        return record_id in self._groups.get(record_type, {})

    def group(self, record_type: str, record_id: str) -> tuple[RecordFacts, ...]:
        """Give the files of an id, the one that stands for it first."""
        return tuple(self.files[path] for path in self._groups.get(record_type, {}).get(record_id, ()))

    def primary(self, record_type: str, record_id: str) -> RecordFacts | None:
        """Give the file that stands for an id."""
        paths = self._groups.get(record_type, {}).get(record_id)
        return self.files[paths[0]] if paths else None

    def ids(self, record_type: str) -> Collection[str]:
        """Give all ids of a type."""
        return self._groups.get(record_type, {}).keys()

    def folded(self, record_type: str, small: str) -> list[str]:
        """Give the ids of a type that have one small form, sorted."""
        return sorted(self._folds.get(record_type, {}).get(small, ()))

    def units(self) -> Iterator[Unit]:
        """Give every unit of the store in which anything may be found."""
        yield ROOT
        yield from (Unit("entry", path) for path in {*ENTRIES, *self.entries})
        yield from (Unit("file", path) for path, file in self.files.items() if file.refused or not file.deterministic)
        for record_type, groups in self._groups.items():
            yield from (Unit("group", record_id, record_type) for record_id in groups)
        for record_type, folds in self._folds.items():
            yield from (Unit("fold", small, record_type) for small, ids in folds.items() if len(ids) > 1)
        yield from (Unit("path_events", path_id) for path_id in self.events.by_path)
        yield from (CYCLES, ACTIONS, EVENT_LINES, AUDIT_LINES)

    def put_root(self, root: RootFile, is_link: bool = False) -> set[Unit]:
        """Take what the root file says."""
        self.root, self.root_is_link = root, is_link
        return {ROOT}

    def put_entry(self, path: str, kind: EntryKind) -> set[Unit]:
        """Take that an entry is there; record files come by `put_file`, unless they are links."""
        if place_of(path, kind).role in (Role.IGNORED, Role.ROOT) or path == ROOT_FILE:
            return set()
        self.entries[path] = kind
        return {Unit("entry", path)}

    def drop_entry(self, path: str) -> set[Unit]:
        """Take that an entry is not there any more."""
        self.entries.pop(path, None)
        return {Unit("entry", path)}

    def put_file(self, facts: RecordFacts) -> set[Unit]:
        """Take a record file as it is now."""
        return self._exchange(facts.path, facts)

    def load_file(self, facts: RecordFacts) -> None:
        """Take a record file of which nobody asks what it touches: the whole store is checked afterwards."""
        path, record_type, record_id = facts.path, facts.record_type, facts.id
        groups = self._groups.setdefault(record_type, {})
        if path in self.files or record_id in groups:
            self._exchange(path, facts)
            return
        self.files[path] = facts
        if record_id:
            groups[record_id] = (path,)
            self._fold(record_type, record_id)
            self._link_file(Unit("group", record_id, record_type), facts)

    def drop_file(self, path: str) -> set[Unit]:
        """Take that a record file is not there any more."""
        return self._exchange(path, None)

    def extend_events(self, lines: Iterable[Line]) -> set[Unit]:
        """Take what was appended to the events, a last line without a line break once more."""
        grown = self.events.extend(lines)
        units = {EVENT_LINES, *(Unit("path_events", path_id) for path_id in grown.paths)}
        if grown.actions:
            units.add(ACTIONS)
        for event_id in grown.ids - grown.lost:
            units |= self._waiting.pop(event_id, set())
        if grown.lost:
            units |= self._wait_for(grown.lost)
        return units

    def extend_audit(self, lines: Iterable[Line]) -> set[Unit]:
        """Take what was appended to the audit log, a last line without a line break once more."""
        grown = self.audit.extend(lines)
        units = {AUDIT_LINES, *(Unit("group", node, "node") for node in grown.nodes)}
        return units | {ACTIONS} if grown.actions else units

    def replace_events(self, lines: Iterable[Line], event_versions: Collection[str] | None = None) -> set[Unit]:
        """Take a log that was rewritten, or other known versions: everything that names an event is checked again."""
        before = self._with_events()
        # The old log goes before the new one is read: both of a large store are not held.
        self.events = EventLog(self.events.versions if event_versions is None else event_versions)
        self.events.extend(lines)
        return before | self._name_events()

    def exchange_events(self, log: EventLog) -> set[Unit]:
        """Take a log that was read meanwhile in place of the other one."""
        before = self._with_events()
        self.events = log
        return before | self._name_events()

    def _with_events(self) -> set[Unit]:
        return {Unit("path_events", path_id) for path_id in self.events.by_path}

    def _name_events(self) -> set[Unit]:
        """Give what looks at the log, which is another one now, and find out who waits for an event."""
        units = {EVENT_LINES, ACTIONS, *self._with_events()}
        self._waiting = {}
        for facts in self.files.values():
            events = _events_of(facts.refs)
            if events:
                unit = Unit("group", facts.id, facts.record_type)
                units.add(unit)
                self._wait(unit, events)
        return units

    def replace_audit(self, lines: Iterable[Line]) -> set[Unit]:
        """Take an audit log that was rewritten."""
        nodes = set(self.audit.after)
        self.audit = AuditLog()
        units = self.extend_audit(lines)
        return {*units, ACTIONS, *(Unit("group", node, "node") for node in nodes)}

    def _exchange(self, path: str, new: RecordFacts | None) -> set[Unit]:
        old = self.files.get(path)
        if old == new:
            return set()
        units = {Unit("file", path)}
        ids = {(facts.record_type, facts.id) for facts in (old, new) if facts is not None and facts.id}
        before = {key: self.primary(*key) for key in ids}
        for key in ids:
            self._unlink(*key)
        if new is None:
            del self.files[path]
        else:
            self.files[path] = new
        for record_type, record_id in ids:
            self._regroup(record_type, record_id, path, new is not None and new.id == record_id)
            self._link(record_type, record_id)
            units |= self._touched(record_type, record_id, before[record_type, record_id])
        return units

    def _touched(self, record_type: str, record_id: str, before: RecordFacts | None) -> set[Unit]:
        """Give what looks at an id of which one file is another now."""
        after = self.primary(record_type, record_id)
        units = {Unit("group", record_id, record_type)}
        if (before and before.path) != (after and after.path):
            units.add(Unit("fold", record_id.casefold(), record_type))
        if (before is None) != (after is None):
            units |= self._referrers.get(record_type, {}).get(record_id, set())
        if record_type == "path":
            units.add(Unit("path_events", record_id))
            if _parent(before) != _parent(after):
                units.add(CYCLES)
        return units

    def _regroup(self, record_type: str, record_id: str, path: str, belongs: bool) -> None:
        groups = self._groups.setdefault(record_type, {})
        paths = [other for other in groups.get(record_id, ()) if other != path]
        if belongs:
            paths.append(path)
        if paths:
            groups[record_id] = tuple(sorted(paths, key=lambda other: (not is_named_by(other, record_id), other)))
            self._fold(record_type, record_id)
            return
        groups.pop(record_id, None)
        folds, small = self._folds.setdefault(record_type, {}), record_id.casefold()
        others = tuple(other for other in folds.get(small, ()) if other != record_id)
        if others:
            folds[small] = others
        else:
            folds.pop(small, None)

    def _fold(self, record_type: str, record_id: str) -> None:
        folds = self._folds.setdefault(record_type, {})
        small = record_id.casefold()
        others = folds.get(small, ())
        if record_id not in others:
            # Most ids are small letters already: one text then serves as key and as value.
            folds[record_id if small == record_id else small] = (*others, record_id)

    def _unlink(self, record_type: str, record_id: str) -> None:
        unit = Unit("group", record_id, record_type)
        for facts in self.group(record_type, record_id):
            for target_type, target in _points_at(facts.refs):
                _discard(self._referrers[target_type], target, unit)
            for event_id in _events_of(facts.refs):
                _discard(self._waiting, event_id, unit)

    def _link(self, record_type: str, record_id: str) -> None:
        unit = Unit("group", record_id, record_type)
        for facts in self.group(record_type, record_id):
            self._link_file(unit, facts)

    def _link_file(self, unit: Unit, facts: RecordFacts) -> None:
        for target_type, target in _points_at(facts.refs):
            referrers = self._referrers[target_type]
            units = referrers.get(target)
            if units is None:
                referrers[target] = {unit}
            else:
                units.add(unit)
        self._wait(unit, _events_of(facts.refs))

    def _wait(self, unit: Unit, events: Iterable[str]) -> None:
        for event_id in events:
            if event_id not in self.events.positions:
                self._waiting.setdefault(event_id, set()).add(unit)

    def _wait_for(self, lost: set[str]) -> set[Unit]:
        """Give the units that name events which are gone; all files are looked through, as nobody keeps who names an event."""
        units = set()
        for facts in self.files.values():
            gone = lost.intersection(_events_of(facts.refs))
            if gone:
                unit = Unit("group", facts.id, facts.record_type)
                units.add(unit)
                self._wait(unit, gone)
        return units


def _parent(facts: RecordFacts | None) -> str | None:
    return facts.refs.parent if facts is not None and isinstance(facts.refs, PathRefs) else None


def _points_at(refs: Refs | None) -> Iterator[tuple[str, str]]:
    if isinstance(refs, EdgeRefs):
        yield from (("node", refs.source), ("node", refs.target))
    elif isinstance(refs, NodeRefs):
        if refs.superseded_by:
            yield "node", refs.superseded_by
    elif isinstance(refs, ActivationRefs):
        yield from (("node", node) for node in refs.node_ids)
    elif isinstance(refs, PathRefs):
        yield from (("path", path) for path in (refs.parent, refs.merge_target) if path)
        if refs.summary_id:
            yield "node", refs.summary_id


def _events_of(refs: Refs | None) -> tuple[str, ...]:
    if isinstance(refs, NodeRefs):
        return refs.source_event_ids
    return refs.event_ids if isinstance(refs, PathRefs) else ()


def _discard(index: dict[str, set[Unit]], key: str, unit: Unit) -> None:
    units = index.get(key)
    if units is not None:
        units.discard(unit)
        if not units:
            del index[key]
