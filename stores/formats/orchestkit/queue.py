"""Reads `graph-queue.jsonl`: what waits to be written into the knowledge graph, and how it stands."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import Final, NamedTuple

from stores.formats import storable
from stores.formats.base import Fault, FileSpec, Line, LineClass, Parsed, RepairMode, Severity
from stores.formats.javascript import TOO_DEEP
from stores.formats.orchestkit import columns
from stores.formats.orchestkit.reading import DECISION_ID, OrchestKitReader
from stores.formats.orchestkit.values import items, leaves, mapping
from stores.formats.search_text import search_text
from stores.formats.secrets import mask
from stores.formats.visible import one_line

PATH: Final = "graph-queue.jsonl"
WAITING: Final = "waiting"
POISON: Final = "poison"
IGNORED: Final = "ignored"
DUPLICATE: Final = "duplicate"
DANGLING: Final = "dangling end"
_PARTS: Final = {"create_entities": "entities", "create_relations": "relations", "add_observations": "observations"}
_SHOWN: Final = 60


class Operation(NamedTuple):
    """What one line of the queue asks for."""

    operation: str
    standing: str
    reason: str
    parts: tuple[dict[str, object], ...]
    """The objects in the part of the payload that the drain reads for this operation."""


def judge(value: object) -> Operation:
    """Say how the drain takes one parsed line (docs/formats.md, measured): what waits, what it skips, what stops it for ever."""
    if value is None:
        return Operation("", POISON, "A line that is null stops the drain", ())
    if not isinstance(value, dict):
        return Operation("", IGNORED, "No operation: the drain skips it", ())
    given = value.get("type")
    operation = storable.name(given) if isinstance(given, str) else ""
    part = _PARTS.get(operation)
    if part is None:
        reason = f"Unknown operation {shown(operation)}: the drain skips it" if operation else "No type: the drain skips it"
        return Operation(operation, IGNORED, reason, ())
    payload = value.get("payload")
    if not isinstance(payload, dict):
        return Operation(operation, IGNORED, "No payload: the drain skips it", ())
    listed = payload.get(part)
    if not isinstance(listed, list):
        if isinstance(listed, dict | int | float) and listed != 0:
            return Operation(operation, POISON, f"{part} is no list: it stops the drain", ())
        reason = f"{part} is text: the drain makes nothing usable of it" if listed else f"No {part}: there is nothing to write"
        return Operation(operation, IGNORED, reason, ())
    if None in listed:
        return Operation(operation, POISON, f"{part} holds null: it stops the drain", ())
    parts = tuple(item for item in listed if isinstance(item, dict))
    if not listed:
        return Operation(operation, IGNORED, f"No {part}: there is nothing to write", ())
    if operation == "add_observations":
        broken = _twice_without_contents(parts)
        if broken is not None:
            return Operation(operation, POISON, f"Observations of {shown(broken)} twice, once without contents: it stops the drain", parts)
    return Operation(operation, WAITING, _unusable(operation, listed, parts), parts)


def _twice_without_contents(parts: Iterable[dict[str, object]]) -> str | None:
    named = [(storable.name(item.get("entityName")), isinstance(item.get("contents"), list)) for item in parts]
    often = Counter(entity for entity, _ in named)
    return next((entity for entity, whole in named if not whole and often[entity] > 1), None)


def _unusable(operation: str, listed: list[object], parts: tuple[dict[str, object], ...]) -> str:
    """Name what the graph cannot take although the drain does."""
    needed = {"create_entities": ("name",), "create_relations": ("from", "to"), "add_observations": ("entityName",)}[operation]
    bad = len(listed) - sum(all(isinstance(item.get(key), str) for key in needed) for item in parts)
    return f"{bad} of {len(listed)} without {' and '.join(needed)}" if bad else ""


def shown(text: str) -> str:
    """Show a name within a sentence: on one line, short, without secrets, in quotes."""
    line = one_line(mask(storable.title(text)))
    if not line:
        return "(nameless)"
    return f'"{line}"' if len(line) <= _SHOWN else f'"{line[: _SHOWN - 1]}…"'


class QueueReader(OrchestKitReader):
    """Reads queue operations one by one; what only the whole queue shows is `WholeQueue`'s."""

    lost = "the drain skips it, and what it asked for never reaches the graph"
    subject_type = "queue_operation"

    def record(self, line: Line, value: object, warnings: tuple[str, ...]) -> Parsed:
        """Read one operation."""
        operation = Operation("", IGNORED, "Nested too deep to be shown", ()) if value is TOO_DEEP else judge(value)
        record = mapping(value)
        payload = mapping(record.get("payload"))
        at_ms, at_state = storable.moment(record.get("timestamp"))
        values = (
            operation.operation,
            operation.standing,
            operation.reason,
            title(operation) or ("" if record else storable.title(value if value is not TOO_DEEP else "")),
            would_write(operation),
            len(items(payload.get("entities"))),
            len(items(payload.get("relations"))),
            len(items(payload.get("observations"))),
            decision_id(operation),
            payload_hash(record),
            at_ms,
            at_state,
        )
        return Parsed(LineClass.RECORD, values, "", search_text(*leaves(record.get("payload"))), self._faults(line, value, operation))

    def _faults(self, line: Line, value: object, operation: Operation) -> tuple[Fault, ...]:
        if value is TOO_DEEP:
            return ()
        if operation.standing == POISON:
            poison = self.fault(line, "poison_operation", Severity.ERROR, f"{operation.reason}: nothing in the queue reaches the graph")
            return (poison._replace(repair_mode=RepairMode.REVIEW, repair_action="set_aside_lines"),)
        if not isinstance(value, dict):
            return (self.fault(line, "not_object", Severity.WARNING, "Valid JSON, but no operation: the drain skips it"),)
        if operation.standing == IGNORED:
            return (self.fault(line, "unknown_operation", Severity.INFO, operation.reason),)
        return ()


