"""Plans the repairs of a phase-memory store from the faults of its mirror."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, TypeVar

from stores.formats.phase_memory.aliases import Record, unwrapped
from stores.formats.phase_memory.layout import EVENTS
from stores.formats.phase_memory.reading import read_record
from stores.formats.phase_memory.values import references
from stores.formats.record_keys import record_key
from stores.lifecycle.phase_memory.repair_planner import RepairFault, RepairStore, planned_repairs
from stores.models import Edge, Event, EventUpdate, Fault, MemoryPath, Node, RecordFile, Store, acknowledged
from stores.review.found import Found

MOST_FAULTS: Final = 5_000
_BATCH: Final = 500
_MODELS: Final[dict[str, type[Node] | type[Edge] | type[MemoryPath]]] = {"node": Node, "edge": Edge, "path": MemoryPath}
_OF_EVENT_LISTS: Final = frozenset({"path_event_missing", "path_event_order", "event_path_unlisted"})
_RING: Final = "path_parent_cycle"
_Item = TypeVar("_Item")


def planned(store: Store, only: Collection[int] = ()) -> Found:
    """Propose what mends the faults of a store that nobody has acknowledged, where that needs no choice; `only` some, by their keys."""
    rows = Fault.objects.filter(
        ~acknowledged(), store=store, is_diagnostic=True, closed_in_store=False, pending=False, repair_mode__in=("safe", "review")
    ).order_by("rank", "path", "line", "id")
    if only:
        rows = rows.filter(pk__in=list(only))
    found = list(rows[: MOST_FAULTS + 1])
    left_out = [f"Only the first {MOST_FAULTS:,} faults were planned for."] if len(found) > MOST_FAULTS else []
    found = found[:MOST_FAULTS]
    hashes = _hashes(store, {row.path for row in found})
    faults = [RepairFault(row.code, row.path, row.subject_id, row.own_key or "", hashes.get(row.path) or _line_hash(row)) for row in found]
    rings = {member for fault in faults if fault.code == _RING for member in (fault.subject_id, *fault.key.split(">"))}
    records = _records(store, faults, rings)
    return Found(planned_repairs(faults, RepairStore(records, _event_lines(store, faults, records), _begun_lines(store, rings))), left_out)


def _line_hash(row: Fault) -> str:
    given = json.loads(row.details).get("sha256")
    return given if isinstance(given, str) else ""


def _hashes(store: Store, paths: set[str]) -> dict[str, str]:
    return {
        path: bytes(sha256).hex()
        for batch in _batches(sorted(paths))
        for path, sha256 in RecordFile.objects.filter(store=store, path__in=batch).values_list("path", "sha256")
    }


def _records(store: Store, faults: list[RepairFault], rings: set[str]) -> dict[tuple[str, str], Record]:
    """Give what the first record of each id says that a fault may be about: a query for 500 of one type."""
    ids = {fault.subject_id for fault in faults} | {fault.key for fault in faults if fault.code == "event_path_unlisted"} | rings
    keys = sorted(record_key(one, b"") for one in ids if one)
    found: dict[tuple[str, str], Record] = {}
    for record_type, model in _MODELS.items():
        live: Any = model._default_manager
        of_store = live.filter(store=store, gone_at__isnull=True, is_duplicate=False, unreadable_since__isnull=True)
        for batch in _batches(keys):
            rows = of_store.filter(file__record_type=record_type, file__store=store, key__in=batch)
            for raw in rows.order_by("path", "id").values_list("text__raw", flat=True):
                read = read_record(record_type, bytes(raw))
                if not read.refused:
                    found.setdefault((record_type, read.id), read.value)
    return found


def _event_lines(store: Store, faults: list[RepairFault], records: dict[tuple[str, str], Record]) -> dict[str, int]:
    """Give the line of each event of the paths whose lists are at fault; of a repeated id its first."""
    wanted: set[str] = set()
    for fault in faults:
        if fault.code in _OF_EVENT_LISTS:
            path_id = fault.key if fault.code == "event_path_unlisted" else fault.subject_id
            value = records.get(("path", path_id), {})
            wanted |= {fault.subject_id, *references(unwrapped("path", value).get("event_ids"))}
    keys = sorted(record_key(one, b"") for one in wanted if one)
    lines: dict[str, int] = {}
    for batch in _batches(keys):
        rows = Event.objects.filter(file__path=EVENTS, file__store=store, key__in=batch, gone_at__isnull=True)
        for name, line in rows.order_by("line").values_list("natural_id", "line"):
            lines.setdefault(name, line)
    return lines


def _begun_lines(store: Store, path_ids: set[str]) -> dict[str, int]:
    begun: dict[str, int] = {}
    for batch in _batches(sorted(path_ids)):
        rows = EventUpdate.objects.filter(store=store, target_type="path", target_id__in=batch, operation__in=("create", "branch"))
        for path_id, line in rows.order_by("record__line").values_list("target_id", "record__line"):
            begun.setdefault(path_id, line)
    return begun


def _batches(listed: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    for start in range(0, len(listed), _BATCH):
        yield listed[start : start + _BATCH]
