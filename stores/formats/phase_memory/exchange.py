"""Writes a store as one graph envelope and takes such an envelope apart again (docs/formats.md).

What goes out and comes in and goes out again is byte for byte the same, as long as nothing had to be left out on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple

from stores.formats import canonical, strict
from stores.formats.identifiers import is_usable
from stores.formats.phase_memory.aliases import ID_FIELD, Record, canonical_names, stated_id, unwrapped
from stores.formats.phase_memory.layout import may_be_created, path_for
from stores.formats.phase_memory.reading import read_record
from stores.formats.phase_memory.validity import has_unknown_version, wrong_field
from stores.formats.phase_memory.values import items, mapping
from stores.formats.phase_memory.vocabulary import EVENT_VERSION, GRAPH_VERSION, PHASES, RECORD_VERSIONS, STORE_VERSION

_CONTRACT: Final = {
    "node": ("id", "kind", "text", "phase", "namespace", "confidence", "freshness", "provenance", "policy", "source_spans"),
    "edge": ("id", "kind", "source", "target", "provenance"),
}
"""What stands at the top of an exported record; everything else is under `metadata.phase_memory`."""
_OURS: Final = "phase_memory"
_METADATA: Final = "metadata"
_VERSION: Final = "schema_version"
_OWN_VERSION: Final = ("path", "profile")
"""Records that keep the version which they name; others get that of new records."""


class Omitted(NamedTuple):
    """Something that could not be exported."""

    file: str
    line: int | None
    id: str
    reason: str
    """A code: why it cannot be read, or `duplicate`."""


class NewRecord(NamedTuple):
    """A record file that an import makes."""

    record_type: str
    id: str
    path: str
    data: bytes
    durable: bool
    """Makes durable memory, which a person has to decide on (ruling 17)."""
    given: Record
    """What the envelope says."""


class NewEvent(NamedTuple):
    """A line that an import appends."""

    id: str
    line: bytes
    given: Record
    """What the envelope says."""


class Given(NamedTuple):
    """A record as an envelope has it, or a profile as its file has it."""

    record_type: str
    id: str
    record: Record


class NotTaken(ValueError):
    """A record that no import takes; the reason is `invalid` or `bad_id`."""


class NotImported(NamedTuple):
    """A record of the envelope that is not taken."""

    record_type: str
    id: str
    """"" when it has none."""
    reason: str
    """conflict (another content is there), name_taken, repeated (the envelope has the id twice), bad_id, invalid."""


class ImportPlan(NamedTuple):
    """What an import would do; nothing that exists is ever written over."""

    records: tuple[NewRecord, ...] = ()
    events: tuple[NewEvent, ...] = ()
    same: int = 0
    """Records and events that the store has already, with the same content."""
    not_imported: tuple[NotImported, ...] = ()
    conflicts: tuple[Given, ...] = ()
    """Of what is not taken: the records in whose place the store has another content, and which a person may put there."""
    refused: str = ""
    """Why the envelope as a whole cannot be taken: a code of samples/hostile/INDEX.md rule 3, or `not_a_graph`."""


def export_graph(
    graph_id: str,
    *,
    nodes: Iterable[Record],
    edges: Iterable[Record],
    events: Iterable[Record],
    paths: Iterable[Record],
    omitted: Iterable[Omitted] = (),
) -> bytes:
    """Write the envelope. The records are those that count: readable, of a known version, the first of each id.

    Events come in the order of the log. `omitted` are all others, for the list in the envelope.
    """
    metadata: Record = {
        "exported_from": STORE_VERSION,
        "paths": _sorted("path", (canonical_names("path", path) for path in paths)),
    }
    left_out = [one._asdict() for one in sorted(omitted, key=lambda one: (one.file, one.line or 0, one.id, one.reason))]
    if left_out:
        metadata["omitted"] = left_out
    envelope = {
        _VERSION: GRAPH_VERSION,
        "id": graph_id,
        "nodes": _sorted("node", (exported("node", node) for node in nodes)),
        "edges": _sorted("edge", (exported("edge", edge) for edge in edges)),
        "events": [_without_version(canonical_names("event", event)) for event in events],
        _METADATA: metadata,
    }
    return canonical.pretty(envelope)


def _sorted(record_type: str, records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda record: str(record[ID_FIELD[record_type]]))


def _without_version(record: Record) -> Record:
    return {name: value for name, value in record.items() if name != _VERSION}


def exported(record_type: str, value: Record) -> Record:
    """Give a node or an edge as the contract has it.

    What the contract does not name goes to `metadata.phase_memory`, and there under `metadata` what of the record's own metadata
    would be in the way of that or could not be told from its absence.
    """
    record = canonical_names(record_type, value)
    own = {name: item for name, item in record.items() if name not in (*_CONTRACT[record_type], _METADATA, _VERSION)}
    result = {name: record[name] for name in _CONTRACT[record_type] if name in record}
    if _METADATA not in record:
        return {**result, _METADATA: {_OURS: own}} if own else result
    metadata = record[_METADATA]
    if not own and (not isinstance(metadata, dict) or _OURS not in metadata):
        return {**result, _METADATA: metadata}
    if not isinstance(metadata, dict):
        return {**result, _METADATA: {_OURS: {**own, _METADATA: metadata}}}
    if not metadata or _OURS in metadata:
        own[_METADATA] = {name: item for name, item in metadata.items() if name == _OURS}
    return {**result, _METADATA: {**{name: item for name, item in metadata.items() if name != _OURS}, _OURS: own}}


def imported(record_type: str, value: Record) -> Record:
    """Give the record that was exported so: the inverse of `exported`, with the version that new records have."""
    record = canonical_names(record_type, value)
    record.pop(_VERSION, None)
    metadata = record.get(_METADATA)
    if isinstance(metadata, dict) and isinstance(metadata.get(_OURS), dict):
        own = dict(metadata[_OURS])
        kept: object = {name: item for name, item in metadata.items() if name != _OURS}
        if _METADATA in own:
            hidden = own.pop(_METADATA)
            kept = {**mapping(kept), **hidden} if isinstance(hidden, dict) else hidden
            record[_METADATA] = kept
        elif kept:
            record[_METADATA] = kept
        else:
            del record[_METADATA]
        own.pop(_VERSION, None)
        record = {**own, **record}
    return {**record, _VERSION: RECORD_VERSIONS[record_type]}


def import_graph(
    data: bytes,
    *,
    find: Callable[[str, str], Record | None],
    taken: Collection[str] | Callable[[str], bool] = (),
    unreadable: Callable[[str, str], bool] | None = None,
) -> ImportPlan:
    """Say what importing an envelope's bytes would write; nothing is raised.

    `find` gives the record of a type (node, edge, path, event) and id that the store has; `taken` the paths of its files, or
    whether there is one; `unreadable` says that an id is there and its record is not interpreted, which counts as another content.
    """
    judged = strict.judge(data.strip(b" \t\r\n"), needs_id=False, knows_schema=_every_version, find_id=_no_id)
    if judged.refused:
        return ImportPlan(refused=judged.refused)
    envelope = judged.value
    metadata = mapping(envelope.get(_METADATA))
    lists = [envelope.get("nodes"), envelope.get("edges"), envelope.get("events"), metadata.get("paths")]
    if envelope.get(_VERSION) != GRAPH_VERSION or not all(one is None or isinstance(one, list) for one in lists):
        return ImportPlan(refused="not_a_graph")
    is_taken = taken if callable(taken) else frozenset(taken).__contains__
    planner = _Planner(find, is_taken, unreadable or (lambda record_type, record_id: False))
    for record_type, given in zip(("node", "edge", "event", "path"), lists, strict=True):
        for value in items(given):
            planner.take(record_type, value)
    return ImportPlan(tuple(planner.records), tuple(planner.events), planner.same, tuple(planner.not_imported), tuple(planner.conflicts))


def import_profile(data: bytes, *, find: Callable[[str, str], Record | None], taken: Callable[[str], bool]) -> ImportPlan:
    """Say what importing a profile's bytes would write, as `import_graph` does; a profile comes in as it is."""
    read = read_record("profile", data)
    if read.refused:
        return ImportPlan(refused=read.refused)
    if has_unknown_version("profile", read.record):
        return ImportPlan(refused="not_a_profile")
    record = restored("profile", read.record)
    there = find("profile", read.id)
    if there is not None and canonical.canonical({**unwrapped("profile", there), _VERSION: record[_VERSION]}) == canonical.canonical(
        record
    ):
        return ImportPlan(same=1)
    reason = "conflict" if there is not None else "" if may_be_created(read.id) else "bad_id"
    path = path_for("profile", read.id)
    reason = reason or ("name_taken" if taken(path) else "")
    if reason:
        conflicts = (Given("profile", read.id, read.record),) if reason == "conflict" else ()
        return ImportPlan(not_imported=(NotImported("profile", read.id, reason),), conflicts=conflicts)
    return ImportPlan(records=(NewRecord("profile", read.id, path, canonical.pretty(record), durable=False, given=read.record),))


