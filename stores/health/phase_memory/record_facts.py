"""What the rules need to know of one record file: small enough to be kept for every file of a large store."""

from __future__ import annotations

from typing import NamedTuple

from stores.formats.phase_memory.aliases import Record, field
from stores.formats.phase_memory.layout import FOLDERS
from stores.formats.phase_memory.reading import RecordFile, read_record
from stores.formats.phase_memory.validity import has_unknown_version, wrong_field
from stores.formats.phase_memory.values import items, mapping, reference, references, word
from stores.formats.phase_memory.vocabulary import (
    ASSUMED_PHASE,
    EDGE_KINDS,
    LIFECYCLE_STATES,
    NODE_KINDS,
    PATH_ENDS,
    PATH_STATES,
    PHASES,
)


class Oddity(NamedTuple):
    """Something wrong with a record by itself."""

    code: str
    key: str


class NodeRefs(NamedTuple):
    """What a node points at, and its phase."""

    phase: str
    superseded_by: str
    source_event_ids: tuple[str, ...]


class EdgeRefs(NamedTuple):
    """What an edge points at; archived ones may point at nothing."""

    source: str
    target: str
    archived: bool


class PathRefs(NamedTuple):
    """What a path points at; its events as they stand, doubles too."""

    parent: str
    merge_target: str
    summary_id: str
    event_ids: tuple[str, ...]


class ActivationRefs(NamedTuple):
    """What an activation points at."""

    node_ids: tuple[str, ...]


Refs = NodeRefs | EdgeRefs | PathRefs | ActivationRefs


class RecordFacts(NamedTuple):
    """One record file."""

    path: str
    record_type: str
    refused: str
    """"" or why the file cannot be read: a code of `reading`, `unreadable` or `not_regular`."""
    id: str
    digest: bytes
    """Of the parsed record, 32 bytes."""
    deterministic: bool
    oddities: tuple[Oddity, ...]
    """What is wrong with the record itself; told only of the file that stands for its id."""
    refs: Refs | None
    """None where the record is not interpreted: its id counts as present, nothing else of it is looked at."""


def record_facts(path: str, data: bytes) -> RecordFacts:
    """Read a record file, given its path in the store and its bytes."""
    return facts_of(path, read_record(FOLDERS[path.partition("/")[0]], data))


def unreadable(path: str, cause: str) -> RecordFacts:
    """Give the facts of a record file whose bytes nobody has: `unreadable`, `not_regular` or `too_large`."""
    return RecordFacts(path, FOLDERS[path.partition("/")[0]], cause, "", b"", True, (), None)


def facts_of(path: str, read: RecordFile) -> RecordFacts:
    """Give what the rules need to know of a file that was read."""
    if read.refused:
        return unreadable(path, read.refused)
    oddities, refs = _judged(read.record_type, read.record)
    return RecordFacts(path, read.record_type, "", read.id, read.digest, read.form is not None, oddities, refs)


def _judged(record_type: str, record: Record) -> tuple[tuple[Oddity, ...], Refs | None]:
    if has_unknown_version(record_type, record):
        return (Oddity("unknown_record_schema_version", word(record["schema_version"])),), None
    wrong = wrong_field(record_type, record)
    if wrong:
        return (Oddity("invalid_record", wrong),), None
    if record_type == "node":
        return _node(record)
    if record_type == "edge":
        return _edge(record)
    if record_type == "path":
        return _path(record)
    if record_type == "activation":
        return (), ActivationRefs(references(record["node_ids"]))
    return (), None


def _node(record: Record) -> tuple[tuple[Oddity, ...], Refs]:
    phase = record.get("phase")
    phase = ASSUMED_PHASE if phase is None else phase
    oddities = [*_unknown_kind(record["kind"], NODE_KINDS)]
    if phase not in PHASES:
        oddities.append(Oddity("invalid_phase", word(phase)))
    oddities += _odd_state("node", record)
    sources = references(mapping(record.get("provenance")).get("source_event_ids"))
    return tuple(oddities), NodeRefs(word(phase), reference(record.get("superseded_by")), sources)


def _edge(record: Record) -> tuple[tuple[Oddity, ...], Refs]:
    oddities = [*_unknown_kind(field("edge", record, "kind"), EDGE_KINDS), *_odd_state("edge", record)]
    source, target = reference(field("edge", record, "source")), reference(field("edge", record, "target"))
    return tuple(oddities), EdgeRefs(source, target, field("edge", record, "lifecycle_state") == "archived")


def _unknown_kind(kind: object, known: frozenset[str]) -> tuple[Oddity, ...]:
    return () if kind in known else (Oddity("unknown_kind", word(kind)),)


def _odd_state(record_type: str, record: Record) -> tuple[Oddity, ...]:
    state = field(record_type, record, "lifecycle_state")
    return () if state is None or state in LIFECYCLE_STATES else (Oddity("invalid_lifecycle_state", word(state)),)


def _path(record: Record) -> tuple[tuple[Oddity, ...], Refs]:
    state = word(record["state"])
    ends = {end: bool(field("path", record, name)) for end, name in PATH_ENDS.items()}
    agrees = state in PATH_STATES and all(there == (end == state) for end, there in ends.items())
    events = tuple([item for item in items(record["event_ids"]) if isinstance(item, str)])
    refs = PathRefs(
        reference(record.get("parent_path_id")),
        reference(field("path", record, "merge_target")),
        reference(field("path", record, "compacted_summary_id")),
        events,
    )
    return () if agrees else (Oddity("path_state_inconsistent", state),), refs
