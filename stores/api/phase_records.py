"""Lists and single records of phase-memory stores, with the parameters of their pages (DESIGN §10)."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Field, Query, Router

from stores.api.base import asker
from stores.api.records import Details, RecordOut, RecordPage, Wanted, detail, page
from stores.formats.phase_memory.details import value_of
from stores.lists.phase_memory import ACTIVATIONS, AUDIT_RECORDS, EDGES, MEMORY_EVENTS, NODES, PATHS, PROFILES
from stores.models import Activation, AuditRecord, Edge, Event, MemoryPath, MirroredRecord, Node, Profile
from stores.selectors.record_detail import find_record, text_of

router = Router(tags=["records"])


class WantedNodes(Wanted):
    """Filters of nodes."""

    kind: list[str] = Field([], description="Repeatable, as are the others.")
    phase: list[str] = Field([], description="ephemeral, fluid, stabilized, rigid.")
    state: list[str] = Field([], description="active, stale, superseded, compacted, archived, delete_requested.")
    review: list[str] = Field([], description="reviewed or never for durable nodes, empty for the others.")
    label: list[str] = []
    agent: list[str] = []
    path_id: list[str] = []
    session: list[str] = []


class WantedEdges(Wanted):
    """Filters of edges."""

    kind: list[str] = []
    state: list[str] = []
    agent: list[str] = []


class WantedPaths(Wanted):
    """Filters of paths."""

    state: list[str] = Field([], description="active, merged, abandoned, compacted.")


class WantedActivations(Wanted):
    """Filters of activations."""

    profile_id: list[str] = []
    graph_id: list[str] = []


class WantedMemoryEvents(Wanted):
    """Filters of the event log."""

    kind: list[str] = []
    actor: list[str] = []
    path_id: list[str] = []
    session: list[str] = []


class WantedAuditRecords(Wanted):
    """Filters of the stores' own audit logs."""

    operation: list[str] = []
    decision: list[str] = []
    actor: list[str] = []


class WantedProfiles(Wanted):
    """Filters of profiles."""

    durable_writes: list[str] = []


class FileOut(RecordOut):
    """What a record that is a file of its own has besides."""

    digest: str = Field(description="sha256 of the parsed record in canonical form, as audit records name it.")
    is_duplicate: bool = Field(description="Another file has the id and counts in its place.")
    unreadable_since: str | None = Field(description="The file cannot be read any more; this is its last good version.")
    unreadable_cause: str


class NodeOut(FileOut):
    """A piece of memory."""

    kind: str
    phase: str
    phase_assumed: bool = Field(description="The record names no phase.")
    state: str
    review: str
    label: str
    agent: str
    session: str
    path_id: str
    project: str
    task: str
    graph_id: str
    trust_zone: str
    secret: bool
    tags: str
    confidence: float | None
    strength: float | None
    activation_count: int
    superseded_by: str
    compacted_into: str
    stale_since: str | None
    created_at: str | None
    updated_at: str | None


class EdgeOut(FileOut):
    """What one node has to do with another."""

    kind: str
    source: str
    target: str
    state: str
    agent: str
    weight: float | None
    confidence: float | None
    valid_at: str | None
    invalid_at: str | None
    created_at: str | None
    updated_at: str | None


class PathOut(FileOut):
    """A line of work."""

    state: str
    parent_path_id: str
    merge_target: str
    summary_id: str
    abandoned_reason: str
    event_count: int
    created_at: str | None
    updated_at: str | None


class ActivationOut(FileOut):
    """What was put before an agent at one time."""

    graph_id: str
    profile_id: str
    intent: str
    max_items: float | None
    max_tokens: float | None
    used_items: float | None
    used_tokens: float | None
    node_count: int
    omitted_count: int


class ProfileOut(FileOut):
    """The rules of a store."""

    durable_writes: str
    memory_kinds: str


class MemoryEventOut(RecordOut):
    """A line of the event log."""

    kind: str
    actor: str
    session: str
    path_id: str
    task: str
    action_id: str
    schema_version: str
    update_count: int
    standing: str = Field(description="Empty for an event that counts; unknown version, repeated.")


class AuditRecordOut(RecordOut):
    """A line of the store's own audit log."""

    sequence: int | None
    operation: str
    decision: str
    actor: str
    subject_id: str
    reason: str
    reason_code: str
    review_id: str
    dry_run: bool
    requires_review: bool
    approved: bool
    applied: bool


