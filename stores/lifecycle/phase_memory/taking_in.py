"""Records from elsewhere, as a graph envelope has them, that a person lets into a store: made new, or in the place of what is there (ruling 17).

Their content is asked what an import asks of it, whoever proposes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from stores.formats.canonical import Form, digest, log_line
from stores.formats.phase_memory.aliases import Record
from stores.formats.phase_memory.exchange import Given, NotTaken, is_durable, take_in
from stores.formats.phase_memory.layout import EVENTS
from stores.formats.phase_memory.reading import read_record
from stores.formats.phase_memory.values import mapping
from stores.formats.phase_memory.vocabulary import ASSUMED_PHASE
from stores.lifecycle.actions import Action
from stores.lifecycle.changes import AppendLines
from stores.lifecycle.effects import EffectRefused, Find, TargetEffect, counted, found, said
from stores.lifecycle.phase_memory.editing import Editable, Edited, made, rewritten

CREATE: Final = "create_record"
REPLACE: Final = "replace_record"
APPEND: Final = "append_events"
RECORD: Final = "record"
"""The parameter that holds a record."""
_LISTED: Final = "events"
AFTER: Final = "after"
"""The parameter that says, by their type, which records have to be there first."""
STAYS: Final[Mapping[str, str]] = {
    CREATE: "What is made new stays: it is archived, never deleted.",
    APPEND: "A log keeps what was appended: a later event says otherwise.",
}
"""Why what a verb did cannot be taken back."""
_BRING: Final = frozenset({CREATE, REPLACE, APPEND})
_AWAITED: Final = frozenset({"node", "event"})
"""Paths wait for none: two of them may name each other."""
_NAMED: Final = 5


def created(action: Action, find: Find) -> tuple[list[Edited], str]:
    """Give the file of a record that is made; raises EffectRefused."""
    record_type, name, record = _content(action)
    if find(record_type, name) is not None:
        raise EffectRefused(f"There is a {record_type} {said(name)} already.")
    phase = f"{said(_phase(record))} " if record_type == "node" else ""
    return [made(record_type, name, record)], f"Makes the new {phase}{record_type} {said(name)}{_behind(action)}."


def replaced(action: Action, find: Find) -> tuple[list[Edited], str]:
    """Give a record's file with another content; raises EffectRefused."""
    record_type, name, record = _content(action)
    file = found(find, record_type, name)
    read = read_record(record_type, file.data)
    if read.refused or read.id != name:
        raise EffectRefused(f"{said(file.path)} cannot be read as {said(name)}.")
    was = read.record
    fields = sorted(one for one in was.keys() | record.keys() if not _is_same(was, record, one))
    if not fields:
        raise EffectRefused(f"{said(name)} has this content already.")
    listed = ", ".join(map(said, fields[:_NAMED])) + (", …" if len(fields) > _NAMED else "")
    sentence = f"Puts another content in the place of the {record_type} {said(name)}: {counted(len(fields), 'field')} ({listed})."
    if record_type == "node" and _phase(was) != _phase(record):
        sentence = f"{sentence[:-1]}; it becomes {said(_phase(record))} instead of {said(_phase(was))}."
    sentence = f"{sentence[:-1]}{_behind(action)}."
    return [rewritten(Editable(record_type, name, file, read.value, read.form or Form()), record)], sentence


def appended(action: Action) -> tuple[AppendLines, tuple[TargetEffect, ...], str]:
    """Give the lines that come at the end of the event log, in the order of the proposal; raises EffectRefused."""
    listed = action.parameters.get(_LISTED)
    if not isinstance(listed, list):
        raise EffectRefused(f"{action.verb.name} needs {_LISTED}, a list.")
    _check_awaited(action.parameters)
    events = [_taken("event", one) for one in listed]
    names = [one.id for one in events]
    if sorted(names) != list(action.target_ids):
        raise EffectRefused("The events are not those that it is about.")
    lines = AppendLines(EVENTS, tuple(log_line(one.record)[:-1] for one in events))
    targets = tuple(TargetEffect("event", one.id, None, digest(one.record)) for one in events)
    few = ", ".join(map(said, names[:2])) + (", …" if len(names) > 2 else "")
    return lines, targets, f"Appends {counted(len(names), 'event')} to the log as {'it is' if len(names) == 1 else 'they are'} ({few})."


def brings_durable(action: Action) -> bool:
    """Say that an action makes or leaves behind durable memory by what it brings with it; of a content that no import takes too."""
    if action.verb.name not in (CREATE, REPLACE):
        return False
    try:
        record_type, _, record = take_in(action.target_type, action.parameters.get(RECORD))
    except NotTaken:
        return True
    return is_durable(record_type, record)


def awaited(verb: str, parameters: Mapping[str, object]) -> list[tuple[str, str]]:
    """Give types and ids of the records that have to be there before an action can be applied."""
    given = mapping(parameters.get(AFTER)) if verb in _BRING else {}
    return [(name, one) for name, ids in given.items() if isinstance(ids, list) for one in ids if isinstance(one, str)]


def proposal(record: Given, after: Mapping[str, list[str]]) -> Record:
    """Give the parameters by which a record is proposed."""
    return {RECORD: record.record, **({AFTER: dict(after)} if after else {})}


def events_proposal(events: list[Record], after: Mapping[str, list[str]]) -> Record:
    """Give the parameters by which events are proposed."""
    return {_LISTED: events, **({AFTER: dict(after)} if after else {})}


def _content(action: Action) -> Given:
    _check_awaited(action.parameters)
    given = _taken(action.target_type, action.parameters.get(RECORD))
    if given.id != action.target_ids[0]:
        raise EffectRefused("The record is not the one that it is about.")
    return given


def _taken(record_type: str, value: object) -> Given:
    try:
        return take_in(record_type, value)
    except NotTaken as refused:
        why = "its id cannot be used" if str(refused) == "bad_id" else "a field that it must have is missing or of the wrong type"
        raise EffectRefused(f"This is no {record_type} that could be taken: {why}.") from refused


def _behind(action: Action) -> str:
    names = [said(one) for _, one in awaited(action.verb.name, action.parameters)]
    return f", as soon as {' and '.join(names[:_NAMED])} {'is' if len(names) == 1 else 'are'} there" if names else ""


def _check_awaited(parameters: Mapping[str, object]) -> None:
    given = parameters.get(AFTER)
    if given is None:
        return
    if not isinstance(given, dict) or not given.keys() <= _AWAITED or not all(map(_is_id_list, given.values())):
        raise EffectRefused(f"{AFTER} lists ids of nodes and events.")


def _is_id_list(given: object) -> bool:
    return isinstance(given, list) and bool(given) and all(isinstance(one, str) and one for one in given)


def _phase(record: Mapping[str, object]) -> str:
    given = record.get("phase")
    return ASSUMED_PHASE if given is None else str(given)


def _is_same(was: Mapping[str, object], now: Mapping[str, object], name: str) -> bool:
    return name in was and name in now and digest(was[name]) == digest(now[name])


CHANGES: Final[Mapping[str, Callable[[Action, Find], tuple[list[Edited], str]]]] = {CREATE: created, REPLACE: replaced}
