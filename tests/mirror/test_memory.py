"""Files made to fill the memory of their reader: every import stays below 200 MB and ends (ruling 61)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stores.formats.orchestkit import KIND
from tests.installations import Installation
from tests.mirror.images import place_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
LIMIT_MB = 200
MEASURE = """
import pathlib, resource, sys
from django.core.management import execute_from_command_line
try:
    execute_from_command_line(["manage.py", "import_stores"])
finally:
    # The peak of getrusage would begin with that of the tests' own process, from which this one was forked.
    own = next(int(line.split()[1]) for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    used = max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    sys.stderr.write(f"\\npeak_mb={used // 1024}\\n")
"""


def peak_mb(installation: Installation) -> int:
    """Import every store in a process of its own and give the most memory that it, or a process of its, held."""
    checkout = Path(__file__).parents[2]
    environment = {**installation.environment, "DJANGO_SETTINGS_MODULE": "memoryui.settings"}
    done = subprocess.run([sys.executable, "-c", MEASURE], env=environment, cwd=checkout, capture_output=True, text=True, timeout=300)
    assert "Traceback" not in done.stderr, done.stderr
    return int(done.stderr.rpartition("peak_mb=")[2])


def test_own_files_of_long_and_of_many_lines_take_little_memory(installation: Installation) -> None:
    root = installation.place / "large" / ".claude" / "memory"
    root.mkdir(parents=True)
    (root / "decisions.jsonl").write_bytes(b'{"content":{"what":"' + b"x" * 12_000_000 + b'"}}\n' + b'{"id":"a"}\n' * 40_000)
    (root / "graph-queue.jsonl").write_bytes(b"[" * 600_000 + b"\n" + b"\n" * 500_000)
    (root / "open-problems.jsonl").write_bytes(b'{"text":"' + b"y" * 900_000 + b'"}\n' + b"{" * 2_000_000)
    installation.run("add_store", str(root), check=True)
    assert peak_mb(installation) < LIMIT_MB
    assert installation.value("SELECT count(*) FROM stores_decision") == 40_000


def test_a_queue_that_nobody_drained_takes_little_memory(installation: Installation) -> None:
    root = installation.place / "undrained" / ".claude" / "memory"
    root.mkdir(parents=True)
    relation = b'{"type":"create_relations","payload":{"relations":[{"from":"decision-%d","to":"redis","relationType":"CHOSE"}]}}\n'
    (root / "graph-queue.jsonl").write_bytes(b"".join(relation % number for number in range(60_000)))
    installation.run("add_store", str(root), check=True)
    assert peak_mb(installation) < LIMIT_MB
    assert installation.value("SELECT count(*) FROM stores_fault WHERE code = 'dangling_relation'") == 60_000


def test_shared_large_files_as_each_file_of_a_store_take_little_memory(installation: Installation, shared: Path) -> None:
    made = installation.place / "big"
    subprocess.run([sys.executable, str(shared / "tools" / "gen_hostile.py"), "--big", str(made)], check=True, capture_output=True)
    files = sorted(path for path in made.rglob("*") if path.suffix in (".json", ".jsonl"))
    assert files
    for number, file in enumerate(files):
        root = installation.place / "projects" / f"store{number}" / ".claude" / "memory"
        root.mkdir(parents=True)
        for spec in {(spec.record_type, spec.whole): spec for spec in KIND.files if not spec.anchor}.values():
            place = place_of(root, spec)
            place.parent.mkdir(parents=True, exist_ok=True)
            # Holes stay holes: 2 GiB of nothing for each kind of file would fill a disk.
            subprocess.run(["cp", "--sparse=always", str(file), str(place)], check=True)
    installation.run("discover_stores", str(installation.place / "projects"), "--add", check=True)
    assert installation.value("SELECT count(*) FROM stores_store") == len(files)
    assert peak_mb(installation) < LIMIT_MB
