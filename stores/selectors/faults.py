"""Faults of one store, grouped by file, with the bytes of the one that is open."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from django.db.models import Count, F, Min, Q, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber

from stores.errors import NotFound
from stores.formats.record_keys import record_key
from stores.mirror.record_types import RECORD_TYPES
from stores.models import Fault, RefusedLine, SourceFile, Store, acknowledgements
from stores.review.repairs import SAFE, may_be_proposed
from stores.selectors import byte_view
from stores.selectors.byte_view import LineView
from stores.selectors.fault_words import diagnostic_mending, mending, place_words, repair_words

PER_GROUP = 100
GROUPS = 20
FOLDED_FROM = 4
"""So many findings of one code in one file, none of them an error, stand as one row."""
_HASH = re.compile(r"[0-9a-f]{16}")
SEVERITIES = ("error", "warning", "info")


class FaultFilter(NamedTuple):
    """Which faults a page asks for; "" means all."""

    severity: str = ""
    path: str = ""
    code: str = ""
    page: int = 1


class Neighbour(NamedTuple):
    """The line before or after a refused one: its number, its first bytes and its length."""

    line: int
    view: LineView
    size: str


class FaultBytes(NamedTuple):
    """The bytes at a fault."""

    line: int
    view: LineView
    size: str
    before: Neighbour | None
    after: Neighbour | None
    place: str
    """"byte 611: one object ended here", "" where no exact place is known."""


class Acknowledged(NamedTuple):
    """That a person has seen the fault and lets it be."""

    by: str
    at: datetime
    note: str


class FaultRow(NamedTuple):
    """One fault as a page shows it."""

    fault: Fault
    place: str
    """Line number, or "file"."""
    repair: str
    """What would mend it, and whether that needs a review."""
    mending: str
    """What a repair does, in sentences."""
    acknowledged: Acknowledged | None
    is_open: bool
    opened: FaultBytes | None
    """Its bytes, of an open fault whose bytes the mirror keeps."""
    alike: int = 0
    """How many more of its code the file has that this row stands for."""

    @property
    def may_be_proposed(self) -> bool:
        """Whether its repair can be proposed as it is."""
        return self.acknowledged is None and may_be_proposed(self.fault)


class FaultGroup(NamedTuple):
    """The faults of one file."""

    path: str
    file: SourceFile | None
    total: int
    rows: list[FaultRow]

    @property
    def more(self) -> int:
        """How many faults are neither shown nor stood for by a row."""
        return self.total - sum(1 + row.alike for row in self.rows)


class FaultPage(NamedTuple):
    """What the faults tab shows."""

    groups: list[FaultGroup]
    left_out: int
    """Files with faults beyond the first GROUPS."""
    by_severity: list[tuple[str, int]]
    total: int
    """All faults of the store under the file and code filter."""
    matching: int
    listed: int
    """Rows that these take, as some stand for several."""
    paths: list[tuple[str, int]]
    """Every file with faults and their number, for the file filter."""
    pages: int
    """Of the one file that is filtered for; 1 else."""
    safe: int
    """Faults, under the file and code filter, that are mended without a review."""


def fault_page(store: Store, files: Iterable[SourceFile], chosen: FaultFilter, open_id: int | None) -> FaultPage:
    """Give the faults tab: 2 queries, and at most 2 more when a fault is open."""
    by_path: dict[str, Counter[str]] = defaultdict(Counter)
    kinds: list[_Kind] = []
    counted = Fault.objects.filter(store=store).order_by()
    if chosen.code:
        counted = counted.filter(code=chosen.code)
    for row in counted.values_list("path", "severity", "code").annotate(n=Count("pk"), first=Min("pk"), safe=Count("pk", filter=SAFE)):
        kinds.append(_Kind(*row))
        by_path[kinds[-1].path][kinds[-1].severity] += kinds[-1].number
    in_path = [path for path in by_path if chosen.path in ("", path)]
    by_severity = [(severity, sum(by_path[path][severity] for path in in_path)) for severity in SEVERITIES]

    def number(path: str) -> int:
        return by_path[path][chosen.severity] if chosen.severity else by_path[path].total()

    file_of = {file.path: file for file in files}
    order = {path: place for place, path in enumerate(file_of)}
    shown = sorted((path for path in in_path if number(path)), key=lambda path: (order.get(path, len(order)), path))
    folded = {kind.first: kind for kind in kinds if kind.path in shown[:GROUPS] and _is_folded(kind, chosen)}
    faults = _faults(counted, chosen, shown[:GROUPS], folded, open_id)
    extra = Counter((fault.path, fault.severity, fault.code) for fault in faults)
    rows: dict[str, list[FaultRow]] = defaultdict(list)
    for fault in faults:
        kind = folded.get(fault.pk)
        alike = kind.number - extra[kind[:3]] if kind else 0
        rows[fault.path].append(_row(fault, fault.pk == open_id)._replace(alike=alike))
    matching = sum(number(path) for path in shown)
    listed = matching - sum(kind.number - 1 for kind in folded.values())
    return FaultPage(
        groups=[FaultGroup(path, file_of.get(path), number(path), rows[path]) for path in shown[:GROUPS]],
        left_out=max(0, len(shown) - GROUPS),
        by_severity=by_severity,
        total=sum(n for _, n in by_severity),
        matching=matching,
        listed=listed,
        paths=sorted((path, numbers.total()) for path, numbers in by_path.items()),
        pages=max(1, -(-listed // PER_GROUP)) if chosen.path else 1,
        safe=sum(kind.safe for kind in kinds if chosen.path in ("", kind.path)),
    )


class _Kind(NamedTuple):
    """The faults of one file that have the same code."""

    path: str
    severity: str
    code: str
    number: int
    first: int
    """Id of the one that was found first."""
    safe: int
    """How many of them are mended without a review."""


def _is_folded(kind: _Kind, chosen: FaultFilter) -> bool:
    """Say whether one row stands for all of them: not where they are asked for, and never for what agents cannot read."""
    return not chosen.code and kind.severity != "error" and kind.number >= FOLDED_FROM and chosen.severity in ("", kind.severity)


def _faults(
    counted: QuerySet[Fault], chosen: FaultFilter, paths: list[str], folded: Mapping[int, _Kind], open_id: int | None
) -> list[Fault]:
    """Give the faults to show: a page of the one file that is filtered for, else the first ones of each file. One query."""
    faults = _with_acknowledgement(counted.filter(path__in=paths))
    if chosen.severity:
        faults = faults.filter(severity=chosen.severity)
    if folded:
        stands_for_itself = Q(pk__in=[*folded, *([open_id] if open_id else [])])
        in_a_fold = [Q(path=kind.path, severity=kind.severity, code=kind.code) for kind in folded.values()]
        faults = faults.filter(stands_for_itself | ~reduce(or_, in_a_fold))
    if chosen.path:
        start = (max(1, chosen.page) - 1) * PER_GROUP
        return list(faults.order_by("rank", "line", "id")[start : start + PER_GROUP])
    numbered = faults.annotate(place_in_file=Window(RowNumber(), partition_by=F("path"), order_by=("rank", "line", "id")))
    return list(numbered.filter(place_in_file__lte=PER_GROUP).order_by("path", "rank", "line", "id"))


def find_fault(store: Store, fault_id: int) -> FaultRow:
    """Give one fault of the store, opened; raises NotFound. At most 3 queries."""
    fault = _with_acknowledgement(Fault.objects.filter(store=store, pk=fault_id)).first()
    if fault is None:
        raise NotFound("The last import did not find this fault any more, or it never was. The store's faults are listed on its page.")
    return _row(fault, True)


def faults_of_line(file_id: int, line: int) -> list[FaultRow]:
    """Give the faults of one line of a file, worst first, at most 20. One query."""
    return [_row(fault, False) for fault in _with_acknowledgement(Fault.objects.filter(file_id=file_id, line=line))[:20]]


def faults_of_file(file_id: int, path: str) -> list[FaultRow]:
    """Give the faults of a file, or of one file of a folder of record files, worst first, at most 20. One query."""
    return [_row(fault, False) for fault in _with_acknowledgement(Fault.objects.filter(file_id=file_id, path=path))[:20]]


def _row(fault: Fault, is_open: bool) -> FaultRow:
    at: datetime | None = getattr(fault, "acknowledged_at", None)
    by = getattr(fault, "acknowledged_by", None) or "an account that is gone"
    lines = fault.file.line_count if fault.file else 0
    return FaultRow(
        fault=fault,
        place=f"{fault.line:,}" if fault.line is not None else "file",
        repair=repair_words(fault.repair_mode, fault.repair_action),
        mending=diagnostic_mending(fault.code, fault.repair_mode)
        if fault.is_diagnostic
        else mending(fault.code, fault.repair_mode, fault.repair_action, details(fault), lines),
        acknowledged=Acknowledged(by, at, getattr(fault, "acknowledged_note", "")) if at else None,
        is_open=is_open,
        opened=bytes_of(fault) if is_open else None,
    )


def _with_acknowledgement(faults: QuerySet[Fault]) -> QuerySet[Fault]:
    """Add `acknowledged_at`, `acknowledged_by` and `acknowledged_note`, None where nobody did, and load the file."""
    same = acknowledgements()
    return faults.select_related("file").annotate(
        acknowledged_at=Subquery(same.values("at")[:1]),
        acknowledged_by=Subquery(same.values("by__username")[:1]),
        acknowledged_note=Subquery(same.values("note")[:1]),
    )


def details(fault: Fault) -> dict[str, object]:
    """Give a fault's details; {} where they are no object."""
    try:
        parsed = json.loads(fault.details)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def bytes_of(fault: Fault) -> FaultBytes | None:
    """Give the bytes of a fault's line from the mirror, None where it has none: at most 2 queries."""
    if fault.file_id is None or fault.line is None:
        return None
    text = _text_of_record(fault) if fault.subject_type != "line" else None
    if text is not None:
        return _opened(fault, bytes(text.raw), text.record.length)
    refused = RefusedLine.objects.filter(file_id=fault.file_id, line=fault.line).order_by("-id").first()
    if refused is None:
        return None
    return _opened(fault, bytes(refused.raw), refused.length)._replace(
        before=_neighbour(fault.line - 1, bytes(refused.before), refused.before_length),
        after=_neighbour(fault.line + 1, bytes(refused.after), refused.after_length),
    )


