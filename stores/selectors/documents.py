"""Stores, health and faults as the API and `--json` give them: one shape for both (DESIGN §5)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from typing_extensions import TypedDict  # pydantic takes that of the standard library only from Python 3.12 on

from stores.formats.secrets import mask, mask_nested
from stores.models import Condition, Fault, FaultAcknowledgement, SourceFile, Store
from stores.selectors import faults, verdicts


class LineCounts(TypedDict):
    """Physical lines by class; they add up to all lines (ruling 30)."""

    record: int
    refused: int
    blank: int
    pending: int


class FileDocument(TypedDict):
    """A source file that the kind's reader takes."""

    path: str
    exists: bool
    state: str
    line_count: int
    corrupt_lines: int
    size_bytes: int
    last_modified: str | None
    lines: LineCounts


class ConditionDocument(TypedDict):
    """A condition of health, as last measured."""

    code: str
    status: str
    message: str
    file: str
    title: str
    value: float | None
    limit: float | None
    advice: str
    since: str
    muted_until: str | None


class HealthDocument(TypedDict):
    """The health of one store."""

    store: str
    kind: str
    verdict: str
    sentence: str
    status: str
    message: str
    measured_at: str | None
    classic: dict[str, object]
    conditions: list[ConditionDocument]
    files: list[FileDocument]


class RepairDocument(TypedDict):
    """What would mend a fault."""

    mode: str
    action: str


class FaultDocument(TypedDict):
    """A fault with its place."""

    id: int
    code: str
    severity: str
    file: str
    line: int | None
    byte: int | None
    subject_type: str
    subject_id: str | None
    key: str | None
    message: str
    pending: bool
    details: dict[str, object]
    repair: RepairDocument
    acknowledged: bool
    first_seen_at: str


def utc(moment: datetime | None) -> str | None:
    """Give a time as ISO 8601 in UTC, to the millisecond; None stays None."""
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def health_documents(judged: Iterable[verdicts.JudgedStore]) -> list[HealthDocument]:
    """Give the health of some stores, in their order. Two queries."""
    stores = list(judged)
    ids = [one.store.pk for one in stores]
    conditions: dict[int, list[Condition]] = {pk: [] for pk in ids}
    for condition in Condition.objects.filter(store__in=ids).order_by("store_id", "position", "pk"):
        conditions[condition.store_id].append(condition)
    files: dict[int, list[SourceFile]] = {pk: [] for pk in ids}
    for file in SourceFile.objects.filter(store__in=ids).exclude(record_type="").order_by("store_id", "path"):
        files[file.store_id].append(file)
    return [_health(one, conditions[one.store.pk], files[one.store.pk]) for one in stores]


def _health(one: verdicts.JudgedStore, conditions: list[Condition], files: list[SourceFile]) -> HealthDocument:
    store = one.store
    return {
        "store": store.slug,
        "kind": store.kind,
        "verdict": one.verdict,
        "sentence": one.sentence,
        "status": store.status,
        "message": store.message,
        "measured_at": utc(store.measured_at),
        "classic": store.classic,
        "conditions": [_condition(condition) for condition in conditions],
        "files": [file_document(file) for file in files],
    }


def _condition(condition: Condition) -> ConditionDocument:
    return {
        "code": condition.code,
        "status": condition.status,
        "message": condition.message,
        "file": condition.path,
        "title": condition.title,
        "value": condition.value,
        "limit": condition.limit,
        "advice": condition.advice,
        "since": utc(condition.since) or "",
        "muted_until": utc(condition.muted_until),
    }


def file_document(file: SourceFile) -> FileDocument:
    """Give one source file."""
    modified = datetime.fromtimestamp(file.mtime_ns / 1e9, UTC) if file.exists and file.mtime_ns else None
    return {
        "path": file.path,
        "exists": file.exists,
        "state": file.state,
        "line_count": file.line_count,
        "corrupt_lines": file.corrupt_lines,
        "size_bytes": file.size_bytes,
        "last_modified": utc(modified),
        "lines": {
            "record": file.readable_lines,
            "refused": file.lines_refused + file.tail_refused,
            "blank": file.lines_blank + file.tail_blank,
            "pending": file.tail_pending,
        },
    }


def fault_documents(store: Store, found: Iterable[Fault]) -> list[FaultDocument]:
    """Give faults of one store, in their order. One query besides theirs."""
    acknowledged = set(FaultAcknowledgement.objects.filter(store=store).values_list("path", "code", "key"))
    return [_fault(fault, (fault.path, fault.code, fault.key) in acknowledged) for fault in found]


def _fault(fault: Fault, acknowledged: bool) -> FaultDocument:
    return {
        "id": fault.pk,
        "code": fault.code,
        "severity": fault.severity,
        "file": fault.path,
        "line": fault.line,
        "byte": fault.byte,
        "subject_type": fault.subject_type,
        "subject_id": mask_nested(fault.told_subject),
        "key": mask_nested(fault.told_key),
        "message": mask(fault.message),
        "pending": fault.pending,
        "details": mask_nested(faults.details(fault)),
        "repair": {"mode": fault.repair_mode, "action": fault.repair_action},
        "acknowledged": acknowledged or fault.closed_in_store,
        "first_seen_at": utc(fault.first_seen_at) or "",
    }
