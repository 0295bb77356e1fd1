"""submit_actions: what agents and tools propose, taken or refused one by one."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from stores.management.base import terminal_actor
from stores.models import AuditEvent, LifecycleAction
from tests.commands.conftest import Manage
from tests.lifecycle.cases import action
from tests.phase_memory_folders import Record
from tests.review.queues import NODE, archiving, deletion, imported

FOREIGN: Record = {
    "action": "forget",
    "target_ids": ["node.a", "node.b"],
    "requires_review": False,
    "reason": "old",
    "proposed_by": "agent-7",
}


def write(manage: Manage, document: object) -> Path:
    place = manage.place / "proposals.json"
    place.write_text(json.dumps(document))
    return place


def test_each_proposal_is_told_by_itself_and_one_refusal_makes_it_exit_code_1(manage: Manage, tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    before = {place: place.read_bytes() for place in root.rglob("*") if place.is_file()}
    given = [deletion(), {"action": "exec", "target_ids": ["node.a"]}, {"action": "archive", "target_ids": []}, 7]
    done = manage("submit_actions", store.slug, write(manage, given), "--json")
    assert done.code == 1
    assert [(one["position"], one["code"], one["state"]) for one in done.document["results"]] == [
        (0, "queued", "pending"), (1, "unsupported_action", None), (2, "invalid_target", None), (3, "invalid_action", None),
    ]  # fmt: skip
    assert done.document["counts"] == {"invalid_action": 1, "invalid_target": 1, "queued": 1, "unsupported_action": 1}
    row = LifecycleAction.objects.get()
    assert (row.action_id, row.proposed_by, row.origin) == (deletion()["action_id"], terminal_actor(), "terminal")
    assert before == {place: place.read_bytes() for place in root.rglob("*") if place.is_file()}
    assert set(AuditEvent.objects.values_list("event", "actor_label", "through")) == {
        ("action_proposed", terminal_actor(), "terminal"),
        ("action_refused", terminal_actor(), "terminal"),
    }


def test_the_same_again_changes_nothing_and_is_no_refusal(manage: Manage, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    place = write(manage, [deletion(), archiving()])
    first = manage("submit_actions", store.slug, place)
    again = manage("submit_actions", store.slug, place, "--json")
    assert (first.code, again.code) == (0, 0)
    assert [line.split()[2] for line in first.out.splitlines()] == ["queued", "queued"]
    assert [one["code"] for one in again.document["results"]] == ["already_queued", "already_queued"]
    assert LifecycleAction.objects.count() == 2


def test_a_foreign_record_of_several_targets_becomes_one_action_a_target_and_never_skips_the_review(manage: Manage, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    done = manage("submit_actions", store.slug, write(manage, FOREIGN), "--json")
    assert [(one["position"], one["action"], one["state"]) for one in done.document["results"]] == [(0, "request_delete", "pending")] * 2
    rows = LifecycleAction.objects.order_by("pk")
    assert {row.first_target for row in rows} == {"node.a", "node.b"}
    assert len({row.batch_id for row in rows}) == 1
    assert {row.also_proposed_by for row in rows} == {"agent-7"}


def test_a_plan_comes_in_by_a_pipe(manage: Manage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _ = imported(tmp_path)
    plan = {"operation": "graph.lifecycle.plan", "data": {"dry_run_actions": [action("archive", NODE, to_state="archived")]}}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(plan).encode())))
    assert manage("submit_actions", store.slug, "-", "--json").document["counts"] == {"queued": 1}


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"action": "archive", "action": "forget"}', b"\xff", b'{"reason": NaN}', b" " * (16 * 2**20 + 1)]
)
def test_a_file_that_two_readers_could_take_for_two_things_is_refused_whole(manage: Manage, tmp_path: Path, content: bytes) -> None:
    store, _ = imported(tmp_path)
    place = manage.place / "proposals.json"
    place.write_bytes(content)
    done = manage("submit_actions", store.slug, place)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert not LifecycleAction.objects.exists()


def test_an_unknown_store_or_file_is_one_line(manage: Manage, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    assert manage("submit_actions", "nothing", "nowhere.json").code == 2
    assert manage("submit_actions", store.slug, "nowhere.json").code == 2
