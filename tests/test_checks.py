"""What is wrong with an installation is said by `manage.py check`."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.checks import CheckMessage
from django.test import override_settings

from stores import checks


def ids(messages: list[CheckMessage]) -> list[str | None]:
    return [message.id for message in messages]


def test_a_missing_root_is_named(tmp_path: Path) -> None:
    with override_settings(STORE_ROOTS=(tmp_path, tmp_path / "gone")):
        found = checks.check_store_roots(None)
    assert ids(found) == ["stores.W001"]
    assert "gone" in found[0].msg


@pytest.mark.parametrize(("mode", "found"), [(0o700, []), (0o750, ["stores.W002"]), (0o701, ["stores.W002"])])
def test_a_data_folder_that_others_may_enter_is_named(tmp_path: Path, mode: int, found: list[str]) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(mode)
    with override_settings(DATA_DIR=folder):
        assert ids(checks.check_data_folder(None)) == found


def test_a_data_folder_that_is_not_made_yet_is_no_fault(tmp_path: Path) -> None:
    with override_settings(DATA_DIR=tmp_path / "later"):
        assert checks.check_data_folder(None) == []


@pytest.mark.parametrize("inside", ["", "deep/down"])
def test_a_data_folder_in_a_store_is_refused(tmp_path: Path, inside: str) -> None:
    store = tmp_path / "shop" / ".claude" / "memory"
    store.mkdir(parents=True)
    (store / "decisions.jsonl").write_bytes(b"")
    folder = store / "data" / inside
    folder.mkdir(parents=True, mode=0o700)
    folder.chmod(0o700)
    with override_settings(DATA_DIR=folder):
        assert ids(checks.check_data_folder(None)) == ["stores.E001"]


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORYUI_", "DJANGO_"))}
    command = [sys.executable, str(Path(__file__).parents[1] / "manage.py"), *arguments]
    return subprocess.run(command, env={**kept, **environment}, capture_output=True, text=True, timeout=300, check=False)


def test_an_installation_behind_https_passes_django_s_own_checks_for_a_deployment(tmp_path: Path) -> None:
    behind_https = {
        "MEMORYUI_DATA_DIR": str(tmp_path / "data"),
        "MEMORYUI_STORE_ROOTS": str(tmp_path),
        "MEMORYUI_BASE_URL": "https://memory.example",
    }
    refused = manage("check", "--deploy", "--fail-level", "WARNING", **behind_https)
    assert "stores.E002" in refused.stderr
    assert manage("migrate", "--verbosity", "0", **behind_https).returncode == 0
    passed = manage("check", "--deploy", "--fail-level", "WARNING", **behind_https)
    assert passed.returncode == 0, passed.stderr
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "data").iterdir()}
    assert set(modes.values()) == {0o600}, modes


def test_a_file_of_sqlite_can_be_named_and_is_used_like_the_one_in_the_data_folder(tmp_path: Path) -> None:
    place = tmp_path / "other.sqlite3"
    ask = "from django.db import connection as c; c.ensure_connection(); print(c.settings_dict['ENGINE'], c.settings_dict['NAME'])"
    said = manage(
        "shell", "--verbosity", "0", "-c", ask, MEMORYUI_DATABASE_URL=f"sqlite:///{place}", MEMORYUI_DATA_DIR=str(tmp_path / "data")
    )
    assert said.stdout.split() == ["stores.sqlite", str(place)]
    assert place.exists()


def test_a_wildcard_among_the_hosts_is_refused() -> None:
    refused = manage("check", MEMORYUI_ALLOWED_HOSTS="*")
    assert refused.returncode != 0
    assert "MEMORYUI_ALLOWED_HOSTS" in refused.stderr


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:///other.sqlite3", "with its whole path"),
        ("sqlite://:memory:", "with its whole path"),
        ("spatialite:////srv/other.sqlite3", "No engine but PostgreSQL"),
        ("mysql://u:hunter2secret@db/x", "No engine but PostgreSQL"),
        ("memory.sqlite3", "No engine but PostgreSQL"),
        ("postgresql://u:hunter2secret@db", "names no database"),
        ("postgresql://u:hunter2secret@db:port/x", "cannot be read"),
    ],
)
def test_an_address_of_a_database_that_cannot_be_used_is_said_in_words_without_its_password(url: str, said: str) -> None:
    refused = manage("check", MEMORYUI_DATABASE_URL=url)
    assert refused.returncode == 2
    assert len(refused.stderr.strip().splitlines()) == 2, refused.stderr
    assert "MEMORYUI_DATABASE_URL: " in refused.stderr
    assert said in refused.stderr
    assert "hunter2secret" not in refused.stderr


def test_a_key_that_ends_with_the_process_is_refused_for_a_deployment() -> None:
    with override_settings(SECRET_KEY_IS_KEPT=False):
        assert ids(checks.check_secret_key(None)) == ["stores.E002"]
    with override_settings(SECRET_KEY_IS_KEPT=True):
        assert checks.check_secret_key(None) == []
