"""Keeps what people noted beside the records they meant, whatever becomes of the mirror (rulings 31 and 50)."""

from __future__ import annotations

from collections import defaultdict

from django.db import transaction
from django.db.models import F, Q, QuerySet

from stores.mirror.record_types import RECORD_TYPES
from stores.models import MirroredRecord, RecordNote, SourceFile, Store

AT_ONCE = 500


def ordinal_of(record: MirroredRecord) -> int:
    """Give which one a record is among those of its file with the same key, as imports pair them: live ones first, in file order.

    One or two queries.
    """
    equals = type(record)._default_manager.filter(file_id=record.file_id, key=record.key)
    earlier = Q(line__lt=record.line) | Q(line=record.line, id__lt=record.pk)
    if record.gone_at is None:
        return equals.filter(earlier, gone_at__isnull=True).count()
    return equals.filter(gone_at__isnull=True).count() + equals.filter(earlier, gone_at__isnull=False).count()


def detach(store: Store) -> None:
    """Write down which of equal records the noted ones are, and forget where they stand, since their rows are about to be dropped."""
    with transaction.atomic():
        moved = []
        for record_type, notes in _by_type(RecordNote.objects.filter(store=store, record_id__isnull=False)):
            for part in _parts(notes):
                ordinals = _ordinals(store, RECORD_TYPES[record_type].model, part)
                places = {pk: ordinal for of_key in ordinals.values() for ordinal, pk in enumerate(of_key)}
                for note in part:
                    ordinal = places.get(note.record_id or 0, note.ordinal)
                    if ordinal != note.ordinal:
                        note.ordinal = ordinal
                        moved.append(note)
        # Two that change places are out of each other's way meanwhile.
        RecordNote.objects.filter(pk__in=[note.pk for note in moved]).update(ordinal=-F("id"))
        RecordNote.objects.bulk_update(moved, ["ordinal"], batch_size=AT_ONCE)
        RecordNote.objects.filter(store=store, record_id__isnull=False).update(record_id=None)


def attach(store: Store) -> None:
    """Find the rows of noted records that an import brought back. One query where nothing is noted without one."""
    for record_type, notes in _by_type(RecordNote.objects.filter(store=store, record_id__isnull=True)):
        for part in _parts(notes):
            ordinals = _ordinals(store, RECORD_TYPES[record_type].model, part)
            found = []
            for note in part:
                of_key = ordinals.get((note.path, note.key), [])
                if note.ordinal < len(of_key):
                    note.record_id = of_key[note.ordinal]
                    found.append(note)
            with transaction.atomic():
                RecordNote.objects.bulk_update(found, ["record_id"])


def _by_type(notes: QuerySet[RecordNote]) -> list[tuple[str, list[RecordNote]]]:
    by_type: dict[str, list[RecordNote]] = defaultdict(list)
    for note in notes.order_by("id"):
        if note.record_type in RECORD_TYPES:
            by_type[note.record_type].append(note)
    return list(by_type.items())


def _parts(notes: list[RecordNote]) -> list[list[RecordNote]]:
    return [notes[start : start + AT_ONCE] for start in range(0, len(notes), AT_ONCE)]


def _ordinals(store: Store, model: type[MirroredRecord], notes: list[RecordNote]) -> dict[tuple[str, int], list[int]]:
    """Give the ids of all records that are equal to noted ones, by path and key, each at its ordinal. Two queries."""
    files = dict(SourceFile.objects.filter(store=store, path__in={note.path for note in notes}).values_list("pk", "path"))
    equals: dict[tuple[str, int], list[tuple[bool, int, int]]] = defaultdict(list)
    rows = model._default_manager.filter(file__in=list(files), key__in={note.key for note in notes})
    for file_id, key, gone_at, line, pk in rows.values_list("file_id", "key", "gone_at", "line", "pk"):
        equals[files[file_id], key].append((gone_at is not None, line, pk))
    return {place: [pk for _, _, pk in sorted(found)] for place, found in equals.items()}
