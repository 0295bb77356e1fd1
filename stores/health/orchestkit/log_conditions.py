"""Conditions of what agents wrote: lines that can be read, decisions that are told, nothing lost, nothing twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stores.health.base import Condition, ConditionStatus
from stores.health.orchestkit.classic import classic
from stores.health.orchestkit.facts import FileFacts, Limits, StoreFacts
from stores.health.orchestkit.stating import counted, listed, status_of, unmeasured

_CAUSES: Final = {
    "bad_json": "not JSON",
    "json_comment": "a comment",
    "lfs_pointer": "of a Git LFS pointer",
    "merge_conflict": "of a merge conflict",
    "nan": "with NaN",
    "nul_run": "of zero bytes",
    "pretty_json": "of spread JSON",
    "tail_torn": "not finished",
    "too_large": "too long",
    "utf16": "in UTF-16",
}
"""Causes of refused lines in words; "glued" is one."""


def corrupt_lines(file: FileFacts) -> Condition:
    """Say how many lines of one of the three logs cannot be read, by cause."""
    title = f"Lines of {file.path} readable"
    if not file.readable:
        return Condition(
            code="corrupt_lines",
            title=title,
            status=ConditionStatus.FAILING,
            message=f"{file.path} cannot be read",
            value_text="cannot be read",
            limit=0,
            limit_text="all",
            file=file.path,
            advice="See its fault: what stands there must be a file that the worker may read",
            faults_code="unreadable",
        )
    advice = ""
    if not file.exists:
        message, value_text = f"There is no {file.path}", "no file"
    elif file.settled_corrupt:
        message = f"{counted(file.settled_corrupt, 'corrupt line')} in {file.path}{_by_cause(file.causes)}"
        value_text = f"{file.lines - file.settled_corrupt:,} of {file.lines:,}"
        advice = "Repair the lines or set them aside: each names its cause"
    elif file.corrupt:
        message, value_text = f"The last line of {file.path} is being written", f"{file.lines - file.corrupt:,} of {file.lines:,}"
    else:
        message = f"All {counted(file.lines, 'line')} can be read" if file.lines else f"{file.path} is empty"
        value_text = f"{file.lines:,} of {file.lines:,}"
    return Condition(
        code="corrupt_lines",
        title=title,
        status=status_of(file.settled_corrupt > 0),
        message=message,
        value=float(file.settled_corrupt),
        value_text=value_text,
        limit=0,
        limit_text="all",
        file=file.path,
        advice=advice,
        faults_code=next(iter(file.causes)) if len(file.causes) == 1 else "",
    )


def _by_cause(causes: Mapping[str, int]) -> str:
    named = sorted(causes.items(), key=lambda cause: (-cause[1], cause[0]))
    return f": {', '.join(f'{number:,} {_CAUSES.get(code, code)}' for code, number in named)}" if named else ""


def other_corrupt(facts: StoreFacts) -> Condition:
    """Say the same of all other files together."""
    paths = tuple(sorted(facts.other_corrupt, key=lambda path: (-facts.other_corrupt[path], path)))
    number = sum(facts.other_corrupt.values())
    return Condition(
        code="corrupt_lines",
        title="Lines of the other files readable",
        status=status_of(number > 0),
        message=f"{counted(number, 'corrupt line')} in {listed(paths)}" if number else "All lines can be read",
        value=float(number),
        value_text=f"{number:,} corrupt" if number else "all",
        limit=0,
        limit_text="all",
        advice="See their faults: each names its cause" if number else "",
    )


def injection_silenced(facts: StoreFacts) -> Condition:
    """Say which of the last lines would make the loader throw."""
    lines = facts.silencing_lines
    one = len(lines) == 1
    stopped = (
        f"{'Line' if one else 'Lines'} {listed(lines)} {'has' if one else 'have'} no entities: the next session is told nothing at all"
    )
    return Condition(
        code="injection_silenced",
        title="The next session is told its decisions",
        status=status_of(bool(lines)),
        message=stopped if lines else "Nothing stops the loader among the last 10 lines",
        value=float(len(lines)),
        value_text=f"{len(lines):,}",
        limit=0,
        limit_text="none",
        file=facts.decisions.path,
        advice="Add an empty list of entities to the record" if lines else "",
        faults_code="missing_entities",
    )


def no_decisions(facts: StoreFacts, limits: Limits) -> Condition:
    """Many sessions and nothing kept of them is how memory that never persists looks from outside."""
    decisions = facts.decisions.lines - facts.decisions.corrupt
    empty = facts.sessions > 0 and decisions + facts.graph_entities == 0
    status = ConditionStatus.NOTE if empty else ConditionStatus.OK
    if facts.sessions == 0:
        message = "No session left events"
    elif empty:
        message = f"{counted(facts.sessions, 'session')} and not one decision, nor any entity in the graph"
    elif decisions:
        message = f"{counted(decisions, 'decision')} of {counted(facts.sessions, 'session')} with events"
    else:
        message = f"No decision, but {_counted_entities(facts.graph_entities)} in the graph"
    return Condition(
        code="no_decisions_with_sessions",
        title="Sessions leave decisions",
        status=status_of(empty and facts.sessions >= limits.sessions_without_decisions, status),
        message=message,
        value=float(facts.sessions) if empty else 0.0,
        value_text=counted(facts.sessions, "session") if empty else "kept" if facts.sessions else "no session",
        limit=float(limits.sessions_without_decisions),
        limit_text=f"below {counted(limits.sessions_without_decisions, 'session')}",
        file=facts.decisions.path,
        advice="See which version of OrchestKit runs: those since 6.0.4 keep decisions in the graph only" if empty else "",
    )


def _counted_entities(number: int) -> str:
    return f"{number:,} {'entity' if number == 1 else 'entities'}"


def vanished(facts: StoreFacts) -> Condition:
    """A file that is not there has no corrupt lines: without this rule, the loss of all decisions would look like health."""
    lost = sum(facts.vanished.values())
    told = " and ".join(f"{path} is gone, with {counted(records, 'record')}" for path, records in sorted(facts.vanished.items()))
    return Condition(
        code="memory_vanished",
        title="Nothing vanished that agents remembered",
        status=status_of(lost > 0),
        message=told or "Every file that held decisions or problems is there",
        value=float(lost),
        value_text=counted(lost, "record") if lost else "none",
        limit=0,
        limit_text="none",
        advice="Bring the file back, from version control or a copy; its records still stand in the mirror as gone. Mute this if it was meant"
        if lost
        else "",
    )


def double_hook(facts: StoreFacts) -> Condition:
    """Say how many decisions a hook that ran twice wrote twice."""
    twice = f"{counted(facts.double_hook, 'decision')} written twice within 100 ms"
    return Condition(
        code="double_hook",
        title="Hooks write each decision once",
        status=ConditionStatus.NOTE if facts.double_hook else ConditionStatus.OK,
        message=twice if facts.double_hook else "No decision was written twice within 100 ms",
        value=float(facts.double_hook),
        value_text=f"{facts.double_hook:,}",
        limit=0,
        limit_text="none",
        file=facts.decisions.path,
        advice="See whether the plugin's hook is registered twice" if facts.double_hook else "",
        faults_code="double_hook",
    )


def stray(facts: StoreFacts) -> Condition:
    """Say which further stores lie below the project."""
    number = len(facts.stray_stores)
    found = f"{counted(number, 'further store')} below the project: {listed(facts.stray_stores)}"
    condition = Condition(
        code="stray_store",
        title="One store in the project",
        status=ConditionStatus.NOTE if number else ConditionStatus.OK,
        message=found if number else "No further store lies below the project",
        value=float(number),
        value_text=f"{number:,}",
        limit=0,
        limit_text="none",
        advice="A hook ran in a subfolder: register the stray store, or move its lines by hand" if number else "",
    )
    return condition if facts.stray_measured else unmeasured(condition, "The project was not searched yet")


def classic_health(facts: StoreFacts) -> Condition:
    """What OrchestKit itself would say, once a torn tail had its ten seconds (ruling 24)."""
    settled = facts._replace(decisions=facts.decisions._replace(corrupt=facts.decisions.settled_corrupt))
    report = classic(settled)
    message = report.mem0_message if report.graph_status == "healthy" and report.overall == "degraded" else report.graph_message
    return Condition(
        code="classic_health",
        title="OrchestKit's own check is content",
        status=status_of(report.overall != "healthy"),
        message=message,
        value_text=report.overall,
        limit_text="healthy",
    )
