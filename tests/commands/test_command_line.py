"""What all commands share, seen from a shell: help, one line for a mistake, exit codes, a clean standard output."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from stores.management.base import StoreCommand
from tests.installations import CHECKOUT, Installation
from tests.memory_folders import make_project

NAMES = sorted(path.stem for path in (CHECKOUT / "stores" / "management" / "commands").glob("[a-z]*.py"))
OURS = [name for name in NAMES if issubclass(importlib.import_module(f"stores.management.commands.{name}").Command, StoreCommand)]


@pytest.mark.parametrize("name", OURS)
def test_help_says_what_the_command_does_and_gives_an_example(name: str) -> None:
    command = importlib.import_module(f"stores.management.commands.{name}").Command()
    text = command.create_parser("manage.py", name).format_help()
    assert len(command.help) > 60
    assert f"python manage.py {name}" in text
    assert ("--json" in text) == command.offers_json


@pytest.mark.parametrize(
    "arguments",
    [("import_stores", "no-such-store"), ("add_store",), ("list_faults", "--no-such-flag", "x"), ("add_store", "x", "--kind", "nonsense")],
)
def test_a_mistake_is_one_line_and_exit_code_2(installation: Installation, arguments: tuple[str, ...]) -> None:
    done = installation.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_commands_work_right_after_migrate_from_any_folder(installation: Installation) -> None:
    memory = make_project(installation.place)
    added = installation.json("add_store", str(memory))
    assert added["store"] == "shop-api"
    runs = installation.json("import_stores")["runs"]
    assert runs[0]["records"]["decision"]["total"] == 3
    assert installation.json("store_health")["overall"] == "healthy"
    assert installation.json("list_faults", "shop-api")["faults"] == []


def test_a_database_that_was_not_migrated_is_told_in_one_line(tmp_path: Path) -> None:
    bare = Installation(tmp_path)
    done = bare.run("store_health", MEMORYUI_DATABASE_URL=f"sqlite:///{tmp_path}/bare.sqlite3")
    assert (done.returncode, done.stdout) == (2, "")
    assert "migrate" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_crash_ends_with_2_and_not_with_a_verdict(installation: Installation) -> None:
    (installation.data / "worker_id").mkdir()
    done = installation.run("import_stores")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1


def test_json_stands_alone_on_standard_output(installation: Installation) -> None:
    make_project(installation.place)
    done = installation.run("discover_stores", str(installation.place), "--add", "--json")
    assert json.loads(done.stdout)["found"][0]["added"] is True
    assert done.stdout.isascii()


def test_a_reader_that_goes_away_is_no_crash(installation: Installation) -> None:
    import subprocess
    import sys

    for number in range(40):
        make_project(installation.place / "many", f"project-{number}")
    command = [sys.executable, str(CHECKOUT / "manage.py"), "discover_stores", str(installation.place)]
    with subprocess.Popen(command, env=installation.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        said = process.stderr.read().decode()
        process.wait()
    assert "Traceback" not in said
    assert "BrokenPipe" not in said


def test_every_wrong_setting_is_named_at_once_and_its_value_is_not_shown(tmp_path: Path) -> None:
    bare = Installation(tmp_path)
    done = bare.run("store_health", MEMORYUI_SWEEP_SECONDS="often", MEMORYUI_QUEUE_LIMIT="0")
    assert (done.returncode, done.stdout) == (2, "")
    assert [line.strip().partition(":")[0] for line in done.stderr.splitlines()[1:]] == ["MEMORYUI_SWEEP_SECONDS", "MEMORYUI_QUEUE_LIMIT"]
    assert "often" not in done.stderr


def test_a_key_that_cannot_be_used_is_told_in_one_line_and_is_no_verdict(installation: Installation) -> None:
    key = installation.data / "secret_key"
    for content in (b"", b"\xff\xfe"):
        key.write_bytes(content)
        done = installation.run("store_health")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert str(key) in done.stderr
