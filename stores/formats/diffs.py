"""What differs between two wordings of one record, line by line and word by word."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from stores.formats import javascript, storable

LINES_AT_MOST: Final = 400
"""Lines of either wording that are compared; a longer one is compared up to there."""
_WORDS: Final = re.compile(r"\w+|\s+|[^\w\s]")


class Run(NamedTuple):
    """A piece of a line; `changed` where it differs from the other wording."""

    text: str
    changed: bool


class DiffLine(NamedTuple):
    """One line: `sign` is "-" for the earlier wording, "+" for the later one, " " for what both say."""

    sign: str
    runs: tuple[Run, ...]


def readable(raw: bytes) -> str:
    """Give a line of JSON spread over lines, two spaces a level; what cannot be read comes as its text."""
    parsed = javascript.parse(raw)
    if not parsed.accepted or parsed.value is javascript.TOO_DEEP:
        return storable.text(raw.decode("utf-8", "replace"))
    return storable.text(json.dumps(parsed.value, ensure_ascii=False, indent=2, default=str))


def diff(earlier: str, later: str) -> tuple[DiffLine, ...]:
    """Compare two texts by lines; lines that were reworded stand under each other with their changed words marked."""
    return _compared(earlier.split("\n")[:LINES_AT_MOST], later.split("\n")[:LINES_AT_MOST])


def whole_diff(earlier: str, later: str) -> tuple[DiffLine, ...]:
    """Compare two texts to their ends, whatever their length; where too much differs, all of it goes and all of it comes."""
    old, new = earlier.split("\n"), later.split("\n")
    if max(len(old), len(new)) <= LINES_AT_MOST:
        return _compared(old, new)
    head = next((place for place, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new)))
    behind = zip(reversed(old[head:]), reversed(new[head:]), strict=False)
    tail = next((place for place, (one, other) in enumerate(behind) if one != other), min(len(old), len(new)) - head)
    gone, come = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(gone) * len(come) <= LINES_AT_MOST**2:
        middle = _compared(gone, come)
    else:
        middle = (*(DiffLine("-", (Run(text, True),)) for text in gone), *(DiffLine("+", (Run(text, True),)) for text in come))
    return (
        *(DiffLine(" ", (Run(text, False),)) for text in old[:head]),
        *middle,
        *(DiffLine(" ", (Run(text, False),)) for text in old[len(old) - tail :]),
    )


def _compared(old: list[str], new: list[str]) -> tuple[DiffLine, ...]:
    lines: list[DiffLine] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += [DiffLine(" ", (Run(text, False),)) for text in old[i1:i2]]
        elif tag == "replace" and i2 - i1 == j2 - j1:
            for before, after in zip(old[i1:i2], new[j1:j2], strict=True):
                lines += _reworded(before, after)
        else:
            lines += [DiffLine("-", (Run(text, True),)) for text in old[i1:i2]]
            lines += [DiffLine("+", (Run(text, True),)) for text in new[j1:j2]]
    return tuple(lines)


def _reworded(before: str, after: str) -> Iterator[DiffLine]:
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    taken: list[Run] = []
    given: list[Run] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        changed = tag != "equal"
        if i2 > i1:
            taken.append(Run("".join(old[i1:i2]), changed))
        if j2 > j1:
            given.append(Run("".join(new[j1:j2]), changed))
    yield DiffLine("-", tuple(taken))
    yield DiffLine("+", tuple(given))
