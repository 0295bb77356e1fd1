"""Reads the Markdown that agents load: `MEMORY.md` and its topic files, the rules file, notes; and what of them is never loaded."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from stores.formats import storable
from stores.formats.base import FileSpec, Line, Parsed, Severity
from stores.formats.orchestkit import columns
from stores.formats.orchestkit.judged import Judged, Oddity, WholeReader
from stores.formats.search_text import search_text

AGENT_INDEX: Final = ".claude/agent-memory/*/MEMORY.md"
AGENT_TOPICS: Final = ".claude/agent-memory/*/*.md"
PROJECT_INDEX: Final = ".claude/projects/{project}/memory/MEMORY.md"
PROJECT_TOPICS: Final = ".claude/projects/{project}/memory/*.md"
RULES: Final = ".claude/rules/recent-decisions.md"
NOTES: Final = "*.md"

LOADED_LINES: Final = 200
LOADED_BYTES: Final = 25_000
WARNED_BYTES: Final = 24_986
"""From this size on OrchestKit's doctor warns: 24.4 KiB as it is shown."""
LONG_LINE: Final = 200
"""Characters from which on the doctor calls an entry of the index too long."""
BLOCK_HEADER: Final = "## Recent Project Decisions"
ARCHIVED_NOTE: Final = "_...older decisions archived..._"
_FRONT_LINES: Final = 60
_HEAD: Final = 64 * 1024
"""Characters at the beginning of a file in which its title is looked for."""
_ENTRY: Final = re.compile(rb"^- \[[^\n]*+", re.MULTILINE)
_BOM: Final = "\ufeff"


class Budget(NamedTuple):
    """What of an index is loaded: whole lines up to 200 lines or 25 KB, whichever comes first."""

    lines: int
    size_bytes: int
    loaded_lines: int
    long_lines: tuple[int, ...]
    """Numbers of entries that are longer than the doctor likes."""

    @property
    def not_loaded(self) -> int:
        """Lines at the end that no agent ever sees."""
        return self.lines - self.loaded_lines

    @property
    def near(self) -> bool:
        """Whether the doctor warns although everything is still loaded."""
        return not self.not_loaded and (self.lines >= LOADED_LINES or self.size_bytes >= WARNED_BYTES)


class MarkdownLine(NamedTuple):
    """One line of an index, as its page shows it."""

    number: int
    text: str
    loaded: bool
    long: bool


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """One decision as OrchestKit wrote it into a Markdown file."""

    line: int
    label: str
    """Decision, Preference, Pattern or Note."""
    what: str
    why: str = ""
    tags: tuple[str, ...] = ()


class IndexLink(NamedTuple):
    """A file to which a line of an index leads."""

    line: int
    target: str
    """A name beside the index, as it is written."""


@dataclass(frozen=True, slots=True)
class MemoryMdDetail:
    """Everything that one Markdown file says."""

    title: str = ""
    front: tuple[tuple[str, str], ...] = ()
    topic_type: str = ""
    budget: Budget = field(default_factory=lambda: Budget(0, 0, 0, ()))
    lines: tuple[MarkdownLine, ...] = ()
    entries: tuple[BlockEntry, ...] = ()
    links: tuple[IndexLink, ...] = ()
    archived: bool = False
    """Older entries of the block were cut off."""


def split(text: str) -> list[str]:
    """Give the lines of a Markdown text; a last line break begins no further line."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def budget(data: bytes) -> Budget:
    """Say how much of an index is loaded, given its bytes."""
    lines = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    size = 0
    loaded = 0
    for piece in data.split(b"\n", LOADED_LINES)[: min(lines, LOADED_LINES)]:
        size += len(piece)
        if size > LOADED_BYTES:
            break
        loaded += 1
        size += 1
    return Budget(lines, len(data), loaded, tuple(_long_entries(data)))


def _long_entries(data: bytes) -> Iterator[int]:
    number, place = 1, 0
    for entry in _ENTRY.finditer(data):
        number += data.count(b"\n", place, entry.start())
        place = entry.start()
        if _characters(entry[0]) > LONG_LINE:
            yield number


def _characters(piece: bytes) -> int:
    return len(piece.rstrip(b"\r").decode("utf-8", "replace"))


def front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    """Read the few keys of a front matter, nested ones as `metadata.type`, and the number of lines that it takes.

    Only plain `key: value` lines are read: whatever else stands there is left out, nothing is raised.
    """
    if not lines or lines[0].lstrip(_BOM).rstrip() != "---":
        return {}, 0
    end = next((number for number, line in enumerate(lines[1:_FRONT_LINES], 1) if line.rstrip() == "---"), 0)
    if not end:
        return {}, 0
    found: dict[str, str] = {}
    parent = ""
    for line in lines[1:end]:
        key, colon, value = line.partition(":")
        if not colon or not key.strip() or key.lstrip().startswith(("#", "-")):
            continue
        nested = key[:1] in (" ", "\t")
        name = f"{parent}.{key.strip()}" if nested and parent else key.strip()
        if not nested:
            parent = "" if value.strip() else key.strip()
        if value.strip():
            found[name] = _unquoted(value.strip())
    return found, end + 1


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def block_entries(lines: list[str]) -> tuple[BlockEntry, ...]:
    """Read the decisions under OrchestKit's header, in the form of three lines and in that of one."""
    return tuple(_entries(lines))


