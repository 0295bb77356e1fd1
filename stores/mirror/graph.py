"""Puts the knowledge graph of a store together from its graph file, its queue and its decisions, as far as they changed.

What was only appended is added; anything else lets that one source begin anew, some records at a time. Rows keep their keys while
that goes on, so that no address of an entity changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import Q

from stores.files import CannotRead, StoreRoot
from stores.formats import KINDS
from stores.formats.orchestkit import object_records
from stores.mirror.graph_rows import PARTS, Part, told_by, told_by_file
from stores.mirror.graph_saving import drop_the_rest, forget, save
from stores.mirror.reading import FileReading
from stores.models import FacetCount, GraphItem, GraphSource, SourceFile, Store, Worker
from stores.models.graph import NO_RECORDS

SLICE = 500
AT_ONCE = 1_000
"""So many records an import takes into the graph itself; more are left to the worker's idle time."""
TAKEN_AT_MOST = 20_000
"""Of more records than this only the newest are in the graph: nobody can look at more."""
SLACK = 1.2
FILE_BYTES = 16 * 1024 * 1024
"""Of a longer graph file only the lines are known."""
KINDS_WITH_GRAPH = frozenset(name for name, kind in KINDS.items() if any(spec.record_type == "graph_entity" for spec in kind.files))
GRAPH_FILE = PARTS[0].path
_BASIS = ("generation", "offset", "size_bytes", "mtime_ns")


class _File(NamedTuple):
    """A source file as far as the graph rests on it."""

    basis: str
    live: int
    is_odd: bool
    """Some of it is no entity and no relation on a line of its own: it may be written as one object."""

    @property
    def generation(self) -> str:
        """The reading that saw its records."""
        return _generation(self.basis)


def follow(store: Store, root: StoreRoot, readings: Mapping[str, FileReading], now: datetime) -> None:
    """Bring the graph up to date with what an import has just changed, unless that is too much for it: no query where nothing did."""
    if store.kind not in KINDS_WITH_GRAPH or not any(_moved(readings.get(part.path)) for part in PARTS):
        return
    for part, source, file in _state(store):
        try:
            records = _written_otherwise(part, source, file, root)
        except CannotRead:
            continue
        if records is None:
            _prepare(part, source, file, readings.get(part.path))
            if _work_left(source, file) <= AT_ONCE:
                while _step(part, source, file, now):
                    pass
        elif len(records) <= AT_ONCE:
            _take_whole(part, source, file, records, now)


def behind(worker: Worker) -> list[Store]:
    """Give the stores of a worker whose graph is not up to date: three queries."""
    stores = {store.pk: store for store in Store.objects.filter(worker=worker, kind__in=KINDS_WITH_GRAPH, imported_at__isnull=False)}
    bases = _bases(Q(store__worker=worker, store__kind__in=KINDS_WITH_GRAPH))
    known = {
        (source.store_id, source.record_type): source.basis if source.complete else ""
        for source in GraphSource.objects.filter(store__worker=worker)
    }
    late = {store for (store, record_type), basis in bases.items() if known.get((store, record_type)) != basis}
    return [stores[pk] for pk in sorted(late & stores.keys())]


def go_on(store: Store, root: StoreRoot | None = None, now: datetime | None = None) -> bool:
    """Take one more step towards the store's whole graph; False when it is up to date, as far as it can be without the root."""
    now = now or datetime.now(UTC)
    for part, source, file in _state(store):
        try:
            records = _written_otherwise(part, source, file, root)
        except CannotRead:
            continue
        if records is not None:
            _take_whole(part, source, file, records, now)
            return True
        _prepare(part, source, file, None)
        if not source.complete:
            _step(part, source, file, now)
            return True
    return False


def _moved(reading: FileReading | None) -> bool:
    return reading is not None and reading.tally is not None


def _bases(which: Q) -> dict[tuple[int, str], str]:
    paths = {part.path: part.record_type for part in PARTS}
    rows = SourceFile.objects.filter(which, path__in=paths).values_list("store_id", "path", *_BASIS)
    return {(row[0], paths[row[1]]): ":".join(map(str, row[2:])) for row in rows}


