"""The conditions of a phase-memory store and the verdict that follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from stores.health.base import Condition, ConditionStatus, Verdict

_DAY_MS: Final = 86_400_000
_ROOT: Final = frozenset({"store_root_missing", "unsupported_store_version"})
_FILES: Final = frozenset({"malformed_record_file", "symlink_in_store", "invalid_record", "invalid_phase", "invalid_lifecycle_state"})
_CHAIN: Final = frozenset({"audit_sequence_gap", "audit_chain_broken", "malformed_audit_line"})
_GATE: Final = frozenset({"unapproved_apply", "unaudited_apply", "unreviewed_durable_change"})
_REFERENCES: Final = frozenset({"missing_edge_endpoint", "path_event_missing", "merge_target_missing", "compacted_summary_missing"})
_PATHS: Final = frozenset({"path_parent_cycle", "path_state_inconsistent"})
_LINES: Final = frozenset({"malformed_event_line", "truncated_last_line"})
_TOLD: Final = _ROOT | _FILES | _CHAIN | _GATE | _REFERENCES | _PATHS | _LINES


@dataclass(frozen=True, slots=True)
class Found:
    """How many faults of one code are open: not acknowledged, and past the time in which a torn line may still grow."""

    code: str
    errors: int = 0
    others: int = 0


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What is known of one log."""

    path: str
    exists: bool
    readable: bool
    lines: int
    settled_corrupt: int


@dataclass(frozen=True, slots=True)
class HealthFacts:
    """What the conditions look at."""

    directory_exists: bool = True
    directory_readable: bool = True
    found: Mapping[str, Found] = field(default_factory=dict)
    """By code."""
    events: LogFacts = LogFacts("events.jsonl", True, True, 0, 0)
    audit: LogFacts = LogFacts("audit.jsonl", True, True, 0, 0)
    record_files: int = 0
    folders_unreadable: tuple[str, ...] = ()
    last_sequence: int | None = None
    """Of the newest audit record that carries a number."""
    durable: int = 0
    durable_unreviewed: int = 0
    oldest_unreviewed_ms: int | None = None
    """When the durable node that waits longest for a review was last changed."""
    nodes: int = 0
    nodes_before: int | None = None
    """How many there were a week ago; None where nothing was measured then."""
    paths_active: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """From where on a condition says something."""

    unreviewed_days: int = 7
    growth_share: float = 0.5
    """More nodes within a week than this share of those before."""
    growth_least: int = 100


DEFAULT_LIMITS: Final = Limits()


def conditions(facts: HealthFacts, now_ms: int, limits: Limits = DEFAULT_LIMITS) -> tuple[Condition, ...]:
    """Apply every rule; each is always there, also when all is well. What blocks the store comes first."""
    found = tuple(_rules(facts, now_ms, limits))
    if facts.directory_exists and facts.directory_readable:
        return found
    why = _no_folder(facts)
    return tuple(_unmeasured(one, why) for one in found)


def verdict(facts: HealthFacts, found: tuple[Condition, ...]) -> tuple[Verdict, str]:
    """Give the verdict of a store and a sentence that names the worst cause.

    `found` are the conditions that count; those that a person muted are left out. A failing one degrades, a note does not; a store
    whose root file cannot be read is unavailable: nothing else of it is checked.
    """
    if not (facts.directory_exists and facts.directory_readable):
        return Verdict.UNAVAILABLE, _no_folder(facts)
    failing = [one for one in found if one.status is ConditionStatus.FAILING]
    if failing:
        more = len(failing) - 1
        blocked = failing[0].code == "store_format" and _number(facts, {"store_root_missing"})
        rest = f"; {_counted(more, 'more check')} {'fails' if more == 1 else 'fail'}" if more else ""
        return Verdict.UNAVAILABLE if blocked else Verdict.DEGRADED, failing[0].message + rest
    unmeasured = [one for one in found if one.status is ConditionStatus.UNMEASURED]
    if unmeasured:
        return Verdict.UNMEASURED, unmeasured[0].message
    notes = [one for one in found if one.status is ConditionStatus.NOTE]
    if notes:
        return Verdict.HEALTHY, f"{_counted(len(notes), 'note')}: {notes[0].message}"
    return Verdict.HEALTHY, f"{_counted(len(found), 'check')} hold"


