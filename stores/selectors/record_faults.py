"""How bad the faults on the lines of some records are, for lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stores.models import Fault, FileRecord, MirroredRecord

INFO = 2
"""Rank of faults that ask for nothing."""


class Faults(NamedTuple):
    """Faults of one line that ask for something."""

    rank: int
    """0: there is an error, 1: only warnings."""
    number: int


def faults_of(records: Sequence[MirroredRecord]) -> dict[int, Faults]:
    """Give the errors and warnings of each record that has any, by the record's id. One query."""
    places: dict[tuple[int, object], int] = {
        (record.file_id, record.path if isinstance(record, FileRecord) else record.line): record.pk
        for record in records
        if record.gone_at is None
    }
    by_path = any(isinstance(record, FileRecord) for record in records)
    column = "path" if by_path else "line"
    found: dict[int, list[int]] = {}
    wanted = {"file_id__in": {file for file, _ in places}, f"{column}__in": [place for _, place in places]}
    for file_id, place, rank in Fault.objects.filter(**wanted, rank__lt=INFO).order_by().values_list("file_id", column, "rank"):
        if (file_id, place) in places:
            found.setdefault(places[(file_id, place)], []).append(rank)
    return {pk: Faults(min(ranks), len(ranks)) for pk, ranks in found.items()}
