"""Rebuilds the knowledge graph from `decisions.jsonl`: what OrchestKit promised and no code of it did."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from stores.formats import javascript
from stores.formats.causes import name_cause
from stores.formats.javascript import TOO_DEEP
from stores.formats.orchestkit import whole_text
from stores.formats.orchestkit.aggregate import Aggregate, aggregate
from stores.formats.orchestkit.classic_aggregate import NumberedOperation, Trouble
from stores.formats.orchestkit.operations import build_operations, stops_the_writer
from stores.formats.orchestkit.values import mapping


@dataclass(slots=True)
class Replay:
    """The graph of a decision log, and what it was made of."""

    decisions: int = 0
    """Records that went into the graph."""
    aggregate: Aggregate = field(default_factory=Aggregate)
    skipped: list[Trouble] = field(default_factory=list)
    """Lines that are no decision of OrchestKit's, and why."""
    odd: list[Trouble] = field(default_factory=list)
    """Decisions of which OrchestKit's own writer could have made nothing; what they say was taken."""


def replay_decisions(data: bytes, known: Collection[str] = ()) -> Replay:
    """Make the graph of all decisions; nothing is raised.

    With the names of entities that a graph has already, `known`, no ends are made for those.
    """
    found = Replay()
    found.aggregate = aggregate(decision_operations(data, found), known, compare=False)
    return found


def decision_operations(data: bytes, found: Replay) -> Iterator[NumberedOperation]:
    """Give the operations of all decisions by the number of the decision's line, and note in `found` what the lines are."""
    for number, line in whole_text.lines(data):
        parse = javascript.parse(line)
        if not parse.accepted:
            if javascript.trim(line.decode("utf-8", "replace")):
                found.skipped.append(Trouble(number, name_cause(line).words))
            continue
        record = mapping(parse.value)
        reason = "Nested too deep to be read here" if parse.value is TOO_DEEP else _no_decision(record)
        if reason:
            found.skipped.append(Trouble(number, reason))
            continue
        trouble = stops_the_writer(record)
        if trouble:
            found.odd.append(Trouble(number, trouble))
        found.decisions += 1
        for operation in build_operations(record):
            yield number, operation


def _no_decision(record: dict[str, object]) -> str:
    if not isinstance(mapping(record.get("content")).get("what"), str):
        return "No text in content.what: written by another tool"
    given = record.get("id")
    return "" if isinstance(given, str) and given else "No id, by which the graph would name it"
