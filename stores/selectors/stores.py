"""What the overview, the list of stores and a store's page say about stores: three queries for any number of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from django.db.models import OuterRef, Q, Subquery
from django.urls import reverse

from stores import display
from stores.accounts import Visitor, visible_stores
from stores.errors import NotFound, UnknownStore
from stores.formats import KINDS
from stores.models import Condition, FacetCount, ImportRun, SourceFile, Store
from stores.selectors import verdicts, wording
from stores.selectors.record_words import RECORD_WORDS
from stores.selectors.verdicts import JudgedStore

QUEUE_CODES = ("queue_depth", "queue_oldest", "queue_undrained")
CANNOT_BE_READ = "cannot be read"
LISTED_FACETS = ("", "status", "standing")
"""The facets whose counts pages about stores show: all records, problems by status, queue operations by standing."""


class Reason(NamedTuple):
    """Why a store has its verdict, with the page that shows it."""

    text: str
    url: str
    status: str = ""


class Holding(NamedTuple):
    """How many records of one type a store holds, of how many lines of how many files."""

    record_type: str
    number: int
    readable: int
    lines: int
    words: str
    """"410 decisions", "cannot be read" where no reading of its file ever gave any."""
    is_known: bool
    as_of: datetime | None
    """When a file of it that cannot be read now was read last; None where all can be."""


class Facts:
    """Counts, line files and conditions of some stores, loaded by three queries.

    Of the files only those that every store has and those with something that cannot be read, unless `every_file` is asked for:
    a store may have one for each session.
    """

    def __init__(self, store_ids: Iterable[int], *, every_file: bool = False) -> None:
        ids = list(store_ids)
        self._counts: dict[tuple[int, str, str, str], int] = {
            (row[0], row[1], row[2], row[3]): row[4]
            for row in FacetCount.objects.filter(store_id__in=ids, facet__in=LISTED_FACETS).values_list(
                "store_id", "record_type", "facet", "value", "count"
            )
        }
        self.files: dict[int, list[SourceFile]] = defaultdict(list)
        files = SourceFile.objects.filter(store_id__in=ids).exclude(record_type="")
        if not every_file:
            expected = sorted(path for kind in KINDS.values() for path in kind.expected)
            files = files.filter(Q(path__in=expected) | SourceFile.TROUBLED)
        for file in files.defer("reader_state", "end_state").order_by("store_id", "path"):
            self.files[file.store_id].append(file)
        self.conditions: dict[int, list[Condition]] = defaultdict(list)
        for condition in Condition.objects.filter(store_id__in=ids).select_related("muted_by").order_by("store_id", "position", "id"):
            self.conditions[condition.store_id].append(condition)

    def count(self, store_id: int, record_type: str, facet: str = "", value: str = "") -> int:
        """Give how many live records of a type the store holds, of one facet value or of all."""
        return self._counts.get((store_id, record_type, facet, value), 0)

    def corrupt_lines(self, store_id: int) -> int:
        """Give how many lines of the store the kind's own reader rejects."""
        return sum(file.corrupt_lines for file in self.files[store_id])

    def holding(self, store_id: int, record_type: str) -> Holding:
        """Give what the store holds of a type."""
        files = [file for file in self.files[store_id] if file.record_type == record_type]
        count = self.count(store_id, record_type)
        unread = [file for file in files if file.cannot_be_read]
        is_known = bool(count) or not unread
        words = wording.counted(count, RECORD_WORDS[record_type].one, RECORD_WORDS[record_type].many) if is_known else CANNOT_BE_READ
        return Holding(
            record_type=record_type,
            number=count,
            readable=sum(file.readable_lines for file in files),
            lines=sum(file.line_count for file in files),
            words=words,
            is_known=is_known,
            as_of=min((file.read_at for file in unread if file.read_at), default=None) if is_known else None,
        )

    def condition(self, store_id: int, code: str) -> Condition | None:
        """Give the first condition of a code, or None where the store has none."""
        return next((one for one in self.conditions[store_id] if one.code == code), None)


class StoreRow(NamedTuple):
    """One store as the overview and the list of stores show it."""

    judged: JudgedStore
    kind: str
    state: str
    """The second line: why, or how many notes."""
    holds: str
    """"410 decisions", "not known", or "cannot be read"."""
    holds_known: bool
    holds_of: str
    """"of 412 lines" where the two differ, "as of 14:31" where the file cannot be read any more."""
    changed_at: datetime | None
    backlog: int | None
    """None: this store has no queue, or one that cannot be read."""
    backlog_words: str
    """What stands for the number where there is none; "as of 14:31" behind one whose file cannot be read any more."""
    oldest: str
    queue_fails: bool
    """Its queue is too deep, too old or not drained, and nobody muted that."""
    unreadable: int
    import_failed: str
    """Why its last import failed or was partial; "" when it did not."""
    worker_silent: bool

    @property
    def store(self) -> Store:
        """The store itself."""
        return self.judged.store


def kind_title(store: Store) -> str:
    """Give the name of the store's kind as people know it."""
    return KINDS[store.kind].title if store.kind in KINDS else store.kind


def record_types(store: Store) -> tuple[str, ...]:
    """Give the record types of the store's kind that have a list, the main one first."""
    if store.kind not in KINDS:
        return ()
    return tuple(dict.fromkeys(spec.record_type for spec in KINDS[store.kind].files if spec.record_type in RECORD_WORDS))


