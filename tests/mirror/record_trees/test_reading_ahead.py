"""A process of its own reads the files of a large store: the mirror says the same, whatever the process does or cannot do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stores.files import OpenedFolder
from stores.formats.canonical import pretty
from stores.mirror.importing import import_store
from stores.mirror.record_trees import reading_ahead
from stores.mirror.record_trees.reading import ReadFile, read_file
from stores.mirror.relocating import remove_store
from stores.models import Edge, Fault, Node, RecordFile, Store
from tests.mirror.images import register
from tests.mirror.record_trees.test_following import settled, whole_image
from tests.phase_memory_folders import make_store, node, put

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a store with what a process can hand over only in part: ids and texts that are no text, files that are no records."""
    root = make_store(tmp_path.resolve() / "store")
    put(root, "node", node("node.d", text="An apple \N{RED APPLE}", confidence=0.25, unknown=[1, {"a": None}]))
    (root / "nodes/half.json").write_bytes(b'{"id": "half.\\ud800", "kind": "risk", "text": "A half \\udfff."}')
    (root / "edges/half.json").write_bytes(b'{"id": "e", "kind": "supports", "source": "half.\\ud800", "target": "node.a"}')
    (root / "nodes/broken.json").write_bytes(b'{"id": ')
    (root / "edges/large.json").write_bytes(
        pretty({"id": "large", "kind": "supports", "source": "a", "target": "b", "text": "x" * 2_000_000})
    )
    (root / "paths/folder.json").mkdir()
    (root / os.fsdecode(b"nodes/\xff.json")).write_bytes(pretty(node("node.e")))
    return settled(root)


def read_alone(root: Path) -> dict[str, object]:
    store = register(root, kind="phase-memory")
    import_store(store)
    said = whole_image(store)
    remove_store(store)
    return said


def read_by_another(root: Path) -> Store:
    store = register(root, kind="phase-memory")
    import_store(store)
    return store


def test_what_another_process_reads_is_what_this_one_would(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = read_alone(root)
    monkeypatch.setattr(reading_ahead, "AHEAD_FROM_FILES", 1)
    monkeypatch.setattr(reading_ahead, "FILES_A_PIECE", 2)
    read_here: list[str] = []

    def noted(opened: OpenedFolder, name: str) -> ReadFile | None:
        read_here.append(name)
        return read_file(opened, name)

    monkeypatch.setattr(reading_ahead, "read_file", noted)
    store = read_by_another(root)
    assert whole_image(store) == alone
    assert Node.objects.get(store=store, natural_id="node.d").confidence == 0.25
    assert (Edge.objects.get(store=store, natural_id="large").length, len(RecordFile.objects.get(path="edges/large.json").raw)) == (
        (root / "edges/large.json").stat().st_size,
        0,
    )
    # What it could not hand over it told by name.
    assert set(read_here) <= {"half.json"}


@pytest.mark.parametrize("program", ["raise SystemExit(3)", "import sys; sys.stdout.buffer.write((99).to_bytes(4, 'big') + b'half')"])
def test_a_process_that_ends_early_costs_nothing_but_time(root: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    alone = read_alone(root)
    monkeypatch.setattr(reading_ahead, "AHEAD_FROM_FILES", 1)
    started = subprocess.Popen

    def other(command: list[str], **more: object) -> subprocess.Popen[bytes]:
        return started([sys.executable, "-c", program], **more)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr("stores.mirror.working_ahead.subprocess.Popen", other)
    assert whole_image(read_by_another(root)) == alone


def test_a_process_that_cannot_start_costs_nothing_but_time(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = read_alone(root)
    monkeypatch.setattr(reading_ahead, "AHEAD_FROM_FILES", 1)
    monkeypatch.setattr("stores.mirror.working_ahead.sys.executable", str(root / "nothing"))
    assert whole_image(read_by_another(root)) == alone


def test_a_folder_that_goes_while_the_others_are_read_is_passed_over(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_ahead, "AHEAD_FROM_FILES", 1)
    store = register(root, kind="phase-memory")

    def move(progress: object) -> None:
        if (root / "edges").exists():
            (root / "edges").rename(root.with_name("edges"))

    import_store(store, progress=move)
    assert Node.objects.filter(store=store).exists()
    assert not Edge.objects.filter(store=store).exists()
    root.with_name("edges").rename(root / "edges")
    import_store(store)
    assert json.loads((root / "edges/edge.a.json").read_bytes())["id"] in Edge.objects.values_list("natural_id", flat=True)
    assert Fault.objects.filter(store=store, code="missing_layout_entry").count() == 0
