"""Finds what is wrong with a phase-memory store, whole or only where something changed (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from stores.formats.base import Severity
from stores.formats.phase_memory.layout import ENTRIES, FOLDERS, LOGS, ROOT_FILE, Role, is_named_by, place_of
from stores.formats.phase_memory.vocabulary import DURABLE
from stores.health.phase_memory.findings import Finding, finding, said
from stores.health.phase_memory.log_lines import why
from stores.health.phase_memory.record_facts import ActivationRefs, EdgeRefs, NodeRefs, Oddity, PathRefs, RecordFacts
from stores.health.phase_memory.store_facts import ROOT, StoreFacts, Unit


class Findings:
    """What was found, by the unit in which it was."""

    def __init__(self) -> None:
        self._of: dict[Unit, tuple[Finding, ...]] = {}

    def of(self, unit: Unit) -> tuple[Finding, ...]:
        """Give what was found in one unit."""
        return self._of.get(unit, ())

    def put(self, unit: Unit, found: Iterable[Finding]) -> None:
        """Take what is found in a unit now; of two with one identity the first is kept."""
        kept = tuple({one.identity: one for one in reversed(some)}.values())[::-1] if (some := tuple(found)) else ()
        if kept:
            self._of[unit] = kept
        else:
            self._of.pop(unit, None)

    def listed(self) -> list[Finding]:
        """Give everything that was found, by place. Of a store that cannot be read only that is told."""
        if ROOT in self._of:
            return list(self._of[ROOT])
        return sorted((one for found in self._of.values() for one in found), key=lambda one: one.sort_key)


def check_all(facts: StoreFacts) -> Findings:
    """Check a whole store."""
    findings = Findings()
    check_changed(facts, findings, facts.units())
    return findings


def check_changed(facts: StoreFacts, findings: Findings, changed: Iterable[Unit]) -> None:
    """Check again what a change of the facts touched, and put it into the findings; the result is that of `check_all`."""
    for unit in changed:
        findings.put(unit, check_unit(facts, unit))


def check_unit(facts: StoreFacts, unit: Unit) -> Iterator[Finding]:
    """Check one unit; one that is no more has no findings."""
    return _CHECKS[unit.what](facts, unit)


def is_acknowledged(facts: StoreFacts, found: Finding) -> bool:
    """Say whether an audit record closes a finding on a line that is still the same."""
    if found.file not in LOGS or found.line is None:
        return False
    log = facts.events if found.file == LOGS[0] else facts.audit
    return facts.audit.is_acknowledged(found, log.hashes.of(found.line))


def _root(facts: StoreFacts, unit: Unit) -> Iterator[Finding]:
    root = facts.root
    subject = ("store", None)
    if facts.root_is_link or not root.version:
        cause = "symlink" if facts.root_is_link else root.cause
        message = f"{ROOT_FILE} does not say that this is a store: {why(cause)}. Nothing else is checked"
        yield finding("store_root_missing", ROOT_FILE, message, subject=subject, details={"cause": cause})
    elif not root.supported:
        message = f"The store has version {said(root.version)}, which is not known here: it is only shown. Nothing else is checked"
        yield finding("unsupported_store_version", ROOT_FILE, message, subject=subject, key=root.version)


def _entry(facts: StoreFacts, unit: Unit) -> Iterator[Finding]:
    path, kind = unit.name, facts.entries.get(unit.name)
    if kind is None:
        if path in ENTRIES:
            what = "folder" if path in FOLDERS else "log"
            yield finding("missing_layout_entry", path, f"The {what} {path} is missing")
        return
    role = place_of(path, kind).role
    if role is Role.LINK:
        yield finding("symlink_in_store", path, f"{said(path)} is a link: links in a store are never followed")
    elif role is Role.UNEXPECTED:
        yield finding("unexpected_file", path, f"{said(path)} does not belong to the layout of a store")
    elif role is Role.MISPLACED and path in ENTRIES:
        what = "folder" if path in FOLDERS else "regular file"
        message = f"{path} should be a {what} and is none"
        yield finding("missing_layout_entry", path, message, details={"cause": "not_regular"})


def _file(facts: StoreFacts, unit: Unit) -> Iterator[Finding]:
    file = facts.files.get(unit.name)
    if file is None:
        return
    if file.refused:
        message = f"{said(file.path)} cannot be read: {why(file.refused)}"
        yield finding("malformed_record_file", file.path, message, details={"cause": file.refused})
    elif not file.deterministic:
        message = f"{said(file.path)} is not written in the usual form: keys sorted, two spaces a level"
        yield finding("nondeterministic_json", file.path, message, subject=(file.record_type, file.id))


def _group(facts: StoreFacts, unit: Unit) -> Iterator[Finding]:
    group = facts.group(unit.record_type, unit.name)
    if not group:
        return
    file = group[0]
    subject = (file.record_type, file.id)
    for other in group[1:]:
        same = other.digest == file.digest
        key, severity = ("identical", Severity.WARNING) if same else ("different", Severity.ERROR)
        words = "the same" if same else "something else"
        message = f"{said(other.path)} has the id of {said(file.path)}, which counts, and says {words}"
        yield finding("duplicate_record_id", other.path, message, subject=subject, key=key, severity=severity)
    if len(group) == 1 and not is_named_by(file.path, file.id):
        message = f"{said(file.path)} holds the {file.record_type} {said(file.id)}: the id in the file counts"
        yield finding("filename_id_mismatch", file.path, message, subject=subject)
    for oddity in file.oddities:
        yield finding(oddity.code, file.path, _odd_words(file, oddity), subject=subject, key=oddity.key)
    yield from _references(facts, file)


def _odd_words(file: RecordFacts, oddity: Oddity) -> str:
    what = f"{file.record_type.capitalize()} {said(file.id)}"
    key = said(oddity.key)
    return {
        "invalid_record": f"{what}: the field {key} is missing or of a wrong type",
        "unknown_record_schema_version": f"{what} has schema version {key}, which is not known here",
        "unknown_kind": f"{what} has the kind {key}, which is none of the known ones",
        "invalid_phase": f"{what} has the phase {key}, which is none of the four",
        "invalid_lifecycle_state": f"{what} has the state {key}, which is none of the six",
        "path_state_inconsistent": f"{what} has the state {key}, which does not agree with its merge target, reason and summary",
    }[oddity.code]


def _references(facts: StoreFacts, file: RecordFacts) -> Iterator[Finding]:
    refs = file.refs
    if isinstance(refs, EdgeRefs):
        return _edge(facts, file, refs)
    if isinstance(refs, NodeRefs):
        return _node(facts, file, refs)
    if isinstance(refs, PathRefs):
        return _path(facts, file, refs)
    return _activation(facts, file, refs) if refs is not None else iter(())


def _edge(facts: StoreFacts, file: RecordFacts, refs: EdgeRefs) -> Iterator[Finding]:
    if refs.archived:
        return
    for side, node in (("source", refs.source), ("target", refs.target)):
        if not facts.exists("node", node):
            message = f"Edge {said(file.id)} points at node {said(node)}, which does not exist"
            yield finding("missing_edge_endpoint", file.path, message, subject=("edge", file.id), key=f"{side}:{node}")


def _node(facts: StoreFacts, file: RecordFacts, refs: NodeRefs) -> Iterator[Finding]:
    subject = ("node", file.id)
    if refs.superseded_by and not facts.exists("node", refs.superseded_by):
        message = f"Node {said(file.id)} is superseded by {said(refs.superseded_by)}, which does not exist"
        yield finding("superseded_target_missing", file.path, message, subject=subject, key=refs.superseded_by)
    for event_id in refs.source_event_ids:
        if event_id not in facts.events.positions:
            message = f"Node {said(file.id)} names event {said(event_id)} as its source, which is not in the log"
            yield finding("source_event_missing", file.path, message, subject=subject, key=event_id)
    after = facts.audit.after.get(file.id)
    if refs.phase in DURABLE and after is not None and after != f"sha256:{file.digest.hex()}":
        severity = Severity.ERROR if refs.phase == "rigid" else Severity.WARNING
        message = f"Node {said(file.id)} is {refs.phase} and not what its last audited change left: it was changed without a review"
        yield finding("unreviewed_durable_change", file.path, message, subject=subject, severity=severity)


def _activation(facts: StoreFacts, file: RecordFacts, refs: ActivationRefs) -> Iterator[Finding]:
    for node in refs.node_ids:
        if not facts.exists("node", node):
            message = f"Activation {said(file.id)} names node {said(node)}, which does not exist"
            yield finding("activation_reference_missing", file.path, message, subject=("activation", file.id), key=node)


def _path(facts: StoreFacts, file: RecordFacts, refs: PathRefs) -> Iterator[Finding]:
    subject = ("path", file.id)
    what = f"Path {said(file.id)}"
    if refs.parent and not facts.exists("path", refs.parent):
        message = f"{what} branched off {said(refs.parent)}, which does not exist"
        yield finding("parent_path_missing", file.path, message, subject=subject, key=refs.parent)
    if refs.merge_target and not facts.exists("path", refs.merge_target):
        message = f"{what} was merged into {said(refs.merge_target)}, which does not exist"
        yield finding("merge_target_missing", file.path, message, subject=subject, key=refs.merge_target)
    if refs.summary_id and not facts.exists("node", refs.summary_id):
        message = f"{what} was compacted into node {said(refs.summary_id)}, which does not exist"
        yield finding("compacted_summary_missing", file.path, message, subject=subject, key=refs.summary_id)
    seen: set[str] = set()
    last, disorder = 0, False
    for event_id in refs.event_ids:
        if event_id in seen:
            message = f"{what} lists event {said(event_id)} more than once"
            yield finding("path_event_duplicate", file.path, message, subject=subject, key=event_id)
            continue
        seen.add(event_id)
        position = facts.events.positions.get(event_id)
        if position is None:
            message = f"{what} lists event {said(event_id)}, which is not in the log"
            yield finding("path_event_missing", file.path, message, subject=subject, key=event_id)
            continue
        disorder |= position < last
        last = position
    if disorder:
        yield finding("path_event_order", file.path, f"{what} lists its events in another order than the log", subject=subject)


def _fold(facts: StoreFacts, unit: Unit) -> Iterator[Finding]:
    first, *others = facts.folded(unit.record_type, unit.name) or [""]
    for other in others:
        file = facts.primary(unit.record_type, other)
        if file is not None:
            message = f"The ids {said(first)} and {said(other)} differ in case only, which some file systems cannot tell apart"
            yield finding("id_case_collision", file.path, message, subject=(unit.record_type, other), key=first)


def _path_events(facts: StoreFacts, unit: Unit) -> Iterator[Finding]:
    events = facts.events.by_path.get(unit.name, ())
    path = facts.primary("path", unit.name)
    if path is not None and not isinstance(path.refs, PathRefs):
        return
    listed = set(path.refs.event_ids) if path is not None and isinstance(path.refs, PathRefs) else set()
    for event_id in events:
        if event_id in listed:
            continue
        code = "event_path_missing" if path is None else "event_path_unlisted"
        words = "which does not exist" if path is None else "which does not list it"
        message = f"Event {said(event_id)} belongs to path {said(unit.name)}, {words}"
        yield _on_event(facts, code, event_id, message, unit.name)


def _actions(facts: StoreFacts, unit: Unit) -> Iterator[Finding]:
    for action_id, events in facts.events.by_action.items():
        if action_id in facts.audit.applied:
            continue
        for event_id in events:
            message = f"Event {said(event_id)} belongs to action {said(action_id)}, and no audit record says that it was applied"
            yield _on_event(facts, "unaudited_apply", event_id, message, action_id)


def _on_event(facts: StoreFacts, code: str, event_id: str, message: str, key: str) -> Finding:
    line = facts.events.line_of(event_id)
    details = {"sha256": facts.events.hashes.of(line)}
    return finding(code, LOGS[0], message, line=line, subject=("event", event_id), key=key, details=details)


def _cycles(facts: StoreFacts, unit: Unit) -> Iterator[Finding]:
    done: set[str] = set()
    for start in facts.ids("path"):
        walk: dict[str, None] = {}
        at = start
        while at and at not in walk and at not in done:
            walk[at] = None
            file = facts.primary("path", at)
            at = file.refs.parent if file is not None and isinstance(file.refs, PathRefs) else ""
        if at in walk:
            yield from _ring(facts, list(walk)[list(walk).index(at) :])
        done.update(walk)


def _ring(facts: StoreFacts, members: list[str]) -> Iterator[Finding]:
    turn = members.index(min(members))
    members = members[turn:] + members[:turn]
    file = facts.primary("path", members[0])
    if file is not None:
        message = f"The parents of path {said(members[0])} lead back to it, over {len(members)} paths"
        key = ">".join(members)
        yield finding("path_parent_cycle", file.path, message, subject=("path", members[0]), key=key, details={"members": members})


def _log(facts: StoreFacts, unit: Unit) -> Iterator[Finding]:
    return iter(facts.events.findings if unit.name == LOGS[0] else facts.audit.findings)


_CHECKS: Final[dict[str, Callable[[StoreFacts, Unit], Iterator[Finding]]]] = {
    "root": _root,
    "entry": _entry,
    "file": _file,
    "group": _group,
    "fold": _fold,
    "path_events": _path_events,
    "cycles": _cycles,
    "actions": _actions,
    "log": _log,
}
