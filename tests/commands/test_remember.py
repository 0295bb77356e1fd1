"""remember: one decision more, also when several are remembered at once; secrets and other kinds are refused."""

from __future__ import annotations

import json
from pathlib import Path

from stores.models import AuditEvent, Decision
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
