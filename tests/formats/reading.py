"""Reads whole line files through a kind's reader, as tests need it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from stores.formats import KINDS
from stores.formats.base import Fault, FileSpec, LineClass, LineReader, Parsed
from stores.formats.lines import split_lines, whole_line

DECISIONS, QUEUE, PROBLEMS = KINDS["orchestkit"].files[:3]


class Reading(NamedTuple):
    """Every line of a file as its reader took it, and the reader's state at the end."""

    parsed: list[Parsed]
    state: str

    def classes(self) -> list[str]:
        return [str(one.line_class) for one in self.parsed]

    def count(self, *classes: LineClass) -> int:
        return sum(one.line_class in classes for one in self.parsed)

    def faults(self) -> list[Fault]:
        return [fault for one in self.parsed for fault in one.faults]

    def codes(self) -> list[str]:
        return [fault.code for fault in self.faults()]


def read_all(spec: FileSpec, data: bytes) -> Reading:
    """Read a file as the mirror does: a line whose answer rests on being the last is read again when another follows."""
    reader: LineReader = spec.reader("")
    parsed: list[Parsed] = []
    held: tuple[int, str] | None = None
    lines = list(split_lines([data]))
    for place, line in enumerate(lines):
        before = reader.state()
        one = reader.read(line)
        if held is not None and one.line_class is not LineClass.BLANK:
            start, state = held
            reader = spec.reader(state)
            parsed[start:] = [reader.read(lines[start], last=False)]
            parsed += [reader.read(again, last=False) for again in lines[start + 1 : place]]
            held, before = None, reader.state()
            one = reader.read(line)
        if one.hold:
            held = place, before
        parsed.append(one)
    return Reading(parsed, reader.state())


def read_whole(spec: FileSpec, data: bytes, path: str = "") -> Parsed:
    """Read a file that is one record, as the mirror does."""
    return spec.reader(path).read(whole_line([data]))


def values(spec: FileSpec, parsed: Parsed) -> dict[str, object]:
    """Give a record's values by column."""
    assert parsed.values is not None
    return dict(zip(spec.columns, parsed.values, strict=True))


def record(spec: FileSpec, value: object) -> tuple[dict[str, object], Parsed]:
    """Read one record, written as JavaScript writes it."""
    parsed = read_all(spec, line_of(value)).parsed[0]
    return values(spec, parsed), parsed


def line_of(value: object) -> bytes:
    """Write a value as one line as `JSON.stringify` does."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def lines_of(things: Iterable[object]) -> bytes:
    """Write values as the lines of a file."""
    return b"".join(line_of(value) for value in things)
