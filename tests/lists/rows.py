"""Many records at once for tests of lists, counted and indexed as an import leaves them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils import timezone

from stores.formats.search_text import search_text
from stores.lists.specs import ListSpec
from stores.mirror import text_index
from stores.mirror.counters import FacetDeltas
from stores.mirror.record_types import RECORD_TYPES
from stores.models import MirroredRecord, SourceFile, Store
from tests.factories import RECORD_FILES, make_file

REST: dict[str, dict[str, Any]] = {
    "decision": {
        "shape": "orchestkit",
        "type": "decision",
        "category": "",
        "said_by": "",
        "machine": "",
        "session": "",
        "project": "",
        "source": "",
        "scope": "",
        "importance": "",
        "confidence": None,
        "what_hash": 0,
        "entities": 1,
    },
    "queue_operation": {
        "operation": "create_entities",
        "standing": "waiting",
        "reason": "",
        "would_write": "1 decision",
        "entities": 1,
        "relations": 0,
        "observations": 0,
        "decision_id": "",
        "payload_hash": 0,
    },
    "problem": {
        "status": "open",
        "project": "",
        "session": "",
        "confidence": None,
        "solved_at_ms": None,
        "solved_by": "",
        "entities": 0,
    },
    "problem_solution": {"problem_id": "", "tool": "Bash", "project": "", "session": "", "confidence": None, "entities": 0},
    "flow": {
        "session": "",
        "pattern": "mixed",
        "standing": "last",
        "actions": 3,
        "reads": 1,
        "writes": 1,
        "tests": 1,
        "builds": 0,
        "agent_spawns": 0,
        "success_rate": 0.5,
        "started_ms": None,
    },
    "session_event": {
        "event_type": "tool_used",
        "name": "Bash",
        "session": "s-1",
        "said_by": "",
        "machine": "",
        "identity_source": "",
        "outcome": "success",
        "duration_ms": 12,
        "shape": "tracker",
    },
    "graph_entity": {"what": "entity", "item_type": "Technology", "start": "", "end": "", "observations": 1},
    "preference_file": {"form": "tools", "samples": 3},
    "memory_md": {
        "form": "note",
        "agent": "",
        "topic_type": "",
        "lines": 3,
        "characters": 30,
        "not_loaded": 0,
        "long_lines": 0,
    },
    "mem0_operation": {
        "standing": "waiting",
        "user_id": "",
        "type": "",
        "category": "",
        "project": "",
        "confidence": None,
        "text_hash": 0,
    },
    "foreign": {"form": "unknown", "session": ""},
}
_numbers = itertools.count(1)


def fill(spec: ListSpec, store: Store, rows: Iterable[Mapping[str, Any]], *, searchable: bool = True) -> list[MirroredRecord]:
    """Add records to a store's file; each row names what is not the default. Give them in the order of the rows."""
    record_type = spec.record_type
    file = make_file(store, RECORD_FILES[record_type])
    records = [spec.model(store=store, file=file, **_fields(record_type, dict(row))) for row in rows]
    spec.model._default_manager.bulk_create(records, batch_size=500)
    spec.model.text_model._default_manager.bulk_create(
        [
            spec.model.text_model(record=record, store_id=store.pk, raw=b'{"what": "x"}', search=search_text(record.title))  # type: ignore[misc]
            for record in records
        ],
        batch_size=500,
    )
    deltas = FacetDeltas()
    live = [record for record in records if record.gone_at is None]
    for record in live:
        deltas.add(record_type, [(facet, getattr(record, facet)) for facet in RECORD_TYPES[record_type].facets], 1)
    deltas.save(store.pk)
    SourceFile.objects.filter(pk=file.pk).update(lines_record=file.lines_record + len(live))
    if searchable:
        text_index.rebuild(spec.model)
    return records


def _fields(record_type: str, row: dict[str, Any]) -> dict[str, Any]:
    number = next(_numbers)
    return {
        "key": number,
        "natural_id": f"{record_type}-{number:08d}-a",
        "generation": 0,
        "line": number,
        "offset": number * 100,
        "length": 100,
        "sha256": number.to_bytes(32, "big"),
        "first_seen_at": timezone.now(),
        "at_ms": 1_764_340_000_000 + number,
        "at_state": "ok",
        "title": f"record {number}",
        **REST[record_type],
        **row,
    }
