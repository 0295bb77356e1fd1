"""The record of a lifecycle action: made, named by its content, and read strictly (docs/formats.md)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from stores.formats.canonical import canonical
from stores.formats.identifiers import is_usable
from stores.formats.phase_memory.aliases import Record
from stores.formats.phase_memory.reading import LONGEST_ID
from stores.formats.phase_memory.vocabulary import PHASES
from stores.formats.strict import DEPTH_CAP
from stores.lifecycle.vocabulary import PHASE_MEMORY, Verb, verb_named

_VERSIONS: Final[Mapping[str, str]] = {PHASE_MEMORY: "phase_memory.lifecycle.action.v1"}
_VERSION: Final = "memoryui.lifecycle.action.v1"
_NOT_CONTENT: Final = frozenset({"action_id", "dry_run"})
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_LONGEST_REASON: Final = 20_000


class ActionRefused(ValueError):
    """A record that is no action; the message says why, for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def refuse_action(message: str) -> ActionRefused:
    """Give the refusal of an action that makes no sense."""
    return ActionRefused("invalid_action", message)


def refuse_target(message: str) -> ActionRefused:
    """Give the refusal of an action whose targets make no sense."""
    return ActionRefused("invalid_target", message)


@dataclass(frozen=True, slots=True)
class Action:
    """An action whose record has been read; what it asks for is not yet judged."""

    kind: str
    record: Record
    id: str
    """As computed from the content."""
    verb: Verb
    target_type: str
    target_ids: tuple[str, ...]
    reason: str
    parameters: Mapping[str, object]
    source_digests: Mapping[str, object]

    @property
    def asks_for_review(self) -> bool:
        """Whether the record asks for a review: only a plain false does not."""
        return self.record.get("requires_review") is not False

    @property
    def to_phase(self) -> str:
        """The phase into which it moves, "" where it moves none."""
        return str(self.record["to_phase"]) if self.verb.name == "transition_phase" else ""

    def parameter(self, name: str) -> str:
        """Give a parameter that is a text; "" where there is none."""
        given = self.parameters.get(name)
        return given if isinstance(given, str) else ""


def version_for(kind: str) -> str:
    """Give the schema version of the actions of a kind of store."""
    return _VERSIONS.get(kind, _VERSION)


def action_id(record: Mapping[str, object]) -> str:
    """Name a record by its content; raises ValueError where that holds what JSON cannot."""
    content = {name: value for name, value in record.items() if name not in _NOT_CONTENT}
    if not _is_json(content):
        raise ValueError("no JSON")
    return f"action:{sha256(canonical(content)).hexdigest()}"


def _is_json(value: object) -> bool:
    """Say whether a value is only of what JSON has: a writer would make a null of what is no number, and another record of it."""
    todo: list[tuple[object, int]] = [(value, 0)]
    while todo:
        item, depth = todo.pop()
        if depth > DEPTH_CAP:
            return False
        if isinstance(item, dict):
            if not all(isinstance(name, str) for name in item):
                return False
            todo += ((inner, depth + 1) for inner in item.values())
        elif isinstance(item, list):
            todo += ((inner, depth + 1) for inner in item)
        elif isinstance(item, float):
            if not math.isfinite(item):
                return False
        elif item is not None and not isinstance(item, str | int):
            return False
    return True


def is_own(kind: str, record: Mapping[str, object]) -> bool:
    """Say whether a record has the form of our own actions, so that its id and digests must hold."""
    return record.get("schema_version") == version_for(kind)


def make(
    kind: str,
    verb: Verb,
    target_type: str,
    digests: Mapping[str, object],
    reason: str,
    *,
    requires_review: bool,
    parameters: Mapping[str, object] | None = None,
    moves: Mapping[str, object] | None = None,
    changes: Iterable[Mapping[str, object]] = (),
    more: Mapping[str, object] | None = None,
) -> Record:
    """Make the record of an action, without the id that `named` adds.

    `digests` are those of the targets, None for one that is not there yet; `moves` the `from_…` and `to_…` fields.
    """
    effect: Record = {"changes": [dict(change) for change in changes]}
    if verb.event_kind:
        effect["appends_event_kind"] = verb.event_kind
    return {
        "schema_version": version_for(kind),
        "action": verb.name,
        "target_type": target_type,
        "target_ids": sorted(digests),
        "reason": reason,
        "requires_review": requires_review,
        "source_digests": dict(digests),
        "parameters": dict(parameters or {}),
        "dry_run": True,
        "expected_effect": effect,
        **(moves or {}),
        **(more or {}),
    }


