"""The browser assets in static/vendor are what their names, pins and licences say."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
VENDOR = ROOT / "static" / "vendor"
ASSETS = sorted(path for path in VENDOR.iterdir() if path.suffix not in {".md", ".txt"})


@pytest.mark.parametrize("path", ASSETS, ids=lambda path: path.name)
def test_a_vendored_name_carries_the_hash_of_its_contents(path: Path) -> None:
    assert path.name.split(".")[-2] == hashlib.sha256(path.read_bytes()).hexdigest()[:8]


@pytest.mark.parametrize("path", ASSETS, ids=lambda path: path.name)
def test_a_vendored_file_is_listed_with_a_licence_that_stands_beside_it(path: Path) -> None:
    row = next(line for line in (VENDOR / "README.md").read_text("utf-8").splitlines() if f"`{path.name}`" in line)
    cells = [cell.strip(" `") for cell in row.strip("|").split("|")]
    assert (VENDOR / cells[4]).read_text("utf-8").strip()


def test_no_vendored_script_asks_for_a_source_map() -> None:
    assert not [path.name for path in ASSETS if b"sourceMappingURL" in path.read_bytes()]


def test_every_pin_is_exact_and_the_npm_lock_names_no_address() -> None:
    pins = json.loads((ROOT / "package.json").read_text("utf-8"))["dependencies"]
    lock = (ROOT / "package-lock.json").read_text("utf-8")
    locked = json.loads(lock)["packages"]
    assert {name: locked[f"node_modules/{name}"]["version"] for name in pins} == pins
    assert "://" not in lock
