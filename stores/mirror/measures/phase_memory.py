"""Measures a phase-memory store."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

from django.db.models import Count, Q

from stores.formats.phase_memory.layout import AUDIT, EVENTS
from stores.health.phase_memory import conditions as rules
from stores.mirror.measures.base import Outcome, is_young, milliseconds, muted
from stores.models import AuditRecord, FacetCount, Fault, Measurement, Node, SourceFile, Store, acknowledged

_DURABLE = ("stabilized", "rigid")


def measure(store: Store, now: datetime) -> Outcome:
    """Apply the rules of the kind to what the mirror has."""
    counted = Counter(
        {
            (row[0], row[1], row[2]): row[3]
            for row in FacetCount.objects.filter(store=store, facet__in=("", "phase", "review", "state")).values_list(
                "record_type", "facet", "value", "count"
            )
        }
    )
    facts = _facts(store, counted, now)
    found = rules.conditions(facts, milliseconds(now))
    silent = muted(store, now)
    verdict, sentence = rules.verdict(facts, tuple(one for one in found if (one.code, one.file) not in silent))
    counts: dict[str, float | None] = {
        name: float(counted[record_type, "", ""])
        for name, record_type in (("nodes", "node"), ("edges", "edge"), ("paths", "path"), ("events", "event"), ("audit", "audit"))
    }
    counts |= {f"phase_{phase}": float(counted["node", "phase", phase]) for phase in ("ephemeral", "fluid", *_DURABLE)}
    return Outcome(verdict, sentence, str(verdict), sentence, {}, found, counts)


def _facts(store: Store, counted: Counter[tuple[str, str, str]], now: datetime) -> rules.HealthFacts:
    root_fault = Fault.objects.filter(store=store, file__isnull=True, path=".", code="unreadable", is_diagnostic=False).exists()
    sources = {source.path: source for source in SourceFile.objects.filter(store=store).exclude(record_type="").defer("reader_state")}
    folders = [source for path, source in sources.items() if path not in (EVENTS, AUDIT)]
    never = Node.objects.filter(store=store, gone_at__isnull=True, review="never")
    before = Measurement.objects.filter(store=store, at__lte=now - timedelta(days=7)).order_by("-at", "-id").first()
    nodes_before = before.values.get("nodes") if before is not None else None
    return rules.HealthFacts(
        directory_exists=not root_fault or any(source.exists for source in sources.values()),
        directory_readable=not root_fault,
        found=_found(store),
        events=_log(EVENTS, sources.get(EVENTS), now),
        audit=_log(AUDIT, sources.get(AUDIT), now),
        record_files=sum(source.line_count for source in folders),
        folders_unreadable=tuple(sorted(source.path for source in folders if source.state == "unreadable")),
        last_sequence=AuditRecord.objects.filter(store=store, gone_at__isnull=True, sequence__isnull=False)
        .order_by("-id")
        .values_list("sequence", flat=True)
        .first(),
        durable=sum(counted["node", "phase", phase] for phase in _DURABLE),
        durable_unreviewed=counted["node", "review", "never"],
        oldest_unreviewed_ms=never.filter(at_ms__gt=0).order_by("at_ms", "id").values_list("at_ms", flat=True).first(),
        nodes=counted["node", "", ""],
        nodes_before=None if nodes_before is None else int(nodes_before),
        paths_active=counted["path", "state", "active"],
    )


def _found(store: Store) -> dict[str, rules.Found]:
    """Count the open faults by code: what somebody acknowledged, here or in the store's audit log, is none, nor is a young torn line."""
    rows = Fault.objects.filter(
        ~acknowledged(), Q(is_diagnostic=True) | Q(file__isnull=False), store=store, closed_in_store=False, pending=False
    ).order_by()
    counts = rows.values_list("code").annotate(errors=Count("pk", filter=Q(severity="error")), every=Count("pk"))
    return {code: rules.Found(code, errors, every - errors) for code, errors, every in counts}


def _log(path: str, source: SourceFile | None, now: datetime) -> rules.LogFacts:
    if source is None:
        return rules.LogFacts(path, False, True, 0, 0)
    pending = source.tail_pending if is_young(source, now) else 0
    acknowledged = Fault.objects.filter(
        file=source, is_diagnostic=True, closed_in_store=True, subject_type="line", severity="error"
    ).count()
    corrupt = max(0, source.corrupt_lines - pending - acknowledged)
    return rules.LogFacts(path, source.exists, source.state in ("ok", "importing"), source.line_count, corrupt)
