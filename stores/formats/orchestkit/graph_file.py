"""Reads and writes `memory.json`, the file of the MCP memory server, in every dialect that was found (docs/formats.md).

What is written suits the strictest server: valid lines only, entities before relations, observations as texts, a final line break.
One line that is no JSON, `null` or a byte order mark makes the server refuse every call, so such lines are never written back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from stores.formats import javascript
from stores.formats.causes import name_cause
from stores.formats.javascript import TOO_DEEP
from stores.formats.js_values import compact_line, stringify
from stores.formats.orchestkit.aggregate import observation_texts
from stores.formats.orchestkit.graph import Edge, Graph
from stores.formats.orchestkit.operations import infer_entity_type
from stores.formats.orchestkit.values import has_too_many_values, items, mapping

LINES: Final = "lines"
OBJECT: Final = "object"
_BOM: Final = b"\xef\xbb\xbf"
_LISTS: Final = (("entities", "entity", "entityType"), ("relations", "relation", "relationType"))
"""Of a graph that is one object: key of the list, type of its lines, key that tells what an item is."""
_NODE_KEYS: Final = frozenset({"type", "name", "entityType", "observations"})
_EDGE_KEYS: Final = frozenset({"type", "from", "to", "relationType"})


class LeftOut(NamedTuple):
    """A piece of the file that is not written again."""

    line: int
    data: bytes
    reason: str


@dataclass(slots=True)
class GraphFile:
    """What a `memory.json` says."""

    graph: Graph = field(default_factory=Graph)
    edge_extra: dict[Edge, dict[str, object]] = field(default_factory=dict)
    """Keys of relations that the server does not know."""
    others: list[bytes] = field(default_factory=list)
    """Lines of other types: the server passes over them, and so do we; they are written again behind the rest."""
    left_out: list[LeftOut] = field(default_factory=list)
    """Lines that the server cannot take, with their numbers and bytes."""
    dialect: str = LINES
    timed_observations: int = 0
    """Observations that were objects with a time; as texts they lose it."""

    mended: int = 0
    """What the server cannot show as it stands, and can once it is written again: objects, a byte order mark, odd entities."""

    @property
    def is_to_be_written(self) -> bool:
        """Whether the file has to be written anew for the server's sake, even where nothing is added to it."""
        return bool(self.left_out or self.mended)

    @property
    def is_something_else(self) -> bool:
        """Whether the file holds lines but nothing of a graph: whoever named it as one may have meant another file."""
        held = self.graph.nodes or self.graph.edges or self.dialect == OBJECT
        return not held and bool(self.others or self.left_out)


class Merge(NamedTuple):
    """What a merge added to a graph file."""

    entities: tuple[str, ...]
    relations: tuple[Edge, ...]
    observations: int
    """Also those of new entities."""


class Missing(NamedTuple):
    """What a graph file lacks of a graph."""

    entities: tuple[str, ...]
    observations: tuple[tuple[str, str], ...]
    """(entity, observation) of the entities that are there."""
    relations: tuple[Edge, ...]

    def __bool__(self) -> bool:
        return any(self)


def parse_graph(data: bytes) -> GraphFile:
    """Read a `memory.json`; an empty file is an empty graph, and nothing is raised."""
    found = GraphFile(mended=int(data.startswith(_BOM)))
    lines = _lines(data)
    whole = _one_object(data, lines)
    if whole is not None:
        _take_object(found, 1, whole)
        return found
    for number, line in lines:
        _take_line(found, number, line)
    return found


def object_records(data: bytes) -> list[dict[str, object]] | None:
    """Give all entities and relations of a `memory.json` that is one JSON object, or has such objects among its lines.

    They come as the lines of a graph say them. None where each has a line of its own already, or where there are more values than are
    worth the memory; nothing is raised.
    """
    if not any(key in data for key in (b'"entities"', b'"relations"')) or has_too_many_values(data):
        return None
    lines = _lines(data)
    whole = _one_object(data, lines)
    if whole is not None:
        return list(_records_of(whole))
    records: list[dict[str, object]] = []
    held = False
    for _, line in lines:
        value = javascript.parse(line).value
        if not isinstance(value, dict):
            continue
        if holds_graph(value):
            held = True
            records += _records_of(value)
        else:
            records.append(value)
    return records if held else None


def _lines(data: bytes) -> list[tuple[int, bytes]]:
    """Give the lines that are not blank, by number."""
    lines = enumerate(data.removeprefix(_BOM).split(b"\n"), start=1)
    return [(number, line) for number, line in lines if javascript.trim(line.decode("utf-8", "replace"))]


def _one_object(data: bytes, lines: list[tuple[int, bytes]]) -> dict[str, object] | None:
    """Give the object that a file is which is spread over its lines; None where it is none."""
    if not lines or javascript.parse(lines[0][1]).accepted:
        return None
    whole = javascript.parse(data.removeprefix(_BOM)).value
    return whole if isinstance(whole, dict) and holds_graph(whole) else None


def graph_bytes(found: GraphFile) -> bytes:
    """Give the file's new bytes."""
    written: list[bytes] = []
    for node in found.graph.nodes.values():
        entity = {"type": "entity", "name": node.name, "entityType": node.kind, "observations": list(node.observations)}
        written.append(compact_line(entity | node.extra))
    for edge in found.graph.edges:
        relation = {"type": "relation", "from": edge.start, "to": edge.end, "relationType": edge.kind}
        written.append(compact_line(relation | found.edge_extra.get(edge, {})))
    written += [line + b"\n" for line in found.others]
    return b"".join(written)


