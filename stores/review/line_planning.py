"""Plans for stores of line files, from the faults of the mirror: each proposes what its repair says, on exactly its line."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final, NamedTuple

from stores.formats.orchestkit import decisions, queue
from stores.formats.phase_memory.reading import LONGEST_ID
from stores.lifecycle.orchestkit.planner import Double, FaultyLine, Waiting, planned_actions
from stores.mirror.record_types import RECORD_TYPES
from stores.models import Decision, Fault, QueueOperation, RefusedLine, SourceFile, Store
from stores.review.found import Found

MOST_FAULTS: Final = 5_000
"""More faults of one store are no work for single actions."""
MOST_QUEUED: Final = 20_000
WAITED: Final = timedelta(hours=24)
"""So long an operation has to wait until a drain is proposed: before that the agents' own drain may come."""
_BATCH: Final = 500


class _Place(NamedTuple):
    file_id: int
    line: int


class _Line(NamedTuple):
    sha256: bytes
    natural_id: str


def planned(store: Store, now: datetime, only: Collection[int] = ()) -> Found:
    """Propose what mends the faults of a store, takes out doubles and drains a queue that waits; `only` what mends some, by their keys."""
    left_out: list[str] = []
    wanted = ("repair_lines", "set_aside_lines", "merge_duplicates")
    faults = Fault.objects.filter(store=store, repair_mode="review", repair_action__in=wanted, pending=False, file__isnull=False)
    if only:
        faults = faults.filter(pk__in=list(only))
    found = list(faults.order_by("rank", "path", "line", "id").select_related("file")[: MOST_FAULTS + 1])
    if len(found) > MOST_FAULTS:
        left_out.append(f"Only the first {MOST_FAULTS:,} faults were planned for.")
        found = found[:MOST_FAULTS]
    doubles = {fault.pk: _other_line(fault) for fault in found if fault.repair_action == "merge_duplicates"}
    places = {_Place(fault.file_id or 0, fault.line or 0) for fault in found}
    places |= {_Place(fault.file_id or 0, doubles[fault.pk]) for fault in found if fault.pk in doubles}
    lines = _lines(places, {fault.file_id or 0: fault.file for fault in found if fault.file is not None})
    faulty: dict[tuple[str, str, int], FaultyLine] = {}
    for fault in found:
        line = lines.get(_Place(fault.file_id or 0, fault.line or 0))
        if line is not None and fault.pk not in doubles:
            key = (fault.path, fault.repair_action, fault.line or 0)
            codes = (*faulty[key].codes, fault.code) if key in faulty else (fault.code,)
            faulty[key] = FaultyLine(fault.path, fault.repair_action, fault.line or 0, line.sha256, codes)
    return Found(planned_actions(faulty.values(), _doubles(found, doubles, lines), None if only else _waiting(store, now)), left_out)


def _other_line(fault: Fault) -> int:
    other = json.loads(fault.details).get("other_line")
    return other if isinstance(other, int) else 0


def _doubles(faults: list[Fault], others: dict[int, int], lines: dict[_Place, _Line]) -> Iterable[Double]:
    pairs = []
    file_id = 0
    for fault in faults:
        one, other = (lines.get(_Place(fault.file_id or 0, number)) for number in (others.get(fault.pk, 0), fault.line or 0))
        if fault.pk in others and fault.path == decisions.PATH and one is not None and other is not None:
            pairs.append((one, other))
            file_id = fault.file_id or 0
    shared = _shared_ids(file_id, {line.natural_id for pair in pairs for line in pair}) if pairs else frozenset()
    for one, other in pairs:
        if one.sha256 != other.sha256:
            yield Double(_name(one, shared), one.sha256, _name(other, shared), other.sha256)


def _name(line: _Line, shared: frozenset[str]) -> str:
    """Name a decision by its id, or by its line where the id is none or another's too."""
    is_id = bool(line.natural_id) and len(line.natural_id) <= LONGEST_ID and line.natural_id not in shared
    return line.natural_id if is_id else line.sha256.hex()


def _shared_ids(file_id: int, ids: Iterable[str]) -> frozenset[str]:
    met: set[str] = set()
    shared: set[str] = set()
    listed = sorted(ids)
    for start in range(0, len(listed), _BATCH):
        rows = Decision.objects.filter(file_id=file_id, gone_at__isnull=True, natural_id__in=listed[start : start + _BATCH])
        for natural_id in rows.values_list("natural_id", flat=True):
            (shared if natural_id in met else met).add(natural_id)
    return frozenset(shared)


def _lines(places: set[_Place], files: dict[int, SourceFile]) -> dict[_Place, _Line]:
    """Look up lines of files: two queries for 500 of one file."""
    found: dict[_Place, _Line] = {}
    for file_id, file in files.items():
        numbers = sorted(place.line for place in places if place.file_id == file_id)
        for start in range(0, len(numbers), _BATCH):
            batch = numbers[start : start + _BATCH]
            refused = RefusedLine.objects.filter(file=file, line__in=batch).order_by("id")
            rows: Any = [(line, name, "") for line, name in refused.values_list("line", "sha256")]
            if file.record_type in RECORD_TYPES:
                records: Any = RECORD_TYPES[file.record_type].model._default_manager
                live = records.filter(file=file, line__in=batch, gone_at__isnull=True)
                rows += list(live.values_list("line", "sha256", "natural_id"))
            found |= {_Place(file_id, line): _Line(bytes(name), natural_id) for line, name, natural_id in rows}
    return found


def _waiting(store: Store, now: datetime) -> Waiting | None:
    """Give the queue of a store if it has waited long enough and the mirror keeps all of its bytes."""
    file = SourceFile.objects.filter(store=store, path=queue.PATH, exists=True, state="ok").first()
    if file is None:
        return None
    live = QueueOperation.objects.filter(file=file, gone_at__isnull=True)
    waited_ms = int((now - WAITED).timestamp() * 1000)
    if not live.filter(at_ms__gt=0, at_ms__lte=waited_ms).exists() or live.count() > MOST_QUEUED:
        return None
    pieces = [(offset, bytes(raw), length) for offset, raw, length in live.values_list("offset", "text__raw", "length")]
    operations = len(pieces)
    refused = RefusedLine.objects.filter(file=file).values_list("offset", "raw", "length")
    pieces += [(offset, bytes(raw), length) for offset, raw, length in refused[: MOST_QUEUED + 1]]
    name = _hash_of(sorted(pieces), file.size_bytes)
    return Waiting(name, operations) if name else None


def _hash_of(pieces: list[tuple[int, bytes, int]], size: int) -> bytes:
    """Hash a file from its lines; b"" where they are not all of it."""
    whole, place = sha256(), 0
    for offset, raw, length in pieces:
        if offset != place or len(raw) != length:
            return b""
        whole.update(raw)
        place += length
        if place < size:
            whole.update(b"\n")
            place += 1
    return whole.digest() if place == size else b""
