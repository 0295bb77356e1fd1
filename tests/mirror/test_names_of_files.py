"""What stands only in the path of a file that is one record comes into its columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.mirror.importing import import_store
from stores.models import Fault, ForeignRecord, MemoryMd, RefusedLine
from tests.mirror.images import register

pytestmark = pytest.mark.django_db


def test_agent_and_session_come_from_the_path(tmp_path: Path) -> None:
    project = tmp_path.resolve() / "shop"
    root = project / ".claude" / "memory"
    index = project / ".claude" / "agent-memory" / "reviewer" / "MEMORY.md"
    counter = root / "sessions" / "s1" / "counter.json"
    for path, text in ((index, "# Index\n" + "x\n" * 220), (counter, '{"counter":2}')):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    store = register(root)
    import_store(store)
    memory = MemoryMd.objects.get(store=store)
    assert (memory.agent, memory.form, memory.lines, memory.not_loaded) == ("reviewer", "index", 221, 21)
    assert ForeignRecord.objects.get(store=store).session == "s1"
    fault = Fault.objects.get(store=store, code="memory_md_budget")
    assert (fault.line, fault.subject_id) == (1, memory.natural_id)


def test_a_refused_file_has_its_fault_where_its_bytes_are(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "shop" / ".claude" / "memory"
    root.mkdir(parents=True)
    (root / "tool-preferences.json").write_text('{\n "usage": x\n}')
    store = register(root)
    import_store(store)
    fault = Fault.objects.get(store=store)
    assert (fault.code, fault.line, fault.byte) == ("bad_json", 1, 12)
    assert RefusedLine.objects.get(store=store, line=1)
