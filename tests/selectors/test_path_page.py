"""One path: its events with what they changed, the memory that came up on it, what hangs around it; and what is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from stores.mirror.importing import import_store
from stores.mirror.resetting import reset_mirror
from stores.models import MemoryPath, Store
from stores.selectors import store_paths
from stores.selectors.path_page import EVENTS_A_PAGE, KnownEvent, PathPage, path_of, path_page
from stores.selectors.store_paths import StorePaths, known_paths
from tests.mirror.images import register
from tests.phase_memory_folders import append, event, make_store, node, path, put

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give the folder of a store with one path, `path.a`."""
    return make_store(tmp_path.resolve() / "store")


def imported(root: Path) -> Store:
    store = Store.objects.filter(path=str(root)).first() or register(root, "atlas", kind="phase-memory")
    import_store(store)
    return Store.objects.get(pk=store.pk)


def page_of(root: Path, name: str, page: int = 1) -> PathPage:
    paths = StorePaths(imported(root))
    return path_page(paths, paths.by_id[name], page)


def line_of(found: KnownEvent | None) -> int:
    return found.line if found is not None else 0


def test_events_come_in_the_paths_own_order_with_what_each_changed(root: Path) -> None:
    put(root, "node", node("n.one", kind="decision", text="Pages by cursor"))
    made = [{"node_id": "n.one", "operation": "create"}, {"node_id": "n.two", "operation": "retire"}]
    begun = {"path_id": "p", "operation": "branch", "parent_path_id": "path.a"}
    append(
        root,
        "events.jsonl",
        event(11, kind="branched", path_id="p", path_updates=[begun]),
        event(12, path_id="p", node_updates=made),
        event(13, path_id="p"),
    )
    put(root, "path", path("p", "event.0013", "event.0011", "event.0012", "event.9999", parent_path_id="path.a"))
    found = page_of(root, "p").events
    assert [(one.position, one.id, line_of(one.event)) for one in found] == [
        (1, "event.0013", 6), (2, "event.0011", 4), (3, "event.0012", 5), (4, "event.9999", 0),
    ]  # fmt: skip
    branched, changed = found[1].changes[0], found[2].changes
    assert (branched.operation, branched.path and branched.path.id, branched.other and branched.other.id) == ("branch", "p", "path.a")
    assert [(one.operation, one.target, one.node and one.node.kind) for one in changed] == [
        ("create", "n.one", "decision"), ("retire", "n.two", None),
    ]  # fmt: skip
    assert [one.decides for one in found] == [False, False, True, False]


def test_of_events_that_share_an_id_the_first_in_the_log_counts(root: Path) -> None:
    append(root, "events.jsonl", event(2, kind="forgotten", path_id="path.a"))
    assert line_of(page_of(root, "path.a").events[0].event) == 2


def test_a_long_list_of_changes_is_cut_and_the_rest_counted(root: Path) -> None:
    made = [{"node_id": f"n{number}", "operation": "update"} for number in range(40)]
    append(root, "events.jsonl", event(11, path_id="p", node_updates=made))
    put(root, "path", path("p", "event.0011"))
    shown = page_of(root, "p").events[0]
    assert [one.target for one in shown.changes] == [f"n{number}" for number in range(12)]
    assert shown.more == 28


def test_events_come_in_pages(root: Path) -> None:
    numbers = range(10, 10 + EVENTS_A_PAGE + 3)
    append(root, "events.jsonl", *(event(number, path_id="p") for number in numbers))
    put(root, "path", path("p", *(f"event.{number:04d}" for number in numbers)))
    store = imported(root)
    paths = StorePaths(store)
    first, second, beyond = (path_page(paths, paths.by_id["p"], page) for page in (1, 2, 99))
    assert len(first.events) == EVENTS_A_PAGE
    assert [one.id for one in second.events] == [f"event.{number:04d}" for number in list(numbers)[-3:]]
    assert (first.pages, beyond.page) == (2, 2)


