"""Lists of records, single records, and search, with the parameters of the pages (DESIGN §10)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Generic, TypeVar

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema

from stores.api.base import asker
from stores.errors import BadRequest
from stores.formats import orchestkit
from stores.formats.secrets import mask, mask_nested
from stores.lists.queries import LAST_PAGE, OLDEST_DAYS, PAGE_SIZE, PAGE_SIZES, read
from stores.lists.specs import DECISIONS, PROBLEMS, QUEUE, ListSpec
from stores.models import Decision, MirroredRecord, Problem, QueueOperation
from stores.selectors.documents import FaultDocument, fault_documents
from stores.selectors.noted import LATER, NOTHING, OVERDUE, SOON, SOON_DAYS, notes_beside
from stores.selectors.record_detail import find_record, is_whole_file, text_of
from stores.selectors.record_documents import NOTED, record_document
from stores.selectors.records import CAP, ListedStore, RecordList
from stores.selectors.searching import SHOWN, Search

router = Router(tags=["records"])
Item = TypeVar("Item")
FAULTS_SHOWN = 1_000


class Wanted(Schema):
    """What every list of records takes, as its page does."""

    q: str = Field(
        "", description="Words that must all occur, the last one as a beginning; words in quotes stand together. 200 characters."
    )
    store: list[str] = Field([], description="Slugs; repeatable.")
    gone: bool = Field(False, description="Records that are gone from disk, instead of those that are there. Written as 1.")
    sort: str = Field("", description="`at` or a filter's name, `-` before it for falling order; `gone` for gone records.")
    page: int = Field(1, ge=1, le=LAST_PAGE)
    per_page: int = Field(PAGE_SIZE, ge=1, le=PAGE_SIZES[-1])


class WantedDecisions(Wanted):
    """Filters of decisions."""

    category: list[str] = Field([], description="Repeatable, as are the others.")
    type: list[str] = []
    said_by: list[str] = []
    standing: list[str] = Field([], description="superseded, retired: as reviewers noted it.")
    tag: list[str] = Field([], description="Tags that reviewers gave.")


class WantedProblems(Wanted):
    """Filters of problems."""

    status: list[str] = Field(
        [], description="Without it problems of every status, other than on the page, which begins with the open ones."
    )
    project: list[str] = []
    owner: list[str] = Field([], description="Sign-in names of those who see to it; `me` for the account that asks.")
    due: list[str] = Field([], description=f"{OVERDUE}, {SOON} (within {SOON_DAYS} days) or {LATER}; only open problems are due.")
    older: int = Field(0, ge=0, le=OLDEST_DAYS, description="Only problems that were written more than so many days ago.")


class WantedOperations(Wanted):
    """Filters of queue operations."""

    standing: list[str] = Field([], description="waiting, poison, ignored, dangling end, duplicate.")
    operation: list[str] = []


class RecordOut(Schema):
    """Where a record stands, and what is said of every type; secrets are masked."""

    id: int
    record_type: str
    store: str
    file: str
    line: int
    byte: int
    length: int
    sha256: str
    natural_id: str
    at: str | None
    at_state: str = Field(description="ok, naive (no zone given), missing or odd.")
    title: str
    faults: int
    first_seen_at: str
    gone_at: str | None
    gone_reason: str


class DecisionOut(RecordOut):
    """A decision."""

    shape: str
    type: str
    category: str
    said_by: str
    machine: str
    session: str
    project: str
    source: str
    scope: str
    importance: str
    confidence: float | None
    entities: int | None = Field(description="null: the field is missing, which silences the injection.")
    standing: str = Field(description="current, superseded or retired: as reviewers noted it here, not on disk; so are the next ones.")
    superseded_by: str | None = Field(description="Id of the decision that took its place.")
    superseded_by_id: int | None = Field(description="The same as this API counts decisions; null while that one is not mirrored.")
    tags: list[str]
    note: str


class ProblemOut(RecordOut):
    """A problem."""

    status: str
    project: str
    session: str
    confidence: float | None
    solved_at: str | None
    solved_by: str
    entities: int | None
    owner: str | None = Field(description="Sign-in name of who sees to it: noted here, not on disk; so are the next ones.")
    due_on: str | None = Field(description="The day (UTC) at whose end it is overdue.")
    overdue: bool
    note: str


class OperationOut(RecordOut):
    """A queue operation."""

    operation: str
    standing: str
    reason: str
    would_write: str
    entities: int
    relations: int
    observations: int
    decision_id: str


class Details(Schema):
    """What a single record adds to its line in a list."""

    raw: str = Field(description="The line as text, secrets masked; above 1 MiB its first 4 KiB.")
    content: dict[str, Any] = Field(description="The line taken apart, field by field.")
    line_faults: list[FaultDocument]


class DecisionDetailOut(DecisionOut, Details):
    """One decision."""


class ProblemDetailOut(ProblemOut, Details):
    """One problem."""


class OperationDetailOut(OperationOut, Details):
    """One queue operation."""


class RecordPage(Schema, Generic[Item]):
    """One page of a list of records."""

    items: list[Item]
    count: int = Field(description="Records that match.")
    capped: bool = Field(description=f"There are more than `count`, which was counted up to {CAP:,}.")
    newest_only: bool = Field(description=f"Only the newest {CAP:,} hits of the search, or gone records, were looked at; there are more.")
    total: int = Field(description="All records that are there, in all stores that the account sees.")
    page: int
    per_page: int


class HitsOut(Schema):
    """What a search found of one type of record."""

    record_type: str
    count: int
    capped: bool
    items: list[dict[str, Any]]


@router.get("/decisions/", response=RecordPage[DecisionOut], summary="Decisions")
def decision_list(request: HttpRequest, wanted: Query[WantedDecisions]) -> dict[str, Any]:
    """Decisions of all stores that the account sees, newest first."""
    return page(request, DECISIONS)


@router.get("/problems/", response=RecordPage[ProblemOut], summary="Problems")
def problem_list(request: HttpRequest, wanted: Query[WantedProblems]) -> dict[str, Any]:
    """Problems of all stores that the account sees, oldest first."""
    return page(request, PROBLEMS)


@router.get("/queue/", response=RecordPage[OperationOut], summary="Queue operations")
def queue_list(request: HttpRequest, wanted: Query[WantedOperations]) -> dict[str, Any]:
    """Queue operations of all stores that the account sees, oldest first."""
    return page(request, QUEUE)


@router.get("/decisions/{int:pk}/", response=DecisionDetailOut, summary="One decision")
def decision_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """A decision with its raw line and its faults."""
    record = find_record(asker(request), Decision, pk)
    return detail(record, asdict(orchestkit.decision_detail(bytes(text_of(record).raw))))


@router.get("/problems/{int:pk}/", response=ProblemDetailOut, summary="One problem")
def problem_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """A problem with its raw line and its faults."""
    record = find_record(asker(request), Problem, pk)
    return detail(record, asdict(orchestkit.problem_detail(bytes(text_of(record).raw))))


@router.get("/queue/{int:pk}/", response=OperationDetailOut, summary="One queue operation")
def queue_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """A queue operation with everything that it would create."""
    record = find_record(asker(request), QueueOperation, pk)
    return detail(record, asdict(orchestkit.queue_detail(bytes(text_of(record).raw))))


@router.get("/search/", response=list[HitsOut], summary="Search over all records")
def search(request: HttpRequest, q: str = "") -> list[dict[str, Any]]:
    """The newest hits of each type of record; the lists take the same words and give them all. `q` may be the id of a record too."""
    found = Search(asker(request), q)
    return [
        {
            "record_type": section.spec.record_type,
            "count": section.number,
            "capped": section.more,
            "items": [
                {"id": hit.id, "store": hit.store.slug, "line": hit.line, "natural_id": mask(hit.natural_id), "title": mask(hit.title)}
                for hit in section.hits[:SHOWN]
            ],
        }
        for section in found.sections
    ]


def page(request: HttpRequest, spec: ListSpec) -> dict[str, Any]:
    """Give one page of a list."""
    query = read(spec, request.GET, narrowed=False)
    found = RecordList(asker(request), query)
    if found.too_far:
        raise BadRequest(f"Pages end at {LAST_PAGE:,}. Narrow the list by a filter, or sort it the other way round.")
    stores, notes = {one.id: one for one in found.stores}, found.notes_beside(found.page_rows)
    return {
        "items": [
            record_document(record, stores[record.store_id], notes.get(record.pk, NOTHING)) for record in found.with_files(found.page_rows)
        ],
        "count": found.count,
        "capped": found.capped,
        "newest_only": found.scope_capped,
        "total": found.total,
        "page": found.page,
        "per_page": query.per_page,
    }


def detail(record: MirroredRecord, content: dict[str, Any]) -> dict[str, Any]:
    """Give a single record with its line taken apart."""
    store, file = record.store, record.file
    of_file = store.faults.filter(file=file, path=record.file_path).order_by("rank", "id")
    found = of_file if is_whole_file(record) else of_file.filter(line=record.line)
    faults = found[:FAULTS_SHOWN] if record.gone_at is None else []
    noted = notes_beside(record.record_type, [record.pk]).get(record.pk, NOTHING) if record.record_type in NOTED else NOTHING
    return {
        **record_document(record, ListedStore(store.pk, store.slug, store.name, file), noted),
        "raw": mask(bytes(text_of(record).raw).decode("utf-8", "replace")),
        "content": mask_nested(content),
        "line_faults": fault_documents(store, faults),
    }
