"""The worker goes on with the graphs that imports left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.mirror import graph
from stores.models import GraphEntity, GraphSource
from stores.worker.loop import Loop
from stores.worker.stopping import Stop
from tests.memory_folders import decision
from tests.mirror.images import register

pytestmark = pytest.mark.django_db(transaction=True)


def test_one_round_of_the_worker_ends_with_whole_graphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "AT_ONCE", 2)
    monkeypatch.setattr(graph, "SLICE", 2)
    memory = tmp_path.resolve() / "shop" / ".claude" / "memory"
    memory.mkdir(parents=True)
    (memory / "decisions.jsonl").write_bytes(b"".join(decision(f"use redis {number}", number) for number in range(7)))
    store = register(memory)
    Loop(store.worker, Stop()).once()
    assert all(GraphSource.objects.filter(store=store).values_list("complete", flat=True))
    assert GraphEntity.objects.get(store=store, name="redis").decisions == 7
    assert graph.behind(store.worker) == []
