"""Whether a store's own audit log still says what was written into it (promises E2 and E3).

What cannot be told: that somebody who may write the log made its whole chain anew, unless memoryui knows a line that is missing then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from stores.formats.base import Line, LineClass
from stores.formats.canonical import digest
from stores.formats.phase_memory.reading import LogLine, read_log_line
from stores.health.phase_memory.audit_log import AuditLog

OURS: Final = "audit.memoryui-"
_BROKEN: Final = "audit_chain_broken"
_GAP: Final = "audit_sequence_gap"

Status = Literal["intact", "torn_tail", "altered", "gap", "truncated"]


class ChainReport(NamedTuple):
    """What a check of a store's audit log found."""

    status: Status
    """intact · torn_tail: the last line is cut off, as a crash leaves it · altered: a record does not follow the one above it · gap:
    records are missing in the middle · truncated: the newest that memoryui wrote are missing."""
    records: int
    ours: int
    """Records that bear the name of memoryui."""
    foreign: int
    """Records of other writers: nobody vouches for them, and they break no chain."""
    malformed: int
    """Lines that are no record: an append that was cut off and ended later leaves one."""
    first_bad: int | None
    """Number of the first line at which the chain does not hold."""
    missing: tuple[str, ...]
    """Records that memoryui wrote and that are not there."""


def check_chain(lines: Iterable[Line], known: Sequence[str] = ()) -> ChainReport:
    """Check an audit log line by line; `known` are the ids of records that memoryui wrote, in their order."""
    log, last = AuditLog(), None
    found: set[str] = set()
    bad: list[tuple[int, str]] = []
    previous: LogLine | None = None
    ours = foreign = malformed = 0
    for line in lines:
        log.extend([line])
        last = line
        read = read_log_line("audit", line)
        if read.line_class is LineClass.RECORD:
            found.add(read.id)
            ours += read.id.startswith(OURS)
            foreign += not read.id.startswith(OURS)
            if previous is not None and not _continues(read, previous):
                bad.append((line.number, _BROKEN))
            previous = read
        elif line.terminated and read.line_class is LineClass.REFUSED:
            malformed += 1
    torn = last is not None and not last.terminated and read_log_line("audit", last).line_class is not LineClass.RECORD
    missing = tuple(one for one in known if one not in found)
    bad += [(one.line or 0, one.code) for one in log.findings if one.code in (_BROKEN, _GAP)]
    gaps = {line for line, code in bad if code == _GAP}
    bad = [(line, code) for line, code in bad if code == _GAP or line not in gaps]
    first_bad, code = min(bad, default=(None, ""))
    return ChainReport(_status(code, missing, known, torn), ours + foreign, ours, foreign, malformed, first_bad, missing)


def _continues(read: LogLine, previous: LogLine) -> bool:
    """Say whether a record of ours names the record above it, as it does wherever that one has a place in the chain."""
    stated = read.record.get("previous_digest")
    return not (read.id.startswith(OURS) and isinstance(stated, str)) or stated == digest(previous.value)


def _status(code: str, missing: Sequence[str], known: Sequence[str], torn: bool) -> Status:
    if code == _BROKEN:
        return "altered"
    if code == _GAP:
        return "gap"
    if missing:
        return "truncated" if list(known[len(known) - len(missing) :]) == list(missing) else "gap"
    return "torn_tail" if torn else "intact"
