"""What one decision, or one waiting operation, adds to the knowledge graph."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from stores.formats import storable
from stores.formats.javascript import TOO_DEEP
from stores.formats.orchestkit.aggregate import graph_of
from stores.formats.orchestkit.graph import Graph
from stores.formats.orchestkit.operations import build_operations
from stores.formats.orchestkit.values import mapping, parse_raw

_WHAT: Final = "What: "


def graph_key(*words: str) -> int:
    """Give the number by which an entity (its name) or a relation (start, end, type) is known: the same for the same words only."""
    return storable.signed64(sha256("\0".join(words).encode("utf-8", "surrogatepass")).digest())


def decision_graph(raw: bytes) -> Graph:
    """Give the graph of a decision, given its line's bytes; an empty one where it has no id or no text to go by."""
    record = mapping(parse_raw(raw).value)
    own = record.get("id")
    if not (isinstance(own, str) and own and isinstance(mapping(record.get("content")).get("what"), str)):
        return Graph()
    return graph_of(build_operations(record))


def operation_graph(raw: bytes) -> Graph:
    """Give the graph of a queued operation, given its line's bytes; an empty one where the drain could use nothing of it."""
    value = parse_raw(raw).value
    return Graph() if value is TOO_DEEP else graph_of([value])


def title_in(observations: dict[str, None]) -> str:
    """Give what a decision says, found among the observations of the entity that bears its id; "" where none says it."""
    first = next(iter(observations), "")
    return first.removeprefix(_WHAT) if first.startswith(_WHAT) else ""
