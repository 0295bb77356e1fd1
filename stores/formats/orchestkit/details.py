"""Takes a raw record apart for its own page: every field, the known ones by name, the others as JSON; nothing is raised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stores.formats import storable
from stores.formats.javascript import TOO_DEEP
from stores.formats.orchestkit import queue
from stores.formats.orchestkit.decisions import foreign_shape, foreign_text
from stores.formats.orchestkit.values import fields, items, mapping, parse_raw, texts

Field = tuple[str, str]
"""A field's name and its value as text; what is no text comes as JSON."""

_CONTENT: Final = ("what", "why", "resolution", "alternatives", "constraints", "tradeoffs")
_DECISION: Final = ("id", "type", "content", "entities", "relations", "identity", "metadata")
_PROBLEM: Final = ("id", "type", "text", "status", "entities", "timestamp", "session_id", "project", "confidence", "solution")


@dataclass(frozen=True, slots=True)
class Relation:
    """A named arrow from one end to another."""

    start: str
    type: str
    end: str


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing that a record names, with what is said of it."""

    name: str
    type: str = ""
    observations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DecisionDetail:
    """Everything that one line of `decisions.jsonl` says."""

    shape: str
    """As in the list: orchestkit, foreign:<name> or not_object."""
    id: str = ""
    type: str = ""
    what: str = ""
    why: str = ""
    resolution: str = ""
    alternatives: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    tradeoffs: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()
    has_entities: bool = False
    """Whether the field is there and not null: without it the context loader stops."""
    relations: tuple[Relation, ...] = ()
    identity: tuple[Field, ...] = ()
    metadata: tuple[Field, ...] = ()
    other: tuple[Field, ...] = ()
    """Fields that OrchestKit does not know; of a foreign record, all of them."""


@dataclass(frozen=True, slots=True)
class ProblemDetail:
    """Everything that one line of `open-problems.jsonl` says."""

    id: str = ""
    text: str = ""
    status: str = ""
    project: str = ""
    session: str = ""
    timestamp: str = ""
    confidence: str = ""
    entities: tuple[Entity, ...] = ()
    solution: tuple[Field, ...] = ()
    """Empty while nothing solved it."""
    other: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True)
class Observations:
    """Sentences that an operation adds to an entity."""

    entity: str
    contents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueueDetail:
    """Everything that one line of `graph-queue.jsonl` asks for."""

    operation: str = ""
    standing: str = ""
    reason: str = ""
    would_write: str = ""
    timestamp: str = ""
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    observations: tuple[Observations, ...] = ()
    other: tuple[Field, ...] = ()


def decision_detail(raw: bytes) -> DecisionDetail:
    """Take one decision apart, given its line's bytes."""
    value = parse_raw(raw).value
    if not isinstance(value, dict):
        shape = "foreign:unknown" if value is TOO_DEEP else "not_object"
        return DecisionDetail(shape=shape, what="" if value is TOO_DEEP else storable.text(value))
    content = mapping(value.get("content"))
    what = content.get("what")
    if not isinstance(what, str):
        return DecisionDetail(
            shape=f"foreign:{foreign_shape(value)}",
            id=storable.text(value.get("id")),
            type=storable.text(value.get("type")),
            what=storable.text(foreign_text(value)),
            entities=_entities(value.get("entities")),
            has_entities=value.get("entities") is not None,
            other=fields(value, ("id", "type")),
        )
    return DecisionDetail(
        shape="orchestkit",
        id=storable.text(value.get("id")),
        type=storable.text(value.get("type")),
        what=storable.text(what),
        why=storable.text(content.get("why")),
        resolution=storable.text(content.get("resolution")),
        alternatives=texts(content.get("alternatives")),
        constraints=texts(content.get("constraints")),
        tradeoffs=texts(content.get("tradeoffs")),
        entities=_entities(value.get("entities")),
        has_entities=value.get("entities") is not None,
        relations=_relations(value.get("relations")),
        identity=fields(mapping(value.get("identity"))),
        metadata=fields(mapping(value.get("metadata"))),
        other=tuple((f"content.{key}", text) for key, text in fields(content, _CONTENT)) + fields(value, _DECISION) + _misshapen(value),
    )


def problem_detail(raw: bytes) -> ProblemDetail:
    """Take one problem apart, given its line's bytes."""
    value = parse_raw(raw).value
    if not isinstance(value, dict):
        return ProblemDetail(text="" if value is TOO_DEEP else storable.text(value))
    solution = value.get("solution")
    return ProblemDetail(
        id=storable.text(value.get("id")),
        text=storable.text(value.get("text")),
        status=storable.text(value.get("status")),
        project=storable.text(value.get("project")),
        session=storable.text(value.get("session_id")),
        timestamp=storable.text(value.get("timestamp")),
        confidence=storable.text(value.get("confidence")),
        entities=_entities(value.get("entities")),
        solution=fields(solution) if isinstance(solution, dict) else ((("solution", storable.text(solution)),) if solution else ()),
        other=fields(value, _PROBLEM),
    )


def queue_detail(raw: bytes) -> QueueDetail:
    """Take one queue operation apart, given its line's bytes; its standing is that of the line alone."""
    value = parse_raw(raw).value
    if value is TOO_DEEP:
        return QueueDetail(standing=queue.IGNORED, reason="Nested too deep to be shown")
    operation = queue.judge(value)
    record = mapping(value)
    payload = mapping(record.get("payload"))
    return QueueDetail(
        operation=operation.operation,
        standing=operation.standing,
        reason=operation.reason,
        would_write=queue.would_write(operation),
        timestamp=storable.text(record.get("timestamp")),
        entities=_entities(payload.get("entities")),
        relations=_relations(payload.get("relations")),
        observations=tuple(
            Observations(storable.text(item.get("entityName")), texts(item.get("contents")))
            for item in map(mapping, items(payload.get("observations")))
        ),
        other=tuple((f"payload.{key}", text) for key, text in fields(payload, ("entities", "relations", "observations")))
        + fields(record, ("type", "timestamp", "payload") if isinstance(record.get("payload"), dict) else ("type", "timestamp")),
    )


def _entities(value: object) -> tuple[Entity, ...]:
    found: list[Entity] = []
    for item in items(value):
        if isinstance(item, dict):
            found.append(Entity(storable.text(item.get("name")), storable.text(item.get("entityType")), texts(item.get("observations"))))
        else:
            found.append(Entity(storable.text(item)))
    return tuple(found)


def _relations(value: object) -> tuple[Relation, ...]:
    return tuple(
        Relation(storable.text(item.get("from")), storable.text(item.get("relationType", item.get("type"))), storable.text(item.get("to")))
        for item in map(mapping, items(value))
    )


def _misshapen(value: dict[str, object]) -> tuple[Field, ...]:
    """Show known fields of a wrong type as they are."""
    expected: tuple[tuple[str, type], ...] = (("entities", list), ("relations", list), ("identity", dict), ("metadata", dict))
    return tuple(
        (key, storable.text(value[key])) for key, kind in expected if value.get(key) is not None and not isinstance(value[key], kind)
    )
