"""Which flow of a session is its last one: a session's flow is written again at every stop (ruling 59)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from django.db import transaction
from django.db.models import Count, Q

from stores.mirror import bulk
from stores.mirror.counters import FacetDeltas
from stores.models import Flow, SourceFile

SESSIONS_AT_ONCE = 500


def look_at_flows(sources: Iterable[SourceFile]) -> None:
    """Mark all flows of a session but the last as earlier ones.

    The last line of the archive counts, unless the session's own file tells of something later. Each reading calls its flows the
    last ones, so only sessions with more than one such flow, or none, or with a file beside the archive need a look.
    """
    sources = sorted(sources, key=lambda source: source.path)
    facts = [(source.path, source.exists, source.generation, source.offset, source.size_bytes, source.mtime_ns) for source in sources]
    basis = hashlib.sha256(repr(facts).encode()).hexdigest()
    if not sources or sources[0].across == basis:
        return
    store_id = sources[0].store_id
    own_files = {source.pk: source.path for source in sources if "/" in source.path}
    archives = [source.pk for source in sources if source.pk not in own_files]
    live = Flow.objects.filter(store=store_id, gone_at__isnull=True).exclude(session="")
    told = (
        live.order_by()
        .values("session")
        .annotate(flows=Count("pk"), last=Count("pk", filter=Q(standing="last")), own=Count("pk", filter=~Q(file__in=archives)))
    )
    doubtful = list(told.filter(~Q(last=1) | Q(own__gt=0, flows__gt=1)).values_list("session", flat=True))
    for start in range(0, len(doubtful), SESSIONS_AT_ONCE):
        _judge(store_id, doubtful[start : start + SESSIONS_AT_ONCE], own_files)
    SourceFile.objects.filter(pk=sources[0].pk).update(across=basis)


def _judge(store_id: int, sessions: list[str], own_files: Mapping[int, str]) -> None:
    flows = Flow.objects.filter(store=store_id, gone_at__isnull=True, session__in=sessions)
    rows = list(flows.values_list("pk", "session", "file_id", "line", "at_ms", "standing"))
    last: dict[str, tuple[int, int]] = {}
    """Session -> key and time of the flow that counts so far: first the lines of the archive, then the sessions' own files."""
    for pk, session, file_id, _, at_ms, _ in sorted(rows, key=lambda row: (own_files.get(row[2], ""), row[3])):
        if file_id not in own_files or session not in last or at_ms > last[session][1]:
            last[session] = (pk, at_ms)
    updates: list[bulk.Row] = []
    deltas = FacetDeltas()
    for pk, session, _, _, _, standing in rows:
        wanted = "last" if last[session][0] == pk else "earlier"
        if wanted != standing:
            updates.append((wanted, pk))
            deltas.move("flow", "standing", standing, wanted)
    with transaction.atomic():
        bulk.update(Flow, ("standing",), updates)
        deltas.save(store_id)
