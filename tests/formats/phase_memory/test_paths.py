"""Paths: what changing one writes, the tree of all, how branches compare, and the picture of lanes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.phase_memory import path_changes, records
from stores.formats.phase_memory.effects import effects
from stores.formats.phase_memory.lanes import FORK, MERGE, LaneEvent, Layout, Span, lay_out
from stores.formats.phase_memory.path_changes import Occasion, PathRefused
from stores.formats.phase_memory.path_tree import Detached, PathEntry, PathTree, entry_of, merged_into

WHEN = Occasion("event.9", "2026-03-01T10:00:00Z", "memoryui", action_id="action:1")
OTHER: dict[str, object] = {"path_id": "path.b", "state": "active", "event_ids": []}


def begun() -> dict[str, object]:
    return path_changes.create("path.a", WHEN._replace(event_id="event.1")).path


def test_creating_and_branching_begin_an_active_path_with_its_event() -> None:
    made = path_changes.create("path.a", WHEN, title="Search")
    assert made.path["state"] == "active"
    assert (made.path["parent_path_id"], made.path["event_ids"], made.path["title"]) == (None, ["event.9"], "Search")
    assert (made.event["kind"], made.event["path_updates"]) == ("recorded", [{"path_id": "path.a", "operation": "create"}])
    assert (made.event["path_id"], made.event["action_id"], made.event["timestamp"]) == ("path.a", "action:1", WHEN.timestamp)
    forked = path_changes.branch("path.c", OTHER, WHEN)
    assert forked.path["parent_path_id"] == "path.b"
    assert forked.event["kind"] == "branched"
    assert forked.event["path_updates"] == [{"path_id": "path.c", "operation": "branch", "parent_path_id": "path.b"}]


@pytest.mark.parametrize(
    ("made", "state", "field", "value", "kind", "operation"),
    [
        (path_changes.merge(begun(), OTHER, WHEN), "merged", "merge_target", "path.b", "merged", "merge"),
        (path_changes.abandon(begun(), "no time", WHEN), "abandoned", "abandoned_reason", "no time", "deactivated", "abandon"),
        (path_changes.compact(begun(), "episode.s", WHEN), "compacted", "compacted_summary_id", "episode.s", "compacted", "compact"),
    ],
)
def test_a_path_ends_in_one_of_three_ways(
    made: path_changes.PathChange, state: str, field: str, value: str, kind: str, operation: str
) -> None:
    assert made.path == {**begun(), "state": state, field: value, "event_ids": ["event.1", "event.9"]}
    assert made.event["kind"] == kind
    assert made.event["path_updates"] == [{"path_id": "path.a", "operation": operation, field: value}]
    with pytest.raises(PathRefused, match="only a reviewed restore"):
        path_changes.abandon(made.path, "again", WHEN)


def test_compacting_says_which_nodes_were_folded() -> None:
    made = path_changes.compact(begun(), "episode.s", WHEN, retired=["b", "a", "b"])
    assert made.event["node_updates"] == [{"node_id": "a", "operation": "retire"}, {"node_id": "b", "operation": "retire"}]


def test_a_change_keeps_unknown_fields_wrapper_and_spelling() -> None:
    inner: dict[str, object] = {"id": "x", "state": "active", "event_ids": [], "merged_into": None, "z": 1}
    foreign: dict[str, object] = {"schema_version": "phase_memory.path.v1", "path": inner}
    before = json.dumps(foreign)
    made = path_changes.merge(foreign, OTHER, WHEN)
    assert json.dumps(foreign) == before
    assert made.path["path"] == {"id": "x", "state": "merged", "event_ids": ["event.9"], "merged_into": "path.b", "z": 1}


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(PathRefused, match="into itself"):
        path_changes.merge(begun(), begun(), WHEN)
    with pytest.raises(PathRefused, match="off itself"):
        path_changes.branch("path.b", OTHER, WHEN)
    with pytest.raises(PathRefused, match="reason"):
        path_changes.abandon(begun(), " ", WHEN)
    with pytest.raises(PathRefused, match="already"):
        path_changes.abandon(begun(), "x", WHEN._replace(event_id="event.1"))
    with pytest.raises(PathRefused, match="id"):
        path_changes.create("", WHEN)
    with pytest.raises(PathRefused, match="put right first"):
        path_changes.abandon({**begun(), "merge_target": "path.b"}, "x", WHEN)


def entry(name: str, parent: str = "", *events: str, target: str = "", at: int = 0) -> PathEntry:
    return PathEntry(name, parent, "merged" if target else "active", target, at, events)


FOREST = PathTree(
    [
        entry("main", "", "1", "2", at=1),
        entry("left", "main", "3", "4", at=3),
        entry("right", "main", "5", "2", at=2),
        entry("deep", "left", "6", at=4),
        entry("lost", "gone", at=9),
        entry("ring.b", "ring.a", at=5),
        entry("ring.a", "ring.b", at=6),
        entry("below", "ring.b", at=7),
        entry("self", "self", at=8),
    ]
)


def test_the_tree_shows_every_path_once_and_names_what_hangs_loose() -> None:
    top = [(one.path.id, str(one.detached), one.children, one.below) for one in FOREST.level()]
    assert top == [("main", "", 2, 3), ("ring.a", "cycle", 1, 2), ("self", "cycle", 0, 0), ("lost", "missing_parent", 0, 0)]
    assert [(one.path.id, one.depth) for one in FOREST.level("main")] == [("right", 1), ("left", 1)]
    assert [one.path.id for one in FOREST.level("main", start=1, most=1)] == ["left"]
    assert FOREST.branch("ring.b").detached is Detached.CYCLE
    assert FOREST.branch("below").detached is Detached.NO
    assert sorted(FOREST.rings) == [("ring.a", "ring.b"), ("self",)]
    assert FOREST.line("deep") == ("main", "left", "deep")


def test_two_branches_are_compared_from_where_they_parted() -> None:
    found = FOREST.compare("deep", "right")
    assert (found.ancestor, found.left, found.right) == ("main", ("left", "deep"), ("right",))
    assert (found.left_events, found.right_events, found.shared_events) == (("3", "4", "6"), ("5", "2"), 0)
    assert FOREST.compare("left", "deep")[:3] == ("left", (), ("deep",))
    assert FOREST.compare("main", "self").ancestor == ""


names = st.sampled_from([f"p{number}" for number in range(8)])


@given(st.dictionaries(names, names | st.just("gone") | st.just("")))
def test_any_parents_make_a_tree(parents: dict[str, str]) -> None:
    tree = PathTree(PathEntry(name, parent, "active") for name, parent in parents.items())
    seen: list[str] = []
    todo = [one.path.id for one in tree.level()]
    while todo:
        seen.append(todo.pop())
        todo += [one.path.id for one in tree.level(seen[-1])]
    assert sorted(seen) == sorted(parents)
    for name in parents:
        ancestors = set()
        at = parents[name]
        while at in parents and at not in ancestors:
            ancestors.add(at)
            at = parents[at]
        assert (tree.branch(name).detached is Detached.CYCLE) == (name in ancestors)


def test_a_record_becomes_an_entry_of_the_tree() -> None:
    record = {**path_changes.branch("path.c", OTHER, WHEN).path, "state": "merged", "merged_into": "path.b"}
    assert entry_of(records.path(record)) == PathEntry("path.c", "path.b", "merged", "path.b", 1_772_359_200_000, ("event.9",))


def test_who_was_merged_where() -> None:
    paths = [entry("a", target="m"), entry("c", target="m"), entry("b")]
    assert merged_into({path.id: path for path in paths}) == {"m": ["a", "c"]}


def test_which_event_changed_what() -> None:
    made = [path_changes.create("path.a", WHEN).event, path_changes.branch("path.c", OTHER, WHEN._replace(event_id="event.10")).event]
    found = effects(map(records.event, made))
    assert found[("path", "path.c")][0][:] == ("event.10", "branch", "path.b")
    assert found[("path", "path.a")][0].operation == "create"


def picture(text: str, paths: dict[str, PathEntry], **more: int) -> Layout:
    """Lay out a log given as one letter an event, the path's name, oldest first."""
    events = [LaneEvent(line, f"e{line}", name) for line, name in enumerate(text, 1)]
    spans = {name: Span(text.index(name) + 1, text.rindex(name) + 1) for name in set(text)}
    return lay_out(events, paths, spans, **more)


