"""Measures an OrchestKit store."""

from __future__ import annotations

import os
from collections import Counter
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Count, Q, QuerySet

from stores.files import CannotRead
from stores.formats.orchestkit import graph_items, injection_silenced
from stores.formats.orchestkit.graph_place import GraphPlace, graph_place
from stores.health import orchestkit as orchestkit_health
from stores.mirror import discovering
from stores.mirror.companions import Anchors
from stores.mirror.measures.base import Outcome, is_young, milliseconds, muted, open_faults
from stores.mirror.reading import VANISHED
from stores.mirror.record_types import RECORD_TYPES
from stores.mirror.server_configuration import server_configuration
from stores.models import (
    Decision,
    Drain,
    FacetCount,
    Fault,
    GraphEntity,
    MemoryMd,
    QueueOperation,
    SourceFile,
    Store,
    acknowledged,
)

COUNT_LIMIT = 10_001
GRAPH_FILE = graph_items.PATH


def measure(store: Store, now: datetime) -> Outcome:
    """Apply the rules of the kind to what the mirror has."""
    counted = _counts(store)
    facts = _orchestkit_facts(store, counted, now)
    limits = orchestkit_health.Limits(
        queue_depth=settings.QUEUE_LIMIT,
        queue_oldest_s=int(settings.QUEUE_OLDEST_HOURS * 3600),
        undrained_s=int(settings.UNDRAINED_DAYS * 86400),
    )
    classic = orchestkit_health.classic(facts)
    conditions = orchestkit_health.conditions(facts, milliseconds(now), limits)
    silent = muted(store, now)
    verdict, sentence = orchestkit_health.verdict(facts, tuple(item for item in conditions if (item.code, item.file) not in silent))
    tiers = {
        "graph": {"status": classic.graph_status, "message": classic.graph_message},
        "mem0": {"status": classic.mem0_status, "message": classic.mem0_message},
        "fabric": {"status": classic.fabric_status, "message": classic.fabric_message},
    }
    counts: dict[str, float | None] = {
        "decisions": float(facts.decisions.lines - facts.decisions.corrupt),
        "queue": float(facts.queue.lines),
        "open_problems": float(counted["problem", "status", "open"]),
        "sessions": float(facts.sessions),
        "graph_entities": float(facts.graph_entities),
    }
    return Outcome(
        verdict, sentence, classic.graph_status, classic.graph_message, {"overall": classic.overall, "tiers": tiers}, conditions, counts
    )


def _orchestkit_facts(store: Store, counts: Counter[tuple[str, str, str]], now: datetime) -> orchestkit_health.StoreFacts:
    sources = _sources(store)
    root_fault = Fault.objects.filter(store=store, file__isnull=True, path=".", code="unreadable").exists()
    decisions, queue, problems, mem0 = (sources.get(path) for path in (*_MAIN_FILES, "mem0-queue.jsonl"))
    directory_exists = not root_fault or SourceFile.objects.filter(store=store, exists=True).exclude(record_type="").exists()
    live_queue = QueueOperation.objects.filter(store=store, gone_at__isnull=True, at_ms__gt=0)
    oldest = live_queue.order_by("at_ms", "id").values_list("at_ms", flat=True).first()
    shrink_ms = milliseconds(queue.shrank_at) if queue and queue.shrank_at else None
    since = shrink_ms if shrink_ms is not None else oldest
    return orchestkit_health.StoreFacts(
        directory_exists=directory_exists,
        directory_readable=not root_fault,
        decisions=_file_facts(decisions, "decisions.jsonl", now),
        queue=_file_facts(queue, "graph-queue.jsonl", now),
        problems=_file_facts(problems, "open-problems.jsonl", now),
        mem0_queue_depth=mem0.line_count if mem0 and mem0.exists else 0,
        mem0_key=settings.MEM0_KEY_PRESENT,
        queue_oldest_ms=oldest,
        queue_last_shrink_ms=shrink_ms,
        queue_first_seen_ms=milliseconds(queue.first_seen_at) if queue else None,
        decisions_since_shrink=_capped(Decision.objects.filter(store=store, gone_at__isnull=True, at_ms__gt=since)) if since else 0,
        poison=counts["queue_operation", "standing", "poison"],
        dangling=counts["queue_operation", "standing", "dangling end"],
        duplicates_in_queue=counts["queue_operation", "standing", "duplicate"],
        double_hook=open_faults(store, "double_hook"),
        silencing_lines=injection_silenced(decisions.end_state) if decisions and decisions.exists else (),
        stray_stores=tuple(store.stray_stores),
        stray_measured=store.stray_checked_at is not None,
        other_corrupt=_other_corrupt(sources, now),
        sessions=SourceFile.objects.filter(store=store, record_type="session_event", exists=True).count(),
        graph_entities=_graph_entities(store, sources, counts),
        memory_files=_memory_files(store),
        vanished=_vanished(decisions, problems),
        graph_place=_graph_place(store),
        graph_refused=_graph_refused(store),
        drains_verifying=Drain.objects.filter(store=store, state="verifying").count(),
        drains_lost=open_faults(store, "drain_lost"),
    )


