"""The copy of a worker's own audit events in its data folder: outside of the database that it vouches for (ruling 50)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

from stores import audit
from stores.formats import strict
from stores.formats.lines import split_lines
from stores.models import AuditEvent

_COLUMNS: Final = frozenset(audit.COPY_FIELDS)
_BATCH: Final = 500

Status = Literal["intact", "torn_tail", "altered", "gap", "truncated"]


class CopyVerdict(NamedTuple):
    """What a check of the copy found."""

    status: Status
    """intact · torn_tail: the last line is cut off, as a crash leaves it · altered: an event is not what it was written as, or not what
    the database has · gap: an event of this worker is missing · truncated: its newest are."""
    events: int
    foreign: int
    """Lines that are no event: nobody vouches for them."""
    first_bad: int | None
    """Number of the first event that is altered or missing."""


def check_copy(path: Path, actor: str) -> CopyVerdict:
    """Compare a worker's copy with itself and with the database. `actor` is how its events name it. A query for 500 events."""
    events: dict[int, AuditEvent] = {}
    foreign, torn, first_bad = 0, False, None
    for terminated, event in _lines(path):
        if event is None:
            foreign, torn = foreign + terminated, not terminated
        elif audit.digest_of(event) != event.digest:
            first_bad = min(first_bad or event.number, event.number)
        else:
            events[event.number] = event
    altered = _other_in_database(events)
    first_bad = min([one for one in (first_bad, altered) if one is not None], default=None)
    if first_bad is not None:
        return CopyVerdict("altered", len(events), foreign, first_bad)
    missing = _missing(events, actor)
    if missing is not None:
        return CopyVerdict("truncated" if missing > max(events) else "gap", len(events), foreign, missing)
    return CopyVerdict("torn_tail" if torn else "intact", len(events), foreign, None)


def _lines(path: Path) -> Iterator[tuple[bool, AuditEvent | None]]:
    """Give every line that is not blank: whether it ends, and its event where it is one."""
    with path.open("rb") as opened:
        for line in split_lines(iter(lambda: opened.read(1 << 16), b"")):
            if line.data.strip():
                yield line.terminated, _event(line.data)


def _event(raw: bytes) -> AuditEvent | None:
    judged = strict.judge(raw, needs_id=False, find_id=lambda _: None)
    given: Any = judged.value
    if judged.refused or given.keys() != _COLUMNS:
        return None
    try:
        at, uid = datetime.fromisoformat(given["at"]), UUID(given["store_uid"]) if given["store_uid"] else None
    except (TypeError, ValueError):
        return None
    texts = ("event", "actor_label", "object_label", "store_slug", "through", "previous_digest", "digest")
    if not isinstance(given["number"], int) or not isinstance(given["detail"], dict) or at.tzinfo is None:
        return None
    if not all(isinstance(given[name], str) for name in texts):
        return None
    return AuditEvent(number=given["number"], at=at, store_uid=uid, detail=given["detail"], **{name: given[name] for name in texts})


def _other_in_database(events: dict[int, AuditEvent]) -> int | None:
    numbers = sorted(events)
    for start in range(0, len(numbers), _BATCH):
        batch = numbers[start : start + _BATCH]
        there = dict(AuditEvent.objects.filter(number__in=batch).values_list("number", "digest"))
        for number in batch:
            if there.get(number) != events[number].digest:
                return number
    return None


def _missing(events: dict[int, AuditEvent], actor: str) -> int | None:
    """Give the first event that the database has of the worker since its copy began, and that the copy lacks."""
    if not events:
        return None
    mine = AuditEvent.objects.filter(through="worker", actor_label=actor, number__gte=min(events)).order_by("number")
    return next((number for number in mine.values_list("number", flat=True).iterator() if number not in events), None)
