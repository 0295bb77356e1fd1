"""Reads `decisions.jsonl`: what agents decided and prefer."""

from __future__ import annotations

import json
from collections import deque
from typing import Any, Final, NamedTuple

from stores.formats import storable
from stores.formats.base import Fault, FileSpec, Line, LineClass, Parsed, RepairMode, Severity
from stores.formats.javascript import TOO_DEEP
from stores.formats.orchestkit import columns
from stores.formats.orchestkit.reading import DECISION_ID, OrchestKitReader
from stores.formats.orchestkit.values import count, leaves, mapping, same_text_hash, strings, truthy
from stores.formats.record_keys import record_key
from stores.formats.search_text import search_text

PATH: Final = "decisions.jsonl"
TOLD_LINES: Final = 10
"""Physical lines at the end of the log that the context loader looks at."""
KEPT_LINES: Final = 4 * TOLD_LINES
"""Lines at the end of the log that a state names: a clean-up lets older ones move up."""
RECORD: Final = "record"
SILENCING: Final = "silencing"
REFUSED: Final = "refused"
BLANK: Final = "blank"
_NEIGHBOURS: Final = 32
_MOST_MET: Final = 4096
_HOOK_WINDOW_MS: Final = 100
_ID_IN_STATE: Final = 64
_FOREIGN: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    ("memory-capture", frozenset({"auto_captured", "summary"})),
    ("memory-capture", frozenset({"ts", "pid", "cwd"})),
    ("trajectory", frozenset({"when", "trajectory"})),
    ("issue-log", frozenset({"issue_number", "decision"})),
    ("approved-value", frozenset({"decision", "approved_by"})),
    ("tagged-note", frozenset({"content", "tags"})),
    ("knowledge-base", frozenset({"date", "status"})),
    ("decision-log", frozenset({"decision"})),
    ("decision-log", frozenset({"summary"})),
)
"""Keys by which the shapes of other tools under this file's name are told apart; the first match counts (docs/formats.md)."""
_FOREIGN_TEXTS: Final = ("what", "decision", "summary", "action", "content", "text")
_FOREIGN_TIMES: Final = ("timestamp", "ts", "when", "date")


class LastLine(NamedTuple):
    """One of the last lines of the log that the loader sees: all but the empty ones."""

    line: int
    """0 in a state of an earlier version, which did not say."""
    standing: str
    """record, silencing (a record at which the loader would throw), refused or blank."""
    key: int
    """The record's key, 0 for what is none."""