class NodeDetailOut(NodeOut, Details):
    """One node."""


class EdgeDetailOut(EdgeOut, Details):
    """One edge."""


class PathDetailOut(PathOut, Details):
    """One path."""


class ActivationDetailOut(ActivationOut, Details):
    """One activation."""


class ProfileDetailOut(ProfileOut, Details):
    """One profile."""


class MemoryEventDetailOut(MemoryEventOut, Details):
    """One event."""


class AuditRecordDetailOut(AuditRecordOut, Details):
    """One audit record."""


@router.get("/nodes/", response=RecordPage[NodeOut], summary="Nodes")
def node_list(request: HttpRequest, wanted: Query[WantedNodes]) -> dict[str, Any]:
    """Nodes of all stores that the account sees, last changed first."""
    return page(request, NODES)


@router.get("/edges/", response=RecordPage[EdgeOut], summary="Edges")
def edge_list(request: HttpRequest, wanted: Query[WantedEdges]) -> dict[str, Any]:
    """Edges of all stores that the account sees, last changed first."""
    return page(request, EDGES)


@router.get("/paths/", response=RecordPage[PathOut], summary="Paths")
def path_list(request: HttpRequest, wanted: Query[WantedPaths]) -> dict[str, Any]:
    """Paths of all stores that the account sees, last changed first."""
    return page(request, PATHS)


@router.get("/activations/", response=RecordPage[ActivationOut], summary="Activations")
def activation_list(request: HttpRequest, wanted: Query[WantedActivations]) -> dict[str, Any]:
    """Activations of all stores that the account sees, newest first."""
    return page(request, ACTIVATIONS)


@router.get("/events/", response=RecordPage[MemoryEventOut], summary="Events of phase-memory stores")
def memory_event_list(request: HttpRequest, wanted: Query[WantedMemoryEvents]) -> dict[str, Any]:
    """Events of all stores that the account sees, newest first."""
    return page(request, MEMORY_EVENTS)


@router.get("/store-audit/", response=RecordPage[AuditRecordOut], summary="Audit records of stores")
def audit_record_list(request: HttpRequest, wanted: Query[WantedAuditRecords]) -> dict[str, Any]:
    """Records of the own audit logs of all stores that the account sees, newest first."""
    return page(request, AUDIT_RECORDS)


@router.get("/profiles/", response=RecordPage[ProfileOut], summary="Profiles")
def profile_list(request: HttpRequest, wanted: Query[WantedProfiles]) -> dict[str, Any]:
    """Profiles of all stores that the account sees."""
    return page(request, PROFILES)


@router.get("/nodes/{int:pk}/", response=NodeDetailOut, summary="One node")
def node_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """A node as its file says it."""
    return _detail(find_record(asker(request), Node, pk))


@router.get("/edges/{int:pk}/", response=EdgeDetailOut, summary="One edge")
def edge_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """An edge as its file says it."""
    return _detail(find_record(asker(request), Edge, pk))


@router.get("/paths/{int:pk}/", response=PathDetailOut, summary="One path")
def path_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """A path as its file says it."""
    return _detail(find_record(asker(request), MemoryPath, pk))


@router.get("/activations/{int:pk}/", response=ActivationDetailOut, summary="One activation")
def activation_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """An activation as its file says it."""
    return _detail(find_record(asker(request), Activation, pk))


@router.get("/events/{int:pk}/", response=MemoryEventDetailOut, summary="One event of a phase-memory store")
def memory_event_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """An event as its line says it."""
    return _detail(find_record(asker(request), Event, pk))


@router.get("/store-audit/{int:pk}/", response=AuditRecordDetailOut, summary="One audit record of a store")
def audit_record_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """An audit record as its line says it."""
    return _detail(find_record(asker(request), AuditRecord, pk))


@router.get("/profiles/{int:pk}/", response=ProfileDetailOut, summary="One profile")
def profile_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """A profile as its file says it."""
    return _detail(find_record(asker(request), Profile, pk))


def _detail(record: MirroredRecord) -> dict[str, Any]:
    return detail(record, value_of(record.record_type, bytes(text_of(record).raw)))
