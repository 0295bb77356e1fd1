"""How kinds of nodes and edges look in the picture of a neighbourhood: the colours and forms of other graphs, by what a kind stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stores.graph_looks import LOOKS, OTHER, Look

_FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "Decision": ("decision", "alternative", "outcome"),
    "Preference": ("preference", "policy", "constraint", "contract"),
    "Problem": ("question", "risk", "assumption", "interruption"),
    "Solution": ("finding", "evidence", "validation", "source_fact"),
    "Technology": ("entity", "artifact", "document", "package", "context_package", "capability"),
    "Pattern": ("concept", "topic", "knowledge", "reasoning", "claim"),
    "Tool": ("tool_call", "edit", "observation", "activation"),
    "Workflow": ("task", "plan", "turn", "episode", "conversation", "follow_up"),
}
_LOOKS: Final = {kind: LOOKS[family] for family, kinds in _FAMILIES.items() for kind in kinds}
_STRENGTHS: Final = {
    "supports": "strong",
    "led_to": "strong",
    "derived_from": "strong",
    "governs": "strong",
    "contradicts": "rejected",
    "supersedes": "rejected",
    "mentions": "weak",
    "relates_to": "weak",
    "references": "weak",
}


def node_look(kind: str) -> Look:
    """Give the look of a kind of node; an unknown one looks like any other."""
    return _LOOKS.get(kind, OTHER)


def edge_strength(kind: str) -> str:
    """Give the line of a kind of edge: strong, rejected, weak or other."""
    return _STRENGTHS.get(kind, "other")
