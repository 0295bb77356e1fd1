"""The graph of a store: table, picture, one entity, one relation."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from stores.mirror.importing import import_store
from stores.models import GraphEntity, GraphRelation, Store
from tests.factories import make_group, make_user
from tests.memory_folders import decision
from tests.mirror.images import register
from tests.views.parsing import assert_harmless, elements, text

pytestmark = pytest.mark.django_db

HOSTILE = '"><img src=x onerror=alert(1)>\u202e</script>'
SECRET = "ghp_" + "a1B2" * 9
BODY = SECRET[4:14]
"""Stands in no page: neither the whole, nor a half, nor with spaces in it."""


def entity(name: str, kind: str = "Technology", *observations: object) -> dict[str, Any]:
    return {"type": "entity", "name": name, "entityType": kind, "observations": observations}


def relation(start: str, end: str, kind: str = "USES") -> dict[str, Any]:
    return {"type": "relation", "from": start, "to": end, "relationType": kind}


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Store]:
    """Give what imports a store with these lines of its graph file, and decisions."""

    def made(*lines: dict[str, Any], decisions: bytes = b"") -> Store:
        memory = tmp_path.resolve() / "shop" / ".claude" / "memory"
        memory.mkdir(parents=True, exist_ok=True)
        (memory / "memory.json").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        (memory / "decisions.jsonl").write_bytes(decisions)
        store = Store.objects.filter(slug="shop").first() or register(memory, "shop")
        import_store(store)
        return store

    return made


@pytest.fixture
def page() -> Client:
    client = Client()
    client.force_login(make_user("ines"))
    return client


def names(answer: Any) -> list[str]:
    """Give the entities of the table in their order."""
    addresses = [attributes["href"] for tag, attributes in elements(answer) if attributes.get("class") == "row-link"]
    by_address = {one.get_absolute_url(): one.name for one in GraphEntity.objects.select_related("store")}
    return [by_address[address] for address in addresses]


def test_the_table_lists_the_most_connected_first_and_says_who_tells(make: Callable[..., Store], page: Client) -> None:
    make(
        entity("redis", "Tool", "fast", "small"), entity("lua", "Language"), relation("redis", "lua"), relation("redis", "nobody"),
        decisions=decision("use redis", 1),
    )  # fmt: skip
    answer = page.get("/stores/shop/graph/")
    assert names(answer)[0] == "redis"
    assert set(names(answer)) == {"redis", "lua", "nobody", "decision-mx3a2c3b-0001"}
    said = text(answer)
    assert "graph file, 1 decision" in said
    assert "only in relations" in said
    assert "4 entities" in said
    assert_harmless(answer)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("type=Tool", ["redis"]),
        ("told=relations", ["nobody"]),
        ("told=decisions&type=Decision", ["decision-mx3a2c3b-0001"]),
        ("q=REDIS", ["redis", "decision-mx3a2c3b-0001"]),
        ("q=数", ["数据库"]),
        ("q=נתונים", ["מסד נתונים"]),
        ("q=🐘", ["🐘"]),
        ("dated=180&told=file", ["old"]),
        ("dated=30&sort=dated&told=file", ["old", "aging"]),
        ("dated=none&q=lua", ["lua"]),
        ("q=zeppelin", []),
    ],
)
def test_filters_find_what_they_say(make: Callable[..., Store], page: Client, query: str, expected: list[str]) -> None:
    def ago(days: int) -> str:
        return f"Timestamp: {(timezone.now() - timedelta(days=days)).isoformat()}"

    make(
        entity("redis", "Tool", ago(1)), entity("lua"), entity("数据库"), entity("מסד נתונים"), entity("🐘"), entity("🦭"),
        entity("old", "Note", ago(200)), entity("aging", "Note", ago(40)), relation("redis", "nobody"), relation("redis", "lua"),
        decisions=decision("use redis", 1),
    )  # fmt: skip
    answer = page.get(f"/stores/shop/graph/?{query}")
    assert names(answer) == expected
    drawn = page.get(f"/stores/shop/graph/data/?{query}").json()
    assert {node["id"] for node in drawn["nodes"]} == {str(GraphEntity.objects.get(name=name).pk) for name in expected}


@pytest.mark.parametrize("column", ["name", "type", "degree", "decisions", "dated"])
def test_every_head_sorts_both_ways(make: Callable[..., Store], page: Client, column: str) -> None:
    make(*(entity(f"e{number:02d}", f"T{number % 3}") for number in range(9)), relation("e03", "e04"), relation("e03", "e05"))
    rising = names(page.get(f"/stores/shop/graph/?sort={column}"))
    falling = names(page.get(f"/stores/shop/graph/?sort=-{column}"))
    assert sorted(rising) == sorted(falling)
    if column == "name":
        assert rising == list(reversed(falling)) == sorted(rising)
    if column == "degree":
        assert falling[0] == "e03"
        assert rising[-1] == "e03"


def test_pages_of_the_table_hold_every_entity_once(make: Callable[..., Store], page: Client) -> None:
    make(*(entity(f"e{number}") for number in range(23)))
    pages = [names(page.get(f"/stores/shop/graph/?per_page=10&page={number}")) for number in (1, 2, 3)]
    assert [len(one) for one in pages] == [10, 10, 3]
    assert len({name for one in pages for name in one}) == 23
    beyond = page.get("/stores/shop/graph/?per_page=10&page=900")
    assert names(beyond) == pages[-1]
    assert "21 – 23 of 23" in text(beyond)
    assert page.get("/stores/shop/graph/?per_page=10&page=900&q=nobody").status_code == 200


def test_the_picture_keeps_the_most_connected_and_says_what_it_leaves_out(make: Callable[..., Store], page: Client) -> None:
    make(*(entity(f"e{number}") for number in range(60)), *(relation("hub", f"e{number}") for number in range(40)))
    drawn = page.get("/stores/shop/graph/data/?nodes=5").json()
    assert len(drawn["nodes"]) == 5
    assert drawn["nodes"][0]["label"] == "hub"
    assert (drawn["entities"], drawn["left_out"]) == (61, {"entities": 56, "relations_beyond": 0})
    shown = {node["id"] for node in drawn["nodes"]}
    assert len(drawn["edges"]) == 4
    assert all(edge["source"] in shown and edge["target"] in shown for edge in drawn["edges"])
    assert "The 5 most connected of 61 entities" in text(page.get("/stores/shop/graph/?nodes=5"))


def test_a_neighbourhood_goes_as_far_as_asked(make: Callable[..., Store], page: Client) -> None:
    make(*(entity(name) for name in "abcd"), relation("a", "b"), relation("b", "c"), relation("c", "d"))
    start = GraphEntity.objects.get(name="a")
    reached = []
    for depth in (1, 2):
        drawn = page.get(f"/stores/shop/entities/{start.pk}/data/?depth={depth}").json()
        reached.append({node["label"] for node in drawn["nodes"]})
        assert drawn["centre"] == str(start.pk)
    assert reached == [{"a", "b"}, {"a", "b", "c"}]


def test_an_entity_tells_what_is_said_of_it_and_what_lies_behind(make: Callable[..., Store], page: Client) -> None:
    make(
        entity("redis", "Tool", "fast"), entity("Redis"), relation("redis", "lua", "USES"), relation("app", "redis", "NEEDS"),
        decisions=decision("use redis for sessions", 1),
    )  # fmt: skip
    one = GraphEntity.objects.get(name="redis")
    answer = page.get(one.get_absolute_url())
    said = text(answer)
    for words in (
        "fast",
        "Mentioned in decision: use redis for sessions",
        "Decisions behind it",
        "s-1",
        "lua",
        "app",
        "Written alike",
        "3 relations",
    ):
        assert words in said, words
    assert_harmless(answer)
    part = page.get(one.get_absolute_url(), headers={"HX-Request": "true", "HX-Target": "picked"})
    assert "fast" in text(part)
    assert "<html" not in part.content.decode()


def test_a_relation_tells_its_ends_its_meaning_and_who_says_it(make: Callable[..., Store], page: Client) -> None:
    make(decisions=decision("use redis", 1) + decision("use redis and lua", 2, entities=["redis", "lua"]))
    chosen = GraphRelation.objects.get(start__name="decision-mx3a2c3b-0002", end__name="redis")
    said = text(page.get(f"/stores/shop/relations/{chosen.pk}/"))
    assert "CHOSE" in said
    assert "strong" in said
    assert "use redis and lua" in said
    assert "Told by1 decision" in said


def test_a_decision_leads_to_the_graph_and_back(make: Callable[..., Store], page: Client) -> None:
    make(decisions=decision("use redis", 1))
    main = GraphEntity.objects.get(name="decision-mx3a2c3b-0001")
    back = [attributes.get("href") for _, attributes in elements(page.get(main.get_absolute_url()))]
    own = next(address for address in back if address and address.startswith("/decisions/") and address != "/decisions/")
    links = [attributes.get("href") for _, attributes in elements(page.get(own))]
    assert main.get_absolute_url() in links


def test_as_many_queries_for_three_rows_as_for_three_hundred(make: Callable[..., Store], page: Client) -> None:
    counts: list[dict[int, int]] = []
    for number in (3, 300):
        make(
            *(entity(f"e{one}", "Tool", "x") for one in range(number)), *(relation("redis", f"e{one}") for one in range(number)),
            entity("redis"), decisions=b"".join(decision(f"use redis {one}", one) for one in range(number)),
        )  # fmt: skip
        one = GraphEntity.objects.get(name="redis")
        asked = ["/stores/shop/graph/", "/stores/shop/graph/data/", one.get_absolute_url(), f"{one.get_absolute_url()}data/",
                 f"/stores/shop/relations/{GraphRelation.objects.filter(start=one)[0].pk}/"]  # fmt: skip
        counts.append({})
        for place, address in enumerate(asked):
            page.get(address)
            with CaptureQueriesContext(connection) as queries:
                assert page.get(address).status_code == 200
            counts[-1][place] = len(queries)
    assert counts[0] == counts[1]
    assert max(counts[0].values()) <= 12, counts


def test_hostile_names_stay_text_and_secrets_are_masked(make: Callable[..., Store], page: Client) -> None:
    make(
        entity(HOSTILE, HOSTILE, HOSTILE), entity(f"token {SECRET}", SECRET, SECRET), relation(HOSTILE, f"token {SECRET}", HOSTILE),
        relation("x", "y", SECRET), entity("", ""),
    )  # fmt: skip
    addresses = ["/stores/shop/graph/", "/stores/shop/graph/data/"]
    addresses += [one.get_absolute_url() for one in GraphEntity.objects.select_related("store")]
    addresses += [f"{one.get_absolute_url()}data/" for one in GraphEntity.objects.select_related("store")]
    addresses += [f"/stores/shop/relations/{pk}/" for pk in GraphRelation.objects.values_list("pk", flat=True)]
    for address in addresses:
        answer = page.get(address)
        assert answer.status_code == 200, address
        assert BODY not in answer.content.decode(), address
        if not address.endswith("data/"):
            assert_harmless(answer)


def test_a_store_that_is_not_visible_has_no_graph(make: Callable[..., Store], page: Client) -> None:
    store = make(entity("redis"), relation("redis", "lua"))
    one, edge = GraphEntity.objects.get(name="redis"), GraphRelation.objects.get()
    store.groups.set([make_group("platform")])
    for address in (
        "/stores/shop/graph/",
        "/stores/shop/graph/data/",
        one.get_absolute_url(),
        f"{one.get_absolute_url()}data/",
        f"/stores/shop/relations/{edge.pk}/",
    ):
        assert page.get(address).status_code == 404, address


def test_an_empty_store_says_that_nothing_tells_of_entities(make: Callable[..., Store], page: Client) -> None:
    make()
    assert "Neither graph file nor queue nor decisions" in text(page.get("/stores/shop/graph/"))


@pytest.mark.parametrize("indent", [None, 2])
def test_a_graph_that_is_one_object_is_shown_and_called_lost_to_the_server(
    make: Callable[..., Store], page: Client, indent: int | None
) -> None:
    store = make()
    said: list[object] = [{"text": "fast", "timestamp": "2026-02-01T00:00:00Z"}, SECRET]
    whole = {"entities": [entity("redis", "Database", *said), entity("go", "Language")], "relations": [relation("go", "redis")]}
    Path(store.path, "memory.json").write_text(json.dumps(whole, indent=indent))
    import_store(store)
    answer = page.get("/stores/shop/graph/")
    assert sorted(names(answer)) == ["go", "redis"]
    assert "The graph file is one JSON object: the memory server shows agents nothing of it" in text(answer)
    drawn = page.get("/stores/shop/graph/data/").json()
    assert (len(drawn["nodes"]), len(drawn["edges"])) == (2, 1)
    shown = page.get(GraphEntity.objects.select_related("store").get(name="redis").get_absolute_url())
    assert "fast" in text(shown)
    assert "graph file" in text(shown)
    assert BODY not in shown.content.decode()
    assert page.get(f"/stores/shop/relations/{GraphRelation.objects.get().pk}/").status_code == 200


def test_observations_with_times_are_sentences_of_their_entity(make: Callable[..., Store], page: Client) -> None:
    make({**entity("redis"), "observations": [{"text": "fast", "timestamp": "2026-02-01T00:00:00Z"}]})
    shown = text(page.get(GraphEntity.objects.select_related("store").get(name="redis").get_absolute_url()))
    assert "fast" in shown
    assert "{" not in shown
    assert "newest date 1 Feb" in shown
