"""The drain's aggregation of a queue as OrchestKit 6.0.2 did it, with what it loses and where it stops, and its message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from stores.formats import javascript, js_values
from stores.formats.causes import name_cause
from stores.formats.javascript import TOO_DEEP
from stores.formats.js_values import UNDEFINED, JsTypeError, stringify, text_of, unit_texts
from stores.formats.orchestkit import whole_text
from stores.formats.orchestkit.operations import ADD_OBSERVATIONS, CREATE_ENTITIES, CREATE_RELATIONS
from stores.formats.orchestkit.values import truthy

NumberedOperation = tuple[int, object]
"""The number of an operation's line, and its parsed value."""


class Trouble(NamedTuple):
    """A line of which something cannot be used, and why."""

    line: int
    reason: str


class QueueLines(NamedTuple):
    """What the drain reads of a queue."""

    operations: tuple[NumberedOperation, ...]
    unreadable: tuple[Trouble, ...]


@dataclass(slots=True)
class ClassicAggregate:
    """What the classic drain asks Claude to write, values as they came."""

    entities: list[object] = field(default_factory=list)
    relations: list[object] = field(default_factory=list)
    observations: list[dict[str, object]] = field(default_factory=list)
    poison: list[Trouble] = field(default_factory=list)
    """Lines at which the drain throws, and then writes nothing at all; the rest is what it would write without them."""


def read_operations(data: bytes) -> QueueLines:
    """Read a queue's bytes as the drain does; nothing is raised."""
    operations: list[NumberedOperation] = []
    unreadable: list[Trouble] = []
    for number, line in whole_text.lines(data):
        parse = javascript.parse(line)
        if parse.value is TOO_DEEP:
            unreadable.append(Trouble(number, "Nested too deep to be read here"))
        elif parse.accepted:
            operations.append((number, parse.value))
        elif javascript.trim(line.decode("utf-8", "replace")):
            unreadable.append(Trouble(number, name_cause(line).words))
    return QueueLines(tuple(operations), tuple(unreadable))


def aggregate_classically(operations: Iterable[NumberedOperation]) -> ClassicAggregate:
    """Aggregate as the classic drain: the first entity of a name wins, relations once, observations joined by entity."""
    drain = ClassicDrain()
    for number, operation in operations:
        drain.take(number, operation)
    return drain.result


class ClassicDrain:
    """One aggregation; every step is noted so that an operation that throws in its middle leaves nothing behind."""

    def __init__(self) -> None:
        self.result = ClassicAggregate()
        self._names: set[object] = set()
        self._edges: set[str] = set()
        self._observed: dict[object, dict[str, object]] = {}

    def take(self, number: int, operation: object) -> None:
        """Take the operation of a line."""
        undo: list[Callable[[], object]] = []
        try:
            self._take(operation, undo)
        except JsTypeError as error:
            for step in reversed(undo):
                step()
            self.result.poison.append(Trouble(number, str(error)))

    def _take(self, operation: object, undo: list[Callable[[], object]]) -> None:
        kind = _of(operation, "type", "A line that is null stops the drain")
        payload = js_values.field(operation, "payload")
        for wanted, part, take in (
            (CREATE_ENTITIES, "entities", self._entity),
            (CREATE_RELATIONS, "relations", self._relation),
            (ADD_OBSERVATIONS, "observations", self._observation),
        ):
            if kind != wanted or payload is None or payload is UNDEFINED:
                continue
            listed = js_values.field(payload, part)
            if listed is UNDEFINED or not truthy(listed):
                continue
            for item in _each(listed, f"{part} is no list: it stops the drain"):
                take(item, undo)

    def _entity(self, item: object, undo: list[Callable[[], object]]) -> None:
        key = _same(_of(item, "name", "entities holds null: it stops the drain"))
        if key not in self._names:
            self.result.entities.append(item)
            self._names.add(key)
            undo += [self.result.entities.pop, lambda: self._names.discard(key)]

    def _relation(self, item: object, undo: list[Callable[[], object]]) -> None:
        parts = [_of(item, key, "relations holds null: it stops the drain") for key in ("from", "relationType", "to")]
        key = "|".join(map(text_of, parts))
        if key not in self._edges:
            self.result.relations.append(item)
            self._edges.add(key)
            undo += [self.result.relations.pop, lambda: self._edges.discard(key)]

    def _observation(self, item: object, undo: list[Callable[[], object]]) -> None:
        observed = self.result.observations
        if not observed:
            key = _same(UNDEFINED if item is None else js_values.field(item, "entityName"))
        else:
            key = _same(_of(item, "entityName", "observations holds null: it stops the drain"))
        existing = self._observed.get(key)
        if existing is None:
            made = _spread(item)
            observed.append(made)
            self._observed[key] = made
            undo += [observed.pop, lambda: self._observed.pop(key)]
            return
        without = "Observations of one entity twice, once without contents: it stops the drain"
        more = list(_each(js_values.field(item, "contents"), without))
        contents = existing.get("contents")
        if not isinstance(contents, list):
            raise JsTypeError(without)
        length = len(contents)
        contents.extend(more)
        undo.append(lambda: contents.__delitem__(slice(length, None)))


def _of(value: object, key: str, otherwise: str) -> object:
    if value is None:
        raise JsTypeError(otherwise)
    return js_values.field(value, key)


def _each(listed: object, otherwise: str) -> Iterator[object]:
    """Go through a list, or the characters of a text, as `for … of` does."""
    if not isinstance(listed, list | str):
        raise JsTypeError(otherwise)
    return iter(listed)


def _spread(item: object) -> dict[str, object]:
    """Do `{...item}`, with a list of contents of its own."""
    if isinstance(item, dict):
        contents = item.get("contents")
        return item | {"contents": list(contents)} if isinstance(contents, list) else dict(item)
    parts = unit_texts(item) if isinstance(item, str) else item
    return {str(place): part for place, part in enumerate(parts)} if isinstance(parts, list) else {}


def _same(value: object) -> object:
    """Give a key that is equal for what JavaScript takes for the same value: objects are only the same as themselves."""
    if isinstance(value, dict | list):
        return ("object", id(value))
    if isinstance(value, bool) or value is None or value is UNDEFINED:
        return ("word", repr(value))
    return value if isinstance(value, str) else ("number", value)


def recovery_message(aggregated: ClassicAggregate) -> str:
    """Give the message with which OrchestKit asked Claude to write what was left in the queue; "" when there is nothing."""
    calls = (
        ("Create Entities", "create_entities", "entities", aggregated.entities),
        ("Create Relations", "create_relations", "relations", aggregated.relations),
        ("Add Observations", "add_observations", "observations", aggregated.observations),
    )
    if not any(items for *_, items in calls):
        return ""
    parts = [
        "## Graph Memory Recovery",
        "",
        "Orphaned graph operations from a previous session were found.",
        "Execute these MCP calls to persist them:",
        "",
    ]
    for title, call, key, items in calls:
        if items:
            body = stringify(items, 2).replace("\n", "\n  ")
            parts += [f"### {title}", "```json", f"mcp__memory__{call}({{", f'  "{key}": {body}', "})", "```", ""]
    counted = ", ".join(f"{len(items)} {key}" for _, _, key, items in calls)
    return "\n".join([*parts, f"**Recovery:** {counted} from previous session."])
