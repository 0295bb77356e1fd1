"""How the operations of `graph-queue.jsonl` stand among each other: what only the whole queue shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from stores.formats import javascript
from stores.formats.javascript import TOO_DEEP
from stores.formats.orchestkit.queue import DANGLING, DUPLICATE, IGNORED, POISON, WAITING, Operation, judge, payload_hash, shown
from stores.formats.orchestkit.values import has_too_many_values, items, mapping, parse_raw


class QueueOp(NamedTuple):
    """One operation as the whole queue is judged."""

    line: int
    operation: str
    standing: str
    reason: str
    payload_hash: int
    creates: tuple[str, ...]
    """Names of entities."""
    ends: tuple[str, ...]
    """Ends of relations, and entities that are observed."""
    observes: tuple[tuple[str, bool], ...]
    """Per observation: the entity's name, and whether it has contents."""

    @property
    def makes(self) -> bool:
        """Whether the entities that it creates are there after a drain."""
        return self.standing != POISON


def queue_op(raw: bytes, line: int, hashed: int | None = None) -> QueueOp:
    """Read one operation from its line's bytes and number, for `WholeQueue`; nothing is raised.

    `hashed` is its `payload_hash` where that is known already.
    """
    value = parse_raw(raw).value
    operation = Operation("", IGNORED, "Nested too deep to be shown", ()) if value is TOO_DEEP else judge(value)
    creates: list[str] = []
    ends: list[str] = []
    observes: list[tuple[str, bool]] = []
    for item in operation.parts:
        if operation.operation == "create_entities":
            creates += _named(item, "name")
        elif operation.operation == "create_relations":
            ends += _named(item, "from") + _named(item, "to")
        else:
            names = _named(item, "entityName")
            ends += names
            observes += [(entity, isinstance(item.get("contents"), list)) for entity in names]
    return QueueOp(
        line,
        operation.operation,
        operation.standing,
        operation.reason,
        payload_hash(mapping(value)) if hashed is None else hashed,
        tuple(creates),
        tuple(ends),
        tuple(observes),
    )


def _named(item: dict[str, object], key: str) -> list[str]:
    given = item.get(key)
    return [given] if isinstance(given, str) else []


class WholeQueue:
    """What the operations of a queue say about each other.

    First every operation that creates or observes is told to it, and what stands in the queue several times; then each can be
    judged. Names are kept as hashes, since a queue that nobody drains grows without end.
    """

    def __init__(self, graph_names: Iterable[str] = ()) -> None:
        self._known = set(map(hash, graph_names))
        self._observed: Counter[int] = Counter()
        self._first_lines: dict[tuple[str, int], int] = {}

    def add(self, op: QueueOp) -> None:
        """Take note of an operation."""
        if op.makes:
            self._known.update(map(hash, op.creates))
        self._observed.update(hash(entity) for entity, _ in op.observes)

    def observed(self, entity: str, times: int) -> None:
        """Take note of how often something is observed of an entity."""
        self._observed[hash(entity)] += times

    def repeats(self, operation: str, hashed: int, first_line: int) -> None:
        """Take note that several lines, of which this is the first, have this operation and payload."""
        self._first_lines[operation, hashed] = first_line

    def duplicate(self, operation: str, hashed: int, line: int) -> tuple[str, str] | None:
        """Judge an operation that would wait and needs nothing of others; None where no earlier line has the same."""
        first = self._first_lines.get((operation, hashed), line)
        return None if first == line else (DUPLICATE, f"The same operation as line {first:,}")

    def standing(self, op: QueueOp) -> tuple[str, str]:
        """Judge an operation: its standing, and the reason.

        Poison wins over everything; then what the drain ignores, then a duplicate of an earlier line, then a relation or an
        observation with an end that no entity of the queue nor of the graph has.
        """
        if op.standing != WAITING:
            return op.standing, op.reason
        broken = next((entity for entity, whole in op.observes if not whole and self._observed[hash(entity)] > 1), None)
        if broken is not None:
            return POISON, f"Observations of {shown(broken)} twice, once without contents: it stops the drain"
        duplicate = self.duplicate(op.operation, op.payload_hash, op.line)
        if duplicate is not None:
            return duplicate
        missing = self.missing(op)
        if missing:
            more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
            return DANGLING, f"No entity is named {shown(missing[0])}{more}"
        return WAITING, op.reason

    def missing(self, op: QueueOp) -> list[str]:
        """Give the ends of an operation that no entity has."""
        return [end for end in dict.fromkeys(op.ends) if hash(end) not in self._known]


def graph_names(data: bytes) -> set[str]:
    """Give the names of the entities in a `memory.json` of the MCP memory server; lines that cannot be read give none."""
    names: set[str] = set()
    for line in data.split(b"\n"):
        if b"name" not in line or has_too_many_values(line):
            continue
        value = javascript.parse(line).value
        entities = items(mapping(value).get("entities"))
        for item in (value, *entities):
            record = mapping(item)
            if record.get("type", "entity") == "entity":
                names.update(_named(record, "name"))
    if not names and b"name" in data and not has_too_many_values(data):
        names.update(name for item in items(mapping(parse_raw(data).value).get("entities")) for name in _named(mapping(item), "name"))
    return names
