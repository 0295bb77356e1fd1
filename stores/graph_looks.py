"""How entities and relations look in the picture of a graph and in its legend: a colour and a form for each type."""

from __future__ import annotations

from typing import NamedTuple


class Look(NamedTuple):
    """The look of a type of entity."""

    word: str
    """Names the colour in the style sheet."""
    form: str
    """As cytoscape calls it."""
    path: str
    """The same form in a box of 16."""


OTHER = Look("other", "ellipse", "M8 3a5 5 0 1 1 0 10A5 5 0 0 1 8 3z")
LOOKS = {
    "Decision": Look("decision", "round-rectangle", "M4 4h8a2 2 0 0 1 2 2v4a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2z"),
    "Preference": Look("preference", "diamond", "M8 1.5 14.5 8 8 14.5 1.5 8z"),
    "Problem": Look("problem", "triangle", "M8 2l6.5 11.5h-13z"),
    "Solution": Look("solution", "hexagon", "M4.5 2.5h7l3 5.5-3 5.5h-7L1.5 8z"),
    "Technology": Look("technology", "ellipse", "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11z"),
    "Pattern": Look("pattern", "octagon", "M5.5 2h5L14 5.5v5L10.5 14h-5L2 10.5v-5z"),
    "Tool": Look("tool", "pentagon", "M8 1.5l6.5 5-2.5 7.5H4L1.5 6.5z"),
    "Workflow": Look("workflow", "star", "M8 1.5l2 4.3 4.6.5-3.4 3.2.9 4.7L8 11.9l-4.1 2.3.9-4.7L1.4 6.3 6 5.8z"),
}
STRENGTHS = {
    "strong": ("CHOSE", "PREFERS", "SOLVED_BY", "CONSTRAINT"),
    "rejected": ("CHOSE_OVER", "TRADEOFF"),
    "weak": ("MENTIONS", "RELATES_TO"),
}
"""What a type of relation means; each has its own line."""


def look_of(kind: str) -> Look:
    """Give the look of a type of entity; one that the tool does not know looks like any other."""
    return LOOKS.get(kind) or LOOKS.get(kind.capitalize(), OTHER)


def strength_of(kind: str) -> str:
    """Give what a type of relation means: strong, rejected, weak or other."""
    return next((strength for strength, kinds in STRENGTHS.items() if kind in kinds), "other")
