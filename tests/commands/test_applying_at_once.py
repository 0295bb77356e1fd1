"""Several processes that apply the same queue at once: each action is applied by one of them, and every one ends with a clear answer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.apply.actions import lines
from tests.installations import CHECKOUT, Installation
from tests.phase_memory_folders import make_store, node, put

NODES = 6

QUEUE_AND_SWITCH = """
from datetime import UTC, datetime
from stores.models import Store, User
from stores.review import installation
from stores.review.submitting import Proposer, submit
store, now = Store.objects.get(), datetime.now(UTC)
names = [f"many.{one}" for one in range(%d)]
wanted = [{"action": "mark_stale", "target_ids": [name], "target_type": "node", "reason": "old", "requires_review": False} for name in names]
assert {one.code for one in submit(store, wanted, Proposer("planner", "planner", "worker"), now)} == {"queued"}
installation.set_applying(True, User.objects.create_superuser("root", password="x"), now, through="terminal")
"""


@pytest.mark.slow
def test_each_action_is_applied_by_one_of_several_processes(installation: Installation, tmp_path: Path) -> None:
    root = make_store(tmp_path.resolve() / "atlas")
    for number in range(NODES):
        put(root, "node", node(f"many.{number}"))
    installation.run("add_store", str(root), check=True)
    installation.run("import_stores", check=True)
    installation.run("shell", "-c", QUEUE_AND_SWITCH % NODES, check=True)
    command = [sys.executable, str(CHECKOUT / "manage.py"), "apply_actions", "atlas", "--json"]
    running = [
        subprocess.Popen(command, env=installation.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=installation.place)
        for _ in range(3)
    ]
    said = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], said
    results = [one for out, _ in said for one in json.loads(out)["data"]["results"]]
    assert Counter(one["action_id"] for one in results if one["status"] == "applied").most_common(1)[0][1] == 1
    assert sum(one["status"] == "applied" for one in results) == NODES
    assert {one["reason_code"] for one in results if one["status"] != "applied"} <= {"moved", "store_busy"}
    audits = [one for one in lines(root / "audit.jsonl") if one["operation"] == "lifecycle.apply" and one.get("actor") == "memoryui"]
    assert len(audits) == len({one["subject_id"] for one in audits}) == NODES
    assert [one["sequence"] for one in lines(root / "audit.jsonl")] == list(range(1, NODES + 3))
