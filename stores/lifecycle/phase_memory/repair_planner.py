"""What would mend the faults of a phase-memory store, where that can be told without a person's choice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from stores.formats.canonical import digest
from stores.formats.phase_memory.aliases import Record, unwrapped
from stores.formats.phase_memory.values import references
from stores.lifecycle import actions
from stores.lifecycle.vocabulary import PHASE_MEMORY, VERBS, Review

_FILE_VERBS: Final = {
    "duplicate_record_id": "set_file_aside",
    "filename_id_mismatch": "rename_file",
    "missing_layout_entry": "create_missing_entry",
    "nondeterministic_json": "rewrite_canonical",
    "truncated_last_line": "append_newline",
    "unterminated_last_line": "append_newline",
}
_RECORD_VERBS: Final = {
    "missing_edge_endpoint": ("archive", "edge"),
    "superseded_target_missing": ("restore", "node"),
    "compacted_summary_missing": ("restore", "path"),
    "parent_path_missing": ("make_root", "path"),
    "path_event_duplicate": ("keep_first_event", "path"),
}
_NEVER_BEGUN: Final = 1 << 62


class RepairFault(NamedTuple):
    """A fault that might be mended."""

    code: str
    file: str
    subject_id: str = ""
    key: str = ""
    sha256: str = ""
    """Hex digits of the file's bytes; of a log, of its last line."""


class RepairStore(NamedTuple):
    """What repairs are planned from; records as their files say them."""

    records: Mapping[tuple[str, str], Record]
    """By type and id: those that faults are about."""
    event_lines: Mapping[str, int]
    """Line of each event in the log, for the events of paths with faults."""
    begun_lines: Mapping[str, int] = {}
    """Line of the event that began a path, for paths whose parents form a ring."""


def planned_repairs(faults: Iterable[RepairFault], store: RepairStore) -> list[Record]:
    """Give the actions that mend faults, sorted by verb and targets; each record is in at most one, the rest come with the next plan."""
    listed = sorted(faults)
    taken: set[tuple[str, ...]] = set()
    found: list[Record] = []
    for action in [*_on_files(listed), *_on_records(listed, store), *_on_events(listed, store)]:
        target = (str(action["target_type"]), *references(action["target_ids"]))
        if target not in taken:
            taken.add(target)
            found.append(action)
    return sorted(found, key=lambda action: (str(action["action"]), action["target_ids"]))


def _on_files(faults: list[RepairFault]) -> Iterator[Record]:
    for fault in faults:
        verb = _FILE_VERBS.get(fault.code, "")
        is_new = verb == "create_missing_entry"
        if verb and (is_new or fault.sha256):
            yield _action(verb, "file", {fault.file: None if is_new else f"sha256:{fault.sha256}"}, fault.code)


def _on_records(faults: list[RepairFault], store: RepairStore) -> Iterator[Record]:
    for fault in faults:
        subject = fault.subject_id
        if fault.code == "path_parent_cycle":
            members = {fault.subject_id, *fault.key.split(">")}
            subject = min(members, key=lambda one: (store.begun_lines.get(one, _NEVER_BEGUN), one))
            verb, record_type = "make_root", "path"
        elif fault.code in _RECORD_VERBS:
            verb, record_type = _RECORD_VERBS[fault.code]
        else:
            continue
        value = store.records.get((record_type, subject))
        if value is not None:
            yield _action(verb, record_type, {subject: digest(value)}, fault.code)


def _on_events(faults: list[RepairFault], store: RepairStore) -> Iterator[Record]:
    """Mend lists of events: first what the log does not have goes, then what is missing comes, then the order."""
    lost, unlisted, unsorted = _events_by_path(faults)
    for path_id in sorted({*lost, *unlisted, *unsorted}):
        value = store.records.get(("path", path_id))
        if value is None:
            continue
        digests = {path_id: digest(value)}
        listed = references(unwrapped("path", value).get("event_ids"))
        if path_id in lost:
            yield _action("set_event_aside", "path", digests, "path_event_missing", {"event_ids": sorted(lost[path_id])})
        elif not all(one in store.event_lines for one in (*listed, *unlisted.get(path_id, ()))):
            continue
        elif path_id in unsorted:
            yield _action("sort_events", "path", digests, "path_event_order", {"event_ids": _in_order(listed, store)})
        else:
            wanted = _in_order((*listed, *unlisted[path_id]), store)
            yield _action("list_event", "path", digests, "event_path_unlisted", {"event_ids": wanted})


def _events_by_path(faults: list[RepairFault]) -> tuple[dict[str, set[str]], dict[str, set[str]], set[str]]:
    """Give what paths list that the log lacks, what they do not list that it has, and which lists are not in order."""
    lost: dict[str, set[str]] = {}
    unlisted: dict[str, set[str]] = {}
    unsorted: set[str] = set()
    for fault in faults:
        if fault.code == "path_event_missing":
            lost.setdefault(fault.subject_id, set()).add(fault.key)
        elif fault.code == "event_path_unlisted":
            unlisted.setdefault(fault.key, set()).add(fault.subject_id)
        elif fault.code == "path_event_order":
            unsorted.add(fault.subject_id)
    return lost, unlisted, unsorted


def _in_order(ids: Iterable[str], store: RepairStore) -> list[str]:
    return sorted(dict.fromkeys(ids), key=lambda one: store.event_lines[one])


def _action(
    verb: str, target_type: str, digests: Mapping[str, str | None], code: str, parameters: Mapping[str, object] | None = None
) -> Record:
    known = VERBS[PHASE_MEMORY][verb]
    needs_review = known.review is not Review.NEVER
    made = actions.make(PHASE_MEMORY, known, target_type, digests, f"mends {code}", requires_review=needs_review, parameters=parameters)
    return actions.named(made)
