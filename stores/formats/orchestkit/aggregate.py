"""Our aggregation of a queue: nothing that can be used is lost, and it says what it did and what the classic drain would lose."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from stores.formats.js_values import stringify, text_of
from stores.formats.orchestkit.classic_aggregate import ClassicDrain, NumberedOperation, Trouble
from stores.formats.orchestkit.graph import Edge, Graph
from stores.formats.orchestkit.operations import ADD_OBSERVATIONS, CREATE_ENTITIES, CREATE_RELATIONS, infer_entity_type
from stores.formats.orchestkit.values import items, mapping

_PARTS: Final = {CREATE_ENTITIES: "entities", CREATE_RELATIONS: "relations", ADD_OBSERVATIONS: "observations"}
_END_TYPES: Final = {("CHOSE_OVER", "start"): "Decision", ("CONSTRAINT", "end"): "Constraint", ("TRADEOFF", "end"): "Tradeoff"}
"""What an end is that stands only in relations of such a kind; else its name tells."""
_NAMELESS_RELATION: Final = "RELATES_TO"


class LostObservations(NamedTuple):
    """What the classic drain would not write about an entity."""

    name: str
    contents: tuple[str, ...]


@dataclass(slots=True)
class Account:
    """What an aggregation did with its operations."""

    operations: int = 0
    missing_ends: tuple[str, ...] = ()
    """Names that only relations and observations use: they were made entities."""
    poison: tuple[Trouble, ...] = ()
    """Lines that stop the classic drain for ever; what can be used of them was used."""
    skipped: tuple[Trouble, ...] = ()
    """Lines of which nothing, or not all, could be used."""
    other_types: tuple[tuple[int, str, str], ...] = ()
    """(line, entity, type) where an entity was given another type than at first; the first stayed."""
    classic_loses: tuple[LostObservations, ...] = ()
    """Observations that the classic drain drops without its poison lines; with one of those it writes nothing."""


@dataclass(slots=True)
class Aggregate:
    """The graph that a queue asks for, and the account of it."""

    graph: Graph = field(default_factory=Graph)
    account: Account = field(default_factory=Account)


def aggregate(operations: Iterable[NumberedOperation], known: Collection[str] = (), *, compare: bool = True) -> Aggregate:
    """Aggregate operations, given by line; nothing is raised.

    Observations of an entity that comes again are added to it. An end of a relation, or an entity that is observed, is made an
    entity where no operation does and it is not among the `known` names, those of the graph file. Without `compare` the account
    knows nothing of the classic drain: no poison, and not what that loses.
    """
    work = _Aggregation(known)
    classic = ClassicDrain()
    count = 0
    for number, operation in operations:
        count += 1
        work.take(number, operation)
        if compare:
            classic.take(number, operation)
    drained = classic.result
    account = Account(
        operations=count,
        missing_ends=tuple(work.make_ends()),
        poison=tuple(drained.poison),
        skipped=tuple(work.skipped),
        other_types=tuple(work.other_types),
        classic_loses=tuple(_losses(work.graph, drained.entities, drained.observations)) if compare else (),
    )
    return Aggregate(work.graph, account)


def graph_of(operations: Iterable[object]) -> Graph:
    """Give the graph that operations ask for, with all ends, and without an account; nothing is raised."""
    return aggregate(((0, operation) for operation in operations), compare=False).graph


class _Aggregation:
    def __init__(self, known: Collection[str]) -> None:
        self.graph = Graph()
        self.skipped: list[Trouble] = []
        self.other_types: list[tuple[int, str, str]] = []
        self._known = known
        self._observed: dict[str, dict[str, None]] = {}
        self._ends: dict[str, str] = {}
        """Names that are used and the type that their first use tells."""

    def take(self, number: int, operation: object) -> None:
        record = mapping(operation)
        kind = record.get("type")
        part = _PARTS.get(kind) if isinstance(kind, str) else None
        if part is None:
            self.skipped.append(Trouble(number, "No operation that the drain knows"))
            return
        listed = items(mapping(record.get("payload")).get(part))
        if not listed:
            self.skipped.append(Trouble(number, f"No list of {part}"))
        takes = {CREATE_ENTITIES: self._entity, CREATE_RELATIONS: self._relation, ADD_OBSERVATIONS: self._observation}
        unusable = sum(not takes[str(kind)](number, mapping(item)) for item in listed)
        if unusable:
            self.skipped.append(Trouble(number, f"{unusable:,} of {len(listed):,} {part} cannot be used"))

    def _entity(self, number: int, item: dict[str, object]) -> bool:
        name = _name(item.get("name"))
        if name is None:
            return False
        given = item.get("entityType")
        kind = given if isinstance(given, str) and given else infer_entity_type(name)
        node = self.graph.put(name, kind, observation_texts(item.get("observations")))
        if node.kind != kind:
            self.other_types.append((number, name, kind))
        return True

    def _relation(self, number: int, item: dict[str, object]) -> bool:
        start, end = _name(item.get("from")), _name(item.get("to"))
        if start is None or end is None:
            return False
        edge = Edge(start, end, _relation_kind(item))
        self.graph.connect(edge)
        self._ends.setdefault(start, _END_TYPES.get((edge.kind, "start"), ""))
        self._ends.setdefault(end, _END_TYPES.get((edge.kind, "end"), ""))
        return True

    def _observation(self, number: int, item: dict[str, object]) -> bool:
        name = _name(item.get("entityName"))
        contents = item.get("contents")
        if name is None or not isinstance(contents, list | str):
            return False
        self._ends.setdefault(name, "")
        self._observed.setdefault(name, {}).update(dict.fromkeys(observation_texts(contents)))
        return True

    def make_ends(self) -> list[str]:
        """Make entities of ends that nothing creates, then say what is observed of all; give the names that were made.

        An observation of a known entity stands as an entity too: to merge it into the graph keeps the type that it has there.
        """
        made: list[str] = []
        for name, kind in self._ends.items():
            if name not in self.graph.nodes and name not in self._known:
                self.graph.put(name, kind or infer_entity_type(name))
                made.append(name)
        for name, contents in self._observed.items():
            self.graph.put(name, infer_entity_type(name), contents)
        return made


def _relation_kind(item: dict[str, object]) -> str:
    for key in ("relationType", "type"):
        given = item.get(key)
        if isinstance(given, str) and given:
            return given
    return _NAMELESS_RELATION


def observation_texts(value: object) -> list[str]:
    """Give observations as texts: of objects their `text`, of anything else its JSON."""
    listed = [value] if isinstance(value, str) else items(value)
    return [_observation_text(item) for item in listed if item is not None]


def _observation_text(item: object) -> str:
    if isinstance(item, dict) and isinstance(item.get("text"), str):
        return str(item["text"])
    return item if isinstance(item, str) else stringify(item)


def _name(value: object) -> str | None:
    """Give a usable name: a text or a number, and not empty."""
    if isinstance(value, str):
        return value or None
    return text_of(value) if isinstance(value, int | float) else None


def _losses(graph: Graph, entities: list[object], observations: list[dict[str, object]]) -> Iterable[LostObservations]:
    """Give what our graph says of an entity and the classic aggregate does not."""
    said: dict[str, set[str]] = {}
    for item, key, texts in [
        *((mapping(item), "name", "observations") for item in entities),
        *((mapping(item), "entityName", "contents") for item in observations),
    ]:
        name = _name(item.get(key))
        if name is not None:
            said.setdefault(name, set()).update(observation_texts(item.get(texts)))
    for node in graph.nodes.values():
        lost = tuple(text for text in node.observations if text not in said.get(node.name, ()))
        if lost:
            yield LostObservations(node.name, lost)
