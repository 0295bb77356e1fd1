"""Search over all memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from stores.lists.specs import DECISIONS, PROBLEMS, QUEUE
from stores.mirror.importing import import_store
from stores.models import GraphEntity
from stores.selectors.origins import decision_key
from stores.selectors.searching import Search
from tests.factories import AT, make_group, make_store, make_superuser, make_user
from tests.lists.rows import fill
from tests.memory_folders import make_project
from tests.mirror.images import register
from tests.views.parsing import assert_harmless, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def page() -> Client:
    client = Client()
    client.force_login(make_user("ines"))
    client.get("/account/")
    return client


def test_every_type_of_record_is_found_and_leads_to_its_list(page: Client) -> None:
    store = make_store("shop-api")
    fill(DECISIONS, store, [{"title": f"redis for sessions {n}"} for n in range(23)])
    fill(PROBLEMS, store, [{"title": "redis is away", "status": "solved"}, {"title": "nothing else"}])
    fill(QUEUE, store, [{"title": "redis"}])
    answer = page.get("/search/?q=redis")
    assert "Found in 23 decisions, 1 problem, 1 operation" in text(answer)
    assert text(answer).count("redis for sessions") == 20
    assert 'href="/decisions/?q=redis"' in answer.content.decode()
    assert "nothing else" not in text(answer)


def test_a_record_is_found_by_its_id_and_stands_first(page: Client) -> None:
    name = "decision-mx3a2c3b-7r3d13"
    fill(DECISIONS, make_store("one"), [{"natural_id": name, "key": decision_key(name), "title": "use uuid v7"}, {"title": f"see {name}"}])
    shown = text(page.get(f"/search/?q={name}"))
    assert shown.index("use uuid v7") < shown.index("see decision")
    assert "Found in 2 decisions" in shown


@pytest.mark.parametrize("indent", [None, 2], ids=["one line", "spread"])
def test_entities_of_a_graph_that_is_one_object_are_found_and_lead_to_their_pages(page: Client, tmp_path: Path, indent: int | None) -> None:
    memory = make_project(tmp_path.resolve(), decisions=0)
    names = [f"billing-service-{number}" for number in range(22)]
    entities = [{"name": name, "entityType": "Service", "observations": []} for name in [*names, "RedisCluster", "<b>other</b>"]]
    (memory / "memory.json").write_text(json.dumps({"entities": entities, "relations": []}, indent=indent))
    store = register(memory)
    import_store(store)
    found = page.get("/search/?q=redis+clus")
    entity = GraphEntity.objects.get(name="RedisCluster")
    # On one line it is besides a line of no known form, which has the same words.
    assert "1 entity of a graph" in text(found)
    assert f'href="{entity.get_absolute_url()}"' in found.content.decode()
    many = page.get("/search/?q=billing")
    assert "All 22 in the list" in text(many)
    billing = GraphEntity.objects.filter(name__startswith="billing").select_related("store")
    assert sum(f'href="{one.get_absolute_url()}"' in many.content.decode() for one in billing) == 20
    assert f'href="/stores/{store.slug}/graph/?q=billing"' in many.content.decode()
    assert "22 entities" in text(page.get(f"/stores/{store.slug}/graph/?q=billing"))
    for words in ("redi cluster", '"cluster redis"', "nothing"):
        assert "Nothing matches" in text(page.get("/search/", {"q": words}))
    assert_harmless(page.get("/search/?q=other"))
    store.groups.add(make_group("others"))
    assert "Nothing matches" in text(page.get("/search/?q=billing"))


def test_what_is_gone_is_not_found(page: Client) -> None:
    name = "decision-mx3a2c3b-7r3d13"
    fill(DECISIONS, make_store("one"), [{"title": "redis", "gone_at": AT, "natural_id": name, "key": decision_key(name)}])
    for words in ("redis", name):
        assert "Nothing matches" in text(page.get(f"/search/?q={words}"))


def test_search_asks_as_often_however_much_it_finds(page: Client) -> None:
    store = make_store("one")
    asked = []
    for size in (1, 60):
        for spec in (DECISIONS, PROBLEMS, QUEUE):
            fill(spec, store, [{"title": f"redis {n}"} for n in range(size)])
        with CaptureQueriesContext(connection) as queries:
            page.get("/search/?q=redis")
        asked.append(len(queries))
    assert asked[0] == asked[1] <= 12


@pytest.mark.parametrize("words", ["", "?!", "%00", "%22", "x" * 5000, "a:b*c^d", "AND OR NOT", "\U0001f680", "支付"])
def test_odd_words_are_answered(page: Client, words: str) -> None:
    fill(DECISIONS, make_store("one"), [{"title": "redis"}])
    answer = page.get("/search/", {"q": words})
    assert answer.status_code == 200
    assert_harmless(answer)


def test_the_fragment_is_the_list_alone(page: Client) -> None:
    fill(DECISIONS, make_store("one"), [{"title": "redis"}])
    fragment = page.get("/search/?q=redis", headers={"HX-Request": "true", "HX-Target": "list"}).content.decode()
    assert "<html" not in fragment
    assert fragment.strip().startswith('<div id="list">')


def test_the_hits_shown_are_in_the_order_of_their_own_time() -> None:
    store = make_store("in-order")
    fill(DECISIONS, store, [{"title": f"walrus {hour}", "at_ms": hour * 3_600_000} for hour in (3, 9, 1, 7)])
    [section] = [one for one in Search(make_superuser(), "walrus").sections if one.hits]
    assert [hit.title for hit in section.hits] == ["walrus 9", "walrus 7", "walrus 3", "walrus 1"]
