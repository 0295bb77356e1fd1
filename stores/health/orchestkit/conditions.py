"""The conditions of an OrchestKit store, also those to which its own check is blind, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stores.health.base import Condition, ConditionStatus, Verdict
from stores.health.orchestkit import graph_conditions, log_conditions, queue_conditions
from stores.health.orchestkit.facts import DEFAULT_LIMITS, FileFacts, Limits, StoreFacts
from stores.health.orchestkit.stating import counted, unmeasured

_NOTES_ONLY: Final = frozenset({"dangling_relation", "double_hook", "stray_store"})
"""Rules that never degrade a store, so that not having measured them says nothing of it."""


def conditions(facts: StoreFacts, now_ms: int, limits: Limits = DEFAULT_LIMITS) -> tuple[Condition, ...]:
    """Apply every rule; each is always there, also when all is well. What stops agents comes first.

    Codes: ruling 36; the queue's limit holds from the limit on (ruling 28).
    """
    if not (facts.directory_exists and facts.directory_readable):
        why = _no_folder(facts)
        return (*(unmeasured(rule, why) for rule in _rules(facts, now_ms, limits)), log_conditions.classic_health(facts))
    return (*_rules(facts, now_ms, limits), log_conditions.classic_health(facts))


def _rules(facts: StoreFacts, now_ms: int, limits: Limits) -> Iterator[Condition]:
    for file in (facts.decisions, facts.queue, facts.problems):
        yield log_conditions.corrupt_lines(file)
    yield log_conditions.other_corrupt(facts)
    yield log_conditions.vanished(facts)
    yield _needing(facts.decisions, log_conditions.injection_silenced(facts))
    yield _needing(facts.decisions, log_conditions.no_decisions(facts, limits))
    yield _needing(facts.queue, queue_conditions.poison(facts))
    yield _needing(facts.queue, queue_conditions.depth(facts, limits))
    yield _needing(facts.queue, queue_conditions.oldest(facts, now_ms, limits))
    yield _needing(facts.queue, queue_conditions.undrained(facts, now_ms, limits))
    yield graph_conditions.drain_lost(facts)
    yield graph_conditions.graph_refused(facts)
    yield graph_conditions.graph_place(facts)
    yield graph_conditions.memory_md_budget(facts)
    yield _needing(facts.queue, queue_conditions.dangling(facts))
    yield _needing(facts.decisions, log_conditions.double_hook(facts))
    yield log_conditions.stray(facts)


def _needing(file: FileFacts, condition: Condition) -> Condition:
    """A rule cannot be applied while the file that it looks at cannot be read."""
    return condition if file.readable else unmeasured(condition, f"{file.path} cannot be read")


def _no_folder(facts: StoreFacts) -> str:
    return "The folder cannot be read" if facts.directory_exists else "The folder does not exist"


def verdict(facts: StoreFacts, found: tuple[Condition, ...]) -> tuple[Verdict, str]:
    """Give the verdict of a store and a sentence that names the worst cause.

    `found` are the conditions that count; those that a person muted are left out. A failing one degrades, a note does not.
    """
    if not (facts.directory_exists and facts.directory_readable):
        return Verdict.UNAVAILABLE, _no_folder(facts)
    failing = [condition for condition in found if condition.status is ConditionStatus.FAILING]
    causes = [condition for condition in failing if condition.code != "classic_health"] or failing
    if causes:
        more = len(causes) - 1
        return Verdict.DEGRADED, causes[0].message + (f"; {counted(more, 'more check')} {'fails' if more == 1 else 'fail'}" if more else "")
    not_measured = [
        condition for condition in found if condition.status is ConditionStatus.UNMEASURED and condition.code not in _NOTES_ONLY
    ]
    if not_measured:
        return Verdict.UNMEASURED, not_measured[0].message
    notes = [condition for condition in found if condition.status is ConditionStatus.NOTE]
    if notes:
        return Verdict.HEALTHY, f"{counted(len(notes), 'note')}: {notes[0].message}"
    return Verdict.HEALTHY, f"{counted(len(found), 'check')} hold" if len(found) != 1 else "1 check holds"
