"""Names of files that are no text, look like such, or are as long as can be: each file has its own row, and comes back under it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stores.errors import BadRequest
from stores.formats.canonical import pretty
from stores.mirror.importing import import_store
from stores.mirror.record_trees import sweeping
from stores.mirror.record_trees.naming import raw_names, shown_name
from stores.mirror.relocating import relocate_store
from stores.models import Fault, Node, RecordFile, SourceFile, Store
from tests.mirror.images import register
from tests.mirror.record_trees.test_following import settled
from tests.phase_memory_folders import make_store, node

pytestmark = pytest.mark.django_db

NOT_TEXT = os.fsdecode(b"\xff.json")
ODD = (NOT_TEXT, "\\xff.json", shown_name(NOT_TEXT), os.fsdecode(b"\xfe" * 250 + b".json"), os.fsdecode(b"\xfe" * 249 + b"\xfd.json"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_store(tmp_path.resolve() / "store")
    for number, name in enumerate(ODD):
        (root / "nodes" / name).write_bytes(pretty(node(f"odd.{number}")))
    return settled(root)


@pytest.fixture
def store(root: Path) -> Store:
    store = register(root, kind="phase-memory")
    import_store(store)
    return store


def paths(store: Store) -> dict[str, str]:
    return dict(Node.objects.filter(store=store, natural_id__startswith="odd", gone_at__isnull=True).values_list("natural_id", "path"))


def test_each_file_has_a_name_of_its_own(root: Path, store: Store) -> None:
    found = paths(store)
    assert len(found) == len(set(found.values())) == len(ODD)
    assert found["odd.1"] == "nodes/\\xff.json"
    assert found["odd.0"].startswith("nodes/\\xff\\~") and found["odd.0"].endswith(".json")
    assert max(map(len, RecordFile.objects.filter(store=store).values_list("path", flat=True))) <= 400
    run = import_store(store)
    assert run.files_read == 0
    (root / "nodes" / NOT_TEXT).unlink()
    import_store(store)
    assert paths(store) == {name: path for name, path in found.items() if name != "odd.0"}


def test_a_store_with_such_names_is_known_again_elsewhere(root: Path, store: Store) -> None:
    new = root.with_name("elsewhere")
    root.rename(new)
    relocate_store(store, new)
    assert import_store(store).files_read == 0
    (new / "nodes" / NOT_TEXT).write_bytes(b"{}")
    newest = new.with_name("newest")
    new.rename(newest)
    with pytest.raises(BadRequest, match="other content"):
        relocate_store(store, newest)


def test_names_that_are_shown_otherwise_are_found_by_what_is_shown() -> None:
    shown = list(map(shown_name, ODD))
    assert raw_names([*ODD, "node.a.json"]) == {said: name for said, name in zip(shown, ODD, strict=True) if said != name}
    assert shown[1] == ODD[1]
    assert ODD[2] == shown[0] != shown[2] == shown_name(shown[0])
    assert shown_name("node\N{LATIN SMALL LETTER A WITH DIAERESIS}.json") == "node\N{LATIN SMALL LETTER A WITH DIAERESIS}.json"
    assert shown_name("n" * 255) == "n" * 255


def test_of_what_does_not_belong_to_a_store_only_so_much_is_listed(root: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "LISTED_LIMIT", 5)
    for number in range(9):
        (root / "nodes" / os.fsdecode(b"\xfe" * 240 + b"%d.txt" % number)).write_bytes(b"x")
    import_store(store)
    listed = SourceFile.objects.filter(store=store, record_type="").values_list("path", flat=True)
    assert len(listed) == 5
    assert max(map(len, listed)) <= 400
    assert Fault.objects.filter(store=store, code="unexpected_file").count() == 9


def test_a_folder_of_more_entries_than_are_looked_at_says_so(root: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "MAX_ENTRIES", 3)
    import_store(store)
    assert Fault.objects.filter(store=store, path=".", code="too_large").count() == 1
