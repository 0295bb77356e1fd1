"""Reads `mem0-queue.jsonl`: what waited for a service that OrchestKit has given up."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from stores.formats import javascript, storable
from stores.formats.base import FileSpec, Severity
from stores.formats.orchestkit import columns
from stores.formats.orchestkit.judged import Judged, JudgedLineReader, Oddity, bare_title, no_object
from stores.formats.orchestkit.values import fields, leaves, mapping, parse_raw, strings
from stores.formats.search_text import search_text

PATH: Final = "mem0-queue.jsonl"
WAITING: Final = "waiting"
DUPLICATE: Final = "duplicate"


@dataclass(frozen=True, slots=True)
class Mem0Detail:
    """Everything that one line of the retired queue says."""

    text: str = ""
    user_id: str = ""
    queued: str = ""
    entities: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    other: tuple[tuple[str, str], ...] = ()


def compared_hash(text: str) -> int:
    """Give a number that is equal for texts which the queue takes for one: without case and outer whitespace; 0 without text."""
    normal = javascript.trim(text).lower()
    return storable.signed64(sha256(normal.encode("utf-8", "surrogatepass")).digest()) if normal else 0


class Mem0Reader(JudgedLineReader):
    """Reads the retired queue; that a later line holds the same text, only the whole file shows."""

    lost = "it is never sent"
    subject_type = "mem0_operation"

    def judge(self, value: object) -> Judged:
        """Read one operation."""
        operation = mapping(value)
        metadata = mapping(operation.get("metadata"))
        text = operation.get("text")
        values = (
            WAITING,
            storable.title(text) if operation else bare_title(value),
            storable.name(operation.get("user_id")),
            storable.name(metadata.get("type")),
            storable.name(metadata.get("category")),
            storable.name(metadata.get("project")),
            storable.number(metadata.get("confidence")),
            compared_hash(text) if isinstance(text, str) else 0,
            *storable.moment(operation.get("queued_at", metadata.get("timestamp"))),
        )
        if isinstance(value, dict) and not isinstance(text, str):
            odd = Oddity("foreign_shape", Severity.INFO, "Not in OrchestKit's form: there is no text to send")
            return Judged(values, "", search_text(*leaves(value)), (odd,))
        return Judged(values, "", search_text(*leaves(text), *strings(metadata.get("entities"))), no_object(value, "operation"))


def mem0_detail(raw: bytes) -> Mem0Detail:
    """Take one operation apart, given its line's bytes; nothing is raised."""
    operation = mapping(parse_raw(raw).value)
    given = operation.get("metadata")
    metadata = mapping(given)
    entities = metadata.get("entities")
    return Mem0Detail(
        text=storable.text(operation.get("text")),
        user_id=storable.text(operation.get("user_id")),
        queued=storable.text(operation.get("queued_at")),
        entities=tuple(storable.text(name) for name in strings(entities)),
        metadata=fields(metadata, ("entities",) if isinstance(entities, list) else ()),
        other=fields(operation, ("text", "user_id", "queued_at", *(("metadata",) if isinstance(given, dict) else ()))),
    )


SPEC: Final = FileSpec(path=PATH, record_type="mem0_operation", append_only=True, columns=columns.MEM0_OPERATION, reader=Mem0Reader)
