"""A memoryui installation of its own for tests that start real processes: data folder, database, environment."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.db import connection

CHECKOUT = Path(__file__).resolve().parents[1]
WAIT_S = 180.0
"""Only a test that fails waits so long: machines that run two of them at once, and something else besides, are slow."""
_migrated: list[str] = []
"""What a migrated database is copied from: a file on SQLite, a template on PostgreSQL."""


class Installation:
    """A data folder below `place`, with a migrated database on the engine that the tests run on."""

    def __init__(self, place: Path) -> None:
        self.place = place.resolve()
        self.data = self.place / "data"
        self.data.mkdir(mode=0o700)
        # Compiled once and not at every start, whatever the shell says.
        left_out = ("MEMORYUI_", "DJANGO_", "PYTHONDONTWRITEBYTECODE")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        self.environment = {
            **kept,
            "MEMORYUI_DATA_DIR": str(self.data),
            "MEMORYUI_STORE_ROOTS": str(self.place),
            "MEMORYUI_SWEEP_SECONDS": "1",
            "PYTHONWARNINGS": "error::DeprecationWarning,error::ResourceWarning",
        }
        self._drop: Callable[[], None] = lambda: None

    def set_up(self) -> None:
        """Give it a migrated database, a copy of the one that `keep_migrated` kept."""
        kept = _migrated[0]
        if connection.vendor == "postgresql":
            self._drop = _make_postgres_database(self.environment, f"own_{os.getpid()}_{time.monotonic_ns()}", kept)
        else:
            shutil.copy(kept, self.data / "memoryui.sqlite3")

    def tear_down(self) -> None:
        """Drop what lies outside the folder."""
        self._drop()

    def run(self, *arguments: str, check: bool = False, **changes: Any) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        environment = {**self.environment, **changes}
        command = [sys.executable, str(CHECKOUT / "manage.py"), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False, cwd=self.place)
        assert not check or done.returncode == 0, done.stderr
        return done

    def json(self, *arguments: str, code: int = 0) -> Any:
        """Run a command with --json and give the document, after checking the exit code."""
        done = self.run(*arguments, "--json")
        assert done.returncode == code, (done.returncode, done.stderr)
        return json.loads(done.stdout)

    def popen(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command and leave it to the test to wait for it."""
        command = [sys.executable, str(CHECKOUT / "manage.py"), *arguments]
        return subprocess.Popen(command, env=self.environment, cwd=self.place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Run one SQL statement on its database and give the rows."""
        url = self.environment.get("MEMORYUI_DATABASE_URL")
        if url:
            import psycopg

            with psycopg.connect(url, autocommit=True) as server:
                found = server.execute(statement)
                return found.fetchall() if found.description else []
        with closing(sqlite3.connect(self.data / "memoryui.sqlite3", timeout=30, isolation_level=None)) as database:
            return database.execute(statement).fetchall()

    def value(self, statement: str) -> Any:
        """Give the first column of the first row, None when there is no row."""
        rows = self.query(statement)
        return rows[0][0] if rows else None

    @contextmanager
    def running(self, *arguments: str, **changes: str) -> Iterator[Process]:
        """Run a command beside the test; it is stopped when the block ends."""
        command = [sys.executable, str(CHECKOUT / "manage.py"), *arguments]
        process = Process(command, {**self.environment, **changes}, self.place)
        try:
            yield process
        finally:
            process.end()


class Process:
    """A command that runs beside the test, with its output in two files."""

    def __init__(self, command: list[str], environment: dict[str, str], place: Path) -> None:
        name = f"process-{time.monotonic_ns()}"
        self._out, self._err = place / f"{name}.out", place / f"{name}.err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.popen = subprocess.Popen(command, env=environment, stdout=out, stderr=err, cwd=place)

    @property
    def said(self) -> str:
        """What it wrote so far, results first."""
        return self._out.read_text() + self._err.read_text()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.popen.send_signal(number)

    def wait(self) -> int:
        """Wait for its end and give the exit code."""
        return self.popen.wait(WAIT_S)

    def end(self) -> int:
        """Ask it to end, wait, and give the exit code."""
        if self.popen.poll() is None:
            self.popen.terminate()
        try:
            return self.popen.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
            raise


def keep_migrated() -> None:
    """Keep a copy of the tests' own database, which was just migrated and holds nothing yet, for installations to begin with."""
    name = str(connection.settings_dict["NAME"])
    # The last to leave writes the log of SQLite into the file; PostgreSQL copies no database that somebody is in.
    connection.close()
    if connection.vendor == "postgresql":
        template = f"own_{os.getpid()}_template"
        _make_postgres_database({}, template, name)
        _migrated[:] = [template]
    else:
        _migrated[:] = [shutil.copy(name, f"{os.environ['MEMORYUI_DATA_DIR']}/migrated.sqlite3")]


def wait_for(what: Callable[[], Any], within_s: float = WAIT_S, every_s: float = 0.02) -> Any:
    """Give what the function gives as soon as that is true; fails after `within_s`."""
    deadline = time.monotonic() + within_s
    while not (found := what()):
        assert time.monotonic() < deadline, f"waited {within_s} s in vain"
        select.select([], [], [], every_s)
    return found


def _make_postgres_database(environment: dict[str, str], name: str, template: str = "template1") -> Callable[[], None]:
    """Make a database and point the environment to it; give what drops it."""
    import psycopg

    url = os.environ["MEMORYUI_DATABASE_URL"]
    scheme, _, rest = url.partition("://")
    server, _, query = rest.partition("?")
    environment["MEMORYUI_DATABASE_URL"] = f"{scheme}://{server.rpartition('/')[0]}/{name}?{query}"

    def execute(statement: str) -> None:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(statement)

    execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return lambda: execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
