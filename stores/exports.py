"""Filtered lists as files: CSV, JSON, JSON lines; streamed, in the order of the list, safe to open (promises D8)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.http import StreamingHttpResponse

from stores.csv_lines import csv_lines
from stores.selectors.noted import NOTHING
from stores.selectors.record_documents import field_names, record_document
from stores.selectors.records import CAP, RecordList

FORMS = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
}
"""Ending of the address -> type of the content. `json` is one array, `jsonl` one object a line."""


def export(found: RecordList, form: str) -> StreamingHttpResponse:
    """Give all that fits a list as a download; `form` is one of FORMS.

    A search exports its newest 10,000 hits, as the list shows them; the header Memoryui-Limited says where there are more.
    """
    documents = _documents(found)
    lines = {"csv": _csv, "json": _array, "jsonl": _lines}[form](found, documents)
    headers = {"Content-Disposition": f'attachment; filename="memoryui-{found.spec.section}.{form}"'}
    if found.scope_capped:
        headers["Memoryui-Limited"] = f"newest {CAP}"
    return StreamingHttpResponse(lines, content_type=FORMS[form], headers=headers)


def _documents(found: RecordList) -> Iterator[dict[str, Any]]:
    stores = {one.id: one for one in found.stores}
    for records in found.chunks():
        notes = found.notes_beside(records)
        for record in found.with_files(records):
            yield record_document(record, stores[record.store_id], notes.get(record.pk, NOTHING))


def _csv(found: RecordList, documents: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    return csv_lines(field_names(found.spec), (tuple(map(_cell, document.values())) for document in documents))


def _cell(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value


def _array(found: RecordList, documents: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    before = "["
    for document in documents:
        yield f"{before}\n{_text(document)}".encode()
        before = ","
    yield b"[]\n" if before == "[" else b"\n]\n"


def _lines(found: RecordList, documents: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    for document in documents:
        yield f"{_text(document)}\n".encode()


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