def _rules(facts: HealthFacts, now_ms: int, limits: Limits) -> Iterator[Condition]:
    yield _store_format(facts)
    yield _corrupt_lines(facts.events)
    yield _corrupt_lines(facts.audit)
    yield _record_files(facts)
    yield _audit_chain(facts)
    yield _counting(
        facts,
        "gate",
        "No change went past the gate",
        _GATE,
        "change went past the gate, or is not audited",
        "changes went past the gate, or are not audited",
        "Look at each on the faults page: accept it by a review, restore the record, or acknowledge it with a reason.",
    )
    yield _counting(
        facts,
        "references",
        "Edges and paths point at what exists",
        _REFERENCES,
        "reference leads nowhere",
        "references lead nowhere",
        "Each is mended by a reviewed action, or by making again by hand what is missing.",
    )
    yield _counting(
        facts,
        "path_states",
        "Paths have parents and states that agree",
        _PATHS,
        "path contradicts itself",
        "paths contradict themselves",
        "Each is mended by a reviewed action.",
    )
    yield _other_faults(facts)
    yield _durable_unreviewed(facts)
    yield _oldest_unreviewed(facts, now_ms, limits)
    yield _growth(facts, limits)


def _store_format(facts: HealthFacts) -> Condition:
    title = "phase-memory.json can be read and has a known version"
    missing, unsupported = _number(facts, {"store_root_missing"}), _number(facts, {"unsupported_store_version"})
    if missing or unsupported:
        message = "phase-memory.json cannot be read" if missing else "the store has a version that is not known here"
        return Condition(
            "store_format",
            title,
            ConditionStatus.FAILING,
            f"{message}, so nothing else is checked and nothing is written",
            value=1.0,
            value_text="1",
            limit=0.0,
            limit_text="0",
            file="phase-memory.json",
            advice="Put the root file right; what stands in the store is only shown until then.",
            faults_code="store_root_missing" if missing else "unsupported_store_version",
        )
    return Condition("store_format", title, ConditionStatus.OK, "the root file is in order", 0.0, "0", 0.0, "0", file="phase-memory.json")


def _corrupt_lines(log: LogFacts) -> Condition:
    title = f"Every line of {log.path} can be read"
    if log.exists and not log.readable:
        message = f"{log.path} cannot be read"
        return Condition("corrupt_lines", title, ConditionStatus.FAILING, message, file=log.path, advice="Let the worker read the file.")
    number = log.settled_corrupt
    if not number:
        message = (
            f"{_counted(log.lines, 'line')} {'is' if log.lines == 1 else 'are'} in order" if log.exists else f"{log.path} is not there"
        )
        return Condition("corrupt_lines", title, ConditionStatus.OK, message, 0.0, "0", 0.0, "0", file=log.path)
    return Condition(
        "corrupt_lines",
        title,
        ConditionStatus.FAILING,
        f"{_counted(number, 'line')} of {log.path} cannot be read",
        float(number),
        f"{number:,}",
        0.0,
        "0",
        file=log.path,
        advice="Lines of such a log are never changed: look at them, and acknowledge those that are lost.",
        faults_code="malformed_event_line" if log.path == "events.jsonl" else "malformed_audit_line",
    )


def _record_files(facts: HealthFacts) -> Condition:
    title = "Every record file can be read"
    number = _number(facts, _FILES)
    if facts.folders_unreadable:
        message = f"the folder {facts.folders_unreadable[0]} cannot be looked into"
        return Condition("record_files", title, ConditionStatus.FAILING, message, advice="Let the worker read the folder.")
    if not number:
        message = f"{_counted(facts.record_files, 'record file')} {'is' if facts.record_files == 1 else 'are'} in order"
        return Condition("record_files", title, ConditionStatus.OK, message, 0.0, "0", 0.0, "0")
    return Condition(
        "record_files",
        title,
        ConditionStatus.FAILING,
        f"{_counted(number, 'record file')} cannot be read, or {'says' if number == 1 else 'say'} what no record says",
        float(number),
        f"{number:,}",
        0.0,
        "0",
        advice="A person has to put the files right; their last good version is shown until then.",
        faults_code=_only(facts, _FILES),
    )


def _audit_chain(facts: HealthFacts) -> Condition:
    title = "The audit log's records follow each other"
    number = _number(facts, _CHAIN)
    if number:
        return Condition(
            "audit_chain",
            title,
            ConditionStatus.FAILING,
            f"the audit log's chain is broken in {_counted(number, 'place')}",
            float(number),
            f"{number:,}",
            0.0,
            "0",
            file=facts.audit.path,
            advice="Find out who changed the log: records were removed, changed or written past the chain.",
            faults_code=_only(facts, _CHAIN),
        )
    numbered = facts.last_sequence is not None
    message = f"the chain holds up to number {facts.last_sequence:,}" if numbered else "no record carries a number, so nothing is chained"
    return Condition("audit_chain", title, ConditionStatus.OK, message, 0.0, "0", 0.0, "0", file=facts.audit.path)


