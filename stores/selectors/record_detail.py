"""One record with all that a page says of it: place, faults, earlier wordings, its likes and its neighbours in time."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple, TypeVar, cast

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.http import urlencode

from stores.accounts import Visitor, visible_stores
from stores.errors import NotFound
from stores.formats import KINDS
from stores.formats.diffs import DiffLine, diff, readable
from stores.formats.orchestkit import decision_detail
from stores.formats.search_text import common_terms
from stores.formats.secrets import find_secrets, mask
from stores.lists.registry import SPECS
from stores.lists.specs import ListSpec
from stores.mirror.text_index import matching_ids
from stores.models import Decision, ForeignRecord, MemoryMd, MirroredRecord, Problem, RecordText, RecordVersion, Store
from stores.selectors.faults import FaultRow, faults_of_file, faults_of_line
from stores.selectors.origins import decision_key
from stores.selectors.records import any_of
from stores.selectors.walks import Row, Sql, at_once

VERSIONS_SHOWN = 20
SAME_SHOWN = 20
SAME_COUNTED = 10_001
HISTORY_SHOWN = 1_000
"""Counts of a log of metrics that are drawn."""
SHOWN_CHARACTERS = 20_000
"""Characters of a raw line that its page shows; the whole one is under Raw."""

Record = TypeVar("Record", bound=MirroredRecord)


class Wording(NamedTuple):
    """An earlier wording of a record and how the next one differed."""

    replaced_at: datetime
    lines: tuple[DiffLine, ...]


class Same(NamedTuple):
    """Decisions that say exactly the same."""

    number: int
    """At most 10,000."""
    capped: bool
    rows: list[Decision]


class RecordPage(NamedTuple):
    """A record and what lies around it."""

    record: MirroredRecord
    spec: ListSpec
    raw: bytes
    raw_text: str
    cut: int
    """Characters of the line that are not shown."""
    secrets: int
    """How many values are masked."""
    faults: list[FaultRow]
    wordings: list[Wording]
    earlier: MirroredRecord | None
    later: MirroredRecord | None
    is_file: bool
    """The record is its whole file, not a line of it."""

    @property
    def raw_url(self) -> str:
        """Where the store's bytes around the record are shown."""
        place = {"file": self.record.file_path}
        query = urlencode(place if self.is_file else {**place, "line": str(self.record.line)})
        return f"{reverse('store_raw', args=[self.record.store.slug])}?{query}"

    @property
    def last_byte(self) -> int:
        """Offset of the last byte of the line."""
        return self.record.offset + max(0, self.record.length - 1)


def find_record(user: Visitor, model: type[Record], pk: int, *also: str) -> Record:
    """Give a record that the account may see, its store, file and texts loaded, and `also` what else; NotFound otherwise. One query."""
    record = (
        model._default_manager.select_related("store__worker", "file", "text", *also).filter(pk=pk, store__in=visible_stores(user)).first()
    )
    if record is None:
        raise NotFound("No such record, or none that your account may see. It may have gone with its store.")
    return record


def record_page(record: MirroredRecord) -> RecordPage:
    """Give everything about a record that all types share: at most 3 queries."""
    raw = bytes(text_of(record).raw)
    text = raw.decode("utf-8", "replace")
    is_file = is_whole_file(record)
    faults = faults_of_file(record.file_id, record.file_path) if is_file else faults_of_line(record.file_id, record.line)
    earlier, later = _neighbours(record)
    return RecordPage(
        record=record,
        spec=spec_of(record),
        raw=raw,
        raw_text=text[:SHOWN_CHARACTERS],
        cut=max(0, len(text) - SHOWN_CHARACTERS),
        secrets=len(find_secrets(text)),
        faults=faults if record.gone_at is None else [],
        wordings=_wordings(record, raw),
        earlier=earlier,
        later=later,
        is_file=is_file,
    )


def is_whole_file(record: MirroredRecord) -> bool:
    """Tell whether a record is its whole file, not a line of it."""
    spec = KINDS[record.store.kind].spec_of(record.file.path) if record.store.kind in KINDS else None
    return spec is not None and spec.whole


def text_of(record: MirroredRecord) -> RecordText:
    """Give the texts of a record."""
    return cast(RecordText, record.text)  # type: ignore[attr-defined]


def spec_of(record: MirroredRecord) -> ListSpec:
    """Give the list in which a record stands."""
    return next(spec for spec in SPECS.values() if spec.model is type(record))


