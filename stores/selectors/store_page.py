"""The frame of a store's page: head, verdict, tabs with their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.urls import reverse

from stores import display
from stores.accounts import Visitor, visible_stores
from stores.errors import NotFound, UnknownStore
from stores.formats import KINDS
from stores.lists.registry import SPECS
from stores.mirror.record_types import RECORD_TYPES
from stores.models import Condition, Fault, MirroredRecord, SourceFile, Store, Task
from stores.selectors import stores as store_facts
from stores.selectors import verdicts, wording
from stores.selectors.record_words import RECORD_WORDS, RecordWords
from stores.selectors.stores import Facts, Holding, Reason
from stores.selectors.verdicts import Freshness, JudgedStore
from stores.selectors.walks import Row, Sql, at_once

NEWEST = 8
_TIERS = ("graph", "mem0", "fabric")
FILES_A_PAGE = 100
FILES_SHOWN = 5
_EVERYWHERE = frozenset({"decision", "queue_operation", "problem"})
"""Types that are spoken of also where a store holds none."""

TABS = (
    ("records", "Records", "store_detail"),
    ("faults", "Faults", "store_faults"),
    ("backlog", "Backlog", "store_backlog"),
    ("phases", "Phases", "store_phases"),
    ("paths", "Paths", "store_paths"),
    ("graph", "Graph", "store_graph"),
    ("health", "Health", "store_health_tab"),
    ("told", "Told to agents", "store_told"),
    ("changes", "Changes", "store_changes"),
    ("files", "Files", "store_files"),
    ("raw", "Raw", "store_raw"),
)

NEEDED = {"backlog": "queue_operation", "graph": "graph_entity", "told": "decision", "phases": "node", "paths": "path"}
"""Tabs of kinds that have a type of record."""


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab of the page; `count` is None where there is nothing to count."""

    label: str
    url: str
    count: int | None
    current: bool


class Band(NamedTuple):
    """What a verdict band says."""

    state: str
    sentence: str
    reasons: list[Reason]
    when: datetime | None
    text: str = ""


class ClassicTier(NamedTuple):
    """One tier of the kind's own health check."""

    name: str
    status: str
    message: str


class Classic(NamedTuple):
    """What the kind's own tool would say (ruling 28)."""

    tool: str
    overall: str
    tiers: list[ClassicTier]

    @property
    def sentence(self) -> str:
        """All of it in one sentence."""
        tiers = ", ".join(f"{tier.name} {tier.status}" for tier in self.tiers)
        return f"{self.tool} itself would say: {self.overall}" + (f" ({tiers})" if tiers else "")


class StoreFrame(NamedTuple):
    """What every tab of a store's page shows around its content."""

    judged: JudgedStore
    kind: str
    facts: Facts
    band: Band
    classic: Classic | None
    tabs: list[Tab]
    freshness: Freshness
    open_import: Task | None
    """An import that somebody asked for and that is not done."""

    @property
    def store(self) -> Store:
        """The store itself."""
        return self.judged.store

    @property
    def conditions(self) -> list[Condition]:
        """Its conditions, in the kind's order."""
        return self.facts.conditions[self.store.pk]

    @property
    def line_files(self) -> list[SourceFile]:
        """Its files that hold records."""
        return self.facts.files[self.store.pk]

    @property
    def is_measured(self) -> bool:
        """Whether its mirror was ever filled."""
        return self.store.imported_at is not None


def store_frame(user: Visitor, slug: str, tab: str, now: datetime) -> StoreFrame:
    """Give the frame of a visible store; raises UnknownStore, and NotFound for a tab that its kind does not have. 4 queries."""
    counted = Fault.objects.filter(store=OuterRef("pk")).order_by().values("store").annotate(number=Count("pk")).values("number")
    imports = Task.objects.filter(store=OuterRef("pk"), kind="import", state__in=["waiting", "running"]).order_by("-id")
    store = (
        visible_stores(user)
        .select_related("worker")
        .annotate(
            fault_count=Subquery(counted),
            open_import=Subquery(imports.values("pk")[:1]),
            open_import_state=Subquery(imports.values("state")[:1]),
            open_import_started=Subquery(imports.values("started_at")[:1]),
        )
        .filter(slug=slug)
        .first()
    )
    if store is None:
        raise UnknownStore("No store has this name in its address, or none that your account may see.")
    if tab in NEEDED and NEEDED[tab] not in store_facts.record_types(store):
        raise NotFound(f"A store of {store_facts.kind_title(store)} has no such page.")
    judged = verdicts.judge(store, now)
    facts = Facts([store.pk], every_file=True)
    return StoreFrame(
        judged=judged,
        kind=store_facts.kind_title(store),
        facts=facts,
        band=_band(judged, facts.conditions[store.pk], now),
        classic=_classic(store),
        tabs=_tabs(store, facts, store.fault_count or 0, tab),
        freshness=verdicts.freshness(store.worker, store.imported_at, now),
        open_import=_open_import(store),
    )


