"""The records of a phase-memory store as small typed values: what lists and pages need, and the untouched value beside it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, NamedTuple

from stores.formats import storable
from stores.formats.phase_memory.aliases import ID_FIELD, Record, field, unwrapped
from stores.formats.phase_memory.values import items, mapping, reference, references, texts, whole_number
from stores.formats.phase_memory.vocabulary import ASSUMED_PHASE, DURABLE, EVENT_VERSIONS


class Moment(NamedTuple):
    """A time that a record gives."""

    ms: int
    """Milliseconds since 1970 UTC; 0 where `state` is neither ok nor naive."""
    state: str
    """See `storable.moment`."""


class Change(NamedTuple):
    """What an event did to one record."""

    record_type: str
    """node, edge or path."""
    id: str
    operation: str
    target: str = ""
    """What the operation names besides: parent, merge target, summary node or reason."""


class Provenance(NamedTuple):
    """Where a node or edge comes from."""

    agent: str = ""
    session_id: str = ""
    path_id: str = ""
    source_event_ids: tuple[str, ...] = ()
    source: str = ""


class Node(NamedTuple):
    """One piece of memory."""

    id: str
    kind: str
    text: str
    title: str
    phase: str
    phase_assumed: bool
    """The record names no phase."""
    state: str
    confidence: float | None
    strength: float | None
    labels: tuple[str, ...]
    trust_zone: str
    secret: bool
    tags: tuple[str, ...]
    project: str
    task: str
    graph_id: str
    provenance: Provenance
    superseded_by: str
    compacted_into: str
    activation_count: int
    stale_since: Moment
    created: Moment
    updated: Moment
    value: Record

    @property
    def durable(self) -> bool:
        """Whether a change of it needs a review."""
        return self.phase in DURABLE


class Edge(NamedTuple):
    """What one node has to do with another."""

    id: str
    kind: str
    source: str
    target: str
    state: str
    text: str
    weight: float | None
    confidence: float | None
    provenance: Provenance
    valid: Moment
    invalid: Moment
    created: Moment
    updated: Moment
    value: Record


class Path(NamedTuple):
    """A line of work: which events belong to it, where it branched off and how it ended."""

    id: str
    parent: str
    event_ids: tuple[str, ...]
    """In the record's order, one that stands twice twice."""
    state: str
    merge_target: str
    abandoned_reason: str
    summary_id: str
    title: str
    created: Moment
    updated: Moment
    value: Record


class Selected(NamedTuple):
    """One node that an activation chose."""

    node_id: str
    tokens: float | None
    score: float | None
    reason: str


class Omitted(NamedTuple):
    """One node that an activation passed over."""

    node_id: str
    reason_code: str


class Activation(NamedTuple):
    """What was put before an agent at one time."""

    id: str
    title: str
    intent: str
    graph_id: str
    profile_id: str
    node_ids: tuple[str, ...]
    event_ids: tuple[str, ...]
    max_items: float | None
    max_tokens: float | None
    used_items: float | None
    used_tokens: float | None
    selected: tuple[Selected, ...]
    omitted: tuple[Omitted, ...]
    created: Moment
    value: Record


class Profile(NamedTuple):
    """The rules by which a store is kept; its page reads the rest out of `value`."""

    id: str
    title: str
    intent: str
    memory_kinds: tuple[str, ...]
    durable_writes: str
    value: Record


class Event(NamedTuple):
    """One thing that happened."""

    id: str
    kind: str
    time: Moment
    path_id: str
    actor: str
    session_id: str
    task: str
    action_id: str
    changes: tuple[Change, ...]
    known_version: bool
    value: Record


class AuditTarget(NamedTuple):
    """A record that an audited operation touched."""

    record_type: str
    id: str
    before_digest: str
    after_digest: str


class Audit(NamedTuple):
    """One line of the audit log."""

    id: str
    sequence: int | None
    operation: str
    subject_id: str
    actor: str
    decision: str
    dry_run: bool
    requires_review: bool
    approval_marker: str
    review_id: str
    reason: str
    reason_code: str
    event_ids: tuple[str, ...]
    targets: tuple[AuditTarget, ...]
    time: Moment
    value: Record

    @property
    def applied(self) -> bool:
        """Whether it says that an action was carried out."""
        return self.operation == "lifecycle.apply" and self.decision == "applied" and not self.dry_run

    @property
    def approved(self) -> bool:
        """Whether it names an approval; blank ones are none."""
        return bool(self.approval_marker.strip() or self.review_id.strip())


