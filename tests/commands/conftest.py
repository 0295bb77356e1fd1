"""What tests of commands may ask for."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings


class Outcome(NamedTuple):
    """What a command printed, and the exit code it asked for."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)


class Manage:
    """Runs commands in this process, on the test's database, with a data folder and a root below tmp_path."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __call__(self, name: str, *arguments: str | Path) -> Outcome:
        """Run one command."""
        out, err = io.StringIO(), io.StringIO()
        code = 0
        try:
            call_command(name, *map(str, arguments), stdout=out, stderr=err)
        except SystemExit as end:
            code = int(end.code or 0)
        except CommandError as refused:
            code = refused.returncode
            err.write(str(refused))
        return Outcome(code, out.getvalue(), err.getvalue())


@pytest.fixture
def manage(db: None, settings: Settings, tmp_path: Path) -> Manage:
    """Give what runs commands in this process."""
    place = tmp_path.resolve()
    settings.DATA_DIR = place / "data"
    settings.STORE_ROOTS = (place,)
    return Manage(place)
