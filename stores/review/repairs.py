"""Proposes what mends the faults of a store: one of them, or all that can be mended without anybody's decision."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Final

from django.db.models import Q

from stores.formats.phase_memory.aliases import Record
from stores.lifecycle.vocabulary import ORCHESTKIT, PHASE_MEMORY, VERBS
from stores.models import Fault, Store
from stores.review import line_planning, repair_planning

_END_LINE: Final = "append_newline"
_MOST: Final = 5_000
_ELSEWHERE: Final = frozenset({"choose_merge_target", "correct_path_state", "drain_queue", "archive_queue"})
"""Proposed on the page of the path, where a person chooses, and on that of the queue."""
_VERBS: Final = frozenset(name for verbs in VERBS.values() for name in verbs) - _ELSEWHERE


SAFE: Final = Q(repair_mode="safe", repair_action__in=sorted(_VERBS), pending=False, closed_in_store=False)
"""Faults that are mended without a review."""


def may_be_proposed(fault: Fault) -> bool:
    """Say whether the repair of a fault can be proposed as it is."""
    open_ = not (fault.pending or fault.closed_in_store)
    return open_ and fault.repair_mode in ("safe", "review") and fault.repair_action in _VERBS


def repair_of(store: Store, fault: Fault, now: datetime) -> list[Record]:
    """Give the proposal that mends one fault; none where the mirror does not hold what it takes."""
    if not may_be_proposed(fault):
        return []
    return _planned(store, now, (fault.pk,)) or _line_ends([fault])


def safe_repairs(store: Store, now: datetime) -> list[Record]:
    """Give the proposals that mend every fault for which no review is needed."""
    found = list(Fault.objects.filter(SAFE, store=store).order_by("path", "line", "id")[:_MOST])
    if not found:
        return []
    planned = _planned(store, now, [fault.pk for fault in found]) if store.kind == PHASE_MEMORY else _line_ends(found)
    return [action for action in planned if action.get("requires_review") is False]


def _planned(store: Store, now: datetime, only: Collection[int]) -> list[Record]:
    if store.kind == PHASE_MEMORY:
        return repair_planning.planned(store, only).actions
    return line_planning.planned(store, now, only).actions if store.kind == ORCHESTKIT else []


def _line_ends(faults: Collection[Fault]) -> list[Record]:
    """Propose the missing line breaks at the end of logs, each once."""
    paths = dict.fromkeys(fault.path for fault in faults if fault.repair_action == _END_LINE)
    return [
        {
            "action": _END_LINE,
            "target_type": "file",
            "target_ids": [path],
            "reason": "its last line has no line break",
            "requires_review": False,
        }
        for path in paths
    ]
