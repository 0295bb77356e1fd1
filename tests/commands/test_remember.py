"""remember: one decision more, also when several are remembered at once; secrets and other kinds are refused."""

from __future__ import annotations

import json
from pathlib import Path

from stores.models import AuditEvent, Decision, LifecycleAction, ReviewPolicy, Store
from stores.review import keeping
from stores.review.submitting import submit
from tests.apply.actions import PROPOSER, approved, now, switch
from tests.commands.conftest import Manage
from tests.installations import Installation
from tests.memory_folders import make_project


def test_a_decision_is_written_mirrored_and_audited(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    manage("add_store", memory)
    done = manage("remember", "shop-api", "--what", "Use cursors", "--why", "stable", "--entity", "redis", "--entity", "grep", "--json")
    assert done.code == 0
    record = json.loads((memory / "decisions.jsonl").read_bytes().split(b"\n")[-2])
    assert (done.document["id"], done.document["queued"], done.document["note"]) == (record["id"], 2, "")
    assert record["entities"] == ["redis", "grep"]
    assert Decision.objects.get(natural_id=record["id"]).title == "Use cursors"
    event = AuditEvent.objects.get(event="remembered")
    assert event.actor_label.startswith("os:") and event.through == "terminal"
    assert len((memory / "graph-queue.jsonl").read_bytes().split(b"\n")) == 3


def test_a_secret_is_refused_in_one_line(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    manage("add_store", memory)
    before = (memory / "decisions.jsonl").read_bytes()
    refused = manage("remember", "shop-api", "--what", "The key is AKIAIOSFODNN7EXAMPLE")
    assert (refused.code, refused.out) == (2, "")
    assert "AKIA" not in refused.err and "--force" in refused.err and "\n" not in refused.err.strip()
    assert (memory / "decisions.jsonl").read_bytes() == before
    done = manage("remember", "shop-api", "--what", "The key is AKIAIOSFODNN7EXAMPLE", "--force", "--json")
    assert done.code == 0 and "AKIA" not in done.out


def test_what_cannot_be_is_refused(manage: Manage, tmp_path: Path) -> None:
    manage("add_store", make_project(tmp_path))
    assert manage("remember", "nowhere", "--what", "x").code == 2
    assert manage("remember", "shop-api", "--what", " ").code == 2
    assert manage("remember", "shop-api").code != 0


def test_several_at_once_all_arrive_whole(installation: Installation) -> None:
    memory = make_project(installation.place)
    installation.run("add_store", str(memory), check=True)
    running = [installation.popen("remember", "shop-api", "--what", f"Number {number}", "--entity", "redis") for number in range(4)]
    assert [process.wait(120) for process in running] == [0] * 4
    said = [json.loads(line)["content"]["what"] for line in (memory / "decisions.jsonl").read_bytes().splitlines()[3:]]
    assert sorted(said) == [f"Number {number}" for number in range(4)]
    ids = [json.loads(line)["id"] for line in (memory / "decisions.jsonl").read_bytes().splitlines()[3:]]
    queue = [json.loads(line)["payload"] for line in (memory / "graph-queue.jsonl").read_bytes().splitlines()]
    assert [payload["entities"][0]["name"] for payload in queue if "entities" in payload] == ids
    assert installation.value("SELECT count(*) FROM stores_auditevent WHERE event = 'remembered'") == 4


ASKED = ("remember", "shop-api", "--what", "We decided on cursors", "--why", "stable", "--entity", "redis", "--entity", "grep")


def ready(manage: Manage, tmp_path: Path) -> Path:
    """Make and import a project; applying is on."""
    memory = make_project(tmp_path)
    manage("add_store", memory)
    manage("import_stores", "shop-api")
    switch()
    return memory


def test_a_decision_can_be_proposed_and_is_written_as_it_was_approved(manage: Manage, tmp_path: Path) -> None:
    memory = ready(manage, tmp_path)
    before = (memory / "decisions.jsonl").read_bytes()
    proposed = manage(*ASKED, "--submit", "--json")
    assert (proposed.code, proposed.document["state"], (memory / "decisions.jsonl").read_bytes()) == (3, "pending", before)
    row = LifecycleAction.objects.get()
    assert (row.verb, row.tier, row.gist) == ("remember", "low", "We decided on cursors")
    approved(row)
    with (memory / "decisions.jsonl").open("ab") as log:
        log.write(b'{"of": "an agent"}\n')
    assert manage("apply_actions", "shop-api").code == 0
    row.refresh_from_db()
    assert (row.state, row.receipt["as_approved"]) == ("applied", True)
    after = (memory / "decisions.jsonl").read_bytes()
    assert after.startswith(before + b'{"of": "an agent"}\n')
    (line,) = after.removeprefix(before + b'{"of": "an agent"}\n').splitlines(keepends=True)
    record = json.loads(line)
    assert (record["content"], record["entities"]) == ({"what": "We decided on cursors", "why": "stable"}, ["redis", "grep"])
    # 0.5, and 0.2 for "decided", 0.15 for the reason, 0.05 for each of two entities.
    assert abs(record["metadata"]["confidence"] - 0.95) < 1e-9
    queue = [json.loads(one)["payload"] for one in (memory / "graph-queue.jsonl").read_bytes().splitlines()]
    assert queue[0]["entities"][0]["name"] == record["id"] and len(queue) == 2
    assert Decision.objects.filter(natural_id=record["id"], gone_at=None).count() == 1
    # Written directly, the same words make a record with the same keys in the same order.
    assert manage(*ASKED).code == 0
    direct = json.loads((memory / "decisions.jsonl").read_bytes().splitlines()[-1])
    assert [list(record), *map(list, (record["content"], record["metadata"]))] == [
        list(direct), *map(list, (direct["content"], direct["metadata"])),
    ]  # fmt: skip


def test_an_apply_that_was_cut_off_behind_the_line_writes_no_second_one(manage: Manage, tmp_path: Path) -> None:
    memory = ready(manage, tmp_path)
    manage(*ASKED, "--submit")
    row = approved(LifecycleAction.objects.get())
    (change, *_) = keeping.effect_of(row).changes
    with (memory / "decisions.jsonl").open("ab") as log:
        log.write(change.lines[0] + b"\n")  # type: ignore[union-attr]  # a line is appended
    once = (memory / "decisions.jsonl").read_bytes()
    LifecycleAction.objects.update(state="applying", lease_until=None)
    manage("apply_actions", "shop-api")
    row.refresh_from_db()
    assert (row.state, row.reason_code, (memory / "decisions.jsonl").read_bytes()) == ("applied", "already_applied", once)


def test_secrets_and_a_policy_that_lets_no_command_write(manage: Manage, tmp_path: Path) -> None:
    memory = ready(manage, tmp_path)
    before = (memory / "decisions.jsonl").read_bytes()
    refused = manage("remember", "shop-api", "--what", "The key is AKIAIOSFODNN7EXAMPLE", "--submit")
    assert (refused.code, "AKIA" in refused.err, LifecycleAction.objects.count()) == (2, False, 0)
    ReviewPolicy.objects.create(store=Store.objects.get(), submit_only=True)
    refused = manage(*ASKED)
    assert (refused.code, "--submit" in refused.err, (memory / "decisions.jsonl").read_bytes()) == (2, True, before)
    assert manage(*ASKED, "--submit").code == 3


def test_an_agent_s_proposal_is_taken_only_as_the_writer_would_have_made_it(manage: Manage, tmp_path: Path) -> None:
    ready(manage, tmp_path)
    manage(*ASKED, "--submit")
    record = keeping.record_of(LifecycleAction.objects.get())["parameters"]["record"]
    LifecycleAction.objects.all().delete()
    store = Store.objects.get()
    good = {
        "action": "remember",
        "target_ids": [record["id"]],
        "parameters": {"record": record},
        "reason": "learnt",
        "requires_review": False,
    }
    bad = [
        {**good, "parameters": {"record": {**record, "extra": "x"}}},
        {**good, "parameters": {}},
        {**good, "target_ids": ["decision-mx3a2c3b-0001"]},
        {**good, "target_ids": ["another"]},
    ]
    results = submit(store, [*bad, good], PROPOSER, now())
    assert [one.code for one in results] == ["invalid_action", "invalid_action", "invalid_target", "invalid_action", "queued"]
    assert results[-1].action is not None and results[-1].action.state == "pending"
