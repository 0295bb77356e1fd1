"""What the files of counted preferences say, and where they conclude what their own counts do not give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.orchestkit import preferences
from stores.formats.orchestkit.preferences import confidence, preference_detail
from tests.formats.reading import read_whole, values

SPEC = preferences.SPECS[0]
TOOLS = {
    "usage": {"content_search": {"Grep": 2, "Bash:grep": 1}, "code_writing": {"Edit": 1}, "building": {}},
    "preferences": {
        "content_search": {
            "category": "content_search",
            "preferred_tool": "Grep",
            "confidence": 0.48,
            "sample_count": 2,
            "updated_at": "2026-02-10T10:35:24.351Z",
        },
        "code_writing": None,
        "building": None,
    },
    "updated_at": "2026-02-10T10:35:24.351Z",
}
WORKFLOWS = {
    "pattern_counts": {"test-first": 1, "mixed": 3, "big-bang": 0},
    "pattern_success_rates": {"test-first": [1], "mixed": [1, 0.5], "big-bang": []},
    "total_sessions": 4,
    "preferences": [{"pattern": "mixed", "frequency": 0.75, "count": 3, "total_sessions": 4, "avg_success_rate": 0.75}],
    "updated_at": "2026-02-10T10:35:24.351Z",
}


def written(value: object) -> bytes:
    return json.dumps(value, indent=2).encode()


@pytest.mark.parametrize(
    ("count", "total", "expected"),
    [(2, 3, 0.48), (20, 27, 0.8444444444444444), (8, 8, 0.92), (5, 7, 0.6285714285714286), (1, 1, None), (2, 20, None), (0, 0, None)],
)
def test_the_confidence_is_that_of_the_formula(count: int, total: int, expected: float | None) -> None:
    assert confidence(count, total) == (expected if expected is None else pytest.approx(expected))


@given(st.integers(-5, 10**6), st.integers(-5, 10**6))
def test_a_confidence_is_none_or_between_its_least_and_one(count: int, total: int) -> None:
    sure = confidence(count, total)
    assert sure is None or 0.3 <= sure <= 1


def test_a_file_of_tools_fills_its_columns() -> None:
    parsed = read_whole(SPEC, written(TOOLS))
    assert values(SPEC, parsed) == {
        "form": "tools",
        "title": "Prefers Grep for content search",
        "samples": 4,
        "at_ms": 1_770_719_724_351,
        "at_state": "ok",
    }
    assert (parsed.natural_id, parsed.faults) == ("", ())
    assert {"grep", "edit", "content", "writing"} <= set(parsed.search.split())


def test_tools_become_bars_with_their_sample_sizes() -> None:
    bars = preference_detail(written(TOOLS)).tools
    assert [(bar.category, bar.tool, bar.count, bar.total) for bar in bars] == [
        ("content_search", "Grep", 2, 3),
        ("content_search", "Bash:grep", 1, 3),
        ("code_writing", "Edit", 1, 1),
    ]
    assert (bars[0].chosen, bars[0].own_confidence) == (True, 0.48)
    assert bars[0].confidence == pytest.approx(0.48)
    assert (bars[1].chosen, bars[1].confidence, bars[2].confidence) == (False, None, None)
    assert bars[0].share == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "own",
    [
        {"preferred_tool": "Grep", "confidence": 0.9},
        {"preferred_tool": "Bash:grep", "confidence": 0.48},
        {"preferred_tool": "Other", "confidence": 0.48},
        {"preferred_tool": "Grep", "confidence": "high"},
        None,
        5,
    ],
)
def test_a_conclusion_that_the_counts_do_not_give_is_told(own: object) -> None:
    value = {**TOOLS, "preferences": {**TOOLS["preferences"], "content_search": own}}  # type: ignore[dict-item]
    [fault] = read_whole(SPEC, written(value)).faults
    assert (fault.code, fault.details) == ("figure_differs", {"of": ['"content_search"']})
    assert preference_detail(written(value)).unlike == ("content_search",)


def test_a_preference_for_what_was_hardly_used_is_told() -> None:
    value = {**TOOLS, "preferences": {"code_writing": {"preferred_tool": "Edit", "confidence": 0.64}}}
    assert preference_detail(written(value)).unlike == ("code_writing",)


def test_a_file_of_workflows_fills_its_columns() -> None:
    parsed = read_whole(SPEC, written(WORKFLOWS))
    found = values(SPEC, parsed)
    assert (found["form"], found["samples"], found["title"]) == ("workflows", 4, "mixed 75%, test-first 25%")
    assert parsed.faults == ()


def test_workflows_become_bars() -> None:
    detail = preference_detail(written(WORKFLOWS))
    assert [(bar.pattern, bar.count, bar.total, bar.success, bar.samples) for bar in detail.workflows] == [
        ("mixed", 3, 4, 0.75, 2),
        ("test-first", 1, 4, 1.0, 1),
        ("big-bang", 0, 4, None, 0),
    ]
    assert (detail.workflows[0].own_frequency, detail.workflows[0].own_success, detail.stops) == (0.75, 0.75, 4)


def test_a_success_that_the_kept_ones_do_not_give_is_told() -> None:
    value = {**WORKFLOWS, "preferences": [{"pattern": "mixed", "frequency": 0.75, "avg_success_rate": 1}]}
    assert preference_detail(written(value)).unlike == ("mixed",)


@pytest.mark.parametrize(
    "value",
    [{"usage": {"a": 5, "b": {"c": "d", "e": -3, "f": 1e300}}}, {"usage": {"a": {"b": 1 << 70}}, "preferences": []}],
)
def test_odd_counts_become_numbers_that_a_database_holds(value: object) -> None:
    found = values(SPEC, read_whole(SPEC, written(value)))
    assert 0 <= int(str(found["samples"])) < 1 << 31
    assert all(0 <= bar.share <= 1 or bar.count < 0 for bar in preference_detail(written(value)).tools)


@pytest.mark.parametrize(("value", "code"), [(None, "not_object"), ([], "not_object"), ({"a": "b"}, "foreign_shape")])
def test_another_form_is_told(value: object, code: str) -> None:
    parsed = read_whole(SPEC, written(value))
    assert ([fault.code for fault in parsed.faults], values(SPEC, parsed)["form"]) == ([code], "foreign")


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"", "bad_json", 1),
        (b"\xef\xbb\xbf{}", "bad_json", 1),
        (b'{\n "usage": {\n  "a": x\n }\n}', "bad_json", 3),
        (b'{\n "usage": {', "bad_json", 2),
        (b'{\n "usage": 1\n\n x}', "bad_json", 4),
        (b'{\n<<<<<<< ours\n "a": 1\n', "merge_conflict", 2),
        (b'{\n "a": NaN }', "nan", 2),
        (b"\0" * 20, "nul_run", 1),
        (b"// none\n{}", "json_comment", 1),
    ],
)
def test_a_file_that_javascript_refuses_is_refused_at_its_place(data: bytes, code: str, line: int) -> None:
    parsed = read_whole(SPEC, data)
    [fault] = parsed.faults
    assert (str(parsed.line_class), fault.code, fault.line, fault.details["file_line"]) == ("refused", code, 1, line)
    assert fault.message.endswith("its next count overwrites everything")


def test_a_file_of_very_many_values_is_a_record_that_is_not_shown() -> None:
    many = b"[" + b"{}, " * 300_001
    parsed = read_whole(SPEC, many + b"{}]")
    assert (str(parsed.line_class), [fault.code for fault in parsed.faults]) == ("record", ["too_large"])
    assert preference_detail(many + b"{}]").form == "foreign"
    parsed = read_whole(SPEC, many + b"{]")
    assert (str(parsed.line_class), [fault.code for fault in parsed.faults]) == ("refused", ["bad_json"])


def test_a_file_beyond_the_cap_is_refused() -> None:
    [fault] = read_whole(SPEC, b" " * ((16 << 20) + 1)).faults
    assert fault.code == "too_large"


def test_the_shared_preferences_are_what_their_counts_give(shared: Path) -> None:
    seen = 0
    for name in (preferences.TOOLS_PATH, preferences.WORKFLOWS_PATH):
        for path in (shared / "samples/orchestkit").glob(f"*/.claude/memory/{name}"):
            assert read_whole(SPEC, path.read_bytes()).faults == (), path
            for category, own in (json.loads(path.read_bytes()).get("preferences") if name == preferences.TOOLS_PATH else {}).items():
                best = [bar for bar in preference_detail(path.read_bytes()).tools if bar.category == category and bar.chosen]
                assert len(best) == (own is not None)
                assert all(bar.count == own["sample_count"] for bar in best)
            seen += 1
    assert seen == 3
