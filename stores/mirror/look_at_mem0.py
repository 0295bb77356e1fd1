"""Which operations of the retired queue repeat a text: of equal ones the newest waits (docs/formats.md)."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Count, Q

from stores.mirror import bulk
from stores.mirror.counters import FacetDeltas
from stores.models import Mem0Operation, SourceFile

TEXTS_AT_ONCE = 500


def look_at_mem0(source: SourceFile) -> None:
    """Mark operations with a text that is queued again, later or by a later line, as duplicates."""
    basis = f"{source.generation}:{source.offset}:{source.size_bytes}:{source.mtime_ns}"
    if source.across == basis:
        return
    live = Mem0Operation.objects.filter(store=source.store_id, file=source, gone_at__isnull=True).exclude(text_hash=0)
    told = live.order_by().values("text_hash").annotate(lines=Count("pk"), marked=Count("pk", filter=Q(standing="duplicate")))
    doubtful = list(told.filter(Q(lines__gt=1) | Q(marked__gt=0)).values_list("text_hash", flat=True))
    for start in range(0, len(doubtful), TEXTS_AT_ONCE):
        rows = list(
            live.filter(text_hash__in=doubtful[start : start + TEXTS_AT_ONCE])
            .order_by("at_ms", "line", "pk")
            .values_list("pk", "text_hash", "standing")
        )
        newest = {text_hash: pk for pk, text_hash, _ in rows}
        wanted = {pk: "waiting" if newest[text_hash] == pk else "duplicate" for pk, text_hash, _ in rows}
        deltas = FacetDeltas()
        for pk, _, standing in rows:
            if wanted[pk] != standing:
                deltas.move("mem0_operation", "standing", standing, wanted[pk])
        with transaction.atomic():
            bulk.update(Mem0Operation, ("standing",), [(wanted[pk], pk) for pk, _, standing in rows if wanted[pk] != standing])
            deltas.save(source.store_id)
    SourceFile.objects.filter(pk=source.pk).update(across=basis)
