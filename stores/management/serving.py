"""Web and worker as children of one command: started together, the worker started again when it dies, both ended together."""

from __future__ import annotations

import ctypes
import errno
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings

from stores.errors import BadRequest, Conflict
from stores.management.base import DONE, REFUSED
from stores.worker.identity import only_worker
from stores.worker.stopping import Stop, stop_on_signals

WEB_PROCESSES = 2
THREADS = 4
TURN_S = 0.25
END_WAIT_S = 20.0
READY_WAIT_S = 30.0
FIRST_RESTART_S, LONGEST_RESTART_S = 1.0, 30.0
STEADY_S = 60.0
PR_SET_PDEATHSIG = 1
LAST_PORT = 65_535

log = logging.getLogger(__name__)
_libc = ctypes.CDLL(None)


def listen(host: str, port: int) -> socket.socket:
    """Give a listening socket; port 0 takes any free one.

    Raises BadRequest for an address beyond this host while MEMORYUI_BASE_URL does not say under which name it is reached, or one
    that cannot be bound; Conflict when the port is taken.
    """
    if not _is_loopback(host) and "MEMORYUI_BASE_URL" not in os.environ:
        raise BadRequest(
            f"{host} can be reached from other machines. Set MEMORYUI_BASE_URL to the address that people will use (https://… behind a proxy), "
            "then start again."
        )
    if not 0 <= port <= LAST_PORT:
        raise BadRequest(f"{port} is no port: they go from 0 to {LAST_PORT}.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as err:
        if err.errno == errno.EADDRINUSE:
            raise Conflict(f"Port {port} of {host} is taken by another program. Choose another with --port.") from err
        raise BadRequest(f"{host} port {port} cannot be used: {err.strerror or err}.") from err


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address_of(listening: socket.socket) -> str:
    """Give the URL under which a browser on this host reaches the socket, or MEMORYUI_BASE_URL where that is set."""
    host, port = listening.getsockname()[:2]
    return os.environ.get("MEMORYUI_BASE_URL", "").rstrip("/") or f"http://{f'[{host}]' if ':' in host else host}:{port}"


def serve(listening: socket.socket, *, announce: Callable[[str], None], tick: Callable[[], None] = lambda: None) -> int:
    """Run web and worker until a signal asks for the end; give the exit code.

    `announce` gets the address once the web answers; `tick` is called several times a second. Raises WorkerRunning when another
    process is the worker of this data folder.
    """
    with only_worker(settings.DATA_DIR):
        pass
    address = address_of(listening)
    environment = {**os.environ, "MEMORYUI_BASE_URL": address}
    stop = Stop()
    with closing(listening), stop_on_signals(stop):
        web = _Child("web", _web_command(listening), environment, (listening.fileno(),))
        worker = _Child("worker", [sys.executable, str(settings.BASE_DIR / "manage.py"), "watch_stores"], environment)
        try:
            web.start()
            worker.start()
            if not _answers(listening, web, stop):
                log.error("The web did not come up.")
                return REFUSED
            announce(address)
            while not stop.requested.is_set():
                if web.code() is not None:
                    log.error("The web ended by itself (exit code %s).", web.code())
                    return REFUSED
                worker.keep_alive()
                tick()
                stop.wait(TURN_S)
            return DONE
        finally:
            for child in (web, worker):
                child.ask_to_end()
            for child in (web, worker):
                child.end()


def _web_command(listening: socket.socket) -> list[str]:
    """One process a core and four threads each (ruling 78); gunicorn's control socket and its folder at home are not wanted."""
    return [
        *(sys.executable, "-m", "gunicorn", settings.WSGI_APPLICATION.replace(".application", ":application")),
        *("--bind", f"fd://{listening.fileno()}", "--chdir", str(settings.BASE_DIR)),
        *("--workers", str(WEB_PROCESSES), "--threads", str(THREADS), "--worker-class", "gthread"),
        *("--worker-tmp-dir", str(settings.DATA_DIR), "--no-control-socket", "--graceful-timeout", "10", "--log-level", "warning"),
    ]


def _answers(listening: socket.socket, web: _Child, stop: Stop) -> bool:
    """Wait until the web answers at all; False when it ends before, or takes too long."""
    host, port = listening.getsockname()[:2]
    deadline = time.monotonic() + READY_WAIT_S
    while time.monotonic() < deadline and web.code() is None and not stop.requested.is_set():
        asked = HTTPConnection(host, port, timeout=READY_WAIT_S)
        try:
            asked.request("GET", "/healthz", headers={"Host": urlsplit(address_of(listening)).netloc})
            asked.getresponse().read()
            return True
        except (OSError, HTTPException):
            stop.wait(TURN_S)
        finally:
            asked.close()
    return stop.requested.is_set()


class _Child:
    """A process of ours, in a group of its own so that Ctrl-C reaches it through us alone."""

    def __init__(self, name: str, command: Sequence[str], environment: dict[str, str], descriptors: tuple[int, ...] = ()) -> None:
        self._name, self._command, self._environment, self._descriptors = name, command, environment, descriptors
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = self._restart_at = 0.0
        self._wait_s = FIRST_RESTART_S

    def start(self) -> None:
        """Start it."""
        self._started_at = time.monotonic()
        self._process = subprocess.Popen(  # noqa: S603  our own interpreter and arguments
            self._command,
            env=self._environment,
            pass_fds=self._descriptors,
            process_group=0,
            preexec_fn=_end_with_parent,
        )

    def code(self) -> int | None:
        """Give its exit code, None while it runs."""
        return self._process.poll() if self._process else None

    def keep_alive(self) -> None:
        """Start it again when it ended: after a second, then later and later unless it ran for a minute."""
        code, clock = self.code(), time.monotonic()
        if code is None:
            return
        if not self._restart_at:
            steady = clock - self._started_at >= STEADY_S
            self._wait_s = FIRST_RESTART_S if steady else min(self._wait_s * 2, LONGEST_RESTART_S)
            self._restart_at = clock + self._wait_s
            log.warning("The %s ended (exit code %s); it is started again in %.0f s.", self._name, code, self._wait_s)
        elif clock >= self._restart_at:
            self._restart_at = 0.0
            self.start()

    def ask_to_end(self) -> None:
        """Ask it to end at a safe point."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    def end(self) -> None:
        """Wait for its end, and force it when it takes too long."""
        if self._process is None:
            return
        try:
            self._process.wait(END_WAIT_S)
        except subprocess.TimeoutExpired:
            log.warning("The %s did not end in %.0f s and is stopped hard.", self._name, END_WAIT_S)
            self._process.kill()
            self._process.wait()


def _end_with_parent() -> None:
    """Let the kernel ask a child to end when its parent dies, however that died; where the kernel cannot, nothing is lost."""
    if sys.platform == "linux":
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
