"""A bulk decision is about exactly the actions that were shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection, transaction
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext

from stores.errors import BadRequest
from stores.mirror.importing import import_store
from stores.models import AuditEvent, LifecycleAction, Review, Store, User
from stores.review import bulk, moving
from stores.review.bulk import Shown
from stores.review.deciding import allow_apply, visible_actions
from stores.review.moving import MovedMeanwhile
from stores.review.submitting import Proposer
from tests.factories import make_superuser, make_user
from tests.lifecycle.cases import action
from tests.phase_memory_folders import node, put
from tests.review.queues import NOW, archiving, by_page, imported, promotion, proposed, queued, reviewer

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


def asked_for(tmp_path: Path, number: int) -> list[LifecycleAction]:
    """Queue so many actions that need no review, of which the last failed once, and the second but last was withdrawn since."""
    store, root = imported(tmp_path, f"of-{number}")
    nodes = [node(f"node.y{n}") for n in range(number)]
    for one in nodes:
        put(root, "node", one)
    import_store(store)
    done = proposed(store, *(action("archive", one, to_state="archived") for one in nodes))
    keys = [one.action.pk for one in done if one.action is not None]
    LifecycleAction.objects.filter(pk=keys[-1]).update(state="failed")
    rows = list(LifecycleAction.objects.filter(pk__in=keys).order_by("pk"))
    LifecycleAction.objects.filter(pk=keys[-2]).update(state="withdrawn", revision=2)
    return rows


def test_letting_many_be_applied_takes_as_few_statements_as_letting_few(tmp_path: Path) -> None:
    operator, statements = make_user(groups=("operator",)), []
    for number in (4, 60):
        rows = asked_for(tmp_path, number)
        with CaptureQueriesContext(connection) as queries:
            decided = allow_apply(operator, rows, by_page())
        statements.append(len(queries))
        assert [one.code for one in decided] == ["allowed"] * (number - 2) + ["moved", "allowed"]
        assert [one.action.pk for one in decided] == [row.pk for row in rows]
        there = LifecycleAction.objects.filter(pk__in=[row.pk for row in rows]).order_by("pk")
        states = ["ready"] * (number - 2) + ["withdrawn", "approved"]
        assert list(there.values_list("state", "revision")) == [(state, 2) for state in states]
        asked = there.filter(apply_asked_by=operator, apply_asked_at=NOW)
        assert asked.count() == number - 1 and not asked.filter(state="withdrawn").exists()
    assert statements[0] == statements[1] <= 14
    assert AuditEvent.objects.filter(event="apply_allowed").count() == 3 + 59


def test_nothing_is_noted_of_any_where_one_is_not_as_it_was_seen(tmp_path: Path) -> None:
    rows = asked_for(tmp_path, 4)
    with pytest.raises(MovedMeanwhile), transaction.atomic():
        moving.change_all(rows, message="noted")
    assert not LifecycleAction.objects.filter(message="noted").exists()