def title(operation: Operation) -> str:
    """Say in one line what an operation is about."""
    if not operation.parts:
        return ""
    first = operation.parts[0]
    if operation.operation == "create_relations":
        text = f"{storable.title(first.get('from'))} {storable.title(first.get('relationType'))} {storable.title(first.get('to'))}"
    elif operation.operation == "add_observations":
        said = next((item for item in items(first.get("contents")) if isinstance(item, str)), "")
        text = f"{storable.title(first.get('entityName'))}: {said}"
    else:
        observed = next((item for item in items(first.get("observations")) if isinstance(item, str)), "")
        text = observed.removeprefix("What: ") or storable.title(first.get("name"))
    return storable.title(text)


def would_write(operation: Operation) -> str:
    """Say what a drain would write, such as "1 decision, 2 technologies" or "4 relations"; "" for nothing."""
    if operation.standing in (IGNORED, POISON) or not operation.parts:
        return ""
    if operation.operation == "create_relations":
        return _counted("relation", len(operation.parts))
    if operation.operation == "add_observations":
        lines = sum(len(items(item.get("contents"))) for item in operation.parts)
        return f"{_counted('observation', lines)} on {_counted('entity', len(operation.parts))}"
    kinds = Counter(_kind(item.get("entityType")) for item in operation.parts)
    return ", ".join(_counted(kind, number) for kind, number in kinds.items())


def _kind(given: object) -> str:
    return storable.title(given).lower()[:40] if isinstance(given, str) and given.strip() else "entity"


def _counted(noun: str, number: int) -> str:
    if number != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun}"


def decision_id(operation: Operation) -> str:
    """Give the id of the decision from which an operation was made, "" if none is named."""
    for item in operation.parts:
        for key in ("name", "from", "entityName"):
            found = item.get(key)
            if isinstance(found, str) and DECISION_ID.match(found):
                return found
    return ""


def payload_hash(record: dict[str, object]) -> int:
    """Give a number that is equal for equal payloads, whatever the order of their keys; 0 without a payload."""
    payload = record.get("payload")
    if payload is None:
        return 0
    written = json.dumps(payload, sort_keys=True, separators=(",", ":"))
    return storable.signed64(sha256(written.encode()).digest())


SPEC: Final = FileSpec(path=PATH, record_type="queue_operation", append_only=True, columns=columns.QUEUE_OPERATION, reader=QueueReader)
