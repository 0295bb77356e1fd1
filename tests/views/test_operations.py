"""/healthz, /readyz and /metrics: what they say, to whom, and at what cost."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client, override_settings
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoAssertNumQueries

from stores import accounts, audit
from stores.lifecycle.states import State
from stores.models import FacetCount, LifecycleAction, SourceFile, Task, User
from tests.factories import (
    make_condition,
    make_decision,
    make_fault,
    make_file,
    make_group,
    make_problem,
    make_queue_operation,
    make_store,
    make_superuser,
    make_user,
    make_worker,
)
from tests.review.queues import archiving, imported, queued

pytestmark = pytest.mark.django_db


def numbers(response: object) -> dict[tuple[str, ...], float]:
    """Give every sample as (name, label values in the order of their names) -> value."""
    found = {}
    for family in text_string_to_metric_families(response.content.decode()):  # type: ignore[attr-defined]
        for sample in family.samples:
            found[(sample.name, *(value for _, value in sorted(sample.labels.items())))] = sample.value
    return found


def bearer(user: User) -> dict[str, str]:
    return {"Authorization": f"Bearer {accounts.make_token(user, 'metrics', 'read', 30)[1]}"}


# Process and database


def test_healthz_answers_without_database_and_session(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        response = Client().get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")
    assert not response.cookies
    assert Client().post("/healthz").status_code == 405


def test_readyz_says_that_the_database_is_there_and_migrated() -> None:
    response = Client().get("/readyz")
    assert response.status_code == 200
    assert response.json() == {"ready": True, "database": "reachable", "migrations_missing": 0}


def test_readyz_refuses_while_a_migration_is_missing() -> None:
    MigrationRecorder.Migration.objects.filter(app="stores").order_by("-id").first().delete()  # type: ignore[union-attr]
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert response.json()["migrations_missing"] == 1


def test_readyz_refuses_without_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*args: object, **kwargs: object) -> None:
        raise DatabaseError("away")

    monkeypatch.setattr(connection, "ensure_connection", away)
    monkeypatch.setattr(connection, "cursor", away)
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert response.json()["database"] == "not reachable"


def test_a_silent_worker_leaves_the_web_ready() -> None:
    make_worker(seen_at=timezone.now() - timedelta(days=1))
    assert Client().get("/readyz").status_code == 200


# Metrics


def test_metrics_give_the_numbers_of_the_pages() -> None:
    worker = make_worker("build-01", seen_at=timezone.now() - timedelta(seconds=4))
    store = make_store("shop-api", worker=worker, verdict="degraded", sentence="2 corrupt lines")
    make_file(store, lines_refused=1, tail_pending=1, lines_blank=3, size_bytes=286_000)
    make_decision(store)
    make_fault(store)
    make_fault(store, severity="info", rank=2)
    make_condition(store, value=61.0)
    make_condition(store, "queue_oldest", value=86_500.0)
    make_condition(store, "poison_operation", status="ok", value=0.0)
    make_queue_operation(store)
    make_problem(store)
    make_problem(store, status="solved")
    Task.objects.create(kind="import", worker=worker, store=store)
    found = numbers(Client().get("/metrics"))
    verdicts = {
        verdict: found["memoryui_store_verdict", "orchestkit", "shop-api", verdict]
        for verdict in ("healthy", "degraded", "unavailable", "unmeasured")
    }
    assert verdicts == {"healthy": 0, "degraded": 1, "unavailable": 0, "unmeasured": 0}
    lines = {word: found["memoryui_lines", word, "decisions.jsonl", "shop-api"] for word in ("record", "refused", "blank", "pending")}
    assert lines == {"record": 1, "refused": 1, "blank": 3, "pending": 1}
    assert found["memoryui_file_bytes", "decisions.jsonl", "shop-api"] == 286_000
    assert [found["memoryui_faults", word, "shop-api"] for word in ("error", "warning", "info")] == [1, 0, 1]
    assert found["memoryui_queue_depth", "shop-api"] == 61
    assert found["memoryui_queue_oldest_seconds", "shop-api"] == 86_500
    assert found["memoryui_condition_failing", "queue_depth", "graph-queue.jsonl", "shop-api"] == 1
    assert found["memoryui_condition_failing", "poison_operation", "graph-queue.jsonl", "shop-api"] == 0
    assert found["memoryui_records", "shop-api", "decision"] == 1
    assert found["memoryui_records", "shop-api", "problem"] == 2
    assert found["memoryui_open_problems", "shop-api"] == 1
    assert 4 <= found["memoryui_worker_seen_seconds", "build-01"] < 60
    assert found["memoryui_worker_alive", "build-01"] == 1
    assert found["memoryui_tasks_waiting", "build-01"] == 1


def test_metrics_count_the_actions_of_the_stores_that_may_be_seen(tmp_path: Path) -> None:
    (store, _), (hidden, _) = imported(tmp_path, "one"), imported(tmp_path, "two")
    hidden.groups.add(make_group("platform"))
    waiting, ready = queued(store), queued(store, archiving())
    queued(hidden)
    now = timezone.now()
    LifecycleAction.objects.filter(pk=waiting.pk).update(created_at=now - timedelta(hours=5), due_at=now - timedelta(hours=1))
    LifecycleAction.objects.filter(pk=ready.pk).update(state="applied")
    for _ in range(2):
        audit.record("action_failed", actor=None, actor_label="worker", object_label="#1", store=store, through="worker")
    found = numbers(Client().get("/metrics"))
    assert {name[1]: number for name, number in found.items() if name[0] == "memoryui_actions" and number} == {"pending": 1, "applied": 1}
    assert {name[1] for name in found if name[0] == "memoryui_actions"} == set(map(str, State))
    assert 5 * 3600 <= found["memoryui_actions_oldest_pending_seconds",] < 5 * 3600 + 60
    assert found["memoryui_actions_overdue",] == 1
    results = {name[1]: number for name, number in found.items() if name[0] == "memoryui_action_results_total"}
    assert results == {"applied": 1, "failed": 2, "stale": 0}
    assert found["memoryui_applying",] == 0
    assert numbers(Client().get("/metrics", headers=bearer(make_superuser())))["memoryui_actions", "pending"] == 2


def test_an_old_measurement_counts_as_unmeasured_here_too() -> None:
    make_store("shop-api", measured_at=timezone.now() - timedelta(minutes=10))
    found = numbers(Client().get("/metrics"))
    assert found["memoryui_store_verdict", "orchestkit", "shop-api", "unmeasured"] == 1
    assert found["memoryui_store_measured_seconds", "shop-api"] >= 600


def test_without_stores_there_are_metrics_all_the_same() -> None:
    assert Client().get("/metrics").status_code == 200


def test_slugs_and_paths_are_escaped_as_labels() -> None:
    store = make_store("shop-api")
    SourceFile.objects.create(store=store, path='a"b\\c\nd.jsonl', record_type="decision")
    found = numbers(Client().get("/metrics"))
    assert ("memoryui_file_bytes", 'a"b\\c\nd.jsonl', "shop-api") in found


def stores_in(response: object) -> set[str]:
    return {sample[2] for sample in numbers(response) if sample[0] == "memoryui_store_verdict"}


def test_who_asks_decides_which_stores_there_are() -> None:
    make_store("open")
    make_store("team", groups=["platform"])
    assert stores_in(Client().get("/metrics")) == {"open"}
    assert stores_in(Client().get("/metrics", headers=bearer(make_user()))) == {"open"}
    assert stores_in(Client().get("/metrics", headers=bearer(make_user(groups=["viewer", "platform"])))) == {"open", "team"}
    assert stores_in(Client().get("/metrics", headers=bearer(make_superuser()))) == {"open", "team"}
    assert stores_in(Client().get("/metrics", headers=bearer(make_user(groups=["platform"])))) == set()
    signed_in = Client()
    signed_in.force_login(make_user(groups=["viewer", "platform"]))
    assert stores_in(signed_in.get("/metrics")) == {"open", "team"}


def test_from_another_host_metrics_need_a_token() -> None:
    make_store("open")
    remote = Client(REMOTE_ADDR="10.0.0.9")
    assert remote.get("/metrics").status_code == 403
    assert remote.get("/metrics", headers={"Authorization": "Bearer mui_0_x"}).status_code == 403
    assert remote.get("/metrics", headers=bearer(make_user())).status_code == 200


def test_a_wrong_token_is_refused_on_loopback_too() -> None:
    assert Client().get("/metrics", headers={"Authorization": "Bearer mui_00000000_x"}).status_code == 403


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"])
def test_what_a_proxy_passes_on_does_not_count_as_loopback(header: str) -> None:
    assert Client().get("/metrics", headers={header: "10.0.0.9"}).status_code == 403


@override_settings(TRUSTED_PROXY=True)
def test_behind_a_proxy_nothing_counts_as_loopback() -> None:
    assert Client().get("/metrics").status_code == 403


def test_metrics_take_as_many_queries_for_one_store_as_for_thirty(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for n in range(30):
        store = make_store(f"store-{n}")
        make_file(store)
        FacetCount.objects.create(store=store, record_type="decision", facet="", value="", count=n)
        if n in (0, 29):
            with django_assert_num_queries(11):
                Client().get("/metrics")
