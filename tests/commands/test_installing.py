"""Static files are collected when they changed, and not at every start."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import brotli
import pytest
from django.db import connection
from pytest_django import Settings

from stores.management.installing import collect_static_files
from tests.installations import Installation


@pytest.fixture
def assets(tmp_path: Path, settings: Settings) -> Path:
    folder = tmp_path / "assets"
    folder.mkdir()
    (folder / "app.css").write_text("body { color: black }\n" * 40)
    (folder / "app.css.map").write_text("{}")
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    settings.STATIC_ROOT = str(settings.DATA_DIR / "static")
    settings.STATICFILES_DIRS = [folder]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    return folder


def test_files_are_collected_once_and_again_when_one_changed(assets: Path, settings: Settings) -> None:
    assert collect_static_files() is True
    assert collect_static_files() is False
    collected = Path(settings.STATIC_ROOT)
    assert (collected / "app.css").exists()
    assert not (collected / "app.css.map").exists()
    (assets / "app.css").write_text("body { color: navy }\n" * 40)
    assert collect_static_files() is True
    assert "navy" in (collected / "app.css").read_text()
    assert collect_static_files() is False


def test_each_file_has_compressed_copies_that_hold_the_same_and_the_better_one_is_smaller(assets: Path, settings: Settings) -> None:
    (assets / "graph.js").write_text("".join(f"draw({number}, {number * number % 97}, 'node {number}');\n" for number in range(2_000)))
    collect_static_files()
    collected = Path(settings.STATIC_ROOT)
    for name in ("app.css", "graph.js"):
        there, better, usual = ((collected / f"{name}{ending}").read_bytes() for ending in ("", ".br", ".gz"))
        assert brotli.decompress(better) == gzip.decompress(usual) == there == (assets / name).read_bytes()
        assert len(better) < len(usual) < len(there)


@pytest.mark.skipif(os.getuid() == 0, reason="nothing is read-only to root")
def test_migrating_in_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    done = installation.run("migrate", MEMORYUI_DATA_DIR=str(closed / "data"))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert str(closed) in done.stderr


ASK = """
from django.test import Client
client = Client(raise_request_exception=False, HTTP_HOST="127.0.0.1")
client.cookies["sessionid"] = "0123456789abcdef0123456789abcdef"
answer = client.get("/")
print(answer.status_code, b"The database cannot be reached" in answer.content)
"""


@pytest.mark.skipif(connection.vendor != "sqlite", reason="asks for a database file that is not there")
def test_a_page_without_a_database_says_so_with_503(tmp_path: Path) -> None:
    done = Installation(tmp_path).run("shell", "--verbosity", "0", "-c", ASK)
    assert done.stdout.split() == ["503", "True"], done.stderr
