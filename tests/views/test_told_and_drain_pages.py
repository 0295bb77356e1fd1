"""The pages of what agents are told and of what a drain would write: hostile words, secrets, links, queries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from stores.mirror.importing import import_store
from stores.mirror.registering import add_store
from stores.models import Condition, Store
from tests.factories import make_user, make_worker
from tests.memory_folders import decision
from tests.views.parsing import assert_harmless, elements, text

pytestmark = pytest.mark.django_db

HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)</script>\u202e</pre>'
SECRET = "AKIAIOSFODNN7EXAMPLE"


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(make_user("ines"))
    return client


def imported(memory: Path, decisions: bytes, queue: bytes = b"", slug: str = "shop") -> Store:
    memory.mkdir(parents=True, exist_ok=True)
    (memory / "decisions.jsonl").write_bytes(decisions)
    (memory / "graph-queue.jsonl").write_bytes(queue)
    store = add_store(memory, worker=make_worker(), by=make_user(groups=["operator"]), slug=slug)
    import_store(store)
    return store


def entities(*names: str) -> bytes:
    listed = [{"name": name, "entityType": "Tool", "observations": [name]} for name in names]
    return (
        json.dumps({"type": "create_entities", "payload": {"entities": listed}, "timestamp": "2026-03-01T10:00:00.000Z"}).encode() + b"\n"
    )


def relation(start: str, end: str) -> bytes:
    listed = [{"from": start, "to": end, "relationType": "USES"}]
    return (
        json.dumps({"type": "create_relations", "payload": {"relations": listed}, "timestamp": "2026-03-01T10:00:01.000Z"}).encode() + b"\n"
    )


def links(client: Client, path: str) -> list[str]:
    return [attributes.get("href", "") for tag, attributes in elements(client.get(path)) if tag == "a"]


def test_the_text_stands_exactly_with_what_cannot_be_seen_written_out(client: Client, tmp_path: Path) -> None:
    imported(tmp_path, decision(f"use {HOSTILE} here") + decision("use redis  for   sessions", 2))
    page = client.get("/stores/shop/told/")
    assert_harmless(page)
    content = page.content.decode()
    well = content.partition('aria-label="Text that the agent is told">')[2].partition("</pre>")[0]
    assert well.startswith(
        "<bdi>## Recent Project Decisions\n\n- **[Decision]** use redis  for   sessions _(because: measured)_ [redis]\n- **["
    )
    assert '<span class="mark">U+202E</span>' in well
    assert "\u202e" not in content


def test_each_form_has_its_address(client: Client, tmp_path: Path) -> None:
    imported(tmp_path, decision("use redis for sessions") * 2)
    assert "2 of 2 places" in text(client.get("/stores/shop/told/"))
    assert "1 of 2 places" in text(client.get("/stores/shop/told/?variant=v7"))
    documented = client.get("/stores/shop/told/?variant=documented").content.decode()
    assert "\n  `redis`" in documented
    assert "2 of 2 places" in text(client.get("/stores/shop/told/?variant=%22"))


def test_a_secret_is_masked_on_the_page_and_told_to_be_told(client: Client, tmp_path: Path) -> None:
    imported(tmp_path, decision(f"use {SECRET} for the bucket"), entities(SECRET) + relation(SECRET, f"{SECRET} end"))
    page = client.get("/stores/shop/told/")
    assert SECRET not in page.content.decode()
    assert "The agent is told it unmasked" in text(page)
    assert SECRET not in client.get("/stores/shop/drain/").content.decode()


def test_a_silenced_injection_leads_to_its_line_and_its_fault_and_is_led_to(client: Client, tmp_path: Path) -> None:
    store = imported(tmp_path, decision("use redis for sessions") + decision("say nothing at all", 2, entities=None))
    page = client.get("/stores/shop/told/")
    assert "The agent is told nothing at all: the loader throws at line 2" in text(page)
    fault = store.faults.get(code="missing_entities").pk
    assert f"/stores/shop/faults/{fault}/" in links(client, "/stores/shop/told/")
    assert Condition.objects.get(store=store, code="injection_silenced").status == "failing"
    for path in ("/", "/health/", "/stores/shop/health/", "/stores/shop/"):
        assert "/stores/shop/told/" in links(client, path), path


def test_the_preview_of_a_drain_is_harmless_and_names_the_command(client: Client, tmp_path: Path) -> None:
    imported(tmp_path, b"", entities(HOSTILE) + entities(HOSTILE, "redis") + relation(HOSTILE, f"{HOSTILE} end") + b"null\n")
    page = client.get("/stores/shop/drain/")
    assert_harmless(page)
    assert "\u202e" not in page.content.decode()
    said = text(page)
    assert "Creates 3 entities, 1 of which only relations name, and 1 relation" in said
    assert "manage.py drain_queue shop" in said
    assert "/stores/shop/drain/" in links(client, "/stores/shop/backlog/")


def test_both_pages_ask_as_often_for_three_lines_as_for_three_hundred(client: Client, tmp_path: Path) -> None:
    counts = []
    for size in (3, 300):
        log = b"".join(decision(f"use part {number} of it", number) for number in range(size))
        imported(tmp_path / str(size), log, b"".join(entities(f"part {number}") for number in range(size)), f"shop-{size}")
        for page in ("told", "drain"):
            client.get(f"/stores/shop-{size}/{page}/")
            with CaptureQueriesContext(connection) as queries:
                client.get(f"/stores/shop-{size}/{page}/")
            counts.append(len(queries))
    assert counts[:2] == counts[2:]
    assert max(counts) <= 12, counts