def _open_import(store: Any) -> Task | None:
    if store.open_import is None:
        return None
    return Task(
        pk=store.open_import,
        kind="import",
        worker=store.worker,
        store=store,
        state=store.open_import_state,
        started_at=store.open_import_started,
    )


def _band(judged: JudgedStore, conditions: list[Condition], now: datetime) -> Band:
    reasons = store_facts.reasons(judged, conditions, now)
    if judged.verdict == "healthy":
        reasons = [
            Reason(one.message, store_facts.condition_url(judged.store, one), one.status) for one in conditions if one.status == "note"
        ]
    told = [one for one in reasons if one.text not in judged.sentence]
    classic = _classic(judged.store)
    return Band(
        judged.verdict,
        _sentence(judged),
        told,
        judged.store.measured_at,
        classic.sentence if classic and judged.verdict != "unmeasured" else "",
    )


def _sentence(judged: JudgedStore) -> str:
    """Give verdict and cause as one sentence: "Degraded: the oldest operation has waited 4 d"."""
    verdict, cause = judged.verdict.capitalize(), judged.sentence
    if not cause or cause.casefold() == judged.verdict:
        return verdict
    if cause.casefold().startswith(judged.verdict):
        return cause[:1].upper() + cause[1:]
    if cause[1:2].islower():
        cause = cause[:1].lower() + cause[1:]
    return f"{verdict}{',' if judged.verdict == 'healthy' else ':'} {cause}"


def _classic(store: Store) -> Classic | None:
    tiers: Any = store.classic.get("tiers") if isinstance(store.classic, dict) else None
    if not isinstance(tiers, Mapping):
        return None
    told = [
        ClassicTier(name, str(tier.get("status", "")), str(tier.get("message", "")))
        for name, tier in sorted(tiers.items(), key=_tier_order)
    ]
    return Classic(store_facts.kind_title(store), str(store.classic.get("overall", "")), told)


def _tier_order(tier: tuple[str, object]) -> tuple[int, str]:
    """Keep the tool's own order: PostgreSQL gives the keys of a JSON object in another one."""
    return _TIERS.index(tier[0]) if tier[0] in _TIERS else len(_TIERS), tier[0]


def _tabs(store: Store, facts: Facts, faults: int, current: str) -> list[Tab]:
    holdings = [facts.holding(store.pk, record_type) for record_type in store_facts.record_types(store)]
    records = sum(holding.number for holding in holdings)
    queue = next((holding for holding in holdings if holding.record_type == "queue_operation"), None)
    counts = {
        "records": records if records or (store.imported_at and all(holding.is_known for holding in holdings)) else None,
        "faults": faults,
        "backlog": queue.number if queue and store.imported_at and queue.is_known else None,
        "health": len(facts.conditions[store.pk]),
        "files": store.file_count,
    }
    held = {holding.record_type: holding.number for holding in holdings}
    counts["paths"] = held.get("path") or None
    offered = [tab for tab in TABS if tab[0] not in NEEDED or NEEDED[tab[0]] in held]
    return [Tab(label, reverse(name, args=[store.slug]), counts.get(key), key == current) for key, label, name in offered]


class NewestRecord(NamedTuple):
    """One of the newest records of a type."""

    title: str
    line: int
    faults: int
    at_ms: int
    url: str


class RecordSection(NamedTuple):
    """One type of record in the store: how many, and the newest."""

    words: RecordWords
    holding: Holding
    url: str
    """The list of all of them."""
    newest: list[NewestRecord]
    files: list[SourceFile]
    """Files of it that every store has, and some of those with trouble."""


