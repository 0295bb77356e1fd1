"""The PostgreSQL of the tests exists for one command, whatever becomes of that command."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.throwaway_postgres import NoCluster, program_folder

WRAPPER = Path(__file__).with_name("throwaway_postgres.py")
ASK = "import os, psycopg; url = os.environ['MEMORYUI_DATABASE_URL']; print(url, psycopg.connect(url).info.server_version // 10000, flush=True)"


@pytest.fixture(autouse=True)
def _needs_postgres() -> None:
    try:
        program_folder()
    except NoCluster as err:
        pytest.skip(str(err))


def start(script: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, str(WRAPPER), sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)


def socket_folder(url: str) -> Path:
    return Path(unquote(url.rpartition("host=")[2]))


def test_the_command_can_connect_and_its_exit_code_is_passed_on() -> None:
    with start(f"{ASK}; raise SystemExit(7)") as child:
        said, _ = child.communicate(timeout=120)
    url, version = said.split()
    assert child.returncode == 7
    assert url.startswith("postgresql://postgres@/postgres?host=")
    assert version == program_folder().parent.name
    assert not socket_folder(url).exists()


def test_a_terminated_run_leaves_no_server_behind() -> None:
    with start(f"{ASK}; import signal; signal.pause()") as child:
        assert child.stdout is not None
        url = child.stdout.readline().split()[0]
        assert socket_folder(url).exists()
        child.send_signal(signal.SIGTERM)
        assert child.wait(timeout=60) == 128 + signal.SIGTERM
    assert not socket_folder(url).exists()


def test_an_unknown_command_is_named_before_a_server_is_made() -> None:
    done = subprocess.run([sys.executable, str(WRAPPER), "no-such-program"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (127, "no-such-program: command not found\n")
