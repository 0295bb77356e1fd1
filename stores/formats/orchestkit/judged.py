"""Readers that ask one function per value, whether it stands on a line or is a whole file."""

from __future__ import annotations

import re
from typing import ClassVar, Final, NamedTuple

from stores.formats import causes, javascript, storable
from stores.formats.base import Fault, Line, LineClass, Parsed, RepairMode, Severity
from stores.formats.javascript import TOO_DEEP
from stores.formats.orchestkit.reading import WARNINGS, OrchestKitReader
from stores.formats.orchestkit.values import MOST_VALUES, has_too_many_values

_CONFLICT: Final = re.compile(rb"^(?:<{7}|>{7}) ", re.MULTILINE)
_MIB: Final = 1 << 20
FILE_CAP_MIB: Final = 16
"""Longer files are not read (ruling 61)."""


class Oddity(NamedTuple):
    """What is odd about a value that was taken."""

    code: str
    severity: Severity
    message: str
    details: dict[str, object] = {}


class Judged(NamedTuple):
    """What a value is taken for."""

    values: tuple[object, ...]
    natural_id: str = ""
    search: str = ""
    oddities: tuple[Oddity, ...] = ()


def no_object(value: object, wanted: str) -> tuple[Oddity, ...]:
    """Say that a value is no object where one is wanted; nothing of what is nested too deep, of which a warning tells."""
    if value is TOO_DEEP or isinstance(value, dict):
        return ()
    return (Oddity("not_object", Severity.WARNING, f"Valid JSON, but no {wanted}: OrchestKit passes over it"),)


def bare_title(value: object) -> str:
    """Show a value that has no known form."""
    return "" if value is TOO_DEEP else storable.title(value)


class JudgedLineReader(OrchestKitReader):
    """Reads a line file whose records know nothing of each other."""

    def judge(self, value: object) -> Judged:
        """Say what one line's value is."""
        raise NotImplementedError

    def record(self, line: Line, value: object, warnings: tuple[str, ...]) -> Parsed:
        """Read one record."""
        judged = self.judge(value)
        faults = tuple(self.fault(line, odd.code, odd.severity, odd.message, judged.natural_id, **odd.details) for odd in judged.oddities)
        return Parsed(LineClass.RECORD, judged.values, judged.natural_id, judged.search, faults)


class WholeReader:
    """Reads a file that is one record; there is nothing to go on from."""

    lost: ClassVar[str]
    """What a refused file does to agents; ends a fault's message."""
    subject_type: ClassVar[str]

    def __init__(self, path: str = "") -> None:
        self.path = path
        """Of the source file: some things stand only in the name."""

    def state(self) -> str:
        """Give nothing: the file is read whole or not at all."""
        return ""

    def read(self, line: Line, last: bool = True) -> Parsed:
        """Read the file, which comes as one line."""
        if line.oversize:
            words = f"A file of {line.length / _MIB:.1f} MiB: files are read up to {FILE_CAP_MIB} MiB"
            return self._refused(line, causes.Cause("too_large", words))
        return self.whole(line)

    def whole(self, line: Line) -> Parsed:
        """Read the bytes of a file that is not too large."""
        raise NotImplementedError

    def _record(self, line: Line, judged: Judged, warnings: tuple[str, ...]) -> Parsed:
        odd = (*judged.oddities, *(Oddity(code, *WARNINGS[code]) for code in warnings))
        record_id = judged.natural_id or storable.name(self.path)
        faults = tuple(self._fault(line, one, record_id) for one in odd)
        return Parsed(LineClass.RECORD, judged.values, judged.natural_id, judged.search, faults)

    def _fault(self, line: Line, odd: Oddity, record_id: str) -> Fault:
        mode = RepairMode.NONE if odd.severity is Severity.INFO else RepairMode.ACKNOWLEDGE
        key = line.sha256[:8].hex()
        return Fault(odd.code, odd.severity, odd.message, line.number, line.offset, self.subject_type, record_id, key, odd.details, mode)

    def _refused(self, line: Line, cause: causes.Cause) -> Parsed:
        place = (cause.column or 1) - 1
        fault = Fault(
            code=cause.code,
            severity=Severity.ERROR,
            message=f"{cause.words}: {self.lost}",
            line=line.number,
            byte=line.offset + place,
            subject_type="line",
            key=line.sha256[:8].hex(),
            details={**cause.details(), "file_line": 1 + line.data.count(b"\n", 0, place)},
            repair_mode=RepairMode.MANUAL,
        )
        return Parsed(LineClass.REFUSED, None, "", "", (fault,))


class WholeJsonReader(WholeReader):
    """Reads a file that holds one JSON value, as `JSON.parse` takes it."""

    def judge(self, value: object) -> Judged:
        """Say what the file's value is."""
        raise NotImplementedError

    def whole(self, line: Line) -> Parsed:
        """Read the file's value."""
        if has_too_many_values(line.data):
            return self._unparsed(line)
        parse = javascript.parse(line.data)
        if not parse.accepted:
            return self._refused(line, _cause(line.data))
        return self._record(line, self.judge(parse.value), parse.warnings)

    def _unparsed(self, line: Line) -> Parsed:
        """Check a file whose values would fill the memory, without making them."""
        if javascript.scan(line.data.decode("utf-8", "replace")) >= 0:
            return self._refused(line, _cause(line.data))
        words = f"More than {MOST_VALUES:,} values in one file: agents take it, its values are not shown here"
        judged = self.judge(TOO_DEEP)
        odd = (*judged.oddities, Oddity("too_large", Severity.WARNING, words))
        return self._record(line, judged._replace(oddities=odd), ())


def _cause(data: bytes) -> causes.Cause:
    """Name why a whole file is no JSON: unlike on a line, being spread over lines is no reason."""
    if not data.strip(b" \t\r\n"):
        return causes.Cause("bad_json", "An empty file")
    conflict = _CONFLICT.search(data)
    if conflict is not None:
        marked = 1 + data.count(b"\n", 0, conflict.start())
        return causes.Cause("merge_conflict", f"A marker on line {marked:,} left over from a Git merge conflict", conflict.start() + 1)
    named = causes.name_cause(data[:_MIB])
    if named.code in ("utf16", "nul_run", "lfs_pointer", "json_comment", "nan"):
        return named
    text = data.decode("utf-8", "surrogateescape")
    if text.startswith("\ufeff"):
        return causes.Cause("bad_json", "A byte order mark in front, which JSON does not know", column=1)
    position = javascript.scan(text)
    if position < 0:
        return causes.Cause("nan", "A word that JSON does not know", column=1)
    position = len(text) - len(text[position:].lstrip(" \t\r\n"))
    column = len(text[:position].encode("utf-8", "surrogateescape")) + 1
    if position == len(text):
        return causes.Cause("bad_json", "It breaks off in the middle", column=column)
    line = 1 + data.count(b"\n", 0, column - 1)
    return causes.Cause("bad_json", f"Not JSON from line {line:,} on", column=column)
