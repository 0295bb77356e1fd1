"""Entities of a graph by the API: the same filters as on the page, secrets masked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.test import Client

from stores import accounts
from stores.mirror.importing import import_store
from stores.models import GraphEntity
from tests.factories import make_group, make_user
from tests.memory_folders import decision
from tests.mirror.images import register

pytestmark = pytest.mark.django_db
SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def api() -> Client:
    token = accounts.make_token(make_user("ines"), "test", "read", 30)[1]
    return Client(headers={"Authorization": f"Bearer {token}"})


def test_entities_and_one_entity(tmp_path: Path, api: Client) -> None:
    memory = tmp_path.resolve() / "shop" / ".claude" / "memory"
    memory.mkdir(parents=True)
    lines = [
        {"type": "entity", "name": "redis", "entityType": "Tool", "observations": ["fast", f"key {SECRET}"]},
        {"type": "entity", "name": "lua", "entityType": "Language", "observations": ["Timestamp: 2026-01-02T03:04:05Z"]},
        {"type": "relation", "from": "redis", "to": "lua", "relationType": "USES"},
    ]
    (memory / "memory.json").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (memory / "decisions.jsonl").write_bytes(decision("use redis", 1))
    store = register(memory, "shop")
    import_store(store)
    found = api.get("/api/v1/stores/shop/entities/?type=Tool&type=Language&sort=name").json()
    assert [(one["name"], one["degree"], one["decisions"], one["newest"]) for one in found["items"]] == [
        ("lua", 1, 0, "2026-01-02T03:04:05Z"),
        ("redis", 2, 1, "2026-03-01T10:00:00Z"),
    ]
    assert (found["count"], found["page"]) == (2, 1)
    redis = GraphEntity.objects.get(name="redis")
    answer = api.get(f"/api/v1/stores/shop/entities/{redis.pk}/")
    one = answer.json()
    assert SECRET not in answer.content.decode()
    assert "fast" in one["sentences"]
    assert "Mentioned in decision: use redis" in one["sentences"]
    assert [(relation["type"], relation["end"]) for relation in one["outgoing"]] == [("USES", "lua")]
    assert [(relation["type"], relation["start"]) for relation in one["incoming"]] == [("CHOSE", "decision-mx3a2c3b-0001")]
    assert len(one["decision_ids"]) == 1
    store.groups.set([make_group("platform")])
    assert api.get("/api/v1/stores/shop/entities/").status_code == 404
    assert api.get(f"/api/v1/stores/shop/entities/{redis.pk}/").status_code == 404
