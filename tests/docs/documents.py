"""The documents of this repository, taken apart for the tests beside this module."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
IMAGES = ROOT / "docs" / "img"

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def name_of(document: Path) -> str:
    """Give a document's path within the repository, which names it in test ids."""
    return str(document.relative_to(ROOT))


def text_of(name: str) -> str:
    """Give the text of a document."""
    return (ROOT / name).read_text("utf-8")


def blocks(text: str) -> list[str]:
    """Give the fenced blocks of a document, in order, without their fences."""
    return [block.group().partition("\n")[2].rpartition("\n")[0] for block in _FENCE.finditer(text)]


def code_words(text: str) -> list[str]:
    """Give what stands between backticks within sentences and tables."""
    return re.findall(r"`([^`\n]+)`", _FENCE.sub("", text))


def everything() -> str:
    """Give all documents as one text."""
    return "\n".join(document.read_text("utf-8") for document in DOCUMENTS)


def section(text: str, heading: str) -> str:
    """Give what stands under a heading, up to the next one of its level or a higher one."""
    level, _, _ = heading.partition(" ")
    start = text.index(f"\n{heading}\n") + len(heading) + 2
    end = re.search(rf"^#{{1,{len(level)}}} ", text[start:], re.MULTILINE)
    return text[start : start + end.start()] if end else text[start:]


def first_cells(text: str) -> list[str]:
    """Give the code word that begins each row of the tables in a text."""
    return re.findall(r"^\| `([^`]+)`", text, re.MULTILINE)


def rows(text: str) -> dict[str, list[str]]:
    """Give each table row that begins with a code word: the word, and the cells behind it."""
    found = re.findall(r"^\| `([^`]+)` \|(.*)\|$", text, re.MULTILINE)
    return {word: [cell.strip() for cell in cells.split(" | ")] for word, cells in found}