def stores_with_last_run(user: Visitor, now: datetime) -> list[JudgedStore]:
    """Give the stores of `judged_stores`, each with `last_run_status` and `last_run_error` of its newest import. One query."""
    newest = ImportRun.objects.filter(store=OuterRef("pk")).order_by("-started_at", "-id")
    stores = (
        visible_stores(user)
        .select_related("worker")
        .annotate(last_run_status=Subquery(newest.values("status")[:1]), last_run_error=Subquery(newest.values("error")[:1]))
    )
    return verdicts.worst_first(verdicts.judge(store, now) for store in stores)


def condition_url(store: Store, condition: Condition) -> str:
    """Give the page that shows what a condition counts: its faults where it counts faults, else its row on the health tab.

    What silences the injection is shown where the text is that agents are told, sessions without a decision where sessions are.
    """
    if condition.code == "injection_silenced":
        return reverse("store_told", args=[store.slug])
    if condition.code == "no_decisions_with_sessions":
        return f"{reverse('session_list', args=[store.slug])}?decisions=none"
    if condition.faults_code:
        path = f"&file={condition.path}" if condition.path and "/" not in condition.path and condition.path.isascii() else ""
        return f"{reverse('store_faults', args=[store.slug])}?code={condition.faults_code}{path}"
    return f"{reverse('store_health_tab', args=[store.slug])}#condition-{condition.pk}"


def is_muted(condition: Condition, now: datetime) -> bool:
    """Tell whether somebody muted the condition until later than `now`."""
    return condition.muted_until is not None and condition.muted_until > now


def reasons(judged: JudgedStore, conditions: Iterable[Condition], now: datetime) -> list[Reason]:
    """Give the causes of a verdict: the conditions that fail and are not muted; the silence of a worker for an unmeasured store."""
    store = judged.store
    if judged.verdict == "unmeasured":
        text = verdicts.silence(store.worker, now) if verdicts.is_silent(store.worker, now) else judged.sentence
        return [Reason(text, store.get_absolute_url(), "unmeasured")]
    return [
        Reason(one.message, condition_url(store, one), one.status)
        for one in conditions
        if one.status == "failing" and not is_muted(one, now)
    ]


def row_of(judged: JudgedStore, facts: Facts, now: datetime) -> StoreRow:
    """Put together the row of one store; `judged` is one of `stores_with_last_run`."""
    store, conditions = judged.store, facts.conditions[judged.store.pk]
    known = store.imported_at is not None and judged.verdict != "unavailable"
    types = record_types(store)
    holding = facts.holding(store.pk, types[0]) if types and known else None
    oldest = facts.condition(store.pk, "queue_oldest")
    has_queue = any(file.record_type == "queue_operation" and file.exists for file in facts.files[store.pk])
    queue = facts.holding(store.pk, "queue_operation")
    status = getattr(store, "last_run_status", None)
    return StoreRow(
        judged=judged,
        kind=kind_title(store),
        state=_state_text(judged, conditions, now),
        holds=holding.words if holding else display.NOT_KNOWN,
        holds_known=holding is not None and holding.is_known,
        holds_of=_holds_of(holding, now) if holding and holding.is_known else "",
        changed_at=store.changed_at,
        backlog=queue.number if has_queue and queue.is_known else None,
        backlog_words=_as_of(queue, now) if has_queue and queue.is_known else CANNOT_BE_READ if has_queue else "no queue",
        oldest=oldest.value_text if oldest and oldest.value is not None and has_queue else "",
        queue_fails=any(one.code in QUEUE_CODES and one.status == "failing" and not is_muted(one, now) for one in conditions),
        unreadable=facts.corrupt_lines(store.pk),
        import_failed=(getattr(store, "last_run_error", "") or status or "") if status in ("failed", "partial") else "",
        worker_silent=verdicts.is_silent(store.worker, now),
    )


def _holds_of(holding: Holding, now: datetime) -> str:
    of = f"of {wording.counted(holding.lines, 'line')}" if holding.readable != holding.lines else ""
    return ", ".join(filter(None, [of, _as_of(holding, now)]))


def _as_of(holding: Holding, now: datetime) -> str:
    return f"as of {wording.moment(holding.as_of, now)}" if holding.as_of else ""


def _state_text(judged: JudgedStore, conditions: list[Condition], now: datetime) -> str:
    if judged.verdict == "healthy":
        notes = sum(one.status == "note" for one in conditions)
        muted = sum(is_muted(one, now) for one in conditions)
        return ", ".join(filter(None, [wording.counted(notes, "note") if notes else "", f"{muted} muted" if muted else ""]))
    causes = [reason.text for reason in reasons(judged, conditions, now)]
    return " · ".join(causes[:2]) + (f" · {len(causes) - 2} more" if len(causes) > 2 else "") if causes else judged.sentence


def find_store(user: Visitor, slug: str, *also: str, holding: str = "") -> Store:
    """Give the visible store of this slug with its worker, and `also` what else it has one of. One query.

    Raises UnknownStore, and NotFound for a store whose kind has no records of the type `holding`.
    """
    store = visible_stores(user).select_related("worker", *also).filter(slug=slug).first()
    if store is None:
        raise UnknownStore("No store has this name in its address, or none that your account may see.")
    if holding and holding not in record_types(store):
        raise NotFound(f"A store of {kind_title(store)} has no {RECORD_WORDS[holding].many}.")
    return store


def oldest_measurement(judged: Iterable[JudgedStore]) -> datetime | None:
    """Give the oldest measurement among the stores that count as measured."""
    return min((one.store.measured_at for one in judged if one.verdict != "unmeasured" and one.store.measured_at), default=None)
