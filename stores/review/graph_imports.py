"""Proposes what an import of a graph may not write by itself, or is not to: each record is one action, events are taken together (ruling 17)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from stores.formats import storable
from stores.formats.phase_memory.aliases import Record
from stores.formats.phase_memory.exchange import Given, restored
from stores.formats.phase_memory.values import items
from stores.lifecycle import actions
from stores.lifecycle.phase_memory import taking_in
from stores.lifecycle.vocabulary import MOST_EVENTS, PHASE_MEMORY, VERBS
from stores.models import Store
from stores.review.mirror_source import MirrorSource
from stores.review.submitting import Proposer, Submitted, submit

NEEDS_REFUSED: Final = "needs_refused"
"""Why a record is not proposed: what it points at was refused."""
_FIRST: Final = ("profile", "node")
_THEN: Final = ("edge", "path")


class Proposed(NamedTuple):
    """What became of one record, or of events that are proposed together."""

    record_type: str
    id: str
    """Of several events that of the first."""
    number: int
    """How many records there are."""
    result: Submitted


@dataclass(slots=True)
class Brought:
    """What is to be proposed of a graph."""

    graph_id: str = ""
    records: list[Given] = field(default_factory=list)
    """As the envelope has them."""
    events: list[Given] = field(default_factory=list)
    """In the order of the log that they come from."""

    def __bool__(self) -> bool:
        return bool(self.records or self.events)


def propose(store: Store, brought: Brought, proposer: Proposer, now: datetime) -> list[Proposed]:
    """Queue it all, what others point at before those; the same twice is one action. Raises BadRequest for a store never imported.

    What points at a node that is not there waits for it when it is applied, and is not proposed when that node is refused.
    """
    source = MirrorSource(store)
    for record_type in (*_FIRST, *_THEN):
        source.preload((one.id for one in brought.records if one.record_type == record_type), (record_type,))
    reason = f"It stands in the graph {storable.name(brought.graph_id)}." if brought.graph_id else "It stands in a graph that was imported."
    maker = _Maker(source, brought, reason)
    first = [*maker.events(), *maker.records(_FIRST)]
    done, refused = _submitted(store, first, proposer, now)
    then = list(maker.records(_THEN))
    lost = [one for one in then if not refused.isdisjoint(one.awaited)]
    more, _ = _submitted(store, [one for one in then if refused.isdisjoint(one.awaited)], proposer, now)
    message = "It points at a record that was refused."
    return done + more + [Proposed(one.record_type, one.ids[0], 1, Submitted(0, NEEDS_REFUSED, message)) for one in lost]


class _Made(NamedTuple):
    record_type: str
    ids: list[str]
    """In the order of the graph."""
    action: Record
    awaited: frozenset[tuple[str, str]]


class _Maker:
    """Makes the records of actions from records of a graph."""

    def __init__(self, source: MirrorSource, brought: Brought, reason: str) -> None:
        self._source, self._brought, self._reason = source, brought, reason
        self._new_nodes = {one.id for one in brought.records if one.record_type == "node" and source.target("node", one.id) is None}
        self._last_of = {one.id: place for place, one in enumerate(brought.events)}

    def records(self, record_types: Sequence[str]) -> Iterator[_Made]:
        """Give an action for each record of these types."""
        for one in (given for record_type in record_types for given in self._brought.records if given.record_type == record_type):
            there = self._source.target(one.record_type, one.id)
            after = self._after(one)
            yield self._made(
                taking_in.CREATE if there is None else taking_in.REPLACE,
                one.record_type,
                {one.id: None if there is None else there.digest},
                taking_in.proposal(one, after),
                after,
            )

    def events(self) -> Iterator[_Made]:
        """Give actions for all events, each behind the one before it, so that their order stays."""
        every = self._brought.events
        for start in range(0, len(every), MOST_EVENTS):
            some = every[start : start + MOST_EVENTS]
            after = {"event": [every[start - 1].id]} if start else {}
            parameters = taking_in.events_proposal([one.record for one in some], after)
            yield self._made(taking_in.APPEND, "event", {one.id: None for one in some}, parameters, after)

    def _made(
        self, verb: str, record_type: str, digests: Mapping[str, object], parameters: Record, after: Mapping[str, list[str]]
    ) -> _Made:
        record = actions.make(
            PHASE_MEMORY, VERBS[PHASE_MEMORY][verb], record_type, digests, self._reason, requires_review=True, parameters=parameters
        )
        awaited = frozenset((name, one) for name, ids in after.items() for one in ids)
        return _Made(record_type, list(digests), actions.named(record), awaited)

    def _after(self, one: Given) -> dict[str, list[str]]:
        """Give what has to be there first: nodes that it points at, and of a path's events the last, as that comes behind the others."""
        record = restored(one.record_type, one.record)
        if one.record_type == "edge":
            nodes = sorted({name for name in (record.get("source"), record.get("target")) if isinstance(name, str)} & self._new_nodes)
            return {"node": nodes} if nodes else {}
        if one.record_type != "path":
            return {}
        summary = record.get("compacted_summary_id")
        after = {"node": [summary]} if isinstance(summary, str) and summary in self._new_nodes else {}
        listed = [name for name in items(record.get("event_ids")) if isinstance(name, str) and name in self._last_of]
        return {**after, "event": [max(listed, key=self._last_of.__getitem__)]} if listed else after


def _submitted(store: Store, made: Sequence[_Made], proposer: Proposer, now: datetime) -> tuple[list[Proposed], set[tuple[str, str]]]:
    """Hand in actions; give what became of each, and the records that were refused."""
    done: list[Proposed] = []
    refused: set[tuple[str, str]] = set()
    for result in submit(store, [one.action for one in made], proposer, now) if made else ():
        record_type, ids = made[result.position].record_type, made[result.position].ids
        done.append(Proposed(record_type, ids[0], len(ids), result))
        refused |= {(record_type, one) for one in ids} if result.is_refused else set()
    return done, refused