def record_sections(frame: StoreFrame) -> list[RecordSection]:
    """Give the record types of the store with their newest records: those that every store has, and those of which it holds any. One query."""
    store, shown = frame.store, []
    expected = KINDS[store.kind].expected if store.kind in KINDS else frozenset()
    for record_type in store_facts.record_types(store):
        files = [file for file in frame.line_files if file.record_type == record_type and (file.path in expected or file.is_troubled)]
        holding = frame.facts.holding(store.pk, record_type)
        if files or holding.number or record_type in _EVERYWHERE:
            shown.append((record_type, holding, files[:FILES_SHOWN]))
    newest = at_once([_newest(store, record_type) if holding.number else None for record_type, holding, _ in shown])
    return [
        RecordSection(
            words=RECORD_WORDS[record_type],
            holding=holding,
            url=_list_url(store, record_type),
            newest=[_newest_record(record_type, row) for row in rows],
            files=files,
        )
        for (record_type, holding, files), rows in zip(shown, newest, strict=True)
    ]


def _list_url(store: Store, record_type: str) -> str:
    """Give the list of all live records of a type in a store, also those that the list leaves out at first."""
    every = "&all=1" if any(spec.record_type == record_type and spec.narrowed for spec in SPECS.values()) else ""
    return f"{reverse(RECORD_WORDS[record_type].list_name)}?store={store.slug}{every}"


def _newest(store: Store, record_type: str) -> Sql:
    found = newest_records(store, record_type).values_list("pk", "title", "line", "fault_count", "at_ms")[:NEWEST]
    sql, parameters = found.query.sql_with_params()
    return sql, list(parameters)


def _newest_record(record_type: str, row: Row) -> NewestRecord:
    pk, title, line, faults, at_ms = row
    return NewestRecord(
        title, line, faults, at_ms, reverse(f"{RECORD_WORDS[record_type].list_name.removesuffix('_list')}_detail", args=[pk])
    )


def newest_records(store: Store, record_type: str) -> QuerySet[MirroredRecord]:
    """Give the live records of a type, newest first by their own word."""
    return RECORD_TYPES[record_type].model._default_manager.filter(store=store, gone_at__isnull=True).order_by("-at_ms", "-id")


class FileRow(NamedTuple):
    """One source file as the files tab shows it."""

    file: SourceFile
    state: str
    """The shape."""
    words: str
    lines: str
    """"410 records, 2 refused, 1 blank", "" for files whose lines nobody reads."""
    modified_at: datetime | None


_FILE_STATES = {
    "ok": ("ok", "read"),
    "importing": ("note", "being read"),
    "unreadable": ("failing", "cannot be read"),
    "missing": ("late", "not there"),
    "too_large": ("failing", "too large to read"),
    "symlink": ("failing", "a link, not followed"),
    "not_regular": ("failing", "no regular file"),
    "listed": ("superseded", "not read by this kind"),
}


def file_rows(store: Store, page: int) -> tuple[list[FileRow], bool]:
    """Give a page of the store's files in the order of their paths, and whether more follow: one query."""
    start = (max(1, page) - 1) * FILES_A_PAGE
    files = list(store.files.defer("reader_state").order_by("path")[start : start + FILES_A_PAGE + 1])
    return [_file_row(file) for file in files[:FILES_A_PAGE]], len(files) > FILES_A_PAGE


def _file_row(file: SourceFile) -> FileRow:
    state, words = _FILE_STATES.get(file.state, ("note", file.state))
    if file.state == "importing":
        words = f"being read, {file.share_read:.0%} done"
    if file.state == "missing" and file.read_at is None:
        state = "superseded"
    classes = (
        (file.readable_lines, "record", "records"),
        (file.lines_refused + file.tail_refused, "refused", "refused"),
        (file.tail_pending, "pending", "pending"),
        (file.lines_blank + file.tail_blank, "blank", "blank"),
    )
    lines = ", ".join(wording.counted(count, one, many) for count, one, many in classes if count) if file.record_type else ""
    modified_at = display.moment_of(file.mtime_ns // 1_000_000)
    return FileRow(file, state, words, lines or ("no line" if file.record_type and file.exists else ""), modified_at)
