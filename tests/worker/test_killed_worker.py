"""A worker that is killed in the midst of its applies, and started again, ends each of them once, and whole (rulings 3, 5, 6, 39)."""

from __future__ import annotations

import json
import random
import signal
import time
from collections import Counter
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from stores.formats.canonical import digest
from tests.installations import Installation, wait_for
from tests.phase_memory_folders import make_store, node, put

ACTIONS = 40
APPROVE = """
from datetime import UTC, datetime
from django.contrib.auth.models import Group
from stores.models import Store, User
from stores.review import installation
from stores.review.approving import approve_all
from stores.review.deciding import Manner
from stores.review.submitting import Proposer, submit

now, store = datetime.now(UTC), Store.objects.get()
lead = User.objects.create_user("ines")
lead.groups.add(Group.objects.get(name="reviewer"))
asked = {"action": "transition_phase", "target_type": "node", "to_phase": "stabilized", "reason": "it proved right"}
done = submit(store, [{**asked, "target_ids": [name]} for name in NAMES], Proposer("planner", "planner", "worker"), now)
rows = [one.action for one in done]
decided = approve_all(lead, rows, {row.pk: row.digest for row in rows}, Manner("page", now, password_given=True))
assert {one.code for one in decided} == {"approved"}, decided
installation.set_applying(True, User.objects.create_superuser("root"), now, through="terminal")
"""
APPLIED = "SELECT count(*) FROM stores_lifecycleaction WHERE state = 'applied'"


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


class Queue:
    """Approved actions, each about a node of its own, and what may stand in its file."""

    def __init__(self, installation: Installation) -> None:
        self.installation, self.root = installation, make_store(installation.place / "atlas")
        names = [f"many.{number:03d}" for number in range(ACTIONS)]
        before = {name: sha256(put(self.root, "node", node(name)).read_bytes()).hexdigest() for name in names}
        installation.run("add_store", str(self.root), check=True)
        installation.run("import_stores", check=True)
        installation.run("shell", "--verbosity", "0", "-c", f"NAMES = {names!r}\n{APPROVE}", check=True)
        self.may_hold: dict[str, set[str]] = {}
        for name, effect in installation.query("SELECT first_target, effect FROM stores_lifecycleaction"):
            (replaced,) = [change for change in json.loads(effect)["changes"] if change["do"] == "replace"]
            assert replaced["before"] == before[name]
            self.may_hold[name] = {before[name], replaced["after"]}
        assert self.may_hold.keys() == before.keys()

    @property
    def states(self) -> Counter[str]:
        """How many actions are in which state."""
        return Counter(state for (state,) in self.installation.query("SELECT state FROM stores_lifecycleaction"))

    def has_applied(self, number: int) -> bool:
        """Say that so many actions are applied, or more."""
        return bool(self.installation.value(APPLIED) >= number)

    @property
    def begun(self) -> list[Path]:
        """What the journal says was begun and not ended."""
        return [one for one in self.installation.data.glob("journal/*/open/*") if not one.name.startswith(".")]

    def check_files(self) -> None:
        """Hold every target against what it may hold at any moment."""
        for name, allowed in self.may_hold.items():
            assert sha256((self.root / f"nodes/{name}.json").read_bytes()).hexdigest() in allowed

    def check_end(self) -> None:
        """Hold the store and every record of what was done against each other when all of it is done."""
        assert self.states == {"applied": ACTIONS}
        said = {one["action_id"]: one["id"] for one in lines(self.root / "events.jsonl") if "action_id" in one}
        assert len(said) == sum("action_id" in one for one in lines(self.root / "events.jsonl")) == ACTIONS
        audit = lines(self.root / "audit.jsonl")
        records = {
            str(one["subject_id"]): one for one in audit if str(one.get("subject_id", "")).startswith("action:") and "event_ids" in one
        }
        assert [one["previous_digest"] for one in audit[1:]] == [digest(one) for one in audit[:-1]]
        rows = self.installation.query("SELECT id, action_id, first_target, effect, receipt, change_id FROM stores_lifecycleaction")
        for pk, action_id, name, effect, kept, change_id in rows:
            receipt = kept if isinstance(kept, dict) else json.loads(kept)
            (replaced,) = [change for change in json.loads(effect)["changes"] if change["do"] == "replace"]
            assert sha256((self.root / f"nodes/{name}.json").read_bytes()).hexdigest() == replaced["after"]
            assert (receipt["as_approved"], receipt["outcome"], receipt["change"]) == (True, "applied", change_id), pk
            assert receipt["event_ids"] == [said[action_id]] == records[action_id]["event_ids"]
            assert receipt["audit_id"] == records[action_id]["audit_id"]
            assert sum(one.get("subject_id") == action_id and one["decision"] == "applied" for one in audit) == 1
        told = Counter(
            label for (label,) in self.installation.query("SELECT object_label FROM stores_auditevent WHERE event = 'action_applied'")
        )
        assert told == Counter(f"#{row[0]} transition_phase" for row in rows)
        assert self.installation.value("SELECT count(*) FROM stores_review WHERE spent_at IS NOT NULL") == ACTIONS
        assert list(self.root.rglob(".*")) == [] == self.begun


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_worker_that_is_killed_again_and_again_applies_everything_once(installation: Installation, seed: int) -> None:
    queue, chance = Queue(installation), random.Random(seed)  # noqa: S311  moments, no secrets
    kills = interrupted = 0
    while kills < 4 or (not interrupted and kills < 6):
        target = queue.states["applied"] + chance.randint(1, 4)
        with installation.running("watch_stores") as worker:
            wait_for(partial(queue.has_applied, target), 60, every_s=0.001)
            until = time.monotonic() + chance.random() * 0.05
            while time.monotonic() < until:
                pass
            worker.signal(signal.SIGKILL)
            assert worker.wait() == -signal.SIGKILL
        kills += 1
        queue.check_files()
        states = queue.states
        assert states.keys() <= {"applied", "applying", "approved"}
        interrupted += bool(states["applying"] or queue.begun)
    assert interrupted
    with installation.running("watch_stores") as worker:
        wait_for(partial(queue.has_applied, ACTIONS), 120)
        wait_for(lambda: not queue.begun)
        assert worker.end() == 0
    queue.check_end()
