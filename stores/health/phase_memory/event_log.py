"""What the rules need to know of `events.jsonl`, taken up line by line as the log grows."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from stores.formats import storable
from stores.formats.base import Line, LineClass, Severity
from stores.formats.canonical import digest_bytes
from stores.formats.phase_memory.aliases import Record, field
from stores.formats.phase_memory.layout import EVENTS
from stores.formats.phase_memory.reading import LogLine, read_log_line
from stores.formats.phase_memory.values import reference, word
from stores.formats.phase_memory.vocabulary import EVENT_KINDS, EVENT_VERSIONS
from stores.health.phase_memory.findings import Finding, finding, said
from stores.health.phase_memory.log_lines import LineHashes, odd_line

_IDENTITY: Final = 16
"""Bytes of a record's digest that are kept to tell a repetition from another event of the same id."""


class Grown(NamedTuple):
    """What came with new lines, and what went with a last line that was read again."""

    ids: set[str]
    paths: set[str]
    actions: bool
    lost: set[str]
    """Ids that no line has any more."""


class _Taken(NamedTuple):
    """What a line added, so that it can be taken back."""

    id: str = ""
    path_id: str = ""
    action_id: str = ""
    late: bool = False


class EventLog:
    """The log so far. A last line without a line break is read, and read again when the log has grown."""

    def __init__(self, versions: Collection[str] = EVENT_VERSIONS) -> None:
        self.versions = frozenset(versions)
        self.hashes = LineHashes()
        self.positions: dict[str, int] = {}
        """Line of the first event of each id, also of those that are not interpreted."""
        self.by_path: dict[str, list[str]] = {}
        """Ids of the interpreted events that name a path."""
        self.by_action: dict[str, list[str]] = {}
        """Ids of the events that an apply appended."""
        self.findings: list[Finding] = []
        """What is wrong with lines by themselves or among each other."""
        self._identities = bytearray()
        self._uninterpreted: set[str] = set()
        self._late: dict[str, int] = {}
        """Line of an interpreted event whose id an uninterpreted one had first."""
        self._newest_ms: int | None = None
        self._names: dict[str, str] = {}
        self._tail: tuple[_Taken, int, int | None] | None = None

    @property
    def lines(self) -> int:
        """How many lines were read, a last one without a line break too."""
        return len(self.hashes)

    def line_of(self, event_id: str) -> int:
        """Give the line of the interpreted event of an id."""
        return self._late.get(event_id) or self.positions[event_id]

    def is_event(self, event_id: str) -> bool:
        """Say whether an interpreted event has the id."""
        return event_id in self._late or (event_id in self.positions and event_id not in self._uninterpreted)

    def extend(self, lines: Iterable[Line]) -> Grown:
        """Read further lines; the first is the one after the last, or that one again if it had no line break."""
        grown = Grown(set(), set(), False, set())
        actions = False
        for line in lines:
            if self._tail is not None:
                actions |= self._take_back(grown, *self._tail)
            before = len(self.findings), self._newest_ms
            taken = self._take(line)
            if taken.id:
                grown.ids.add(taken.id)
            if taken.path_id:
                grown.paths.add(taken.path_id)
            actions |= bool(taken.action_id)
            if not line.terminated:
                self._tail = taken, *before
        grown.lost.difference_update(self.positions)
        return grown._replace(actions=actions)

    def _take_back(self, grown: Grown, taken: _Taken, findings: int, newest_ms: int | None) -> bool:
        self._tail, self._newest_ms = None, newest_ms
        del self.findings[findings:]
        self.hashes.drop_last()
        del self._identities[-_IDENTITY:]
        if taken.late:
            del self._late[taken.id]
        elif taken.id:
            del self.positions[taken.id]
            self._uninterpreted.discard(taken.id)
            grown.lost.add(taken.id)
        for index, key in ((self.by_path, taken.path_id), (self.by_action, taken.action_id)):
            if key:
                index[key].pop()
                if not index[key]:
                    del index[key]
        if taken.path_id:
            grown.paths.add(taken.path_id)
        return bool(taken.action_id)

    def _take(self, line: Line) -> _Taken:
        number = self.hashes.add(line)
        self._identities += bytes(_IDENTITY)
        read = read_log_line("event", line)
        odd = odd_line(EVENTS, "malformed_event_line", line, read)
        if odd is not None:
            self.findings.append(odd)
        if read.line_class is not LineClass.RECORD:
            return _Taken()
        record = read.record
        if record.get("schema_version") not in self.versions if isinstance(record.get("schema_version"), str) else True:
            return self._unknown(number, line, read, record.get("schema_version"))
        return self._event(number, line, read, record)

    def _unknown(self, number: int, line: Line, read: LogLine, version: object) -> _Taken:
        named = "no schema version" if version is None else f"schema version {said(word(version))}, which is not known here"
        self._tell("unknown_event_schema_version", number, line, read.id, f"Event {said(read.id)} has {named}")
        if read.id in self.positions:
            return _Taken()
        self.positions[read.id] = number
        self._uninterpreted.add(read.id)
        return _Taken(read.id)

    def _event(self, number: int, line: Line, read: LogLine, record: Record) -> _Taken:
        identity = digest_bytes(read.value)[:_IDENTITY]
        self._identities[-_IDENTITY:] = identity
        if self.is_event(read.id):
            first = self.line_of(read.id)
            same = self._identities[(first - 1) * _IDENTITY : first * _IDENTITY] == identity
            key, severity = ("identical", Severity.INFO) if same else ("different", Severity.ERROR)
            words = "repeats" if same else "has the id of another event,"
            message = f"Event {said(read.id)} {words} line {first:,}: the first one counts"
            self._tell("duplicate_event_id", number, line, read.id, message, key, severity)
            return _Taken()
        late = read.id in self.positions
        (self._late if late else self.positions)[read.id] = number
        kind = field("event", record, "kind")
        if kind not in EVENT_KINDS if isinstance(kind, str) else True:
            named = "no kind" if kind is None else f"the kind {said(word(kind))}, which is none of the known ones"
            key_of_kind = None if kind is None else word(kind)
            self._tell("unknown_kind", number, line, read.id, f"Event {said(read.id)} has {named}", key_of_kind)
        self._compare_time(number, line, read.id, record)
        path_id, action_id = reference(record.get("path_id")), reference(record.get("action_id"))
        if path_id:
            path_id = self._names.setdefault(path_id, path_id)
            self.by_path.setdefault(path_id, []).append(read.id)
        if kind == "policy_decision":
            action_id = ""
        if action_id:
            self.by_action.setdefault(action_id, []).append(read.id)
        return _Taken(read.id, path_id, action_id, late=late)

    def _compare_time(self, number: int, line: Line, event_id: str, record: Record) -> None:
        ms, state = storable.moment(field("event", record, "timestamp"))
        if state not in ("ok", "naive"):
            return
        if self._newest_ms is not None and ms < self._newest_ms:
            message = f"Event {said(event_id)} is older than an event above it"
            self._tell("event_timestamp_regression", number, line, event_id, message)
            return
        self._newest_ms = ms

    def _tell(
        self,
        code: str,
        number: int,
        line: Line,
        event_id: str,
        message: str,
        key: str | None = None,
        severity: Severity | None = None,
    ) -> None:
        details = {"sha256": line.sha256.hex()}
        self.findings.append(
            finding(code, EVENTS, message, line=number, subject=("event", event_id), key=key, severity=severity, details=details)
        )
