"""Nodes are picked for a merge or a compaction by looking for them, without any script, and by typing their ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from stores.mirror.importing import import_store
from stores.models import LifecycleAction, Node, Store, User
from stores.selectors.node_search import find_nodes, nodes_named
from tests.phase_memory_folders import node, put
from tests.review.conftest import data_folder
from tests.review.queues import imported
from tests.views.parsing import assert_harmless, elements, text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_folder")]
__all__ = ["data_folder"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Give a store with a few nodes of which some are about cursors."""
    store, root = imported(tmp_path)
    for number in range(4):
        put(root, "node", node(f"cursor.{number}", text=f"Cursors of kind {number}", title=f"Cursor {number}"))
    put(root, "node", node("cursor.old", text="An old cursor", title="Old cursor", lifecycle_state="archived"))
    put(root, "node", node("cursor.bad", text="<script>alert(1)</script> cursor", title='<img src=x onerror="alert(1)"> cursor'))
    import_store(store)
    return store


def address(verb: str = "merge") -> str:
    return f"/records/node/{Node.objects.get(natural_id='cursor.0').pk}/propose/{verb}/"


def boxes(response: Any) -> dict[str, bool]:
    """Give the boxes of nodes, and whether each is ticked."""
    return {one["value"]: "checked" in one for tag, one in elements(response) if tag == "input" and one.get("name") == "picked"}


def seen(client: Client, verb: str = "merge") -> str:
    return str(client.get(address(verb)).context["form"]["seen"].value())


def test_nodes_are_found_by_words_and_ticked_ones_stay(client: Client, ana: User, store: Store) -> None:
    assert boxes(client.get(address())) == {}
    typed = {"seen": seen(client), "reason": "same thing", "into": "cursor.1", "others": "", "step": "find"}
    found = client.post(address(), {**typed, "find": "cursors kind"})
    assert found.status_code == 200
    assert boxes(found) == {f"cursor.{number}": False for number in (1, 2, 3)}
    assert "same thing" in found.content.decode() and 'value="cursor.1"' in found.content.decode()
    again = client.post(address(), {**typed, "find": "no such words", "picked": ["cursor.2"]})
    assert boxes(again) == {"cursor.2": True}
    assert not LifecycleAction.objects.exists()
    answer = client.post(address(), {**typed, "step": "", "find": "no such words", "picked": ["cursor.2", "cursor.1"]})
    assert answer.status_code == 302
    record = json.loads(LifecycleAction.objects.get().record)
    assert (record["target_ids"], record["parameters"]) == (["cursor.0", "cursor.1", "cursor.2"], {"into": "cursor.1"})


def test_what_is_ticked_and_what_is_typed_go_together(client: Client, ana: User, store: Store) -> None:
    given = {
        "seen": seen(client, "compact"),
        "reason": "x",
        "strategy": "summarize",
        "others": "cursor.3\ncursor.1\n",
        "picked": ["cursor.1"],
    }
    assert client.post(address("compact"), given).status_code == 302
    assert json.loads(LifecycleAction.objects.get().record)["target_ids"] == ["cursor.0", "cursor.1", "cursor.3"]


def test_nothing_picked_and_nothing_typed_names_no_other(client: Client, ana: User, store: Store) -> None:
    answer = client.post(address(), {"seen": seen(client), "reason": "x", "into": "cursor.0"})
    assert answer.status_code == 422 and "Name at least one other node" in text(answer)


def test_a_box_that_was_never_offered_is_refused(client: Client, ana: User, store: Store) -> None:
    answer = client.post(address(), {"seen": seen(client), "reason": "x", "into": "cursor.0", "picked": ["node.nowhere"]})
    assert answer.status_code == 422 and not LifecycleAction.objects.exists()


def test_only_nodes_that_the_verb_can_take_are_found_and_hostile_titles_stay_text(client: Client, ana: User, store: Store) -> None:
    typed = {"seen": seen(client), "reason": "x", "into": "cursor.0", "step": "find", "find": "cursor"}
    found = client.post(address(), typed)
    assert "cursor.old" not in boxes(found) and "cursor.bad" in boxes(found) and "cursor.0" not in boxes(found)
    assert_harmless(found)


def test_the_search_gives_the_newest_for_no_words_and_one_by_its_id(store: Store) -> None:
    assert {one.id for one in find_nodes(store, "", {"active"})} >= {"cursor.0", "cursor.1", "node.a"}
    assert [one.id for one in find_nodes(store, "cursor.2", {"active"})] == ["cursor.2"]
    assert find_nodes(store, "cursor.old", {"active"}) == []
    assert [one.id for one in nodes_named(store, ["cursor.3", "nowhere", "cursor.1", "cursor.3"])] == ["cursor.3", "cursor.1"]


def test_another_stores_nodes_are_never_found(tmp_path: Path, store: Store) -> None:
    other, root = imported(tmp_path, "other")
    put(root, "node", node("cursor.elsewhere", text="A cursor elsewhere"))
    import_store(other)
    assert "cursor.elsewhere" not in {one.id for one in find_nodes(store, "cursor", {"active"})}
    assert [one.id for one in find_nodes(other, "elsewhere", {"active"})] == ["cursor.elsewhere"]
    assert nodes_named(store, ["cursor.elsewhere"]) == []