def _entries(lines: list[str]) -> Iterator[BlockEntry]:
    inside = False
    pending: BlockEntry | None = None
    for number, line in enumerate(lines, 1):
        if line.startswith("## "):
            inside = line.rstrip() == BLOCK_HEADER
        begun = _begun(number, line) if inside else None
        if pending is not None:
            more = None if begun or not inside else _continued(pending, line)
            if more is None:
                yield pending
            pending = more
        if begun is not None:
            pending = begun
    if pending is not None:
        yield pending


def _begun(number: int, line: str) -> BlockEntry | None:
    if not line.startswith("- **["):
        return None
    label, closed, rest = line[5:].partition("]** ")
    if not closed:
        return None
    rest, tags = _cut_tags(rest.rstrip())
    what, because, why = rest.partition(" _(because: ")
    if because and why.endswith(")_"):
        return BlockEntry(number, label, what, why[:-2], tags)
    return BlockEntry(number, label, rest, "", tags)


def _cut_tags(rest: str) -> tuple[str, tuple[str, ...]]:
    """Part names in brackets from the end of a line."""
    place = rest.rfind(" [")
    if place < 0 or not rest.endswith("]"):
        return rest, ()
    return rest[:place], tuple(rest[place + 2 : -1].split(", "))


def _continued(entry: BlockEntry, line: str) -> BlockEntry | None:
    """Read a second or third line of an entry; None for what belongs to it no more."""
    told = line.strip()
    if not line.startswith("  ") or not told:
        return None
    if told.startswith("_(because: ") and told.endswith(")_"):
        return BlockEntry(entry.line, entry.label, entry.what, told[len("_(because: ") : -2], entry.tags)
    if told.startswith("`"):
        return BlockEntry(entry.line, entry.label, entry.what, entry.why, tuple(tag for tag in told.split("`") if tag.strip(" ,")))
    return None


def index_links(lines: list[str]) -> tuple[IndexLink, ...]:
    """Find the Markdown files beside it to which an index leads, each as often as it is named."""
    found: list[IndexLink] = []
    for number, line in enumerate(lines, 1):
        for piece in line.split("](")[1:]:
            written, closed, _ = piece.partition(")")
            target = written.partition("#")[0].removeprefix("./")
            if closed and target.endswith(".md") and "/" not in target:
                found.append(IndexLink(number, target))
    return tuple(found)


def unlisted(links: Collection[IndexLink], names: Collection[str], loaded_lines: int) -> tuple[str, ...]:
    """Give those of the names of topic files to which no loaded line of the index leads: no agent learns of them."""
    listed = {link.target for link in links if link.line <= loaded_lines}
    return tuple(sorted(name for name in names if name not in listed and name != "MEMORY.md"))


def dead_links(links: Collection[IndexLink], names: Collection[str]) -> tuple[IndexLink, ...]:
    """Give the links to files that are not there."""
    return tuple(link for link in links if link.target not in names)


def _title(lines: list[str], front: dict[str, str], skipped: int) -> str:
    if front.get("name") or front.get("description"):
        return ": ".join(filter(None, (front.get("name"), front.get("description"))))
    said = [line.strip().lstrip(_BOM) for line in lines[skipped:]]
    heading = next((line.lstrip("#").strip() for line in said if line.startswith("#")), "")
    return heading or next((line for line in said if line), "")


def agent_of(path: str) -> str:
    """Name the agent to which a file belongs, from the source file's path; "" where it belongs to none."""
    behind = path.partition(".claude/agent-memory/")[2]
    return behind.split("/", 1)[0] if "/" in behind else ""


