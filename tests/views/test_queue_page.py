"""What stands above the list of the queue."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from stores.lists.specs import QUEUE
from stores.models import Measurement, SourceFile, Store
from tests.factories import make_condition, make_file, make_store, make_user, make_worker
from tests.lists.rows import fill
from tests.views.parsing import assert_harmless, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def page() -> Client:
    client = Client()
    client.force_login(make_user("ines"))
    return client


def measure(store: Store, depths: Sequence[float | None], hours: float) -> None:
    now = timezone.now()
    for place, depth in enumerate(depths):
        at = now - timedelta(hours=hours * (len(depths) - 1 - place) / max(1, len(depths) - 1))
        Measurement.objects.create(store=store, at=at, verdict="healthy", values={"queue_depth:graph-queue.jsonl": depth})


def test_the_sentence_says_that_nothing_takes_what_waits(page: Client) -> None:
    store = make_store("shop-api")
    fill(QUEUE, store, [{} for _ in range(62)])
    make_condition(store, "queue_depth", message="62 operations wait", value=62.0)
    make_condition(store, "queue_undrained", message="Nothing was drained for 26 d, while 31 decisions came")
    shown = page.get("/queue/")
    assert "62 operations wait and nothing takes them" in text(shown)
    assert "Nothing was drained for 26 d, while 31 decisions came" in text(shown)
    assert 'href="/stores/shop-api/backlog/"' in shown.content.decode()
    assert 'data-state="failing"' in shown.content.decode()


def test_one_operation_waits_in_the_singular(page: Client) -> None:
    fill(QUEUE, make_store("one"), [{}])
    assert "1 operation waits" in text(page.get("/queue/"))


def test_an_empty_queue_of_a_silent_worker_is_not_called_healthy(page: Client) -> None:
    hour_ago = timezone.now() - timedelta(hours=1)
    store = make_store("shop-api", worker=make_worker("hv-lab", seen_at=hour_ago), imported_at=hour_ago)
    fill(QUEUE, store, [])
    shown = text(page.get("/queue/"))
    assert "Nothing waits" in shown
    assert "Empty does not mean healthy: shop-api not checked since" in shown


def test_rates_and_depth_come_from_the_measurements(page: Client) -> None:
    store = make_store("one")
    fill(QUEUE, store, [{} for _ in range(30)])
    make_condition(store, "queue_depth", value=30.0, status="ok", message="30 operations wait")
    measure(store, [0, 20, 10, 30], hours=3)
    shown = page.get("/queue/")
    assert "In320a day" in text(shown)
    assert "Out80a day" in text(shown)
    assert "never at this rate" in text(shown)
    assert 'aria-label="Operations that wait since' in shown.content.decode()
    assert "lowest 0, highest 30, now 30" in shown.content.decode()


def test_depths_of_several_queues_are_added_and_a_gap_in_one_is_a_gap_in_all(page: Client) -> None:
    for slug, depths in (("one", [5.0, None, 7.0]), ("two", [10.0, 11.0, 12.0])):
        store = make_store(slug)
        fill(QUEUE, store, [{}])
        make_condition(store, "queue_depth", value=depths[-1], status="ok", message="wait")
        measure(store, depths, hours=2)
    assert "highest 19, now 19" in page.get("/queue/").content.decode()


def test_choosing_a_store_narrows_the_numbers_too(page: Client) -> None:
    for slug, number in (("one", 3), ("two", 5)):
        fill(QUEUE, make_store(slug), [{} for _ in range(number)])
    assert "8 operations wait" in text(page.get("/queue/"))
    fragment = page.get("/queue/?store=two", headers={"HX-Request": "true", "HX-Target": "list"})
    assert "5 operations wait" in text(fragment)
    assert "5 of 8 operations match." in text(fragment)


def test_hostile_words_stay_words(page: Client) -> None:
    nasty = '"><img src=x onerror=alert(1)>\u202e<script>'
    store = make_store("one", name=nasty)
    fill(
        QUEUE,
        store,
        [{"operation": nasty, "standing": nasty[:16], "would_write": nasty, "reason": nasty, "decision_id": nasty, "title": nasty}],
    )
    make_condition(store, "poison_operation", message=nasty)
    for address in ("/queue/", "/queue/?sort=-operation&q=img", "/queue/?operation=" + "%22%3E%3Cscript%3E"):
        assert_harmless(page.get(address))


def test_without_any_store_nothing_is_said_to_be_well(page: Client) -> None:
    shown = page.get("/queue/")
    assert "No store is registered that you may see" in text(shown)
    assert "Nothing waits" not in text(shown)
    assert 'class="figures"' not in shown.content.decode()
    assert '<div class="verdict" data-state="unmeasured">' in shown.content.decode()
    make_store("without-queue")
    assert "No store that you may see has a queue" in text(page.get("/queue/"))


def test_a_queue_that_cannot_be_read_is_not_empty(page: Client) -> None:
    store = make_store("shop-api")
    make_file(store, "graph-queue.jsonl", state="symlink", error="graph-queue.jsonl is a link", read_at=None)
    shown = page.get("/queue/")
    assert "The queue of shop-api cannot be read" in text(shown)
    assert "Waitingnot known" in text(shown)
    assert "it is" not in text(shown)
    assert '<div class="verdict" data-state="unavailable">' in shown.content.decode()


def test_operations_of_a_queue_that_cannot_be_read_any_more_are_what_it_held(page: Client) -> None:
    store = make_store("shop-api")
    fill(QUEUE, store, [{}])
    SourceFile.objects.filter(store=store).update(state="unreadable", error="no right")
    shown = text(page.get("/queue/"))
    assert "1 operation waits" in shown
    assert "graph-queue.jsonl of shop-api cannot be read; counted is what it held before" in shown


def test_where_the_decision_is_not_mirrored_the_operation_that_makes_it_tells_its_text(page: Client) -> None:
    of_decision = {"decision_id": "decision-mlggszlr-rkp1k1"}
    rows = [
        {"operation": "create_entities", "title": "Use cursor pagination", **of_decision},
        {"operation": "create_relations", "title": "decision-mlggszlr-rkp1k1 USES redis", **of_decision},
        {"operation": "create_relations", "title": "x", "decision_id": "decision-mlggszlr-aaaaaa"},
    ]
    fill(QUEUE, make_store("one"), rows)
    shown = text(page.get("/queue/"))
    assert shown.count("Use cursor pagination") == 2
    assert "decision-mlggszlr-rkp1k1" not in shown
    assert "decision-mlggszlr-aaaaaa" in shown


def test_the_name_of_the_one_chosen_store_is_no_column(page: Client) -> None:
    for slug in ("one", "two"):
        fill(QUEUE, make_store(slug), [{}])

    def heads(address: str) -> str:
        return page.get(address).content.decode().partition("<thead")[2].partition("</thead>")[0]

    assert "Store" in heads("/queue/")
    assert "Store" not in heads("/queue/?store=two")
    assert "Store" in heads("/queue/?store=two&store=one")
    assert "Store" in heads("/queue/?store=two&cols=store,at")
