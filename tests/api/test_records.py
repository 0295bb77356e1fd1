"""Records in the API: the same filters as the pages, everything masked, nothing of hidden stores."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from stores import accounts
from stores.lists.specs import DECISIONS, PROBLEMS, QUEUE, ListSpec
from stores.selectors.origins import decision_key
from tests.factories import AT, make_decision, make_fault, make_problem, make_queue_operation, make_store, make_user
from tests.lists.rows import fill

pytestmark = pytest.mark.django_db
LISTS = pytest.mark.parametrize("spec", [DECISIONS, PROBLEMS, QUEUE], ids=lambda spec: spec.section)


@pytest.fixture
def api() -> Client:
    token = accounts.make_token(make_user("ines"), "test", "read", 30)[1]
    return Client(headers={"Authorization": f"Bearer {token}"})


def get(client: Client, path: str, status: int = 200) -> Any:
    response = client.get(f"/api/v1{path}")
    assert response.status_code == status, response.content
    return response.json()


@LISTS
def test_a_list_takes_the_filters_of_its_page(api: Client, spec: ListSpec) -> None:
    column = spec.facets[0].column
    one, two = make_store("one"), make_store("two")
    records = fill(spec, one, [{column: "ab"[n % 2], "title": f"text {n}"} for n in range(6)]) + fill(spec, two, [{column: "a"}])
    wanted = [record.pk for record in records[:6] if getattr(record, column) == "a"]
    page = get(api, f"/{spec.section}/?{column}=a&store=one&sort=-at&per_page=2")
    assert [item["id"] for item in page["items"]] == wanted[::-1][:2]
    assert {name: page[name] for name in ("count", "capped", "newest_only", "total", "page", "per_page")} == {
        "count": 3, "capped": False, "newest_only": False, "total": 7, "page": 1, "per_page": 2,
    }  # fmt: skip
    assert get(api, f"/{spec.section}/?q=text&{column}=b")["count"] == 3
    assert page["items"][0]["record_type"] == spec.record_type


@LISTS
def test_everything_is_listed_where_nothing_is_asked_for(api: Client, spec: ListSpec) -> None:
    fill(spec, make_store("one"), [{}, {spec.facets[0].column: "something else"}, {"gone_at": AT}])
    assert get(api, f"/{spec.section}/")["count"] == 2
    assert get(api, f"/{spec.section}/?gone=1")["count"] == 1


def test_problems_are_narrowed_by_their_age(api: Client) -> None:
    make_problem(make_store("one"), at_ms=1_000)
    make_problem(make_store("two"), at_ms=int(timezone.now().timestamp() * 1000))
    assert get(api, "/problems/?older=14")["count"] == 1
    assert get(api, "/problems/?older=0")["count"] == 2
    assert get(api, "/problems/?older=x", 422)["status"] == 422


@LISTS
@pytest.mark.parametrize("question", ["page=0", "page=x", "per_page=100000", "page=10001"])
def test_pages_that_are_none_are_refused(api: Client, spec: ListSpec, question: str) -> None:
    assert get(api, f"/{spec.section}/?{question}", 422)["status"] == 422


def test_one_decision_comes_with_its_line_and_its_faults(api: Client) -> None:
    store = make_store("one")
    raw = json.dumps(
        {"id": "decision-00000001-a", "type": "decision", "content": {"what": "use redis", "why": "token=hunter2hunter2"}}
    ).encode()
    decision = make_decision(store, "use redis", raw=raw)
    make_fault(store, "missing_entities", line=decision.line)
    make_fault(store, "bad_json", line=decision.line + 1)
    document = get(api, f"/decisions/{decision.pk}/")
    assert document["content"]["what"] == "use redis"
    assert [fault["code"] for fault in document["line_faults"]] == ["missing_entities"]
    assert "hunter2" not in json.dumps(document)
    assert "masked, " in document["raw"]


def test_one_problem_and_one_operation_are_given(api: Client) -> None:
    store = make_store("one")
    assert get(api, f"/problems/{make_problem(store, 'timeout').pk}/")["content"]["text"] == "timeout"
    assert get(api, f"/queue/{make_queue_operation(store, 'redis').pk}/")["content"]["entities"][0]["name"] == "redis"


def test_search_gives_the_newest_of_each_type_and_finds_ids(api: Client) -> None:
    store = make_store("one")
    fill(DECISIONS, store, [{"title": f"redis {n}"} for n in range(25)])
    fill(PROBLEMS, store, [{"title": "redis is away"}])
    found = {one["record_type"]: one for one in get(api, "/search/?q=redis")}
    assert [(found[name]["count"], len(found[name]["items"])) for name in ("decision", "problem", "queue_operation")] == [
        (25, 20),
        (1, 1),
        (0, 0),
    ]
    assert found["decision"]["items"][0]["title"] == "redis 24"
    name = "decision-mx3a2c3b-7r3d13"
    fill(DECISIONS, store, [{"natural_id": name, "key": decision_key(name), "title": "no such word"}])
    named = next(one for one in get(api, f"/search/?q={name}") if one["record_type"] == "decision")
    assert (named["count"], [item["natural_id"] for item in named["items"]]) == (1, [name])


@LISTS
def test_a_hidden_store_is_told_of_nowhere(api: Client, spec: ListSpec) -> None:
    records = fill(spec, make_store("hidden", groups=["others"]), [{"title": "zebra", spec.facets[0].column: "zebra"}])
    for question in ("", "?q=zebra", "?store=hidden", f"?{spec.facets[0].column}=zebra", "?gone=1"):
        page = get(api, f"/{spec.section}/{question}")
        assert (page["items"], page["count"], page["total"]) == ([], 0, 0)
    get(api, f"/{spec.section}/{records[0].pk}/", 404)
    assert all(not one["items"] and not one["count"] for one in get(api, "/search/?q=zebra"))
