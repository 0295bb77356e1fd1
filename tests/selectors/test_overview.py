"""What the overview counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from stores.models import SourceFile
from stores.selectors.overview import Need, overview
from stores.selectors.review_counts import ReviewCounts
from stores.selectors.store_list import store_list_page
from tests.factories import (
    make_condition,
    make_decision,
    make_file,
    make_problem,
    make_queue_operation,
    make_run,
    make_store,
    make_superuser,
    make_user,
    make_worker,
)

pytestmark = pytest.mark.django_db


def ms(days_ago: float) -> int:
    return int((datetime.now(UTC) - timedelta(days=days_ago)).timestamp() * 1000)


def needs(user: object = None) -> dict[str, Need]:
    return {need.what: need for need in overview(user or make_superuser(), datetime.now(UTC)).needs}  # type: ignore[arg-type]


def test_nothing_waits_where_nothing_is_wrong() -> None:
    make_decision(make_store())
    assert needs() == {}


def test_unreadable_lines_lead_to_the_faults_of_the_one_store_or_to_the_filtered_list_of_several() -> None:
    user = make_superuser()
    first, second = make_store("one"), make_store("two")
    make_file(first, lines_record=5, lines_refused=2, tail_pending=1)
    assert needs(user)["Unreadable lines"] == Need("failing", "Unreadable lines", 3, "one", "/stores/one/faults/")
    make_file(second, lines_record=5, lines_refused=4)
    assert needs(user)["Unreadable lines"] == Need("failing", "Unreadable lines", 7, "in 2 stores", "/stores/?needs=unreadable")
    found = store_list_page(user, datetime.now(UTC), need="unreadable")
    assert sum(row.unreadable for row in found.rows) == 7


def test_queued_operations_count_those_of_the_queues_that_fail() -> None:
    failing, fine = make_store("failing"), make_store("fine")
    for store in (failing, fine):
        for _ in range(3):
            make_queue_operation(store)
    make_condition(failing, "queue_depth")
    make_condition(fine, "queue_depth", status="ok")
    need = needs()["Queued operations"]
    assert (need.number, need.url) == (3, "/queue/?store=failing")


def test_a_muted_queue_does_not_wait_for_anybody() -> None:
    store = make_store()
    make_queue_operation(store)
    make_condition(store, "queue_depth", muted_until=datetime.now(UTC) + timedelta(days=1))
    assert "Queued operations" not in needs()


def test_open_problems_say_how_many_are_older_than_two_weeks() -> None:
    store = make_store()
    make_problem(store, at_ms=ms(20))
    make_problem(store, at_ms=ms(13))
    make_problem(store, at_ms=0)
    make_problem(store, at_ms=ms(30), status="solved")
    need = needs()["Open problems"]
    assert (need.number, need.fact, need.url) == (3, "1 over 14 d", "/problems/?status=open")
    assert need.fact_url == "/problems/?status=open&older=14"


def test_a_failed_import_counts_only_while_it_is_the_newest() -> None:
    store = make_store("shop-api")
    now = datetime.now(UTC)
    make_run(store, status="failed", error="permission denied", started_at=now - timedelta(minutes=5))
    assert needs(make_superuser())["Failed imports"].number == 1
    make_run(store, started_at=now)
    assert "Failed imports" not in needs(make_superuser("other"))


def test_a_silent_worker_counts_once_however_many_stores_it_has() -> None:
    worker = make_worker("hv-lab-03", seen_at=datetime.now(UTC) - timedelta(hours=5))
    make_store(worker=worker)
    make_store(worker=worker)
    need = needs()["Silent workers"]
    assert (need.number, need.fact, need.url) == (1, "hv-lab-03", "/stores/?needs=silent")


def test_stray_stores_are_counted_by_folder() -> None:
    make_store("shop-api", stray_stores=["src/a/.claude/memory", "src/b/.claude/memory"])
    assert needs()["Stray stores"] == Need("note", "Stray stores", 2, "shop-api", "/stores/shop-api/health/")


def test_the_last_fourteen_days_count_by_the_day_that_the_record_names() -> None:
    store = make_store()
    today = datetime.now(UTC).replace(hour=0, minute=0, second=1)
    for days_ago in (0, 0, 1, 13):
        make_decision(store, at_ms=int((today - timedelta(days=days_ago)).timestamp() * 1000))
    make_decision(store, at_ms=int((today - timedelta(days=14)).timestamp() * 1000))
    make_decision(store, at_ms=int((today + timedelta(days=2)).timestamp() * 1000))
    make_decision(store, at_ms=0)
    make_run(store, started_at=today)
    charts = {chart.title: chart for chart in overview(make_superuser(), datetime.now(UTC)).days}
    assert charts["Decisions written"].total == 4
    assert len(charts["Decisions written"].bars.bars) == 3
    assert charts["Imports"].total == 1
    assert "Problems written" not in charts
    assert "2 today so far" in charts["Decisions written"].sentence


def test_reasons_name_their_store_where_there_are_several_and_lead_to_what_they_count() -> None:
    user = make_superuser()
    store = make_store("shop-api", verdict="degraded", sentence="2 corrupt lines in decisions.jsonl")
    make_condition(store, "corrupt_lines", message="2 corrupt lines in decisions.jsonl", faults_code="bad_json", path="decisions.jsonl")
    told = overview(user, datetime.now(UTC))
    assert told.headline == "Attention: shop-api is degraded"
    assert [reason.text for reason in told.reasons] == ["2 corrupt lines in decisions.jsonl"]
    assert told.reasons[0].url == "/stores/shop-api/faults/?code=bad_json&file=decisions.jsonl"
    make_store("other")
    assert overview(user, datetime.now(UTC)).reasons[0].text == "shop-api: 2 corrupt lines in decisions.jsonl"


def test_an_unmeasured_store_names_the_silent_worker() -> None:
    worker = make_worker("hv-lab-03", seen_at=datetime.now(UTC) - timedelta(hours=5))
    make_store("harbor", worker=worker, measured_at=datetime.now(UTC) - timedelta(hours=5))
    told = overview(make_superuser(), datetime.now(UTC))
    assert told.verdict == "unmeasured"
    assert told.headline == "Attention: harbor is unmeasured"
    assert told.reasons[0].text.startswith("worker hv-lab-03 silent since ")
    assert told.measured_at is None


def test_a_store_that_was_never_imported_holds_what_is_not_known_and_no_zero() -> None:
    make_store("new", imported_at=None, measured_at=None, verdict="unmeasured")
    row = overview(make_superuser(), datetime.now(UTC)).rows[0]
    assert row.holds == "not known"
    assert row.backlog is None


def test_what_a_store_holds_tells_the_lines_where_some_cannot_be_read() -> None:
    store = make_store("shop-api")
    for _ in range(3):
        make_decision(store)
    SourceFile.objects.filter(store=store).update(lines_refused=2)
    row = overview(make_superuser(), datetime.now(UTC)).rows[0]
    assert (row.holds, row.holds_of) == ("3 decisions", "of 5 lines")


def test_five_queries_whatever_there_is() -> None:
    user = make_user()
    for size in (1, 9):
        for _ in range(size):
            store = make_store()
            make_decision(store, at_ms=ms(1))
            make_problem(store)
            make_queue_operation(store)
            make_condition(store)
            make_run(store)
        with CaptureQueriesContext(connection) as queries:
            overview(user, datetime.now(UTC))
        assert len(queries) == 5


def test_nothing_of_a_hidden_store_is_counted() -> None:
    hidden = make_store("hidden", groups=["others"], verdict="unavailable", stray_stores=["x"])
    make_problem(hidden)
    make_file(hidden, "decisions.jsonl", lines_refused=3)
    make_condition(hidden)
    make_decision(hidden, at_ms=ms(1))
    make_run(hidden, status="failed")
    make_decision(make_store("seen"), at_ms=ms(1))
    told = overview(make_user(), datetime.now(UTC))
    assert [row.store.slug for row in told.rows] == ["seen"]
    assert told.needs == []
    assert told.headline == "The store is healthy"
    assert [chart.total for chart in told.days] == [1]


def test_a_file_that_cannot_be_read_holds_no_zero() -> None:
    store = make_store("shop-api")
    make_file(store, "decisions.jsonl", state="symlink", read_at=None)
    make_file(store, "graph-queue.jsonl", state="not_regular", read_at=None)
    row = overview(make_superuser(), datetime.now(UTC)).rows[0]
    assert (row.holds, row.holds_known) == ("cannot be read", False)
    assert (row.backlog, row.backlog_words) == (None, "cannot be read")


def test_records_of_a_file_that_cannot_be_read_any_more_say_as_of_when_they_are() -> None:
    store, now = make_store("shop-api"), datetime.now(UTC)
    make_decision(store)
    make_queue_operation(store)
    SourceFile.objects.filter(store=store).update(state="unreadable", read_at=now.replace(hour=0, minute=7))
    row = overview(make_superuser(), now).rows[0]
    assert (row.holds, row.holds_of) == ("1 decision", "as of 00:07")
    assert (row.backlog, row.backlog_words) == (1, "as of 00:07")


def test_what_waits_in_the_queue_stands_first_and_leads_to_what_it_counts() -> None:
    make_store()
    now = datetime.now(UTC)
    counts = ReviewCounts(pending=17, oldest_at=now - timedelta(days=3), overdue=4, mine=6, failed=1)
    found = overview(make_superuser(), now, counts).needs
    assert [(need.what, need.number, need.url) for need in found] == [
        ("Actions to review", 17, "/review/?state=pending"),
        ("Assigned to you", 6, "/review/?tab=mine"),
        ("Failed applies", 1, "/review/?state=failed"),
    ]
    assert (found[0].fact, found[0].fact_url) == ("4 overdue", "/review/?tab=overdue")
    quiet = overview(make_superuser("other"), now, counts._replace(overdue=0)).needs[0]
    assert (quiet.state, quiet.fact, quiet.fact_url) == ("pending", "oldest 3 d", "")
