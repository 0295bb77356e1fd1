"""The hostile proposals of the shared samples, looked at through every page of the queue."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.test import Client

from stores.mirror.importing import import_store
from stores.models import LifecycleAction
from stores.review.submitting import submit
from tests.factories import make_user
from tests.mirror.images import register
from tests.phase_memory_folders import make_store, node, put
from tests.review.conftest import data_folder
from tests.review.queues import AGENT, NOW, reviewer
from tests.views.parsing import assert_harmless, text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_folder")]
__all__ = ["data_folder"]
UNSEEN = ("\u202e", "\u202c", "\u200b")


def test_hostile_proposals_are_harmless_and_say_what_they_would_do_first(client: Client, shared: Path, tmp_path: Path) -> None:
    samples = shared / "samples" / "hostile" / "review"
    files = sorted(samples.glob("*.json"))
    read = [json.loads(path.read_bytes()) for path in files if path.stat().st_size < 100_000]
    records = [record for one in read for record in (one if isinstance(one, list) else [one])]
    ids = sorted({one for record in records for one in record.get("target_ids", ()) if isinstance(one, str) and one.isascii()})
    root = make_store(tmp_path.resolve() / "memory")
    for number, name in enumerate(one for one in ids if one.startswith("node-") and "/" not in one):
        put(root, "node", node(name, text=f"Note {number}"))
    store = register(root, kind="phase-memory")
    import_store(store)
    store.refresh_from_db()
    submit(store, records, AGENT, NOW)
    queued = list(LifecycleAction.objects.order_by("pk"))
    assert queued, "some of the samples enter the queue"
    make_user("alice", groups=("reviewer",))
    client.force_login(reviewer("ana"))
    addresses = ["/review/", "/review/?singly=1", "/review/bulk/?decision=approve&every=1&tier=high"]
    addresses += [f"/review/{one.pk}/?tab=all&singly=1" for one in queued[:12]]
    for address in addresses:
        response = client.get(address)
        assert response.status_code == 200, address
        assert_harmless(response)
        assert not any(mark in text(response) for mark in UNSEEN), address
    for one in queued[:12]:
        said = text(client.get(f"/review/{one.pk}/"))
        assert said.index(one.sentence.split(" ")[0]) < said.index("Proposer says")
    misleading = LifecycleAction.objects.filter(target_count__gt=1).order_by("-target_count").first() or queued[0]
    said = text(client.get(f"/review/{misleading.pk}/"))
    assert f"{misleading.target_count:,}" in said


def test_who_a_record_names_as_its_proposer_cannot_approve_it(client: Client, shared: Path, tmp_path: Path) -> None:
    record = json.loads((shared / "samples" / "hostile" / "review" / "22_self_approval.json").read_bytes())
    root = make_store(tmp_path.resolve() / "memory")
    for name in record["target_ids"]:
        put(root, "node", node(name))
    store = register(root, kind="phase-memory")
    import_store(store)
    store.refresh_from_db()
    submit(store, [record], AGENT, NOW)
    action = LifecycleAction.objects.get()
    client.force_login(make_user(str(record["proposed_by"]).title(), groups=("reviewer",)))
    said = text(client.get(f"/review/{action.pk}/"))
    assert "Four eyes: it was proposed or changed by you" in said and "the record names" in said
