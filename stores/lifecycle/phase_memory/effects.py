"""What each verb of a phase-memory store writes: record files, and one event (docs/formats.md).

Every time in these bytes is when the action was planned, so that they are the same whenever it is applied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from stores.formats.canonical import Form
from stores.formats.jsonfile import read_strict_file
from stores.formats.phase_memory import path_changes
from stores.formats.phase_memory.aliases import Record, field
from stores.formats.phase_memory.layout import ENTRIES, EVENTS, FOLDERS
from stores.formats.phase_memory.path_changes import Occasion, PathChange, PathRefused
from stores.formats.phase_memory.vocabulary import ASSUMED_PHASE, EVENT_VERSION, PATH_ENDS
from stores.lifecycle.actions import Action
from stores.lifecycle.changes import Append, Change, Create, EndLine, MakeFolder, Replace
from stores.lifecycle.effects import Effect, EffectRefused, Find, counted, found, said
from stores.lifecycle.phase_memory import compaction, repairs, taking_in
from stores.lifecycle.phase_memory.editing import Editable, Edited, edit, editable, made, put, put_inside, rewritten

ACTOR: Final = "memoryui"


@dataclass(frozen=True, slots=True)
class _Case:
    action: Action
    find: Find
    planned_at: str
    event_id: str

    def targets(self) -> list[Editable]:
        """Read all targets; raises EffectRefused where one is in a state from which the verb does not lead."""
        read = [editable(self.find, self.action.target_type, one) for one in self.action.target_ids]
        for one in read:
            state = _state(one)
            if self.action.verb.from_states and not (isinstance(state, str) and state in self.action.verb.from_states):
                raise EffectRefused(f"{said(one.id)} is {said(str(state))}: {self.action.verb.name} does not lead on from there.")
        return read


def event_id_of(action_id: str, planned_at: str) -> str:
    """Give the id of the event that an action appends: the same however often its apply is taken up again."""
    return f"event.memoryui-{sha256(f'{action_id} {planned_at}'.encode()).hexdigest()[:16]}"


def effect(action: Action, find: Find, planned_at: str) -> Effect:
    """Compute what an action writes, from the files as they are now; raises EffectRefused where they do not allow it."""
    case = _Case(action, find, planned_at, event_id_of(action.id, planned_at))
    verb = action.verb.name
    if verb in _ON_FILES:
        return _ON_FILES[verb](case)
    if verb in repairs.FILE_REPAIRS:
        return repairs.on_file(action, find)
    if verb in _ON_PATHS:
        return _path_effect(case)
    if verb == taking_in.APPEND:
        return _appended(case)
    edited, sentence = _repaired(case) if verb in repairs.PATH_REPAIRS else _ON_RECORDS[verb](case)
    event = _event(case, edited)
    return Effect(
        changes=(*(one.change for one in edited), Append(EVENTS, event)),
        targets=tuple(one.target for one in edited),
        sentence=sentence,
        event=event,
        undo=taking_in.STAYS.get(verb, ""),
    )


def _transition(case: _Case) -> tuple[list[Edited], str]:
    (target,) = case.targets()
    now = target.record.get("phase")
    phase = ASSUMED_PHASE if now is None else now
    to = case.action.to_phase
    if case.action.record.get("from_phase") not in (None, phase):
        raise EffectRefused(f"{said(target.id)} is {said(str(phase))}.")
    return [edit(target, lambda record: put("node", record, "phase", to))], f"Moves {said(target.id)} from {said(str(phase))} to {to}."


def _mark_stale(case: _Case) -> tuple[list[Edited], str]:
    (target,) = case.targets()
    strength = case.action.parameters.get("strength_to")
    if strength is not None and (isinstance(strength, bool) or not isinstance(strength, int | float) or not 0 <= strength <= 1):
        raise EffectRefused("A strength is a number from 0 to 1.")

    def change(record: Record) -> None:
        put("node", record, "lifecycle_state", "stale")
        put_inside(record, "freshness", {"stale_since": case.planned_at})
        if strength is not None:
            record["strength"] = strength

    weaker = f" and sets its strength to {strength}" if strength is not None else ""
    return [edit(target, change)], f"Marks {said(target.id)} as stale{weaker}."


def _refresh(case: _Case) -> tuple[list[Edited], str]:
    (target,) = case.targets()

    def change(record: Record) -> None:
        put("node", record, "lifecycle_state", "active")
        values: Record = {"source_digest": case.action.parameter("source_digest"), "checked_at": case.planned_at}
        put_inside(record, "freshness", values, without=("stale_since",))

    return [edit(target, change)], f"Takes {said(target.id)} as active again, checked against its source; its text stays as it is."


def _compact(case: _Case) -> tuple[list[Edited], str]:
    targets = case.targets()
    name = compaction.summary_id(case.action.target_ids)
    given = case.action.record.get("path_id")
    summary = compaction.summarise(
        [target.record for target in targets],
        case.action.parameter("summary_text"),
        case.planned_at,
        case.event_id,
        given if isinstance(given, str) else "",
    )

    def change(record: Record) -> None:
        put("node", record, "lifecycle_state", "compacted")
        record["compacted_into"] = name

    edited = [edit(target, change) for target in targets]
    new = [("node", name, summary.node), *(("edge", str(one["id"]), one) for one in summary.edges)]
    edited += [made(record_type, one, value) for record_type, one, value in new if case.find(record_type, one) is None]
    return edited, f"Folds {counted(len(targets), 'node')} into the new node {name}; each keeps its text and is called compacted."


def _request_delete(case: _Case) -> tuple[list[Edited], str]:
    (target,) = case.targets()
    change = [edit(target, lambda record: put("node", record, "lifecycle_state", "delete_requested"))]
    return change, f"Requests the deletion of {said(target.id)}: agents no longer use it, its file stays."


def _archive(case: _Case) -> tuple[list[Edited], str]:
    (target,) = case.targets()
    kind = case.action.target_type
    return [edit(target, lambda record: put(kind, record, "lifecycle_state", "archived"))], f"Archives the {kind} {said(target.id)}."


def _supersede(case: _Case) -> tuple[list[Edited], str]:
    (target,) = case.targets()
    by = case.action.parameter("superseded_by")
    found(case.find, "node", by)
    change = [edit(target, lambda record: _superseded(record, by, case.planned_at))]
    return change, f"Calls {said(target.id)} superseded by {said(by)}."


def _merge(case: _Case) -> tuple[list[Edited], str]:
    into = case.action.parameter("into")
    merged = [target for target in case.targets() if target.id != into]
    edited = [edit(target, lambda record: _superseded(record, into, case.planned_at)) for target in merged]
    return edited, f"Merges {counted(len(merged), 'node')} into {said(into)}, whose own text stays as it is."


def _superseded(record: Record, by: str, at: str) -> None:
    put("node", record, "lifecycle_state", "superseded")
    record.update(superseded_by=by, invalid_at=at)


def _restore(case: _Case) -> tuple[list[Edited], str]:
    (target,) = case.targets()
    kind, was = case.action.target_type, _state(target)

    def change(record: Record) -> None:
        if kind == "path":
            record["state"] = "active"
            for name in PATH_ENDS.values():
                if field("path", record, name) is not None:
                    put("path", record, name, None)
            return
        put("node", record, "lifecycle_state", "active")
        for name in ("superseded_by", "invalid_at", "compacted_into"):
            record.pop(name, None)

    return [edit(target, change)], f"Takes the {kind} {said(target.id)} back from {was} to active."


def _taken_in(case: _Case) -> tuple[list[Edited], str]:
    return taking_in.CHANGES[case.action.verb.name](case.action, case.find)


def _repaired(case: _Case) -> tuple[list[Edited], str]:
    edited, sentence = repairs.on_path(case.action, case.find)
    return [edited], sentence


_ON_RECORDS: Final[Mapping[str, Callable[[_Case], tuple[list[Edited], str]]]] = {
    "transition_phase": _transition,
    "mark_stale": _mark_stale,
    "refresh": _refresh,
    "compact": _compact,
    "request_delete": _request_delete,
    "archive": _archive,
    "supersede": _supersede,
    "merge": _merge,
    "restore": _restore,
    **dict.fromkeys(taking_in.CHANGES, _taken_in),
}


def _appended(case: _Case) -> Effect:
    lines, targets, sentence = taking_in.appended(case.action)
    event = _event(case, [])
    return Effect((lines, Append(EVENTS, event)), targets, sentence, event, undo=taking_in.STAYS[taking_in.APPEND])


def _create_path(case: _Case, occasion: Occasion) -> tuple[PathChange, str]:
    name = case.action.target_ids[0]
    return path_changes.create(name, occasion, title=case.action.parameter("title")), f"Begins the path {said(name)}."


def _branch_path(case: _Case, occasion: Occasion) -> tuple[PathChange, str]:
    name = case.action.target_ids[0]
    parent = editable(case.find, "path", case.action.parameter("parent_path_id"))
    change = path_changes.branch(name, parent.value, occasion, title=case.action.parameter("title"))
    return change, f"Begins the path {said(name)}, which branches off {said(parent.id)}."


def _merge_path(case: _Case, occasion: Occasion) -> tuple[PathChange, str]:
    (path,) = case.targets()
    target = editable(case.find, "path", case.action.parameter("merge_target"))
    return path_changes.merge(path.value, target.value, occasion), f"Ends the path {said(path.id)}, merged into {said(target.id)}."


def _abandon_path(case: _Case, occasion: Occasion) -> tuple[PathChange, str]:
    (path,) = case.targets()
    return path_changes.abandon(path.value, case.action.parameter("abandoned_reason"), occasion), f"Abandons the path {said(path.id)}."


def _compact_path(case: _Case, occasion: Occasion) -> tuple[PathChange, str]:
    (path,) = case.targets()
    summary = editable(case.find, "node", case.action.parameter("compacted_summary_id"))
    return path_changes.compact(path.value, summary.id, occasion), f"Ends the path {said(path.id)}, summed up by {said(summary.id)}."


_ON_PATHS: Final[Mapping[str, Callable[[_Case, Occasion], tuple[PathChange, str]]]] = {
    "create_path": _create_path,
    "branch_path": _branch_path,
    "merge_path": _merge_path,
    "abandon_path": _abandon_path,
    "compact_path": _compact_path,
}


def _path_effect(case: _Case) -> Effect:
    name = case.action.target_ids[0]
    occasion = Occasion(case.event_id, case.planned_at, ACTOR, case.action.id)
    try:
        change, sentence = _ON_PATHS[case.action.verb.name](case, occasion)
    except PathRefused as err:
        raise EffectRefused(f"{said(str(err))}.") from err
    if case.action.verb.makes_target:
        if case.find("path", name) is not None:
            raise EffectRefused(f"There is a path {said(name)} already.")
        edited = made("path", name, change.path)
    else:
        edited = rewritten(editable(case.find, "path", name), change.path)
    return Effect((edited.change, Append(EVENTS, change.event)), (edited.target,), sentence, change.event)


def _end_line(case: _Case) -> Effect:
    path = case.action.target_ids[0]
    data = found(case.find, "file", path).data
    if path not in ENTRIES or path in FOLDERS or not data or data.endswith(b"\n"):
        raise EffectRefused(f"{said(path)} is no log that lacks a line break at its end.")
    return Effect((EndLine(path),), (), f"Adds the missing line break at the end of {said(path)}.", undo="What is appended to a log stays.")


def _create_entry(case: _Case) -> Effect:
    path = case.action.target_ids[0]
    if path not in ENTRIES or case.find("file", path) is not None:
        raise EffectRefused(f"{said(path)} is no missing part of the store.")
    change: Change = MakeFolder(path) if path in FOLDERS else Create(path, b"")
    return Effect((change,), (), f"Makes {said(path)}, empty.", undo="What was made empty does not disturb.")


def _rewrite(case: _Case) -> Effect:
    path = case.action.target_ids[0]
    file = found(case.find, "file", path)
    folder, _, name = path.partition("/")
    read = read_strict_file(file.data)
    if folder not in FOLDERS or not name or read.verdict.startswith("bad"):
        raise EffectRefused(f"{said(path)} is no record that can be read.")
    given = Editable(FOLDERS[folder], path, file, read.value, Form())
    edited = rewritten(given, read.value)
    if not isinstance(edited.change, Replace) or edited.change.after == file.data:
        raise EffectRefused(f"{said(path)} is written in the usual form already.")
    return Effect((edited.change,), (), f"Writes {said(path)} in the usual form; no value changes.")


_ON_FILES: Final[Mapping[str, Callable[[_Case], Effect]]] = {
    "append_newline": _end_line,
    "create_missing_entry": _create_entry,
    "rewrite_canonical": _rewrite,
}


def _event(case: _Case, edited: list[Edited]) -> Record:
    verb = case.action.verb
    updates: dict[str, list[Record]] = {"node": [], "edge": [], "path": []}
    for one in edited:
        if one.target.record_type not in updates:
            continue
        operation = "create" if one.target.before_digest is None else verb.operation
        name = "path_id" if one.target.record_type == "path" else f"{one.target.record_type}_id"
        updates[one.target.record_type].append({name: one.target.id, "operation": operation})
    event: Record = {
        "schema_version": EVENT_VERSION,
        "id": case.event_id,
        "kind": verb.event_kind,
        "timestamp": case.planned_at,
        "path_id": None,
        "actor": ACTOR,
        "action_id": case.action.id,
    }
    return event | {f"{record_type}_updates": done for record_type, done in updates.items() if done}


def _state(given: Editable) -> object:
    name = "state" if given.record_type == "path" else "lifecycle_state"
    state = field(given.record_type, given.record, name)
    return "active" if state is None and given.record_type != "path" else state
