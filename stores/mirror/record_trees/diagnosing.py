"""Checks a store by its kind's rules, only where something changed, and saves what was found as faults."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Count

from stores.files import CannotRead, StoreRoot
from stores.formats import storable
from stores.formats.base import Line, Severity
from stores.formats.jsonfile import SIZE_CAP
from stores.formats.lines import split_lines
from stores.formats.phase_memory.layout import AUDIT, EVENTS, FOLDERS, LOGS, EntryKind
from stores.formats.phase_memory.reading import RootFile
from stores.formats.phase_memory.vocabulary import EVENT_VERSIONS
from stores.formats.record_keys import record_key
from stores.health.phase_memory import (
    EventLog,
    Finding,
    Findings,
    RecordFacts,
    StoreFacts,
    Unit,
    check_all,
    check_changed,
    is_acknowledged,
    record_facts,
    unreadable,
)
from stores.health.phase_memory.store_facts import ROOT
from stores.mirror.reading import OnProgress
from stores.mirror.record_trees.naming import is_plain, raw_names
from stores.mirror.record_trees.remembering import Checked, Identity, LogMark, Tree, load_facts
from stores.mirror.record_trees.sweeping import Sweep
from stores.mirror.record_types import RECORD_TYPES
from stores.mirror.saving import insert_new
from stores.models import Event, EventVersion, Fault, SourceFile, Store

BATCH = 2000
_IDS = 500
FINDINGS = "findings"
"""What progress calls this part of an import."""
_RANKS: Final = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
T = TypeVar("T")
_STANDINGS: Final = {"unknown_event_schema_version": "unknown version", "duplicate_event_id": "repeated"}


def event_versions() -> frozenset[str]:
    """Give the schema versions of events that are known: the format's own, the installation's, and those that operators added."""
    return EVENT_VERSIONS | frozenset(settings.EVENT_VERSIONS) | frozenset(EventVersion.objects.values_list("name", flat=True))


class Diagnosis:
    """The rules at work on one store during one import."""

    def __init__(self, store: Store, root: StoreRoot, tree: Tree, now: datetime, versions: Collection[str], anew: bool) -> None:
        self._store, self._root, self._tree, self._now = store, root, tree, now
        self._versions = frozenset(versions)
        self._units: set[Unit] = set()
        self._written: set[tuple[str, str]] = set()
        """Type and id of the records that were read."""
        self._new_lines: Mapping[str, int] = {}
        """By record type of the logs that were read on or anew the line from which on their records were written."""
        if anew or not tree.stamp:
            tree.checked = None
        self._was_loaded = tree.checked is not None

    @property
    def _checked(self) -> Checked:
        if self._tree.checked is None:
            self._tree.checked = Checked(StoreFacts(self._versions))
        return self._tree.checked

    @property
    def facts(self) -> StoreFacts:
        """What the rules know."""
        return self._checked.facts

    def follow(
        self,
        swept: Sweep,
        root_file: RootFile,
        sources: Mapping[str, SourceFile],
        new_lines: Mapping[str, int],
        events: EventLog | None,
    ) -> None:
        """Take up what lies in the store and what its logs say; the record files come by `put` and `drop` afterwards.

        `events` is what the log of events says, where this import read all of it.
        """
        self._new_lines = new_lines
        facts, units = self.facts, self._units
        units |= facts.put_root(root_file, swept.root_kind is EntryKind.LINK)
        for path in facts.entries.keys() - swept.entries.keys():
            units |= facts.drop_entry(path)
        for path, kind in swept.entries.items():
            if facts.entries.get(path) is not kind:
                units |= facts.put_entry(path, kind)
        for path in LOGS:
            self._follow_log(path, sources.get(path), events if path == EVENTS else None)
        if not self._was_loaded:
            self._load()

    def put(self, files: Iterable[RecordFacts]) -> None:
        """Take up record files as they are now."""
        facts = self.facts
        for file in files:
            if self._was_loaded:
                self._units |= facts.put_file(file)
                self._written.add((file.record_type, storable.name(file.id)))
            else:
                facts.load_file(file)

    def drop(self, paths: Iterable[str]) -> None:
        """Take up that record files are not there any more."""
        for path in paths:
            found = self.facts.drop_file(path)
            if self._was_loaded:
                self._units |= found

    def _load(self) -> None:
        """Take the facts of all files as they were read last from the database."""
        kept, missing = load_facts(self._store)
        for facts in kept.values():
            self.facts.load_file(facts)
        for path in sorted(missing):
            folder, _, name = path.partition("/")
            try:
                with self._root.folder(folder) as opened:
                    raw = name if is_plain(name) else raw_names(entry.name for entry in opened.entries()).get(name, name)
                    data = opened.read(raw, SIZE_CAP)[1]
                self.facts.put_file(record_facts(path, data))
            except CannotRead as err:
                self.facts.put_file(unreadable(path, err.state))

    def _follow_log(self, path: str, source: SourceFile | None, read: EventLog | None) -> None:
        """Read on in a log from where the rules stopped, or anew when it is another one; only up to where the mirror `read` it."""
        mark = self._checked.marks.setdefault(path, LogMark())
        is_events = path == EVENTS
        other_versions = is_events and self.facts.events.versions != self._versions
        if source is None or not source.exists or source.cannot_be_read:
            if mark.size_bytes or other_versions:
                self._replace(path, iter(()))
                self._checked.marks[path] = LogMark()
            return
        anew = mark.generation != source.generation or source.size_bytes < mark.size_bytes or other_versions
        if not anew and source.size_bytes == mark.size_bytes:
            return
        end = LogMark(source.generation, source.offset, source.next_line, source.size_bytes)
        if anew and read is not None:
            self._units |= self.facts.exchange_events(read)
            self._checked.marks[path] = end
            return
        start, number = (0, 1) if anew else (mark.offset, mark.next_line)
        try:
            with self._root.open(path) as opened:
                lines = split_lines(opened.chunks(start, source.size_bytes), number=number, offset=start)
                if anew:
                    self._replace(path, lines)
                else:
                    self._units |= (self.facts.extend_events if is_events else self.facts.extend_audit)(lines)
        except (CannotRead, OSError):
            # It went between the two readings; the next import finds that.
            self._checked.marks[path] = LogMark()
            return
        self._checked.marks[path] = end

    def _replace(self, path: str, lines: Iterator[Line]) -> None:
        if path == AUDIT:
            self._units |= self.facts.replace_audit(lines)
        else:
            self._units |= self.facts.replace_events(lines, self._versions)

    def conclude(self, sources: Mapping[str, SourceFile], progress: OnProgress) -> None:
        """Check what the changes touch, and bring the faults up to date."""
        checked = self._checked
        if checked.findings is None:
            checked.findings, checked.saved = check_all(checked.facts), _saved(self._store)
            self._save_all(checked.findings, sources, progress)
            return
        findings = checked.findings
        before = {one.identity: one for unit in self._units for one in findings.of(unit)}
        was_told_alone = bool(findings.of(ROOT))
        check_changed(checked.facts, findings, self._units)
        if was_told_alone or findings.of(ROOT):
            # While the root file cannot be read only that is told: everything else comes or goes with it.
            self._save_all(findings, sources, progress)
            return
        wanted = {one.identity: one for unit in self._units for one in findings.of(unit)}
        other = {identity: one for identity, one in wanted.items() if before.get(identity) != one}
        self._save(other, before.keys() - wanted.keys(), sources, progress)

    def _save_all(self, findings: Findings, sources: Mapping[str, SourceFile], progress: OnProgress) -> None:
        wanted = {one.identity: one for one in findings.listed()}
        self._save(wanted, self._checked.saved.keys() - wanted.keys(), sources, progress)

    def _save(
        self,
        wanted: Mapping[Identity, Finding],
        dropped: Collection[Identity],
        sources: Mapping[str, SourceFile],
        progress: OnProgress,
    ) -> None:
        """Save findings that are new or say something else, and let go of those that are no more."""
        checked = self._checked
        new = [one for identity, one in wanted.items() if identity not in checked.saved]
        dropped = set(dropped)
        lost = [checked.saved[identity] for identity in dropped if identity in checked.saved]
        kept = {checked.saved[identity]: one for identity, one in wanted.items() if identity in checked.saved}
        subjects = {(one.subject_type, storable.name(one.subject_id or "")) for one in new} | self._written
        subjects |= self._told_subjects(sources)
        for start in range(0, len(lost), _IDS):
            with transaction.atomic():
                gone = Fault.objects.filter(pk__in=lost[start : start + _IDS])
                subjects |= set(gone.values_list("subject_type", "subject_id"))
                gone.delete()
            progress(FINDINGS, start, len(lost))
        for identity in dropped:
            checked.saved.pop(identity, None)
        self._save_reworded(kept)
        for start in range(0, len(new), BATCH):
            part = new[start : start + BATCH]
            with transaction.atomic():
                rows = [self._row(one, sources) for one in part]
                insert_new(Fault, rows)
            checked.saved.update({one.identity: row.pk for one, row in zip(part, rows, strict=True)})
            progress(FINDINGS, start, len(new))
        self._mark_closed(wanted)
        _mark_records(self._store, new, dropped, progress)
        _count_faults(self._store, subjects, sources, progress)

    def _told_subjects(self, sources: Mapping[str, SourceFile]) -> set[tuple[str, str]]:
        """Give the records of logs that were written anew, as far as faults may tell of them: a record that is written has no faults."""
        told = Fault.objects.filter(store=self._store, is_diagnostic=True).exclude(subject_id="")
        if not self._was_loaded:
            return set(told.values_list("subject_type", "subject_id").distinct())
        found: set[tuple[str, str]] = set()
        for source in sources.values():
            line = self._new_lines.get(source.record_type)
            if line is None:
                continue
            written = RECORD_TYPES[source.record_type].model._default_manager.filter(file=source, line__gte=line, gone_at__isnull=True)
            names = list(written.order_by("line").values_list("natural_id", flat=True)[: BATCH + 1])
            if len(names) > BATCH:
                names = list(told.filter(subject_type=source.record_type).values_list("subject_id", flat=True).distinct())
            found |= {(source.record_type, name) for name in names}
        return found

    def _save_reworded(self, kept: Mapping[int, Finding]) -> None:
        """Bring rows up to date whose finding stays and says something else: its severity or its cause."""
        ids = list(kept)
        for start in range(0, len(ids), _IDS):
            for row in Fault.objects.filter(pk__in=ids[start : start + _IDS]):
                one = kept[row.pk]
                said = (str(one.severity), _RANKS[one.severity], storable.text(one.message), _details(one))
                if (row.severity, row.rank, row.message, row.details) != said:
                    row.severity, row.rank, row.message, row.details = said
                    row.save(update_fields=["severity", "rank", "message", "details"])

    def _row(self, one: Finding, sources: Mapping[str, SourceFile]) -> Fault:
        source = sources.get(one.file) or sources.get(one.file.partition("/")[0])
        return Fault(
            store_id=self._store.pk,
            file_id=source.pk if source else None,
            path=storable.text(one.file, 400),
            code=one.code,
            severity=str(one.severity),
            rank=_RANKS[one.severity],
            message=storable.text(one.message),
            line=one.line,
            subject_type=one.subject_type,
            subject_id=storable.name(one.subject_id or ""),
            key=one.diagnostic_id,
            is_diagnostic=True,
            cross_line=True,
            own_key=None if one.key is None else storable.text(one.key),
            closed_in_store=is_acknowledged(self.facts, one),
            details=_details(one),
            repair_mode=str(one.repair_mode),
            repair_action=one.repair_action,
            pending=one.pending,
            first_seen_at=self._now,
        )

    def _mark_closed(self, wanted: Mapping[Identity, Finding]) -> None:
        """Say of which findings on lines the store's audit log says that somebody looked at them."""
        if Unit("log", AUDIT) not in self._units and self._was_loaded:
            return
        findings = self._checked.findings
        listed = findings.listed() if findings is not None else list(wanted.values())
        closed = {self._checked.saved[one.identity] for one in listed if one.line and is_acknowledged(self.facts, one)}
        marked = set(Fault.objects.filter(store=self._store, is_diagnostic=True, closed_in_store=True).values_list("pk", flat=True))
        for ids, value in ((closed - marked, True), (marked - closed, False)):
            for start in range(0, len(some := sorted(ids)), _IDS):
                Fault.objects.filter(pk__in=some[start : start + _IDS]).update(closed_in_store=value)


