"""What only shows when all lines of a queue are looked at together: operations that repeat or miss an end.

A long queue keeps the names of its lines (`queue_names`): what is appended is then judged by those, and with it the operations to which it
makes a difference. Anything else, and every short queue, is gone through whole.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, F, Max, Min, Q, QuerySet

from stores.files import CannotRead, StoreRoot
from stores.formats.base import Fault as FoundFault
from stores.formats.base import RepairMode, Severity
from stores.formats.orchestkit import QueueOp, WholeQueue, graph_names, queue_op
from stores.mirror import bulk, queue_names
from stores.mirror.counters import FacetDeltas
from stores.mirror.queue_names import NameWriter
from stores.mirror.reading import OnProgress
from stores.mirror.rows import fault as fault_row
from stores.mirror.saving import insert_new
from stores.models import Fault, QueueOperation, SourceFile

GRAPH_FILE = "memory.json"
GRAPH_BYTES = 16 * 1024 * 1024
PART_ROWS = 1000
LONG = 1000
"""From so many lines on the names of a queue are kept."""
MORE = 200
"""So many appended operations, and so many that they make a difference to, are judged by the kept names; for more the whole is looked at."""


class _Stand(NamedTuple):
    """What a look was based on."""

    generation: int
    offset: int
    size_bytes: int
    mtime_ns: int
    graph: str
    lines: int

    @classmethod
    def of(cls, source: SourceFile, root: StoreRoot) -> _Stand:
        graph = hashlib.sha256(_graph_stamp(root).encode()).hexdigest()[:16]
        return cls(source.generation, source.offset, source.size_bytes, source.mtime_ns, graph, source.lines_record)

    @property
    def is_whole(self) -> bool:
        """No line is behind the last line break."""
        return self.offset == self.size_bytes


class _Looked(NamedTuple):
    """The last look at a queue, as its source file remembers it."""

    stand: _Stand
    last_id: int
    """No operation had a higher id."""
    kept: bool
    """Names were kept."""

    @classmethod
    def read(cls, across: str) -> _Looked | None:
        parts = across.split(":")
        if len(parts) != 9 or parts[0] != "queue":
            return None
        generation, offset, size_bytes, mtime_ns, graph, lines, last_id, kept = parts[1:]
        stand = _Stand(int(generation), int(offset), int(size_bytes), int(mtime_ns), graph, int(lines))
        return cls(stand, int(last_id), kept == "1")

    def written(self) -> str:
        return ":".join(["queue", *map(str, self.stand), str(self.last_id), "1" if self.kept else "0"])


def look_at_queue(source: SourceFile, root: StoreRoot, now: datetime, progress: OnProgress) -> None:
    """Say of each waiting operation whether it repeats an earlier one, names an end that nothing makes, or stops the drain.

    A queue that is gone through whole is so some rows at a time, so that memory and transactions stay small however long it is.
    """
    looked, stand = _Looked.read(source.across), _Stand.of(source, root)
    if looked is not None and looked.stand == stand:
        return
    last_id = QueueOperation.objects.aggregate(last=Max("pk"))["last"] or 0
    if looked is None or not _look_at_more(source, looked, _Looked(stand, last_id, kept=True), now):
        _look_at_whole(source, root, now, progress)
        _remember(source, _Looked(stand, last_id, kept=source.lines_record >= LONG))


def _remember(source: SourceFile, looked: _Looked) -> None:
    source.across = looked.written()
    SourceFile.objects.filter(pk=source.pk).update(across=source.across)


def _look_at_more(source: SourceFile, before: _Looked, after: _Looked, now: datetime) -> bool:
    """Judge what was appended since the last look, in one transaction; False where it is not only that, or too much."""
    old, new = before.stand, after.stand
    grew = new.lines - old.lines
    if not (before.kept and old.is_whole and new.is_whole and 0 <= grew <= MORE):
        return False
    if (old.generation, old.graph) != (new.generation, new.graph):
        return False
    # The sum keeps SQLite from going through all rows of the file instead of the few new ones of the table.
    new_rows = QueueOperation.objects.alias(place=F("file_id") + 0).filter(pk__gt=before.last_id, place=source.pk, gone_at__isnull=True)
    appended = dict(new_rows.values_list("pk", "standing")[: MORE + 1])
    if len(appended) != grew:
        # A line that went and stands there again has its old row.
        return False
    fresh = [pk for pk, standing in appended.items() if standing != "ignored"]
    ops = _ops(fresh)
    reached = queue_names.reached_by(source, ops.values())
    if len(reached) > MORE:
        return False
    names = NameWriter(source)
    with transaction.atomic():
        for pk, op in ops.items():
            names.add(pk, op)
        names.save()
        judged = sorted({*fresh, *reached})
        whole = queue_names.facts_for(source, _ops(judged).values())
        lines = QueueOperation.objects.filter(pk__in=judged).values_list("line", flat=True)
        known = _KnownFaults(source, now, list(lines))
        _judge(source, whole, judged, known, names)
        known.drop_the_rest()
        _remember(source, after)
    return True


def _look_at_whole(source: SourceFile, root: StoreRoot, now: datetime, progress: OnProgress) -> None:
    queue_names.forget(source.pk)
    names = NameWriter(source) if source.lines_record >= LONG else None
    live = QueueOperation.objects.filter(store=source.store_id, file=source, gone_at__isnull=True).exclude(standing="ignored")
    filed = _graph_names(root)
    whole = WholeQueue(filed)
    if names:
        names.filed(filed)
        names.save()
    for ids in _in_parts(live.filter(operation__in=("create_entities", "add_observations"))):
        for pk, raw in _raws(ids).items():
            op = queue_op(raw, 0, 0)
            whole.add(op)
            if names:
                names.add(pk, op)
        if names:
            names.save()
        progress(source.path, source.size_bytes, source.size_bytes)
    by_payload = live.values("operation", "payload_hash").annotate(first=Min("line"), lines=Count("pk")).filter(lines__gt=1).order_by()
    for operation, hashed, first in by_payload.values_list("operation", "payload_hash", "first").iterator():
        whole.repeats(operation, hashed, first)
    known = _KnownFaults(source, now)
    # What creates entities, waits and stands there once needs nothing of others.
    again = by_payload.filter(operation="create_entities").values("payload_hash")
    for ids in _in_parts(live.exclude(Q(operation="create_entities", standing="waiting") & ~Q(payload_hash__in=again))):
        _judge(source, whole, ids, known, names)
        progress(source.path, source.size_bytes, source.size_bytes)
    known.drop_the_rest()


def _in_parts(records: QuerySet[QueueOperation]) -> Iterator[list[int]]:
    """Give the ids of records, some at a time; they are taken before the first part is given, so that records may change meanwhile."""
    ids = array("q", records.order_by().values_list("pk", flat=True).iterator())
    for start in range(0, len(ids), PART_ROWS):
        yield ids[start : start + PART_ROWS].tolist()


class _Row(NamedTuple):
    """What the mirror says of an operation."""

    pk: int
    line: int
    offset: int
    sha256: bytes
    operation: str
    payload_hash: int
    standing: str
    reason: str


def _raws(ids: Collection[int]) -> dict[int, bytes]:
    texts = QueueOperation.text_model._default_manager.filter(pk__in=ids).values_list("pk", "raw")
    return {pk: bytes(raw) for pk, raw in texts}


def _ops(ids: Collection[int]) -> dict[int, QueueOp]:
    """Give operations as the whole queue is judged, by their ids."""
    raws = _raws(ids)
    rows = QueueOperation.objects.filter(pk__in=ids).values_list("pk", "line", "payload_hash")
    return {pk: queue_op(raws[pk], line, hashed) for pk, line, hashed in rows}


def _judge(source: SourceFile, whole: WholeQueue, ids: list[int], known: _KnownFaults, names: NameWriter | None) -> None:
    """Save how some operations stand, in one transaction."""
    rows = [_Row(*values) for values in QueueOperation.objects.filter(pk__in=ids).order_by("line", "id").values_list(*_Row._fields)]
    raws = _raws([row.pk for row in rows if _standing_of_entities(whole, row) is None])
    deltas = FacetDeltas()
    updates: list[bulk.Row] = []
    with transaction.atomic():
        for row in rows:
            if row.pk in raws:
                op = queue_op(raws[row.pk], row.line, row.payload_hash)
                standing, reason = whole.standing(op)
                if names and standing == "dangling end":
                    names.missing(row.pk, whole.missing(op))
                if standing in _FAULTS and op.standing != standing:
                    known.add(_FAULTS[standing], row, reason)
            else:
                standing, reason = _standing_of_entities(whole, row) or (row.standing, row.reason)
            if (standing, reason) != (row.standing, row.reason):
                updates.append((standing, reason, row.pk))
                deltas.move("queue_operation", "standing", row.standing, standing)
        bulk.update(QueueOperation, ("standing", "reason"), updates)
        deltas.save(source.store_id)
        known.save()
        if names:
            names.save()


def _standing_of_entities(whole: WholeQueue, row: _Row) -> tuple[str, str] | None:
    """Judge an operation that creates entities by its row alone; None where its line has to be read for that."""
    if row.operation != "create_entities":
        return None
    duplicate = whole.duplicate(row.operation, row.payload_hash, row.line) if row.standing in ("waiting", "duplicate") else None
    return duplicate or (None if row.standing == "duplicate" else (row.standing, row.reason))


_FAULTS: dict[str, FoundFault] = {
    "poison": FoundFault(
        "poison_operation",
        Severity.ERROR,
        ": no operation of the queue reaches the graph",
        subject_type="queue_operation",
        repair_mode=RepairMode.REVIEW,
        repair_action="set_aside_lines",
    ),
    "dangling end": FoundFault(
        "dangling_relation",
        Severity.WARNING,
        ": the relation is written, but leads nowhere",
        subject_type="queue_operation",
        repair_mode=RepairMode.ACKNOWLEDGE,
    ),
}
"""Faults by standing; an operation that is poison by itself has its fault from its own line."""


class _KnownFaults:
    """The faults that looks across lines found: those that are found again keep their row."""

    def __init__(self, source: SourceFile, now: datetime, lines: list[int] | None = None) -> None:
        """Take what is known of the whole queue, or of some of its lines."""
        self._source, self._now = source, now
        old = Fault.objects.filter(file=source, cross_line=True, code__in=[found.code for found in _FAULTS.values()])
        if lines is not None:
            old = old.filter(line__in=lines)
        self._left = {
            hash((code, line, key)): (pk, hash((message, byte)))
            for pk, code, line, key, message, byte in old.values_list("pk", "code", "line", "key", "message", "byte").iterator()
        }
        self._new: list[Fault] = []
        self._changed: list[bulk.Row] = []

    def add(self, found: FoundFault, row: _Row, reason: str) -> None:
        """Take a fault of an operation."""
        told = found._replace(message=reason + found.message, line=row.line, byte=row.offset, key=bytes(row.sha256).hex()[:16])
        made = fault_row(told, self._source, self._source.generation, False, self._now, cross_line=True)
        pk, before = self._left.pop(hash((made.code, made.line, made.key)), (0, 0))
        if not pk:
            self._new.append(made)
        elif before != hash((made.message, made.byte)):
            self._changed.append((made.message, made.byte, pk))

    def save(self) -> None:
        """Write what was taken since the last time; call it inside a transaction."""
        insert_new(Fault, self._new)
        bulk.update(Fault, ("message", "byte"), self._changed)
        self._new, self._changed = [], []

    def drop_the_rest(self) -> None:
        """Delete the faults that were not found again."""
        left = [pk for pk, _ in self._left.values()]
        for start in range(0, len(left), PART_ROWS):
            Fault.objects.filter(pk__in=left[start : start + PART_ROWS]).delete()


def _graph_stamp(root: StoreRoot) -> str:
    """Give what identifies the MCP graph file now."""
    try:
        with root.open(GRAPH_FILE) as opened:
            return f"{opened.stat.inode}:{opened.stat.size_bytes}:{opened.stat.mtime_ns}"
    except CannotRead as err:
        return err.state


def _graph_names(root: StoreRoot) -> set[str]:
    """Give the names of the entities in the MCP graph file."""
    try:
        with root.open(GRAPH_FILE) as opened:
            return graph_names(opened.at(0, min(opened.stat.size_bytes, GRAPH_BYTES)))
    except (CannotRead, OSError):
        return set()
