"""A data folder of its own for each test that changes stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import Settings


@pytest.fixture(autouse=True)
def data_folder(settings: Settings, tmp_path: Path) -> Path:
    """Point the journal to a folder of this test."""
    place = tmp_path.resolve()
    settings.DATA_DIR = place / "data"
    settings.STORE_ROOTS = (place,)
    return place / "data"