def node(value: Record) -> Node:
    """Read a node; values of wrong types are read as text or left out."""
    record = unwrapped("node", value)
    policy, metadata = mapping(record.get("policy")), mapping(record.get("metadata"))
    namespace, phase = mapping(record.get("namespace")), record.get("phase")
    text = storable.text(field("node", record, "text"))
    return Node(
        id=_id("node", record),
        kind=storable.name(record.get("kind")),
        text=text,
        title=storable.title(metadata.get("title") or text),
        phase=ASSUMED_PHASE if phase is None else storable.name(phase),
        phase_assumed=phase is None,
        state=_state("node", record),
        confidence=storable.number(record.get("confidence")),
        strength=storable.number(record.get("strength")),
        labels=texts(policy.get("labels")),
        trust_zone=storable.name(policy.get("trust_zone")),
        secret=policy.get("secret") not in (None, False),
        tags=texts(record.get("tags")),
        project=storable.name(namespace.get("project")),
        task=storable.name(namespace.get("task")),
        graph_id=storable.name(metadata.get("graph_id")),
        provenance=_provenance(record),
        superseded_by=reference(record.get("superseded_by")),
        compacted_into=reference(record.get("compacted_into")),
        activation_count=whole_number(mapping(record.get("usage")).get("activation_count")),
        stale_since=_moment(mapping(record.get("freshness")).get("stale_since")),
        created=_moment(record.get("created_at")),
        updated=_moment(record.get("updated_at")),
        value=value,
    )


def edge(value: Record) -> Edge:
    """Read an edge."""
    record = unwrapped("edge", value)
    return Edge(
        id=_id("edge", record),
        kind=storable.name(field("edge", record, "kind")),
        source=reference(field("edge", record, "source")),
        target=reference(field("edge", record, "target")),
        state=_state("edge", record),
        text=storable.text(record.get("text")),
        weight=storable.number(record.get("weight")),
        confidence=storable.number(record.get("confidence")),
        provenance=_provenance(record),
        valid=_moment(record.get("valid_at")),
        invalid=_moment(record.get("invalid_at")),
        created=_moment(record.get("created_at")),
        updated=_moment(record.get("updated_at")),
        value=value,
    )


def path(value: Record) -> Path:
    """Read a path."""
    record = unwrapped("path", value)
    reason = field("path", record, "abandoned_reason")
    return Path(
        id=_id("path", record),
        parent=reference(record.get("parent_path_id")),
        event_ids=tuple([item for item in items(record.get("event_ids")) if isinstance(item, str)]),
        state=storable.name(record.get("state")),
        merge_target=reference(field("path", record, "merge_target")),
        abandoned_reason=storable.text(reason),
        summary_id=reference(field("path", record, "compacted_summary_id")),
        title=storable.title(record.get("title") or mapping(record.get("metadata")).get("title")),
        created=_moment(record.get("created_at")),
        updated=_moment(record.get("updated_at")),
        value=value,
    )


def activation(value: Record) -> Activation:
    """Read an activation."""
    record = unwrapped("activation", value)
    budget = mapping(record.get("budget"))
    return Activation(
        id=_id("activation", record),
        title=storable.title(record.get("title")),
        intent=storable.text(record.get("intent")),
        graph_id=storable.name(record.get("graph_id")),
        profile_id=storable.name(record.get("profile_id")),
        node_ids=references(record.get("node_ids")),
        event_ids=references(record.get("event_ids")),
        max_items=storable.number(budget.get("max_items")),
        max_tokens=storable.number(budget.get("max_tokens")),
        used_items=storable.number(budget.get("used_items")),
        used_tokens=storable.number(budget.get("used_tokens")),
        selected=tuple(
            Selected(
                reference(item.get("node_id")),
                storable.number(item.get("tokens")),
                storable.number(item.get("score")),
                storable.text(item.get("reason_selected")),
            )
            for item in map(mapping, items(record.get("items")))
        ),
        omitted=tuple(
            Omitted(reference(item.get("node_id")), storable.name(item.get("reason_code")))
            for item in map(mapping, items(record.get("omitted")))
        ),
        created=_moment(record.get("created_at")),
        value=value,
    )


