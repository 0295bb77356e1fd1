"""Reads `memory.json`: the entities and relations of the knowledge graph, one on each line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stores.formats import storable
from stores.formats.base import FileSpec, Line, Parsed, RepairMode, Severity
from stores.formats.causes import Cause
from stores.formats.javascript import TOO_DEEP
from stores.formats.orchestkit import columns
from stores.formats.orchestkit.graph_file import holds_graph
from stores.formats.orchestkit.judged import Judged, JudgedLineReader, Oddity, bare_title
from stores.formats.orchestkit.reading import DECISION_ID
from stores.formats.orchestkit.values import fields, items, leaves, mapping, parse_raw
from stores.formats.search_text import search_text

PATH: Final = "memory.json"
ENTITY: Final = "entity"
RELATION: Final = "relation"
FOREIGN: Final = "foreign"
_BOM: Final = b"\xef\xbb\xbf"
_ONE_OBJECT: Final = "A graph as one JSON object: the memory server finds nothing in it and overwrites it when it saves next; a drain or a replay writes it as lines"
_STOPS: Final = "with it in the file the memory server refuses to show agents the graph, or to search it"
_ENTITY: Final = ("type", "name", "entityType", "observations")
_RELATION: Final = ("type", "from", "to", "relationType")


@dataclass(frozen=True, slots=True)
class Observation:
    """One sentence about an entity."""

    text: str
    timestamp: str = ""


@dataclass(frozen=True, slots=True)
class GraphDetail:
    """Everything that one line of the graph says."""

    what: str = FOREIGN
    type: str = ""
    name: str = ""
    observations: tuple[Observation, ...] = ()
    start: str = ""
    end: str = ""
    other: tuple[tuple[str, str], ...] = ()


def what_is(item: dict[str, object]) -> str:
    """Say whether the memory server takes a line for an entity or a relation."""
    if item.get("type") == ENTITY and isinstance(item.get("name"), str):
        return ENTITY
    if item.get("type") == RELATION and isinstance(item.get("from"), str) and isinstance(item.get("to"), str):
        return RELATION
    return FOREIGN


def observation(value: object) -> Observation:
    """Read a sentence about an entity: a text, or an object with text and time as some servers write it."""
    said = mapping(value)
    if isinstance(said.get("text"), str):
        return Observation(storable.text(said["text"]), storable.text(said.get("timestamp")))
    return Observation(storable.text(value))


class GraphReader(JudgedLineReader):
    """Reads the lines of the graph. The server rewrites the file whole, without a last line break."""

    lost = "with it in the file the memory server offers agents no tool at all, or passes over it and drops it when it saves next"
    subject_type = "graph_entity"
    appended = False

    def record(self, line: Line, value: object, warnings: tuple[str, ...]) -> Parsed:
        """Read one line."""
        parsed = super().record(line, value, warnings)
        if line.data.startswith(_BOM):
            message = "A byte order mark: with it in the file the memory server offers agents no tool at all"
            parsed = parsed._replace(faults=(*parsed.faults, self.fault(line, "bom", Severity.ERROR, message)))
        return parsed

    def _refused(self, line: Line, cause: Cause) -> Parsed:
        """Refuse a line; one of a spread object is not to be set aside, since all of them together are the graph."""
        parsed = super()._refused(line, cause)
        if cause.code != "pretty_json":
            return parsed
        faults = [
            one._replace(
                message=f"{one.message}; a drain or a replay writes the graph as lines", repair_mode=RepairMode.MANUAL, repair_action=""
            )
            for one in parsed.faults
        ]
        return parsed._replace(faults=tuple(faults))

    def judge(self, value: object) -> Judged:
        """Read one entity or relation."""
        return judge_item(value)


def judge_item(value: object) -> Judged:
    """Say what the value of one line is taken for."""
    item = mapping(value)
    what = what_is(item)
    if what == ENTITY:
        return _entity(item)
    if what == RELATION:
        return _relation(item)
    start, end = item.get("name", item.get("from")), item.get("to")
    title = storable.title(next(iter(leaves(item)), "")) if item else bare_title(value)
    values = (what, storable.name(item.get("type")), title, storable.name(start), storable.name(end), 0, 0, "missing")
    return Judged(values, "", search_text(*leaves(value)) if value is not TOO_DEEP else "", _foreign(value))


def _foreign(value: object) -> tuple[Oddity, ...]:
    if value is TOO_DEEP:
        return ()
    if value is None:
        return (Oddity("not_object", Severity.ERROR, "A line that is null: with it the memory server offers agents no tool at all"),)
    if not isinstance(value, dict):
        return (Oddity("not_object", Severity.WARNING, "Valid JSON, but neither entity nor relation: the server drops it when it saves"),)
    if holds_graph(value):
        return (Oddity("graph_refused", Severity.ERROR, _ONE_OBJECT),)
    if value.get("type") in (ENTITY, RELATION):
        lacks = "a name" if value["type"] == ENTITY else "both ends"
        return (Oddity("graph_refused", Severity.ERROR, f"{str(value['type']).capitalize()} without {lacks}: {_STOPS}"),)
    return (Oddity("foreign_shape", Severity.INFO, "Neither entity nor relation: the memory server drops it when it saves"),)


def _entity(item: dict[str, object]) -> Judged:
    name = str(item["name"])
    said = [observation(one) for one in items(item.get("observations"))]
    title = name
    if DECISION_ID.match(name):
        title = next((one.text.removeprefix("What: ") for one in said if one.text.startswith("What: ")), name)
    values = (
        ENTITY,
        storable.name(item.get("entityType")),
        storable.title(title),
        storable.name(name),
        "",
        len(said),
        *_newest(said),
    )
    search = search_text(name, *leaves(item.get("entityType")), *(one.text for one in said))
    return Judged(values, storable.name(name), search, _refused_entity(item))


def _refused_entity(item: dict[str, object]) -> tuple[Oddity, ...]:
    listed = item.get("observations")
    if not isinstance(listed, list):
        wrong = "An entity without a list of observations"
    elif not all(isinstance(one, str) for one in listed):
        wrong = "Observations that are no texts"
    elif not isinstance(item.get("entityType"), str):
        wrong = "An entity without a type"
    else:
        return ()
    return (Oddity("graph_refused", Severity.ERROR, f"{wrong}: {_STOPS}; a drain or a replay writes it as it should be"),)


def _newest(said: list[Observation]) -> tuple[int, str]:
    """Give the newest time among the observations, of which the writer of queues notes one as a sentence."""
    times = [storable.moment(one.timestamp or one.text.removeprefix("Timestamp: ")) for one in said if _tells_time(one)]
    return max((time for time in times if time[1] in ("ok", "naive")), default=(0, "missing"))


def _tells_time(one: Observation) -> bool:
    return bool(one.timestamp) or one.text.startswith("Timestamp: ")


def _relation(item: dict[str, object]) -> Judged:
    start, end = str(item["from"]), str(item["to"])
    kind = item.get("relationType")
    type_name = kind if isinstance(kind, str) else storable.text(kind)
    values = (
        RELATION,
        storable.name(kind),
        storable.title(f"{start} {type_name} {end}"),
        storable.name(start),
        storable.name(end),
        0,
        0,
        "missing",
    )
    odd: tuple[Oddity, ...] = ()
    if not isinstance(kind, str):
        odd = (Oddity("graph_refused", Severity.ERROR, f"A relation without a type: {_STOPS}"),)
    return Judged(values, storable.name(f"{start}|{type_name}|{end}"), search_text(start, type_name, end), odd)


def graph_detail(raw: bytes) -> GraphDetail:
    """Take one line of the graph apart, given its bytes; nothing is raised."""
    item = mapping(parse_raw(raw).value)
    what = what_is(item)
    if what == ENTITY:
        said = item.get("observations")
        return GraphDetail(
            what=what,
            type=storable.text(item.get("entityType")),
            name=storable.text(item.get("name")),
            observations=tuple(map(observation, items(said))),
            other=fields(item, _ENTITY if isinstance(said, list) or said is None else _ENTITY[:-1]),
        )
    if what == RELATION:
        return GraphDetail(
            what=what,
            type=storable.text(item.get("relationType")),
            start=storable.text(item.get("from")),
            end=storable.text(item.get("to")),
            other=fields(item, _RELATION),
        )
    return GraphDetail(type=storable.text(item.get("type")), other=fields(item, ("type",)))


SPEC: Final = FileSpec(path=PATH, record_type="graph_entity", append_only=False, columns=columns.GRAPH_ITEM, reader=GraphReader)
