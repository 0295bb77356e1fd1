"""The pages of an event and of an audit record of a phase-memory store."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.html import format_html
from django.utils.safestring import SafeString

from stores import display, markup
from stores.addresses import list_url
from stores.formats.phase_memory import records
from stores.formats.phase_memory.values import mapping
from stores.memory_words import short, spaced, title_of, value_of
from stores.models import AuditRecord, Event, MirroredRecord
from stores.phase_cells import DECISIONS, STATES
from stores.record_facts import Fact
from stores.record_parts import memory_graph
from stores.record_parts.base import Content, Link, Part, Said, fields
from stores.record_parts.cells import SHORT_QUIET, TITLE, WRAP
from stores.record_parts.nodes import as_text, others
from stores.selectors.memory_nodes import AuditAround, EventAround, Touched
from stores.table_view import Head, Row, TableView

_EVENT_FIELDS = frozenset(
    [
        "schema_version",
        "id",
        "event_id",
        "kind",
        "type",
        "timestamp",
        "occurred_at",
        "created_at",
        "path_id",
        "actor",
        "session_id",
        "task",
        "action_id",
        "node_updates",
        "edge_updates",
        "path_updates",
        "payload",
    ]
)
_AUDIT_FIELDS = frozenset(
    [
        "schema_version",
        "audit_id",
        "id",
        "operation",
        "operation_kind",
        "decision",
        "subject_id",
        "profile_id",
        "graph_id",
        "dry_run",
        "actor",
        "actor_label",
        "timestamp",
        "occurred_at",
        "sequence",
        "previous_digest",
        "requires_review",
        "approval_marker",
        "review_id",
        "reason",
        "reason_code",
        "event_ids",
        "targets",
        "policy_decision",
    ]
)
_STANDINGS = {
    "unknown version": "Its schema version is not known here, so it is not interpreted. An operator can make the version known.",
    "repeated": "An earlier line has the same id: that one counts, this one is not interpreted.",
}


def event_content(record: Event, read: records.Event, around: EventAround) -> Content:
    """Put the page of an event together."""
    payload = mapping(mapping(read.value).get("payload"))
    standing = Part("Not interpreted", note=_STANDINGS.get(record.standing, record.standing)) if record.standing else None
    return Content(
        title=title_of(record.title),
        tab_title=record.title,
        said=(
            Said(record.standing or "counts", "late" if record.standing else "current"),
            Said(value_of(record.kind), url=list_url("memory_event_list", store=record.store.slug, kind=record.kind)),
            Said(markup.clock(record.at_ms, seconds=True)),
        ),
        main=(
            *([standing] if standing else []),
            _touched_part(around.touched),
            *([Part("Says", facts=fields((name, as_text(value)) for name, value in payload.items()))] if payload else []),
            _made_part(around),
        ),
        side=(
            Part("Event", facts=_event_facts(record, around)),
            Part(
                "Listed by",
                fact=display.number(len(around.paths)) if around.paths else "",
                note="" if around.paths else "No path lists it.",
                links=[
                    Link(title_of(path.title), path.get_absolute_url(), STATES.get(path.state, "unmeasured"), end=value_of(path.state))
                    for path in around.paths
                ],
            ),
        ),
        others=others(read.value, "event", _EVENT_FIELDS),
    )


def _event_facts(record: Event, around: EventAround) -> list[Fact]:
    facts: list[Fact] = [
        {"label": "Id", "value": value_of(record.natural_id), "mono": True},
        {"label": "Kind", "value": value_of(record.kind)},
        {
            "label": "Actor",
            "value": value_of(record.actor),
            "url": list_url("memory_event_list", store=record.store.slug, actor=record.actor),
        },
        {
            "label": "Session",
            "value": value_of(record.session),
            "mono": True,
            "url": list_url("memory_event_list", store=record.store.slug, session=record.session),
        },
        *memory_graph.named_fact("Path", around.path, record.path_id),
    ]
    facts += [{"label": "Task", "value": value_of(record.task)}] if record.task else []
    if record.action_id:
        facts.append({"label": "Action", "value": value_of(record.action_id), "mono": True})
        closed = linked_record(around.audited) if around.audited else "no audit record says that it was applied"
        facts.append({"label": "Audited", "value": closed, "state": "" if around.audited else "late"})
    return [*facts, {"label": "Schema version", "value": value_of(record.schema_version), "mono": True}]


def linked_record(record: MirroredRecord) -> SafeString:
    """Give a record as a link."""
    return memory_graph.linked(record, "")


def _touched_part(touched: list[Touched]) -> Part:
    if not touched:
        return Part("Changed", note="The event names no record that it changed.")
    heads = (Head("Record", TITLE), Head("Type", SHORT_QUIET), Head("What was done", WRAP))
    rows = []
    for one in touched:
        done = format_html("{} {}", value_of(spaced(one.words)), _quiet(one.named))
        cells = ((TITLE, memory_graph.linked(one.record, one.id)), (SHORT_QUIET, value_of(one.record_type)), (WRAP, done))
        rows.append(Row(cells, "current" if one.record else "failing"))
    return Part("Changed", fact=display.number(len(touched)), view=TableView("What the event changed", heads, rows))


def _quiet(value: str) -> SafeString | str:
    return format_html('<span class="quiet">{}</span>', short(value, memory_graph.REASON_LENGTH)) if value.strip() else ""


def _made_part(around: EventAround) -> Part:
    links = [
        Link(title_of(node.title), node.get_absolute_url(), STATES.get(node.state, "unmeasured"), value_of(node.kind), value_of(node.phase))
        for node in around.made
    ]
    fact = display.number(len(links)) if links else ""
    return Part("Memory that comes from it", fact=fact, links=links, note="" if links else "No node names it as its source.")


def audit_content(record: AuditRecord, read: records.Audit, around: AuditAround) -> Content:
    """Put the page of an audit record together."""
    state = DECISIONS.get(record.decision, "superseded")
    return Content(
        title=title_of(record.title),
        tab_title=record.title,
        said=(
            Said(value_of(record.decision), state),
            Said(format_html("by {}", value_of(record.actor))),
            Said(markup.clock(record.at_ms, seconds=True)),
            *([Said("dry run", "note")] if record.dry_run else []),
        ),
        main=(
            _targets_part(around),
            *([Part("Reason", text=short(read.reason, 4_000))] if read.reason.strip() else []),
            memory_graph.sources_part(around.sources, "Events that it appended", "It names none."),
            Part(
                "Other records about the same",
                fact=display.number(len(around.others)) if around.others else "",
                note="" if around.others else "None.",
                links=_records(around.others),
            ),
        ),
        side=(Part("Record", facts=_audit_facts(record, read)), Part("Approval", facts=_approval(record, read))),
        others=others(read.value, "audit", _AUDIT_FIELDS),
    )


def _records(found: Iterable[AuditRecord]) -> list[Link]:
    return [
        Link(title_of(one.title), one.get_absolute_url(), DECISIONS.get(one.decision, "superseded"), end=markup.clock(one.at_ms))
        for one in found
    ]


def _audit_facts(record: AuditRecord, read: records.Audit) -> list[Fact]:
    facts: list[Fact] = [
        {"label": "No.", "value": memory_graph.amount(record.sequence)},
        {"label": "Operation", "value": value_of(record.operation), "mono": True},
        {"label": "About", "value": value_of(record.subject_id), "mono": True},
        {
            "label": "Actor",
            "value": value_of(record.actor),
            "url": list_url("audit_record_list", store=record.store.slug, actor=record.actor),
        },
    ]
    facts += [{"label": "Code", "value": value_of(record.reason_code), "mono": True}] if record.reason_code else []
    value = mapping(read.value)
    for label, name in (("Profile", "profile_id"), ("Graph", "graph_id"), ("Previous digest", "previous_digest")):
        if value.get(name):
            facts.append({"label": label, "value": short(as_text(value[name]), 200), "mono": True})
    return facts


def _approval(record: AuditRecord, read: records.Audit) -> list[Fact]:
    facts: list[Fact] = [{"label": "Needs a review", "value": "yes" if record.requires_review else "no"}]
    if record.review_id:
        facts.append({"label": "Review", "value": value_of(record.review_id), "mono": True})
    if read.approval_marker.strip():
        facts.append({"label": "Marker", "value": short(read.approval_marker, 60), "mono": True})
    if record.applied and record.requires_review and not record.approved:
        facts.append({"label": "Approved", "value": "no: it was carried out without marker and review", "state": "failing"})
    return facts


def _targets_part(around: AuditAround) -> Part:
    if not around.targets:
        return Part("Touched", note="The record names none.")
    heads = (
        Head("Record", TITLE),
        Head("Type", SHORT_QUIET),
        Head("Before", SHORT_QUIET),
        Head("After", SHORT_QUIET),
        Head("Now", SHORT_QUIET),
    )
    rows = []
    for target, found in around.targets:
        now = f"sha256:{bytes(found.digest).hex()}" if found else ""
        same = "as after" if now and now == target.after_digest else "as before" if now and now == target.before_digest else "other content"
        cells = (
            (TITLE, memory_graph.linked(found, target.target_id)),
            (SHORT_QUIET, value_of(target.target_type)),
            (SHORT_QUIET, _digest(target.before_digest)),
            (SHORT_QUIET, _digest(target.after_digest)),
            (SHORT_QUIET, same if found else "not there"),
        )
        rows.append(Row(cells, "current" if same == "as after" else "note"))
    return Part("Touched", fact=display.number(len(rows)), view=TableView("Records that it touched", heads, rows))


def _digest(value: str) -> SafeString | str:
    head = value.removeprefix("sha256:")
    is_digest = len(head) == 64 and all(one in "0123456789abcdef" for one in head)
    return markup.fingerprint_picture(head) if is_digest else value_of(value)
