"""The conditions of an OrchestKit store, also those to which its own check is blind, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from stores.formats.orchestkit.graph_place import EXPECTED, PACKAGE
from stores.formats.orchestkit.memory_md import LOADED_LINES, WARNED_BYTES
from stores.health.base import Condition, ConditionStatus, Verdict
from stores.health.orchestkit.classic import classic
from stores.health.orchestkit.facts import DEFAULT_LIMITS, FileFacts, Limits, MemoryFileFacts, StoreFacts

_NOTES_ONLY: Final = frozenset({"dangling_relation", "double_hook", "stray_store"})
"""Rules that never degrade a store, so that not having measured them says nothing of it."""
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


def conditions(facts: StoreFacts, now_ms: int, limits: Limits = DEFAULT_LIMITS) -> tuple[Condition, ...]:
    """Apply every rule; each is always there, also when all is well. What stops agents comes first.

    Codes: ruling 36; the queue's limit holds from the limit on (ruling 28).
    """
    if not (facts.directory_exists and facts.directory_readable):
        why = _no_folder(facts)
        return (*(_unmeasured(rule, why) for rule in _rules(facts, now_ms, limits)), _classic_health(facts))
    return (*_rules(facts, now_ms, limits), _classic_health(facts))


def _rules(facts: StoreFacts, now_ms: int, limits: Limits) -> Iterator[Condition]:
    for file in (facts.decisions, facts.queue, facts.problems):
        yield _corrupt_lines(file)
    yield _other_corrupt(facts)
    yield _vanished(facts)
    yield _needing(facts.decisions, _injection_silenced(facts))
    yield _needing(facts.decisions, _no_decisions(facts, limits))
    yield _needing(facts.queue, _poison(facts))
    yield _needing(facts.queue, _queue_depth(facts, limits))
    yield _needing(facts.queue, _queue_oldest(facts, now_ms, limits))
    yield _needing(facts.queue, _queue_undrained(facts, now_ms, limits))
    yield _drain_lost(facts)
    yield _graph_refused(facts)
    yield _graph_place(facts)
    yield _memory_md_budget(facts)
    yield _needing(facts.queue, _dangling(facts))
    yield _needing(facts.decisions, _double_hook(facts))
    yield _stray(facts)


def _unmeasured(condition: Condition, why: str) -> Condition:
    return Condition(
        code=condition.code,
        title=condition.title,
        status=ConditionStatus.UNMEASURED,
        message=why,
        value_text="not measured",
        limit=condition.limit,
        limit_text=condition.limit_text,
        file=condition.file,
    )


def _needing(file: FileFacts, condition: Condition) -> Condition:
    """A rule cannot be applied while the file that it looks at cannot be read."""
    return condition if file.readable else _unmeasured(condition, f"{file.path} cannot be read")


def _no_folder(facts: StoreFacts) -> str:
    return "The folder cannot be read" if facts.directory_exists else "The folder does not exist"


def _status(failing: bool, otherwise: ConditionStatus = ConditionStatus.OK) -> ConditionStatus:
    return ConditionStatus.FAILING if failing else otherwise


def _corrupt_lines(file: FileFacts) -> Condition:
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
        message = f"{_counted(file.settled_corrupt, 'corrupt line')} in {file.path}{_by_cause(file.causes)}"
        value_text = f"{file.lines - file.settled_corrupt:,} of {file.lines:,}"
        advice = "Repair the lines or set them aside: each names its cause"
    elif file.corrupt:
        message, value_text = f"The last line of {file.path} is being written", f"{file.lines - file.corrupt:,} of {file.lines:,}"
    else:
        message = f"All {_counted(file.lines, 'line')} can be read" if file.lines else f"{file.path} is empty"
        value_text = f"{file.lines:,} of {file.lines:,}"
    return Condition(
        code="corrupt_lines",
        title=title,
        status=_status(file.settled_corrupt > 0),
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


def _other_corrupt(facts: StoreFacts) -> Condition:
    paths = tuple(sorted(facts.other_corrupt, key=lambda path: (-facts.other_corrupt[path], path)))
    number = sum(facts.other_corrupt.values())
    return Condition(
        code="corrupt_lines",
        title="Lines of the other files readable",
        status=_status(number > 0),
        message=f"{_counted(number, 'corrupt line')} in {_listed(paths)}" if number else "All lines can be read",
        value=float(number),
        value_text=f"{number:,} corrupt" if number else "all",
        limit=0,
        limit_text="all",
        advice="See their faults: each names its cause" if number else "",
    )


def _injection_silenced(facts: StoreFacts) -> Condition:
    lines = facts.silencing_lines
    one = len(lines) == 1
    stopped = (
        f"{'Line' if one else 'Lines'} {_listed(lines)} {'has' if one else 'have'} no entities: the next session is told nothing at all"
    )
    return Condition(
        code="injection_silenced",
        title="The next session is told its decisions",
        status=_status(bool(lines)),
        message=stopped if lines else "Nothing stops the loader among the last 10 lines",
        value=float(len(lines)),
        value_text=f"{len(lines):,}",
        limit=0,
        limit_text="none",
        file=facts.decisions.path,
        advice="Add an empty list of entities to the record" if lines else "",
        faults_code="missing_entities",
    )


def _no_decisions(facts: StoreFacts, limits: Limits) -> Condition:
    """Many sessions and nothing kept of them is how memory that never persists looks from outside."""
    decisions = facts.decisions.lines - facts.decisions.corrupt
    empty = facts.sessions > 0 and decisions + facts.graph_entities == 0
    status = ConditionStatus.NOTE if empty else ConditionStatus.OK
    if facts.sessions == 0:
        message = "No session left events"
    elif empty:
        message = f"{_counted(facts.sessions, 'session')} and not one decision, nor any entity in the graph"
    elif decisions:
        message = f"{_counted(decisions, 'decision')} of {_counted(facts.sessions, 'session')} with events"
    else:
        message = f"No decision, but {_counted_entities(facts.graph_entities)} in the graph"
    return Condition(
        code="no_decisions_with_sessions",
        title="Sessions leave decisions",
        status=_status(empty and facts.sessions >= limits.sessions_without_decisions, status),
        message=message,
        value=float(facts.sessions) if empty else 0.0,
        value_text=_counted(facts.sessions, "session") if empty else "kept" if facts.sessions else "no session",
        limit=float(limits.sessions_without_decisions),
        limit_text=f"below {_counted(limits.sessions_without_decisions, 'session')}",
        file=facts.decisions.path,
        advice="See which version of OrchestKit runs: those since 6.0.4 keep decisions in the graph only" if empty else "",
    )


def _counted_entities(number: int) -> str:
    return f"{number:,} {'entity' if number == 1 else 'entities'}"


def _vanished(facts: StoreFacts) -> Condition:
    """A file that is not there has no corrupt lines: without this rule, the loss of all decisions would look like health."""
    lost = sum(facts.vanished.values())
    told = " and ".join(f"{path} is gone, with {_counted(records, 'record')}" for path, records in sorted(facts.vanished.items()))
    return Condition(
        code="memory_vanished",
        title="Nothing vanished that agents remembered",
        status=_status(lost > 0),
        message=told or "Every file that held decisions or problems is there",
        value=float(lost),
        value_text=_counted(lost, "record") if lost else "none",
        limit=0,
        limit_text="none",
        advice="Bring the file back, from version control or a copy; its records still stand in the mirror as gone. Mute this if it was meant"
        if lost
        else "",
    )


def _drain_lost(facts: StoreFacts) -> Condition:
    lost, young = facts.drains_lost, facts.drains_verifying
    message, value_text = "No drain was lost", f"{lost:,}"
    if lost:
        message = f"{_counted(lost, 'drain')} written three times and gone from the graph as often, or with nothing to tell by whether it is there"
    elif young:
        message = f"{_counted(young, 'drain')} {'is' if young == 1 else 'are'} being verified: the worker looks for ten minutes whether the graph keeps what {'it' if young == 1 else 'they'} wrote"
        value_text = "verifying"
    return Condition(
        code="drain_lost",
        title="What a drain wrote stays in the graph",
        status=_status(lost > 0),
        message=message,
        value=float(lost),
        value_text=value_text,
        limit=0,
        limit_text="none",
        advice="See who overwrites the graph: an agent's memory server that still runs, or another file" if lost else "",
        faults_code="drain_lost",
    )


def _graph_refused(facts: StoreFacts) -> Condition:
    """What is valid JSON and yet keeps agents from their graph."""
    number = facts.graph_refused
    stopped = f"{_counted(number, 'line')} of memory.json {'keeps' if number == 1 else 'keep'} the memory server from showing the graph"
    return Condition(
        code="graph_refused",
        title="The memory server can show the graph",
        status=_status(number > 0),
        message=stopped if number else "No line of memory.json stands in its way",
        value=float(number),
        value_text=f"{number:,}",
        limit=0,
        limit_text="none",
        file="memory.json",
        advice="See the faults of the file: a drain or a replay writes it anew, line by line" if number else "",
        faults_code="graph_refused",
    )


def _graph_place(facts: StoreFacts) -> Condition:
    place = facts.graph_place
    status = ConditionStatus.OK
    message, value_text, advice = "No memory server is configured", "no server", ""
    if place is not None:
        message, value_text = place.reason, {PACKAGE: "its own package"}.get(place.state, place.state)
        if not place.below_project:
            status = _status(place.state == PACKAGE, ConditionStatus.NOTE)
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


def _memory_md_budget(facts: StoreFacts) -> Condition:
    over = [file for file in facts.memory_files if file.not_loaded]
    warned = [file for file in facts.memory_files if not file.not_loaded and _is_warned(file)]
    lost = sum(file.not_loaded for file in over)
    named = over or warned
    status = ConditionStatus.NOTE if warned else ConditionStatus.OK
    if over:
        message = f"{_counted(lost, 'line')} of {_listed(tuple(file.path for file in over))} {'is' if lost == 1 else 'are'} never loaded"
    elif warned:
        message = f"{_listed(tuple(file.path for file in warned))}: near the budget, or with entries that are too long"
    else:
        number = len(facts.memory_files)
        message = f"{_counted(number, 'file')} within the budget" if number else "There is no MEMORY.md"
    return Condition(
        code="memory_md_budget",
        title="MEMORY.md is loaded whole",
        status=_status(bool(over), status),
        message=message,
        value=float(lost),
        value_text=f"{_counted(lost, 'line')} not loaded" if lost else "all loaded",
        limit=0,
        limit_text="all of it",
        file=named[0].path if len(named) == 1 else "",
        advice="Move what is not needed at every start into topic files: the newest entries stand last and are lost first" if named else "",
        faults_code="memory_md_budget",
    )


def _is_warned(file: MemoryFileFacts) -> bool:
    return file.lines >= LOADED_LINES or file.size_bytes >= WARNED_BYTES or file.long_lines > 0


def _poison(facts: StoreFacts) -> Condition:
    stopped = f"{_counted(facts.poison, 'operation')} of the queue {'stops' if facts.poison == 1 else 'stop'} every drain"
    return Condition(
        code="poison_operation",
        title="Queue lines can be executed",
        status=_status(facts.poison > 0),
        message=stopped if facts.poison else "No operation stops the drain",
        value=float(facts.poison),
        value_text=f"{facts.poison:,}",
        limit=0,
        limit_text="none",
        file=facts.queue.path,
        advice="Set the line aside, so that the others can be drained" if facts.poison else "",
        faults_code="poison_operation",
    )


def _queue_depth(facts: StoreFacts, limits: Limits) -> Condition:
    depth = facts.queue.lines
    failing = depth >= limits.queue_depth
    message = f"{_counted(depth, 'operation')} {'waits' if depth == 1 else 'wait'}" if depth else "No operation waits"
    if facts.duplicates_in_queue:
        message += f", {facts.duplicates_in_queue:,} of them written twice"
    return Condition(
        code="queue_depth",
        title=f"Queue below {limits.queue_depth:,} operations",
        status=_status(failing),
        message=message,
        value=float(depth),
        value_text=f"{depth:,}",
        limit=float(limits.queue_depth),
        limit_text=f"{limits.queue_depth:,}",
        file=facts.queue.path,
        advice="Drain the queue into the graph, or archive it" if failing else "",
    )


def _queue_oldest(facts: StoreFacts, now_ms: int, limits: Limits) -> Condition:
    limit_text = _span(limits.queue_oldest_s)
    age_s: float | None = None
    status = ConditionStatus.OK
    if not facts.queue.lines:
        message, value_text = "No operation waits", "none"
    elif facts.queue_oldest_ms is None:
        status = ConditionStatus.NOTE
        message, value_text = f"Of {_counted(facts.queue.lines, 'operation')} none says when it was queued", "not known"
    else:
        age_s = max(0, now_ms - facts.queue_oldest_ms) / 1000
        status = _status(age_s > limits.queue_oldest_s)
        value_text = _span(age_s)
        message = f"The oldest operation has waited {value_text}"
    return Condition(
        code="queue_oldest",
        title=f"No operation waits longer than {limit_text}",
        status=status,
        message=message,
        value=age_s,
        value_text=value_text,
        limit=float(limits.queue_oldest_s),
        limit_text=limit_text,
        file=facts.queue.path,
        advice="Drain the queue: nothing else will" if status is ConditionStatus.FAILING else "",
    )


def _queue_undrained(facts: StoreFacts, now_ms: int, limits: Limits) -> Condition:
    """A drain empties the queue, so an operation that still waits has seen no drain since it was queued."""
    known = [moment for moment in (facts.queue_oldest_ms, facts.queue_first_seen_ms) if moment is not None]
    since = facts.queue_last_shrink_ms if facts.queue_last_shrink_ms is not None else min(known, default=None)
    idle_s = max(0, now_ms - since) / 1000 if since is not None and facts.queue.lines else None
    came = facts.decisions_since_shrink
    failing = idle_s is not None and idle_s > limits.undrained_s and came > 0
    if not facts.queue.lines:
        message, value_text = "Nothing waits for a drain", "none"
    elif idle_s is None:
        message, value_text = "Since when nothing was drained is not known", "not known"
    else:
        value_text = _span(idle_s)
        message = f"Nothing was drained for {value_text}, while {_counted(came, 'decision')} came"
    return Condition(
        code="queue_undrained",
        title="Something drains the queue",
        status=_status(failing),
        message=message,
        value=idle_s,
        value_text=value_text,
        limit=float(limits.undrained_s),
        limit_text=_span(limits.undrained_s),
        file=facts.queue.path,
        advice="Drain it here: OrchestKit since 6.0.4 no longer does" if failing else "",
    )


def _dangling(facts: StoreFacts) -> Condition:
    led = f"{_counted(facts.dangling, 'operation')} of the queue {'names' if facts.dangling == 1 else 'name'} an entity that nothing makes"
    return Condition(
        code="dangling_relation",
        title="Relations of the queue have both ends",
        status=ConditionStatus.NOTE if facts.dangling else ConditionStatus.OK,
        message=led if facts.dangling else "Every end is an entity of the queue or of the graph",
        value=float(facts.dangling),
        value_text=f"{facts.dangling:,}",
        limit=0,
        limit_text="none",
        file=facts.queue.path,
        advice="Nothing breaks; a drain from here makes the missing ends first" if facts.dangling else "",
        faults_code="dangling_relation",
    )


def _double_hook(facts: StoreFacts) -> Condition:
    twice = f"{_counted(facts.double_hook, 'decision')} written twice within 100 ms"
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


def _stray(facts: StoreFacts) -> Condition:
    number = len(facts.stray_stores)
    found = f"{_counted(number, 'further store')} below the project: {_listed(facts.stray_stores)}"
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
    return condition if facts.stray_measured else _unmeasured(condition, "The project was not searched yet")


def _classic_health(facts: StoreFacts) -> Condition:
    """What OrchestKit itself would say, once a torn tail had its ten seconds (ruling 24)."""
    settled = facts._replace(decisions=facts.decisions._replace(corrupt=facts.decisions.settled_corrupt))
    report = classic(settled)
    message = report.mem0_message if report.graph_status == "healthy" and report.overall == "degraded" else report.graph_message
    return Condition(
        code="classic_health",
        title="OrchestKit's own check is content",
        status=_status(report.overall != "healthy"),
        message=message,
        value_text=report.overall,
        limit_text="healthy",
    )


def verdict(facts: StoreFacts, found: tuple[Condition, ...]) -> tuple[Verdict, str]:
    """Give the verdict of a store and a sentence that names the worst cause.

    `found` are the conditions that count; those that a person muted are left out. A failing one degrades, a note does not.
    """
    if not (facts.directory_exists and facts.directory_readable):
        return Verdict.UNAVAILABLE, _no_folder(facts)
    failing = [condition for condition in found if condition.status is ConditionStatus.FAILING]
    causes = [condition for condition in failing if condition.code != "classic_health"] or failing
    if causes:
        more = len(causes) - 1
        return Verdict.DEGRADED, causes[0].message + (
            f"; {_counted(more, 'more check')} {'fails' if more == 1 else 'fail'}" if more else ""
        )
    unmeasured = [condition for condition in found if condition.status is ConditionStatus.UNMEASURED and condition.code not in _NOTES_ONLY]
    if unmeasured:
        return Verdict.UNMEASURED, unmeasured[0].message
    notes = [condition for condition in found if condition.status is ConditionStatus.NOTE]
    if notes:
        return Verdict.HEALTHY, f"{_counted(len(notes), 'note')}: {notes[0].message}"
    return Verdict.HEALTHY, f"{_counted(len(found), 'check')} hold" if len(found) != 1 else "1 check holds"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(things: tuple[object, ...], most: int = 3) -> str:
    shown = [f"{thing:,}" if isinstance(thing, int) else str(thing) for thing in things[:most]]
    if len(things) > most:
        return f"{', '.join(shown)} and {len(things) - most:,} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def _span(seconds: float) -> str:
    """Say a length of time in its two largest units: "4 d 2 h", "3 h 5 min", "41 s"."""
    rest = int(seconds)
    parts: list[str] = []
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        number, rest = divmod(rest, size)
        if number:
            parts.append(f"{number:,} {unit}")
        elif parts:
            break
        if len(parts) == 2:
            break
    return " ".join(parts) or "0 s"