def same_text(record: Decision) -> Same:
    """Give the other live decisions of the store with exactly the same text, newest first. Three queries.

    The text index finds them, so that imports need not keep an index of hashes, which would cost them a tenth of their time.
    """
    if not record.what_hash:
        return Same(0, False, [])
    same = Decision.objects.filter(store_id=record.store_id, what_hash=record.what_hash, gone_at__isnull=True).exclude(pk=record.pk)
    terms = common_terms(_what(record))
    if terms:
        same = same.filter(pk__in=any_of(matching_ids(Decision, terms, [record.store_id])))
    count = same.order_by()[:SAME_COUNTED].count()
    rows = list(same.order_by("-at_ms", "-id")[:SAME_SHOWN]) if count else []
    return Same(min(count, SAME_COUNTED - 1), count >= SAME_COUNTED, rows)


def _what(record: Decision) -> str:
    """Give the text whose hash a decision has: as it is written, not cut to a title."""
    detail = decision_detail(bytes(text_of(record).raw))
    return detail.what or record.title


def problem_named(store: Store, problem_id: str) -> Problem | None:
    """Give the live problem of a store that has this id. One query, none without an id."""
    if not problem_id:
        return None
    named = Problem.objects.filter(
        file__store=store, file__record_type=Problem.record_type, key=decision_key(problem_id), natural_id=problem_id, gone_at__isnull=True
    )
    return named.order_by("pk").first()


def markdown_beside(record: MemoryMd) -> dict[str, int]:
    """Give the ids of the other live Markdown files of an index's folder by their names; none for what is no index. One query."""
    if record.form != "index":
        return {}
    folder = record.file.path.rpartition("/")[0] + "/"
    rows = MemoryMd.objects.filter(store_id=record.store_id, gone_at__isnull=True, file__path__startswith=folder).exclude(pk=record.pk)
    found = {path.removeprefix(folder): pk for pk, path in rows.order_by("pk").values_list("pk", "file__path")}
    return {name: pk for name, pk in found.items() if "/" not in name}


def metrics_history(record: ForeignRecord) -> list[bytes]:
    """Give the raw lines of the log that a record of metrics stands in, its newest ones. One query."""
    live = ForeignRecord.objects.filter(store_id=record.store_id, form=record.form, file_id=record.file_id, gone_at__isnull=True)
    return [bytes(raw) for raw in live.order_by("-at_ms", "-id").values_list("text__raw", flat=True)[:HISTORY_SHOWN]]


def _wordings(record: MirroredRecord, raw: bytes) -> list[Wording]:
    """Give the earlier wordings, the newest first, each with what the next one changed; secrets masked before they are compared."""
    versions = RecordVersion.objects.filter(record_type=record.record_type, record_id=record.pk).order_by("-replaced_at", "-id")
    wordings: list[Wording] = []
    later = mask(readable(raw))
    for version in versions[:VERSIONS_SHOWN]:
        earlier = mask(readable(bytes(version.raw)))
        wordings.append(Wording(version.replaced_at, diff(earlier, later)))
        later = earlier
    return wordings


def _neighbours(record: MirroredRecord) -> tuple[MirroredRecord | None, MirroredRecord | None]:
    """Give the live records of the same store and type that were written just before and next, with title alone; walks the index by time.

    One query.
    """
    live: QuerySet[MirroredRecord] = type(record)._default_manager.filter(store_id=record.store_id, gone_at__isnull=True)
    before = live.filter(Q(at_ms__lt=record.at_ms) | Q(id__lt=record.pk), at_ms__lte=record.at_ms).order_by("-at_ms", "-id")
    after = live.filter(Q(at_ms__gt=record.at_ms) | Q(id__gt=record.pk), at_ms__gte=record.at_ms).order_by("at_ms", "id")
    earlier, later = at_once([_first(before), _first(after)])
    return _named(record, earlier), _named(record, later)


def _first(found: QuerySet[MirroredRecord]) -> Sql:
    sql, parameters = found.values_list("pk", "title")[:1].query.sql_with_params()
    return sql, list(parameters)


def _named(record: MirroredRecord, found: list[Row]) -> MirroredRecord | None:
    if not found:
        return None
    model: Any = type(record)
    named: MirroredRecord = model(pk=found[0][0], title=found[0][1], store=record.store)
    return named