def _details(one: Finding) -> str:
    return storable.text(json.dumps(dict(one.details), ensure_ascii=True))


def _saved(store: Store) -> dict[Identity, int]:
    """Give the rows of the findings that are saved, by identity."""
    return {
        (code, path, line, subject or None, own_key): pk
        for pk, code, path, line, subject, own_key in Fault.objects.filter(store=store, is_diagnostic=True)
        .values_list("pk", "code", "path", "line", "subject_id", "own_key")
        .iterator(chunk_size=BATCH)
    }


def _mark_records(store: Store, new: Iterable[Finding], dropped: Iterable[Identity], progress: OnProgress) -> None:
    """Write beside the records what the rules found of them: whether another file counts, and whether an event does."""
    duplicates: dict[str, bool] = {}
    standings: dict[int, str] = {}
    for code, file, line, *_ in dropped:
        if code == "duplicate_record_id":
            duplicates[file] = False
        elif code in _STANDINGS and line is not None:
            standings[line] = ""
    for one in new:
        if one.code == "duplicate_record_id":
            duplicates[one.file] = True
        elif one.code in _STANDINGS and one.line is not None:
            standings[one.line] = _STANDINGS[one.code]
    lines: dict[str, list[int]] = {}
    for line, standing in standings.items():
        lines.setdefault(standing, []).append(line)
    events = Event.objects.filter(store=store, file__path=EVENTS)
    for standing, numbers in lines.items():
        for some in _slices(numbers, progress):
            events.filter(line__in=some).update(standing=standing)
    paths: dict[tuple[str, bool], list[str]] = {}
    for path, is_duplicate in duplicates.items():
        paths.setdefault((FOLDERS[path.partition("/")[0]], is_duplicate), []).append(path)
    for (record_type, is_duplicate), named in paths.items():
        model: Any = RECORD_TYPES[record_type].model
        live = model._default_manager.filter(store=store, gone_at__isnull=True)
        for names in _slices(named, progress):
            live.filter(path__in=names).update(is_duplicate=is_duplicate)


def _slices(items: Sequence[T], progress: OnProgress) -> Iterator[Sequence[T]]:
    """Give items some at a time, so that no statement grows long; between them it is said how far that is."""
    for start in range(0, len(items), _IDS):
        yield items[start : start + _IDS]
        progress(FINDINGS, min(start + _IDS, len(items)), len(items))


def _count_faults(store: Store, subjects: Collection[tuple[str, str]], sources: Mapping[str, SourceFile], progress: OnProgress) -> None:
    """Write beside the records how many faults tell of them."""
    for source in sources.values():
        ids = sorted({subject for record_type, subject in subjects if record_type == source.record_type and subject})
        model = RECORD_TYPES[source.record_type].model
        for some in _slices(ids, progress):
            found = Fault.objects.filter(store=store, subject_type=source.record_type, subject_id__in=some).order_by()
            counts = dict(found.values_list("subject_id").annotate(number=Count("pk")))
            by_number: dict[int, list[str]] = {}
            for subject in some:
                by_number.setdefault(min(counts.get(subject, 0), 32_767), []).append(subject)
            for number, names in by_number.items():
                keys = [record_key(name, b"") for name in names]
                model._default_manager.filter(file=source, key__in=keys).update(fault_count=number)