def test_what_came_up_on_a_path_is_told_decisions_first(root: Path) -> None:
    for number, kind in enumerate(["risk", "decision", "claim"]):
        put(root, "node", node(f"n{number}", kind=kind, provenance={"path_id": "path.a"}))
    put(root, "node", node("elsewhere", provenance={"path_id": "path.b"}))
    page = page_of(root, "path.a")
    assert [one.id for one in page.decisions] == ["n1"]
    assert sorted(one.id for one in page.nodes) == ["n0", "n2"]
    assert page.nodes_left == 0


def test_a_path_knows_its_parents_its_forks_what_was_merged_and_its_summary(root: Path) -> None:
    put(root, "node", node("sum", kind="episode", text="What it came to"))
    for number, (name, parent, more) in enumerate(
        [
            ("a", None, {}),
            ("b", "a", {"state": "merged", "merge_target": "c"}),
            ("c", "a", {}),
            ("d", "a", {"state": "compacted", "compacted_summary_id": "sum"}),
            ("e", "c", {}),
        ]
    ):
        put(root, "path", path(name, parent_path_id=parent, created_at=f"2026-03-02T10:00:0{number}Z", **more))
    page = page_of(root, "c")
    assert [one.id for one in page.line] == ["a", "c"]
    assert [one.id for one in page.siblings] == ["b", "c", "d"]
    assert (page.place, page.previous and page.previous.id, page.next and page.next.id) == (2, "b", "d")
    assert [one.id for one in page.children] == ["e"]
    assert [one.id for one in page.merged_here] == ["b"]
    merged, compacted = page_of(root, "b"), page_of(root, "d")
    assert merged.target is not None and merged.target.id == "c"
    assert compacted.summary is not None and compacted.summary.id == "sum"
    assert (merged.previous, compacted.next) == (None, None)


@pytest.mark.parametrize(("limit", "is_remembered"), [(2, True), (1, False)])
def test_a_store_with_too_many_paths_is_not_remembered(
    root: Path, monkeypatch: pytest.MonkeyPatch, limit: int, is_remembered: bool
) -> None:
    put(root, "path", path("b", parent_path_id="path.a"))
    store = Store.objects.select_related("tree").get(pk=imported(root).pk)
    monkeypatch.setattr(store_paths, "LARGEST_REMEMBERED", limit)
    first = known_paths(store)
    assert first.total == 2
    assert (known_paths(store).by_id is first.by_id) == is_remembered


def test_a_path_that_is_gone_has_its_page_still(root: Path) -> None:
    imported(root)
    (root / "paths" / "path.a.json").unlink()
    store = imported(root)
    paths = StorePaths(store)
    page = path_page(paths, path_of(paths, MemoryPath.objects.get(store=store, natural_id="path.a")))
    assert [one.id for one in page.events] == ["event.0002", "event.0003"]
    assert [one.id for one in page.line] == ["path.a"]


def test_paths_are_remembered_until_an_import_changes_something(root: Path) -> None:
    put(root, "path", path("b", parent_path_id="path.a"))
    store = imported(root)
    assert known_paths(store).total == 2
    again = Store.objects.select_related("tree").get(pk=store.pk)
    with CaptureQueriesContext(connection) as queries:
        kept = known_paths(again)
    assert (kept.total, len(queries)) == (2, 0)
    assert kept.store is again
    put(root, "path", path("c", parent_path_id="b", title="New"))
    import_store(store)
    assert known_paths(Store.objects.get(pk=store.pk)).by_id["c"].title == "New"
    put(root, "path", path("c", parent_path_id="b", title="Newer"))
    import_store(store)
    assert known_paths(Store.objects.get(pk=store.pk)).by_id["c"].title == "Newer"
    reset_mirror(store)
    assert known_paths(Store.objects.get(pk=store.pk)).total == 0
