"""Reads `sessions/*/events.jsonl`: what happened in a session, as its two writers note it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from stores.formats import storable
from stores.formats.base import FileSpec, Line, Parsed, Severity
from stores.formats.orchestkit import columns
from stores.formats.orchestkit.judged import Judged, JudgedLineReader, Oddity, bare_title, no_object
from stores.formats.orchestkit.values import fields, leaves, mapping, parse_raw
from stores.formats.search_text import search_text

PATH: Final = "sessions/*/events.jsonl"
TRACKER: Final = "tracker"
"""Written by the session tracker: it names person, machine and how it knows them."""
HOOK: Final = "hook"
"""Written by the runner of hooks: only which hook ran."""
FOREIGN: Final = "foreign"
_TRACKER_ONLY: Final = ("anonymous_id", "machine_id", "identity_source", "team_id")
_PAYLOAD: Final = ("name", "context", "success", "duration_ms", "confidence", "input", "output")
_NEIGHBOURS: Final = 128


@dataclass(frozen=True, slots=True)
class EventDetail:
    """Everything that one event says."""

    id: str = ""
    type: str = ""
    shape: str = FOREIGN
    name: str = ""
    context: str = ""
    outcome: str = ""
    duration_ms: str = ""
    confidence: str = ""
    input: tuple[tuple[str, str], ...] = ()
    output: tuple[tuple[str, str], ...] = ()
    identity: tuple[tuple[str, str], ...] = ()
    other: tuple[tuple[str, str], ...] = ()


def shape_of(event: dict[str, object]) -> str:
    """Say which of the two writers made an event."""
    identity = event.get("identity")
    if not (isinstance(event.get("event_type"), str) and isinstance(identity, dict) and isinstance(event.get("payload"), dict)):
        return FOREIGN
    return TRACKER if any(key in identity for key in _TRACKER_ONLY) else HOOK


def _outcome(payload: dict[str, object]) -> str:
    success = payload.get("success")
    return ("success" if success else "failure") if isinstance(success, bool) else ""


def _told(event: dict[str, object], payload: dict[str, object]) -> str:
    """Give the words that tell most about an event."""
    return next((text for text in [payload.get("context"), payload.get("name"), *leaves(event)] if text and isinstance(text, str)), "")


class SessionEventReader(JudgedLineReader):
    """Reads events in order, and notes ids that come again: two hooks that run at once count the same number."""

    lost = "OrchestKit's loader then ignores every event of this session"
    subject_type = "session_event"

    def __init__(self, state: str = "") -> None:
        self._recent: deque[str] = deque(maxlen=_NEIGHBOURS)
        """Beginnings of hashes of the last ids."""
        super().__init__(state)

    def keep(self) -> dict[str, object]:
        """Give the last ids."""
        return {"recent": list(self._recent)}

    def restore(self, kept: dict[str, Any]) -> None:
        """Take up what `keep` gave."""
        self._recent.extend(kept["recent"])

    def record(self, line: Line, value: object, warnings: tuple[str, ...]) -> Parsed:
        """Read one event."""
        parsed = super().record(line, value, warnings)
        if not parsed.natural_id:
            return parsed
        mark = sha256(parsed.natural_id.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        if mark in self._recent:
            message = "An earlier event has the same id: two hooks counted at once, both events are kept"
            parsed = parsed._replace(faults=(*parsed.faults, self.fault(line, "dup_id", Severity.INFO, message, parsed.natural_id)))
        self._recent.append(mark)
        return parsed

    def judge(self, value: object) -> Judged:
        """Read one event without looking at its neighbours."""
        event = mapping(value)
        identity, payload = mapping(event.get("identity")), mapping(event.get("payload"))
        shape = shape_of(event)
        duration = storable.number(payload.get("duration_ms"))
        values = (
            storable.name(event.get("event_type")),
            storable.name(payload.get("name")),
            storable.title(_told(event, payload)) if event else bare_title(value),
            storable.name(identity.get("session_id")),
            storable.name(identity.get("user_id")),
            storable.name(identity.get("machine_id")),
            storable.name(identity.get("identity_source")),
            _outcome(payload),
            round(max(-1e15, min(1e15, duration))) if duration is not None else None,
            shape,
            *storable.moment(identity.get("timestamp", event.get("timestamp"))),
        )
        given = event.get("event_id")
        natural_id = storable.name(given) if isinstance(given, str) else ""
        odd = no_object(value, "event")
        if isinstance(value, dict) and shape == FOREIGN:
            odd = (Oddity("foreign_shape", Severity.INFO, "Not in OrchestKit's form: it lacks type, identity or payload"),)
            return Judged(values, natural_id, search_text(*leaves(value)), odd)
        return Judged(values, natural_id, search_text(*leaves(event.get("event_type")), *leaves(payload)), odd)


def event_detail(raw: bytes) -> EventDetail:
    """Take one event apart, given its line's bytes; nothing is raised."""
    event = mapping(parse_raw(raw).value)
    identity, payload = mapping(event.get("identity")), mapping(event.get("payload"))
    whole = [key for key in ("identity", "payload") if isinstance(event.get(key), dict)]
    return EventDetail(
        id=storable.text(event.get("event_id")),
        type=storable.text(event.get("event_type")),
        shape=shape_of(event),
        name=storable.text(payload.get("name")),
        context=storable.text(payload.get("context")),
        outcome=_outcome(payload),
        duration_ms=storable.text(payload.get("duration_ms")),
        confidence=storable.text(payload.get("confidence")),
        input=_parts("input", payload.get("input")),
        output=_parts("output", payload.get("output")),
        identity=fields(identity),
        other=(*fields(event, ("event_id", "event_type", *whole)), *fields(payload, _PAYLOAD)),
    )


def _parts(name: str, value: object) -> tuple[tuple[str, str], ...]:
    if isinstance(value, dict):
        return fields(value)
    return () if value is None else ((name, storable.text(value)),)


SPEC: Final = FileSpec(path=PATH, record_type="session_event", append_only=True, columns=columns.SESSION_EVENT, reader=SessionEventReader)
