"""Signs in again and again, as a person would, while the worker imports a large log."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

PASSWORD = "a long enough password"  # noqa: S105  of an account that lives as long as the measurement
PAUSE_S = 0.15
FIRST_LINE_S = 60


def measure(folder: Path, repository: Path) -> dict[str, Any]:
    """Serve the project below `folder`, sign in while its log is imported, and give p50 and p95 in ms and how often."""
    environment = dict(os.environ, MEMORYUI_DATA_DIR=str(folder / "data"), MEMORYUI_STORE_ROOTS=str(folder), MEMORYUI_DATABASE_URL="")
    manage = [sys.executable, str(repository / "manage.py")]
    subprocess.run([*manage, "migrate", "-v", "0"], check=True, env=environment)
    make = (
        "from stores.models import User; from django.contrib.auth.models import Group; "
        f"u = User.objects.create_user('bench', password={PASSWORD!r}); u.groups.add(Group.objects.get(name='viewer'))"
    )
    subprocess.run([*manage, "shell", "-v", "0", "-c", make], check=True, env=environment)
    port = 18_000 + os.getpid() % 10_000
    environment["MEMORYUI_BASE_URL"] = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [*manage, "serve", "--port", str(port)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/readyz")
        subprocess.run([*manage, "add_store", str(folder / "project")], check=True, env=environment, capture_output=True)
        return _sign_in_while_importing(f"http://127.0.0.1:{port}", manage, environment)
    finally:
        server.terminate()
        server.wait(30)


def _sign_in_while_importing(address: str, manage: list[str], environment: dict[str, str]) -> dict[str, Any]:
    importing = subprocess.Popen([*manage, "import_stores", "--json"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    taken: list[float] = []
    while importing.poll() is None:
        with httpx.Client(base_url=address) as browser:
            page = browser.get("/sign-in/")
            token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
            if token is None:
                raise SystemExit("The sign-in page has no form.")
            form = {"username": "bench", "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
            began = time.perf_counter()
            answer = browser.post("/sign-in/", data=form, headers={"Referer": f"{address}/sign-in/"})
            taken.append(time.perf_counter() - began)
            if answer.status_code != 302:
                raise SystemExit(f"Signing in was answered with {answer.status_code}.")
        time.sleep(PAUSE_S)
    taken.sort()
    p95 = taken[min(len(taken) - 1, int(len(taken) * 0.95))]
    return {"p50_ms": statistics.median(taken) * 1000, "p95_ms": p95 * 1000, "sign_ins": len(taken)}


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + FIRST_LINE_S
    while time.monotonic() < deadline:
        try:
            if httpx.get(address).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise SystemExit(f"{address} did not answer within {FIRST_LINE_S} s.")
