"""The status strip: what it says, and nothing while nothing changed."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from stores.context import strip_of
from stores.models import LifecycleAction, Store
from stores.review.discussing import snooze
from stores.selectors import verdicts
from stores.selectors.review_counts import beside, counts_of, review_counts
from tests.factories import make_group, make_store, make_superuser, make_user
from tests.review.queues import imported, queued
from tests.views.parsing import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(make_user())
    return client


def test_the_strip_names_what_is_not_healthy_worst_first() -> None:
    make_store(verdict="degraded")
    make_store(verdict="degraded")
    make_store(verdict="unavailable")
    make_store(measured_at=None)
    make_store()
    said = strip_of(verdicts.judged_stores(make_user(), timezone.now()))
    assert (said.verdict, said.text, said.failing) == ("unavailable", "1 unavailable, 2 degraded, 1 unmeasured", 3)


def test_the_strip_of_healthy_stores_and_of_none(client: Client) -> None:
    assert strip_of([]).text == "no stores"
    make_store()
    make_store()
    response = client.get("/status/")
    assert "2 healthy" in response.content.decode()
    assert 'data-failing="0"' in response.content.decode()


def test_nothing_is_sent_while_nothing_changed(client: Client) -> None:
    make_store("shop-api")
    version = client.get("/account/").context["page"].strip.version
    response = client.get(f"/status/?seen={version}")
    assert (response.status_code, response.content) == (204, b"")
    Store.objects.update(verdict="degraded")
    response = client.get(f"/status/?seen={version}")
    assert response.status_code == 200
    assert "1 degraded" in response.content.decode()
    assert f"seen={version}" not in response.content.decode()


def test_the_strip_is_a_fragment_that_is_found_in_the_page(client: Client) -> None:
    make_store("shop-api", verdict="degraded")
    fragment = client.get("/status/").content.decode().strip()
    assert "<html" not in fragment
    assert fragment in client.get("/account/").content.decode()


def test_a_store_that_the_account_may_not_see_is_not_counted(client: Client) -> None:
    make_store(verdict="unavailable", groups=["platform"])
    assert "no stores" in client.get("/status/").content.decode()


def test_the_title_begins_with_the_number_of_failing_stores(client: Client) -> None:
    make_store(verdict="degraded")
    assert "<title>(1) Account" in client.get("/account/").content.decode()


def test_the_rail_shows_the_worst_six_and_the_workers(client: Client) -> None:
    for n in range(7):
        make_store(f"fine-{n}")
    make_store("broken", verdict="unavailable")
    page = client.get("/account/").context["page"]
    assert [store.slug for store in page.stores] == ["broken", "fine-0", "fine-1", "fine-2", "fine-3", "fine-4"]
    assert page.stores_total == 8
    assert [(worker.label, worker.alive) for worker in page.workers] == [("build-01", True)]


def test_the_queue_is_counted_for_who_may_review(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action = queued(store)
    LifecycleAction.objects.update(created_at=timezone.now() - timedelta(days=3), due_at=timezone.now() + timedelta(days=1))
    viewer, reviewer = Client(), Client()
    viewer.force_login(make_user())
    reviewer.force_login(make_user(groups=["reviewer"]))
    assert "Review 1 · oldest 3 d" in text(reviewer.get("/account/"))
    assert reviewer.get("/account/").context["page"].strip.review_state == "pending"
    assert "Review 1" not in text(viewer.get("/account/"))
    version = reviewer.get("/account/").context["page"].strip.version
    assert reviewer.get(f"/status/?seen={version}").status_code == 204
    LifecycleAction.objects.filter(pk=action.pk).update(due_at=timezone.now() - timedelta(minutes=1))
    changed = reviewer.get(f"/status/?seen={version}")
    assert (changed.status_code, changed.context["page"].strip.review_state) == (200, "overdue")


def test_pages_of_the_queue_have_what_waits_in_their_title(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    queued(store)
    make_store(verdict="degraded")
    make_store(verdict="degraded")
    client = Client()
    client.force_login(make_user(groups=["reviewer"]))
    assert "<title>(1) Policy" in client.get("/review/policy/").content.decode()
    assert "<title>(2) Account" in client.get("/account/").content.decode()


def test_what_a_reviewer_snoozed_or_may_not_see_is_not_counted(tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action, user, now = queued(store), make_user(groups=["reviewer"]), timezone.now()
    assert review_counts(user, now).pending == 1
    snooze(user, action.pk, now + timedelta(hours=1), now)
    assert review_counts(user, now).pending == 0
    assert review_counts(user, now + timedelta(hours=2)).pending == 1
    store.groups.set([make_group("others")])
    assert review_counts(user, now + timedelta(hours=2)).pending == 0


def test_each_account_has_its_own_counts_beside_its_stores_at_each_moment(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "closed").mkdir()
    (shown, _), (hidden, _) = imported(tmp_path / "open"), imported(tmp_path / "closed")
    first, _ = queued(shown), queued(hidden)
    LifecycleAction.objects.update(due_at=timezone.now() + timedelta(hours=1))
    hidden.groups.set([make_group("others")])
    now, later = timezone.now(), timezone.now() + timedelta(hours=3)
    ines, omar, noor, root = (
        make_user(groups=["reviewer"]),
        make_user(groups=["reviewer", "others"]),
        make_user(groups=[]),
        make_superuser(),
    )
    LifecycleAction.objects.filter(pk=first.pk).update(assigned_to=omar)
    snooze(ines, first.pk, now + timedelta(hours=2), now)
    expected = {(ines, now): (0, 0, 0), (ines, later): (1, 1, 0), (omar, now): (2, 0, 1), (omar, later): (2, 2, 1), (root, now): (2, 0, 0)}
    for (user, moment), numbers in [*expected.items(), *expected.items()]:
        said = counts_of(verdicts.judged_stores(user, moment, beside(user, moment, counts=True))[0].store)
        assert said is not None
        assert (said.pending, said.overdue, said.mine) == numbers
        assert said == review_counts(user, moment)
    assert verdicts.judged_stores(noor, now, beside(noor, now, counts=True)) == []
