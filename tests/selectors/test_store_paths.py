"""The tree of paths: which rows are in sight, in which order, and that none is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.formats.phase_memory.path_tree import Detached
from stores.lists.paths import TreeQuery
from stores.mirror.importing import import_store
from stores.models import Store
from stores.selectors.store_paths import ABOVE, DEEPEST, ROWS_SHOWN, PathRow, StorePaths, TreeView, brought
from tests.mirror.images import register
from tests.phase_memory_folders import append, event, make_store, node, path, put

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give the folder of a store with one path, `path.a`."""
    return make_store(tmp_path.resolve() / "store")


def imported(root: Path) -> StorePaths:
    store = Store.objects.filter(path=str(root)).first() or register(root, "atlas", kind="phase-memory")
    import_store(store)
    return StorePaths(store)


def branch(root: Path, name: str, parent: str | None, number: int = 0, **more: object) -> None:
    """Write a path; `number` says how late it began."""
    began = f"2026-03-02T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}Z"
    put(root, "path", path(name, parent_path_id=parent, created_at=began, updated_at=began, **more))


def shown(rows: list[PathRow]) -> list[tuple[int, str]]:
    return [(row.depth, row.path.id if row.path else f"{row.more} {'before' if row.is_before else 'more'}") for row in rows]


def pk(paths: StorePaths, name: str) -> int:
    return paths.by_id[name].pk


def test_branches_stand_below_what_they_branched_off_oldest_first(root: Path) -> None:
    branch(root, "b", "a", 30)
    branch(root, "a", None, 10)
    branch(root, "c", "a", 20)
    branch(root, "d", "c", 40)
    rows = TreeView(imported(root), TreeQuery()).rows
    # `path.a` has no time, so it comes first.
    assert shown(rows) == [(0, "path.a"), (0, "a"), (1, "c"), (2, "d"), (1, "b")]
    assert [(row.place, row.siblings, row.children, row.below) for row in rows] == [
        (1, 2, 0, 0), (2, 2, 2, 3), (1, 2, 1, 1), (1, 1, 0, 0), (2, 2, 0, 0),
    ]  # fmt: skip
    # Beside `d` the lane of `a` goes on, since `b` follows there.
    assert [row.continues for row in rows] == [(), (), (), (True,), ()]


def test_a_closed_path_hides_what_is_below_it(root: Path) -> None:
    branch(root, "a", None, 10)
    branch(root, "b", "a", 20)
    branch(root, "c", "b", 30)
    paths = imported(root)
    assert shown(TreeView(paths, TreeQuery(shut=(pk(paths, "a"),))).rows) == [(0, "path.a"), (0, "a")]
    assert shown(TreeView(paths, TreeQuery(shut=(pk(paths, "b"),))).rows) == [(0, "path.a"), (0, "a"), (1, "b")]


def test_rings_missing_parents_and_second_files_are_shown_and_named(root: Path) -> None:
    branch(root, "orphan", "nowhere", 1)
    branch(root, "child", "orphan", 2)
    branch(root, "r2", "r1", 3)
    branch(root, "r1", "r3", 4)
    branch(root, "r3", "r2", 5)
    branch(root, "self", "self", 6)
    (root / "paths" / "zz.json").write_bytes((root / "paths" / "path.a.json").read_bytes())
    paths = imported(root)
    view = TreeView(paths, TreeQuery())
    assert shown(view.rows) == [(0, "path.a")]
    assert shown(view.loose_rows) == [
        (0, "orphan"), (1, "child"), (0, "r1"), (1, "r2"), (2, "r3"), (0, "self"), (0, "path.a"),
    ]  # fmt: skip
    assert [row.detached for row in view.loose_rows if not row.depth] == [
        Detached.MISSING_PARENT, Detached.CYCLE, Detached.CYCLE, Detached.NO,
    ]  # fmt: skip
    assert paths.ring_of("r2") == ("r1", "r3", "r2")
    assert paths.detached == 4
    assert paths.total == 8


def test_a_level_comes_in_pages_of_200_and_the_pages_hold_every_path_once(root: Path) -> None:
    branch(root, "a", None, 1)
    for number in range(450):
        branch(root, f"b{number:03d}", "a", 10 + number)
    paths = imported(root)
    view = TreeView(paths, TreeQuery(opened=(pk(paths, "a"),)))
    rows = view.rows
    assert shown(rows)[:3] == [(0, "path.a"), (0, "a"), (1, "b000")]
    assert shown(rows)[-1] == (1, "250 more")
    seen = [row.path.id for row in rows if row.path and row.depth]
    while rows[-1].path is None:
        rows = view.level(paths.by_id["a"], rows[-1].start)
        seen += [row.path.id for row in rows if row.path]
    assert seen == [f"b{number:03d}" for number in range(450)]