class DecisionReader(OrchestKitReader):
    """Reads decisions in order, and notes what the loader would find at the end of the file."""

    lost = "agents hear nothing of it; among the last 10 lines it wastes a place"
    subject_type = "decision"

    def __init__(self, state: str = "") -> None:
        self._recent: deque[tuple[int, int, str, int]] = deque(maxlen=_NEIGHBOURS)
        """(hash of the text, time in ms, id, line) of the last records."""
        self._met_hashes: set[int] = set()
        """Hashes of the last records, and of some before them: a quick look for what need not be compared."""
        self._tail: deque[tuple[int, str, str, bytes | int]] = deque(maxlen=KEPT_LINES)
        """Lines that the loader sees: line, standing, id, and hash of the line; for those of an earlier reading no id, but the key."""
        self._gap: deque[int] = deque(maxlen=KEPT_LINES)
        """Lines of spaces since the last other line: the loader sees them once another line follows."""
        super().__init__(state)

    def keep(self) -> dict[str, object]:
        """Give the last records, and the last lines that the loader sees."""
        return {"recent": list(self._recent), "tail": [_last_line(*entry) for entry in self._tail], "gap": list(self._gap)}

    def restore(self, kept: dict[str, Any]) -> None:
        """Take up what `keep` gave."""
        self._recent.extend(map(tuple, kept["recent"]))
        self._met_hashes.update(entry[0] for entry in self._recent)
        self._tail.extend((line.line, line.standing, "", line.key) for line in _last_lines(kept))
        self._gap.extend(kept["gap"] if isinstance(kept["gap"], list) else [0] * min(kept["gap"], KEPT_LINES))

    def passed(self, line: Line, blank: bool) -> None:
        """Give a line that cannot be told its place, as the loader does."""
        if not blank:
            self._take_place(line, REFUSED, "")
        elif line.length and self._seen:
            self._gap.append(line.number)

    def _take_place(self, line: Line, standing: str, natural_id: str) -> None:
        if self._gap:
            self._tail.extend((number, BLANK, "", 0) for number in self._gap)
            self._gap.clear()
        self._tail.append((line.number, standing, natural_id, 0 if standing == REFUSED else line.sha256))

    def record(self, line: Line, value: object, warnings: tuple[str, ...]) -> Parsed:
        """Read one decision, or whatever object stands in its place."""
        if not isinstance(value, dict):
            self._take_place(line, RECORD, "")
            return self._no_object(line, value)
        content = mapping(value.get("content"))
        what = content.get("what")
        faults: list[Fault] = []
        standing = RECORD
        if value.get("entities") is None and truthy(what):
            standing = SILENCING
            faults.append(self._silences(line, storable.name(value.get("id"))))
        if isinstance(what, str):
            parsed = self._decision(line, value, content, what, not warnings, faults)
        else:
            parsed = self._foreign(line, value, faults)
        self._take_place(line, standing, parsed.natural_id)
        return parsed

    def _decision(
        self, line: Line, value: dict[str, object], content: dict[str, object], what: str, clean: bool, faults: list[Fault]
    ) -> Parsed:
        given = value.get("id")
        natural_id = _name(given, clean) if isinstance(given, str) else ""
        if DECISION_ID.match(natural_id) is None:
            faults.append(self._odd_id(line, natural_id))
        metadata = mapping(value.get("metadata"))
        at_ms, at_state = storable.moment(metadata.get("timestamp"))
        one_line = what.isprintable()
        what_hash = same_text_hash(what, one_line)
        if what_hash in self._met_hashes:
            twin = self._twin(line, natural_id, what_hash, at_ms, at_state)
            if twin is not None:
                faults.append(twin)
        self._remember(what_hash if at_state == "ok" or at_state == "naive" else 0, at_ms, natural_id, line.number)
        kind, said_by, machine, session, project, category, source, scope, importance = _names(value, metadata, clean)
        values = (
            "orchestkit",
            kind,
            category,
            what if one_line and len(what) <= storable.TITLE_LIMIT else storable.title(what),
            said_by,
            machine,
            session,
            project,
            source,
            scope,
            importance,
            storable.number(metadata.get("confidence")),
            at_ms,
            at_state,
            what_hash,
            count(value.get("entities")),
        )
        search = search_text(decision_text(value, content))
        return Parsed(LineClass.RECORD, values, natural_id, search, tuple(faults))

    def _odd_id(self, line: Line, natural_id: str) -> Fault:
        if not natural_id or not natural_id.isprintable() or "\ufffd" in natural_id or "\u2400" in natural_id:
            return self.fault(
                line, "bad_id", Severity.WARNING, "No usable id: reviews and links know this record only by its line", natural_id
            )
        return self.fault(
            line, "odd_id", Severity.INFO, "An id that OrchestKit's writer would not make: agents do not look at it", natural_id
        )

    def _foreign(self, line: Line, value: dict[str, object], faults: list[Fault]) -> Parsed:
        given = value.get("id")
        natural_id = storable.name(given) if isinstance(given, str) else ""
        identity = mapping(value.get("identity"))
        metadata = mapping(value.get("metadata"))
        shape = foreign_shape(value)
        faults.append(
            self.fault(
                line,
                "foreign_shape",
                Severity.INFO,
                "Written by another tool than OrchestKit: its loader passes over it",
                natural_id,
                shape=shape,
            )
        )
        text = foreign_text(value)
        at_ms, at_state = storable.moment(
            next((value[key] for key in _FOREIGN_TIMES if value.get(key) is not None), metadata.get("timestamp"))
        )
        values = (
            f"foreign:{shape}",
            storable.name(value.get("type")),
            storable.name(value.get("category", metadata.get("category"))),
            storable.title(text),
            storable.name(identity.get("user_id", value.get("user_id"))),
            storable.name(identity.get("machine_id")),
            storable.name(metadata.get("session_id", value.get("session_id"))),
            storable.name(metadata.get("project", value.get("project"))),
            storable.name(value.get("source", metadata.get("source"))),
            storable.name(metadata.get("sharing_scope")),
            storable.name(metadata.get("importance")),
            storable.number(metadata.get("confidence", value.get("confidence"))),
            at_ms,
            at_state,
            same_text_hash(text),
            count(value.get("entities")),
        )
        self._remember(0, 0, natural_id, line.number)
        return Parsed(LineClass.RECORD, values, natural_id, search_text(*leaves(value)), tuple(faults))

    def _no_object(self, line: Line, value: object) -> Parsed:
        faults: tuple[Fault, ...] = ()
        shape = "foreign:unknown"
        if value is not TOO_DEEP:
            shape = "not_object"
            faults = (
                self.fault(
                    line, "not_object", Severity.WARNING, "Valid JSON, but no record: agents count the line and can tell nothing of it"
                ),
            )
        self._remember(0, 0, "", line.number)
        title = "" if value is TOO_DEEP else storable.title(value)
        values = (shape, "", "", title, "", "", "", "", "", "", "", None, 0, "missing", 0, -1)
        return Parsed(LineClass.RECORD, values, "", search_text(title), faults)

    def _silences(self, line: Line, natural_id: str) -> Fault:
        return Fault(
            code="missing_entities",
            severity=Severity.ERROR,
            message=f"No entities: among the last {TOLD_LINES} lines it would switch injection off, and agents would be told nothing",
            line=line.number,
            byte=line.offset,
            subject_type="decision",
            subject_id=natural_id,
            key=line.sha256[:8].hex(),
            repair_mode=RepairMode.REVIEW,
            repair_action="repair_lines",
        )

    def _twin(self, line: Line, natural_id: str, what_hash: int, at_ms: int, at_state: str) -> Fault | None:
        """Find the record that a hook which ran twice wrote just before: the same text, another id, less than 100 ms apart."""
        if not what_hash or at_state not in ("ok", "naive"):
            return None
        short_id = natural_id[:_ID_IN_STATE]
        for other_hash, other_ms, other_id, other_line in reversed(self._recent):
            if other_hash == what_hash and other_id != short_id and abs(other_ms - at_ms) < _HOOK_WINDOW_MS:
                return Fault(
                    code="double_hook",
                    severity=Severity.WARNING,
                    message=f"The same text as line {other_line}, {abs(other_ms - at_ms)} ms apart: a hook ran twice, agents are told it twice",
                    line=line.number,
                    byte=line.offset,
                    subject_type="decision",
                    subject_id=natural_id,
                    key=line.sha256[:8].hex(),
                    details={"other": other_id, "other_line": other_line},
                    repair_mode=RepairMode.REVIEW,
                    repair_action="merge_duplicates",
                )
        return None

    def _remember(self, what_hash: int, at_ms: int, natural_id: str, line_number: int) -> None:
        self._recent.append((what_hash, at_ms, natural_id[:_ID_IN_STATE], line_number))
        if len(self._met_hashes) > _MOST_MET:
            self._met_hashes = {entry[0] for entry in self._recent}
        self._met_hashes.add(what_hash)


