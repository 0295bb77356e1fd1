"""The last events of the overview: one line an import, whatever number of files it found changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from stores.selectors.recent import recent_events
from tests.factories import make_change, make_store

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_files_that_grew_in_one_import_are_one_line() -> None:
    store = make_store("shop-api")
    make_change(store, "decisions.jsonl", at=AT, created=1)
    make_change(store, "graph-queue.jsonl", at=AT, created=2)
    make_change(store, "decisions.jsonl", at=AT + timedelta(seconds=24), created=3)
    make_change(make_store("other"), "decisions.jsonl", at=AT, created=5)
    told = {(event.store, event.at): (event.what, event.fact) for event in recent_events([store])}
    assert told["shop-api", AT][0] in ("1 decision and 2 queued operations came", "2 queued operations and 1 decision came")
    assert told["shop-api", AT][1] == "2 files"
    assert told["shop-api", AT + timedelta(seconds=24)][0] == "decisions.jsonl grew, 3 decisions came"
    assert len(told) == 2


def test_what_went_wrong_in_an_import_gives_its_line_the_shape() -> None:
    store = make_store("shop-api")
    make_change(store, "decisions.jsonl", at=AT, what="unreadable", created=0)
    make_change(store, "graph-queue.jsonl", at=AT, created=2)
    [event] = recent_events([store])
    assert event.state == "failing"
    assert "decisions.jsonl cannot be read" in event.what
    assert "graph-queue.jsonl grew, 2 queued operations came" in event.what


def test_what_weighs_most_stands_first_however_many_files_changed() -> None:
    store = make_store("shop-api")
    for name in ("consult", "metrics"):
        make_change(store, f"project:.claude/logs/memory-{name}.jsonl", at=AT, what="rewritten", created=1)
    make_change(store, "sessions/s-1/events.jsonl", at=AT, created=4)
    make_change(store, "decisions.jsonl", at=AT, created=2)
    [event] = recent_events([store])
    assert event.what.startswith("decisions.jsonl grew, 2 decisions came; sessions/s-1/events.jsonl")
    assert event.fact == "4 files"
