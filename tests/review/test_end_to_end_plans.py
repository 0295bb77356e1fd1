"""Generated plans from the command that hands them in to the bytes on disk, with the verdicts that their generator expects (ruling 25)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.utils import timezone

from stores.models import LifecycleAction
from stores.review.approving import approve_all
from stores.review.deciding import Manner, reject_all
from stores.review.installation import set_applying
from tests.commands.conftest import Manage
from tests.factories import make_superuser
from tests.review.queues import reviewer

pytestmark = pytest.mark.django_db

Verdicts = dict[str, list[str | None]]


class Made(NamedTuple):
    """A generated store that is registered here, and what its generator expects."""

    folder: Path
    manifest: dict[str, Any]
    run: Manage

    def submit(self, name: str) -> list[Any]:
        """Hand a plan in; give what became of each proposal, in their order."""
        done = self.run("submit_actions", "made", self.folder / name, "--json")
        return sorted(done.document["results"], key=lambda one: one["position"])

    def apply(self) -> Verdicts:
        """Apply what may be; give the verdict on each open action."""
        done = self.run("apply_actions", "made", "--json")
        assert done.code == 0, done.err
        return {one["action_id"]: [one["status"], one["reason_code"]] for one in done.document["data"]["results"]}

    def faults(self, shared: Path) -> str:
        """Give what the generator's own checker finds in the store."""
        command = [sys.executable, str(shared / "tools/check_store.py"), str(self.folder / "store")]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def made(shared: Path, tmp_path: Path) -> Made:
    out = tmp_path.resolve() / "made"
    command = [sys.executable, str(shared / "tools/gen_store.py"), "--out", str(out), "--nodes", "60", "--actions", "20", "--seed", "7"]
    subprocess.run(command, check=True, capture_output=True)
    run = Manage(tmp_path.resolve())
    assert run("add_store", out / "store", "--slug", "made").code == 0
    assert run("import_stores").code == 0
    set_applying(True, make_superuser("root"), timezone.now(), through="terminal")
    return Made(out, json.loads((out / "manifest.json").read_bytes()), run)


def approve(ids: Iterable[str] | None = None) -> None:
    """Approve actions that wait, as a reviewer with a password does; all of them without ids."""
    waiting = LifecycleAction.objects.filter(state="pending").select_related("store", "proposer")
    rows = list(waiting if ids is None else waiting.filter(action_id__in=list(ids)))
    decided = approve_all(reviewer("ines"), rows, {row.pk: row.digest for row in rows}, Manner("page", timezone.now(), password_given=True))
    assert {one.code for one in decided} <= {"approved"}


def test_what_people_approved_is_applied_and_nothing_else_is(made: Made, shared: Path) -> None:
    before = made.faults(shared)
    assert {one["code"] for one in made.submit("plan.json")} == {"queued"}
    approve()
    assert made.apply() == made.manifest["expected_gate"]["with_marker"]
    assert set(LifecycleAction.objects.values_list("state", flat=True)) == {"applied"}
    assert made.faults(shared) == before
    assert made.apply() == {}


def test_each_review_counts_for_its_own_action_only(made: Made) -> None:
    expected: Verdicts = made.manifest["expected_gate"]["with_reviews"]
    made.submit("plan.json")
    reviews = json.loads((made.folder / "reviews.json").read_bytes())
    rejected = {one["action_id"] for one in reviews if one["decision"] == "rejected"}
    approve({one["action_id"] for one in reviews if one["decision"] == "approved"} - rejected)
    refused = list(LifecycleAction.objects.filter(action_id__in=rejected, state="pending").select_related("store", "proposer"))
    reject_all(reviewer("omar"), refused, {row.pk: row.digest for row in refused}, Manner("page", timezone.now(), "not now"))
    # A rejected action is over here: nothing judges it again.
    over = {name: verdict for name, verdict in expected.items() if verdict == ["denied", "review_rejected"]}
    assert {row.action_id for row in refused} == set(over)
    assert made.apply() == {name: verdict for name, verdict in expected.items() if name not in over}
    assert set(LifecycleAction.objects.filter(action_id__in=over).values_list("state", flat=True)) == {"rejected"}


def test_what_was_forged_is_refused_at_the_door_or_waits_for_a_person(made: Made) -> None:
    expected = made.manifest["expected_adversarial"]
    results = made.submit("plan-adversarial.json")
    assert [one["position"] for one in results] == list(range(len(expected)))
    taken = {}
    for one, result in zip(expected, results, strict=True):
        if result["code"] == "queued":
            taken[result["action_id"]] = one
        else:
            assert one["without"] == one["with_marker"] == ["skipped", result["code"]], one["case"]
    assert {one["case"] for one in expected} >= {"spoofed_requires_review", "tampered_content", "stale_source", "unsupported_action"}
    assert len(taken) >= 3
    assert made.apply() == {name: one["without"] for name, one in taken.items()}
    approve()
    still = {name: one["with_marker"] for name, one in taken.items() if one["without"][0] != "applied"}
    assert made.apply() == still
