"""What leads see of reviewing: numbers by reviewer, and lists of exactly what they count."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from stores.models import LifecycleAction, Review, Store, User
from stores.selectors.review_load import OF_REVIEWS, listed_reviews, review_load
from tests.factories import make_store, make_superuser, make_user
from tests.views.parsing import text

pytestmark = pytest.mark.django_db

_numbers = itertools.count(1)


def make_action(store: Store, **changes: Any) -> LifecycleAction:
    number, now = next(_numbers), timezone.now()
    fields = {
        "store": store, "store_uid": store.uid, "store_slug": store.slug, "kind": "phase-memory", "action_id": f"action:{number}",
        "verb": "archive", "tier": "low", "rank": 1, "state": "applied", "record": "{}", "digest": "sha256:", "effect": "{}",
        "sentence": "", "requires_review": True, "target_type": "node", "target_count": 1, "first_target": "node.a", "alike": str(number),
        "origin": "agent", "proposed_by": "agent", "planned_at": now, "created_at": now, "due_at": now, "closed_at": now,
    }  # fmt: skip
    return LifecycleAction.objects.create(**{**fields, **changes})


def make_review(action: LifecycleAction, reviewer: User, decision: str = "approved", **changes: Any) -> Review:
    fields = {
        "name": f"r{next(_numbers)}",
        "reviewer_label": reviewer.label,
        "digest": "sha256:",
        "policy_version": "default.0",
        "through": "page",
    }
    return Review.objects.create(
        **{**fields, "action": action, "reviewer": reviewer, "decision": decision, "at": timezone.now(), **changes}
    )


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def ines() -> User:
    return make_user("ines", groups=("reviewer",), first_name="Ines", last_name="Moreau")


@pytest.fixture
def tomasz() -> User:
    return make_user("tomasz", groups=("reviewer",))


def test_load_and_pace_are_told_by_reviewer(ines: User, tomasz: User) -> None:
    store = make_store()
    for taken in (10.0, 30.0, 1.5):
        make_review(make_action(store), ines, took_s=taken)
    make_review(make_action(store), ines, "rejected", took_s=1.0)
    make_review(make_action(store), tomasz, took_s=None)
    make_review(make_action(store), tomasz, at=timezone.now() - timedelta(days=40), took_s=500)
    found = review_load(make_superuser(), timezone.now(), 30)
    first, second = found.reviewers
    assert (first.label, first.decided, first.approved, first.rejected, first.median_s, first.fast) == ("Ines Moreau", 4, 3, 1, 5.75, 1)
    assert (second.label, second.decided, second.median_s) == ("tomasz", 1, None)
    assert (found.totals["decided"], found.median_s, found.weeks_total) == (5, 5.75, 6)


def test_what_was_approved_and_then_withdrawn_or_taken_back_counts_as_reversed(ines: User) -> None:
    store, now = make_store(), timezone.now()
    undone, kept, asked = make_action(store), make_action(store), make_action(store)
    make_action(store, undo_of=undone)
    make_action(store, undo_of=asked, state="pending", closed_at=None)
    withdrawn = make_review(make_action(store, state="withdrawn"), ines, withdrawn_at=now)
    reversed_ = [make_review(undone, ines), withdrawn]
    for action in (kept, asked):
        make_review(action, ines)
    make_review(make_action(store, state="rejected"), ines, "rejected", withdrawn_at=now)
    user = make_superuser()
    assert review_load(user, now + timedelta(seconds=1), 7).totals["reversed"] == 2
    assert set(listed_reviews(user, now + timedelta(seconds=1), 7, "reversed")) == set(reversed_)


def test_approvals_lost_are_those_of_actions_that_people_had_approved(ines: User) -> None:
    store = make_store()
    for state in ("stale", "expired"):
        make_review(make_action(store, state=state), ines)
    make_action(store, state="stale")
    make_review(make_action(store), ines)
    page = signed_in(ines).get("/audit/leads/?show=lost")
    assert (page.context["found"].totals["lost"], page.context["count"]) == (2, 2)
    assert {action.state for action in page.context["actions"]} == {"stale", "expired"}


def test_every_number_leads_to_a_list_of_as_many(ines: User, tomasz: User) -> None:
    store = make_store()
    for user in (ines, tomasz):
        make_review(make_action(store), user, took_s=0.5)
        make_review(make_action(store), user, separation="broken", reason="nobody else was there")
        make_review(make_action(store), user, separation="none", withdrawn_at=timezone.now())
    make_action(store, is_sample=True, applied_at=timezone.now())
    make_action(store, is_sample=True, checked_at=timezone.now())
    client = signed_in(ines)
    page = client.get("/audit/leads/?days=7")
    for figure in page.context["figures"]:
        listed = client.get(f"/audit/leads/{figure['url']}")
        assert listed.context["count"] == figure["number"], figure
        assert figure["number"] > 0 or figure["label"].startswith("Approvals lost")
    for row in page.context["rows"]:
        for name in OF_REVIEWS:
            listed = client.get(f"/audit/leads/{row['urls'][name]}")
            assert listed.context["count"] == getattr(row["load"], name, listed.context["count"])
            assert all(review.reviewer_id == row["load"].reviewer_id for review in listed.context["reviews"])
    assert "nobody else was there" in text(client.get("/audit/leads/?show=broken"))


def test_only_what_the_account_may_see_is_counted(ines: User) -> None:
    make_review(make_action(make_store("hidden", groups=["platform"])), ines)
    assert signed_in(ines).get("/audit/leads/").context["found"].totals["decided"] == 0


def test_it_is_for_reviewers() -> None:
    for groups in (("viewer",), ("operator",)):
        assert signed_in(make_user(groups=groups)).get("/audit/leads/").status_code == 403


@pytest.mark.parametrize("query", ["days=x", "days=9999", "reviewer=-1", "show=none", "show=decided&page=99", "reviewer=987654&show=fast"])
def test_odd_questions_break_nothing(ines: User, query: str) -> None:
    assert signed_in(ines).get(f"/audit/leads/?{query}").status_code == 200
