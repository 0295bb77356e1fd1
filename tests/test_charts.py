"""Geometry of the small charts, checked against coordinates worked out by hand."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.charts import bars, budget, fingerprint_bars, sparkline, step_chart

VALUES = st.one_of(st.none(), st.floats(min_value=0, max_value=1e12))
POINTS = st.lists(st.tuples(st.integers(0, 10**12), VALUES), max_size=60).map(lambda points: sorted(points, key=lambda point: point[0]))


def coordinates(path: str) -> list[tuple[float, float]]:
    """Give the points of a path of M and L."""
    return [(float(x), float(y)) for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path)]


def test_a_rising_line_goes_from_the_lower_left_to_the_upper_right() -> None:
    line = sparkline([(0, 0.0), (10, 10.0)])
    assert coordinates(line.path) == [(2.5, 17.5), (93.5, 2.5)]
    assert (line.last_x, line.last_y, line.limit_y) == ("93.5", "2.5", None)


def test_what_was_not_measured_is_a_gap_in_the_line() -> None:
    line = sparkline([(0, 1.0), (1, 2.0), (2, None), (3, 3.0), (4, 1.0)])
    assert line.path.count("M") == 2
    assert [x for x, _ in coordinates(line.path)] == [2.5, 25.25, 70.75, 93.5]


def test_a_silence_takes_the_room_that_it_took_in_time() -> None:
    xs = [x for x, _ in coordinates(sparkline([(0, 1.0), (1, 1.0), (10, 1.0)]).path)]
    assert xs == [2.5, 11.6, 93.5]


def test_the_limit_joins_the_scale_so_that_one_sees_how_far_off_it_is() -> None:
    line = sparkline([(0, 0.0), (1, 50.0)], limit=100)
    assert line.limit_y == "2.5"
    assert line.last_y == "10"


def test_nothing_measured_draws_nothing() -> None:
    assert sparkline([(0, None), (1, None)], limit=3).path == ""
    assert sparkline([]).path == ""


def test_a_constant_value_runs_through_the_middle() -> None:
    assert {y for _, y in coordinates(sparkline([(0, 7.0), (5, 7.0)]).path)} == {10.0}


@given(POINTS, st.one_of(st.none(), st.floats(min_value=0, max_value=1e12)))
def test_a_sparkline_never_leaves_its_box(points: list[tuple[int, float | None]], limit: float | None) -> None:
    line = sparkline(points, limit)
    places = coordinates(line.path)
    assert len(places) == sum(value is not None for _, value in points)
    assert all(2.5 <= x <= 93.5 and 2.5 <= y <= 17.5 for x, y in places)


def test_bars_stand_on_the_floor_and_the_last_one_is_today() -> None:
    drawn = bars([10, 5, 0, 10])
    assert drawn.width == "64"
    assert [(bar.x, bar.y, bar.height, bar.today) for bar in drawn.bars] == [
        ("2.5", "2", "36", False),
        ("18.5", "20", "18", False),
        ("51", "2.5", "35.5", True),
    ]


def test_little_is_not_mistaken_for_none() -> None:
    assert [bar.height for bar in bars([1, 1_000_000, 0]).bars] == ["1.5", "36"]


def test_several_charts_can_share_one_scale() -> None:
    assert [bar.height for bar in bars([5, 0], highest=10).bars] == ["18"]


def test_bars_of_nothing_are_no_bars() -> None:
    assert bars([0, 0, 0]).bars == ()
    assert bars([]).bars == ()


def test_steps_hold_their_value_until_the_next_measurement() -> None:
    chart = step_chart([(0, 0.0), (5, 10.0)], since=0, until=10)
    assert chart.line == "M0 146H500V8H1000"
    assert chart.area == "M0 146V146H500V146zM500 146V8H1000V146z"


def test_a_depth_that_stays_is_drawn_once() -> None:
    chart = step_chart([(hour, 10.0) for hour in range(8)] + [(8, 5.0)], since=0, until=10)
    assert chart.line == "M0 8H800V77H1000"
    assert chart.area == "M0 146V8H800V146zM800 146V77H1000V146z"


def test_a_gap_breaks_the_steps() -> None:
    chart = step_chart([(0, 10.0), (2, None), (4, 10.0)], since=0, until=10)
    assert chart.line == "M0 8H200M400 8H1000"


def test_what_lies_before_the_span_is_cut_at_its_edge() -> None:
    assert step_chart([(-100, 10.0), (-50, 5.0)], since=0, until=10).line == "M0 77H1000"


def test_the_scale_has_the_limit_in_place_of_a_line_that_would_touch_it() -> None:
    texts = {line.text: line.kind for line in step_chart([(0, 62.0)], since=0, until=1, limit=50).scale}
    assert texts == {"70": "grid", "35": "grid", "50 limit": "limit", "0": "floor"}
    near = {line.text for line in step_chart([(0, 98.0)], since=0, until=1, limit=50).scale}
    assert near == {"100", "50 limit", "0"}


def test_words_under_the_chart_stay_inside_of_it() -> None:
    marks = step_chart([], since=0, until=100, marks=[(0, "17 Nov"), (50, "22"), (100, "now")]).marks
    assert [(mark.percent, mark.anchor) for mark in marks] == [("0%", "start"), ("50%", "middle"), ("100%", "end")]


def test_a_chart_without_a_span_is_refused() -> None:
    with pytest.raises(ValueError, match="since < until"):
        step_chart([], since=5, until=5)


@given(POINTS, st.integers(0, 10**12), st.integers(1, 10**12))
def test_a_step_chart_never_leaves_its_box(points: list[tuple[int, float | None]], since: int, length: int) -> None:
    chart = step_chart(points, since=since, until=since + length)
    xs = [float(x) for x in re.findall(r"[MH](-?[\d.]+)", chart.line)]
    assert all(0 <= x <= 1000 for x in xs)
    assert all(8 <= float(y) <= 146 for y in re.findall(r"V(-?[\d.]+)", chart.line))


def test_a_fingerprint_has_a_bar_for_each_of_the_first_twelve_digits() -> None:
    assert fingerprint_bars("0f") == "M0 12v-2h2v2zM3 12v-12h2v12z"
    assert fingerprint_bars("3") == "M0 12v-4h2v4z"
    assert fingerprint_bars("a" * 64).count("M") == 12


@given(st.text(alphabet="0123456789abcdef", min_size=12, max_size=64), st.text(alphabet="0123456789abcdef", min_size=12, max_size=64))
def test_digests_that_begin_otherwise_look_otherwise(one: str, other: str) -> None:
    assert (fingerprint_bars(one) == fingerprint_bars(other)) == (one[:12] == other[:12])


def test_what_is_no_digest_is_refused() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        fingerprint_bars("xyz")


def test_a_budget_is_drawn_up_to_its_limit_and_what_is_too_much_behind_it() -> None:
    assert budget(50, 200) == ("25", "", "100")
    assert budget(200, 200) == ("100", "", "100")
    assert budget(0, 200) == ("0", "", "100")
    # 200 of 250 fit: the whole bar is then 250.
    assert budget(250, 200) == ("80", "20", "80")
