"""What people may propose about a mirrored record as it is now, and the id by which an action names it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from stores.formats.identifiers import is_usable
from stores.formats.phase_memory.reading import LONGEST_ID, read_record
from stores.lifecycle.vocabulary import COMMON, VERBS, Verb
from stores.models import MirroredRecord

DECISIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "choose_merge_target": ("merge_target_missing", "path_state_inconsistent"),
    "correct_path_state": ("path_state_inconsistent",),
}
"""Repairs in which a person has to choose something: offered where the path has one of these faults."""
_BY_PLAN: Final = frozenset({"set_event_aside", "keep_first_event", "sort_events", "list_event", "make_root"})
"""Repairs that leave nothing to choose: they are proposed from the faults that they mend."""
_FROM_ELSEWHERE: Final = frozenset({"create_record", "replace_record", "append_events", "remember"})
"""What brings content of its own: it comes from an import or an agent."""
_NOT_HERE: Final = _BY_PLAN | _FROM_ELSEWHERE | {"create_path"}
_TREE: Final = frozenset({"node", "edge", "path", "profile"})
_OF_LOGS: Final = frozenset({"decision", "problem"})


def offered(record: MirroredRecord, faults: Collection[str] = (), *, has_doubles: bool = False) -> list[Verb]:
    """Give the verbs that may be proposed about a record, in their order; none for one that is gone or cannot be read. No query.

    `faults` are the codes of its faults.
    """
    if not is_there(record):
        return []
    return [verb for verb in _about(record) if _fits(verb, record, faults, has_doubles)]


def is_there(record: MirroredRecord) -> bool:
    """Say whether an action finds the record: it is live, can be read, and is the one that its id means."""
    tree: Any = record
    if record.gone_at is not None:
        return False
    return record.record_type not in _TREE or not (tree.is_duplicate or tree.unreadable_since)


def target_id(record: MirroredRecord, raw: bytes) -> str:
    """Give the id by which an action names a record, "" where none can be given; one query for a decision or problem.

    A line whose id is none, or another live line's too, is named by its sha256.
    """
    if record.record_type in _TREE:
        read = read_record(record.record_type, raw)
        return "" if read.refused else read.id
    if record.record_type not in _OF_LOGS:
        return ""
    name = record.natural_id
    alike: Any = type(record)._default_manager
    if is_usable(name) and len(name) <= LONGEST_ID:
        same = alike.filter(file_id=record.file_id, key=record.key, natural_id=name, gone_at__isnull=True)
        if list(same.values_list("pk", flat=True)[:2]) == [record.pk]:
            return name
    return bytes(record.sha256).hex()


def _about(record: MirroredRecord) -> list[Verb]:
    verbs = VERBS.get(record.store.kind, {})
    listed = [verb for name, verb in verbs.items() if record.record_type in verb.target_types and name not in COMMON]
    return [verb for verb in listed if verb.name not in _NOT_HERE]


def _fits(verb: Verb, record: MirroredRecord, faults: Collection[str], has_doubles: bool) -> bool:
    tree: Any = record
    if verb.name in DECISIONS:
        return any(code in faults for code in DECISIONS[verb.name])
    if verb.name == "merge_duplicates":
        return has_doubles
    state = tree.state if record.record_type in _TREE else tree.status if record.record_type == "problem" else ""
    return not verb.from_states or state in verb.from_states
