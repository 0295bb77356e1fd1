"""Records from elsewhere on their way to the disk: whatever ends an apply in its middle, each is there once and as it was approved."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from stores.apply.verifying import look_after
from stores.formats.phase_memory.exchange import Given
from stores.health.phase_memory import check_all
from stores.lifecycle.changes import Create, Replace
from stores.models import AuditEvent, LifecycleAction, Store
from stores.review import keeping
from stores.review.approving import approve_all
from stores.review.deciding import Manner
from stores.review.graph_imports import Brought, propose
from tests.apply.actions import ACTOR, PROPOSER, applied, image, imported, lines, memory_store, now, reviewer
from tests.apply.faulty import Killed, faulty
from tests.apply.places import left_in_store, open_journal
from tests.phase_memory_folders import Record, event, node, put
from tests.phase_memory_stores import read_facts

pytestmark = pytest.mark.django_db
NUMBER = 30


def given_node(name: str) -> Given:
    return Given("node", name, {"id": name, "kind": "decision", "text": f"Of elsewhere: {name}.", "phase": "rigid"})


def given_event(number: int) -> Given:
    record: Record = {key: value for key, value in event(number).items() if key != "schema_version"}
    return Given("event", str(record["id"]), record)


def creations(root: Path) -> list[Brought]:
    return [Brought("graph.a", [given_node(f"new.{one:02d}")]) for one in range(NUMBER)]


def replacements(root: Path) -> list[Brought]:
    names = [f"old.{one:02d}" for one in range(NUMBER)]
    for name in names:
        put(root, "node", node(name))
    return [Brought("graph.a", [given_node(name)]) for name in names]


def appendings(root: Path) -> list[Brought]:
    return [Brought("graph.a", [], [given_event(100 + 2 * one), given_event(101 + 2 * one)]) for one in range(NUMBER)]


Make = Callable[[Path], list[Brought]]
MAKERS: list[Make] = [creations, replacements, appendings]


def approved_actions(folder: Path, make: Make) -> tuple[Store, Path, list[LifecycleAction]]:
    """Make a store and approved actions that bring something into it, one after another."""
    store, root = memory_store(folder)
    brought = make(root)
    imported(store)
    results = [one.result for each in brought for one in propose(store, each, PROPOSER, now())]
    rows = [one.action for one in results if one.action is not None]
    assert len(rows) == NUMBER
    approve_all(reviewer(), rows, {row.pk: row.digest for row in rows}, Manner("page", now(), password_given=True))
    return store, root, rows


def taken_up(store: Store, row: LifecycleAction) -> None:
    """Do what the worker does next: apply what was interrupted again, and look after the store."""
    LifecycleAction.objects.filter(pk=row.pk, state="applying").update(lease_until=None)
    row.refresh_from_db()
    if row.is_open:
        applied(store, row)
    look_after(store, ACTOR)


def check_done(root: Path, row: LifecycleAction) -> None:
    """Hold the store against what must be there once an action is applied: the approved bytes, and all of it once."""
    row.refresh_from_db()
    assert (row.state, row.receipt["as_approved"]) == ("applied", True)
    for change in keeping.effect_of(row).changes:
        if isinstance(change, Create | Replace):
            assert (root / change.path).read_bytes() == change.after
    log = lines(root / "events.jsonl")
    ids = [one["id"] for one in log]
    assert [name for name, number in Counter(ids).items() if number > 1] == []
    assert {one.target_id for one in row.targets.all() if one.record_type == "event"} <= set(ids)
    (own,) = [one for one in log if one.get("action_id") == row.action_id]
    (record,) = [one for one in lines(root / "audit.jsonl") if one.get("subject_id") == row.action_id and one["decision"] == "applied"]
    assert record["event_ids"] == [own["id"]] and record["audit_id"] == row.receipt["audit_id"]
    assert AuditEvent.objects.filter(event="action_applied", detail__action=row.pk).count() == 1
    assert (left_in_store(root), open_journal()) == ([], [])


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(("mode", "step"), [("kill", 3), ("torn", 1), ("EIO", 4), ("full", 1)])
def test_an_apply_that_ends_in_its_middle_is_settled_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Make, mode: str, step: int
) -> None:
    store, root, rows = approved_actions(tmp_path, make)
    hits = 0
    for number, row in enumerate(rows):
        before = image(root)
        with faulty(monkeypatch, mode, number * step + 1) as layer, contextlib.suppress(Killed):
            applied(store, row)
        row.refresh_from_db()
        if row.state in ("failed", "approved"):
            assert image(root) == before
        taken_up(store, row)
        check_done(root, row)
        if not layer.hit:
            break
        hits += 1
    else:
        pytest.fail("there are more steps than actions")
    assert hits >= 3
    # Events that come in are older than those that say so.
    assert {one.code for one in check_all(read_facts(root)).listed()} <= {"event_timestamp_regression"}


@pytest.mark.parametrize("make", MAKERS)
def test_an_apply_that_is_cut_off_is_completed_without_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Make) -> None:
    """Of the store only what stands in the database is known (ruling 5); nothing is there twice."""
    store, root, rows = approved_actions(tmp_path, make)
    ends: Counter[str] = Counter()
    for number, row in enumerate(rows):
        with faulty(monkeypatch, "kill", number * 2 + 1) as layer, contextlib.suppress(Killed):
            applied(store, row)
        if not layer.hit:
            break
        shutil.rmtree(Path(settings.DATA_DIR) / "journal", ignore_errors=True)
        for left in left_in_store(root):
            (root / left).unlink()
        own = [one for one in lines(root / "events.jsonl") if one.get("action_id") == row.action_id]
        taken_up(store, row)
        row.refresh_from_db()
        ends["event" if own else "before"] += 1
        if row.reason_code == "already_applied":
            # Its lines were all there and no event said whose they are.
            assert make is appendings and not own and row.state == "applied"
            ids = [one["id"] for one in lines(root / "events.jsonl")]
            assert len(ids) == len(set(ids)) and {one.target_id for one in row.targets.all()} <= set(ids)
            continue
        check_done(root, row)
    assert ends["event"] and ends["before"]


def test_what_was_rejected_by_the_disk_is_never_taken_for_a_record(tmp_path: Path) -> None:
    """A file of the right name that says something else is no record with that id, and nothing is written over it."""
    store, root = memory_store(tmp_path)
    (one,) = propose(store, Brought("graph.a", [given_node("new.00")]), PROPOSER, now())
    row: Any = one.result.action
    approve_all(reviewer(), [row], {row.pk: row.digest}, Manner("page", now(), password_given=True))
    other = json.dumps({"id": "another", "kind": "claim"}).encode()
    (root / "nodes/new.00.json").write_bytes(other)
    assert applied(store, row).action.state == "stale"
    assert (root / "nodes/new.00.json").read_bytes() == other
