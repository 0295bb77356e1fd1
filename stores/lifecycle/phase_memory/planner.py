"""What the rules of a profile propose for a store at a time: a plan, always a dry run (docs/formats.md).

The same store at the same time gives the same actions with the same ids, so planning again fills no queue with doubles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from stores.formats import storable
from stores.formats.canonical import digest
from stores.formats.phase_memory import records, rules
from stores.formats.phase_memory.aliases import Record, unwrapped
from stores.formats.phase_memory.records import Moment, Node
from stores.formats.phase_memory.rules import Rules
from stores.formats.phase_memory.values import mapping, references
from stores.formats.phase_memory.vocabulary import DURABLE, PHASES
from stores.formats.secrets import mask
from stores.lifecycle import actions
from stores.lifecycle.vocabulary import PHASE_MEMORY, VERBS

DAY_MS: Final = 86_400_000
_LEAST_NODES: Final = 3
_LONGEST_REASON: Final = 2000
_ENDED_PATHS: Final = ("abandoned", "merged")


class StoreRecords(NamedTuple):
    """What a plan is made from; the first of records with one id, those that can be read."""

    nodes: Mapping[str, Record]
    """By id, as their files say it, wrappers included."""
    paths: Mapping[str, Record]
    source_digests: Mapping[str, str] = {}
    """New digests of the sources of nodes, by the node's id, where anybody has looked."""


def planned_actions(profile: Record, store: StoreRecords, now: datetime) -> list[Record]:
    """Give the actions that a profile's rules propose, each node in at most one, sorted by verb and targets."""
    plan = _Plan(rules.rules(profile), unwrapped("profile", profile), store, round(now.timestamp() * 1000))
    return sorted(plan.actions(), key=lambda action: (str(action["action"]), action["target_ids"]))


