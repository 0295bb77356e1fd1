"""What OrchestKit's loader tells an agent, and what mending would change."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.js_values import units
from stores.formats.orchestkit import after_clean_up, preview, preview_lines
from stores.formats.orchestkit.injection import CLASSIC, DOCUMENTED, REASONS, V7, VARIANTS
from tests.formats.reading import line_of, lines_of

HEAD = "## Recent Project Decisions\n\n"
FOOT = "\n\n_For deeper graph traversal: use mcp__memory__search_nodes or mcp__memory__open_nodes_"
MORE = "\n- _(additional decisions available via mcp__memory__search_nodes)_"


def decision(what: object, *entities: object, **more: object) -> dict[str, object]:
    content: dict[str, object] = {"what": what}
    if "why" in more:
        content["why"] = more.pop("why")
    return {"id": f"decision-{what}", "type": "decision", "content": content, "entities": list(entities)} | more


def cases(shared: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((shared / "samples" / "golden" / "injection.json").read_bytes())
    return found


def test_texts_equal_those_of_the_real_code(shared: Path) -> None:
    for case in cases(shared):
        data = b64decode(case["input_b64"])
        assert preview(data, CLASSIC).text == case["inject_v6"], case["name"]
        assert units(preview(data, CLASSIC).text) == case["inject_v6_len"], case["name"]
        assert preview(data, V7).text == case["inject_v7"], case["name"]


def test_odd_files_give_as_many_entries_as_in_the_real_code(shared: Path) -> None:
    golden = json.loads((shared / "samples" / "golden" / "analyzer_edge.json").read_bytes())
    for case in golden:
        if case["input_b64"] is not None:
            assert preview(b64decode(case["input_b64"])).items == case["injected_items"], case["name"]


def test_a_real_store_fills_ten_places_with_five_texts(shared: Path) -> None:
    log = shared / "samples" / "orchestkit" / "academic-helper" / ".claude" / "memory" / "decisions.jsonl"
    data = log.read_bytes()
    assert (preview(data, CLASSIC).items, preview(data, V7).items) == (10, 5)
    cleaned = after_clean_up(data, CLASSIC, {"duplicates"}).preview
    told = [slot.what for slot in cleaned.slots]
    assert len(told) == len(set(told)) == 10


def test_hostile_logs_raise_nothing(shared: Path) -> None:
    for hostile in sorted((shared / "samples" / "hostile" / "jsonl").iterdir()):
        for variant in VARIANTS:
            assert preview(hostile.read_bytes(), variant).items <= 10
            after_clean_up(hostile.read_bytes(), variant)


def test_an_entry_has_text_reason_and_entities_on_one_line_the_newest_first() -> None:
    data = lines_of(
        [
            decision("use redis", "redis", "go", why="fast"),
            decision("never any", type="preference", why=""),
            decision("sagas", "x", type="pattern"),
        ]
    )
    shown = preview(data)
    assert shown.text == (
        f"{HEAD}- **[Decision]** sagas [x]\n- **[Preference]** never any\n- **[Decision]** use redis _(because: fast)_ [redis, go]{FOOT}"
    )
    assert (shown.items, shown.dropped, shown.throws, shown.limit) == (3, (), False, 3000)
    assert shown.used == units(shown.text) - units(FOOT)
    assert tuple(shown.slots[0]) == (1, "told", "decision-use redis", "use redis")


def test_the_documented_form_has_a_line_for_each_part() -> None:
    data = lines_of(
        [decision("use redis", "redis", "go", why="fast"), decision("sagas", type="pattern"), decision("flow", type="workflow")]
    )
    assert preview(data, DOCUMENTED).text == (
        f"{HEAD}- **[Note]** flow\n- **[Pattern]** sagas\n- **[Decision]** use redis\n  _(because: fast)_\n  `redis`, `go`{FOOT}"
    )


@pytest.mark.parametrize("data", [b"", b"\n \n", b"{torn\n", line_of({"decision": "foreign"})])
def test_nothing_to_tell_is_no_text(data: bytes) -> None:
    assert (preview(data).text, preview(data).throws) == ("", False)


def test_each_line_that_is_not_told_says_why() -> None:
    deep = b'{"content":{"what":"deep"},"x":' + b"[" * 300 + b"]" * 300 + b"}\n"
    lines = [
        line_of(decision("an older line that has no place")),
        b"{torn\n",
        b"   \n",
        b"\n",
        line_of(42),
        line_of({"decision": "by another tool"}),
        deep,
        line_of(decision("the same text twice")),
        line_of(decision("Error: no such file")),
        line_of(decision("  short  ")),
        line_of(decision("the same text twice")),
        line_of(decision("\u26a0 Warning: multiple lockfiles")),
        line_of(decision("a good decision")),
    ]
    shown = preview(b"".join(lines), V7)
    assert [slot.line for slot in shown.slots] == [3, 5, 6, 7, 8, 9, 10, 11, 12, 13]
    assert shown.dropped == (
        (3, "blank"),
        (5, "not_object"),
        (6, "no_text"),
        (7, "too_deep"),
        (8, "duplicate"),
        (9, "noise"),
        (10, "too_short"),
        (12, "noise"),
    )
    assert preview(b"".join(lines[:3])).dropped == ((2, "corrupt"),)
    assert all(slot.fate in REASONS for slot in shown.slots)


@pytest.mark.parametrize("entities", [None, "redis", {"length": 1}, {"length": "2"}, [{"toString": 1}]])
def test_one_record_without_a_list_of_entities_silences_all(entities: object) -> None:
    data = lines_of([decision("first"), decision("second") | {"entities": entities}, decision("third")])
    shown = preview(data)
    assert (shown.text, shown.items, shown.throws) == ("", 0, True)
    assert shown.dropped == ((1, "silenced"), (2, "silences"), (3, "silenced"))
    cleaned = after_clean_up(data, mend={"silencing"})
    assert not cleaned.preview.throws
    assert cleaned.preview.items == 3
    assert [tuple(mended) for mended in cleaned.mended] == [(2, "silencing")]


@pytest.mark.parametrize("entities", ["", 5, {}, {"length": 0}, False])
def test_entities_without_a_length_are_passed_over(entities: object) -> None:
    assert preview(line_of(decision("a decision") | {"entities": entities})).text == f"{HEAD}- **[Decision]** a decision{FOOT}"


def test_a_record_without_entities_that_the_limit_never_reaches_does_no_harm() -> None:
    data = lines_of([decision("old") | {"entities": None}, decision("x" * 1500), decision("y" * 1500)])
    shown = preview(data)
    assert not shown.throws
    assert shown.dropped == ((1, "over_limit"), (2, "over_limit"))


def test_a_text_that_is_no_text_silences_only_the_later_version() -> None:
    data = line_of(decision(12345))
    assert preview(data).text == f"{HEAD}- **[Decision]** 12345{FOOT}"
    assert preview(data, V7).throws
    assert preview(data, V7).dropped == ((1, "silences"),)
    assert after_clean_up(data).preview.items == 1
    assert [tuple(mended) for mended in after_clean_up(data, V7).mended] == [(1, "silencing")]


def test_the_limit_counts_utf16_units_of_heading_and_entries() -> None:
    prefix = units(f"{HEAD}- **[Decision]** ")
    fits = "😀" * ((3000 - prefix) // 2) + "x" * ((3000 - prefix) % 2)
    assert preview(line_of(decision(fits))).used == 3000
    assert preview(line_of(decision(fits))).items == 1
    longer = preview(line_of(decision(fits + "x")))
    assert longer.text == HEAD.rstrip("\n") + "\n" + MORE + FOOT
    assert (longer.items, longer.dropped, longer.used) == (0, ((1, "over_limit"),), units(HEAD) - 1)


def test_a_shorter_older_entry_is_not_tried_after_a_long_one() -> None:
    shown = preview(lines_of([decision("small"), decision("x" * 3000), decision("newest")]))
    assert shown.text == f"{HEAD}- **[Decision]** newest{MORE}{FOOT}"


def test_the_end_of_a_log_is_enough() -> None:
    numbered = [(1000 + place, line_of(decision(f"decision {place}"))[:-1]) for place in range(12)]
    shown = preview_lines(numbered)
    assert shown.items == 10
    assert (shown.slots[0].line, shown.slots[-1].line) == (1002, 1011)


def test_a_clean_up_lets_older_lines_move_up() -> None:
    glued = line_of(decision("a glued one", "a"))[:-1] + line_of(decision("a glued two", "b"))
    data = b"".join(
        [
            *(line_of(decision(f"older decision {number}", "x")) for number in range(8)),
            glued,
            b"{torn\n",
            b"  \n",
            line_of(decision("twice told text", "a")),
            line_of(decision("twice told text", "b")),
            line_of(decision("Error: it broke", "x")),
            line_of(decision("newest of all", "x")),
        ]
    )
    cleaned = after_clean_up(data)
    assert [(slot.line, slot.what) for slot in cleaned.preview.slots] == [
        *((number + 1, f"older decision {number}") for number in range(2, 8)),
        (9, "a glued one"),
        (9, "a glued two"),
        (13, "twice told text"),
        (15, "newest of all"),
    ]
    assert "twice told text [b]" in cleaned.preview.text
    assert [tuple(mended) for mended in cleaned.mended] == [
        (9, "corrupt"),
        (10, "corrupt"),
        (11, "corrupt"),
        (12, "duplicates"),
        (14, "noise"),
    ]


def test_only_what_is_asked_for_is_mended() -> None:
    data = b"{torn\n" + lines_of([decision("twice told text"), decision("twice told text"), decision("Error: x")])
    cleaned = after_clean_up(data, mend=())
    assert (cleaned.preview, cleaned.mended) == (preview(data), ())
    assert [mended.line for mended in after_clean_up(data, mend={"noise"}).mended] == [4]


pieces = st.sampled_from(
    [
        line_of(decision("use redis for caching", "redis")),
        line_of(decision("use postgres for the rest", "pg", why="it holds")),
        line_of(decision("no entities at all") | {"entities": None}),
        line_of(decision("x" * 1200)),
        line_of(decision("Error: noise")),
        line_of({"decision": "foreign"}),
        b"{torn\n",
        b" \n",
        b"\n",
        b"null\n",
    ]
)


@given(st.lists(pieces, max_size=16).map(b"".join), st.sampled_from(sorted(VARIANTS)))
def test_places_and_entries_add_up(data: bytes, variant: str) -> None:
    shown = preview(data, variant)
    assert len(shown.slots) <= 10
    assert shown.items == sum(slot.fate == "told" for slot in shown.slots) == len(shown.slots) - len(shown.dropped)
    assert shown.used <= shown.limit
    assert not shown.throws or shown.text == ""
    cleaned = after_clean_up(data, variant)
    assert not cleaned.preview.throws
    assert not {"corrupt", "blank", "duplicate", "noise"} & {slot.fate for slot in cleaned.preview.slots}