class MemoryMdReader(WholeReader):
    """Reads a Markdown file; nothing in it is refused."""

    lost = "it is not shown here"
    subject_type = "memory_md"
    form = "note"

    def whole(self, line: Line) -> Parsed:
        """Read the file."""
        text = line.data.decode("utf-8", "replace")
        lines = split(text[:_HEAD])
        front, skipped = front_matter(lines)
        known = budget(line.data)
        warnings = ("bad_utf8",) if "\ufffd" in text and text.encode() != line.data else ()
        is_index = self.form == "index"
        values = (
            self.form,
            storable.name(agent_of(self.path)),
            storable.name(front.get("metadata.type") or front.get("type", "")),
            storable.title(_title(lines, front, skipped)),
            known.lines,
            len(text),
            known.not_loaded if is_index else 0,
            len(known.long_lines) if is_index else 0,
            0,
            "missing",
        )
        odd = _over_budget(known) if is_index else ()
        if self.form == "rules" and BLOCK_HEADER in text:
            message = "Written by OrchestKit's injector: every session goes on loading it until somebody deletes it, however old it is"
            odd = (Oddity("stale_rules", Severity.INFO, message),)
        return self._record(line, Judged(values, "", search_text(text[: 8 * _HEAD]), odd), warnings)


def _over_budget(known: Budget) -> tuple[Oddity, ...]:
    found: list[str] = []
    if known.not_loaded:
        lines = f"{known.not_loaded:,} line{'' if known.not_loaded == 1 else 's'}"
        found.append(f"Only 200 lines or 25 KB are loaded: agents never see the last {lines}")
    elif known.near:
        found.append("Nearly all of the 200 lines or 25 KB that are loaded is used: what comes next, agents never see")
    if known.long_lines:
        number = len(known.long_lines)
        found.append(f"{number:,} {'entry is' if number == 1 else 'entries are'} longer than {LONG_LINE} characters")
    if not found:
        return ()
    severity = Severity.WARNING if known.not_loaded or known.near else Severity.INFO
    details: dict[str, object] = {"loaded_lines": known.loaded_lines, "long_lines": list(known.long_lines[:20])}
    return (Oddity("memory_md_budget", severity, "; ".join(found), details),)


class IndexReader(MemoryMdReader):
    """Reads a `MEMORY.md`, which is loaded at the start of every session as far as its budget reaches."""

    form = "index"


class TopicReader(MemoryMdReader):
    """Reads a file beside a `MEMORY.md`, which an agent loads when it wants to."""

    form = "topic"


class RulesReader(MemoryMdReader):
    """Reads the file of rules that OrchestKit wrote, which is loaded whole into every session."""

    form = "rules"


def memory_md_detail(raw: bytes) -> MemoryMdDetail:
    """Take a Markdown file apart, given its bytes; nothing is raised."""
    lines = split(raw.decode("utf-8", "replace"))
    front, skipped = front_matter(lines)
    known = budget(raw)
    long = frozenset(known.long_lines)
    return MemoryMdDetail(
        title=storable.title(_title(lines, front, skipped)),
        front=tuple((storable.text(key), storable.text(value)) for key, value in front.items()),
        topic_type=storable.text(front.get("metadata.type") or front.get("type", "")),
        budget=known,
        lines=tuple(
            MarkdownLine(number, storable.text(line), number <= known.loaded_lines, number in long) for number, line in enumerate(lines, 1)
        ),
        entries=tuple(
            BlockEntry(
                one.line, storable.text(one.label), storable.text(one.what), storable.text(one.why), tuple(map(storable.text, one.tags))
            )
            for one in block_entries(lines)
        ),
        links=tuple(IndexLink(link.line, storable.text(link.target)) for link in index_links(lines)),
        archived=any(line.strip() == ARCHIVED_NOTE for line in lines),
    )


def _spec(path: str, reader: type[MemoryMdReader], anchor: str) -> FileSpec:
    return FileSpec(
        path=path, record_type="memory_md", append_only=False, columns=columns.MEMORY_MD, reader=reader, whole=True, anchor=anchor
    )


SPECS: Final = (
    _spec(AGENT_INDEX, IndexReader, "project"),
    _spec(AGENT_TOPICS, TopicReader, "project"),
    _spec(PROJECT_INDEX, IndexReader, "home"),
    _spec(PROJECT_TOPICS, TopicReader, "home"),
    _spec(RULES, RulesReader, "project"),
)
NOTES_SPEC: Final = _spec(NOTES, MemoryMdReader, "")