def _counting(facts: HealthFacts, code: str, title: str, codes: frozenset[str], one: str, many: str, advice: str) -> Condition:
    """Give a condition that fails as soon as there is one fault of some codes."""
    number = _number(facts, codes)
    if not number:
        return Condition(code, title, ConditionStatus.OK, "none was found", 0.0, "0", 0.0, "0")
    message = f"{number:,} {one if number == 1 else many}"
    failing = (ConditionStatus.FAILING, message, float(number), f"{number:,}", 0.0, "0")
    return Condition(code, title, *failing, advice=advice, faults_code=_only(facts, codes))


def _other_faults(facts: HealthFacts) -> Condition:
    title = "Nothing else is wrong"
    others = [one for code, one in facts.found.items() if code not in _TOLD]
    errors, rest = sum(one.errors for one in others), sum(one.others for one in others)
    if errors:
        message = f"{_counted(errors, 'more error')} {'was' if errors == 1 else 'were'} found"
        return Condition("other_faults", title, ConditionStatus.FAILING, message, float(errors), f"{errors:,}", 0.0, "0")
    if rest:
        message = f"{_counted(rest, 'warning or remark', 'warnings and remarks')}"
        return Condition("other_faults", title, ConditionStatus.NOTE, message, float(rest), f"{rest:,}", 0.0, "0")
    return Condition("other_faults", title, ConditionStatus.OK, "nothing was found", 0.0, "0", 0.0, "0")


def _durable_unreviewed(facts: HealthFacts) -> Condition:
    title = "Durable nodes were reviewed"
    number, of = facts.durable_unreviewed, facts.durable
    if not number:
        message = f"{_counted(of, 'durable node')}, each with a reviewed change" if of else "no node is durable"
        return Condition("durable_unreviewed", title, ConditionStatus.OK, message, 0.0, "0", 0.0, "0")
    return Condition(
        "durable_unreviewed",
        title,
        ConditionStatus.NOTE,
        f"{number:,} of {_counted(of, 'durable node')} {'has' if number == 1 else 'have'} no reviewed change in the audit log",
        float(number),
        f"{number:,}",
        0.0,
        "0",
        advice="Look through them: what is durable is told to agents until somebody takes it back.",
    )


def _oldest_unreviewed(facts: HealthFacts, now_ms: int, limits: Limits) -> Condition:
    title = "No durable node waits long for a review"
    limit, limit_text = float(limits.unreviewed_days * 86_400), f"{limits.unreviewed_days} d"
    since = facts.oldest_unreviewed_ms
    if since is None:
        message = "none waits" if not facts.durable_unreviewed else "none of those that wait says when it was changed"
        return Condition("oldest_unreviewed", title, ConditionStatus.OK, message, None, "", limit, limit_text)
    days = max(0, now_ms - since) // _DAY_MS
    value = (max(0.0, (now_ms - since) / 1000), f"{days:,} d", limit, limit_text)
    message = f"the oldest one was changed {_counted(days, 'day')} ago"
    status = ConditionStatus.NOTE if days >= limits.unreviewed_days else ConditionStatus.OK
    return Condition("oldest_unreviewed", title, status, message, *value)


def _growth(facts: HealthFacts, limits: Limits) -> Condition:
    title = "The store grows at a pace that somebody can follow"
    before = facts.nodes_before
    if before is None:
        message = f"{_counted(facts.nodes, 'node')}; how many there were a week ago was not measured"
        return Condition("growth", title, ConditionStatus.OK, message, None, "", None, f"{limits.growth_share:.0%} a week")
    more = facts.nodes - before
    share = more / before if before else float(more > 0)
    fast = more >= limits.growth_least and share > limits.growth_share
    message = f"{more:+,} nodes within a week, {facts.nodes:,} in all"
    status = ConditionStatus.NOTE if fast else ConditionStatus.OK
    return Condition("growth", title, status, message, share, f"{share:+.0%}", limits.growth_share, f"{limits.growth_share:.0%} a week")


def _unmeasured(condition: Condition, why: str) -> Condition:
    return Condition(condition.code, condition.title, ConditionStatus.UNMEASURED, why, file=condition.file)


def _no_folder(facts: HealthFacts) -> str:
    return "the folder is not there" if not facts.directory_exists else "the folder cannot be opened"


def _number(facts: HealthFacts, codes: Iterable[str]) -> int:
    return sum(one.errors + one.others for code in codes if (one := facts.found.get(code)) is not None)


def _only(facts: HealthFacts, codes: Iterable[str]) -> str:
    """Give the code of all faults of a condition; "" when they have several."""
    there = [code for code in codes if code in facts.found]
    return there[0] if len(there) == 1 else ""


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
