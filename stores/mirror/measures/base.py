"""What the measures of all kinds share."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from stores.health.base import Condition as FoundCondition
from stores.health.base import Verdict
from stores.models import Condition, Fault, SourceFile, Store, acknowledged

SETTLE_S = 10


class Outcome(NamedTuple):
    """What the kind's rules say of a store."""

    verdict: Verdict
    sentence: str
    status: str
    message: str
    classic: dict[str, object]
    conditions: tuple[FoundCondition, ...]
    counts: dict[str, float | None]
    """Numbers that are kept beside the conditions' values, so that charts can show them."""


def is_young(source: SourceFile, now: datetime) -> bool:
    """A torn tail may still grow for ten seconds after the file's last change (ruling 24)."""
    return 0 <= now.timestamp() - source.mtime_ns / 1e9 < SETTLE_S


def open_faults(store: Store, code: str) -> int:
    """Count faults of a code that nobody has acknowledged."""
    return Fault.objects.filter(~acknowledged(), store=store, code=code).count()


def muted(store: Store, now: datetime) -> set[tuple[str, str]]:
    """Give code and path of the conditions that are muted at a moment."""
    return {(code, path) for code, path in Condition.objects.filter(store=store, muted_until__gt=now).values_list("code", "path")}


def milliseconds(moment: datetime) -> int:
    """Give a moment in milliseconds since 1970 UTC."""
    return int(moment.timestamp() * 1000)
