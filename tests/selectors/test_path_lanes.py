"""Windows of the log as lanes: together they hold every event of a path once; and two branches beside each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.mirror.importing import import_store
from stores.models import Event, Store
from stores.selectors.path_compare import compare
from stores.selectors.path_lanes import Lanes, lanes
from stores.selectors.store_paths import StorePaths
from tests.mirror.images import register
from tests.phase_memory_folders import Record, append, event, make_store, node, path, put

pytestmark = pytest.mark.django_db


def write(root: Path, log: str, parents: dict[str, str], **more: Record) -> StorePaths:
    """Import a store whose log has one event a letter, on the path of that name; `-` is an event on no path, `?` on a missing one."""
    make_store(root)
    (root / "paths" / "path.a.json").unlink()
    (root / "events.jsonl").write_bytes(b"")
    on = {"-": None, "?": "nowhere"}
    append(root, "events.jsonl", *(event(number, path_id=on.get(name, name)) for number, name in enumerate(log, 1)))
    for name in sorted(set(log) - {"-", "?"}):
        ids = [f"event.{number:04d}" for number, one in enumerate(log, 1) if one == name]
        put(root, "path", path(name, *ids, parent_path_id=parents.get(name), **more.get(name, {})))
    store = register(root, "atlas", kind="phase-memory")
    import_store(store)
    return StorePaths(Store.objects.get(pk=store.pk))


def lines(found: Lanes) -> list[int]:
    return [row.line for row in found.rows]


def test_windows_lead_from_the_newest_event_to_the_oldest_and_back(tmp_path: Path) -> None:
    paths = write(tmp_path.resolve() / "s", "ab-a?bca-bcab", {"b": "a", "c": "a"})
    seen: list[int] = []
    befores = []
    before = 0
    while True:
        found = lanes(paths, before, 4)
        seen += lines(found)
        if not found.before:
            break
        befores.append(before)
        before = found.before
    on_paths = Event.objects.filter(store=paths.store, path_id__in=["a", "b", "c"]).order_by("-line").values_list("line", flat=True)
    assert seen == list(on_paths)
    assert found.layout.earlier == 0
    back = []
    while found.newer >= 0:
        back.append(found.newer)
        found = lanes(paths, found.newer, 4)
    assert len(back) == len(befores)
    assert found.layout.later == 0
    assert lines(found) == seen[:4]


def test_what_a_row_tells_is_what_is_drawn(tmp_path: Path) -> None:
    paths = write(tmp_path.resolve() / "s", "abbac", {"b": "a", "c": "a"}, b={"state": "merged", "merge_target": "a"})
    found = lanes(paths)
    assert [(row.line, row.path.id, row.branched_from and row.branched_from.id, row.merged_into and row.merged_into.id) for row in found.rows] == [
        (5, "c", "a", None), (4, "a", None, None), (3, "b", None, "a"), (2, "b", "a", None), (1, "a", None, None),
    ]  # fmt: skip
    assert {row.path.id: row.column for row in found.rows} == {lane.path_id: lane.column for lane in found.layout.lanes}


def test_a_path_goes_on_where_its_other_events_lie(tmp_path: Path) -> None:
    paths = write(tmp_path.resolve() / "s", "aabbaa", {})
    middle = lanes(paths, 5, 2)
    assert lines(middle) == [4, 3]
    assert (middle.layout.earlier, middle.layout.later) == (2, 2)
    newest = lanes(paths, 0, 2)
    (lane,) = newest.layout.lanes
    assert (lane.path_id, lane.goes_on_above, lane.bottom) == ("a", False, 2)
    oldest = lanes(paths, 3, 2)
    assert [one.goes_on_above for one in oldest.layout.lanes] == [True]


def test_events_of_paths_that_do_not_exist_are_counted_apart(tmp_path: Path) -> None:
    found = lanes(write(tmp_path.resolve() / "s", "a?a-?", {}))
    assert (lines(found), found.elsewhere) == ([3, 1], 2)


def test_a_store_without_events_has_an_empty_picture(tmp_path: Path) -> None:
    found = lanes(write(tmp_path.resolve() / "s", "--", {}))
    assert (found.rows, found.layout.columns, found.before, found.newer) == ([], 0, 0, -1)


def test_two_branches_are_compared_from_where_they_parted(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "s"
    paths = write(root, "aabbccd", {"b": "a", "c": "b", "d": "a"})
    put(root, "node", node("n.c", kind="decision", provenance={"path_id": "c"}))
    put(root, "node", node("n.a", kind="decision", provenance={"path_id": "a"}))
    import_store(paths.store)
    found = compare(paths, paths.by_id["c"], paths.by_id["d"])
    assert found.common is not None and found.common.id == "a"
    assert [one.id for one in found.left.way] == ["b", "c"]
    assert [one.id for one in found.right.way] == ["d"]
    assert [one.id for one in found.left.events] == ["event.0003", "event.0004", "event.0005", "event.0006"]
    assert [one.id for one in found.right.events] == ["event.0007"]
    assert [one.id for one in found.left.nodes] == ["n.c"]
    assert (found.left.event_count, found.left.capped, found.shared_events) == (4, False, 0)


def test_a_path_is_compared_with_what_it_branched_off(tmp_path: Path) -> None:
    paths = write(tmp_path.resolve() / "s", "aab", {"b": "a"})
    found = compare(paths, paths.by_id["a"], paths.by_id["b"])
    assert found.common is not None and found.common.id == "a"
    assert (found.left.way, found.left.event_count) == ([], 0)
    assert [one.id for one in found.right.events] == ["event.0003"]


def test_paths_of_two_trees_have_nothing_in_common(tmp_path: Path) -> None:
    paths = write(tmp_path.resolve() / "s", "abab", {})
    found = compare(paths, paths.by_id["a"], paths.by_id["b"])
    assert found.common is None
    assert (found.left.event_count, found.right.event_count) == (2, 2)
