"""What a reviewed repair writes: of a path its list of events, its parent, its state; of a file its name, or that it is taken out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from stores.formats.phase_memory.aliases import Record, field
from stores.formats.phase_memory.layout import FOLDERS, may_be_created, path_for
from stores.formats.phase_memory.reading import read_record
from stores.formats.phase_memory.values import items, mapping, references
from stores.formats.phase_memory.vocabulary import PATH_ENDS, PATH_STATES
from stores.lifecycle.actions import Action
from stores.lifecycle.changes import Change, Move, TakeOut
from stores.lifecycle.effects import Effect, EffectRefused, Find, counted, found, said
from stores.lifecycle.phase_memory.editing import Editable, Edited, edit, editable, put, put_inside

Repaired = tuple[Edited, str]


def on_path(action: Action, find: Find) -> Repaired:
    """Repair a path's record; raises EffectRefused where there is nothing of the sort to repair."""
    path = editable(find, "path", action.target_ids[0])
    return _ON_PATHS[action.verb.name](action, find, path)


def on_file(action: Action, find: Find) -> Effect:
    """Give a record file the name that fits its id, or take it out of the store; raises EffectRefused where that cannot be."""
    path = action.target_ids[0]
    file = found(find, "file", path)
    folder, _, name = path.partition("/")
    if folder not in FOLDERS or not name or "/" in name:
        raise EffectRefused(f"{said(path)} is no record of the store.")
    record_type = FOLDERS[folder]
    read = read_record(record_type, file.data)
    if action.verb.name == "set_file_aside":
        primary = find(record_type, read.id) if read.id else None
        if primary is None or primary.path == path:
            raise EffectRefused(f"{said(path)} is the only file of its record: it stays.")
        taken: Change = TakeOut(path, file.data)
        return Effect((taken,), (), f"Takes {said(path)} out of the store; {said(primary.path)} keeps the id. Its bytes are kept here.")
    if not read.id or not may_be_created(read.id):
        raise EffectRefused(f"The id in {said(path)} may not become the name of a file.")
    to = path_for(record_type, read.id)
    if to == path or find("file", to) is not None:
        raise EffectRefused(f"{said(path)} has the right name already, or that name is taken.")
    return Effect((Move(path, to, file.data),), (), f"Renames {said(path)} to {said(to)}; no byte of it changes.")


def _set_event_aside(action: Action, find: Find, path: Editable) -> Repaired:
    listed, away = items(path.record.get("event_ids")), set(_ids(action))
    if not away or not away <= {one for one in listed if isinstance(one, str)}:
        raise EffectRefused(f"{said(path.id)} does not list these events.")
    moved = [{"event_id": one, "position": place} for place, one in enumerate(listed) if one in away]

    def change(record: Record) -> None:
        record["event_ids"] = [one for one in listed if one not in away]
        before = items(mapping(record.get("metadata")).get("missing_event_ids"))
        put_inside(record, "metadata", {"missing_event_ids": [*before, *moved]})

    sentence = (
        f"Moves {counted(len(moved), 'event')} that the log does not have out of the list of {said(path.id)}; its metadata keeps them."
    )
    return edit(path, change), sentence


def _keep_first(action: Action, find: Find, path: Editable) -> Repaired:
    listed = items(path.record.get("event_ids"))
    once = list(references(listed))
    if len(once) == len(listed):
        raise EffectRefused(f"{said(path.id)} lists no event twice.")
    sentence = f"Lists {counted(len(listed) - len(once), 'event')} of {said(path.id)} once instead of twice; the first place counts."
    return edit(path, lambda record: record.update(event_ids=once)), sentence


def _sort(action: Action, find: Find, path: Editable) -> Repaired:
    listed, wanted = items(path.record.get("event_ids")), list(_ids(action))
    if listed == wanted or sorted(map(str, listed)) != sorted(wanted):
        raise EffectRefused(f"These are not the events of {said(path.id)} in another order.")
    return edit(path, lambda record: record.update(event_ids=wanted)), f"Sorts the events of {said(path.id)} by their place in the log."


def _list(action: Action, find: Find, path: Editable) -> Repaired:
    listed, wanted = items(path.record.get("event_ids")), list(_ids(action))
    new = [one for one in wanted if one not in set(references(listed))]
    if not new or [one for one in wanted if one not in set(new)] != listed:
        raise EffectRefused(f"These are not the events of {said(path.id)} and some more.")
    sentence = f"Adds {counted(len(new), 'event')} to the list of {said(path.id)}, each at its place in the log."
    return edit(path, lambda record: record.update(event_ids=wanted)), sentence


def _make_root(action: Action, find: Find, path: Editable) -> Repaired:
    parent = path.record.get("parent_path_id")
    if parent is None:
        raise EffectRefused(f"{said(path.id)} has no parent.")

    def change(record: Record) -> None:
        record["parent_path_id"] = None
        put_inside(record, "metadata", {"lost_parent_path_id": parent})

    return edit(path, change), f"Makes {said(path.id)} a path without a parent; its metadata keeps what it was."


def _choose_target(action: Action, find: Find, path: Editable) -> Repaired:
    target = editable(find, "path", action.parameter("merge_target"))
    if path.record.get("state") != "merged" or target.id == path.id:
        raise EffectRefused(f"{said(path.id)} is not merged, or would be merged into itself.")
    return edit(
        path, lambda record: put("path", record, "merge_target", target.id)
    ), f"Says that {said(path.id)} was merged into {said(target.id)}."


def _correct_state(action: Action, find: Find, path: Editable) -> Repaired:
    state = action.parameter("state")
    end = PATH_ENDS.get(state, "")
    if state not in PATH_STATES or (end and not action.parameter(end).strip()):
        raise EffectRefused("A path is active, or merged, abandoned or compacted and then says into what or why.")
    pointed = {"merged": "path", "compacted": "node"}.get(state)
    if pointed:
        editable(find, pointed, action.parameter(end))

    def change(record: Record) -> None:
        record["state"] = state
        for name in PATH_ENDS.values():
            if name == end:
                put("path", record, name, action.parameter(name))
            elif field("path", record, name) is not None:
                put("path", record, name, None)

    return edit(path, change), f"Calls {said(path.id)} {state}, with the field that goes with it and no other."


_ON_PATHS: Final[Mapping[str, Callable[[Action, Find, Editable], Repaired]]] = {
    "set_event_aside": _set_event_aside,
    "keep_first_event": _keep_first,
    "sort_events": _sort,
    "list_event": _list,
    "make_root": _make_root,
    "choose_merge_target": _choose_target,
    "correct_path_state": _correct_state,
}
PATH_REPAIRS: Final = frozenset(_ON_PATHS)
FILE_REPAIRS: Final = frozenset({"set_file_aside", "rename_file"})


def _ids(action: Action) -> tuple[str, ...]:
    return references(action.parameters.get("event_ids"))
