"""The pages of actions that bring content from elsewhere: all of it is shown as text, with what it waits for and what cannot be taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from stores.formats.phase_memory.exchange import Given
from stores.models import LifecycleAction, Profile, Store
from stores.review.graph_imports import Brought, propose
from tests.phase_memory_folders import Record, event
from tests.review.conftest import data_folder
from tests.review.queues import AGENT, NOW, imported, reviewer
from tests.views.parsing import assert_harmless, text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_folder")]
__all__ = ["data_folder"]
EVIL = "</script><img src=x onerror=alert(1)>{{ 7*7 }}{% debug %}\u202e\u200b\x00"


def evil(record_type: str, name: str, **fields: Any) -> Given:
    """Give a record whose every field that may hold text holds markup."""
    record: Record = {"id": name, "kind": EVIL, "text": EVIL, "metadata": {EVIL: {EVIL: [EVIL]}}, EVIL: EVIL, **fields}
    return Given(record_type, name, record)


def brought(store: Store) -> dict[str, LifecycleAction]:
    """Propose records of every sort, markup in all of them; give the actions by verb and target."""
    events = [
        Given(
            "event",
            f"event.{number}",
            {**{key: value for key, value in event(number).items() if key != "id"}, "id": f"event.{number}", "task": EVIL},
        )
        for number in (70, 71)
    ]
    records = [
        evil("node", "node.new", phase="rigid"),
        evil("node", "node.b", phase=EVIL),
        evil("edge", "edge.new", source="node.new", target="node.b"),
        Given("profile", "profile.a", {"id": "profile.a", "title": EVIL}),
        Given("path", "path.new", {"path_id": "path.new", "state": "active", "event_ids": ["event.70", "event.71"], "title": EVIL}),
    ]
    done = propose(store, Brought(EVIL, records, events), AGENT, NOW)
    assert {one.result.code for one in done} == {"queued"}
    return {f"{one.record_type} {one.id}": one.result.action for one in done if one.result.action is not None}


def test_whatever_comes_in_is_harmless_on_every_page_of_the_queue(client: Client, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    rows = brought(store)
    client.force_login(reviewer("ana"))
    addresses = ["/review/", "/review/?singly=1", "/review/bulk/?decision=approve&every=1&tier=high", f"/stores/{store.slug}/"]
    addresses += [f"/review/{row.pk}/{more}" for row in rows.values() for more in ("", "?tab=all&singly=1", "?diff=split", "?diff=words")]
    for address in addresses:
        response = client.get(address)
        assert response.status_code == 200, address
        assert_harmless(response)
        assert "\u202e" not in text(response) and "\u200b" not in text(response), address


def test_a_secret_that_would_come_in_is_masked_and_nobody_can_approve_it(client: Client, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    record: Record = {"id": "node.key", "kind": "claim", "text": f"It is {secret}", "phase": "rigid", "metadata": {"title": secret}}
    (done,) = propose(store, Brought("graph.a", [Given("node", "node.key", record)]), AGENT, NOW)
    assert done.result.action is not None and done.result.action.adds_secret
    client.force_login(reviewer("ana"))
    for address in ("/review/?singly=1", f"/review/{done.result.action.pk}/?tab=all", f"/review/{done.result.action.pk}/?diff=split"):
        assert secret not in client.get(address).content.decode()


def test_an_action_says_what_it_brings_what_it_waits_for_and_that_it_stays(client: Client, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    rows = brought(store)
    client.force_login(reviewer("ana"))
    made = text(client.get(f"/review/{rows['node node.new'].pk}/"))
    assert "Makes the new rigid node node.new" in made
    assert "It cannot be taken back: What is made new stays" in made
    assert "not there yet: it is made" in made
    edge = text(client.get(f"/review/{rows['edge edge.new'].pk}/"))
    assert "as soon as node.new is there" in edge and "It waits for node.new, which is not there yet" in edge
    path = text(client.get(f"/review/{rows['path path.new'].pk}/"))
    assert "It waits for event.71" in path
    log = text(client.get(f"/review/{rows['event event.70'].pk}/"))
    assert "Appends 2 events to the log as they are (event.70, event.71)" in log and "a later event says otherwise" in log
    replaced = text(client.get(f"/review/{rows['node node.b'].pk}/"))
    assert "Puts another content in the place of the node node.b" in replaced and "It cannot be taken back" not in replaced


def test_the_page_of_a_profile_shows_what_is_proposed_about_it(client: Client, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    row = brought(store)["profile profile.a"]
    client.force_login(reviewer("ana"))
    page = client.get(Profile.objects.get().get_absolute_url())
    assert f"/review/{row.pk}/" in page.content.decode()
    for verb in ("create_record", "replace_record", "append_events"):
        assert f"/{verb}/" not in page.content.decode()


def test_a_page_of_many_events_asks_no_more_queries_than_one_of_two(
    client: Client, tmp_path: Path, django_assert_max_num_queries: Any
) -> None:
    store, _ = imported(tmp_path)
    events = [Given("event", f"event.{number}", {"id": f"event.{number}", "kind": "recorded"}) for number in range(1000, 1900)]
    (done,) = propose(store, Brought("graph.a", [], events), AGENT, NOW)
    assert done.result.action is not None
    client.force_login(reviewer("ana"))
    with django_assert_max_num_queries(60):
        assert client.get(f"/review/{done.result.action.pk}/").status_code == 200
