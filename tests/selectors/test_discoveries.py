"""What lies unregistered, as the workers told it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from stores.models import Task, Worker
from stores.selectors.discoveries import being_added, discoveries
from tests.factories import make_store, make_user, make_worker

pytestmark = pytest.mark.django_db


def looked(worker: Worker, *paths: str, state: str = "done", **changes: object) -> Task:
    found = [
        {"path": path, "kind": "orchestkit", "project": path.removesuffix("/.claude/memory"), "stray": "src" in path} for path in paths
    ]
    result = {"found": found, "more": False, "looked_in": ["/srv", "/home/ines"]}
    return Task.objects.create(
        kind="discover", worker=worker, state=state, finished_at=timezone.now(), result=result if state == "done" else {}, **changes
    )


def test_found_stores_are_named_after_their_project_strays_last_and_counted_by_root() -> None:
    looked(make_worker(), "/srv/a/src/.claude/memory", "/srv/shop-api/.claude/memory", "/home/ines/x/.claude/memory")
    (host,) = discoveries(datetime.now(UTC))
    assert [(one.name, one.stray) for one in host.found] == [("x", False), ("shop-api", False), ("src", True)]
    assert [(place.path, place.found) for place in host.places] == [("/srv", 2), ("/home/ines", 1)]


def test_what_was_registered_since_is_no_longer_offered_nor_what_is_being_registered() -> None:
    worker = make_worker()
    looked(worker, "/srv/a/.claude/memory", "/srv/b/.claude/memory", "/srv/c/.claude/memory")
    make_store("a", worker=worker, path="/srv/a/.claude/memory")
    Task.objects.create(kind="add_store", worker=worker, arguments={"path": "/srv/b/.claude/memory"})
    assert [one.name for one in discoveries(datetime.now(UTC))[0].found] == ["c"]


def test_a_host_that_nobody_asked_tells_its_roots_and_that_they_were_not_read() -> None:
    make_worker(roots=["/srv"])
    (host,) = discoveries(datetime.now(UTC))
    assert [(place.path, place.found) for place in host.places] == [("/srv", None)]
    assert host.looked_at is None


def test_while_a_new_look_runs_the_last_one_stays_shown() -> None:
    worker = make_worker()
    looked(worker, "/srv/a/.claude/memory")
    looked(worker, state="running")
    (host,) = discoveries(datetime.now(UTC))
    assert host.is_open
    assert [one.name for one in host.found] == ["a"]


def test_odd_results_are_no_stores() -> None:
    Task.objects.create(kind="discover", worker=make_worker(), state="done", result={"found": ["x", None, {"kind": 3}], "looked_in": None})
    (host,) = discoveries(datetime.now(UTC))
    assert host.found == []


def test_only_ones_own_and_recent_registrations_are_told() -> None:
    worker, ines, vera = make_worker(), make_user("ines"), make_user("vera")
    mine = Task.objects.create(kind="add_store", worker=worker, asked_by=ines)
    Task.objects.create(kind="add_store", worker=worker, asked_by=vera)
    old = Task.objects.create(kind="add_store", worker=worker, asked_by=ines)
    Task.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(hours=3))
    assert being_added(ines, timezone.now()) == [mine]