def named(record: Record) -> Record:
    """Give a record with the id that its content gives it."""
    return {**record, "action_id": action_id(record)}


def read(kind: str, given: object) -> Action:
    """Read a record of our own form; raises ActionRefused. Whether its id and its targets hold is the gate's to say."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise refuse_action("An action is an object with named fields.")
    verb = verb_named(kind, given.get("action"))
    if verb is None:
        raise ActionRefused("unsupported_action", "This kind of store knows no such verb.")
    record: Record = dict(given)
    if not is_own(kind, record):
        raise refuse_action(f"An action of this store is {version_for(kind)}.")
    target_ids = read_target_ids(verb, record.get("target_ids"))
    if list(target_ids) != sorted(target_ids):
        raise refuse_target("Targets stand in the order of their ids.")
    target_type = record.get("target_type")
    if not isinstance(target_type, str) or target_type not in verb.target_types:
        raise refuse_action(f"{verb.name} is about a {' or a '.join(verb.target_types)}.")
    reason, parameters, digests = record.get("reason"), record.get("parameters"), record.get("source_digests")
    if not isinstance(reason, str) or len(reason) > _LONGEST_REASON:
        raise refuse_action("The reason is a text.")
    if not isinstance(parameters, Mapping) or not isinstance(digests, Mapping) or not set(digests) <= set(target_ids):
        raise refuse_action("Parameters and source digests are objects, and digests are of targets only.")
    _check_parameters(verb, target_ids, parameters)
    if verb.name == "transition_phase" and record.get("to_phase") not in PHASES:
        raise refuse_action(f"A node moves into one of {', '.join(PHASES)}.")
    try:
        own_id = action_id(record)
    except ValueError as err:
        raise refuse_action("A value in it is none that JSON can hold.") from err
    return Action(kind, record, own_id, verb, target_type, target_ids, reason, parameters, digests)


def read_target_ids(verb: Verb, given: object, most: int | None = None) -> tuple[str, ...]:
    """Read the ids of targets in their order; raises ActionRefused. Without any it never means all."""
    most = verb.most if most is None else most
    if not isinstance(given, list | tuple) or not given:
        raise refuse_target("An action names its targets, one by one.")
    for one in given:
        if not isinstance(one, str) or not is_usable(one) or len(one) > LONGEST_ID:
            raise refuse_target("A target's id is a text of at most 200 characters, without control characters.")
        if "*" in one and not one.strip("*?"):
            raise refuse_target("A wildcard is no target: an action names its targets, one by one.")
    if len(set(given)) != len(given):
        raise refuse_target("A target stands twice in the list.")
    if len(given) > most:
        raise refuse_target(f"{verb.name} takes at most {most:,} targets at once.")
    return tuple(given)


def is_digest(given: object) -> bool:
    """Say whether a value is a digest as records give it."""
    return isinstance(given, str) and _DIGEST.fullmatch(given) is not None


def _check_parameters(verb: Verb, target_ids: tuple[str, ...], parameters: Mapping[str, object]) -> None:
    for name in verb.needs:
        given = parameters.get(name)
        if not isinstance(given, str) or not given.strip():
            raise refuse_action(f"{verb.name} needs {name}, a text.")
    pointed = {"merge": "into", "supersede": "superseded_by", "merge_path": "merge_target", "branch_path": "parent_path_id"}.get(verb.name)
    to_itself = pointed is not None and [parameters[pointed]] == list(target_ids)
    if to_itself or (verb.name in ("merge", "compact", "merge_duplicates") and len(target_ids) < verb.least):
        raise refuse_action(f"{verb.name} joins at least two different records.")
    if verb.name == "merge" and parameters["into"] not in target_ids:
        raise refuse_action("The node that stays is one of the merged ones.")
    if verb.name == "merge_duplicates" and parameters["keep"] not in target_ids:
        raise refuse_action("The record that is kept is one of the duplicates.")
