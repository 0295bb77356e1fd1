"""load_demo as a process: stores with a past, accounts, and nothing outside its folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.installations import CHECKOUT, Installation, wait_for

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Make the demo once, from a shell in which a real installation is set up."""
    place = tmp_path_factory.mktemp("demo").resolve()
    (place / "real").mkdir()
    installation = Installation(place / "real")
    installation.environment |= {
        "MEMORYUI_DEMO_DIR": str(place / "demo"),
        "HOME": str(place / "home"),
        "XDG_STATE_HOME": str(place / "state"),
    }
    installation.environment["MEMORYUI_DATABASE_URL"] = f"sqlite:///{place}/real/other.sqlite3"
    done = installation.run("load_demo", check=True)
    own = {name: value for name, value in installation.environment.items() if name != "MEMORYUI_DATABASE_URL"}
    own |= {"MEMORYUI_DATA_DIR": str(place / "demo"), "MEMORYUI_STORE_ROOTS": str(place / "demo")}
    return {"place": place, "said": done.stdout, "installation": installation, "environment": own}


def in_demo(demo: dict[str, Any], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command on the demo's own data."""
    command = [sys.executable, str(CHECKOUT / "manage.py"), *arguments]
    return subprocess.run(command, env=demo["environment"], capture_output=True, text=True, check=False, timeout=400)


def test_nothing_is_written_outside_the_demo(demo: dict[str, Any]) -> None:
    place: Path = demo["place"]
    assert sorted(path.name for path in place.iterdir()) == ["demo", "real"]
    assert list((place / "real").rglob("*")) == [place / "real" / "data"]


def test_four_accounts_get_passwords_that_are_shown_once_and_kept_as_hashes(demo: dict[str, Any]) -> None:
    passwords = dict(re.findall(r"^  (viewer|reviewer|operator|admin) +(\S+)$", demo["said"], re.MULTILINE))
    assert passwords.keys() == {"viewer", "reviewer", "operator", "admin"}
    assert len(set(passwords.values())) == 4
    for path in demo["place"].rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not [name for name, password in passwords.items() if password.encode() in content], path
    check = (
        "from stores.models import User\nfrom stores.accounts import roles\n"
        f"print([(u.username, sorted(roles(u)), u.is_superuser, u.check_password({passwords!r}[u.username])) for u in User.objects.order_by('pk')])"
    )
    assert in_demo(demo, "shell", "--verbosity", "0", "-c", check).stdout.strip() == str(
        [
            ("viewer", ["viewer"], False, True),
            ("reviewer", ["reviewer"], False, True),
            ("operator", ["operator"], False, True),
            ("admin", ["operator", "reviewer", "viewer"], True, True),
        ]
    )


def test_the_stores_are_as_healthy_as_their_stories(demo: dict[str, Any]) -> None:
    told = in_demo(demo, "store_health")
    assert told.returncode == 1
    verdicts = dict(line.split()[:2] for line in told.stdout.splitlines()[:5])
    degraded = dict.fromkeys(("billing-core", "atlas-web", "release-notes"), "degraded")
    assert verdicts == {"shop-api": "healthy", "data-platform": "healthy", **degraded}


def test_the_past_is_in_changes_and_measurements(demo: dict[str, Any]) -> None:
    ask = (
        "from stores.models import Change, Measurement, Store\nfrom datetime import timedelta\n"
        "days = lambda moments: len({moment.date() for moment in moments})\n"
        "for store in Store.objects.order_by('slug'):\n"
        "    print(store.slug, days(Measurement.objects.filter(store=store).values_list('at', flat=True)), "
        "days(Change.objects.filter(store=store).values_list('at', flat=True)))"
    )
    rows = [line.split() for line in in_demo(demo, "shell", "--verbosity", "0", "-c", ask).stdout.splitlines()]
    assert [row[0] for row in rows] == ["atlas-web", "billing-core", "data-platform", "release-notes", "shop-api"]
    assert all(int(measured) >= 14 and int(changed) >= 5 for _, measured, changed in rows)


def test_a_second_time_keeps_everything_and_new_passwords_are_made_when_asked(demo: dict[str, Any]) -> None:
    log = demo["place"] / "demo" / "stores" / "shop-api" / ".claude" / "memory" / "decisions.jsonl"
    before = log.read_bytes()
    installation: Installation = demo["installation"]
    again = installation.run("load_demo", check=True)
    assert "printed when the demo was made" in again.stdout
    assert log.read_bytes() == before
    renewed = installation.run("load_demo", "--new-passwords", check=True).stdout
    assert len(re.findall(r"^  \w+ +\S+-\S+-\S+-\S+$", renewed, re.MULTILINE)) == 4
    assert in_demo(demo, "verify_audit").returncode == 0


def test_a_replay_that_was_stopped_starts_over(demo: dict[str, Any]) -> None:
    stores: Path = demo["place"] / "demo" / "stores"
    (stores / ".made").unlink()
    demo["installation"].run("load_demo", check=True)
    assert (stores / ".made").exists()
    assert len(in_demo(demo, "store_health").stdout.splitlines()) > 5


def test_it_is_refused_on_the_data_of_a_real_installation(demo: dict[str, Any]) -> None:
    code = "from django.core.management import call_command\ncall_command('load_demo')"
    done = in_demo({"environment": {**demo["environment"], "MEMORYUI_DATA_DIR": str(demo["place"] / "real" / "data")}}, "shell", "-c", code)
    assert done.returncode != 0
    assert "only works on the demo's own folder" in done.stderr


def test_served_it_goes_on_changing(demo: dict[str, Any]) -> None:
    installation: Installation = demo["installation"]
    log = demo["place"] / "demo" / "stores" / "data-platform" / ".claude" / "memory" / "decisions.jsonl"
    size = log.stat().st_size
    with installation.running("load_demo", "--serve", "--port", "0") as served:
        wait_for(lambda: "memoryui is on http://127.0.0.1:" in served.said)
        wait_for(lambda: log.stat().st_size > size)
        assert served.end() == 0
    assert os.environ.get("MEMORYUI_DEMO_DIR") is None
