"""The description of a phase-memory store: its files, how they are read, and how it is recognised."""

from __future__ import annotations

from typing import ClassVar, Final

from stores.formats import storable
from stores.formats.base import FileSpec, Kind, Line, LineClass, Parsed
from stores.formats.phase_memory import columns
from stores.formats.phase_memory.event_facts import EventFacts, event_facts
from stores.formats.phase_memory.layout import AUDIT, EVENTS, FOLDERS, ROOT_FILE
from stores.formats.phase_memory.mirrored import MIRRORS
from stores.formats.phase_memory.reading import LogLine, read_log_line, read_record


class _LogReader:
    """Reads the lines of one of the two logs. What is wrong with them is told by the rules of the whole store, not line by line."""

    record_type: ClassVar[str]

    def __init__(self, state: str = "") -> None:
        """No line of such a log depends on another, so there is no state."""

    def state(self) -> str:
        """Give the state: none."""
        return ""

    def read(self, line: Line, last: bool = True) -> Parsed:
        """Read the next line."""
        read = read_log_line(self.record_type, line)
        facts = self._facts(line, read)
        if read.line_class is not LineClass.RECORD:
            return Parsed(read.line_class, None, "", "", (), facts=facts)
        mirrored = MIRRORS[self.record_type](read.value)
        return Parsed(LineClass.RECORD, mirrored.values, storable.name(read.id), mirrored.search, (), links=mirrored.links, facts=facts)

    def _facts(self, line: Line, read: LogLine) -> tuple[object, ...] | None:
        return None


class EventReader(_LogReader):
    """Reads `events.jsonl`."""

    record_type = "event"

    def _facts(self, line: Line, read: LogLine) -> EventFacts:
        return event_facts(line, read)


class AuditReader(_LogReader):
    """Reads `audit.jsonl`."""

    record_type = "audit"


class RecordReader:
    """Reads one record file, whole."""

    def __init__(self, path: str = "") -> None:
        self._record_type = FOLDERS[path.partition("/")[0]]

    def state(self) -> str:
        """Give the state: none."""
        return ""

    def read(self, line: Line, last: bool = True) -> Parsed:
        """Read the file's bytes."""
        read = read_record(self._record_type, line.data)
        if read.refused:
            return Parsed(LineClass.REFUSED, None, "", "", ())
        mirrored = MIRRORS[self._record_type](read.value)
        return Parsed(LineClass.RECORD, mirrored.values, storable.name(read.id), mirrored.search, ())


def recognises(folder: str, names: frozenset[str]) -> bool:
    """Say whether a folder, given by the names in it, is a phase-memory store, of whatever version."""
    return ROOT_FILE in names


_COLUMNS: Final = {
    "profile": columns.PROFILE,
    "node": columns.NODE,
    "edge": columns.EDGE,
    "path": columns.PATH,
    "activation": columns.ACTIVATION,
}


def _folder(path: str) -> FileSpec:
    record_type = FOLDERS[path]
    return FileSpec(
        path=path,
        record_type=record_type,
        append_only=False,
        columns=_COLUMNS[record_type],
        reader=RecordReader,
        whole=True,
        folder=True,
    )


KIND: Final = Kind(
    name="phase-memory",
    title="phase-memory",
    what="a folder with `phase-memory.json`",
    files=(
        *(_folder(path) for path in ("nodes", "edges", "paths", "activations", "profiles")),
        FileSpec(path=EVENTS, record_type="event", append_only=True, columns=columns.EVENT, reader=EventReader),
        FileSpec(path=AUDIT, record_type="audit", append_only=True, columns=columns.AUDIT, reader=AuditReader),
    ),
    recognises=recognises,
    expected=frozenset({*FOLDERS, EVENTS, AUDIT}),
)
