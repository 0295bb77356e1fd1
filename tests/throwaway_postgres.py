"""Runs a command against a PostgreSQL cluster that exists for that command only.

    python tests/throwaway_postgres.py pytest -q

The settings are read before any conftest.py, so a database made there would come too late and leave the tests on SQLite, green.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from urllib.parse import quote

PROGRAMS = ("initdb", "pg_ctl", "postgres")
SERVER_ACCOUNT = "postgres"
"""PostgreSQL refuses to run as root, so root lends it this account, which Debian's package makes."""

SPEED_BEFORE_SAFETY = "-c fsync=off -c full_page_writes=off -c synchronous_commit=off"


class NoCluster(Exception):
    """PostgreSQL is not installed, or would not start; the text says which."""


def program_folder() -> Path:
    """Give the folder with the newest PostgreSQL programs, Debian's versioned folders before `pg_config`.

    Raises NoCluster when there is none.
    """
    versions = (folder for folder in Path("/usr/lib/postgresql").glob("*/bin") if folder.parent.name.isdigit())
    candidates = sorted(versions, key=lambda folder: int(folder.parent.name), reverse=True)
    if pg_config := shutil.which("pg_config"):
        told = subprocess.run([pg_config, "--bindir"], capture_output=True, text=True, check=False)
        candidates.append(Path(told.stdout.strip() or "/nonexistent"))
    for folder in candidates:
        if all((folder / program).is_file() for program in PROGRAMS):
            return folder
    raise NoCluster("No PostgreSQL server programs found. Install them (Debian: apt-get install postgresql), or put pg_config on the PATH.")


@contextlib.contextmanager
def cluster() -> Iterator[str]:
    """Give the URL of an empty cluster; it listens on a socket in a temporary folder, on no port, and is removed afterwards.

    Raises NoCluster when the programs are missing or fail.
    """
    programs = program_folder()
    account = _account()
    # A socket's path holds 107 bytes, so the folder's name must be short whatever TMPDIR says.
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    try:
        if account is not None:
            os.chown(folder, account.pw_uid, account.pw_gid)
            folder.chmod(0o711)
        data, log = folder / "data", folder / "log"
        _run(account, log, programs / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "-N")
        listen = f"-c listen_addresses= -c unix_socket_directories={folder} {SPEED_BEFORE_SAFETY}"
        try:
            _run(account, log, programs / "pg_ctl", "-D", data, "-l", log, "-w", "-o", listen, "start")
            yield f"postgresql://postgres@/postgres?host={quote(str(folder), safe='')}"
        finally:
            if (data / "postmaster.pid").exists():
                _run(account, log, programs / "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(command: Sequence[str]) -> int:
    """Run `command` with MEMORYUI_DATABASE_URL naming a fresh cluster; give its exit code, as a shell would."""
    with cluster() as url, subprocess.Popen(command, env={**os.environ, "MEMORYUI_DATABASE_URL": url}) as child:
        try:
            code = child.wait()
        except BaseException:
            # Ctrl-C reaches the child by itself, SIGTERM does not.
            child.terminate()
            child.wait()
            raise
    return code if code >= 0 else 128 - code


def _account() -> pwd.struct_passwd | None:
    """Give the account the server must run under, or None when our own will do."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(SERVER_ACCOUNT)
    except KeyError:
        raise NoCluster(
            f"PostgreSQL does not run as root and there is no account `{SERVER_ACCOUNT}`; run this as an ordinary user."
        ) from None


def _run(account: pwd.struct_passwd | None, log: Path, *command: str | Path) -> None:
    """Run one PostgreSQL program; raises NoCluster with what it and the server said when it fails."""
    # The server must not inherit a pipe of ours: reading it to its end would wait as long as the server lives.
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            cwd="/",
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=[] if account else None,
            check=False,
        )
        if done.returncode:
            said.seek(0)
            text = said.read().decode("utf-8", "replace")
            text += log.read_text("utf-8", "replace") if log.exists() else ""
            raise NoCluster(f"{Path(command[0]).name} failed ({done.returncode}):\n{text}")


def _stop(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def main() -> int:
    """Run the command that the arguments name."""
    if len(sys.argv) < 2:
        sys.stderr.write("usage: throwaway_postgres.py COMMAND [ARGUMENT …]\n")
        return 2
    if shutil.which(sys.argv[1]) is None:
        sys.stderr.write(f"{sys.argv[1]}: command not found\n")
        return 127
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGHUP, _stop)
    try:
        return run(sys.argv[1:])
    except NoCluster as err:
        sys.stderr.write(f"{err}\n")
        return 3


if __name__ == "__main__":
    sys.exit(main())