def test_the_page_of_a_level_that_holds_the_chosen_path_is_shown(root: Path) -> None:
    branch(root, "a", None, 1)
    for number in range(450):
        branch(root, f"b{number:03d}", "a", 10 + number)
    paths = imported(root)
    view = TreeView(paths, TreeQuery(path=pk(paths, "b300")))
    said = shown(view.rows)
    assert (1, "200 before") in said
    assert (1, "b300") in said
    assert said[-1] == (1, "50 more")
    earlier = view.level(paths.by_id["a"], 0, before=True)
    assert shown(earlier) == [(1, f"b{number:03d}") for number in range(200)]


def test_a_store_with_many_paths_begins_closed_and_no_view_is_endless(root: Path) -> None:
    for number in range(300):
        branch(root, f"t{number:03d}", None, number)
        branch(root, f"u{number:03d}", f"t{number:03d}", 400 + number)
    paths = imported(root)
    closed = TreeView(paths, TreeQuery()).rows
    assert {row.depth for row in closed} == {0}
    assert shown(closed)[-1] == (0, "101 more")
    second = TreeView(paths, TreeQuery(start=200)).rows
    assert shown(second)[0] == (0, "200 before")
    assert len([row for row in second if row.path]) == 101
    assert len(TreeView(paths, TreeQuery(text="t0")).rows) <= ROWS_SHOWN + 2


def test_a_search_keeps_what_leads_to_the_hits(root: Path) -> None:
    branch(root, "top", None, 1, title="Search rewrite")
    branch(root, "mid", "top", 2, title="Stay on Postgres")
    branch(root, "leaf", "mid", 3, title="Zebrafish cursor", state="abandoned", abandoned_reason="too slow")
    branch(root, "other", "top", 4, title="Elasticsearch")
    paths = imported(root)
    rows = TreeView(paths, TreeQuery(text="zebrafish")).rows
    assert [(row.path.id, row.is_hit) for row in rows if row.path] == [("top", False), ("mid", False), ("leaf", True)]
    rows = TreeView(paths, TreeQuery(states=("abandoned",))).rows
    assert [(row.path.id, row.is_hit) for row in rows if row.path] == [("top", False), ("mid", False), ("leaf", True)]
    assert TreeView(paths, TreeQuery(text="nothing-like-it")).rows == []


def test_a_path_that_lies_deep_is_shown_from_some_levels_above_it(root: Path) -> None:
    for number in range(60):
        branch(root, f"p{number:02d}", f"p{number - 1:02d}" if number else None, number)
    paths = imported(root)
    view = TreeView(paths, TreeQuery(path=pk(paths, "p50")))
    assert DEEPEST < 50
    assert view.anchor is not None
    assert shown(view.rows)[0] == (0, f"p{51 - ABOVE:02d}")
    assert (ABOVE - 1, "p50") in shown(view.rows)
    level = view.level(paths.by_id["p50"], 0, view.anchor)
    assert shown(level) == [(ABOVE, "p51")]


def test_every_live_path_has_its_row_once(root: Path) -> None:
    for number in range(40):
        parent = f"p{(number * 7) % 40:02d}" if number % 5 else ("nowhere" if number % 2 else None)
        branch(root, f"p{number:02d}", parent, number)
    paths = imported(root)
    view = TreeView(paths, TreeQuery())
    seen = [row.path.pk for row in (*view.rows, *view.loose_rows) if row.path]
    assert sorted(seen) == sorted(paths.by_pk)
    assert len(seen) == paths.total == 41


def test_what_is_gone_is_not_in_the_tree(root: Path) -> None:
    branch(root, "a", None, 1)
    branch(root, "b", "a", 2)
    imported(root)
    (root / "paths" / "a.json").unlink()
    view = TreeView(imported(root), TreeQuery())
    assert shown(view.rows) == [(0, "path.a")]
    assert shown(view.loose_rows) == [(0, "b")]


def test_what_came_up_on_a_path_is_counted_by_kind(root: Path) -> None:
    for number, kind in enumerate(["decision", "decision", "risk"]):
        put(root, "node", node(f"n{number}", kind=kind, provenance={"path_id": "path.a"}))
    append(root, "events.jsonl", event(9, path_id="path.a"))
    paths = imported(root)
    assert brought(paths.store, ["path.a", "elsewhere"]) == {"path.a": {"decision": 2, "risk": 1}}
    assert brought(paths.store, []) == {}
