"""The suite runs on the engine that was asked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection


@pytest.mark.django_db
def test_the_suite_runs_on_the_engine_that_the_environment_names() -> None:
    asked_for = os.environ.get("MEMORYUI_DATABASE_URL", "")
    assert connection.vendor == ("postgresql" if asked_for.startswith("postgres") else "sqlite")


@pytest.mark.django_db
def test_a_suite_on_sqlite_runs_on_a_file_with_a_write_ahead_log() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("this run is on another engine")
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode")
        assert cursor.fetchone() == ("wal",)
    assert Path(settings.DATA_DIR) in Path(connection.settings_dict["NAME"]).parents


def test_the_suite_keeps_away_from_the_data_folder_of_whoever_runs_it() -> None:
    assert not Path(settings.DATA_DIR).is_relative_to(Path.home() / ".local")
