"""Stores and their faults."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Query, Router, Schema

from stores.api.base import Page, StorableText, asker, page_of
from stores.models import Fault
from stores.selectors import documents, verdicts
from stores.selectors.stores import find_store

router = Router(tags=["stores"])


class StoreOut(Schema):
    """A store and how it is now."""

    slug: str
    name: str
    kind: str
    verdict: str
    sentence: str
    path: str
    worker: str
    size_bytes: int
    file_count: int
    changed_at: str | None
    imported_at: str | None
    measured_at: str | None


class WantedFaults(Schema):
    """Which faults; all where nothing is given."""

    severity: Literal["error", "warning", "info"] | None = None
    code: StorableText = Field("", max_length=40)
    file: StorableText = Field("", max_length=400)


class StoreWithFiles(StoreOut):
    """A store with its source files."""

    files: list[documents.FileDocument]


@router.get("/stores/", response=list[StoreOut], summary="All stores, worst first")
def store_list(request: HttpRequest) -> list[dict[str, Any]]:
    """Every store that the account sees."""
    return [_store(one) for one in verdicts.judged_stores(asker(request), timezone.now())]


@router.get("/stores/{slug}/", response=StoreWithFiles, summary="One store")
def store_detail(request: HttpRequest, slug: str) -> dict[str, Any]:
    """A store with its source files."""
    store = find_store(asker(request), slug)
    files = store.files.exclude(record_type="").order_by("path")
    return {**_store(verdicts.judge(store, timezone.now())), "files": [documents.file_document(file) for file in files]}


@router.get("/stores/{slug}/faults/", response=Page[documents.FaultDocument], summary="Faults of one store")
def fault_list(request: HttpRequest, slug: str, wanted: Query[WantedFaults], page: int = 1, per_page: int = 50) -> dict[str, Any]:
    """Everything that is wrong at a place, worst first, then by place."""
    store = find_store(asker(request), slug)
    found = Fault.objects.filter(store=store)
    for column, value in (("severity", wanted.severity), ("code", wanted.code), ("path", wanted.file)):
        if value:
            found = found.filter(**{column: value})
    found = found.order_by("rank", "path", "line", "id")
    return page_of(found, page, per_page, lambda rows: documents.fault_documents(store, rows))


def _store(one: verdicts.JudgedStore) -> dict[str, Any]:
    store = one.store
    return {
        "slug": store.slug,
        "name": store.name,
        "kind": store.kind,
        "verdict": one.verdict,
        "sentence": one.sentence,
        "path": store.path,
        "worker": store.worker.label,
        "size_bytes": store.size_bytes,
        "file_count": store.file_count,
        "changed_at": documents.utc(store.changed_at),
        "imported_at": documents.utc(store.imported_at),
        "measured_at": documents.utc(store.measured_at),
    }
