"""What the mirror keeps of each record of a phase-memory store: values for lists, words for the search, and what it points at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from stores.formats import storable
from stores.formats.phase_memory import records
from stores.formats.phase_memory.aliases import Record, unwrapped
from stores.formats.phase_memory.records import Moment
from stores.formats.phase_memory.values import items, mapping
from stores.formats.search_text import search_text

_LATEST_SEQUENCE: Final = (1 << 63) - 1
_UNREVIEWED: Final = "never"
_LEAVES: Final = 200


class Mirrored(NamedTuple):
    """One record as the mirror keeps it."""

    values: tuple[object, ...]
    """In the order of `columns`."""
    search: str
    links: tuple[tuple[object, ...], ...] = ()
    """What it points at, in its order; each as the columns of its table after the position."""


def profile(value: Record) -> Mirrored:
    """Mirror a profile."""
    read = records.profile(value)
    kinds = ", ".join(read.memory_kinds)
    title = read.title or storable.title(read.id)
    times = _undated(unwrapped("profile", value))
    return Mirrored((read.durable_writes, kinds, title, *times), search_text(read.id, read.title, read.intent, kinds))


def node(value: Record) -> Mirrored:
    """Mirror a node; it links to the events it comes from. A durable one counts as unreviewed until the audit log says otherwise."""
    read = records.node(value)
    came = read.provenance
    label, tags = ", ".join(sorted(read.labels)), ", ".join(read.tags)
    values = (
        read.kind,
        read.phase,
        read.phase_assumed,
        read.state,
        storable.name(label),
        came.agent,
        came.session_id,
        storable.name(came.path_id),
        read.project,
        read.task,
        read.graph_id,
        read.trust_zone,
        read.secret,
        tags,
        read.confidence,
        read.strength,
        read.activation_count,
        storable.name(read.superseded_by),
        storable.name(read.compacted_into),
        read.stale_since.ms,
        _UNREVIEWED if read.durable else "",
        read.title or storable.title(read.id),
        *_dated(read.created, read.updated),
    )
    # A title that was taken from the text is said once.
    title = "" if read.text.startswith(read.title) else read.title
    return Mirrored(values, search_text(read.id, title, read.text, label, tags), _events(came.source_event_ids))


def edge(value: Record) -> Mirrored:
    """Mirror an edge."""
    read = records.edge(value)
    source, target = storable.name(read.source), storable.name(read.target)
    values = (
        read.kind,
        source,
        target,
        read.state,
        read.provenance.agent,
        read.weight,
        read.confidence,
        read.valid.ms,
        read.invalid.ms,
        storable.title(read.text or f"{source} {read.kind} {target}"),
        *_dated(read.created, read.updated),
    )
    return Mirrored(values, search_text(read.id, read.text, source, read.kind, target))


def path(value: Record) -> Mirrored:
    """Mirror a path; it links to the events it lists."""
    read = records.path(value)
    values = (
        read.state,
        storable.name(read.parent),
        storable.name(read.merge_target),
        storable.name(read.summary_id),
        read.abandoned_reason,
        len(read.event_ids),
        read.title or storable.title(read.id),
        *_dated(read.created, read.updated),
    )
    return Mirrored(values, search_text(read.id, read.title, read.abandoned_reason), _events(read.event_ids))


def activation(value: Record) -> Mirrored:
    """Mirror an activation; it links to the nodes that it chose and to those that it passed over."""
    read = records.activation(value)
    told = {item.node_id for item in read.selected}
    bare = [(storable.name(node_id), True, "", None, None) for node_id in read.node_ids if node_id not in told]
    chosen = [(storable.name(item.node_id), True, item.reason, item.tokens, item.score) for item in read.selected if item.node_id]
    omitted = [(storable.name(item.node_id), False, item.reason_code, None, None) for item in read.omitted if item.node_id]
    values = (
        read.graph_id,
        read.profile_id,
        read.intent,
        read.max_items,
        read.max_tokens,
        read.used_items,
        read.used_tokens,
        len(chosen) + len(bare),
        len(omitted),
        read.title or storable.title(read.intent or read.id),
        *_dated(read.created, read.created),
    )
    return Mirrored(values, search_text(read.id, read.title, read.intent), (*chosen, *bare, *omitted))


def event(value: Record) -> Mirrored:
    """Mirror an event; it links to what it says it changed."""
    read = records.event(value)
    record = unwrapped("event", value)
    payload = record.get("payload")
    said = _texts(payload) if payload else []
    first = read.changes[0] if read.changes else None
    what = f"{first.operation} {storable.name(first.id)}" if first else read.task
    values = (
        read.kind,
        read.actor,
        read.session_id,
        storable.name(read.path_id),
        read.task,
        storable.name(read.action_id),
        storable.name(record.get("schema_version")),
        len(read.changes),
        storable.title(f"{read.kind}: {said[0] if said else what}" if said or what else read.kind or read.id),
        read.time.ms,
        read.time.state,
    )
    words = search_text(read.id, read.task, read.path_id, *(one.id for one in read.changes[:_LEAVES]), *said)
    return Mirrored(values, words, tuple((one.record_type, storable.name(one.id), one.operation, one.target) for one in read.changes))


def audit(value: Record) -> Mirrored:
    """Mirror a line of the audit log; it links to the records that were touched, with their digests."""
    read = records.audit(value)
    in_range = read.sequence is not None and abs(read.sequence) <= _LATEST_SEQUENCE
    values = (
        read.sequence if in_range else None,
        read.operation,
        read.decision,
        read.actor,
        storable.name(read.subject_id),
        read.reason,
        read.reason_code,
        storable.name(read.review_id),
        read.dry_run,
        read.requires_review,
        read.approved,
        read.applied,
        storable.title(f"{read.operation} {read.decision}".strip() or read.id),
        read.time.ms,
        read.time.state,
    )
    words = search_text(read.id, read.operation, read.subject_id, read.reason, *(one.id for one in read.targets[:_LEAVES]))
    touched = (
        (one.record_type, storable.name(one.id), storable.name(one.before_digest), storable.name(one.after_digest)) for one in read.targets
    )
    return Mirrored(values, words, tuple(touched))


MIRRORS: Final[dict[str, Callable[[Record], Mirrored]]] = {
    "profile": profile,
    "node": node,
    "edge": edge,
    "path": path,
    "activation": activation,
    "event": event,
    "audit": audit,
}
"""By type of record."""


def _events(ids: tuple[str, ...]) -> tuple[tuple[object, ...], ...]:
    name = storable.name
    return tuple([(name(event_id),) for event_id in ids])


def _dated(created: Moment, updated: Moment) -> tuple[object, ...]:
    """Give when it was written, how far to trust that, and both times: the last change counts, where there is one."""
    latest = updated if updated.ms else created
    return latest.ms, latest.state, created.ms, updated.ms


def _undated(record: Record) -> tuple[object, ...]:
    created, updated = (Moment(*storable.moment(record.get(name))) for name in ("created_at", "updated_at"))
    return _dated(created, updated)


def _texts(value: object) -> list[str]:
    """Give the texts of a payload, at most 200, in its order."""
    found: list[str] = []
    todo = [value]
    while todo and len(found) < _LEAVES:
        item = todo.pop()
        if isinstance(item, str):
            found.append(storable.text(item))
        else:
            todo += reversed([*mapping(item).values(), *items(item)])
    return found
