"""Reads the lines of a file as OrchestKit's JavaScript does, and keeps what a later reading needs to go on."""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar, Final

from stores.formats import causes, javascript
from stores.formats.base import Fault, Line, LineClass, Parsed, RepairMode, Severity
from stores.formats.javascript import JS_WHITESPACE

DECISION_ID: Final = re.compile(r"(?:decision|preference|problem-solution|pattern|workflow)-[0-9a-z]{8}-[0-9a-z]{1,6}\Z")
"""The form of ids that OrchestKit's writer makes (docs/formats.md)."""

WARNINGS: Final[dict[str, tuple[Severity, str]]] = {
    "bad_utf8": (Severity.WARNING, "Bytes that are not UTF-8: agents read U+FFFD in their place"),
    "dup_key": (Severity.WARNING, "A key that stands twice in one object: agents see only the last value"),
    "too_deep": (Severity.WARNING, "Nested deeper than 200 levels: agents take it, its values are not shown here"),
    "nan": (Severity.WARNING, "A number too large for a computer's numbers: agents read it as Infinity"),
    "int_range": (Severity.INFO, "A whole number beyond 64 bit: agents round it"),
    "lone_surrogate": (Severity.INFO, "Half an emoji, as JavaScript leaves it when it cuts a text: shown as U+FFFD, kept as it is"),
    "nul": (Severity.INFO, "The character U+0000 in a text: shown as ␀, kept as it is"),
}
"""What is odd about a value that JavaScript takes, by `JsParse.warnings`."""
_NONE: Final = RepairMode.NONE
_INFO: Final = Severity.INFO
_SURE_BLANKS: Final = b" \t\r\v\f"
_BLANK: Final = Parsed(LineClass.BLANK, None, "", "", ())


class OrchestKitReader:
    """What the readers of all OrchestKit line files share: the class of each line, as ruling 30 and docs/formats.md say."""

    lost: ClassVar[str]
    """What a refused line does to agents; ends a fault's message."""
    subject_type: ClassVar[str]
    appended: ClassVar[bool] = True
    """Writers append to the file, so that a missing last line break glues two records together."""

    def __init__(self, state: str = "") -> None:
        self._seen = False
        """A line that is not blank was read: from then on leading whitespace is no longer trimmed away."""
        self._utf16 = False
        if state:
            kept = json.loads(state)
            self._seen = bool(kept["seen"])
            self._utf16 = bool(kept["utf16"])
            self.restore(kept)

    def state(self) -> str:
        """Give the JSON text from which a new reader goes on."""
        return json.dumps({"seen": self._seen, "utf16": self._utf16, **self.keep()}, separators=(",", ":"), ensure_ascii=False)

    def keep(self) -> dict[str, object]:
        """Give what the kind of file needs besides."""
        return {}

    def restore(self, kept: dict[str, Any]) -> None:
        """Take up what `keep` gave."""

    def record(self, line: Line, value: object, warnings: tuple[str, ...]) -> Parsed:
        """Read a record; the faults of its warnings are added afterwards.

        Without warnings all its texts are known to be storable as they are.
        """
        raise NotImplementedError

    def passed(self, line: Line, blank: bool) -> None:
        """Take notice of a line that is no record."""

    def read(self, line: Line, last: bool = True) -> Parsed:
        """Read the next line; see `base.LineReader`."""
        if line.oversize:
            self._seen = True
            self.passed(line, blank=False)
            return self._refused(line, causes.too_large(line.length))
        value = javascript.parse_plain(line.data)
        if value is javascript.ODD:
            return self._read_odd(line, last)
        self._seen = True
        parsed = self.record(line, value, ())
        return parsed if line.terminated else self._with_oddities(line, parsed, (), False)

    def _read_odd(self, line: Line, last: bool) -> Parsed:
        data = line.data
        parse = javascript.parse_exactly(data)
        hold = False
        if not parse.accepted:
            if not data.strip(_SURE_BLANKS) or not javascript.trim(data.decode("utf-8", "replace")):
                self.passed(line, blank=True)
                return _BLANK
            if line.number == 1 and data[:2] in (b"\xff\xfe", b"\xfe\xff"):
                self._utf16 = True
            if not self._seen:
                data = _trim_start(data)
                parse = javascript.parse(data)
            if not parse.accepted and last and javascript.may_need_trim(data):
                parse = javascript.parse(_trim_end(data))
                hold = parse.accepted
            if not parse.accepted:
                self._seen = True
                self.passed(line, blank=False)
                return self._refused(line, causes.name_cause(line.data, self._utf16))
        self._seen = True
        parsed = self.record(line, parse.value, parse.warnings)
        return self._with_oddities(line, parsed, parse.warnings, hold)

    def fault(self, line: Line, code: str, severity: Severity, message: str, subject_id: str = "", **more: object) -> Fault:
        """Make a fault of the record on a line; findings below an error may be acknowledged, pure information asks for nothing."""
        mode = _NONE if severity is _INFO else RepairMode.ACKNOWLEDGE
        key = line.sha256[:8].hex()
        return Fault(code, severity, message, line.number, line.offset, self.subject_type, subject_id, key, more, mode)

    def _with_oddities(self, line: Line, parsed: Parsed, warnings: tuple[str, ...], hold: bool) -> Parsed:
        found = [*parsed.faults, *(self.fault(line, code, *WARNINGS[code], parsed.natural_id) for code in warnings)]
        if self.appended and not line.terminated:
            found.append(
                Fault(
                    code="tail_unterminated",
                    severity=Severity.WARNING,
                    message="No line break at the end: the next record would be glued to this one, and both lost",
                    line=line.number,
                    byte=line.offset + line.length,
                    subject_type="line",
                    key=line.sha256[:8].hex(),
                    repair_mode=RepairMode.SAFE,
                    repair_action="append_newline",
                )
            )
        return parsed._replace(faults=tuple(found), hold=hold)

    def _refused(self, line: Line, cause: causes.Cause) -> Parsed:
        torn = not line.terminated and cause.code == "bad_json"
        mode, action = cause.repair()
        words = "The last record is not finished" if torn else cause.words
        fault = Fault(
            code="tail_torn" if torn else cause.code,
            severity=Severity.ERROR,
            message=f"{words}: {self.lost}",
            line=line.number,
            byte=line.offset + (cause.column or 1) - 1,
            subject_type="line",
            key=line.sha256[:8].hex(),
            details=cause.details(),
            repair_mode=mode,
            repair_action=action,
            pending=not line.terminated,
        )
        return Parsed(LineClass.REFUSED if line.terminated else LineClass.PENDING, None, "", "", (fault,))


def _trim_start(data: bytes) -> bytes:
    text = data.decode("utf-8", "surrogateescape").lstrip(JS_WHITESPACE)
    return text.encode("utf-8", "surrogateescape")


def _trim_end(data: bytes) -> bytes:
    text = data.decode("utf-8", "surrogateescape").rstrip(JS_WHITESPACE)
    return text.encode("utf-8", "surrogateescape")
