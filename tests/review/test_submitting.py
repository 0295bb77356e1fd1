"""What is proposed enters the queue once, with the bytes that it would write."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from pathlib import Path

import pytest

from stores.action_words import subject
from stores.errors import BadRequest
from stores.lifecycle.changes import Append, Replace
from stores.mirror.importing import import_store
from stores.models import ActionTarget, AuditEvent, KeptBytes, LifecycleAction
from stores.review import deciding, keeping
from stores.review.submitting import submit
from tests.factories import make_store as make_row
from tests.lifecycle.cases import action, digest_of
from tests.memory_folders import make_project
from tests.mirror.images import register
from tests.phase_memory_folders import node, put
from tests.review.queues import (
    AGENT,
    DURABLE,
    NODE,
    NOW,
    PLANNER,
    archiving,
    by_page,
    deletion,
    imported,
    promotion,
    proposed,
    queued,
    reviewer,
)

pytestmark = pytest.mark.django_db


def test_an_action_keeps_the_bytes_before_and_after_as_they_are_on_disk(tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    row = queued(store)
    effect = keeping.effect_of(row)
    replace, appended = effect.changes
    before = (root / "nodes/node.b.json").read_bytes()
    assert isinstance(replace, Replace) and isinstance(appended, Append)
    assert (replace.path, replace.before) == ("nodes/node.b.json", before)
    assert json.loads(replace.after) == {**NODE, "phase": "stabilized"}
    assert KeptBytes.objects.filter(sha256=hashlib.sha256(before).hexdigest()).exists()
    assert (row.state, row.tier, row.requires_review, row.proposed_by) == ("pending", "medium", True, "agent planner")
    target = ActionTarget.objects.get(action=row)
    assert (target.record_type, target.target_id, target.path) == ("node", "node.b", "nodes/node.b.json")
    assert (target.before_digest, target.after_digest) == (digest_of(NODE), digest_of({**NODE, "phase": "stabilized"}))


def test_the_digest_is_over_record_store_and_every_byte(tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    row = queued(store)
    record = {name: value for name, value in promotion().items() if name != "dry_run"}
    before = (root / "nodes/node.b.json").read_bytes()
    replace, appended = keeping.effect_of(row).changes
    assert isinstance(replace, Replace) and isinstance(appended, Append)
    event = {name: value for name, value in appended.record.items() if name not in ("id", "timestamp")}
    targets = [
        {"replace": "nodes/node.b.json", "before": _sha256(before), "after": _sha256(replace.after)},
        {"append": "events.jsonl", "content": digest_of(event)},
    ]
    assert row.digest == digest_of({"action": record, "store": str(store.uid), "targets": targets})


def test_the_same_action_stands_once_in_the_queue(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    first = queued(store)
    (again,) = proposed(store, promotion())
    assert (again.code, again.action) == ("already_queued", first)
    (twice, thrice) = proposed(store, archiving(), archiving())
    assert [twice.code, thrice.code] == ["queued", "already_queued"]
    assert LifecycleAction.objects.count() == 2


def test_what_was_rejected_is_not_queued_again_for_thirty_days(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row = queued(store)
    deciding.reject(reviewer(), row.pk, row.digest, by_page("not yet"))
    (soon,) = submit(store, [promotion()], AGENT, NOW + timedelta(days=29))
    assert (soon.code, soon.action) == ("rejected_recently", row)
    (later,) = submit(store, [promotion()], AGENT, NOW + timedelta(days=31))
    assert later.code == "queued"


def test_what_needs_no_review_waits_for_an_operator(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    assert (queued(store, archiving()).state, queued(store, archiving(requires_review=True)).state) == ("ready", "pending")


def test_a_target_that_is_durable_needs_a_review_whatever_the_record_says(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row = queued(store, action("archive", DURABLE, to_state="archived"))
    assert (row.state, row.tier, row.destructive) == ("pending", "high", True)


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (action("archive", node("node.none")), "target_missing"),
        (action("archive", {**NODE, "text": "other"}), "stale_source"),
        ({**archiving(), "reason": "altered"}, "action_id_mismatch"),
        (action("explode", NODE), "unsupported_action"),
        ({"action": "merge", "target_ids": ["node.b"], "parameters": {"into": "node.b"}}, "invalid_action"),
        ({"action": "archive", "target_ids": []}, "invalid_target"),
        ({"action": "archive", "target_ids": ["*"]}, "invalid_target"),
        (action("refresh", NODE, parameters={"source_digest": "sha256:1"}), "invalid_action"),
    ],
)
def test_what_cannot_be_is_refused_with_its_code(tmp_path: Path, record: dict[str, object], code: str) -> None:
    store, _ = imported(tmp_path)
    (result,) = proposed(store, record)
    assert (result.code, result.action, result.is_refused) == (code, None, True)
    assert not LifecycleAction.objects.exists()
    assert AuditEvent.objects.get(event="action_refused").detail["codes"] == [code]


def test_a_node_that_is_as_it_is_wanted_is_already_applied(tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    stale = node("node.b", lifecycle_state="stale")
    put(root, "node", stale)
    import_store(store)
    (result,) = proposed(store, action("mark_stale", stale, to_state="stale"))
    assert result.code == "already_applied"


def test_a_foreign_record_with_several_targets_becomes_an_action_for_each(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    results = proposed(store, {"action": "forget", "target_ids": ["node.a", "node.b"], "reason": "old", "proposed_by": "ines"})
    rows = LifecycleAction.objects.order_by("first_target")
    assert [(one.position, one.code) for one in results] == [(0, "queued"), (0, "queued")]
    assert [(row.verb, row.first_target, row.also_proposed_by) for row in rows] == [
        ("request_delete", "node.a", "ines"),
        ("request_delete", "node.b", "ines"),
    ]
    assert len({row.batch_id for row in rows}) == 1 and rows[0].batch_id


def test_a_change_that_adds_a_secret_is_marked(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    secret = "ghp_" + "a1B2" * 9
    record = {"action": "compact", "target_ids": ["node.a", "node.b"], "parameters": {"strategy": "list", "summary_text": f"use {secret}"}}
    row = queued(store, record)
    assert row.adds_secret and secret not in row.sentence


def test_replanning_adds_nothing_and_a_changed_target_retires_the_older_plan(tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    first = queued(store, proposer=PLANNER)
    assert [one.code for one in proposed(store, promotion(), proposer=PLANNER)] == ["already_queued"]
    changed = {**NODE, "text": "Pages by offset."}
    put(root, "node", changed)
    import_store(store)
    second = queued(store, action("transition_phase", changed, from_phase="fluid", to_phase="stabilized"), PLANNER)
    first.refresh_from_db()
    assert (first.state, second.state) == ("stale", "pending")


def test_a_store_that_was_never_imported_takes_no_actions() -> None:
    with pytest.raises(BadRequest, match="not been imported"):
        proposed(make_row(kind="phase-memory", imported_at=None), promotion())


def test_a_deletion_is_due_in_a_day_and_marked_destructive(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row = queued(store, deletion())
    assert (row.tier, row.destructive, row.due_at) == ("high", True, NOW + timedelta(days=1))
    assert row.sentence.startswith("Requests the deletion of node.b")


def _sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def test_a_line_of_a_log_is_named_by_its_place(tmp_path: Path) -> None:
    memory = make_project(tmp_path.resolve(), "shop-api", decisions=2)
    with (memory / "decisions.jsonl").open("ab") as log:
        log.write(b"no json\n")
    store = register(memory)
    import_store(store)
    store.refresh_from_db()
    record = {
        "action": "set_aside_lines",
        "target_type": "line",
        "target_ids": [hashlib.sha256(b"no json").hexdigest()],
        "parameters": {"file": "decisions.jsonl"},
        "reason": "it says nothing",
    }
    row = queued(store, record)
    assert row.gist == "decisions.jsonl line 3"
    assert subject(row) == "<bdi>decisions.jsonl line 3</bdi>"