def merge_graph(found: GraphFile, graph: Graph) -> Merge:
    """Put a graph into a graph file.

    Entities that are there keep name and type and get what is new of the observations; relations stand once. Ends that neither
    of both has are made entities, so that each relation has both.
    """
    entities: list[str] = []
    observations = found.graph.observations
    for node in graph.nodes.values():
        if node.name not in found.graph.nodes:
            entities.append(node.name)
        found.graph.put(node.name, node.kind, node.observations)
    relations: list[Edge] = []
    for edge in graph.edges:
        if found.graph.connect(edge):
            relations.append(edge)
        entities += _make_ends(found.graph, edge)
    return Merge(tuple(entities), tuple(relations), found.graph.observations - observations)


def missing_from(found: GraphFile, graph: Graph) -> Missing:
    """Say what of a graph a graph file lacks: after a write, what the write lost."""
    have = found.graph
    names = dict.fromkeys([*graph.nodes, *(end for edge in graph.edges for end in edge[:2])])
    return Missing(
        tuple(name for name in names if name not in have.nodes),
        tuple(
            (node.name, text)
            for node in graph.nodes.values()
            if node.name in have.nodes
            for text in node.observations
            if text not in have.nodes[node.name].observations
        ),
        tuple(edge for edge in graph.edges if edge not in have.edges),
    )


def _make_ends(graph: Graph, edge: Edge) -> Iterable[str]:
    for name in (edge.start, edge.end):
        if name not in graph.nodes:
            graph.put(name, infer_entity_type(name))
            yield name


def holds_graph(value: Mapping[str, object]) -> bool:
    """Say that an object is a graph, not a line of one."""
    return value.get("type") not in ("entity", "relation") and any(isinstance(value.get(key), list) for key in ("entities", "relations"))


def _take_object(found: GraphFile, number: int, value: dict[str, object]) -> None:
    found.dialect = OBJECT
    found.mended += 1
    for key, kind, said in _LISTS:
        for item in items(value.get(key)):
            if not _take_item(found, _record(item, kind, said)):
                found.left_out.append(LeftOut(number, stringify(item).encode(), f"No usable {kind}"))
    rest = {key: item for key, item in value.items() if key not in ("entities", "relations")}
    if rest:
        found.left_out.append(LeftOut(number, stringify(rest).encode(), "Beside entities and relations, which is all that lines can say"))


def _records_of(value: Mapping[str, object]) -> Iterable[dict[str, object]]:
    for key, kind, said in _LISTS:
        yield from (_record(item, kind, said) for item in items(value.get(key)))


def _record(item: object, kind: str, said: str) -> dict[str, object]:
    """Give an item of an object as a line would say it."""
    record = mapping(item)
    if said not in record and record.get("type") not in (None, kind):
        record = record | {said: record["type"]}
    return record | {"type": kind}


def _take_line(found: GraphFile, number: int, line: bytes) -> None:
    parse = javascript.parse(line)
    if not parse.accepted:
        found.left_out.append(LeftOut(number, line, name_cause(line).words))
    elif parse.value is TOO_DEEP:
        found.left_out.append(LeftOut(number, line, "Nested too deep to be read here"))
    elif parse.value is None:
        found.left_out.append(LeftOut(number, line, "null, at which the server stops"))
    elif isinstance(parse.value, dict) and holds_graph(parse.value):
        _take_object(found, number, parse.value)
    else:
        record = mapping(parse.value)
        kind = record.get("type")
        if kind not in ("entity", "relation"):
            # A line with bytes that are no text is written as it is read.
            bad = "bad_utf8" in parse.warnings
            found.others.append(line.decode("utf-8", "replace").encode() if bad else line)
        elif not _take_item(found, record):
            found.left_out.append(LeftOut(number, line, f"No usable {kind}"))


def _take_item(found: GraphFile, record: dict[str, object]) -> bool:
    return _take_entity(found, record) if record.get("type") == "entity" else _take_relation(found, record)


def _take_entity(found: GraphFile, record: dict[str, object]) -> bool:
    name = record.get("name")
    if not isinstance(name, str):
        return False
    kind = record.get("entityType")
    listed = record.get("observations")
    node = found.graph.put(name, kind if isinstance(kind, str) else infer_entity_type(name), observation_texts(listed))
    node.extra |= {key: value for key, value in record.items() if key not in _NODE_KEYS and key not in node.extra}
    found.mended += not (isinstance(kind, str) and isinstance(listed, list) and all(isinstance(item, str) for item in listed))
    found.timed_observations += sum(isinstance(item, dict) for item in items(listed))
    return True


def _take_relation(found: GraphFile, record: dict[str, object]) -> bool:
    start, end, kind = record.get("from"), record.get("to"), record.get("relationType")
    if not (isinstance(start, str) and isinstance(end, str) and isinstance(kind, str)):
        return False
    edge = Edge(start, end, kind)
    found.graph.connect(edge)
    extra = {key: value for key, value in record.items() if key not in _EDGE_KEYS}
    if extra:
        found.edge_extra[edge] = extra | found.edge_extra.get(edge, {})
    return True


def new_file(graph: Graph) -> bytes:
    """Give the bytes of a graph file that holds a graph and nothing else."""
    found = GraphFile()
    merge_graph(found, graph)
    return graph_bytes(found)
