"""What the rules need to know of one line of `events.jsonl`, taken once by whoever reads the line."""

from __future__ import annotations

from typing import Final, NamedTuple

from stores.formats import storable
from stores.formats.base import Line, LineClass
from stores.formats.canonical import digest_bytes
from stores.formats.phase_memory.aliases import field
from stores.formats.phase_memory.reading import LogLine
from stores.formats.phase_memory.values import reference, word

IDENTITY_BYTES: Final = 16
"""Of a record's digest, kept to tell a repetition from another event of the same id."""
_NO_EVENT: Final = bytes(IDENTITY_BYTES)


class EventFacts(NamedTuple):
    """One line, judged; of one that is no record the fields behind the first five say nothing."""

    sha256: bytes
    """Of the raw line, 32 bytes."""
    terminated: bool
    line_class: LineClass
    refused: str
    salvageable: int
    id: str = ""
    identity: bytes = _NO_EVENT
    """The start of the record's digest."""
    version: str | None = None
    """Its schema version as a word."""
    is_version_text: bool = False
    kind: str | None = None
    """As a word."""
    ms: int | None = None
    """When it happened, where it says so in a way that can be read."""
    path_id: str = ""
    action_id: str = ""


def event_facts(line: Line, read: LogLine) -> EventFacts:
    """Give what the rules need to know of a line that was judged."""
    if read.line_class is not LineClass.RECORD:
        return EventFacts(line.sha256, line.terminated, read.line_class, read.refused, read.salvageable)
    record = read.record
    version, kind = record.get("schema_version"), field("event", record, "kind")
    ms, state = storable.moment(field("event", record, "timestamp"))
    return EventFacts(
        line.sha256,
        line.terminated,
        read.line_class,
        read.refused,
        read.salvageable,
        read.id,
        digest_bytes(read.value)[:IDENTITY_BYTES],
        None if version is None else word(version),
        isinstance(version, str),
        None if kind is None else word(kind),
        ms if state in ("ok", "naive") else None,
        reference(record.get("path_id")),
        reference(record.get("action_id")),
    )