def _state(store: Store) -> list[tuple[Part, GraphSource, _File]]:
    """Give each source of the graph, how far it is taken, and its file as it is now: four queries."""
    bases = _bases(Q(store=store))
    which = Q(facet="") | Q(record_type=GraphItem.record_type, facet="what", value="foreign")
    counts = {row[:2]: row[2] for row in FacetCount.objects.filter(which, store=store).values_list("record_type", "facet", "count")}
    troubled = SourceFile.objects.filter(SourceFile.TROUBLED, store=store, path=GRAPH_FILE).exists()
    is_odd = troubled or bool(counts.get((GraphItem.record_type, "what")))
    known = {source.record_type: source for source in GraphSource.objects.filter(store=store)}
    return [
        (
            part,
            known.get(part.record_type) or GraphSource(store=store, record_type=part.record_type),
            _File(
                bases.get((store.pk, part.record_type), "none"), counts.get((part.record_type, ""), 0), part.path == GRAPH_FILE and is_odd
            ),
        )
        for part in PARTS
    ]


def _written_otherwise(part: Part, source: GraphSource, file: _File, root: StoreRoot | None) -> list[dict[str, object]] | None:
    """Give what a graph file says that changed and is not written in lines, as its lines would say it; None of any other file.

    Raises CannotRead where only the file itself could tell.
    """
    if not file.is_odd or source.basis == file.basis:
        return None
    if root is None:
        raise CannotRead("unreadable", f"{part.path}: the folder of the store cannot be opened.")
    with root.open(part.path) as opened:
        if opened.stat.size_bytes > FILE_BYTES:
            return None
        try:
            return object_records(opened.at(0, FILE_BYTES))
        except OSError as err:
            raise CannotRead("unreadable", f"{part.path}: {err.strerror}.") from err


def _take_whole(part: Part, source: GraphSource, file: _File, records: list[dict[str, object]], now: datetime) -> None:
    """Take a graph file that is not written in lines, in place of what is known of it.

    Its basis is noted last: whoever finds it half taken begins anew.
    """
    with transaction.atomic():
        forget(source.store_id, part)
        source.basis, source.complete, source.whole, source.seen_id = "", False, True, NO_RECORDS
        source.taken, source.left_out = 0, max(0, len(records) - TAKEN_AT_MOST)
        source.save()
    while source.taken < len(records) - source.left_out:
        some = records[source.taken : min(source.taken + SLICE, TAKEN_AT_MOST)]
        with transaction.atomic():
            save(source.store_id, part, told_by_file(some))
        source.taken += len(some)
    with transaction.atomic():
        drop_the_rest(source.store_id)
        source.basis, source.complete, source.at = file.basis, True, now
        source.save()


def _generation(basis: str) -> str:
    return basis.partition(":")[0]


def _prepare(part: Part, source: GraphSource, file: _File, reading: FileReading | None) -> None:
    """Let a source begin anew where its file did anything but grow."""
    if source.complete and source.basis == file.basis:
        return
    if not source.basis or source.taken > TAKEN_AT_MOST * SLACK or not _only_grew(source, file, reading):
        _begin_anew(part, source, file)
    elif source.basis != file.basis:
        source.whole = source.whole and not source.complete
        source.basis, source.complete = file.basis, False


def _begin_anew(part: Part, source: GraphSource, file: _File) -> None:
    with transaction.atomic():
        forget(source.store_id, part)
        source.basis, source.complete, source.whole, source.taken = file.basis, False, True, 0
        source.left_out = max(0, file.live - TAKEN_AT_MOST)
        source.seen_id = part.newest_but(source.store_id, TAKEN_AT_MOST) if source.left_out else 0
        source.save()


def _only_grew(source: GraphSource, file: _File, reading: FileReading | None) -> bool:
    """Say whether all that the graph has of a file is still there and as it was."""
    before = _generation(source.basis)
    if source.seen_id == NO_RECORDS:
        return False
    if reading is None or reading.tally is None:
        return before == file.generation
    if reading.tally.updated or reading.tally.removed:
        return False
    # A file that was read whole without any record changing has the next generation.
    return file.generation == before or (before.isdigit() and file.generation == str(int(before) + 1))


def _work_left(source: GraphSource, file: _File) -> int:
    return 0 if source.complete else file.live - source.left_out - source.taken


def _step(part: Part, source: GraphSource, file: _File, now: datetime) -> bool:
    """Take some records in; True when there is more to do."""
    if source.complete:
        return False
    records, is_last = part.after(source.store_id, source.seen_id, SLICE)
    if is_last and not source.whole and source.taken + len(records) + source.left_out != file.live:
        # Records that were gone are back, under keys that were passed already.
        _begin_anew(part, source, file)
        return True
    with transaction.atomic():
        if records:
            save(source.store_id, part, told_by(part, records))
            source.seen_id, source.taken = records[-1].id, source.taken + len(records)
        source.complete = is_last
        if source.complete and source.whole:
            drop_the_rest(source.store_id)
        source.at = now if source.complete else source.at
        source.save()
    return not source.complete