def take_in(record_type: str, value: object) -> Given:
    """Give a record of an envelope, or a profile, with the content that a store is to have of it; raises NotTaken.

    That is all that can be asked of it without knowing the store: whoever takes records in from elsewhere asks it too.
    """
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise NotTaken("invalid")
    record_id = stated_id(record_type, value)
    if not isinstance(record_id, str) or not is_usable(record_id):
        raise NotTaken("bad_id")
    record = restored(record_type, value)
    if wrong_field(record_type, record) or (record_type in _OWN_VERSION and has_unknown_version(record_type, record)):
        raise NotTaken("invalid")
    return Given(record_type, record_id, record)


def restored(record_type: str, value: Record) -> Record:
    """Give what a store holds of a record of an envelope, or of a profile."""
    if record_type == "event":
        return {**_without_version(canonical_names("event", value)), _VERSION: EVENT_VERSION}
    if record_type == "profile":
        return {_VERSION: RECORD_VERSIONS["profile"], **unwrapped("profile", value)}
    return canonical_names("path", value) if record_type == "path" else imported(record_type, value)


def is_durable(record_type: str, record: Record) -> bool:
    """Say that a record is durable memory, also where nobody can tell its phase."""
    return record_type == "node" and record.get("phase") not in (None, *PHASES[:2])


