"""Sorts what a store holds into what an export carries and what it has to leave out, and says why."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from stores.formats.base import LineClass
from stores.formats.phase_memory.aliases import Record
from stores.formats.phase_memory.exchange import Omitted
from stores.formats.phase_memory.layout import EVENTS, named_id
from stores.formats.phase_memory.reading import LogLine, RecordFile
from stores.formats.phase_memory.validity import has_unknown_version, wrong_field
from stores.formats.phase_memory.vocabulary import EVENT_VERSIONS

_TYPES: Final = ("node", "edge", "path")


class Exportable(NamedTuple):
    """What `exchange.export_graph` is given."""

    nodes: tuple[Record, ...]
    edges: tuple[Record, ...]
    paths: tuple[Record, ...]
    events: tuple[Record, ...]
    omitted: tuple[Omitted, ...]


def exportable(
    files: Iterable[tuple[str, RecordFile]],
    lines: Iterable[tuple[int, LogLine]],
    event_versions: Collection[str] = EVENT_VERSIONS,
) -> Exportable:
    """Sort record files, by their path, and lines of the event log, by their number. Of one id the file that counts is taken."""
    omitted: list[Omitted] = []
    found: dict[tuple[str, str], list[tuple[str, RecordFile]]] = {}
    for path, read in files:
        if read.record_type not in _TYPES:
            continue
        if read.refused:
            omitted.append(Omitted(path, None, "", read.refused))
        else:
            found.setdefault((read.record_type, read.id), []).append((path, read))
    records: dict[str, list[Record]] = {record_type: [] for record_type in _TYPES}
    for (record_type, record_id), group in found.items():
        group.sort(key=_rank)
        path, read = group[0]
        omitted += [Omitted(other, None, record_id, "duplicate") for other, _ in group[1:]]
        reason = _why_not(read)
        if reason:
            omitted.append(Omitted(path, None, record_id, reason))
        else:
            records[record_type].append(read.value)
    events, left_out = _events(lines, event_versions)
    return Exportable(tuple(records["node"]), tuple(records["edge"]), tuple(records["path"]), tuple(events), tuple(omitted + left_out))


def _rank(file: tuple[str, RecordFile]) -> tuple[bool, str]:
    """Put the file whose name fits its id first, then the first by name."""
    path, read = file
    return named_id(path) != read.id, path


def _why_not(read: RecordFile) -> str:
    if has_unknown_version(read.record_type, read.record):
        return "unknown_record_schema_version"
    return "invalid_record" if wrong_field(read.record_type, read.record) else ""


def _events(lines: Iterable[tuple[int, LogLine]], versions: Collection[str]) -> tuple[list[Record], list[Omitted]]:
    events: dict[str, Record] = {}
    omitted: list[Omitted] = []
    for number, line in lines:
        if line.line_class is LineClass.BLANK:
            continue
        version = line.record.get("schema_version")
        if line.refused:
            omitted.append(Omitted(EVENTS, number, "", line.refused))
        elif not isinstance(version, str) or version not in versions:
            omitted.append(Omitted(EVENTS, number, line.id, "unknown_event_schema_version"))
        elif line.id in events:
            omitted.append(Omitted(EVENTS, number, line.id, "duplicate"))
        else:
            events[line.id] = line.value
    return list(events.values()), omitted
