"""What may be proposed for an OrchestKit store by what was found in it: lines to mend or set aside, doubles, a queue that waits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from stores.formats.orchestkit import decisions, queue
from stores.formats.phase_memory.aliases import Record
from stores.lifecycle import actions
from stores.lifecycle.vocabulary import ORCHESTKIT, VERBS

LINES_AT_ONCE: Final = 100
"""Of one file in one action: as many as a person reads before deciding."""
_REASONS: Final = {
    "repair_lines": "whole records can be rescued from lines that agents cannot read as they are",
    "set_aside_lines": "no reader can take the lines",
}


class FaultyLine(NamedTuple):
    """A line that a fault proposes to change."""

    file: str
    verb: str
    """repair_lines or set_aside_lines."""
    number: int
    sha256: bytes
    codes: tuple[str, ...] = ()


class Double(NamedTuple):
    """Two records of one decision, as a hook that ran twice leaves them."""

    keep_id: str
    keep_sha256: bytes
    other_id: str
    other_sha256: bytes


class Waiting(NamedTuple):
    """A queue that holds operations."""

    sha256: bytes
    """Of the whole file."""
    operations: int


def planned_actions(lines: Iterable[FaultyLine], doubles: Iterable[Double] = (), waiting: Waiting | None = None) -> list[Record]:
    """Give the actions that are proposed, sorted by verb and targets; each line is in at most one."""
    plan = [*_on_lines(lines), *_on_doubles(doubles)]
    if waiting is not None and waiting.operations:
        digests = {queue.PATH: f"sha256:{waiting.sha256.hex()}"}
        plan.append(_action("drain_queue", "file", digests, f"{waiting.operations:,} operations wait in the queue", {}))
    return sorted(plan, key=lambda action: (str(action["action"]), action["target_ids"]))


def _on_lines(lines: Iterable[FaultyLine]) -> list[Record]:
    groups: dict[tuple[str, str], dict[bytes, FaultyLine]] = {}
    for line in sorted(lines, key=lambda one: (one.number, one.verb != "set_aside_lines")):
        if line.verb in _REASONS and not any(line.sha256 in met for (file, _), met in groups.items() if file == line.file):
            groups.setdefault((line.file, line.verb), {})[line.sha256] = line
    found: list[Record] = []
    for (file, verb), met in sorted(groups.items()):
        listed = list(met.values())
        for start in range(0, len(listed), LINES_AT_ONCE):
            batch = listed[start : start + LINES_AT_ONCE]
            digests = {line.sha256.hex(): f"sha256:{line.sha256.hex()}" for line in batch}
            codes = ", ".join(sorted({code for line in batch for code in line.codes}))
            reason = f"{_REASONS[verb]}: {codes}" if codes else _REASONS[verb]
            found.append(_action(verb, "line", digests, reason, {"file": file}))
    return found


def _on_doubles(doubles: Iterable[Double]) -> list[Record]:
    groups: dict[str, dict[str, bytes]] = {}
    taken: set[str] = set()
    for double in sorted(doubles):
        if double.other_id in taken or double.other_id in groups or double.keep_id in taken:
            continue
        taken.add(double.other_id)
        groups.setdefault(double.keep_id, {double.keep_id: double.keep_sha256})[double.other_id] = double.other_sha256
    return [
        _action(
            "merge_duplicates",
            "decision",
            {one: f"sha256:{sha256.hex()}" for one, sha256 in group.items()},
            f"a hook that ran twice wrote the same text into {decisions.PATH}",
            {"keep": keep},
        )
        for keep, group in groups.items()
    ]


def _action(verb: str, target_type: str, digests: dict[str, str], reason: str, parameters: Record) -> Record:
    made = actions.make(ORCHESTKIT, VERBS[ORCHESTKIT][verb], target_type, digests, reason, requires_review=True, parameters=parameters)
    return actions.named(made)
