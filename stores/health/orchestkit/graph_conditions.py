"""Conditions of the graph that the memory server shows, and of the MEMORY.md files that a session loads."""

from __future__ import annotations

from stores.formats.orchestkit.graph_place import EXPECTED, PACKAGE
from stores.formats.orchestkit.memory_md import LOADED_LINES, WARNED_BYTES
from stores.health.base import Condition, ConditionStatus
from stores.health.orchestkit.facts import MemoryFileFacts, StoreFacts
from stores.health.orchestkit.stating import counted, listed, status_of


def drain_lost(facts: StoreFacts) -> Condition:
    """Say what became of drains that were looked after."""
    lost, young = facts.drains_lost, facts.drains_verifying
    message, value_text = "No drain was lost", f"{lost:,}"
    if lost:
        message = (
            f"{counted(lost, 'drain')} written three times and gone from the graph as often, or with nothing to tell by whether it is there"
        )
    elif young:
        message = f"{counted(young, 'drain')} {'is' if young == 1 else 'are'} being verified: the worker looks for ten minutes whether the graph keeps what {'it' if young == 1 else 'they'} wrote"
        value_text = "verifying"
    return Condition(
        code="drain_lost",
        title="What a drain wrote stays in the graph",
        status=status_of(lost > 0),
        message=message,
        value=float(lost),
        value_text=value_text,
        limit=0,
        limit_text="none",
        advice="See who overwrites the graph: an agent's memory server that still runs, or another file" if lost else "",
        faults_code="drain_lost",
    )


def graph_refused(facts: StoreFacts) -> Condition:
    """What is valid JSON and yet keeps agents from their graph."""
    number = facts.graph_refused
    stopped = f"{counted(number, 'line')} of memory.json {'keeps' if number == 1 else 'keep'} the memory server from showing the graph"
    return Condition(
        code="graph_refused",
        title="The memory server can show the graph",
        status=status_of(number > 0),
        message=stopped if number else "No line of memory.json stands in its way",
        value=float(number),
        value_text=f"{number:,}",
        limit=0,
        limit_text="none",
        file="memory.json",
        advice="See the faults of the file: a drain or a replay writes it anew, line by line" if number else "",
        faults_code="graph_refused",
    )


def graph_place(facts: StoreFacts) -> Condition:
    """Say whether the memory server keeps its graph where the store is."""
    place = facts.graph_place
    status = ConditionStatus.OK
    message, value_text, advice = "No memory server is configured", "no server", ""
    if place is not None:
        message, value_text = place.reason, {PACKAGE: "its own package"}.get(place.state, place.state)
        if not place.below_project:
            status = status_of(place.state == PACKAGE, ConditionStatus.NOTE)
            advice = f"Set MEMORY_FILE_PATH to the absolute path of the project's {EXPECTED}"
    return Condition(
        code="graph_place",
        title="The memory server keeps the graph in the store",
        status=status,
        message=message,
        value_text=value_text,
        limit_text=EXPECTED,
        advice=advice,
    )


def memory_md_budget(facts: StoreFacts) -> Condition:
    """Say what of the MEMORY.md files is never loaded."""
    over = [file for file in facts.memory_files if file.not_loaded]
    warned = [file for file in facts.memory_files if not file.not_loaded and _is_warned(file)]
    lost = sum(file.not_loaded for file in over)
    named = over or warned
    status = ConditionStatus.NOTE if warned else ConditionStatus.OK
    if over:
        message = f"{counted(lost, 'line')} of {listed(tuple(file.path for file in over))} {'is' if lost == 1 else 'are'} never loaded"
    elif warned:
        message = f"{listed(tuple(file.path for file in warned))}: near the budget, or with entries that are too long"
    else:
        number = len(facts.memory_files)
        message = f"{counted(number, 'file')} within the budget" if number else "There is no MEMORY.md"
    return Condition(
        code="memory_md_budget",
        title="MEMORY.md is loaded whole",
        status=status_of(bool(over), status),
        message=message,
        value=float(lost),
        value_text=f"{counted(lost, 'line')} not loaded" if lost else "all loaded",
        limit=0,
        limit_text="all of it",
        file=named[0].path if len(named) == 1 else "",
        advice="Move what is not needed at every start into topic files: the newest entries stand last and are lost first" if named else "",
        faults_code="memory_md_budget",
    )


def _is_warned(file: MemoryFileFacts) -> bool:
    return file.lines >= LOADED_LINES or file.size_bytes >= WARNED_BYTES or file.long_lines > 0
