"""What of a Markdown file is loaded, who wrote it, and what decisions stand in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.orchestkit import memory_md
from stores.formats.orchestkit.memory_md import BlockEntry, IndexLink, agent_of, block_entries, budget, front_matter, memory_md_detail
from tests.formats.reading import read_whole, values

INDEX, TOPIC, _, _, RULES = memory_md.SPECS
NOTE = memory_md.NOTES_SPEC


@pytest.mark.parametrize(
    ("data", "lines", "loaded"),
    [
        (b"", 0, 0),
        (b"one", 1, 1),
        (b"one\n", 1, 1),
        (b"\n\n", 2, 2),
        (b"x\n" * 200, 200, 200),
        (b"x\n" * 201, 201, 200),
        (b"x\n" * 200 + b"y", 201, 200),
        (b"x" * 25_000, 1, 1),
        (b"x" * 25_001, 1, 0),
        (b"x" * 24_998 + b"\ny", 2, 2),
        (b"x" * 24_999 + b"\ny", 2, 1),
        ((b"x" * 249 + b"\n") * 100 + b"y", 101, 100),
    ],
)
def test_two_hundred_lines_or_25_kb_are_loaded_in_whole_lines(data: bytes, lines: int, loaded: int) -> None:
    found = budget(data)
    assert (found.lines, found.loaded_lines, found.not_loaded) == (lines, loaded, lines - loaded)


@given(st.lists(st.integers(0, 900), max_size=260))
def test_what_is_loaded_fits_and_one_line_more_would_not(lengths: list[int]) -> None:
    pieces = [b"x" * length for length in lengths]
    found = budget(b"".join(piece + b"\n" for piece in pieces))
    assert found.lines == len(pieces)
    assert found.loaded_lines <= 200
    assert len(b"\n".join(pieces[: found.loaded_lines])) <= 25_000
    if 200 > found.loaded_lines < found.lines:
        assert len(b"\n".join(pieces[: found.loaded_lines + 1])) > 25_000


def test_the_doctor_warns_before_anything_is_lost() -> None:
    assert budget(b"x\n" * 200).near
    assert budget(b"x\n" * 12_493).near is False
    assert budget((b"x" * 199 + b"\n") * 124 + b"y" * 186).near
    assert not budget((b"x" * 199 + b"\n") * 124 + b"y" * 185).near


@pytest.mark.parametrize(
    ("line", "long"), [("- [" + "x" * 197, False), ("- [" + "x" * 198, True), ("- [" + "é" * 197, False), ("x" * 300, False)]
)
def test_entries_of_an_index_longer_than_200_characters_are_named(line: str, long: bool) -> None:
    assert budget(f"# Index\n{line}\r\n".encode()).long_lines == ((2,) if long else ())


def test_an_index_fills_its_columns() -> None:
    data = b"# Index of it\n" + b"- [a](a.md)\n" * 230 + b"- [" + b"x" * 300 + b"\n"
    parsed = read_whole(INDEX, data, "project:.claude/agent-memory/reviewer/MEMORY.md")
    assert values(INDEX, parsed) == {
        "form": "index",
        "agent": "reviewer",
        "topic_type": "",
        "title": "Index of it",
        "lines": 232,
        "characters": len(data),
        "not_loaded": 32,
        "long_lines": 1,
        "at_ms": 0,
        "at_state": "missing",
    }
    [fault] = parsed.faults
    assert (fault.code, fault.details["loaded_lines"], fault.details["long_lines"]) == ("memory_md_budget", 200, [232])
    assert "agents never see the last 32 lines" in fault.message
    assert "1 entry is longer than 200 characters" in fault.message


def test_a_topic_is_read_when_wanted_and_has_no_budget() -> None:
    data = b"---\nname: hooks\ndescription: 'what hooks do'\nmetadata:\n  type: reference\n---\n# Other\n" + b"x\n" * 300
    parsed = read_whole(TOPIC, data, "project:.claude/agent-memory/reviewer/hooks.md")
    found = values(TOPIC, parsed)
    assert (found["form"], found["topic_type"], found["title"], found["not_loaded"]) == ("topic", "reference", "hooks: what hooks do", 0)
    assert parsed.faults == ()


@pytest.mark.parametrize(
    ("text", "found", "taken"),
    [
        ("---\nname: a\ntype: user\n---\nx", {"name": "a", "type": "user"}, 4),
        ("\ufeff---\r\nname: a\r\n---\r\n", {"name": "a"}, 3),
        ('---\nname: "a: b"\n# no\n- x: y\n---', {"name": "a: b"}, 5),
        ("---\nmetadata:\n  type: feedback\n  deep:\n    x: y\n---", {"metadata.type": "feedback", "metadata.x": "y"}, 6),
        ("---\nname: a", {}, 0),
        ("# no\n---\nname: a\n---", {}, 0),
        ("---\n---", {}, 2),
        ("---\n: x\n!!python/object: y\n---", {"!!python/object": "y"}, 4),
        ("", {}, 0),
    ],
)
def test_front_matter_is_read_as_plain_keys(text: str, found: dict[str, str], taken: int) -> None:
    assert front_matter(memory_md.split(text)) == (found, taken)


def test_a_title_is_the_first_heading_else_the_first_line() -> None:
    assert memory_md_detail(b"\n## Two\n# One\n").title == "Two"
    assert memory_md_detail(b"\n\nplain\n").title == "plain"
    assert memory_md_detail(b"").title == ""


BLOCK = """# Memory

