"""What the rules need to know of `audit.jsonl`, taken up line by line as the log grows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from stores.formats.base import Line, LineClass
from stores.formats.canonical import digest
from stores.formats.phase_memory.aliases import Record
from stores.formats.phase_memory.layout import AUDIT
from stores.formats.phase_memory.reading import LogLine, read_log_line
from stores.formats.phase_memory.records import Audit, audit
from stores.formats.phase_memory.values import items, mapping, reference, word
from stores.formats.phase_memory.vocabulary import AUDIT_VERSION
from stores.health.phase_memory.findings import Finding, finding, said
from stores.health.phase_memory.log_lines import LineHashes, odd_line

ACKNOWLEDGE = "store.repair.acknowledge"


class Acknowledged(NamedTuple):
    """A line of a log that a person has looked at."""

    file: str
    line: int
    sha256: str


class Grown(NamedTuple):
    """What came with new lines, or went with a last line that was read again."""

    actions: bool
    nodes: set[str]
    """Nodes of which another digest is the last that was audited."""


class _Link(NamedTuple):
    """What the next line's place in the chain is compared with."""

    sequence: int
    digest: str


class _State(NamedTuple):
    """Everything that a line may change."""

    findings: int
    previous: _Link | None
    applied: frozenset[str]
    after: dict[str, str]
    acknowledged: frozenset[tuple[Acknowledged, str]]


class AuditLog:
    """The log so far. A last line without a line break is read, and read again when the log has grown."""

    def __init__(self) -> None:
        self.hashes = LineHashes()
        self.applied: set[str] = set()
        """Ids of the actions that were carried out."""
        self.after: dict[str, str] = {}
        """Node to the digest that its last audited change left."""
        self.findings: list[Finding] = []
        self._acknowledged: set[tuple[Acknowledged, str]] = set()
        """Each with the diagnostic that it is about, "" for all on the line."""
        self._previous: _Link | None = None
        self._tail: _State | None = None

    @property
    def lines(self) -> int:
        """How many lines were read, a last one without a line break too."""
        return len(self.hashes)

    def extend(self, lines: Iterable[Line]) -> Grown:
        """Read further lines; the first is the one after the last, or that one again if it had no line break."""
        applied, nodes = len(self.applied), set[str]()
        changed = False
        for line in lines:
            if self._tail is not None:
                nodes |= self._take_back(self._tail)
                changed = True
            if not line.terminated:
                self._tail = self._state()
            nodes |= self._take(line)
        return Grown(changed or len(self.applied) != applied, nodes)

    def is_acknowledged(self, found: Finding, sha256: str) -> bool:
        """Say whether somebody acknowledged a finding on a line, given the hash of the line as it is now."""
        if found.line is None or not sha256 or not self._acknowledged:
            return False
        line = Acknowledged(found.file, found.line, sha256)
        return (line, "") in self._acknowledged or (line, found.diagnostic_id) in self._acknowledged

    def _state(self) -> _State:
        return _State(len(self.findings), self._previous, frozenset(self.applied), dict(self.after), frozenset(self._acknowledged))

    def _take_back(self, state: _State) -> set[str]:
        changed = {node for node, after in self.after.items() if state.after.get(node) != after}
        del self.findings[state.findings :]
        self.hashes.drop_last()
        self._previous = state.previous
        self.applied, self.after, self._acknowledged = set(state.applied), state.after, set(state.acknowledged)
        self._tail = None
        return changed

    def _take(self, line: Line) -> set[str]:
        number = self.hashes.add(line.sha256)
        read = read_log_line("audit", line)
        odd = odd_line(AUDIT, "malformed_audit_line", number, line.sha256, line.terminated, read)
        if odd is not None:
            self.findings.append(odd)
        if read.line_class is not LineClass.RECORD:
            return set()
        record = read.record
        version = record.get("schema_version")
        if version != AUDIT_VERSION:
            named = "no schema version" if version is None else f"schema version {said(word(version))}, which is not known here"
            self._tell("unknown_audit_schema_version", line, read, f"Audit record {said(read.id)} has {named}")
            return set()
        entry = audit(read.value)
        self._follow_chain(line, read, record, entry)
        if entry.operation == ACKNOWLEDGE and entry.decision == "acknowledged" and not entry.dry_run:
            self._acknowledge(record, entry)
        return self._apply(number, line, read, entry) if entry.applied else set()

    def _follow_chain(self, line: Line, read: LogLine, record: Record, entry: Audit) -> None:
        """Compare with the record above; only neighbours that both carry a place in the chain are."""
        previous = self._previous
        self._previous = None
        if entry.sequence is None or "previous_digest" not in record:
            return
        self._previous = _Link(entry.sequence, digest(read.value))
        if previous is None:
            return
        if entry.sequence != previous.sequence + 1:
            message = f"Audit record {said(read.id)} has the number {entry.sequence}, the one above it {previous.sequence}"
            self._tell("audit_sequence_gap", line, read, message)
        elif record["previous_digest"] != previous.digest:
            message = f"Audit record {said(read.id)} does not continue the record above it: one of the two was changed"
            self._tell("audit_chain_broken", line, read, message)

    def _acknowledge(self, record: Record, entry: Audit) -> None:
        about = entry.subject_id if entry.subject_id.startswith("diag:") else ""
        for target in map(mapping, items(record.get("targets"))):
            number = target.get("line")
            if isinstance(number, int):
                line = Acknowledged(reference(target.get("file")), number, reference(target.get("sha256")))
                self._acknowledged.add((line, about))

    def _apply(self, number: int, line: Line, read: LogLine, entry: Audit) -> set[str]:
        if entry.subject_id:
            self.applied.add(entry.subject_id)
        changed = set()
        for target in entry.targets:
            if target.record_type == "node" and target.after_digest and self.after.get(target.id) != target.after_digest:
                self.after[target.id] = target.after_digest
                changed.add(target.id)
        if entry.requires_review and not entry.approved:
            message = f"Audit record {said(read.id)} says that an action was applied which needed a review, and names no approval"
            self._tell("unapproved_apply", line, read, message)
        return changed

    def _tell(self, code: str, line: Line, read: LogLine, message: str) -> None:
        details = {"sha256": line.sha256.hex()}
        self.findings.append(finding(code, AUDIT, message, line=line.number, subject=("audit", read.id), details=details))
