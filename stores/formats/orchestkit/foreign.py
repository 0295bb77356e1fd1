"""Reads what has no page of its own: old queues, logs beside the store, other tools' files. Recognised, shown, never rewritten."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from stores.formats import storable
from stores.formats.base import FileSpec
from stores.formats.javascript import TOO_DEEP
from stores.formats.orchestkit import columns, queue
from stores.formats.orchestkit.decisions import foreign_shape, foreign_text
from stores.formats.orchestkit.judged import Judged, JudgedLineReader, WholeJsonReader, bare_title
from stores.formats.orchestkit.values import fields, items, leaves, mapping, parse_raw, whole_number
from stores.formats.search_text import search_text

ARCHIVED_QUEUE: Final = "archived queue"
PENDING_DECISION: Final = "pending decision"
USER_PREFERENCE: Final = "user preference"
METRICS: Final = "metrics"
CONSULTED: Final = "consulted"
MEM0_ANALYTICS: Final = "mem0 analytics"
DECISION_LOG: Final = "decision log"
KNOWLEDGE: Final = "knowledge base"
COUNTER: Final = "counter"
PROFILE: Final = "profile"
SKILL_USAGE: Final = "skill usage"
ANALYTICS: Final = "analytics"
UNKNOWN: Final = "unknown"
METRICS_PATH: Final = ".claude/logs/memory-metrics.jsonl"
CONSULT_PATH: Final = ".claude/logs/memory-consult.jsonl"
_TIMES: Final = ("timestamp", "ts", "when", "date", "queued_at", "updated_at", "last_updated", "created_at")
_SESSIONS: Final = ("session_id", "session", "sessionId")


@dataclass(frozen=True, slots=True)
class ForeignDetail:
    """Everything that one foreign record says, field by field."""

    text: str = ""
    """The words that stand for it."""
    fields: tuple[tuple[str, str], ...] = ()
    items: tuple[str, ...] = ()
    """Of a list, its items."""


class MetricsPoint(NamedTuple):
    """What OrchestKit counted at the start of one session."""

    at_ms: int
    decisions: int
    queue_depth: int
    mem0_depth: int
    completed_flows: int
    sessions: int


def _archived_title(record: dict[str, object]) -> str:
    return queue.title(queue.judge(record))


def _metrics_title(record: dict[str, object]) -> str:
    decisions = whole_number(mapping(record.get("decisions")).get("total"))
    waiting = whole_number(mapping(record.get("queues")).get("graphQueueDepth"))
    return f"{decisions:,} decision{'' if decisions == 1 else 's'}, {waiting:,} waiting"


def _consulted_title(record: dict[str, object]) -> str:
    asked = record.get("query") or record.get("names")
    return f"{storable.title(record.get('tool'))} {' '.join(leaves(asked))}"


def _counter_title(record: dict[str, object]) -> str:
    counted = whole_number(record.get("counter"))
    return f"{counted:,} event{'' if counted == 1 else 's'} counted"


_TITLES: Final[dict[str, Callable[[dict[str, object]], str]]] = {
    ARCHIVED_QUEUE: _archived_title,
    METRICS: _metrics_title,
    CONSULTED: _consulted_title,
    COUNTER: _counter_title,
}


def judge(value: object, form: str, session: str = "") -> Judged:
    """Say what a foreign value is, as far as its file's name and its keys tell."""
    record = mapping(value)
    if form == UNKNOWN and record:
        shape = foreign_shape(record)
        form = UNKNOWN if shape == "unknown" else shape
    metadata = mapping(record.get("metadata"))
    title = _TITLES[form](record) if record and form in _TITLES else ""
    values = (
        form,
        storable.title(title or _said(value)),
        storable.name(_first(record, _SESSIONS) or metadata.get("session_id") or session),
        *storable.moment(_first(record, _TIMES) or metadata.get("timestamp")),
    )
    given = record.get("id")
    return Judged(values, storable.name(given) if isinstance(given, str) else "", search_text(*leaves(value)))


def _first(record: dict[str, object], keys: Iterable[str]) -> object:
    return next((record[key] for key in keys if record.get(key) is not None), None)