def _name(given: str, clean: bool) -> str:
    """Give a name; a `clean` one is known to be storable, and only its length is looked at."""
    return given if clean and len(given) <= storable.NAME_LIMIT else storable.name(given)


def _names(value: dict[str, object], metadata: dict[str, object], clean: bool) -> tuple[str, ...]:
    """Give type, user, machine, session, project, category, source, scope and importance."""
    identity = mapping(value.get("identity"))
    given = (
        value.get("type", ""),
        identity.get("user_id", ""),
        identity.get("machine_id", ""),
        metadata.get("session_id", ""),
        metadata.get("project", ""),
        metadata.get("category", ""),
        metadata.get("source", ""),
        metadata.get("sharing_scope", ""),
        metadata.get("importance", ""),
    )
    if clean:
        try:
            if len("".join(given)) <= storable.NAME_LIMIT:  # type: ignore[arg-type]
                return given  # type: ignore[return-value]
        except TypeError:
            pass
    return tuple(map(storable.name, given))


def decision_text(value: dict[str, object], content: dict[str, object]) -> str:
    """Give every text of a decision that a person may search for, one after the other."""
    try:
        texts = [field if isinstance(field, str) else _joined(field) for field in content.values()]
        texts.append(_joined(value.get("entities")))
    except TypeError:
        texts = [*leaves(content), *strings(value.get("entities"))]
    return " ".join(texts)


def _joined(field: object) -> str:
    """Give the texts of a list; raises TypeError where it holds something else."""
    if isinstance(field, list):
        return " ".join(field)
    return " ".join(leaves(field)) if field else ""


def foreign_shape(value: dict[str, object]) -> str:
    """Name the tool's shape that an object has, or "unknown"."""
    return next((name for name, keys in _FOREIGN if keys <= value.keys()), "unknown")


def foreign_text(value: dict[str, object]) -> str:
    """Give the text that stands for an object of unknown shape."""
    given = [value[key] for key in _FOREIGN_TEXTS if value.get(key)]
    return next((text for text in given if isinstance(text, str)), storable.text(given[0]) if given else "")


def _last_line(line: int, standing: str, natural_id: str, known: bytes | int) -> tuple[int, str, int]:
    return line, standing, known if isinstance(known, int) else record_key(natural_id, known)


def _last_lines(kept: dict[str, Any]) -> list[LastLine]:
    """Read the lines of a state; one of an earlier version names only those that would stop the loader."""
    if "tail" in kept:
        return [LastLine(*entry) for entry in kept["tail"]]
    return [LastLine(line, SILENCING if line else RECORD, 0) for line in kept["slots"]]


def last_lines(state: str) -> tuple[LastLine, ...]:
    """Give the last lines that the loader sees, 40 at most, in the order of the file, from the state after its last line.

    The loader itself looks at the last 10 of them.
    """
    return tuple(_last_lines(json.loads(state))) if state else ()


def injection_silenced(state: str) -> tuple[int, ...]:
    """Give the lines that would make the context loader throw and tell nothing, from the state after a file's last line.

    The loader looks at the last 10 physical lines, empty ones left out, and throws at a record with text but without entities.
    """
    return tuple(line.line for line in last_lines(state)[-TOLD_LINES:] if line.standing == SILENCING)


SPEC: Final = FileSpec(path=PATH, record_type="decision", append_only=True, columns=columns.DECISION, reader=DecisionReader)
