"""Conditions and verdicts, for every kind of store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class ConditionStatus(StrEnum):
    """How a rule of health stands (ruling 35)."""

    OK = "ok"
    NOTE = "note"
    FAILING = "failing"
    UNMEASURED = "unmeasured"


class Verdict(StrEnum):
    """The worst of a store's conditions."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"
    UNMEASURED = "unmeasured"


WORST_FIRST: Final = (Verdict.UNAVAILABLE, Verdict.DEGRADED, Verdict.UNMEASURED, Verdict.HEALTHY)
"""Ruling 28."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One rule of health, as measured."""

    code: str
    """A code of ruling 36."""
    title: str
    """The good state, in words."""
    status: ConditionStatus
    message: str
    """What is the case."""
    value: float | None = None
    value_text: str = ""
    limit: float | None = None
    limit_text: str = ""
    file: str = ""
    """Relative to the store, "" when it stands for the store."""
    advice: str = ""
    """What to do; "" when nothing is to be done."""
    faults_code: str = ""
    """Faults of this code are what the value counts."""


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Give the worst verdict: unavailable, degraded, unmeasured, healthy; healthy when there are none."""
    return min(verdicts, key=WORST_FIRST.index, default=Verdict.HEALTHY)
