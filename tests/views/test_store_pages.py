"""Overview, list of stores and the tabs of a store's page."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from stores.models import RefusedLine, SourceFile, Store, Task, User
from stores.selectors.changes import change_row
from stores.selectors.store_page import store_frame
from tests.factories import (
    make_change,
    make_condition,
    make_decision,
    make_fault,
    make_file,
    make_measurement,
    make_problem,
    make_queue_operation,
    make_refused_line,
    make_run,
    make_store,
    make_superuser,
    make_user,
    make_worker,
)
from tests.views.parsing import assert_harmless, elements, text

pytestmark = pytest.mark.django_db

TABS = ("", "faults/", "backlog/", "health/", "changes/", "files/", "raw/", "told/", "drain/")
HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)</script>\u202e</title>'


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def fill(store: Store, size: int, said: str = "words") -> None:
    """Give a store `size` of everything, each with `said` in its text."""
    for number in range(size):
        make_decision(store, said)
        make_problem(store, said)
        make_queue_operation(store, said, reason=said, standing="poison", operation=said)
        make_fault(store, message=said, subject_id=said, line=number + 100)
        make_condition(store, f"code-{store.conditions.count()}", title=said, message=said, advice=said, path="")
        make_measurement(store, {f"code-{number}": 1.0, "queue_depth": 4.0})
        make_change(store, said[:390])
        make_run(store, status="partial", error=said)
        make_file(store, f"{said[:300]}-{number}", error=said, state="unreadable")


def pages_of(store: Store) -> list[str]:
    first_fault = store.faults.order_by("id").values_list("pk", flat=True).first()
    fault_pages = [f"/stores/{store.slug}/faults/{first_fault}/", f"/stores/{store.slug}/faults/?open={first_fault}"] if first_fault else []
    return ["/", "/stores/", "/health/", "/health/?show=all", *(f"/stores/{store.slug}/{tab}" for tab in TABS), *fault_pages]


def test_every_page_takes_at_most_twelve_queries_and_as_many_for_three_rows_as_for_sixty() -> None:
    store = make_store("shop-api", verdict="degraded", sentence="x")
    make_condition(store, "queue_depth")
    fill(store, 3)
    client = signed_in(make_user(groups=["operator", "reviewer"]))
    counts: list[dict[str, int]] = []
    for _ in range(2):
        counts.append({})
        for page in pages_of(store):
            client.get(page)
            with CaptureQueriesContext(connection) as queries:
                assert client.get(page).status_code == 200
            counts[-1][page] = len(queries)
        fill(store, 57)
        for _ in range(10):
            make_condition(make_store())
    assert counts[0] == counts[1]
    assert max(counts[0].values()) <= 12, counts[0]


def test_hostile_text_is_text_on_every_page() -> None:
    worker = make_worker(HOSTILE[:100])
    store = make_store(
        "hostile", name=HOSTILE, worker=worker, verdict="degraded", sentence=HOSTILE, path=f"/srv/{HOSTILE}", given_path=HOSTILE
    )
    fill(store, 2, HOSTILE)
    make_fault(store, line=3, message=HOSTILE, details=json.dumps({"column": 2, "cause": HOSTILE}))
    make_refused_line(store, HOSTILE.encode() + b"\0\xff")
    RefusedLine.objects.update(before=HOSTILE.encode(), before_length=9, after=HOSTILE.encode(), after_length=9)
    client = signed_in(make_user(groups=["operator", "reviewer"]))
    condition = store.conditions.all()[0].pk
    more = [
        "/stores/add/",
        f"/stores/hostile/health/{condition}/mute/",
        "/stores/hostile/settings/",
        "/stores/hostile/raw/?file=decisions.jsonl&line=3",
    ]
    for page in [*pages_of(store), *more, *(f"/stores/hostile/faults/{fault.pk}/" for fault in store.faults.all())]:
        response = client.get(page)
        assert response.status_code == 200, page
        assert_harmless(response)
        read_out = [value for _, attributes in elements(response) for name, value in attributes.items() if name in ("title", "aria-label")]
        assert [shown for shown in [text(response), *read_out] if "\u202e" in shown] == [], page


def test_a_hidden_store_is_on_no_page_and_its_own_pages_are_not_found() -> None:
    store = make_store("secret-project", groups=["others"], verdict="degraded", sentence="x")
    fill(store, 2, "secret-words")
    client = signed_in(make_user(groups=["operator", "reviewer"]))
    for page in pages_of(store):
        response = client.get(page)
        hidden = "/stores/secret-project/" in page
        assert response.status_code == (404 if hidden else 200), page
        assert b"secret-words" not in response.content
        assert b"secret-project" not in response.content.replace(page.encode(), b"")


@pytest.mark.parametrize(
    ("kind", "pages"),
    [
        ("orchestkit", ["phases/", "paths/", "paths/level/", "paths/lanes/", "paths/compare/"]),
        ("phase-memory", ["backlog/", "drain/", "graph/", "graph/data/", "told/"]),
    ],
)
def test_what_a_kind_does_not_have_is_not_found(kind: str, pages: list[str]) -> None:
    make_store("shop", kind=kind)
    other = make_store("other", kind="orchestkit" if kind == "phase-memory" else "phase-memory")
    client = signed_in(make_user())
    shown = client.get("/stores/shop/").content.decode()
    for page in pages:
        assert client.get(f"/stores/shop/{page}").status_code == 404, page
        assert f"/stores/shop/{page}" not in shown, page
        assert client.get(f"/stores/{other.slug}/{page}", follow=True).status_code == 200, page
    sessions = [client.get(f"/sessions/{slug}/").status_code for slug in ("shop", "other")]
    assert sessions == ([200, 404] if kind == "orchestkit" else [404, 200])


def test_every_tab_says_as_of_when_it_is() -> None:
    store = make_store("shop-api")
    client = signed_in(make_user())
    for tab in TABS:
        assert "(worker, 0 s ago)" in text(client.get(f"/stores/shop-api/{tab}")).replace("1 s ago", "0 s ago")
    Store.objects.filter(pk=store.pk).update(
        imported_at=timezone.now() - timedelta(hours=3), measured_at=timezone.now() - timedelta(hours=3)
    )
    for tab in TABS:
        assert "not checked since" in text(client.get(f"/stores/shop-api/{tab}"))
    assert "Unmeasured since" in text(client.get("/stores/shop-api/"))


def test_the_four_nothings_are_told_apart() -> None:
    client = signed_in(make_user())
    store = make_store("shop-api", imported_at=None, measured_at=None, verdict="unmeasured")
    outcomes = [attributes["data-outcome"] for _, attributes in elements(client.get("/stores/shop-api/")) if "data-outcome" in attributes]
    assert outcomes == ["unmeasured"] * 3
    Store.objects.filter(pk=store.pk).update(imported_at=timezone.now(), measured_at=timezone.now(), verdict="healthy")
    make_file(store, "decisions.jsonl", state="unreadable", error="permission denied")
    make_file(store, "graph-queue.jsonl", exists=False, state="missing")
    make_file(store, "open-problems.jsonl")
    response = client.get("/stores/shop-api/")
    outcomes = [attributes["data-outcome"] for _, attributes in elements(response) if "data-outcome" in attributes]
    assert outcomes == ["unreadable"]
    assert "decisions.jsonl: permission denied" in text(response)
    assert "graph-queue.jsonl is not there, so there is no queued operation." in text(response)
    assert "open-problems.jsonl holds no problem." in text(response)
    assert 'data-outcome="empty"' in client.get("/stores/shop-api/faults/").content.decode()
    make_fault(store)
    assert 'data-outcome="filtered"' in client.get("/stores/shop-api/faults/?severity=info").content.decode()


def test_lines_that_cannot_be_read_are_told_beside_the_records() -> None:
    store = make_store("shop-api")
    make_decision(store)
    SourceFile.objects.filter(store=store).update(lines_record=410, lines_refused=2)
    told = text(signed_in(make_user()).get("/stores/shop-api/"))
    assert "410 of 412 lines readable" in told
    assert "2 of decisions.jsonl cannot be read and may hold more faults" in told


def test_the_store_page_says_what_the_kinds_own_tool_would_say() -> None:
    tiers = {
        "graph": {"status": "degraded", "message": "2 corrupt lines in decisions.jsonl"},
        "mem0": {"status": "unavailable", "message": "no key"},
    }
    make_store("shop-api", verdict="degraded", sentence="61 operations wait", classic={"overall": "degraded", "tiers": tiers})
    make_condition(Store.objects.get(slug="shop-api"), status="ok")
    client = signed_in(make_user())
    told = text(client.get("/stores/shop-api/"))
    assert "OrchestKit itself would say: degraded (graph degraded, mem0 unavailable)" in told
    assert "Degraded: 61 operations wait" in told
    assert "2 corrupt lines in decisions.jsonl" in text(client.get("/stores/shop-api/health/"))


def test_an_operator_asks_for_an_import_and_sees_that_it_waits() -> None:
    store = make_store("shop-api")
    operator = make_user(groups=["operator"])
    client = signed_in(operator)
    assert client.post("/stores/shop-api/import/").status_code == 302
    assert client.post("/stores/shop-api/import/").status_code == 302
    (task,) = Task.objects.filter(store=store, kind="import")
    assert task.asked_by == operator
    response = client.get("/stores/shop-api/")
    assert "Importing: waits for worker build-01" in text(response)
    polled = [attributes for _, attributes in elements(response) if attributes.get("id") == f"task-{task.pk}"]
    assert polled[0]["hx-get"] == f"/tasks/{task.pk}/"


@pytest.mark.parametrize("path", ["/stores/shop-api/import/", "/stores/add/", "/stores/shop-api/settings/"])
def test_what_operators_do_is_refused_to_others(path: str) -> None:
    make_store("shop-api")
    client = signed_in(make_user(groups=["viewer", "reviewer"]))
    response = client.post(path) if path.endswith("import/") else client.get(path)
    assert response.status_code == 403
    assert Task.objects.count() == 0
    shown = client.get("/stores/shop-api/").content.decode()
    assert "Import now" not in shown
    assert "/settings/" not in shown


def test_the_list_of_stores_filters_by_verdict_and_says_what_one_step_back_would_show() -> None:
    make_store("good")
    make_store("bad", verdict="degraded", sentence="x")
    client = signed_in(make_user())
    assert "1 of 2 stores" in text(client.get("/stores/?verdict=degraded"))
    response = client.get("/stores/?verdict=unavailable")
    assert "0 of 2 stores match" in text(response)
    assert "Show all 2" in text(response)
    assert "2 of 2 stores" in text(client.get("/stores/?verdict=nonsense&needs=nonsense&page=99999999999999999999"))


def test_changes_are_told_in_words_and_paged() -> None:
    store = make_store("shop-api")
    for number in range(60):
        make_change(store, created=number, removed=1, bytes_before=1000, bytes_after=2000)
    make_change(store, "graph-queue.jsonl", what="truncated", created=0, removed=62)
    client = signed_in(make_user())
    response = client.get("/stores/shop-api/changes/")
    assert "graph-queue.jsonl was drained" in text(response)
    assert "62 queued operations went" in text(response)
    assert "59 decisions came, 1 went" in text(response)
    assert "1 kB → 2 kB" in text(response)
    assert "graph-queue" not in text(client.get("/stores/shop-api/changes/?page=2"))


def test_a_drained_queue_is_good_news_and_lost_decisions_are_not() -> None:
    store = make_store("shop-api")
    told = {
        (path, what): change_row(make_change(store, path, what=what, created=2, removed=24), store)
        for path in ("graph-queue.jsonl", "decisions.jsonl")
        for what in ("truncated", "rewritten", "replaced", "vanished")
    }
    for what in ("truncated", "rewritten", "replaced"):
        drained = told["graph-queue.jsonl", what]
        assert (drained.state, drained.what, drained.records) == (
            "ok",
            "graph-queue.jsonl was drained",
            "2 queued operations came, 24 went",
        )
        assert "drained" not in told["decisions.jsonl", what].what
    assert told["graph-queue.jsonl", "vanished"].what == "graph-queue.jsonl vanished"
    assert told["decisions.jsonl", "truncated"].state == "late"


def test_files_tell_how_far_an_import_is() -> None:
    store = make_store("shop-api")
    make_file(store, "decisions.jsonl", state="importing", size_bytes=1000, offset=400, lines_record=40, lines_refused=1, lines_blank=2)
    make_file(store, "README.md", state="listed")
    told = text(signed_in(make_user()).get("/stores/shop-api/files/"))
    assert "being read, 40% done" in told
    assert "40 records, 1 refused, 2 blank" in told
    assert "not read by this kind" in told


def test_without_a_store_the_first_page_is_the_first_run() -> None:
    worker = make_worker(roots=["/srv/agents"])
    operator = signed_in(make_user(groups=["operator"]))
    response = operator.get("/")
    assert "No store is registered yet" in text(response)
    assert "/srv/agents" in text(response)
    assert "not read yet" in text(response)
    found = [{"path": "/srv/agents/shop-api/.claude/memory", "kind": "orchestkit", "project": "/srv/agents/shop-api", "stray": False}]
    Task.objects.create(
        kind="discover", worker=worker, state="done", finished_at=timezone.now(), result={"found": found, "looked_in": ["/srv/agents"]}
    )
    response = operator.get("/")
    assert "1 store found" in text(response)
    boxes = [
        attributes
        for tag, attributes in elements(response)
        if tag == "input" and attributes.get("name") == "path" and "value" in attributes
    ]
    assert [("checked" in box, box["value"]) for box in boxes if box.get("type") == "checkbox"] == [
        (True, "/srv/agents/shop-api/.claude/memory")
    ]


def test_who_is_no_operator_learns_of_no_folder() -> None:
    make_worker(roots=["/srv/agents"])
    response = signed_in(make_user()).get("/")
    assert "No store is registered that you may see" in text(response)
    assert b"/srv/agents" not in response.content


def test_a_store_whose_files_cannot_be_read_shows_no_zero_on_any_page_of_it() -> None:
    store = make_store("shop-api")
    for path in ("decisions.jsonl", "graph-queue.jsonl", "open-problems.jsonl"):
        make_file(store, path, state="symlink", error=f"{path} is a link", read_at=None)
    make_fault(store, "symlink", line=None)
    user = make_superuser()
    frame = store_frame(user, "shop-api", "records", timezone.now())
    assert {tab.label: tab.count for tab in frame.tabs if tab.label in ("Records", "Backlog")} == {"Records": None, "Backlog": None}
    page = signed_in(user)
    faults = text(page.get("/stores/shop-api/faults/"))
    assert "cannot be read" in faults
    assert "0 of 0" not in faults
    backlog = text(page.get("/stores/shop-api/backlog/"))
    assert "graph-queue.jsonl is a link" in backlog
    assert "it is" not in backlog
    assert "cannot be read" in text(page.get("/stores/"))