def _every_version(given: object) -> bool:
    return True


def _no_id(record: Mapping[str, object]) -> object:
    return None


class _Planner:
    """Sorts what an envelope holds into new, same and not taken."""

    def __init__(
        self, find: Callable[[str, str], Record | None], taken: Callable[[str], bool], unreadable: Callable[[str, str], bool]
    ) -> None:
        self.records: list[NewRecord] = []
        self.events: list[NewEvent] = []
        self.not_imported: list[NotImported] = []
        self.conflicts: list[Given] = []
        self.same = 0
        self._find = find
        self._taken = taken
        self._unreadable = unreadable
        self._seen: set[tuple[str, str]] = set()

    def take(self, record_type: str, value: object) -> None:
        """Look at one record of the envelope."""
        try:
            given = take_in(record_type, value)
        except NotTaken as refused:
            stated = stated_id(record_type, value) if isinstance(value, dict) else None
            self.not_imported.append(NotImported(record_type, stated if isinstance(stated, str) else "", str(refused)))
            return
        _, record_id, record = given
        there = self._find(record_type, record_id)
        reason = self._why_not(record_type, record_id, is_there=there is not None)
        if reason not in ("repeated", "bad_id", "name_taken"):
            self._seen.add((record_type, record_id))
        if not reason and there is not None and _content(record_type, there) != _content(record_type, record):
            reason = "conflict"
        if reason:
            self.not_imported.append(NotImported(record_type, record_id, reason))
            if reason == "conflict" and record_type != "event":
                self.conflicts.append(Given(record_type, record_id, mapping(value)))
        elif there is not None:
            self.same += 1
        elif record_type == "event":
            self.events.append(NewEvent(record_id, canonical.log_line(record), mapping(value)))
        else:
            path, data = path_for(record_type, record_id), canonical.pretty(record)
            self.records.append(NewRecord(record_type, record_id, path, data, is_durable(record_type, record), mapping(value)))

    def _why_not(self, record_type: str, record_id: str, *, is_there: bool) -> str:
        if (record_type, record_id) in self._seen:
            return "repeated"
        if self._unreadable(record_type, record_id):
            return "conflict"
        if record_type == "event" or is_there:
            return ""
        if not may_be_created(record_id):
            return "bad_id"
        return "name_taken" if self._taken(path_for(record_type, record_id)) else ""


def _content(record_type: str, value: Record) -> bytes:
    """Give what tells two records of one id apart: what an export would say of them."""
    if record_type in _CONTRACT:
        return canonical.canonical(exported(record_type, value))
    return canonical.canonical(_without_version(canonical_names(record_type, value)))
