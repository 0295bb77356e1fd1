"""serve: web and worker in one process tree, started and ended together."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from django.db import connection

from stores.errors import BadRequest
from stores.management.serving import listen
from tests.installations import Installation, Process, wait_for
from tests.memory_folders import make_project


def address_of(serve: Process) -> str:
    """Wait until the pages are up, and give their address."""
    found = wait_for(lambda: serve.popen.poll() is not None or re.search(r"memoryui is on (http://\S+)", serve.said))
    assert found is not True, serve.said
    return str(found.group(1))


def status(address: str) -> int:
    try:
        with urllib.request.urlopen(address, timeout=20) as answer:  # noqa: S310  our own address
            return int(answer.status)
    except urllib.error.HTTPError as err:
        err.close()
        return err.code


def children_of(pid: int) -> dict[int, str]:
    """Give the processes started by this one, with their command lines."""
    listed = subprocess.run(["ps", "-ww", "-o", "pid=,args=", "--ppid", str(pid)], capture_output=True, text=True, check=False).stdout
    return {int(line.split()[0]): line for line in listed.splitlines()}


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_pages_and_worker_run_and_end_together(installation: Installation) -> None:
    installation.run("add_store", str(make_project(installation.place)), check=True)
    with installation.running("serve", "--port", "0") as serve:
        address = address_of(serve)
        assert status(f"{address}/healthz") == 200
        assert status(f"{address}/readyz") == 200
        assert status(f"{address}/sign-in/") == 200
        wait_for(lambda: installation.value("SELECT count(*) FROM stores_decision") == 3)
        assert "createsuperuser" in serve.said
        children = children_of(serve.popen.pid)
        assert len(children) == 2
        serve.signal(signal.SIGINT)
        assert serve.wait() == 0
    assert not [pid for pid in children if is_alive(pid)]
    assert installation.value("SELECT count(*) FROM stores_worker WHERE stopped_at IS NOT NULL") == 1
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=1).close()


def workers_of(serve: Process) -> list[int]:
    """Give the worker processes that a running `serve` has started; it says its address before it starts them."""
    return [pid for pid, line in children_of(serve.popen.pid).items() if "watch_stores" in line]


@pytest.mark.slow
def test_a_worker_that_dies_is_started_again(installation: Installation) -> None:
    with installation.running("serve", "--port", "0") as serve:
        address_of(serve)
        wait_for(lambda: workers_of(serve))
        (first,) = workers_of(serve)
        wait_for(lambda: installation.value("SELECT count(*) FROM stores_worker WHERE started_at IS NOT NULL"))
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: [pid for pid in workers_of(serve) if pid != first])
        assert "started again" in serve.said


@pytest.mark.slow
def test_nothing_is_left_when_the_command_itself_is_killed(installation: Installation) -> None:
    with installation.running("serve", "--port", "0") as serve:
        address = address_of(serve)
        children = children_of(serve.popen.pid)
        serve.signal(signal.SIGKILL)
        serve.wait()
        wait_for(lambda: not [pid for pid in children if is_alive(pid)])
    listen("127.0.0.1", int(address.rpartition(":")[2])).close()


def test_a_database_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("a server makes its databases itself")
    bare = Installation(tmp_path)
    with bare.running("serve", "--port", "0") as serve:
        assert status(f"{address_of(serve)}/readyz") == 200
    assert (bare.data / "secret_key").stat().st_mode & 0o777 == 0o600


def test_a_taken_port_is_one_line(installation: Installation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        done = installation.run("serve", "--port", str(other.getsockname()[1]))
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.strip().splitlines()) == 1
    assert "--port" in done.stderr


ALL_INTERFACES = "0.0.0.0"  # noqa: S104  what must not be bound by mistake


def test_other_machines_are_let_in_only_under_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMORYUI_BASE_URL", raising=False)
    for host in (ALL_INTERFACES, "::", "192.0.2.1", "example.org"):
        with pytest.raises(BadRequest, match="MEMORYUI_BASE_URL"):
            listen(host, 0)
    for host in ("127.0.0.1", "localhost"):
        listen(host, 0).close()
    monkeypatch.setenv("MEMORYUI_BASE_URL", "https://memory.acme.example")
    listen(ALL_INTERFACES, 0).close()


@pytest.mark.parametrize("port", [-1, 65_536, 10**9])
def test_a_number_that_is_no_port_is_refused(port: int) -> None:
    with pytest.raises(BadRequest, match="is no port"):
        listen("127.0.0.1", port)
