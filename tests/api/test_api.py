"""The API: who may ask, the shapes of DESIGN §5, pages of lists, errors as JSON problems."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from stores import accounts, audit
from stores.models import Fault, FaultAcknowledgement, User
from tests.factories import make_condition, make_decision, make_fault, make_file, make_store, make_superuser, make_user

pytestmark = pytest.mark.django_db


def client_of(user: User) -> Client:
    token = accounts.make_token(user, "test", "read", 30)[1]
    return Client(headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
def api() -> Client:
    return client_of(make_user("ines"))


def get(client: Client, path: str, status: int = 200) -> Any:
    response = client.get(f"/api/v1{path}")
    assert response.status_code == status, response.content
    return response.json()


# Who may ask


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer"}, {"Authorization": "Bearer mui_00000000_x"}, {"Authorization": "Basic aW5lczp4"}]
)
def test_without_a_valid_token_nothing_is_told(headers: dict[str, str]) -> None:
    make_store("shop-api")
    for path in (
        "/api/v1/stores/",
        "/api/v1/stores/shop-api/",
        "/api/v1/health/",
        "/api/v1/audit/",
        "/api/v1/docs",
        "/api/v1/openapi.json",
    ):
        response = Client().get(path, headers=headers)
        assert response.status_code == 401
        assert response.headers["Content-Type"] == "application/problem+json"
        assert "shop-api" not in response.content.decode()
    assert Client().get("/api/v1/stores/").headers["WWW-Authenticate"].startswith("Bearer")


def test_a_session_reads_too_and_a_token_wins_over_nothing() -> None:
    client = Client()
    client.force_login(make_user())
    make_store("shop-api")
    assert [store["slug"] for store in get(client, "/stores/")] == ["shop-api"]


def test_an_account_without_role_is_refused() -> None:
    assert get(client_of(make_user(groups=[])), "/stores/", 403)["title"] == "Your account may not do this"


def test_a_token_opens_no_page(api: Client) -> None:
    assert api.get("/account/").status_code == 302


def test_what_is_only_read_takes_no_other_method(api: Client) -> None:
    for method in ("post", "put", "patch", "delete"):
        assert getattr(api, method)("/api/v1/stores/").status_code == 405


# Documentation


def test_the_documentation_is_served_from_here(api: Client) -> None:
    page = api.get("/api/v1/docs").content.decode()
    assert "/static/ninja/swagger-ui-bundle.js" in page
    assert "cdn" not in page
    bundle = Client().get("/static/ninja/swagger-ui-bundle.js")
    assert bundle.status_code == 200
    bundle.close()


def test_the_document_names_every_route_with_a_summary(api: Client) -> None:
    document = get(api, "/openapi.json")
    assert set(document["paths"]) >= {
        "/api/v1/stores/",
        "/api/v1/stores/{slug}/",
        "/api/v1/stores/{slug}/faults/",
        "/api/v1/health/",
        "/api/v1/audit/",
    }
    writing = {path for path, methods in document["paths"].items() if set(methods) != {"get"}}
    assert writing == {"/api/v1/actions/", *(f"/api/v1/actions/{{pk}}/{word}" for word in ("approve", "reject", "withdraw", "renew"))}
    for methods in document["paths"].values():
        for method in methods.values():
            assert method["summary"]
            assert method["responses"]["200"]["content"]["application/json"]["schema"]
        assert ("requestBody" in methods.get("post", {})) == ("post" in methods)
    assert "security" not in document["paths"]["/api/v1/keys"]["get"]


# Stores, health, faults


def test_stores_come_worst_first(api: Client) -> None:
    make_store("fine")
    make_store("broken", verdict="degraded", sentence="2 corrupt lines")
    stores = get(api, "/stores/")
    assert [(store["slug"], store["verdict"]) for store in stores] == [("broken", "degraded"), ("fine", "healthy")]
    assert stores[0]["sentence"] == "2 corrupt lines"
    assert stores[0]["changed_at"] == "2025-11-28T14:31:52.000Z"


def test_one_store_has_its_files_with_lines_by_class(api: Client) -> None:
    store = make_store("shop-api")
    make_file(store, lines_refused=2, lines_blank=1, tail_pending=1)
    make_file(store, "notes.txt")
    make_decision(store)
    document = get(api, "/stores/shop-api/")
    assert [file["path"] for file in document["files"]] == ["decisions.jsonl"]
    file = document["files"][0]
    assert file["lines"] == {"record": 1, "refused": 2, "blank": 1, "pending": 1}
    assert (file["line_count"], file["corrupt_lines"]) == (4, 3)
    assert file["last_modified"] == "2025-11-28T14:31:52.000Z"


def test_health_is_the_document_of_store_health(api: Client) -> None:
    store = make_store("shop-api", verdict="degraded", classic={"overall": "degraded", "tiers": {}})
    make_store("fine")
    make_condition(store)
    make_file(store)
    document = get(api, "/health/")
    assert document["overall"] == "degraded"
    assert [one["store"] for one in document["stores"]] == ["shop-api", "fine"]
    one = document["stores"][0]
    assert set(one) >= {"store", "kind", "verdict", "status", "message", "measured_at", "classic", "conditions", "files"}
    assert set(one["conditions"][0]) >= {"code", "status", "message", "file"}
    assert (one["conditions"][0]["code"], one["conditions"][0]["value"]) == ("queue_depth", 61.0)
    assert [one["store"] for one in get(api, "/health/?store=fine")["stores"]] == ["fine"]
    assert get(api, "/health/?store=fine")["overall"] == "healthy"


def test_faults_are_the_document_of_list_faults(api: Client) -> None:
    store = make_store("shop-api")
    make_fault(store, "tail_unterminated", severity="warning", rank=1, line=9)
    first = make_fault(store, "bad_json", line=3, byte=120, details='{"cause": "glued", "column": 611}')
    FaultAcknowledgement.objects.create(store=store, path=first.path, code=first.code, key=first.key)
    page = get(api, "/stores/shop-api/faults/")
    assert (page["count"], page["capped"], page["page"]) == (2, False, 1)
    assert [fault["code"] for fault in page["items"]] == ["bad_json", "tail_unterminated"]
    fault = page["items"][0]
    assert (fault["file"], fault["line"], fault["byte"], fault["acknowledged"]) == ("decisions.jsonl", 3, 120, True)
    assert fault["details"] == {"cause": "glued", "column": 611}
    assert fault["repair"] == {"mode": "review", "action": "set_aside_lines"}
    assert [fault["code"] for fault in get(api, "/stores/shop-api/faults/?severity=warning")["items"]] == ["tail_unterminated"]
    assert get(api, "/stores/shop-api/faults/?code=bad_json&file=other.jsonl")["items"] == []


def test_a_secret_deep_in_the_details_of_a_fault_is_masked(api: Client) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    make_fault(make_store("shop-api"), details=json.dumps({"of": [secret, {"name": secret}], "what": {secret: [[secret]]}, "line": 3}))
    [fault] = get(api, "/stores/shop-api/faults/")["items"]
    assert secret[4:14] not in json.dumps(fault)
    assert fault["details"]["of"] == ["masked, 44 characters", {"name": "masked, 44 characters"}]
    assert fault["details"]["line"] == 3


def test_a_list_is_cut_into_pages(api: Client) -> None:
    store = make_store("shop-api")
    for line in range(60):
        make_fault(store, line=line)
    pages = [get(api, f"/stores/shop-api/faults/?per_page=25&page={page}")["items"] for page in (1, 2, 3, 4)]
    assert [len(page) for page in pages] == [25, 25, 10, 0]
    assert [fault["line"] for page in pages for fault in page] == list(range(60))


@pytest.mark.parametrize("query", ["per_page=1000000", "per_page=-5", "page=0", "page=100000", "per_page=26"])
def test_a_page_that_there_cannot_be_is_a_400(api: Client, query: str) -> None:
    make_store("shop-api")
    assert get(api, f"/stores/shop-api/faults/?{query}", 400)["status"] == 400


@pytest.mark.parametrize("query", ["page=x", "severity=fatal", "code=" + "x" * 50])
def test_a_parameter_that_cannot_be_read_is_a_422_that_names_it(api: Client, query: str) -> None:
    make_store("shop-api")
    problem = get(api, f"/stores/shop-api/faults/?{query}", 422)
    assert query.partition("=")[0] in problem["detail"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/stores/%00/", 400),
        ("/stores/%ff/", 404),
        ("/stores/shop-api/faults/?code=%00", 200),
        ("/stores/shop-api/faults/?file=%00%ff", 200),
        ("/health/?store=%00", 404),
        ("/audit/?event=%00&actor=%00&store=%00", 200),
    ],
)
def test_what_no_database_takes_is_answered_all_the_same(api: Client, path: str, status: int) -> None:
    make_store("shop-api")
    get(api, path, status)


def test_an_unknown_store_and_a_hidden_one_get_one_answer() -> None:
    make_store("harbor", groups=["platform"])
    api = client_of(make_user())
    for path in ("/stores/{}/", "/stores/{}/faults/", "/health/?store={}"):
        hidden, unknown = (get(api, path.format(slug), 404) for slug in ("harbor", "nothing"))
        assert hidden == unknown


def test_the_audit_gives_what_the_page_gives() -> None:
    user = make_superuser("root")
    api = client_of(user)
    audit.record("muted", actor=user, object_label="queue depth", through="page", detail={"until": "2027-01-01"})
    page = get(api, "/audit/?event=muted")
    assert [(item["event"], item["actor"], item["object"], item["detail"]["until"]) for item in page["items"]] == [
        ("muted", "root", "queue depth", "2027-01-01")
    ]
    assert get(api, "/audit/?since=2999-01-01")["items"] == []
    assert get(api, "/audit/?since=yesterday", 422)["status"] == 422


def test_lists_take_as_many_queries_for_one_row_as_for_many(api: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    get(api, "/stores/")
    for n in range(20):
        store = make_store(f"store-{n}")
        make_condition(store)
        make_fault(store)
        if n in (0, 19):
            with django_assert_num_queries(3):
                get(api, "/stores/")
            with django_assert_num_queries(5):
                get(api, "/health/")
    for n in range(50):
        if n in (0, 49):
            with django_assert_num_queries(6):
                get(api, "/stores/store-0/faults/")
        make_fault(store)
    assert Fault.objects.count() == 70
