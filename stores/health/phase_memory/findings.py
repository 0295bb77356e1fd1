"""One thing that is wrong with a phase-memory store, as every list of them says it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

from stores.formats import storable, visible
from stores.formats.base import RepairMode, Severity
from stores.formats.canonical import canonical
from stores.health.phase_memory.codes import CODES


class Finding(NamedTuple):
    """Something wrong at a place. The first five fields are its identity."""

    code: str
    file: str
    line: int | None
    subject_id: str | None
    key: str | None
    """Tells two findings on one subject apart."""
    severity: Severity
    message: str
    subject_type: str
    """A type of record, `line`, `file` or `store`."""
    details: Mapping[str, object]
    """JSON-able: `cause` of a refusal (ruling 23), `sha256` of the raw line of a log."""
    pending: bool
    """A torn last line that may still grow (ruling 24)."""

    @property
    def identity(self) -> tuple[str, str, int | None, str | None, str | None]:
        """What makes it the same finding after another check."""
        return self[:5]

    @property
    def diagnostic_id(self) -> str:
        """A short name that stays: lines of append-only logs never move."""
        return f"diag:{sha256(canonical(list(self.identity))).hexdigest()[:16]}"

    @property
    def repair_mode(self) -> RepairMode:
        """Who may mend it."""
        return CODES[self.code].mode

    @property
    def repair_action(self) -> str:
        """The verb that mends it, "" where none can be proposed."""
        return CODES[self.code].action

    @property
    def repair_summary(self) -> str:
        """What the repair does."""
        return CODES[self.code].repair

    @property
    def sort_key(self) -> tuple[str, int, str, str, str]:
        """Lists are sorted by place, then by code and subject."""
        return self.file, self.line or 0, self.code, self.subject_id or "", self.key or ""

    def document(self, acknowledged: bool = False) -> dict[str, object]:
        """Give it as the diagnostic record of docs/formats.md."""
        return {
            "diagnostic_id": self.diagnostic_id,
            "code": self.code,
            "severity": str(self.severity),
            "message": self.message,
            "location": {"file": self.file, "line": self.line},
            "subject": {"type": self.subject_type, "id": self.subject_id},
            "key": self.key,
            "details": dict(self.details),
            "repair": {"mode": str(self.repair_mode), "action": self.repair_action, "summary": self.repair_summary},
            "acknowledged": acknowledged,
        }


def finding(
    code: str,
    file: str,
    message: str,
    *,
    line: int | None = None,
    subject: tuple[str, str | None] = ("file", None),
    key: str | None = None,
    severity: Severity | None = None,
    details: Mapping[str, object] | None = None,
    pending: bool = False,
) -> Finding:
    """Make a finding; `subject` is its type and id."""
    subject_type, subject_id = subject
    used = CODES[code].severity if severity is None else severity
    return Finding(code, file, line, subject_id, key, used, message, subject_type, details or {}, pending)


def said(given: str) -> str:
    """Give an id as a message may hold it: short, on one line, nothing unseen."""
    return visible.one_line(storable.name(given))
