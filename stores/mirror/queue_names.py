"""The names of a long queue, kept so that the cost of a look follows what was appended and not what stands there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from hashlib import sha256

from django.db import transaction
from django.db.models import Count

from stores.formats import storable
from stores.formats.orchestkit import QueueOp, WholeQueue
from stores.mirror import bulk
from stores.models import QueueName, QueueOperation, SourceFile

DROPPED_AT_ONCE = 5_000
_OBSERVATIONS = (QueueName.OBSERVED, QueueName.BARE)


def name_hash(name: str) -> int:
    """Give the number under which a name is kept."""
    return storable.signed64(sha256(name.encode("utf-8", "surrogatepass")).digest())


def forget(file_id: int) -> None:
    """Drop the names of a queue, some at a time."""
    names = QueueName.objects.filter(file=file_id)
    while ids := list(names.values_list("pk", flat=True)[:DROPPED_AT_ONCE]):
        QueueName.objects.filter(pk__in=ids)._raw_delete(using="default")


class NameWriter:
    """Keeps the names of operations while a queue is gone through."""

    def __init__(self, source: SourceFile) -> None:
        self._file_id = source.pk
        self._made: set[int] = set()
        self._observed: Counter[int] = Counter()
        self._rows: list[tuple[int, int, int]] = []

    def filed(self, names: Iterable[str]) -> None:
        """Take the entities of the graph file."""
        self._rows += [(name_hash(name), QueueName.FILED, 0) for name in names]

    def add(self, operation_id: int, op: QueueOp) -> None:
        """Take what an operation makes and observes."""
        for name, place in _made(op).items():
            if place not in self._made:
                self._made.add(place)
                self._rows.append((name_hash(name), QueueName.MADE, operation_id))
        for name, has_contents in op.observes:
            place = hash(name)
            self._observed[place] += 1
            if not has_contents:
                self._rows.append((name_hash(name), QueueName.BARE, operation_id))
            elif self._observed[place] <= 2:
                self._rows.append((name_hash(name), QueueName.OBSERVED, operation_id))

    def missing(self, operation_id: int, names: Iterable[str]) -> None:
        """Take the ends of an operation that nothing makes."""
        self._rows += [(name_hash(name), QueueName.MISSING, operation_id) for name in names]

    def save(self) -> None:
        """Write what was taken since the last time."""
        if self._rows:
            with transaction.atomic():
                bulk.insert(QueueName, self._rows, ("name", "role", "operation_id"), {"file": self._file_id})
            self._rows = []


def _made(op: QueueOp) -> dict[str, int]:
    return {name: hash(name) for name in op.creates} if op.makes else {}


def reached_by(source: SourceFile, ops: Iterable[QueueOp]) -> set[int]:
    """Give the ids of operations that stand otherwise when these are in the queue: they lacked an end, or are bare beside another."""
    ops = list(ops)
    made = {name_hash(name) for op in ops for name in _made(op)}
    observed = {name_hash(name) for op in ops for name, _ in op.observes}
    kept = QueueName.objects.filter(file=source)
    lacking = kept.filter(name__in=made, role=QueueName.MISSING).values_list("operation_id", flat=True) if made else ()
    bare = kept.filter(name__in=observed, role=QueueName.BARE).values_list("operation_id", flat=True) if observed else ()
    return {*lacking, *bare}


def facts_for(source: SourceFile, ops: Collection[QueueOp]) -> WholeQueue:
    """Give what the whole queue says about some of its operations, all of whose names are kept. A query for each, and two."""
    named = {name_hash(name): name for op in ops for name in (*op.ends, *(name for name, _ in op.observes))}
    kept = QueueName.objects.filter(file=source, name__in=list(named))
    known = kept.filter(role__in=(QueueName.MADE, QueueName.FILED)).values_list("name", flat=True).distinct()
    whole = WholeQueue(named[place] for place in known)
    observed = kept.filter(role__in=_OBSERVATIONS).order_by().values_list("name").annotate(times=Count("pk"))
    for place, times in observed:
        whole.observed(named[place], times)
    live = QueueOperation.objects.filter(file=source, gone_at__isnull=True).exclude(standing="ignored")
    for operation, hashed in {(op.operation, op.payload_hash) for op in ops}:
        equals = live.filter(payload_hash=hashed, operation=operation).order_by("line")
        whole.repeats(operation, hashed, equals.values_list("line", flat=True)[0])
    return whole
