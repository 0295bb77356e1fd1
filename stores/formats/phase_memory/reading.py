"""Reads the files of a phase-memory store strictly: one record a file, one record a line (ruling 23)."""

from __future__ import annotations

import re
from functools import partial
from typing import Final, NamedTuple

from stores.formats import jsonfile, strict
from stores.formats.base import Line, LineClass
from stores.formats.canonical import Form, digest_bytes, form_of, plain_file, pretty
from stores.formats.identifiers import is_usable
from stores.formats.phase_memory.aliases import Record, stated_id, unwrapped
from stores.formats.phase_memory.vocabulary import STORE_VERSION

LONGEST_ID: Final = 200
_SEPARATOR: Final = re.compile(r"[/\\]")
_BLANKS: Final = b" \t\r"


class RecordFile(NamedTuple):
    """One record file, judged."""

    record_type: str
    refused: str
    """"" or the code under which it is refused: a code of samples/hostile/INDEX.md rule 3, `empty` or `too_large`."""
    id: str
    value: Record
    """What the file says, untouched."""
    form: Form | None
    """None when the bytes are in none of the deterministic forms."""
    flags: tuple[str, ...]
    digest: bytes = b""
    """The 32 bytes of the record's digest; b"" of one that is refused."""

    @property
    def record(self) -> Record:
        """What the file says, without a wrapper."""
        return unwrapped(self.record_type, self.value)


class LogLine(NamedTuple):
    """One line of a log, judged."""

    record_type: str
    line_class: LineClass
    refused: str
    """"" or the code under which it is refused."""
    salvageable: int
    """Whole records that a person may rescue from a refused line."""
    id: str
    value: Record
    flags: tuple[str, ...]

    @property
    def record(self) -> Record:
        """What the line says, without a wrapper."""
        return unwrapped(self.record_type, self.value)


class RootFile(NamedTuple):
    """What `phase-memory.json` says."""

    version: str
    """"" when the file is missing or cannot be read."""
    cause: str
    """Why there is no version: `missing`, `no_version` or a code of samples/hostile/INDEX.md rule 3."""

    @property
    def supported(self) -> bool:
        """Whether the store is one that is read and written."""
        return self.version == STORE_VERSION


_FIND_ID: Final = {
    record_type: partial(stated_id, record_type) for record_type in ("profile", "node", "edge", "path", "activation", "event", "audit")
}


def _every_version(given: object) -> bool:
    return True


def _no_id(record: Record) -> object:
    return None


def read_record(record_type: str, data: bytes) -> RecordFile:
    """Judge a record file's bytes; nothing is raised.

    A missing id refuses the file as `bad_id`, and so do one that is too long for a file name and one that climbs out of a folder.
    """
    refused = ""
    if len(data) > jsonfile.SIZE_CAP:
        refused = "too_large"
    elif not data.strip(b" \t\r\n"):
        refused = "empty"
    if refused:
        return RecordFile(record_type, refused, "", {}, None, ())
    plain = plain_file(data) if strict.is_surely_shallow(data) else None
    said = None if plain is None else plain.value
    judged = strict.judge(data, knows_schema=_every_version, find_id=_FIND_ID[record_type], plain=said)
    refused = "bad_json" if judged.refused == "glued" else judged.refused
    if not refused and not _is_record_id(judged.id):
        refused = "bad_id"
    if refused:
        return RecordFile(record_type, refused, "", {}, None, judged.flags)
    if plain is not None:
        return RecordFile(record_type, "", judged.id, judged.value, plain.form, judged.flags, plain.digest)
    return RecordFile(record_type, "", judged.id, judged.value, form_of(data, judged.value), judged.flags, digest_bytes(judged.value))


def _is_record_id(given: str) -> bool:
    return len(given) <= LONGEST_ID and not any(part in (".", "..") for part in _SEPARATOR.split(given))


def read_log_line(record_type: str, line: Line) -> LogLine:
    """Judge one line of a log; nothing is raised. A refused last line without a line break is pending."""
    if not line.oversize and not line.data.strip(_BLANKS):
        return LogLine(record_type, LineClass.BLANK, "", 0, "", {}, ())
    if line.oversize:
        return _refused(record_type, line, "line_too_long", 0, ())
    judged = strict.judge(line.data, knows_schema=_every_version, find_id=_FIND_ID[record_type])
    if judged.refused:
        code = "nul_run" if not line.data.strip(b"\0") else judged.refused
        return _refused(record_type, line, code if not line.terminated else judged.refused, judged.salvageable, judged.flags)
    return LogLine(record_type, LineClass.RECORD, "", 0, judged.id, judged.value, judged.flags)


def _refused(record_type: str, line: Line, code: str, salvageable: int, flags: tuple[str, ...]) -> LogLine:
    line_class = LineClass.REFUSED if line.terminated else LineClass.PENDING
    return LogLine(record_type, line_class, code, salvageable, "", {}, flags)


def new_root() -> bytes:
    """Give the bytes of the root file of a new store."""
    return pretty({"schema_version": STORE_VERSION})


def read_root(data: bytes | None) -> RootFile:
    """Read `phase-memory.json`, None for a file that is not there; nothing is raised."""
    if data is None:
        return RootFile("", "missing")
    judged = strict.judge(data.strip(b" \t\r\n"), needs_id=False, knows_schema=_every_version, find_id=_no_id)
    if judged.refused:
        return RootFile("", judged.refused if data.strip() else "empty")
    version = judged.value.get("schema_version")
    return RootFile(version, "") if is_usable(version) and isinstance(version, str) else RootFile("", "no_version")
