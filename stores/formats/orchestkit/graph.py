"""A knowledge graph as the MCP memory server keeps it: entities with observations, and relations between them by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


class Edge(NamedTuple):
    """A relation: which entity, to which other one, and how."""

    start: str
    end: str
    kind: str


@dataclass(slots=True)
class Node:
    """An entity."""

    name: str
    kind: str
    observations: dict[str, None] = field(default_factory=dict)
    """In order, each once."""
    extra: dict[str, object] = field(default_factory=dict)
    """Keys that the server does not know."""

    def observe(self, contents: Iterable[str]) -> int:
        """Add what is not said yet; give how many were new."""
        before = len(self.observations)
        self.observations.update(dict.fromkeys(contents))
        return len(self.observations) - before


@dataclass(slots=True)
class Graph:
    """Nodes by name and edges, both in order."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[Edge, None] = field(default_factory=dict)

    def put(self, name: str, kind: str, observations: Iterable[str] = ()) -> Node:
        """Add an entity, or what is new about it; one that is there keeps its type."""
        node = self.nodes.get(name)
        if node is None:
            node = self.nodes[name] = Node(name, kind)
        node.observe(observations)
        return node

    def connect(self, edge: Edge) -> bool:
        """Add a relation; say whether it is new."""
        new = edge not in self.edges
        self.edges[edge] = None
        return new

    @property
    def observations(self) -> int:
        """How many observations there are."""
        return sum(len(node.observations) for node in self.nodes.values())
