"""What the rules need to know of `events.jsonl`, taken up line by line as the log grows."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from stores.formats.base import Line, LineClass, Severity
from stores.formats.phase_memory.event_facts import IDENTITY_BYTES, EventFacts, event_facts
from stores.formats.phase_memory.layout import EVENTS
from stores.formats.phase_memory.reading import read_log_line
from stores.formats.phase_memory.vocabulary import EVENT_KINDS, EVENT_VERSIONS
from stores.health.phase_memory.findings import Finding, finding, said
from stores.health.phase_memory.log_lines import LineHashes, odd_line

_NO_IDENTITY: Final = bytes(IDENTITY_BYTES)


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


_NOTHING: Final = _Taken()


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
        return self.take(event_facts(line, read_log_line("event", line)) for line in lines)

    def take(self, lines: Iterable[EventFacts]) -> Grown:
        """Take up further lines that were read, as `extend` does."""
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
            if taken.action_id:
                actions = True
            if not line.terminated:
                self._tail = taken, *before
        grown.lost.difference_update(self.positions)
        return grown._replace(actions=actions)

    def _take_back(self, grown: Grown, taken: _Taken, findings: int, newest_ms: int | None) -> bool:
        self._tail, self._newest_ms = None, newest_ms
        del self.findings[findings:]
        self.hashes.drop_last()
        del self._identities[-IDENTITY_BYTES:]
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

    def _take(self, line: EventFacts) -> _Taken:
        number = self.hashes.add(line.sha256)
        is_event = line.line_class is LineClass.RECORD
        if not (is_event and line.terminated):
            odd = odd_line(EVENTS, "malformed_event_line", number, line.sha256, line.terminated, line)
            if odd is not None:
                self.findings.append(odd)
        if not is_event:
            self._identities += _NO_IDENTITY
            return _NOTHING
        if not line.is_version_text or line.version not in self.versions:
            self._identities += _NO_IDENTITY
            return self._unknown(number, line)
        self._identities += line.identity
        return self._event(number, line)

    def _unknown(self, number: int, line: EventFacts) -> _Taken:
        version = line.version
        named = "no schema version" if version is None else f"schema version {said(version)}, which is not known here"
        self._tell("unknown_event_schema_version", number, line, f"Event {said(line.id)} has {named}")
        if line.id in self.positions:
            return _NOTHING
        self.positions[line.id] = number
        self._uninterpreted.add(line.id)
        return _Taken(line.id)

    def _event(self, number: int, line: EventFacts) -> _Taken:
        event_id = line.id
        late = event_id in self.positions
        if late and self.is_event(event_id):
            first = self.line_of(event_id)
            same = self._identities[(first - 1) * IDENTITY_BYTES : first * IDENTITY_BYTES] == line.identity
            key, severity = ("identical", Severity.INFO) if same else ("different", Severity.ERROR)
            words = "repeats" if same else "has the id of another event,"
            message = f"Event {said(event_id)} {words} line {first:,}: the first one counts"
            self._tell("duplicate_event_id", number, line, message, key, severity)
            return _NOTHING
        (self._late if late else self.positions)[event_id] = number
        if line.kind not in EVENT_KINDS:
            named = "no kind" if line.kind is None else f"the kind {said(line.kind)}, which is none of the known ones"
            self._tell("unknown_kind", number, line, f"Event {said(event_id)} has {named}", line.kind)
        if line.ms is not None:
            if self._newest_ms is not None and line.ms < self._newest_ms:
                message = f"Event {said(event_id)} is older than an event above it"
                self._tell("event_timestamp_regression", number, line, message)
            else:
                self._newest_ms = line.ms
        path_id, action_id = line.path_id, "" if line.kind == "policy_decision" else line.action_id
        if path_id:
            path_id = self._names.setdefault(path_id, path_id)
            self.by_path.setdefault(path_id, []).append(event_id)
        if action_id:
            self.by_action.setdefault(action_id, []).append(event_id)
        return _Taken(event_id, path_id, action_id, late)

    def _tell(
        self, code: str, number: int, line: EventFacts, message: str, key: str | None = None, severity: Severity | None = None
    ) -> None:
        details = {"sha256": line.sha256.hex()}
        self.findings.append(
            finding(code, EVENTS, message, line=number, subject=("event", line.id), key=key, severity=severity, details=details)
        )