def test_a_fork_and_a_merge_are_drawn_beside_the_main_line() -> None:
    layout = picture("mmamam", {"m": entry("m"), "a": entry("a", "m", target="m")})
    # newest first: m a m a m m; a runs from row 3 up to row 1, leaves m below its first event and arrives above its last
    assert [(row.row, row.column) for row in layout.rows] == [(0, 0), (1, 1), (2, 0), (3, 1), (4, 0), (5, 0)]
    assert [(lane.path_id, lane.column, lane.top, lane.bottom, lane.events) for lane in layout.lanes] == [
        ("m", 0, 0, 5, 4),
        ("a", 1, 1, 3, 2),
    ]
    assert [(link.what, link.start_path, link.start_row, link.end_path, link.end_row) for link in layout.links] == [
        (FORK, "m", 4, "a", 3),
        (MERGE, "a", 1, "m", 0),
    ]


def test_a_column_is_used_again_when_a_path_has_ended() -> None:
    layout = picture("mabmmccm", {name: entry(name, "" if name == "m" else "m") for name in "mabc"})
    columns = {lane.path_id: lane.column for lane in layout.lanes}
    assert columns["m"] == 0
    assert columns["c"] == columns["a"]
    assert layout.columns == 3


def test_what_lies_outside_the_window_is_counted_and_drawn_to_the_edge() -> None:
    paths = {"m": entry("m"), "a": entry("a", "m", target="m")}
    events = [LaneEvent(line, f"e{line}", name) for line, name in ((5, "m"), (6, "a"), (7, "m"))]
    layout = lay_out(events, paths, {"m": Span(1, 9), "a": Span(6, 8)}, earlier=4, later=2)
    assert [(lane.path_id, lane.top, lane.bottom) for lane in layout.lanes] == [("m", -1, 3), ("a", -1, 1)]
    assert all(lane.goes_on_above for lane in layout.lanes)
    assert [link.what for link in layout.links] == [FORK]
    assert (layout.earlier, layout.later, layout.height) == (4, 2, 3)


