"""Conditions of the queue: how much waits, how long, and whether anything drains it."""

from __future__ import annotations

from stores.health.base import Condition, ConditionStatus
from stores.health.orchestkit.facts import Limits, StoreFacts
from stores.health.orchestkit.stating import counted, span, status_of


def poison(facts: StoreFacts) -> Condition:
    """Say how many operations stop every drain."""
    stopped = f"{counted(facts.poison, 'operation')} of the queue {'stops' if facts.poison == 1 else 'stop'} every drain"
    return Condition(
        code="poison_operation",
        title="Queue lines can be executed",
        status=status_of(facts.poison > 0),
        message=stopped if facts.poison else "No operation stops the drain",
        value=float(facts.poison),
        value_text=f"{facts.poison:,}",
        limit=0,
        limit_text="none",
        file=facts.queue.path,
        advice="Set the line aside, so that the others can be drained" if facts.poison else "",
        faults_code="poison_operation",
    )


def depth(facts: StoreFacts, limits: Limits) -> Condition:
    """Say how many operations wait; from the limit on it fails."""
    depth = facts.queue.lines
    failing = depth >= limits.queue_depth
    message = f"{counted(depth, 'operation')} {'waits' if depth == 1 else 'wait'}" if depth else "No operation waits"
    if facts.duplicates_in_queue:
        message += f", {facts.duplicates_in_queue:,} of them written twice"
    return Condition(
        code="queue_depth",
        title=f"Queue below {limits.queue_depth:,} operations",
        status=status_of(failing),
        message=message,
        value=float(depth),
        value_text=f"{depth:,}",
        limit=float(limits.queue_depth),
        limit_text=f"{limits.queue_depth:,}",
        file=facts.queue.path,
        advice="Drain the queue into the graph, or archive it" if failing else "",
    )


def oldest(facts: StoreFacts, now_ms: int, limits: Limits) -> Condition:
    """Say how long the oldest operation has waited."""
    limit_text = span(limits.queue_oldest_s)
    age_s: float | None = None
    status = ConditionStatus.OK
    if not facts.queue.lines:
        message, value_text = "No operation waits", "none"
    elif facts.queue_oldest_ms is None:
        status = ConditionStatus.NOTE
        message, value_text = f"Of {counted(facts.queue.lines, 'operation')} none says when it was queued", "not known"
    else:
        age_s = max(0, now_ms - facts.queue_oldest_ms) / 1000
        status = status_of(age_s > limits.queue_oldest_s)
        value_text = span(age_s)
        message = f"The oldest operation has waited {value_text}"
    return Condition(
        code="queue_oldest",
        title=f"No operation waits longer than {limit_text}",
        status=status,
        message=message,
        value=age_s,
        value_text=value_text,
        limit=float(limits.queue_oldest_s),
        limit_text=limit_text,
        file=facts.queue.path,
        advice="Drain the queue: nothing else will" if status is ConditionStatus.FAILING else "",
    )


def undrained(facts: StoreFacts, now_ms: int, limits: Limits) -> Condition:
    """A drain empties the queue, so an operation that still waits has seen no drain since it was queued."""
    known = [moment for moment in (facts.queue_oldest_ms, facts.queue_first_seen_ms) if moment is not None]
    since = facts.queue_last_shrink_ms if facts.queue_last_shrink_ms is not None else min(known, default=None)
    idle_s = max(0, now_ms - since) / 1000 if since is not None and facts.queue.lines else None
    came = facts.decisions_since_shrink
    failing = idle_s is not None and idle_s > limits.undrained_s and came > 0
    if not facts.queue.lines:
        message, value_text = "Nothing waits for a drain", "none"
    elif idle_s is None:
        message, value_text = "Since when nothing was drained is not known", "not known"
    else:
        value_text = span(idle_s)
        message = f"Nothing was drained for {value_text}, while {counted(came, 'decision')} came"
    return Condition(
        code="queue_undrained",
        title="Something drains the queue",
        status=status_of(failing),
        message=message,
        value=idle_s,
        value_text=value_text,
        limit=float(limits.undrained_s),
        limit_text=span(limits.undrained_s),
        file=facts.queue.path,
        advice="Drain it here: OrchestKit since 6.0.4 no longer does" if failing else "",
    )


def dangling(facts: StoreFacts) -> Condition:
    """Say how many operations name an entity that nothing makes."""
    led = f"{counted(facts.dangling, 'operation')} of the queue {'names' if facts.dangling == 1 else 'name'} an entity that nothing makes"
    return Condition(
        code="dangling_relation",
        title="Relations of the queue have both ends",
        status=ConditionStatus.NOTE if facts.dangling else ConditionStatus.OK,
        message=led if facts.dangling else "Every end is an entity of the queue or of the graph",
        value=float(facts.dangling),
        value_text=f"{facts.dangling:,}",
        limit=0,
        limit_text="none",
        file=facts.queue.path,
        advice="Nothing breaks; a drain from here makes the missing ends first" if facts.dangling else "",
        faults_code="dangling_relation",
    )
