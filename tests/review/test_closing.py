"""What is open ends when its store is removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.mirror import relocating
from stores.models import AuditEvent, LifecycleAction
from stores.review import approving
from stores.review.closing import end_actions_of
from tests.review.queues import NOW, archiving, by_page, deletion, imported, promotion, queued, reviewer

pytestmark = pytest.mark.django_db


def test_a_removed_store_leaves_no_action_open_and_what_was_decided_stays(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    pending, ready, approved, failed, applying = (
        queued(store, record) for record in (promotion(), archiving(), promotion(reason="b"), archiving(reason="c"), deletion())
    )
    approving.approve(reviewer(), approved.pk, approved.digest, by_page())
    LifecycleAction.objects.filter(pk=failed.pk).update(state="failed")
    LifecycleAction.objects.filter(pk=applying.pk).update(state="applying")
    assert end_actions_of(store, NOW, actor=None, actor_label="os:me@here", through="terminal") == 5
    relocating.remove_store(store)
    states = dict(LifecycleAction.objects.values_list("pk", "state"))
    assert states == {**dict.fromkeys((pending.pk, ready.pk, approved.pk, failed.pk), "withdrawn"), applying.pk: "stale"}
    assert LifecycleAction.objects.get(pk=approved.pk).reviews.count() == 1
    assert LifecycleAction.objects.get(pk=pending.pk).closed_at == NOW
    assert AuditEvent.objects.get(event="action_withdrawn").detail["number"] == 5