def test_a_parent_that_is_not_in_view_is_a_stub() -> None:
    (link,) = picture("a", {"a": entry("a", "gone")}).links
    assert (link.what, link.start_path, link.start_column, link.end_column) == (FORK, "gone", None, 0)


def test_rows_and_lanes_are_capped_and_the_rest_is_counted() -> None:
    paths = {name: entry(name) for name in "abc"}
    # of the five newest events, c b a c b, those of c find no column: a and b began before it and go on
    layout = picture("abcabc", paths, most_lanes=2, most_rows=5)
    assert (layout.columns, layout.hidden_paths, layout.hidden_events) == (2, 1, 2)
    assert (layout.earlier, layout.height, len(layout.rows)) == (1, 5, 3)


@given(st.text("abcdef", max_size=30), st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdefx")), st.integers(1, 6))
def test_no_two_paths_share_a_place(log: str, parents: dict[str, str], most_lanes: int) -> None:
    paths = {name: entry(name, parents.get(name, ""), target=parents.get(name.upper(), "")) for name in "abcdef"}
    layout = picture(log, paths, most_lanes=most_lanes)
    assert layout.columns <= most_lanes
    assert len(layout.rows) + layout.hidden_events == len(log)
    assert len(layout.lanes) + layout.hidden_paths == len(set(log))
    taken: dict[tuple[int, int], str] = {}
    for lane in layout.lanes:
        for place in range(lane.top, lane.bottom + 1):
            assert taken.setdefault((lane.column, place), lane.path_id) == lane.path_id
    for row in layout.rows:
        assert taken[row.column, row.row] == row.path_id
