"""Packed rows -> rows of the record, fault and refused-line tables, as the bulk writer takes them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Model

from stores.formats.base import Fault as FoundFault
from stores.formats.base import FileSpec
from stores.mirror.bulk import Row, adapter, column_fields
from stores.mirror.packs import OURS, PackedFault, PackedRefusal, packed_fault
from stores.mirror.record_types import RECORD_TYPES
from stores.models import Fault, MirroredRecord, RefusedLine, SourceFile


class RecordRows:
    """Which columns a packed row of one kind of file holds, and what all rows of one reading have in common."""

    def __init__(self, spec: FileSpec, source: SourceFile, now: datetime) -> None:
        self.model: type[MirroredRecord] = RECORD_TYPES[spec.record_type].model
        self.facets = RECORD_TYPES[spec.record_type].facets
        self.names = (*spec.columns, *OURS)
        self._place = {name: index for index, name in enumerate(self.names)}
        self.facet_places = [(facet, self._place[facet]) for facet in self.facets]
        self._store_id, self._file_id, self._now = source.store_id, source.pk, now

    def column(self, name: str) -> int:
        """Place of a column in a row."""
        return self._place[name]

    def of_new(self, generation: int) -> dict[str, object]:
        """Values that every new record has."""
        return {"store": self._store_id, "file": self._file_id, "first_seen_at": self._now, **self.of_seen(generation)}

    def of_seen(self, generation: int) -> dict[str, object]:
        """Values that every record has which was seen now."""
        return {"generation": generation, "gone_at": None, "gone_reason": ""}

    def facet_values(self, row: Row) -> list[tuple[str, str]]:
        """Give the counted columns of a row."""
        return [(facet, str(row[place])) for facet, place in self.facet_places]


def fault(found: FoundFault, source: SourceFile, generation: int, provisional: bool, now: datetime, cross_line: bool = False) -> Fault:
    """Give the unsaved row of a fault."""
    return fault_row(packed_fault(found), source, generation, provisional, now, cross_line)


def fault_row(
    packed: PackedFault, source: SourceFile, generation: int, provisional: bool, now: datetime, cross_line: bool = False
) -> Fault:
    """Give the unsaved row of a packed fault."""
    return Fault(
        store_id=source.store_id,
        file_id=source.pk,
        path=source.path,
        generation=generation,
        provisional=provisional,
        cross_line=cross_line,
        first_seen_at=now,
        **packed._asdict(),
    )


def refused_row(packed: PackedRefusal, source: SourceFile, generation: int) -> RefusedLine:
    """Give the unsaved row of a refused line."""
    return RefusedLine(store_id=source.store_id, file_id=source.pk, generation=generation, **packed._asdict())


def bulk_rows(model: type[Model], objects: Sequence[Model]) -> list[Row]:
    """Give unsaved objects as rows for the bulk writer; ids must be set."""
    fields = [(field.attname, adapter(field)) for field in column_fields(model)]
    return [
        [(adapt(value) if adapt and (value := getattr(made, name)) is not None else getattr(made, name)) for name, adapt in fields]
        for made in objects
    ]
