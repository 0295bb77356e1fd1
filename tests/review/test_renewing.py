"""What went stale is proposed anew on today's content; what was applied is taken back by an action like any other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.errors import Conflict, NotAllowed
from stores.formats.canonical import log_line
from stores.lifecycle.changes import Append, Replace
from stores.mirror.importing import import_store
from stores.models import LifecycleAction, Store
from stores.review import approving, keeping, renewing
from stores.review.deciding import NotFresh
from stores.review.submitting import Proposer, submit
from tests.factories import make_user
from tests.phase_memory_folders import put
from tests.review.queues import AGENT, NODE, NOW, by_page, imported, promotion, queued, reviewer

pytestmark = pytest.mark.django_db


def stale(store: Store, root: Path, row: LifecycleAction) -> LifecycleAction:
    """Let the target change, so that the next approval finds the action stale."""
    put(root, "node", {**NODE, "tags": ["new"]})
    import_store(store)
    with pytest.raises(NotFresh):
        approving.approve(reviewer(), row.pk, row.digest, by_page())
    return LifecycleAction.objects.get(pk=row.pk)


def test_a_stale_action_is_renewed_on_todays_content_for_a_new_approval(tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    proposer = reviewer("omar")
    row = stale(store, root, queued(store, proposer=Proposer("omar", "page", "page", proposer)))
    lead = reviewer("ines")
    made = renewing.renew(lead, row.pk, NOW, through="page")
    replace = keeping.effect_of(made).changes[0]
    assert isinstance(replace, Replace) and replace.before == (root / "nodes/node.b.json").read_bytes()
    assert json.loads(replace.after) == {**NODE, "tags": ["new"], "phase": "stabilized"}
    assert (made.state, made.renewed_from, made.reason, made.barred) == ("pending", row, "tidy up", [proposer.pk])
    assert made.action_id != row.action_id
    assert approving.approve(lead, made.pk, made.digest, by_page()).code == "approved"


def test_a_viewer_neither_renews_nor_takes_back(tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    row = stale(store, root, queued(store))
    viewer = make_user(groups=("viewer",))
    with pytest.raises(NotAllowed):
        renewing.renew(viewer, row.pk, NOW, through="page")
    with pytest.raises(NotAllowed):
        renewing.undo(viewer, row.pk, "", NOW, through="page")
    assert LifecycleAction.objects.count() == 1


def test_what_is_open_or_rejected_is_not_renewed(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row = queued(store)
    with pytest.raises(Conflict):
        renewing.renew(reviewer(), row.pk, NOW, through="page")


def applied(root: Path, row: LifecycleAction) -> None:
    """Do to the disk what the action says, as an apply does, and mirror it."""
    replace, appended = keeping.effect_of(row).changes
    assert isinstance(replace, Replace) and isinstance(appended, Append)
    (root / replace.path).write_bytes(replace.after)
    with (root / appended.path).open("ab") as log:
        log.write(log_line(dict(appended.record)))
    assert row.store is not None
    import_store(row.store)
    LifecycleAction.objects.filter(pk=row.pk).update(state="applied", closed_at=NOW)


def test_an_undo_gives_back_the_displaced_bytes_as_a_reviewed_action(tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    before = (root / "nodes/node.b.json").read_bytes()
    row = queued(store)
    applied(root, row)
    lead = reviewer("ines")
    made = renewing.undo(lead, row.pk, "it was too early", NOW, through="page")
    replace, event = keeping.effect_of(made).changes
    assert isinstance(replace, Replace) and isinstance(event, Append)
    assert (replace.before, replace.after) == ((root / "nodes/node.b.json").read_bytes(), before)
    assert event.record["undoes"] == row.action_id
    assert event.record["node_updates"] == [{"node_id": "node.b", "operation": "restore"}]
    assert (made.verb, made.state, made.tier, made.destructive, made.undo_of) == ("undo", "pending", "high", True, row)
    with pytest.raises(Exception, match="Four eyes"):
        approving.approve(lead, made.pk, made.digest, by_page(password_given=True))
    assert approving.approve(reviewer("omar"), made.pk, made.digest, by_page(password_given=True)).code == "approved"


def test_only_what_was_applied_is_taken_back_and_agents_propose_no_undo(tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    row = queued(store)
    with pytest.raises(Conflict, match="Only what was applied"):
        renewing.undo(reviewer(), row.pk, "", NOW, through="page")
    applied(root, row)
    (root / "nodes/node.b.json").write_bytes((root / "nodes/node.b.json").read_bytes().replace(b"stabilized", b"fluid"))
    import_store(store)
    with pytest.raises(Conflict, match="already"):
        renewing.undo(reviewer(), row.pk, "", NOW, through="page")
    record = {"action": "undo", "target_type": "file", "target_ids": ["nodes/node.b.json"], "parameters": {"undo_of": row.action_id}}
    (result,) = submit(store, [record], AGENT, NOW)
    assert (result.code, result.action) == ("invalid_action", None)
    assert promotion()["action_id"] == row.action_id
