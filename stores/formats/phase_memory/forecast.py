"""What the rules of a profile would move, now and next, from counts of nodes by age. A forecast: nothing is planned or decided by it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from stores.formats.phase_memory.rules import Rules
from stores.formats.phase_memory.vocabulary import DURABLE

DAY_MS: Final = 86_400_000


class NodeGroup(NamedTuple):
    """Nodes of one kind, phase and state that were written and changed on the same days."""

    kind: str
    phase: str
    state: str
    created_day: int
    """Days since 1970, UTC; 0 where the nodes do not say it."""
    changed_day: int
    """Of the last change, by the node's own word; 0 where it gives none."""
    number: int


class Due(NamedTuple):
    """What one rule does to the nodes that it is about."""

    verb: str
    """move, mark stale, or request deletion."""
    kind: str
    """"" for every kind whose own rule does not say it."""
    from_phase: str
    """"" for every phase that is not durable."""
    to_phase: str
    days: float
    needs_review: bool
    reason: str
    due: int
    """Nodes that are old enough now."""
    concerned: int
    """All nodes that the rule is about, old enough or not."""
    undated: int
    """Those of them whose age nobody knows."""
    next_day: int | None
    """The day on which the next one is old enough; None where all are, or none is there."""
    next_number: int
    """How many are old enough on that day."""


def forecast(rules: Rules, groups: Sequence[NodeGroup], today: int) -> list[Due]:
    """Give what each rule moves, in the profile's order: transitions, then staleness, then deletion.

    A transition counts from the day a node was written, the others from its last change. Durable nodes never go stale by age alone.
    """
    found = []
    for one in rules.transitions:
        about = [group for group in groups if group.kind == one.kind and group.phase == one.from_phase and group.state == "active"]
        counted = _count(about, lambda group: group.created_day or group.changed_day, one.min_age_days, today)
        found.append(Due("move", one.kind, one.from_phase, one.to_phase, one.min_age_days, one.needs_review, one.reason, *counted))
    for verb, states in (("mark stale", ("active",)), ("request deletion", ("active", "stale"))):
        for rule in rules.retention:
            said = "stale_after_days" if verb == "mark stale" else "delete_after_days"
            days: float | None = getattr(rule, said)
            if days is None:
                continue
            is_default = rule is rules.retention_for("")
            about = [
                group
                for group in groups
                if group.phase not in DURABLE and group.state in states and rules.counting(group.kind, said) is rule
            ]
            counted = _count(about, lambda group: group.changed_day or group.created_day, days, today)
            needs_review = verb == "request deletion"
            found.append(Due(verb, "" if is_default else rule.kind, "", "", days, needs_review, rule.strategy, *counted))
    return found


def _count(
    groups: Iterable[NodeGroup], day_of: Callable[[NodeGroup], int], days: float, today: int
) -> tuple[int, int, int, int | None, int]:
    due = concerned = undated = next_number = 0
    next_day: int | None = None
    for group in groups:
        concerned += group.number
        since = day_of(group)
        if not since:
            undated += group.number
            continue
        ripe = since + int(days) + (days % 1 > 0)
        if ripe <= today:
            due += group.number
        elif next_day is None or ripe < next_day:
            next_day, next_number = ripe, group.number
        elif ripe == next_day:
            next_number += group.number
    return due, concerned, undated, next_day, next_number
