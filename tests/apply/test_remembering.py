"""Remembering appends a decision and, where somebody drains the queue, its operations: both lines or, after a crash, both later."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from django.db import OperationalError

from stores.apply.appending import LooksSecret, remember_decision
from stores.apply.draining import drain
from stores.apply.steps import Unfinished
from stores.errors import BadRequest, CannotWrite
from stores.formats.orchestkit import Said
from stores.models import AuditEvent
from tests.apply.faulty import Killed, fault_points, no_audit
from tests.apply.places import ACTOR, QUEUE, make_store, open_journal, queued_lines
from tests.factories import make_condition

pytestmark = pytest.mark.django_db

SAID = Said("Decided to use cursor pagination for orders", "Offsets skip rows", entities=("cursor-pagination", "postgresql"))


def lines_of(path: Path) -> list[bytes]:
    """Give the lines of a log, each whole."""
    data = path.read_bytes()
    assert data.endswith(b"\n")
    return data.split(b"\n")[:-1]


def test_the_lines_stand_at_the_end_of_log_and_queue(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    before = (memory / "decisions.jsonl").read_bytes()
    done = remember_decision(store, SAID, ACTOR)
    log = lines_of(memory / "decisions.jsonl")
    assert (memory / "decisions.jsonl").read_bytes().startswith(before)
    record = json.loads(log[-1])
    assert list(record) == ["id", "type", "content", "entities", "relations", "identity", "metadata"]
    assert re.fullmatch(r"decision-[0-9a-z]{8}-[0-9a-z]{6}", record["id"])
    assert record["content"] == {"what": SAID.what, "why": SAID.why}
    assert re.fullmatch(r"memoryui-[0-9a-f-]{36}", record["metadata"]["session_id"])
    assert (record["metadata"]["source"], record["metadata"]["project"]) == ("user_prompt", "shop-api")
    # 0.5, and 0.2 for "decided", 0.15 for the reason, 0.1 for two entities.
    assert record["metadata"]["confidence"] == pytest.approx(0.95)
    entities, relations = map(json.loads, lines_of(memory / "graph-queue.jsonl")[-2:])
    assert [one["name"] for one in entities["payload"]["entities"]] == [record["id"], "cursor-pagination", "postgresql"]
    assert [one["relationType"] for one in relations["payload"]["relations"]] == ["CHOSE", "CHOSE", "RELATES_TO"]
    event = AuditEvent.objects.get(event="remembered")
    assert (event.actor_label, event.detail["id"], done.queued) == (ACTOR.label, record["id"], 2)
    assert "pagination" not in json.dumps(event.detail)


def test_a_torn_line_before_it_is_ended_first(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    with (memory / "decisions.jsonl").open("ab") as log:
        log.write(b'{"id":"torn')
    remember_decision(store, SAID, ACTOR)
    assert lines_of(memory / "decisions.jsonl")[-2] == b'{"id":"torn'
    assert json.loads(lines_of(memory / "decisions.jsonl")[-1])["content"]["what"] == SAID.what


def test_a_queue_that_nobody_drains_gets_nothing_unless_asked(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    make_condition(store, "queue_undrained", message="Nothing was drained for 9 days")
    done = remember_decision(store, SAID, ACTOR)
    assert (done.queued, done.why_not_queued) == (0, "Nothing was drained for 9 days")
    assert (memory / "graph-queue.jsonl").read_bytes() == QUEUE
    assert len(lines_of(memory / "decisions.jsonl")) == 3
    assert remember_decision(store, SAID, ACTOR, queue_too=True).queued == 2
    assert len(lines_of(memory / "graph-queue.jsonl")) == 5


@pytest.mark.parametrize(
    "said",
    [
        Said("Use the key AKIAIOSFODNN7EXAMPLE for uploads"),
        Said("Use S3", why="password=hunter2hunter2"),
        Said("Use S3", entities=("ghp_abcdefghijklmnopqrstuvwxyz0123456789",)),
        Said("Use S3", alternatives=("token: 9f8e7d6c5b4a39281706f5e4d3c2b1a0",)),
    ],
)
def test_what_looks_like_a_secret_is_refused_unless_forced(tmp_path: Path, said: Said) -> None:
    store, memory = make_store(tmp_path)
    with pytest.raises(LooksSecret) as refused:
        remember_decision(store, said, ACTOR)
    assert not any(text in str(refused.value) for text in ("AKIA", "hunter2", "ghp_", "9f8e"))
    assert len(lines_of(memory / "decisions.jsonl")) == 2
    remember_decision(store, said, ACTOR, force=True)
    assert len(lines_of(memory / "decisions.jsonl")) == 3
    assert AuditEvent.objects.get(event="remembered").detail["forced"] is True


def test_what_the_writer_could_not_have_written_is_refused(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    with pytest.raises(BadRequest):
        remember_decision(store, Said("  "), ACTOR)
    assert len(lines_of(memory / "decisions.jsonl")) == 2


@pytest.mark.parametrize(("mode", "least"), [("kill", 20), ("torn", 5)])
def test_dying_at_any_step_leaves_both_lines_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, least: int) -> None:
    died = 0
    for number, enter in enumerate(fault_points(monkeypatch, mode)):
        store, memory = make_store(tmp_path, name=f"p{number}")
        with enter():
            try:
                remember_decision(store, SAID, ACTOR)
            except Killed:
                died += 1
        second = remember_decision(store, Said("Second"), ACTOR).remembered.record["id"]
        ids = [json.loads(line)["id"] for line in lines_of(memory / "decisions.jsonl")[2:]]
        assert ids[-1] == second and len(ids) in (1, 2)
        names = [json.loads(line)["payload"] for line in lines_of(memory / "graph-queue.jsonl")[3:]]
        assert [one["entities"][0]["name"] for one in names if "entities" in one] == ids
        assert max(queued_lines(memory).values()) == 1
        assert open_journal() == []
        assert AuditEvent.objects.filter(store_uid=store.uid, event="remembered").count() == len(ids)
    assert died >= least


@pytest.mark.parametrize("mode", ["EIO", "short", "full"])
def test_a_disk_that_fails_leaves_both_lines_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    for number, enter in enumerate(fault_points(monkeypatch, mode)):
        store, memory = make_store(tmp_path, name=f"p{number}")
        written = True
        with enter():
            try:
                remember_decision(store, SAID, ACTOR)
            except Unfinished:
                pass
            except CannotWrite:
                written = False
        assert written or open_journal() == []
        drain(store, ACTOR)
        (memory / "archive").rename(tmp_path / f"archive{number}")
        assert len(lines_of(memory / "decisions.jsonl")) == 2 + written
        (archived,) = (tmp_path / f"archive{number}").iterdir()
        assert len(lines_of(archived)) == 3 + 2 * written


def test_a_locked_database_makes_no_change_that_stands_look_refused(tmp_path: Path) -> None:
    store, memory = make_store(tmp_path)
    with no_audit(OperationalError("database is locked")), pytest.raises(Unfinished, match="stands"):
        remember_decision(store, SAID, ACTOR)
    assert len(lines_of(memory / "decisions.jsonl")) == 3
    remember_decision(store, Said("Second"), ACTOR)
    said = [json.loads(line)["content"]["what"] for line in lines_of(memory / "decisions.jsonl")[2:]]
    assert (said, open_journal()) == ([SAID.what, "Second"], [])
    assert AuditEvent.objects.filter(event="remembered").count() == 2
