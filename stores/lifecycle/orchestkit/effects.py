"""What each verb of an OrchestKit store writes (docs/formats.md): lines of a log, the queue, the graph.

A line is known by the sha256 of its bytes, so that no other one is taken for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from stores.formats import javascript
from stores.formats.js_values import compact_line
from stores.formats.orchestkit import (
    KIND,
    aggregate_operations,
    decisions,
    graph_bytes,
    merge_graph,
    parse_graph,
    problems,
    queue,
    read_operations,
    remembered,
    replay_decisions,
)
from stores.lifecycle.actions import Action, is_digest
from stores.lifecycle.changes import (
    AppendLines,
    Change,
    Create,
    EditLog,
    EndLine,
    LineEdit,
    LineMissing,
    Move,
    Replace,
    bytes_digest,
    edits_of,
    line_of,
)
from stores.lifecycle.effects import Effect, EffectRefused, FileNow, Find, TargetEffect, counted, found, said
from stores.lifecycle.orchestkit.mending import mended

GRAPH: Final = "memory.json"
ARCHIVE: Final = "archive"
_LOSSY: Final = frozenset({"dup_key", "bad_utf8", "int_range", "nan", "too_deep"})
"""What is odd about a line that would not come through when it is written anew."""


@dataclass(frozen=True, slots=True)
class _Case:
    action: Action
    find: Find
    planned_at: str

    def lines(self) -> dict[str, bytes]:
        """Give the sha256 of each target's line by the target's id; raises EffectRefused where it is not given."""
        wanted = {one: self.action.source_digests.get(one) for one in self.action.target_ids}
        if not all(map(is_digest, wanted.values())):
            raise EffectRefused("A line is named by its sha256.")
        return {one: bytes.fromhex(str(name).removeprefix("sha256:")) for one, name in wanted.items()}


def effect(action: Action, find: Find, planned_at: str) -> Effect:
    """Compute what an action writes, from the files as they are now; raises EffectRefused where they do not allow it."""
    try:
        return _EFFECTS[action.verb.name](_Case(action, find, planned_at))
    except LineMissing as err:
        raise EffectRefused(str(err)) from err
    except KeyError as err:
        raise EffectRefused(f"{action.verb.name} is not done in this kind of store.") from err


def _set_aside(case: _Case) -> Effect:
    path, data = _log(case)
    edits = edits_of(data, dict.fromkeys(case.lines().values(), ()))
    return _edited(case, path, edits, f"Takes {counted(len(edits), 'line')} out of {said(path)}; every other line stays as it is.")


def _repair(case: _Case) -> Effect:
    path, data = _log(case)
    edits = edits_of(data, {name: mended(path, line_of(data, name)) for name in case.lines().values()})
    records = sum(len(edit.after) for edit in edits)
    sentence = (
        f"Mends {counted(len(edits), 'line')} of {said(path)} into {counted(records, 'whole record')}; every other line stays as it is."
    )
    return _edited(case, path, edits, sentence)


def _merge_duplicates(case: _Case) -> Effect:
    data = found(case.find, "file", decisions.PATH).data
    keep, lines = case.action.parameter("keep"), case.lines()
    if len(set(lines.values())) < len(lines):
        raise EffectRefused("Two of the duplicates are the same line.")
    line_of(data, lines[keep])
    edits = edits_of(data, {name: () for one, name in lines.items() if one != keep})
    sentence = f"Keeps {said(keep)} and takes {counted(len(edits), 'record')} with the same text out of {decisions.PATH}."
    return _edited(case, decisions.PATH, edits, sentence)


def _retire(case: _Case) -> Effect:
    data = found(case.find, "file", decisions.PATH).data
    edits = edits_of(data, dict.fromkeys(case.lines().values(), ()))
    sentence = f"Takes {said(case.action.target_ids[0])} out of {decisions.PATH}: agents are no longer told it."
    return _edited(case, decisions.PATH, edits, sentence)


def _problem(case: _Case) -> Effect:
    data = found(case.find, "file", problems.PATH).data
    ((name, sha256),) = case.lines().items()
    line = line_of(data, sha256)
    parse = javascript.parse(line)
    record = parse.value
    if not parse.accepted or not isinstance(record, dict) or not _LOSSY.isdisjoint(parse.warnings):
        raise EffectRefused(f"The line of {said(name)} would not come through being written anew.")
    was, to = record.get("status"), case.action.verb.to_state
    if not isinstance(was, str) or was not in case.action.verb.from_states:
        raise EffectRefused(f"{said(name)} is {said(str(was))}: {case.action.verb.name} does not lead on from there.")
    after = {key: value for key, value in record.items() if key != "solution" or to == "solved"} | {"status": to}
    solution = case.action.parameter("solution")
    if to == "solved" and solution:
        after["solution"] = {"text": solution, "tool": "memoryui", "timestamp": case.planned_at, "confidence": 1}
    edits = edits_of(data, {sha256: (compact_line(after)[:-1],)})
    drops = " and drops its solution" if "solution" in record and "solution" not in after else ""
    return _edited(case, problems.PATH, edits, f"Calls the problem {said(name)} {to} instead of {was}{drops}.")


def _drain(case: _Case) -> Effect:
    lines = found(case.find, "file", queue.PATH).data
    path = case.action.parameter("graph") or GRAPH
    there = case.find("file", path)
    read = read_operations(lines)
    before = parse_graph(there.data if there is not None else b"")
    wanted = aggregate_operations(read.operations, before.graph.nodes.keys()).graph
    if not (wanted.nodes or wanted.edges):
        raise EffectRefused("None of the queue's lines says anything that a graph can take.")
    merge = merge_graph(before, wanted)
    changes = [*_written(path, there, graph_bytes(before)), _to_archive(case, lines)]
    sentence = (
        f"Writes {counted(len(merge.entities), 'entity', 'entities')}, {counted(merge.observations, 'observation')} and "
        f"{counted(len(merge.relations), 'relation')} of {counted(len(read.operations), 'operation')} into {said(path)} and archives the queue"
    )
    left_out = len(read.unreadable)
    sentence += f"; of {counted(left_out, 'unreadable line')} nothing is written." if left_out else "."
    return Effect(tuple(changes), (), sentence, undo="The archived queue stays; what the graph was is kept.")


def _replay(case: _Case) -> Effect:
    if case.action.target_ids != (decisions.PATH,):
        raise EffectRefused(f"{case.action.verb.name} is about {decisions.PATH}.")
    data = found(case.find, "file", decisions.PATH).data
    path = case.action.parameter("graph") or GRAPH
    there = case.find("file", path)
    before = parse_graph(there.data if there is not None else b"")
    if before.is_something_else:
        raise EffectRefused(f"No line of {said(path)} belongs to a graph.")
    replayed = replay_decisions(data, before.graph.nodes.keys())
    merge = merge_graph(before, replayed.aggregate.graph)
    changes = _written(path, there, graph_bytes(before))
    if not (changes and (any(merge) or before.is_to_be_written)):
        raise EffectRefused(f"{said(path)} says already all that the decisions say.")
    sentence = (
        f"Writes {counted(len(merge.entities), 'entity', 'entities')}, {counted(merge.observations, 'observation')} and "
        f"{counted(len(merge.relations), 'relation')} of {counted(replayed.decisions, 'decision')} into {said(path)}, from which nothing is taken out."
    )
    return Effect(tuple(changes), (), sentence)


def _written(path: str, there: FileNow | None, after: bytes) -> list[Change]:
    if there is None:
        return [Create(path, after)]
    return [Replace(there.path, there.data, after)] if there.data != after else []


def _remember(case: _Case) -> Effect:
    try:
        made = remembered(case.action.parameters.get("record"))
    except ValueError as err:
        raise EffectRefused(f"This is no decision as OrchestKit writes them: {err}.") from err
    (name,) = case.action.target_ids
    if made.record["id"] != name:
        raise EffectRefused("The record is not the one that it is about.")
    if case.find("decision", name) is not None:
        raise EffectRefused(f"There is a decision {said(name)} already.")
    line = made.decision_line[:-1]
    queued = made.queue_lines if case.action.parameters.get("queue") is True else ()
    changes: list[Change] = [AppendLines(decisions.PATH, (line,))]
    if queued:
        changes.append(AppendLines(queue.PATH, tuple(one[:-1] for one in queued)))
    sentence = f"Appends the decision {said(name)} to {decisions.PATH}" + (
        f", and {counted(len(queued), 'operation')} to the queue of the graph." if queued else "; nothing goes into the queue of the graph."
    )
    target = TargetEffect("decision", name, None, bytes_digest(line))
    return Effect(tuple(changes), (target,), sentence, undo="What is appended to a log stays; a decision can be retired.")


def _archive_queue(case: _Case) -> Effect:
    lines = found(case.find, "file", queue.PATH).data
    move = _to_archive(case, lines)
    operations = counted(len(read_operations(lines).operations), "operation")
    return Effect(
        (move,), (), f"Puts the queue away as {said(move.to)}: its {operations} never reach the graph unless it is drained from there."
    )


def _to_archive(case: _Case, data: bytes) -> Move:
    path = f"{ARCHIVE}/{case.planned_at.replace(':', '-').replace('.', '-')}-{queue.PATH}"
    if case.find("file", path) is not None:
        raise EffectRefused(f"There is {said(path)} already.")
    return Move(queue.PATH, path, data)


def _end_line(case: _Case) -> Effect:
    path = case.action.target_ids[0]
    data = found(case.find, "file", path).data
    if not _is_log(path) or not data or data.endswith(b"\n"):
        raise EffectRefused(f"{said(path)} is no log that lacks a line break at its end.")
    return Effect((EndLine(path),), (), f"Adds the missing line break at the end of {said(path)}.", undo="What is appended to a log stays.")


_EFFECTS: Final[Mapping[str, Callable[[_Case], Effect]]] = {
    "append_newline": _end_line,
    "set_aside_lines": _set_aside,
    "repair_lines": _repair,
    "merge_duplicates": _merge_duplicates,
    "retire_decision": _retire,
    "close_problem": _problem,
    "abandon_problem": _problem,
    "reopen_problem": _problem,
    "drain_queue": _drain,
    "archive_queue": _archive_queue,
    "replay_decisions": _replay,
    "remember": _remember,
}


def _log(case: _Case) -> tuple[str, bytes]:
    path = case.action.parameter("file")
    if not _is_log(path):
        raise EffectRefused(f"{said(path)} is no file of lines in this store.")
    return path, found(case.find, "file", path).data


def _is_log(path: str) -> bool:
    spec = KIND.spec_of(path)
    return spec is not None and not spec.whole and not spec.folder and not spec.anchor


def _edited(case: _Case, path: str, edits: tuple[LineEdit, ...], sentence: str) -> Effect:
    by_line = {bytes_digest(edit.before): edit for edit in edits}
    targets = []
    for one, sha256 in case.lines().items():
        edit = by_line.get(f"sha256:{sha256.hex()}")
        if edit is not None:
            after = bytes_digest(edit.after[0]) if len(edit.after) == 1 else None
            targets.append(TargetEffect(case.action.target_type, one, f"sha256:{sha256.hex()}", after))
    return Effect((EditLog(path, edits),), tuple(targets), sentence)
