"""Plans what may be proposed for a store, from its mirror and at a given time; nothing is written, and queued only when asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from stores import audit
from stores.errors import BadRequest
from stores.formats import storable
from stores.formats.canonical import digest
from stores.formats.phase_memory.aliases import Record, unwrapped
from stores.formats.phase_memory.reading import read_record
from stores.formats.phase_memory.values import items, mapping, reference
from stores.lifecycle.phase_memory import planner
from stores.lifecycle.vocabulary import ORCHESTKIT, PHASE_MEMORY
from stores.models import MemoryPath, Node, Profile, Store, User
from stores.review import line_planning, repair_planning
from stores.review.submitting import PLANNER, Proposer, Submitted, submit

ENVELOPE: Final = "phase_memory.runtime.envelope.v1"
OPERATION: Final = "graph.lifecycle.plan"
_BATCH: Final = 2000


class Asked(NamedTuple):
    """What a plan is to be made from beside the store."""

    now: datetime
    profile: str = ""
    """Id of the profile whose rules count; "" where the store has only one."""
    source_digests: Mapping[str, str] = {}
    """New digests of the sources of nodes, by the node's id, where anybody has looked."""
    repairs: bool = False
    """Plan what mends the store's faults instead of what its rules ask for; a store without rules has only that."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Actions that may be proposed."""

    actions: list[Record]
    subject: str
    profile_id: str = ""
    rule_config: Record = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    """What could not be planned, and why, in words without memory text."""

    def document(self) -> dict[str, object]:
        """Give it as the runtime envelope of docs/formats.md."""
        return {
            "schema_version": ENVELOPE,
            "operation_id": f"op:{digest(self.actions)[7:23]}",
            "operation": OPERATION,
            "dry_run": True,
            "valid": True,
            "subject": self.subject,
            "source": "store",
            "policy_decision": {"allowed": True, "reason": "local policy", "obligations": []},
            "audit_receipt": None,
            "diagnostics": [{"severity": "info", "message": words} for words in self.left_out],
            "data": {"profile_id": self.profile_id, "rule_config": self.rule_config, "dry_run_actions": self.actions},
        }


def plan(store: Store, asked: Asked) -> Plan:
    """Plan for a store; raises BadRequest where the kind has no rules, or a profile must be named first."""
    planners: Mapping[str, Callable[[Store, Asked], Plan]] = {PHASE_MEMORY: _by_profile, ORCHESTKIT: _by_findings}
    make = planners.get(store.kind)
    if make is None:
        raise BadRequest(f"Nothing can be planned for stores of the kind {store.kind}.")
    return make(store, asked)


def submit_plan(store: Store, planned: Plan, through: audit.Through, now: datetime, *, asked_by: User | None = None) -> list[Submitted]:
    """Queue what was planned, in the planner's name, which is nobody's (ruling 15); what is queued or was rejected lately is told as such."""
    return submit(store, planned.actions, Proposer(PLANNER, PLANNER, through, asked_by=asked_by), now)


def _by_findings(store: Store, asked: Asked) -> Plan:
    found = line_planning.planned(store, asked.now)
    return Plan(found.actions, store.slug, left_out=found.left_out)


def _by_profile(store: Store, asked: Asked) -> Plan:
    if asked.repairs:
        repairs = repair_planning.planned(store)
        return Plan(repairs.actions, store.slug, left_out=repairs.left_out)
    name, profile = _profile(store, asked.profile)
    nodes, lost = _values(Node, store)
    paths, lost_paths = _values(MemoryPath, store)
    unreadable = lost + lost_paths
    actions = planner.planned_actions(profile, planner.StoreRecords(nodes, paths, asked.source_digests), asked.now)
    record = unwrapped("profile", profile)
    return Plan(
        actions,
        _graph_of(nodes.values()) or store.slug,
        name,
        {"retention": record.get("retention"), "phase_transitions": items(mapping(record.get("metadata")).get("phase_transitions"))},
        [f"{unreadable:,} records are too large to be planned for."] if unreadable else [],
    )


def _profile(store: Store, wanted: str) -> tuple[str, Record]:
    found, _ = _values(Profile, store)
    if wanted and wanted not in found:
        raise BadRequest(f"Store {store.slug} has no profile {wanted} that can be read. There are: {', '.join(sorted(found)) or 'none'}.")
    if not found:
        raise BadRequest(f"Store {store.slug} has no profile that can be read: without rules nothing is planned.")
    if not wanted and len(found) > 1:
        raise BadRequest(f"Store {store.slug} has {len(found)} profiles: name one of {', '.join(sorted(found))}.")
    name = wanted or next(iter(found))
    return name, found[name]


def _values(model: type[Node] | type[MemoryPath] | type[Profile], store: Store) -> tuple[dict[str, Record], int]:
    """Give what the first of the records of each id says, and how many are kept only in part: one query for 2,000 of them."""
    live: Any = model._default_manager
    rows = live.filter(store=store, gone_at__isnull=True, is_duplicate=False, unreadable_since__isnull=True)
    found: dict[str, Record] = {}
    lost = 0
    for raw in rows.order_by("path", "id").values_list("text__raw", flat=True).iterator(chunk_size=_BATCH):
        read = read_record(model.record_type, bytes(raw))
        if read.refused:
            lost += 1
        else:
            found.setdefault(read.id, read.value)
    return found, lost


def _graph_of(nodes: Iterable[Record]) -> str:
    """Give the graph that most nodes say they belong to; "" where none says any."""
    said = Counter(reference(mapping(unwrapped("node", node).get("metadata")).get("graph_id")) for node in nodes)
    named = [(number, name) for name, number in said.items() if name]
    return storable.name(max(named)[1]) if named else ""
