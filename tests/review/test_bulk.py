"""A bulk decision is about exactly the actions that were shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db.models import QuerySet

from stores.errors import BadRequest
from stores.mirror.importing import import_store
from stores.models import AuditEvent, LifecycleAction, Review, Store, User
from stores.review import bulk
from stores.review.bulk import Shown
from stores.review.deciding import visible_actions
from stores.review.submitting import Proposer
from tests.factories import make_superuser
from tests.lifecycle.cases import action
from tests.phase_memory_folders import node, put
from tests.review.queues import archiving, by_page, imported, promotion, proposed, queued, reviewer

pytestmark = pytest.mark.django_db


def many(tmp_path: Path, number: int = 4) -> tuple[Store, list[LifecycleAction], Path]:
    """Queue the promotion of some nodes."""
    store, root = imported(tmp_path)
    nodes = [node(f"node.x{n}") for n in range(number)]
    for one in nodes:
        put(root, "node", one)
    import_store(store)
    proposed(store, *(action("transition_phase", one, from_phase="fluid", to_phase="stabilized") for one in nodes))
    return store, list(LifecycleAction.objects.order_by("pk")), root


def matching(user: User) -> QuerySet[LifecycleAction]:
    """The filter of these tests."""
    return visible_actions(user).filter(verb="transition_phase", state="pending")


def shown(user: User) -> Shown:
    """What a confirm page shows now."""
    members = bulk.members_of(matching(user))
    return Shown(bulk.set_digest(members), len(members), tuple((pk, bulk.short(digest)) for pk, digest in members))


def test_all_that_was_shown_is_approved_under_one_batch(tmp_path: Path) -> None:
    _, rows, _ = many(tmp_path)
    lead = reviewer()
    batch_id, decided = bulk.decide(lead, matching(lead), shown(lead), "approve", by_page("good"))
    assert [(one.action.pk, one.code) for one in decided] == [(row.pk, "approved") for row in rows]
    assert set(LifecycleAction.objects.values_list("state", flat=True)) == {"approved"}
    assert set(Review.objects.values_list("batch_id", "reason")) == {(batch_id, "good")}
    assert AuditEvent.objects.filter(event="approved", detail__batch=batch_id).count() == 4


def test_an_action_that_came_is_named_and_nothing_is_decided(tmp_path: Path) -> None:
    store, rows, _ = many(tmp_path)
    lead = reviewer()
    seen = shown(lead)
    late = queued(store, promotion())
    with pytest.raises(bulk.SetChanged) as raised:
        bulk.decide(lead, matching(lead), seen, "approve", by_page())
    assert raised.value.difference == ([late.pk], [], [])
    LifecycleAction.objects.filter(pk=late.pk).delete()
    LifecycleAction.objects.filter(pk=rows[0].pk).update(state="withdrawn")
    LifecycleAction.objects.filter(pk=rows[1].pk).update(digest="sha256:" + "1" * 64)
    with pytest.raises(bulk.SetChanged, match="1 removed, 1 changed") as raised:
        bulk.decide(lead, matching(lead), seen, "approve", by_page())
    assert raised.value.difference == ([], [rows[0].pk], [rows[1].pk])
    assert not Review.objects.exists()


def test_the_result_says_of_each_what_became_of_it(tmp_path: Path) -> None:
    store, rows, root = many(tmp_path)
    lead = reviewer()
    own = queued(store, promotion(), Proposer("me", "page", "page", lead))
    put(root, "node", node("node.x1", tags=["new"]))
    import_store(store)
    _, decided = bulk.decide(lead, matching(lead), shown(lead), "approve", by_page())
    assert [one.code for one in decided] == ["approved", "stale", "approved", "approved", "four_eyes"]
    assert decided[-1].action.pk == own.pk
    states = dict(LifecycleAction.objects.values_list("pk", "state"))
    assert [states[row.pk] for row in rows] == ["approved", "stale", "approved", "approved"] and states[own.pk] == "pending"


def test_one_verb_at_a_time_and_few_that_take_something_away(tmp_path: Path) -> None:
    store, _, root = many(tmp_path)
    queued(store, archiving(requires_review=True))
    lead = make_superuser()
    everything = visible_actions(lead)
    members = bulk.members_of(everything)
    with pytest.raises(BadRequest, match="one verb"):
        bulk.decide(lead, everything, Shown(bulk.set_digest(members), len(members)), "approve", by_page())
    nodes = [node(f"node.y{n}") for n in range(26)]
    for one in nodes:
        put(root, "node", one)
    import_store(store)
    proposed(store, *(action("request_delete", one, to_state="delete_requested") for one in nodes))
    deletions = everything.filter(verb="request_delete")
    members = bulk.members_of(deletions)
    with pytest.raises(BadRequest, match="at most 25"):
        bulk.decide(lead, deletions, Shown(bulk.set_digest(members), 26), "approve", by_page(password_given=True))
    _, decided = bulk.decide(lead, deletions, Shown(bulk.set_digest(members), 26), "reject", by_page("keep them"))
    assert {one.code for one in decided} == {"rejected"}


def test_the_number_of_queries_does_not_grow_with_the_actions(tmp_path: Path, django_assert_max_num_queries: object) -> None:
    _, rows, _ = many(tmp_path, 60)
    lead = reviewer()
    seen = shown(lead)
    with django_assert_max_num_queries(40):  # type: ignore[operator]
        bulk.decide(lead, matching(lead), seen, "approve", by_page())
    assert Review.objects.count() == len(rows) == 60