_MAIN_FILES = ("decisions.jsonl", "graph-queue.jsonl", "open-problems.jsonl")


def _sources(store: Store) -> dict[str, SourceFile]:
    """Give the files that are measured one by one, and those that hold corrupt lines: a store may have one for each session."""
    rows = SourceFile.objects.filter(Q(path__in=(*_MAIN_FILES, "mem0-queue.jsonl")) | SourceFile.TROUBLED, store=store)
    return {source.path: source for source in rows.exclude(record_type="").defer("reader_state")}


def _other_corrupt(sources: dict[str, SourceFile], now: datetime) -> dict[str, int]:
    """Count settled corrupt lines of the other files that agents read, by path."""
    others = [source for path, source in sources.items() if path not in _MAIN_FILES and source.record_type != "foreign" and source.exists]
    corrupt = {source.path: source.corrupt_lines - (source.tail_pending if is_young(source, now) else 0) for source in others}
    return {path: number for path, number in corrupt.items() if number}


def _vanished(*sources: SourceFile | None) -> dict[str, int]:
    """Count the records that went with a file; a file that was moved within the store took none, its records say where they are."""
    lost = {}
    for source in sources:
        if source is not None and not source.exists and source.state == "missing" and source.generation:
            model = RECORD_TYPES[source.record_type].model
            lost[source.path] = _capped(model._default_manager.filter(store=source.store_id, file=source, gone_reason=VANISHED))
    return {path: records for path, records in lost.items() if records}


def _memory_files(store: Store) -> tuple[orchestkit_health.MemoryFileFacts, ...]:
    rows = MemoryMd.objects.filter(store=store, gone_at__isnull=True, form="index").order_by("file__path")
    told = rows.values_list("file__path", "lines", "length", "not_loaded", "long_lines")
    return tuple(orchestkit_health.MemoryFileFacts(*row) for row in told)


def _graph_entities(store: Store, sources: dict[str, SourceFile], counts: Counter[tuple[str, str, str]]) -> int:
    """Count the entities of the graph file, which may be written as one object."""
    number = counts["graph_entity", "what", "entity"]
    if number or not (GRAPH_FILE in sources or counts["graph_entity", "what", "foreign"]):
        return number
    return GraphEntity.objects.filter(store=store, filed__gt=0).count()


def _graph_refused(store: Store) -> int:
    """Count the records of the graph file that keep agents from it, and that nobody has acknowledged."""
    return Fault.objects.filter(~acknowledged(), store=store, path=GRAPH_FILE, severity="error", subject_type="graph_entity").count()


def _graph_place(store: Store) -> GraphPlace | None:
    """Read the project's `.mcp.json` for where the memory server keeps the graph."""
    project = discovering.project_of(store.path)
    with Anchors(store) as anchors:
        root = anchors.allowed_root("project")
        try:
            configuration = server_configuration(root) if root else b""
        except (CannotRead, OSError):
            return None
    return graph_place(configuration, project, os.environ)


def _file_facts(source: SourceFile | None, path: str, now: datetime) -> orchestkit_health.FileFacts:
    if source is None or (not source.exists and source.state == "missing"):
        return orchestkit_health.FileFacts(path, False, True, 0, 0, 0, 0, None, {})
    readable = source.state in ("ok", "importing")
    young = is_young(source, now)
    causes = {}
    if source.corrupt_lines:
        causes = dict(
            Fault.objects.filter(file=source, severity="error", subject_type="line")
            .values_list("code")
            .annotate(lines=Count("line", distinct=True))
        )
    return orchestkit_health.FileFacts(
        path=path,
        exists=True,
        readable=readable,
        lines=source.line_count,
        corrupt=source.corrupt_lines,
        settled_corrupt=source.corrupt_lines - (source.tail_pending if young else 0),
        size_bytes=source.size_bytes,
        last_modified_ms=source.mtime_ns // 1_000_000,
        causes=causes,
    )


def _counts(store: Store) -> Counter[tuple[str, str, str]]:
    """Give the kept counts that are measured, by type, facet and value."""
    rows = FacetCount.objects.filter(store=store, facet__in=("status", "standing", "what"))
    return Counter({(row[0], row[1], row[2]): row[3] for row in rows.values_list("record_type", "facet", "value", "count")})


def _capped(records: QuerySet[Any]) -> int:
    return records.order_by()[:COUNT_LIMIT].count()
