"""What every test may ask for: the shared samples, a real browser, an installation of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from pytest_django import DjangoDbBlocker

from tests.installations import Installation, keep_migrated

BROWSERS = ("chromium", "chromium-browser", "google-chrome")

hypothesis.settings.register_profile("suite", deadline=None, print_blob=True)
hypothesis.settings.load_profile("suite")


def find_chromium() -> str | None:
    """Give the path of an installed Chromium, or None."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what drives a browser where none is installed."""
    if find_chromium():
        return
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason="no Chromium is installed"))


@pytest.fixture(autouse=True)
def files_that_stay_broken_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an import read again at once what may be half written: nobody completes what a test has just broken."""
    monkeypatch.setattr("stores.mirror.reading_again.AGAIN_AFTER_S", 0.0)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Give the folder of samples and format pages that lies beside a development checkout; skip the test without it."""
    folder = Path(os.environ.get("MEMORYUI_SHARED") or Path(__file__).parents[1] / ".." / "shared").resolve()
    if not (folder / "samples").is_dir():
        pytest.skip("the shared samples are not beside this checkout (MEMORYUI_SHARED names another place)")
    return folder


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Give the path of the browser that tests marked `browser` drive."""
    path = find_chromium()
    assert path is not None, "mark the test `browser`: it is then skipped where no Chromium is installed"
    return path


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Keep a copy of the database as it is before the first test."""
    with django_db_blocker.unblock():
        keep_migrated()


@pytest.fixture
def installation(tmp_path: Path, db: None) -> Iterator[Installation]:
    """Give an installation of its own, on the engine that the tests run on, whose commands are real processes."""
    made = Installation(tmp_path)
    made.set_up()
    yield made
    made.tear_down()
