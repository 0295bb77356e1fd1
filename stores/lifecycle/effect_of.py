"""Finds what computes the effect of an action, by the kind of its store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from stores.lifecycle.actions import Action
from stores.lifecycle.effects import Effect, EffectRefused, Find
from stores.lifecycle.orchestkit import effects as orchestkit_effects
from stores.lifecycle.phase_memory import effects as phase_memory_effects
from stores.lifecycle.vocabulary import ORCHESTKIT, PHASE_MEMORY

_BY_KIND: Final[Mapping[str, Callable[[Action, Find, str], Effect]]] = {
    ORCHESTKIT: orchestkit_effects.effect,
    PHASE_MEMORY: phase_memory_effects.effect,
}


def effect_of(action: Action, find: Find, planned_at: str) -> Effect:
    """Compute what an action writes, once, when it enters the queue; raises EffectRefused where the store does not allow it."""
    if action.verb.name == "undo":
        raise EffectRefused("What was applied is taken back from the page of that action.")
    compute = _BY_KIND.get(action.kind)
    if compute is None:
        raise EffectRefused("Nothing is written to stores of this kind.")
    return compute(action, find, planned_at)