def _opened(fault: Fault, raw: bytes, length: int) -> FaultBytes:
    column = details(fault).get("column")
    column = column if isinstance(column, int) and column > 0 else None
    return FaultBytes(
        line=fault.line or 0,
        view=byte_view.line_view(raw, column),
        size=f"{length:,} B",
        before=None,
        after=None,
        place=place_words(column, fault.code),
    )


def _text_of_record(fault: Fault) -> Any:
    """Give the text of the record on whose line a fault stands, None where there is none.

    One query, by the record's key, as lines have no index.
    """
    kind = fault.subject_type if fault.subject_type in RECORD_TYPES else fault.file.record_type if fault.file else ""
    if kind not in RECORD_TYPES or fault.file_id is None:
        return None
    keys = set()
    if fault.subject_id:
        keys.add(record_key(fault.subject_id, b""))
    if _HASH.fullmatch(fault.key):
        keys.add(record_key("", bytes.fromhex(fault.key)))
    texts: Any = RECORD_TYPES[kind].model.text_model._default_manager
    place = {"record__file_id": fault.file_id, "record__key__in": keys, "record__line": fault.line}
    return texts.select_related("record").filter(**place, record__gone_at__isnull=True).first()


def _neighbour(line: int, head: bytes, length: int | None) -> Neighbour | None:
    return None if length is None else Neighbour(line, byte_view.line_view(head), f"{length:,} B")
