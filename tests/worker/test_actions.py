"""The worker applies what is due in its stores and nothing else, ends what ran out, and calls stale what an import found changed."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from stores.mirror.importing import import_store
from stores.models import AuditEvent, LifecycleAction, Node, Review, Store
from stores.review.deciding import Manner, allow_apply
from stores.review.policies import change_policy
from stores.worker.actions import Actions
from stores.worker.loop import Loop
from stores.worker.stopping import Stop
from tests.apply.actions import approved, image, imported, later, memory_store, now, proposed, switch
from tests.apply.test_applying_lines import BAD, ONE, TWO, line_store, on_lines
from tests.factories import make_user
from tests.phase_memory_folders import node, put

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data_folder(settings: Settings, tmp_path: Path) -> None:
    """Point the journal to a folder of this test."""
    settings.DATA_DIR = tmp_path.resolve() / "data"
    settings.STORE_ROOTS = (tmp_path.resolve(),)


def actions_of(store: Store) -> Actions:
    return Actions(store.worker)


def states() -> dict[str, str]:
    return dict(LifecycleAction.objects.values_list("first_target", "state"))


def test_the_worker_applies_what_was_approved_and_the_mirror_shows_it(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    proposed(store, "request_delete", "node.b")
    proposed(store, "mark_stale", "node.b", requires_review=False)
    store.worker.roots = [str(tmp_path)]
    Loop(store.worker, Stop()).once()
    assert sorted(LifecycleAction.objects.values_list("verb", "state")) == [
        ("mark_stale", "ready"), ("request_delete", "pending"), ("transition_phase", "applied"),
    ]  # fmt: skip
    assert json.loads((root / "nodes/node.a.json").read_bytes())["phase"] == "stabilized"
    assert json.loads(bytes(Node.objects.get(natural_id="node.a").text.raw))["phase"] == "stabilized"
    assert AuditEvent.objects.get(event="action_applied").actor_label == f"worker {store.worker.label}"


def test_what_needs_no_review_waits_for_an_operator(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    ready = proposed(store, "mark_stale", "node.b", requires_review=False)
    worker, before = actions_of(store), image(root)
    assert (worker.apply_due({store.pk: store}), image(root)) == ([], before)
    allow_apply(make_user("omar", groups=("operator",)), [ready], Manner("page", now()))
    assert worker.apply_due({store.pk: store}) == [store.pk]
    ready.refresh_from_db()
    assert (ready.state, ready.is_sample) == ("applied", False)


def test_a_policy_lets_verbs_be_applied_by_themselves_and_shows_one_in_ten(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    for number in range(16):
        put(root, "node", node(f"many.{number:02d}"))
    imported(store)
    for number in range(16):
        proposed(store, "mark_stale", f"many.{number:02d}", requires_review=False)
    other = proposed(store, "archive", "node.a", requires_review=False)
    change_policy(None, {"auto_apply": ["mark_stale"]}, "default.0", switch(), now(), through="page")
    worker = actions_of(store)
    while worker.apply_due({store.pk: store}):
        pass
    other.refresh_from_db()
    done = LifecycleAction.objects.filter(verb="mark_stale", state="applied")
    assert (other.state, done.count()) == ("ready", 16)
    assert 0 < done.filter(is_sample=True).count() < 8


def test_nothing_is_applied_while_the_switch_is_off_and_asking_costs_one_query(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    switch(on=False)
    worker, before = actions_of(store), image(root)
    worker.apply_due({store.pk: store})
    with CaptureQueriesContext(connection) as queries:
        assert worker.apply_due({store.pk: store}) == []
    assert (len(queries), image(root), states()) == (1, before, {"node.a": "approved"})


def test_stores_of_other_workers_are_theirs(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    other, _ = memory_store(tmp_path, "other")
    before = image(root)
    assert (actions_of(other).apply_due({other.pk: other, store.pk: store}), image(root)) == ([], before)


def test_what_could_not_be_applied_is_not_tried_again_at_once(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    with (root / "events.jsonl").open("ab") as opened:
        opened.write(b'{"torn')
    worker = actions_of(store)
    worker.apply_due({store.pk: store})
    action.refresh_from_db()
    assert (action.state, action.attempts) == ("approved", 1)
    worker.apply_due({store.pk: store})
    action.refresh_from_db()
    assert action.attempts == 1
    LifecycleAction.objects.update(lease_until=now() - timedelta(seconds=1))
    (root / "events.jsonl").write_bytes((root / "events.jsonl").read_bytes().removesuffix(b'{"torn'))
    assert worker.apply_due({store.pk: store}) == [store.pk]


def test_an_apply_whose_worker_died_is_taken_up_by_the_next_one(tmp_path: Path) -> None:
    store, _ = memory_store(tmp_path)
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    fields = {"state": "applying", "claimed_by": str(store.worker.uid), "lease_until": later(seconds=50), "revision": action.revision + 1}
    LifecycleAction.objects.filter(pk=action.pk).update(**fields)
    worker = actions_of(store)
    assert worker.apply_due({store.pk: store}) == []
    worker.take_over(now())
    assert worker.apply_due({store.pk: store}) == [store.pk]
    action.refresh_from_db()
    assert action.state == "applied"


def test_an_approval_that_ran_out_ends_the_action_also_while_nothing_is_applied(tmp_path: Path) -> None:
    store, _ = memory_store(tmp_path)
    old = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"), at=now() - timedelta(days=8))
    fresh = approved(proposed(store, "request_delete", "node.b"))
    switch(on=False)
    actions_of(store).apply_due({store.pk: store})
    assert states() == {"node.a": "expired", "node.b": "approved"}
    assert AuditEvent.objects.get(event="action_expired").detail["action"] == old.pk
    assert Review.objects.get(action=fresh).spent_at is None


def test_an_import_that_finds_a_target_changed_calls_its_actions_stale(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    proposed(store, "transition_phase", "node.a", to_phase="stabilized")
    approved(proposed(store, "request_delete", "node.b"))
    proposed(store, "archive", "edge.a", target_type="edge")
    put(root, "node", node("node.a", text="Pages by offset."))
    (root / "nodes/node.b.json").unlink()
    run = import_store(store)
    assert actions_of(store).note_changes(store, run) == 2
    assert states() == {"node.a": "stale", "node.b": "stale", "edge.a": "pending"}
    assert AuditEvent.objects.filter(event="action_stale").count() == 2


def test_an_import_of_other_records_leaves_the_queue_alone(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    proposed(store, "transition_phase", "node.a", to_phase="stabilized")
    put(root, "node", node("node.z"))
    assert actions_of(store).note_changes(store, import_store(store)) == 0
    (root / "nodes/node.a.json").write_bytes(b'{"id": "node.a", "ki')
    assert actions_of(store).note_changes(store, import_store(store)) == 0
    assert states() == {"node.a": "pending"}


def test_a_line_that_went_calls_its_edit_stale(tmp_path: Path) -> None:
    store, memory = line_store(tmp_path, ONE + BAD + TWO)
    name = json.loads(TWO)["id"]
    proposed(store, "retire_decision", name, target_type="decision")
    bad = on_lines(store, "set_aside_lines", BAD)
    (memory / "decisions.jsonl").write_bytes(ONE + BAD)
    assert actions_of(store).note_changes(store, import_store(store)) == 1
    assert LifecycleAction.objects.get(verb="retire_decision").state == "stale"
    bad.refresh_from_db()
    assert bad.state == "approved"
