"""Policies that are ready to take: a start for what a team decides, never in force by themselves (ruling 15)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from stores.lifecycle.vocabulary import VERBS, Review, Tier, Verb

DEFAULT: Final = "default"
STRICT: Final = "strict"
PRESETS: Final[Mapping[str, str]] = {
    DEFAULT: "One approval for everything that needs a review.",
    STRICT: "Two people for what takes something away; nothing is applied without a review.",
}
"""Name of each, and what it asks for."""
_TWO: Final = 2


def verbs_of(kind: str = "") -> dict[str, Verb]:
    """Give the verbs of a kind of store by their names, in their order; those of all kinds without one."""
    kinds: Iterable[str] = [kind] if kind else VERBS
    return {name: verb for one in kinds for name, verb in VERBS.get(one, {}).items()}


def preset(name: str, kind: str = "") -> dict[str, Any]:
    """Give the values of a preset for stores of a kind, or of all; those of `default` for a name that is none."""
    values: dict[str, Any] = {
        "approvals": 1,
        "approvals_by_verb": {},
        "review_verbs": [],
        "denied_verbs": [],
        "auto_apply": [],
        "reviewer_groups": [],
        "lifetime_days": 7,
        "due_days": {},
        "single_reviewer": False,
        "submit_only": False,
    }
    if name == STRICT:
        verbs = verbs_of(kind)
        values["approvals_by_verb"] = {name: _TWO for name, verb in verbs.items() if verb.tier is Tier.HIGH}
        values["review_verbs"] = [name for name, verb in verbs.items() if verb.review is not Review.ALWAYS]
        values["submit_only"] = True
    return values
