"""Takes actions that agents and tools propose: read strictly, named by us, refused one by one with a code and a reason.

A proposal decides nothing: whether it needs a review is the gate's to say, and an approval in it is a text like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from stores.formats import storable, strict
from stores.formats.canonical import canonical
from stores.formats.phase_memory.aliases import Record
from stores.formats.phase_memory.vocabulary import PHASES
from stores.lifecycle import actions, gate
from stores.lifecycle.actions import Action, ActionRefused, refuse_action, refuse_target
from stores.lifecycle.targets import TargetNow
from stores.lifecycle.vocabulary import ALIASES, MOST_TARGETS, Review, Verb, phase_meant, verb_named

FindTarget = Callable[[str, str], TargetNow | None]
"""Finds a target as it is now, by its type and id."""

MOST_BYTES: Final = 16 * 1024 * 1024
MOST_PROPOSALS: Final = 100_000
MOST_BESIDE: Final = 64 * 1024
"""Bytes of a foreign record beside its targets, and beside the content that some verbs bring: all of it stands in each of the actions that it becomes."""
_FIRST_KEY: Final = "given"
_OURS: Final = frozenset(
    {
        "action", "dry_run", "target_type", "target_ids", "reason", "source_digests", "parameters", "to_phase", "from_phase",
    }
)  # fmt: skip
"""Fields of a foreign record that mean what ours do; every other one is kept beside them, unread and part of the digest."""
_SAID: Final = ("path_id", "proposed_by", "action_id")
"""The same of these where they are texts."""


class Taken(NamedTuple):
    """What became of one proposal."""

    actions: tuple[Action, ...] = ()
    """One; several where it named several targets of a verb that takes one at a time."""
    refused: ActionRefused | None = None
    foreign_action_id: str = ""
    """The id that a foreign record gave itself: shown, never trusted."""
    proposed_by: str = ""
    """Whom it names as its proposer: one more who may not approve it."""
    batch_id: str = ""
    """Of actions that were one proposal."""


def proposals(data: bytes) -> list[object]:
    """Read a file of proposals: one record, a list of them, or a plan; raises ActionRefused where it is nothing of these.

    A key that stands twice, a number that is none, and whatever else two readers may take for two things refuses all of it.
    """
    if len(data) > MOST_BYTES:
        raise refuse_action(f"Proposals are read up to {MOST_BYTES >> 20} MiB at once.")
    judged = strict.judge(b'{"%b":%b}' % (_FIRST_KEY.encode(), data.removeprefix(b"\xef\xbb\xbf").strip()), needs_id=False, find_id=_no_id)
    if judged.refused or judged.value.keys() != {_FIRST_KEY}:
        raise refuse_action(f"This is no JSON that can be taken: {judged.refused or 'bad_json'}.")
    given = judged.value[_FIRST_KEY]
    if isinstance(given, dict) and "action" not in given:
        plan = given.get("data")
        inner = plan.get("dry_run_actions") if isinstance(plan, dict) else given.get("actions")
        given = inner if isinstance(inner, list) else given
    listed = given if isinstance(given, list) else [given]
    if len(listed) > MOST_PROPOSALS:
        raise refuse_action(f"At most {MOST_PROPOSALS:,} actions are taken at once.")
    return listed


def take(kind: str, given: object, find: FindTarget) -> Taken:
    """Take one proposal, or refuse it; nothing is raised and nothing is decided.

    A record of our own form keeps its words, and what it says of its targets must hold now. Any other is foreign: it gets our form
    and our id, and digests that it lacks are taken now.
    """
    record = given if isinstance(given, Mapping) and all(isinstance(name, str) for name in given) else None
    proposed_by = record.get("proposed_by") if record is not None else None
    told = storable.name(proposed_by) if isinstance(proposed_by, str) else ""
    try:
        if record is None:
            raise refuse_action("An action is an object with named fields.")
        if actions.is_own(kind, record):
            return Taken((_own(kind, record, find),), proposed_by=told)
        taken = _foreign(kind, record, find)
    except ActionRefused as refused:
        return Taken(refused=refused, proposed_by=told)
    except (TypeError, ValueError, RecursionError):
        return Taken(refused=refuse_action("A value in it is none that JSON can hold."), proposed_by=told)
    foreign_id = record.get("action_id")
    batch = f"batch:{sha256(canonical([one.id for one in taken])).hexdigest()[:16]}" if len(taken) > 1 else ""
    return Taken(taken, None, storable.name(foreign_id) if isinstance(foreign_id, str) else "", told, batch)


def _own(kind: str, record: Mapping[str, object], find: FindTarget) -> Action:
    action = actions.read(kind, record)
    if record.get("action_id") != action.id:
        raise ActionRefused("action_id_mismatch", "Its content is not the one that its id was made from.")
    now = {one: target for one in action.target_ids if (target := find(action.target_type, one)) is not None}
    standing = gate.standing_of(action, now)
    if standing is not None:
        raise ActionRefused(standing.reason_code or "stale_source", standing.message)
    return action


def _foreign(kind: str, record: Mapping[str, object], find: FindTarget) -> tuple[Action, ...]:
    word = record.get("action")
    alias = word if isinstance(word, str) and word in ALIASES.get(kind, {}) else ""
    verb = verb_named(kind, ALIASES[kind][alias] if alias else word)
    if verb is None:
        raise ActionRefused("unsupported_action", "This kind of store knows no such verb; words are taken letter for letter.")
    beside = {name: value for name, value in record.items() if name not in ("target_ids", "source_digests")}
    target_ids = list(actions.read_target_ids(verb, record.get("target_ids"), MOST_TARGETS))
    becomes_one = verb.most > 1 or len(target_ids) == 1
    if verb.brings_content and becomes_one:
        beside.pop("parameters", None)
    if len(canonical(beside)) > MOST_BESIDE:
        raise refuse_action(f"A proposal holds at most {MOST_BESIDE >> 10} KiB beside its targets.")
    parameters = _parameters(verb, record)
    kept = parameters.get("into" if verb.name == "merge" else "keep")
    if verb.name in ("merge", "merge_duplicates") and isinstance(kept, str) and kept and kept not in target_ids:
        target_ids.append(kept)
    targets = _targets(verb, record, target_ids, find)
    batches = [targets] if verb.most > 1 else [[target] for target in targets]
    return tuple(actions.read(kind, _record(kind, verb, alias, record, parameters, batch)) for batch in batches)


def _parameters(verb: Verb, record: Mapping[str, object]) -> Record:
    given = record.get("parameters", {})
    if not isinstance(given, Mapping):
        raise refuse_action("Parameters are an object.")
    return {**given, **{name: record[name] for name in _read_beside(verb, record)}}


def _read_beside(verb: Verb, record: Mapping[str, object]) -> list[str]:
    """Give the parameters that a foreign record has beside its parameters, not among them."""
    given = record.get("parameters")
    inner = given if isinstance(given, Mapping) else {}
    return [name for name in verb.needs if name in record and name not in inner]


class _Target(NamedTuple):
    record_type: str
    id: str
    digest: str | None
    """None for what is to be made."""
    phase: object = None


def _targets(verb: Verb, record: Mapping[str, object], ids: list[str], find: FindTarget) -> list[_Target]:
    """Look up all targets; raises ActionRefused for one that is not there, or there where it must not be."""
    named = record.get("target_type")
    if named is not None and (not isinstance(named, str) or named not in verb.target_types):
        raise refuse_action(f"{verb.name} is about a {' or a '.join(verb.target_types)}.")
    types = (named,) if isinstance(named, str) else verb.target_types
    found: list[_Target] = []
    for one in ids:
        target = next((there for record_type in types if (there := find(record_type, one)) is not None), None)
        if verb.makes_target:
            if target is not None:
                raise refuse_target("What it would make is there already.")
            found.append(_Target(types[0], one, None))
        elif target is None:
            raise refuse_target("A target is not there: ids are taken letter for letter.")
        else:
            found.append(_Target(target.record_type, one, target.digest, target.phase))
    if verb.most > 1 and len({one.record_type for one in found}) > 1:
        raise refuse_target("All targets of one action are of one type.")
    return found


def _record(kind: str, verb: Verb, alias: str, given: Mapping[str, object], parameters: Record, targets: list[_Target]) -> Record:
    reason = given.get("reason", "")
    if not isinstance(reason, str):
        raise refuse_action("The reason is a text.")
    stated = given.get("source_digests", {})
    if not isinstance(stated, Mapping):
        raise refuse_action("Source digests are an object.")
    digests = {one.id: stated.get(one.id, one.digest) for one in targets}
    more: Record = {"source_digests_taken": "intake"} if any(one not in stated for one in digests) else {}
    said = {name: given[name] for name in _SAID if isinstance(given.get(name), str)}
    more |= {("foreign_action_id" if name == "action_id" else name): value for name, value in said.items()}
    unread = {name: value for name, value in given.items() if name not in {*_OURS, *said, *_read_beside(verb, given)}}
    if unread:
        more["foreign_fields"] = unread
    made = actions.make(
        kind,
        verb,
        targets[0].record_type,
        digests,
        reason,
        requires_review=given.get("requires_review") is not False or verb.review is Review.ALWAYS,
        parameters=parameters,
        moves=_moves(verb, alias, given, targets[0]),
        more=more,
    )
    return actions.named(made)


def _moves(verb: Verb, alias: str, given: Mapping[str, object], target: _Target) -> Record:
    if verb.name != "transition_phase":
        return {"to_state": verb.to_state} if verb.to_state else {}
    now = target.phase
    to = phase_meant(alias, now if isinstance(now, str) else "") if alias else given.get("to_phase")
    if to not in PHASES or given.get("to_phase", to) != to or given.get("from_phase", now) != now:
        raise refuse_action(f"It needs to_phase, one of {', '.join(PHASES)}, that fits its verb and the phase of its target.")
    return {"from_phase": now, "to_phase": to}


def _no_id(record: Mapping[str, object]) -> object:
    return None
