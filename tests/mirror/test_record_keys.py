"""Records are found again by their ids in a mirror that an import filled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.mirror.importing import import_store
from stores.mirror.registering import add_store
from stores.models import Decision, Fault, QueueOperation
from stores.selectors.faults import bytes_of
from stores.selectors.origins import origins
from tests.factories import make_user, make_worker
from tests.memory_folders import decision

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["decision-mx3a2c3b-0001", "decision-of-mine", "pattern-mx3a2c3b-zz"])
def test_fault_and_queue_find_the_decision_by_its_id(tmp_path: Path, name: str) -> None:
    line = decision("use cursors", id=name, entities=None)
    (tmp_path / "decisions.jsonl").write_bytes(line)
    entity = {"name": name, "entityType": "Decision", "observations": []}
    operation = {"type": "create_entities", "payload": {"entities": [entity]}, "timestamp": "2026-03-01T10:00:00.000Z"}
    (tmp_path / "graph-queue.jsonl").write_text(json.dumps(operation) + "\n")
    store = add_store(tmp_path, worker=make_worker(), by=make_user(groups=["operator"]))
    import_store(store)
    made, queued = Decision.objects.get(store=store), QueueOperation.objects.get(store=store)
    found = bytes_of(Fault.objects.get(store=store, code="missing_entities"))
    assert found is not None
    assert found.size == f"{len(line) - 1:,} B"
    assert {key: origin.id for key, origin in origins([queued]).items()} == ({queued.pk: made.pk} if queued.decision_id else {})
    assert bool(queued.decision_id) == (name != "decision-of-mine")