def _said(value: object) -> str:
    """Give the words that stand for a value of any form."""
    if isinstance(value, list):
        return f"{len(value):,} item{'' if len(value) == 1 else 's'}"
    if not isinstance(value, dict):
        return bare_title(value)
    what = mapping(value.get("content")).get("what")
    if isinstance(what, str):
        return what
    return foreign_text(value) or next((text for text in leaves(value) if text.strip()), "") or storable.text(value)


class ForeignLineReader(JudgedLineReader):
    """Reads a foreign line file."""

    lost = "what it said cannot be shown"
    subject_type = "foreign"

    def __init__(self, state: str = "", form: str = UNKNOWN) -> None:
        self._form = form
        super().__init__(state)

    def judge(self, value: object) -> Judged:
        """Read one line."""
        return judge(value, self._form)


class ForeignFileReader(WholeJsonReader):
    """Reads a foreign JSON file."""

    lost = "what it says cannot be shown"
    subject_type = "foreign"

    def __init__(self, path: str = "", form: str = UNKNOWN) -> None:
        self._form = form
        super().__init__(path)

    def judge(self, value: object) -> Judged:
        """Read the file."""
        parts = self.path.split("/")
        session = parts[1] if len(parts) > 2 and parts[0] == "sessions" else ""
        return judge(value, self._form, session)


def foreign_detail(raw: bytes) -> ForeignDetail:
    """Take a foreign record apart, given its line's or its file's bytes; nothing is raised."""
    value = parse_raw(raw).value
    if value is TOO_DEEP:
        return ForeignDetail()
    return ForeignDetail(
        text=storable.text(_said(value)),
        fields=fields(mapping(value)),
        items=tuple(storable.text(item) for item in items(value)),
    )


def metrics_points(raws: Iterable[bytes]) -> tuple[MetricsPoint, ...]:
    """Make the points of a chart from lines of the log of metrics, in the order of their times; others are left out."""
    points: list[MetricsPoint] = []
    for raw in raws:
        record = mapping(parse_raw(raw).value)
        at_ms, at_state = storable.moment(record.get("timestamp"))
        if at_state not in ("ok", "naive") or not isinstance(record.get("decisions"), dict):
            continue
        queues = mapping(record.get("queues"))
        points.append(
            MetricsPoint(
                at_ms,
                whole_number(mapping(record["decisions"]).get("total")),
                whole_number(queues.get("graphQueueDepth")),
                whole_number(queues.get("mem0QueueDepth")),
                whole_number(record.get("completedFlows")),
                whole_number(record.get("sessionCount")),
            )
        )
    return tuple(sorted(points, key=lambda point: point.at_ms))


def _lines(path: str, form: str, anchor: str = "") -> FileSpec:
    return FileSpec(
        path=path,
        record_type="foreign",
        append_only=False,
        columns=columns.FOREIGN,
        reader=partial(ForeignLineReader, form=form),
        anchor=anchor,
    )


def _file(path: str, form: str, anchor: str = "") -> FileSpec:
    return FileSpec(
        path=path,
        record_type="foreign",
        append_only=False,
        columns=columns.FOREIGN,
        reader=partial(ForeignFileReader, form=form),
        whole=True,
        anchor=anchor,
    )


SPECS: Final = (
    _lines("archive/*-graph-queue.jsonl", ARCHIVED_QUEUE),
    _lines("pending-decisions.jsonl", PENDING_DECISION),
    _lines("user-preferences.jsonl", USER_PREFERENCE),
    _lines(METRICS_PATH, METRICS, "project"),
    _lines(CONSULT_PATH, CONSULTED, "project"),
    _lines(".claude/logs/mem0-analytics.jsonl", MEM0_ANALYTICS, "project"),
    _lines(".claude/logs/decisions.jsonl", DECISION_LOG, "project"),
    _file(".claude/context/knowledge/decisions/active.json", KNOWLEDGE, "project"),
    _file(".claude/feedback/skill-usage.json", SKILL_USAGE, "project"),
    _file("sessions/*/counter.json", COUNTER),
    _file("users/*/profile.json", PROFILE),
)
GENERIC_SPECS: Final = (
    _lines("*.jsonl", UNKNOWN),
    _lines("analytics/*.jsonl", ANALYTICS),
    _file("*.json", UNKNOWN),
    _file("analytics/*.json", ANALYTICS),
)
"""Whatever else stands in the store; last, so that a known name comes first."""