def profile(value: Record) -> Profile:
    """Read a profile."""
    record = unwrapped("profile", value)
    return Profile(
        id=_id("profile", record),
        title=storable.title(record.get("title")),
        intent=storable.text(record.get("intent")),
        memory_kinds=texts(record.get("memory_kinds")),
        durable_writes=storable.name(mapping(record.get("policy")).get("durable_writes")),
        value=value,
    )


def event(value: Record, versions: Collection[str] = EVENT_VERSIONS) -> Event:
    """Read an event; `versions` are the schema versions that are known, an operator's own among them."""
    record = unwrapped("event", value)
    version = record.get("schema_version")
    return Event(
        id=_id("event", record),
        kind=storable.name(field("event", record, "kind")),
        time=_moment(field("event", record, "timestamp")),
        path_id=reference(record.get("path_id")),
        actor=storable.name(record.get("actor")),
        session_id=storable.name(record.get("session_id")),
        task=storable.name(record.get("task")),
        action_id=reference(record.get("action_id")),
        changes=changes(record),
        known_version=isinstance(version, str) and version in versions,
        value=value,
    )


def audit(value: Record) -> Audit:
    """Read a line of the audit log. Only texts are taken for approvals."""
    record = unwrapped("audit", value)
    sequence = record.get("sequence")
    return Audit(
        id=_id("audit", record),
        sequence=sequence if isinstance(sequence, int) and not isinstance(sequence, bool) else None,
        operation=storable.name(field("audit", record, "operation")),
        subject_id=reference(record.get("subject_id")),
        actor=storable.name(field("audit", record, "actor")),
        decision=storable.name(record.get("decision")),
        dry_run=bool(record.get("dry_run")),
        requires_review=bool(record.get("requires_review")),
        approval_marker=reference(record.get("approval_marker")),
        review_id=reference(record.get("review_id")),
        reason=storable.text(record.get("reason")),
        reason_code=storable.name(record.get("reason_code")),
        event_ids=references(record.get("event_ids")),
        targets=tuple(
            AuditTarget(
                storable.name(target.get("record_type")),
                reference(target.get("id")),
                reference(target.get("before_digest")),
                reference(target.get("after_digest")),
            )
            for target in map(mapping, items(record.get("targets")))
        ),
        time=_moment(field("audit", record, "timestamp")),
        value=value,
    )


READERS: Final[dict[str, Callable[[Record], NamedTuple]]] = {
    "node": node,
    "edge": edge,
    "path": path,
    "activation": activation,
    "profile": profile,
    "event": event,
    "audit": audit,
}
"""Reader of each type of record, given a value that `reading` took."""

_NO_MOMENT: Final = Moment(0, "missing")
_NO_PROVENANCE: Final = Provenance()
_UPDATES: Final = (("node_updates", "node", "node_id"), ("edge_updates", "edge", "edge_id"), ("path_updates", "path", "path_id"))
_NAMED: Final = ("parent_path_id", "merge_target", "abandoned_reason", "compacted_summary_id")


def changes(event_record: Record) -> tuple[Change, ...]:
    """Give what an event says it changed: nodes, edges, paths, in its order; a list's items without an id are left out."""
    found: list[Change] = []
    for name, record_type, id_name in _UPDATES:
        listed = event_record.get(name)
        if not listed:
            continue
        for update in map(mapping, items(listed)):
            given = reference(update.get(id_name) or update.get("id"))
            if given:
                found.append(Change(record_type, given, storable.name(update.get("operation")), _named(update)))
    return tuple(found)


def _named(update: Record) -> str:
    for key in _NAMED:
        value = update.get(key)
        if value:
            return storable.text(value)
    return ""


def _id(record_type: str, record: Record) -> str:
    return reference(field(record_type, record, ID_FIELD[record_type]))


def _state(record_type: str, record: Record) -> str:
    found = field(record_type, record, "lifecycle_state")
    return "active" if found is None else storable.name(found)


def _moment(value: object) -> Moment:
    return _NO_MOMENT if value is None else Moment(*storable.moment(value))


def _provenance(record: Record) -> Provenance:
    given = record.get("provenance")
    if not isinstance(given, dict):
        return _NO_PROVENANCE
    return Provenance(
        agent=storable.name(given.get("agent")),
        session_id=storable.name(given.get("session_id")),
        path_id=reference(given.get("path_id")),
        source_event_ids=references(given.get("source_event_ids")),
        source=storable.name(given.get("source")),
    )
