"""Rows for tests of pages: plain functions, each with defaults that any keyword changes."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.contrib.auth.models import Group
from django.utils import timezone

from stores.mirror.record_types import RECORD_TYPES
from stores.models import (
    Change,
    Condition,
    Decision,
    FacetCount,
    Fault,
    ImportRun,
    Measurement,
    MirroredRecord,
    Problem,
    QueueOperation,
    RefusedLine,
    SourceFile,
    Store,
    User,
    Worker,
)

PASSWORD = "correct horse battery staple"
AT = datetime(2025, 11, 28, 14, 31, 52, tzinfo=UTC)
RECORD_FILES = {
    "decision": "decisions.jsonl",
    "queue_operation": "graph-queue.jsonl",
    "problem": "open-problems.jsonl",
    "problem_solution": "problem-solutions.jsonl",
    "flow": "completed-flows.jsonl",
    "session_event": "sessions/s-1/events.jsonl",
    "graph_entity": "memory.json",
    "preference_file": "tool-preferences.json",
    "memory_md": "notes.md",
    "mem0_operation": "mem0-queue.jsonl",
    "foreign": "events.jsonl",
}
FACETS = {name: one.facets for name, one in RECORD_TYPES.items()}
Record = TypeVar("Record", bound=MirroredRecord)
_numbers = itertools.count(1)


def make_group(name: str) -> Group:
    """Give the group of this name, made if need be: a test that empties tables takes the roles along."""
    return Group.objects.get_or_create(name=name)[0]


def make_user(username: str = "", *, groups: Iterable[str] = ("viewer",), password: str = PASSWORD, **changes: Any) -> User:
    """Make an account; a viewer unless told otherwise."""
    user = User.objects.create_user(username or f"person-{next(_numbers)}", password=password, **changes)
    user.groups.set([make_group(name) for name in groups])
    return user


def make_superuser(username: str = "root", **changes: Any) -> User:
    """Make an account that may everything."""
    return make_user(username, groups=(), is_superuser=True, is_staff=True, **changes)


def make_worker(label: str = "build-01", **changes: Any) -> Worker:
    """Make a worker that was seen just now; one of this label if there is one."""
    now = timezone.now()
    return Worker.objects.get_or_create(label=label, defaults={"started_at": now, "seen_at": now, **changes})[0]


def make_store(slug: str = "", *, groups: Iterable[str] = (), worker: Worker | None = None, **changes: Any) -> Store:
    """Make a healthy store that was measured just now."""
    slug = slug or f"store-{next(_numbers)}"
    now = timezone.now()
    fields = {
        "name": slug,
        "kind": "orchestkit",
        "path": f"/srv/{slug}/.claude/memory",
        "given_path": f"/srv/{slug}",
        "verdict": "healthy",
        "sentence": "",
        "status": "healthy",
        "message": "Graph memory healthy",
        "measured_at": now,
        "imported_at": now,
        "changed_at": AT,
    }
    store = Store.objects.create(slug=slug, worker=worker or make_worker(), **{**fields, **changes})
    store.groups.set([make_group(name) for name in groups])
    return store


def make_file(store: Store, path: str = "decisions.jsonl", **changes: Any) -> SourceFile:
    """Make a source file, or give the one that the store has at this path."""
    record_type = next((name for name, file in RECORD_FILES.items() if file == path), "")
    fields = {
        "record_type": record_type,
        "size_bytes": 1000,
        "offset": 1000,
        "mtime_ns": int(AT.timestamp() * 1e9),
        "read_at": timezone.now(),
    }
    return SourceFile.objects.get_or_create(store=store, path=path, defaults={**fields, **changes})[0]


def make_decision(store: Store, what: str = "use cursor pagination", **changes: Any) -> Decision:
    """Make a decision with its text, and count it."""
    identity = f"decision-{next(_numbers):08d}-a"
    raw = changes.pop("raw", None) or json.dumps({"id": identity, "type": "decision", "content": {"what": what}}).encode()
    fields = {
        "natural_id": identity,
        "shape": "orchestkit",
        "type": "decision",
        "category": "database",
        "said_by": "ines@example.org",
        "machine": "laptop",
        "session": "s-1",
        "project": store.name,
        "source": "user_prompt",
        "scope": "team",
        "importance": "",
        "confidence": 0.9,
        "what_hash": int.from_bytes(hashlib.sha256(what.encode()).digest()[:8], "big", signed=True),
        "entities": 1,
        "title": what,
    }
    return _make_record(Decision, store, raw, {**fields, **changes})


def make_queue_operation(store: Store, title: str = "create entities", **changes: Any) -> QueueOperation:
    """Make a queue operation that waits, with its text, and count it."""
    raw = changes.pop("raw", None) or json.dumps({"type": "create_entities", "payload": {"entities": [{"name": title}]}}).encode()
    fields = {
        "natural_id": "",
        "operation": "create_entities",
        "standing": "waiting",
        "reason": "",
        "would_write": "1 decision",
        "entities": 1,
        "relations": 0,
        "observations": 0,
        "decision_id": "",
        "payload_hash": next(_numbers),
        "title": title,
    }
    return _make_record(QueueOperation, store, raw, {**fields, **changes})


def make_problem(store: Store, title: str = "timeout in docker", **changes: Any) -> Problem:
    """Make an open problem with its text, and count it."""
    identity = f"prob-{next(_numbers):08d}-a"
    raw = changes.pop("raw", None) or json.dumps({"id": identity, "text": title, "status": "open"}).encode()
    fields = {
        "natural_id": identity,
        "status": "open",
        "project": store.name,
        "session": "s-1",
        "confidence": 0.75,
        "solved_at_ms": None,
        "solved_by": "",
        "entities": 0,
        "title": title,
    }
    return _make_record(Problem, store, raw, {**fields, **changes})


def _make_record(model: type[Record], store: Store, raw: bytes, fields: dict[str, Any]) -> Record:
    number = next(_numbers)
    sha256 = hashlib.sha256(raw).digest()
    placed = {
        "key": int.from_bytes(sha256[:8], "big", signed=True),
        "generation": 0,
        "line": number,
        "offset": number * 1000,
        "length": len(raw),
        "sha256": sha256,
        "first_seen_at": timezone.now(),
        "at_ms": int(AT.timestamp() * 1000) + number,
        "at_state": "ok",
    }
    file = make_file(store, RECORD_FILES[model.record_type])
    record: Record = model._default_manager.create(store=store, file=file, **{**placed, **fields})
    model.text_model.objects.create(record=record, store_id=store.pk, raw=raw, search=str(fields["title"]).lower())  # type: ignore[attr-defined]
    if record.gone_at is None:
        _count(record)
        SourceFile.objects.filter(pk=file.pk).update(lines_record=SourceFile.objects.get(pk=file.pk).lines_record + 1)
    return record


def _count(record: MirroredRecord) -> None:
    for facet in ("", *FACETS[record.record_type]):
        value = getattr(record, facet) if facet else ""
        row, _ = FacetCount.objects.get_or_create(
            store=record.store, record_type=record.record_type, facet=facet, value=value, defaults={"count": 0}
        )
        row.count += 1
        row.save()


def make_fault(store: Store, code: str = "bad_json", **changes: Any) -> Fault:
    """Make an error on a line of decisions.jsonl."""
    path = changes.pop("path", "decisions.jsonl")
    fields = {
        "severity": "error",
        "rank": 0,
        "message": "This line is no JSON, so agents do not see what it says.",
        "line": 3,
        "byte": 120,
        "subject_type": "line",
        "key": f"{next(_numbers):016x}",
        "details": json.dumps({"cause": code}),
        "repair_mode": "review",
        "repair_action": "set_aside_lines",
        "first_seen_at": timezone.now(),
    }
    return Fault.objects.create(store=store, file=make_file(store, path), path=path, code=code, **{**fields, **changes})


def make_refused_line(store: Store, raw: bytes = b'{"id": "decision-', line: int = 3) -> RefusedLine:
    """Make a line that was refused, with its bytes."""
    file = make_file(store)
    return RefusedLine.objects.create(
        store=store, file=file, generation=0, line=line, offset=120, length=len(raw), sha256=hashlib.sha256(raw).digest(), raw=raw
    )


def make_condition(store: Store, code: str = "queue_depth", **changes: Any) -> Condition:
    """Make a condition that fails."""
    now = timezone.now()
    fields = {
        "path": "graph-queue.jsonl",
        "position": next(_numbers) % 30_000,
        "title": "Queue drained",
        "status": "failing",
        "message": "61 operations wait",
        "value": 61.0,
        "value_text": "61",
        "limit": 50.0,
        "limit_text": "50",
        "advice": "Drain the queue.",
        "since": AT,
        "measured_at": now,
    }
    return Condition.objects.create(store=store, code=code, **{**fields, **changes})


def make_measurement(store: Store, values: dict[str, float | None] | None = None, **changes: Any) -> Measurement:
    """Make one measurement of now."""
    return Measurement.objects.create(
        **{"store": store, "at": timezone.now(), "verdict": store.verdict, "values": values or {"queue_depth": 61.0}, **changes}
    )


def make_change(store: Store, path: str = "decisions.jsonl", **changes: Any) -> Change:
    """Make a change of now: one line appended."""
    return Change.objects.create(**{"store": store, "path": path, "what": "appended", "at": timezone.now(), "created": 1, **changes})


def make_run(store: Store, **changes: Any) -> ImportRun:
    """Make an import of now that went well."""
    fields = {"mode": "incremental", "status": "ok", "trigger": "worker", "started_at": timezone.now(), "duration_s": 0.1}
    return ImportRun.objects.create(store=store, **{**fields, **changes})
