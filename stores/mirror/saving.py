"""Saves what was read of one file in short transactions that move rows and offset together (ruling 8).

At every commit the mirror is the image of a prefix of the file, so a crash resumes there.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Model

from stores.formats.base import Fault as FoundFault
from stores.formats.base import FileSpec, LineClass, Severity
from stores.mirror import bulk, text_index
from stores.mirror.counters import FacetDeltas
from stores.mirror.links import Links, save_links
from stores.mirror.packs import INFO_ROWS, Pack
from stores.mirror.record_types import RECORD_TYPES
from stores.mirror.rows import RecordRows, bulk_rows, fault, fault_row, refused_row
from stores.models import Fault, RecordVersion, RefusedLine, SourceFile

GONE_BATCH = 5000
SOURCE_FIELDS = (
    "state",
    "error",
    "exists",
    "device",
    "inode",
    "size_bytes",
    "mtime_ns",
    "ctime_ns",
    "offset",
    "next_line",
    "head_sha256",
    "tail_sha256",
    "generation",
    "rereading",
    "reader_state",
    "end_state",
    "lines_record",
    "lines_refused",
    "lines_blank",
    "tail_record",
    "tail_refused",
    "tail_blank",
    "tail_pending",
    "info_counts",
    "scrubbed_at",
    "read_at",
    "grew_at",
    "shrank_at",
)
MATCHED = ("id", "key", "sha256", "gone_at", "line")


@dataclass
class Tally:
    """What one reading changed."""

    created: int = 0
    updated: int = 0
    removed: int = 0
    parts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """The same three by the value of a column, where one table holds several types (`RecordType.parts`)."""

    @property
    def anything(self) -> bool:
        """True if a record differs from before."""
        return bool(self.created or self.updated or self.removed)


class _Columns(NamedTuple):
    """New records, column by column."""

    rows: Sequence[bulk.Row]
    raws: Sequence[bytes]
    searches: Sequence[str]
    links: Sequence[Links]

    def only(self, places: Sequence[int]) -> _Columns:
        """Give some of them, in this order."""
        rows, raws, searches, links = self
        return _Columns(
            [rows[place] for place in places],
            [raws[place] for place in places],
            [searches[place] for place in places],
            [links[place] for place in places],
        )


class FileWriter:
    """Writes the packs of one file.

    Give `flush` those of one transaction at a time, and `finish` the last ones of the file. `whole` readings carry a new
    generation: records are paired with those of the generations before by key, in file order.
    """

    def __init__(self, source: SourceFile, spec: FileSpec, now: datetime, *, whole: bool, gone_reason: str = "line removed") -> None:
        self.source = source
        self.tally = Tally()
        self._spec = spec
        self._now = now
        self._whole = whole
        self._gone_reason = gone_reason
        self._rows = RecordRows(spec, source, now)
        self._model = self._rows.model
        self._parts = bool(RECORD_TYPES[spec.record_type].parts)
        self._deltas = FacetDeltas()
        self._tail_infos: dict[str, int] = {}
        self._open_refused = None if whole else RefusedLine.objects.filter(file=source, line=source.next_line - 1).first()
        self._started = False
        had_rows = self._model._default_manager.filter(file=source).exists()
        self._pairs = had_rows and (
            whole
            or source.rereading
            or bool(source.tail_record)
            or self._model._default_manager.filter(store_id=source.store_id, file=source, gone_at__isnull=False).exists()
        )
        self._first_seen: dict[tuple[str, str, int | None], datetime] = {}

    def flush(self, packs: Sequence[Pack]) -> None:
        """Commit packs, and what the caller has set on the source file: the place behind them."""
        with quick_transaction():
            self._save(packs)
            self._deltas.save(self.source.store_id)
            self.source.save(update_fields=SOURCE_FIELDS)

    def finish(self, packs: Sequence[Pack] = ()) -> None:
        """Commit the last packs; what a whole reading did not find again is gone."""
        with quick_transaction():
            self._save(packs)
            if self._whole or self.source.rereading:
                self._take_out(self._model._default_manager.filter(file=self.source, generation__lt=self.source.generation))
            else:
                self._take_out(
                    self._model._default_manager.filter(file=self.source, provisional=True, generation__lt=self.source.generation)
                )
            self.source.rereading = False
            self._deltas.save(self.source.store_id)
            self._save_uncounted()
            self.source.save(update_fields=SOURCE_FIELDS)

    def _save_uncounted(self) -> None:
        """Say how many findings of severity info have no row of their own."""
        Fault.objects.filter(file=self.source, cross_line=True, subject_type="file", severity="info").delete()
        for code, count in sorted((Counter(self.source.info_counts) + Counter(self._tail_infos)).items()):
            if count > INFO_ROWS:
                more = count - INFO_ROWS
                found = FoundFault(
                    code,
                    Severity.INFO,
                    f"{more:,} more lines of this file have the same",
                    subject_type="file",
                    key="more",
                    details={"more": more},
                )
                fault(found, self.source, self.source.generation, False, self._now, cross_line=True).save()

    def _save(self, packs: Sequence[Pack]) -> None:
        if not self._started:
            self._start()
        new = _Columns(
            [row for pack in packs for row in pack.rows],
            [raw for pack in packs for raw in pack.raws],
            [search for pack in packs for search in pack.searches],
            [links for pack in packs for links in pack.links],
        )
        if new.rows:
            if self._pairs:
                self._save_paired(new)
            else:
                self._insert(new)
                self._count_new(packs)
        self._save_refused(packs)
        self._save_faults(packs)
        for pack in packs:
            self._count(pack)

    def _count(self, pack: Pack) -> None:
        source = self.source
        source.lines_record += pack.settled.get(LineClass.RECORD, 0)
        source.lines_refused += pack.settled.get(LineClass.REFUSED, 0)
        source.lines_blank += pack.settled.get(LineClass.BLANK, 0)
        source.tail_record += pack.tail.get(LineClass.RECORD, 0)
        source.tail_refused += pack.tail.get(LineClass.REFUSED, 0)
        source.tail_blank += pack.tail.get(LineClass.BLANK, 0)
        source.tail_pending += pack.tail.get(LineClass.PENDING, 0)
        source.info_counts, self._tail_infos = pack.infos, pack.tail_infos

    def _start(self) -> None:
        """Clear away what this reading makes anew, in the transaction of its first batch."""
        self._started = True
        old_faults = Fault.objects.filter(file=self.source, cross_line=False)
        old_refused = RefusedLine.objects.filter(file=self.source)
        if self._whole:
            old_faults = old_faults.filter(generation__lt=self.source.generation)
            old_refused = old_refused.filter(generation__lt=self.source.generation)
        else:
            old_faults = old_faults.filter(provisional=True)
            old_refused = old_refused.filter(provisional=True)
            if self.source.tail_record or self.source.rereading:
                # They stand behind the offset and are read again: their stamp must be an older one to be paired.
                self._model._default_manager.filter(file=self.source, provisional=True).update(generation=self.source.generation - 1)
        for code, key, line, first_seen in old_faults.values_list("code", "key", "line", "first_seen_at")[:20_000]:
            self._first_seen[(code, key, line)] = first_seen
        old_faults.delete()
        old_refused.delete()
        self.source.tail_record = self.source.tail_refused = self.source.tail_blank = self.source.tail_pending = 0

    def _insert(self, new: _Columns) -> None:
        rows = new.rows
        numbers = bulk.insert_numbered(self._model, rows, self._rows.names, self._rows.of_new(self.source.generation))
        texts = zip(numbers, new.raws, new.searches, strict=True)
        bulk.insert(self._model.text_model, texts, ("record", "raw", "search"), {"store_id": self.source.store_id})
        text_index.add_range(self._model, numbers[0], numbers[-1])
        save_links(self._spec.record_type, self.source.store_id, zip(numbers, new.links, strict=True))
        self.tally.created += len(rows)

    def _count_new(self, packs: Sequence[Pack]) -> None:
        record_type = self._spec.record_type
        for pack in packs:
            self._deltas.add_counts(record_type, "", {"": len(pack.rows)})
            if self._parts:
                self.tally.parts.update({(value, "created"): count for value, count in pack.counts[0].items()})
            for facet, counts in zip(self._rows.facets, pack.counts, strict=True):
                self._deltas.add_counts(record_type, facet, counts)

    def _save_paired(self, columns: _Columns) -> None:
        rows, raws, searches, links = columns
        key_place, sha_place, part_place = (self._rows.column(name) for name in ("key", "sha256", self._rows.facets[0]))
        candidates = self._candidates({row[key_place] for row in rows})
        new: list[int] = []
        updates: list[bulk.Row] = []
        changed: list[tuple[int, tuple[Any, ...], bytes, str]] = []
        returned: list[tuple[int, int, str]] = []
        linked: dict[int, Links] = {}
        record_type = self._spec.record_type
        for place, row in enumerate(rows):
            waiting = candidates.get(row[key_place])
            self._deltas.add(record_type, self._rows.facet_values(row), +1)
            if not waiting:
                new.append(place)
                self._count_part(row[part_place], "created")
                continue
            old = waiting.popleft()
            record_id = old[0]
            updates.append((*row, record_id))
            was_gone = old[3] is not None
            differs = bytes(old[2]) != row[sha_place]
            if differs or was_gone:
                linked[record_id] = links[place]
            if differs:
                changed.append((record_id, old, raws[place], searches[place]))
            if was_gone:
                returned.append((record_id, self.source.store_id, searches[place]))
                self.tally.created += 1
                self._count_part(row[part_place], "created")
            else:
                self._deltas.add(record_type, zip(self._rows.facets, old[len(MATCHED) :], strict=True), -1)
                self.tally.updated += differs
                if differs:
                    self._count_part(row[part_place], "updated")
        self._save_changed(changed)
        bulk.update(self._model, self._rows.names, updates, self._rows.of_seen(self.source.generation))
        text_index.add(self._model, returned)
        save_links(record_type, self.source.store_id, linked.items(), linked)
        if new:
            self._insert(columns.only(new))

    def _count_part(self, value: str, what: str) -> None:
        if self._parts:
            self.tally.parts[value, what] += 1

    def _candidates(self, keys: set[int]) -> dict[int, deque[tuple[Any, ...]]]:
        """Give the rows of earlier generations under these keys, live ones first, in file order."""
        found: dict[int, deque[tuple[Any, ...]]] = defaultdict(deque)
        rows = (
            self._model._default_manager.filter(file=self.source, key__in=sorted(keys), generation__lt=self.source.generation)
            .values_list(*MATCHED, *self._rows.facets)
            .order_by("key", "gone_at", "line", "id")
        )
        # NULL sorts first on SQLite and last on PostgreSQL, so the order of live and gone ones is made here.
        for row in sorted(rows, key=lambda row: (row[1], row[3] is not None, row[4], row[0])):
            found[row[1]].append(row)
        return found

    def _save_changed(self, changed: list[tuple[int, tuple[Any, ...], bytes, str]]) -> None:
        """Keep the earlier wording of reworded records and index the new one."""
        if not changed:
            return
        text_model = self._model.text_model
        old_texts = text_model._default_manager.in_bulk([record_id for record_id, *_ in changed])
        store_id = self.source.store_id
        RecordVersion.objects.bulk_create(
            [
                RecordVersion(
                    record_type=self._spec.record_type,
                    record_id=record_id,
                    store_id=store_id,
                    replaced_at=self._now,
                    line=old[4],
                    sha256=old[2],
                    raw=bytes(old_texts[record_id].raw),
                )
                for record_id, old, _, _ in changed
            ]
        )
        live = [item for item in changed if item[1][3] is None]
        text_index.remove(self._model, [(record_id, store_id, old_texts[record_id].search) for record_id, *_ in live])
        bulk.update(text_model, ("raw", "search"), [(raw, search, record_id) for record_id, _, raw, search in changed])
        text_index.add(self._model, [(record_id, store_id, search) for record_id, _, _, search in live])

    def _take_out(self, rows: Any) -> None:
        """Mark live records of an earlier generation as gone."""
        while True:
            gone = list(rows.filter(gone_at__isnull=True).values_list("id", *self._rows.facets)[:GONE_BATCH])
            if not gone:
                return
            ids = [row[0] for row in gone]
            texts = self._model.text_model._default_manager.filter(pk__in=ids).values_list("pk", "store_id", "search")
            text_index.remove(self._model, list(texts) if connection.vendor == "sqlite" else [])
            self._model._default_manager.filter(pk__in=ids).update(gone_at=self._now, gone_reason=self._gone_reason, provisional=False)
            save_links(self._spec.record_type, self.source.store_id, (), ids)
            for row in gone:
                self._deltas.add(self._spec.record_type, zip(self._rows.facets, row[1:], strict=True), -1)
                self._count_part(row[1], "removed")
            self.tally.removed += len(gone)

    def _save_refused(self, packs: Sequence[Pack]) -> None:
        """Save refused lines; one that ended a pack learns from the next which line follows it."""
        refused: list[RefusedLine] = []
        for pack in packs:
            opened = self._open_refused
            if opened is not None and pack.first_length >= 0:
                opened.after, opened.after_length = pack.first_head, pack.first_length
                if opened.pk is not None:
                    opened.save(update_fields=["after", "after_length"])
                self._open_refused = None
            made = [refused_row(packed, self.source, self.source.generation) for packed in pack.refused]
            if made and made[-1].after_length is None:
                self._open_refused = made[-1]
            refused += made
        insert_new(RefusedLine, refused)

    def _save_faults(self, packs: Sequence[Pack]) -> None:
        faults = [fault_row(packed, self.source, self.source.generation, tail, self._now) for pack in packs for packed, tail in pack.faults]
        for made in faults:
            made.first_seen_at = self._first_seen.get((made.code, made.key, made.line), made.first_seen_at)
        insert_new(Fault, faults)


@contextmanager
def quick_transaction() -> Iterator[None]:
    """Open a transaction in which SQLite does not look for each row whether its store and file are there: saving the file at its end does."""
    with connection.constraint_checks_disabled(), transaction.atomic():
        yield


def insert_new(model: type[Model], objects: Sequence[Model]) -> None:
    """Insert unsaved objects in bulk and give them their ids; call it inside a transaction."""
    if not objects:
        return
    for number, made in enumerate(objects, bulk.next_ids(model, len(objects))):
        made.pk = number
    bulk.insert(model, bulk_rows(model, objects))
