"""A data folder of its own, with keys of its own, for each test of the queue."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import Settings


@pytest.fixture(autouse=True)
def data_folder(settings: Settings, tmp_path: Path) -> Path:
    """Point keys and journal to a folder of this test."""
    place = tmp_path.resolve()
    settings.DATA_DIR = place / "data"
    settings.STORE_ROOTS = (place,)
    return place / "data"
