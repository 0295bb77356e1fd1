"""A record saved in bulk is stored as Django itself would store it: type and value of every column (ruling 46)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from stores.mirror.importing import import_store
from stores.mirror.links import LINKS
from stores.mirror.record_types import RECORD_TYPES
from stores.models import Fault, RecordFile, RefusedLine, Store
from tests import phase_memory_folders
from tests.mirror.images import register
from tests.scenes import write_memory

pytestmark = pytest.mark.django_db

OTHER_FILES = {
    "completed-flows.jsonl": '{"session_id":"a","actions":[],"started_at":"2026-03-01T10:00:00.000Z","stats":{"success_rate":0.5}}',
    "problem-solutions.jsonl": '{"problem_id":"prob-1","solution_text":"use redis","tool":"Bash","confidence":0.7,"entities":[]}',
    "mem0-queue.jsonl": '{"text":"use redis","metadata":{"confidence":0.9}}',
    "sessions/one/events.jsonl": '{"event_id":"evt-1-1","event_type":"tool_used","identity":{},"payload":{"duration_ms":12}}',
    "memory.json": '{"type":"entity","name":"redis","entityType":"Tool","observations":["fast"]}',
    "tool-preferences.json": '{"usage":{},"preferences":{}}',
    "notes.md": "# Redis",
    "other.jsonl": '{"when":"today"}',
}
"""One record for each type that `write_memory` does not write."""


def make_stores(tmp_path: Path) -> list[Store]:
    """Register and import stores that together have records of every type, faults and refused lines."""
    root = write_memory(tmp_path.resolve() / "project", "redis")
    for path, line in OTHER_FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(f"{line}\n")
    stores = [register(root), register(phase_memory_folders.make_store(tmp_path.resolve() / "phases"), kind="phase-memory")]
    for store in stores:
        import_store(store)
    return stores


def stored(model: type[Any], pk: int) -> dict[str, tuple[str, object]]:
    """Give each column but the key as the engine holds it: its type and its value."""
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    kind = "typeof({0})" if connection.vendor == "sqlite" else "pg_typeof({0})::text"
    columns = [connection.ops.quote_name(field.column) for field in fields]
    chosen = ", ".join(f"{kind.format(column)}, {column}" for column in columns)
    key = connection.ops.quote_name(model._meta.pk.column)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {chosen} FROM {model._meta.db_table} WHERE {key} = %s", [pk])  # noqa: S608  names of our own tables
        row = cursor.fetchone()
    values: list[Any] = [bytes(value) if isinstance(value, memoryview) else value for value in row]
    return {field.name: (values[2 * place], values[2 * place + 1]) for place, field in enumerate(fields)}


def test_every_column_saved_in_bulk_is_as_the_orm_saves_it(tmp_path: Path) -> None:
    stores = make_stores(tmp_path)
    links = [table.model for table in LINKS.values()]
    models: list[type[Any]] = [*(record_type.model for record_type in RECORD_TYPES.values()), *links, RecordFile, Fault, RefusedLine]
    for model in models:
        saved_in_bulk = model._default_manager.filter(store__in=stores).order_by("pk")
        assert saved_in_bulk.exists()
        for record in list(saved_in_bulk):
            before = stored(model, record.pk)
            record.pk = None
            if isinstance(record, RecordFile):
                record.path += " again"
            record.save(force_insert=True)
            after = stored(model, record.pk)
            assert {**after, "path": before.get("path")} == {**before, "path": before.get("path")}


def test_every_text_saved_in_bulk_is_as_the_orm_saves_it(tmp_path: Path) -> None:
    stores = make_stores(tmp_path)
    for record_type in RECORD_TYPES.values():
        model = record_type.model.text_model
        for text in list(model._default_manager.filter(store_id__in=[store.pk for store in stores])):
            before = stored(model, text.pk)
            text.save(force_update=True)
            assert stored(model, text.pk) == before
