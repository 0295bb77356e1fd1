"""Lines and marks of paths: which lanes a row of the tree has, which of them lead to the chosen path, and the picture of a window."""

from __future__ import annotations

import re

from stores.formats.phase_memory.lanes import LaneEvent, lay_out
from stores.formats.phase_memory.path_tree import PathEntry
from stores.path_drawing import LANE, LANES_DRAWN, ROW, Gutter, gutter, leading, mark_of, picture


def verticals(drawn: Gutter) -> set[int]:
    """Give the lanes that go through the whole row."""
    return {stroke.of for stroke in drawn.strokes if "Q" not in stroke.d and stroke.d.startswith(f"M{LANE // 2 + LANE * stroke.of} -")}


def bends(drawn: Gutter) -> list[str]:
    return [stroke.style for stroke in drawn.strokes if "Q" in stroke.d]


def test_a_path_at_the_top_has_a_mark_and_no_line() -> None:
    drawn = gutter(0, "active", (), has_later=True, opens=False)
    assert drawn.strokes == ()
    assert drawn.mark == "end"


def test_a_branch_bends_out_of_its_parents_lane_which_goes_on_for_the_next_one() -> None:
    last = gutter(1, "active", (), has_later=False, opens=False)
    assert (bends(last), verticals(last)) == (["plain"], set())
    other = gutter(1, "abandoned", (), has_later=True, opens=False)
    assert (bends(other), verticals(other)) == (["abandoned"], {0})


def test_lanes_above_go_on_where_a_later_branch_hangs_on_them() -> None:
    drawn = gutter(3, "compacted", (True, False), has_later=False, opens=False)
    assert verticals(drawn) == {0}
    assert bends(drawn) == ["compacted"]


def test_an_open_path_has_a_line_down_to_its_branches() -> None:
    drawn = gutter(0, "active", (), has_later=False, opens=True, children=2)
    assert [stroke.d for stroke in drawn.strokes] == [f"M8 {ROW // 2 + 5}V{ROW + 4}"]
    assert drawn.mark == "fork"


def test_what_hangs_deeper_than_lanes_are_drawn_stays_in_the_last_one() -> None:
    drawn = gutter(5000, "active", [True] * 4999, has_later=True, opens=True, children=1)
    assert drawn.width <= LANE * (LANES_DRAWN + 1)
    assert len(drawn.strokes) <= LANES_DRAWN + 1


def test_marks_tell_how_a_path_ended() -> None:
    assert mark_of("abandoned", has_children=True) == "abandoned"
    assert mark_of("compacted", has_children=False) == "compacted"
    assert mark_of("merged", has_children=False) == "fork"
    assert mark_of("active", has_children=False) == "end"


def test_the_way_to_the_chosen_path_goes_down_from_each_path_on_it_to_the_next() -> None:
    # a, its branch b with c below, its branch d with the chosen e below, then f.
    rows = [(0, True), (1, False), (2, False), (1, True), (2, True), (0, False)]
    assert leading(rows) == [[True], [True, False], [True, False, False], [False, True], [False, False, False], [False]]


def test_no_way_is_drawn_where_nothing_is_chosen() -> None:
    assert leading([(0, False), (1, False)]) == [[False], [False, False]]


def lane_window() -> tuple[list[LaneEvent], dict[str, PathEntry]]:
    """Give main with two events, a branch merged back into it, and an abandoned one."""
    paths = {
        "main": PathEntry("main", "", "active"),
        "side": PathEntry("side", "main", "merged", "main"),
        "lost": PathEntry("lost", "main", "abandoned"),
    }
    log = ["main", "side", "side", "lost", "main"]
    return [LaneEvent(line, f"e{line}", path) for line, path in enumerate(log, 1)], paths


def test_the_picture_has_a_mark_for_every_event_in_its_row() -> None:
    events, paths = lane_window()
    drawn = picture(lay_out(events, paths, {}), {name: path.state for name, path in paths.items()})
    assert sorted(mark.y for mark in drawn.marks) == [ROW * row + ROW // 2 for row in range(5)]
    assert [mark.mark for mark in sorted(drawn.marks, key=lambda mark: mark.y)] == ["end", "abandoned", "event", "event", "event"]
    assert drawn.height == 5 * ROW
    assert all(0 <= mark.x <= drawn.width for mark in drawn.marks)


def test_forks_and_merges_are_lines_between_lanes_and_a_merge_has_an_arrow() -> None:
    events, paths = lane_window()
    drawn = picture(lay_out(events, paths, {}), {name: path.state for name, path in paths.items()})
    across = [stroke for stroke in drawn.strokes if "q" in stroke.d]
    # Two forks and one merge; the abandoned path's fork is drawn as it ended.
    assert sorted(stroke.style for stroke in across) == ["abandoned", "plain", "plain"]
    assert len(drawn.arrows) == 1
    assert all(re.fullmatch(r"[MVHqQLlmvhz0-9 .-]+", stroke.d) for stroke in drawn.strokes)


def test_a_line_to_a_path_without_a_lane_is_a_stub() -> None:
    events, paths = lane_window()
    drawn = picture(lay_out([one for one in events if one.path_id != "main"], paths, {}), {})
    assert [stroke.style for stroke in drawn.strokes].count("stub") == 3
    assert drawn.arrows == ()
