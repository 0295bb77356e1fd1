"""Reads line files strictly: for the kinds whose logs are evidence, and for our own files (ruling 23)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from stores.formats import identifiers, strict
from stores.formats.base import Line
from stores.formats.lines import split_lines


class StrictRecord(NamedTuple):
    """One accepted record, with its place."""

    line: int
    offset: int
    id: str
    value: dict[str, object]
    flags: tuple[str, ...]


class RefusedLine(NamedTuple):
    """One line that was not accepted, with its place and why."""

    line: int
    offset: int
    length: int
    sha256: bytes
    code: str
    """A code of samples/hostile/INDEX.md rules 3 and 4."""
    salvageable: int


class StrictLog(NamedTuple):
    """What a whole log says."""

    records: tuple[StrictRecord, ...]
    refused: tuple[RefusedLine, ...]
    flags: Mapping[str, int]
    """How many records carry each flag."""
    tail: str
    """The last piece without a line break: "" there is none, complete, torn, or nul_run."""


def read_strict(data: bytes, *, knows_schema: Callable[[object], bool] | None = None) -> StrictLog:
    """Read a log held in memory; see `read_strict_lines`."""
    return read_strict_lines(split_lines([data]), knows_schema=knows_schema)


def read_strict_lines(lines: Iterable[Line], *, knows_schema: Callable[[object], bool] | None = None) -> StrictLog:
    """Read the lines of a log; nothing is raised, blank lines are passed over.

    Two records of one id are both kept and the later is flagged `dup_id`; an id that only looks like an earlier one is flagged
    `confusable_id`. A last piece without a line break is a record if it is a whole one, and no refused line if not.
    """
    records: list[StrictRecord] = []
    refused: list[RefusedLine] = []
    flags: Counter[str] = Counter()
    seen: set[str] = set()
    skeletons: dict[str, str] = {}
    tail = ""
    for line in lines:
        if not line.oversize and not line.data.strip(b" \t\r"):
            continue
        judged = None if line.oversize else strict.judge(line.data, knows_schema=knows_schema)
        if not line.terminated:
            whole = judged is not None and not judged.refused
            tail = "complete" if whole else "nul_run" if line.data and not line.data.strip(b"\0") else "torn"
            if not whole:
                break
        if judged is None or judged.refused:
            code, salvageable = (judged.refused, judged.salvageable) if judged else ("line_too_long", 0)
            refused.append(RefusedLine(line.number, line.offset, line.length, line.sha256, code, salvageable))
            continue
        found = set(judged.flags) | _likeness(judged.id, seen, skeletons)
        flags.update(found)
        records.append(StrictRecord(line.number, line.offset, judged.id, judged.value, tuple(sorted(found))))
    return StrictLog(tuple(records), tuple(refused), dict(flags), tail)


def _likeness(given: str, seen: set[str], skeletons: dict[str, str]) -> set[str]:
    if given in seen:
        return {"dup_id"}
    seen.add(given)
    return {"confusable_id"} if skeletons.setdefault(identifiers.skeleton(given), given) != given else set()
