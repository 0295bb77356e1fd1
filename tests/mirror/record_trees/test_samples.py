"""Generated stores with planted faults: what `list_faults` says is the manifest, no more and no less, and stays so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from stores.mirror.importing import import_store
from stores.mirror.record_trees import remembering
from stores.mirror.resetting import check_mirror
from stores.models import Node, Store
from tests.mirror.images import register

pytestmark = pytest.mark.django_db

PLACE = ("code", "file", "line", "subject_id", "key")


def generated(shared: Path, place: Path, *arguments: str) -> dict[str, Any]:
    """Make a store and give its manifest."""
    tool = shared / "tools/gen_store.py"
    subprocess.run([sys.executable, str(tool), "--out", str(place), *arguments], check=True, stdout=subprocess.DEVNULL)
    for file in (place / "store").rglob("*"):
        os.utime(file, (1_770_000_000, 1_770_000_000), follow_symlinks=False)
    manifest: dict[str, Any] = json.loads((place / "manifest.json").read_bytes())
    return manifest


def listed(store: Store, capsys: pytest.CaptureFixture[str]) -> list[tuple[object, ...]]:
    """Give what the command prints for scripts, each fault by what it is told from others by."""
    capsys.readouterr()
    call_command("list_faults", store.slug, "--json")
    return sorted((tuple(fault[name] for name in PLACE) for fault in json.loads(capsys.readouterr().out)["faults"]), key=repr)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--nodes", "60", "--faults", "all", "--faults-per-kind", "2", "--seed", "5"),
        ("--nodes", "40", "--faults", "all", "--seed", "11", "--odd-ids"),
        ("--nodes", "20", "--faults", "missing_layout_entry,truncated_last_line"),
        ("--nodes", "20", "--faults", "unsupported_store_version"),
    ],
)
def test_the_faults_are_those_of_the_manifest(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    manifest = generated(shared, tmp_path / "made", *arguments)
    expected = sorted((tuple(fault[name] for name in PLACE) for fault in manifest["expected_diagnostics"]), key=repr)
    store = register((tmp_path / "made/store").resolve(), kind="phase-memory")
    import_store(store)
    assert listed(store, capsys) == expected
    remembering.forget(store)
    import_store(store, full=True)
    assert listed(store, capsys) == expected
    assert check_mirror(store) == []
    assert Node.objects.filter(store=store, gone_at__isnull=True).count() >= manifest["clean_counts"]["nodes"]