## Recent Project Decisions

- **[Decision]** Use Redis
  _(because: it is fast)_
  `redis` `caching`
- **[Preference]** pytest, always
- **[Note]** no reason
  `x`

## Other
- **[Decision]** not one of them
"""


def test_the_writers_block_is_read_in_its_three_lines() -> None:
    assert block_entries(BLOCK.splitlines()) == (
        BlockEntry(5, "Decision", "Use Redis", "it is fast", ("redis", "caching")),
        BlockEntry(8, "Preference", "pytest, always"),
        BlockEntry(9, "Note", "no reason", "", ("x",)),
    )


def test_the_injectors_line_is_read_too() -> None:
    lines = ["## Recent Project Decisions", "", "- **[Decision]** Use it [1] now _(because: (so) _it_)_ [redis, mongo db]", "- **[Broken"]
    assert block_entries(lines) == (BlockEntry(3, "Decision", "Use it [1] now", "(so) _it_", ("redis", "mongo db")),)


def test_a_cut_block_says_so() -> None:
    assert memory_md_detail(b"## Recent Project Decisions\n\n- **[Note]** x\n\n_...older decisions archived..._\n").archived
    assert not memory_md_detail(BLOCK.encode()).archived


def test_every_line_says_whether_it_is_loaded() -> None:
    detail = memory_md_detail(b"x\n" * 199 + b"- [" + b"y" * 300 + b"\nlost\n")
    assert [line.number for line in detail.lines if not line.loaded] == [201]
    assert [line.number for line in detail.lines if line.long] == [200]


def test_links_lead_to_files_beside_the_index() -> None:
    data = b"- [a](a.md) and [b](./b.md#part)\n[far](../c.md) [web](https://x/y.md) [no](d.txt) [gone](gone.md)\n- [e](e.md) [open](f.md\n"
    links = memory_md_detail(data).links
    assert links == (IndexLink(1, "a.md"), IndexLink(1, "b.md"), IndexLink(2, "gone.md"), IndexLink(3, "e.md"))
    names = {"a.md", "b.md", "e.md", "new.md", "MEMORY.md"}
    assert memory_md.dead_links(links, names) == (IndexLink(2, "gone.md"),)
    assert memory_md.unlisted(links, names, 3) == ("new.md",)
    assert memory_md.unlisted(links, names, 2) == ("e.md", "new.md")


def test_rules_that_the_injector_wrote_are_said_to_stay() -> None:
    parsed = read_whole(RULES, BLOCK.encode(), "project:.claude/rules/recent-decisions.md")
    assert ([fault.code for fault in parsed.faults], values(RULES, parsed)["form"]) == (["stale_rules"], "rules")
    assert read_whole(RULES, b"# Ours\n").faults == ()


@pytest.mark.parametrize(
    ("path", "agent"),
    [
        ("project:.claude/agent-memory/reviewer/MEMORY.md", "reviewer"),
        ("project:.claude/agent-memory/x", ""),
        ("home:.claude/projects/-home-dana/memory/MEMORY.md", ""),
        ("notes.md", ""),
    ],
)
def test_the_agent_stands_in_the_path(path: str, agent: str) -> None:
    assert agent_of(path) == agent


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\0", b"\0" * 99, b"---\n" * 99, b"- **[" * 9999, b"\r\n" * 500, b"[" * 70_000])
def test_any_bytes_are_a_record(data: bytes) -> None:
    for spec in (*memory_md.SPECS, NOTE):
        assert str(read_whole(spec, data).line_class) == "record"
    memory_md_detail(data)


def test_the_shared_markdown_fits_and_its_block_is_read(shared: Path) -> None:
    root = shared / "samples/orchestkit/plugin-repo/.claude"
    for path in root.glob("agent-memory/*/MEMORY.md"):
        found = values(INDEX, read_whole(INDEX, path.read_bytes(), f"project:.claude/agent-memory/{path.parent.name}/MEMORY.md"))
        assert (found["agent"], found["lines"], found["not_loaded"]) == (path.parent.name, path.read_bytes().count(b"\n"), 0)
    entries = memory_md_detail((root / "rules/recent-decisions.md").read_bytes()).entries
    assert [one.label for one in entries].count("Preference") == 9
    assert [one.tags for one in entries if one.tags] == [("postgresql", "mongodb"), ("gh",)]