class _Plan:
    def __init__(self, given: Rules, profile: Record, store: StoreRecords, now_ms: int) -> None:
        self._rules = given
        self._profile = profile
        self._store = store
        self._now_ms = now_ms
        self._nodes = {node_id: records.node(value) for node_id, value in sorted(store.nodes.items())}
        self._used: set[str] = set()

    def actions(self) -> Iterator[Record]:
        """Propose deletions first, then compactions, then what moves single nodes."""
        for node in self._nodes.values():
            yield from self._deletion(node)
        yield from self._compactions()
        for node in self._nodes.values():
            if node.id not in self._used:
                yield from self._single(node)

    def _deletion(self, node: Node) -> Iterator[Record]:
        days = self._days(node.kind, "delete_after_days")
        if node.state not in ("active", "stale") or node.durable or days is None or not self._is_older(_changed(node), days):
            return
        reason = f"{node.kind} not changed for {days} days"
        yield self._state_action("request_delete", [node], reason, "delete_requested", parameters={"delete_after_days": days})

    def _compactions(self) -> Iterator[Record]:
        compaction = mapping(self._profile.get("compaction"))
        if not compaction:
            return
        least = storable.number(compaction.get("min_nodes"))
        least_nodes = max(2, _LEAST_NODES if least is None else int(least))
        parameters: Record = {
            "strategy": storable.text(compaction.get("strategy")) or "summarize",
            "preserve_originals": compaction.get("preserve_originals") is not False,
        }
        listed = references(compaction.get("node_ids") or compaction.get("compact_node_ids"))
        named = [node for one in sorted(listed) if (node := self._nodes.get(one)) and self._may_be_folded(node)]
        if len(named) > 1:
            yield self._state_action("compact", named, "named in the profile", "compacted", parameters=parameters)
        by_path: dict[str, list[Node]] = {}
        for node in self._nodes.values():
            if self._may_be_folded(node):
                by_path.setdefault(node.provenance.path_id, []).append(node)
        for path_id, value in sorted(self._store.paths.items()):
            path = records.path(value)
            nodes = by_path.get(storable.name(path_id), [])
            if path.state in _ENDED_PATHS and len(nodes) >= least_nodes:
                reason = f"path {path_id} is {path.state}"
                yield self._state_action("compact", nodes, reason, "compacted", parameters=parameters, more={"path_id": path_id})

    def _may_be_folded(self, node: Node) -> bool:
        return node.id not in self._used and node.phase == "fluid" and node.state == "active"

    def _single(self, node: Node) -> Iterator[Record]:
        if node.state == "superseded":
            reason = f"superseded by {storable.name(node.superseded_by)}" if node.superseded_by else "superseded"
            yield self._state_action("archive", [node], reason, "archived", requires_review=node.durable)
        elif node.state == "stale":
            yield from self._refresh(node)
        elif node.state == "active":
            yield from self._transition(node) or self._staleness(node)

    def _refresh(self, node: Node) -> Iterator[Record]:
        new = self._store.source_digests.get(node.id)
        known = mapping(unwrapped("node", node.value).get("freshness")).get("source_digest")
        if new and new != known and _is_enabled(mapping(self._profile.get("refresh"))):
            yield self._state_action("refresh", [node], "source digest changed", "active", parameters={"source_digest": new})

    def _transition(self, node: Node) -> list[Record]:
        for rule in self._rules.transitions:
            is_meant = rule.kind == node.kind and rule.from_phase == node.phase and rule.to_phase in PHASES
            if is_meant and rule.to_phase != node.phase and self._is_older(_created(node), rule.min_age_days):
                moves = {"from_phase": node.phase, "to_phase": rule.to_phase}
                changes: list[Record] = [{"id": node.id, "field": "phase", "from": node.phase, "to": rule.to_phase}]
                needs_review = rule.to_phase in DURABLE or node.durable
                return [self._action("transition_phase", [node], mask(rule.reason[:_LONGEST_REASON]), needs_review, {}, moves, changes, {})]
        return []

    def _staleness(self, node: Node) -> list[Record]:
        days = self._days(node.kind, "stale_after_days")
        if node.durable or days is None or not self._is_older(_changed(node), days):
            return []
        return [self._state_action("mark_stale", [node], f"not changed for {days} days", "stale", requires_review=False)]

    def _state_action(
        self,
        verb: str,
        nodes: list[Node],
        reason: str,
        state: str,
        *,
        requires_review: bool = True,
        parameters: Record | None = None,
        more: Record | None = None,
    ) -> Record:
        moves = {"from_state": nodes[0].state, "to_state": state}
        changes: list[Record] = [{"id": node.id, "field": "lifecycle_state", "from": node.state, "to": state} for node in nodes]
        return self._action(verb, nodes, reason, requires_review, parameters or {}, moves, changes, more or {})

    def _action(
        self,
        verb: str,
        nodes: list[Node],
        reason: str,
        requires_review: bool,
        parameters: Record,
        moves: Mapping[str, object],
        changes: list[Record],
        more: Record,
    ) -> Record:
        self._used.update(node.id for node in nodes)
        made = actions.make(
            PHASE_MEMORY,
            VERBS[PHASE_MEMORY][verb],
            "node",
            {node.id: digest(node.value) for node in nodes},
            reason,
            requires_review=requires_review,
            parameters=parameters,
            moves=moves,
            changes=changes,
            more=more,
        )
        return actions.named(made)

    def _days(self, kind: str, name: str) -> float | None:
        """Give what the rule for a kind says; whole numbers of days as whole numbers."""
        rule = self._rules.counting(kind, name)
        days: float | None = None if rule is None else getattr(rule, name)
        return int(days) if days is not None and days.is_integer() else days

    def _is_older(self, since: Moment, days: float) -> bool:
        return since.ms > 0 and self._now_ms - since.ms >= days * DAY_MS


def _changed(node: Node) -> Moment:
    return node.updated if node.updated.ms else node.created


def _created(node: Node) -> Moment:
    return node.created if node.created.ms else node.updated


def _is_enabled(refresh: Record) -> bool:
    mode = refresh.get("mode")
    return mode == "enabled" or (mode is None and bool(refresh.get("cadence") or refresh.get("trigger")))
