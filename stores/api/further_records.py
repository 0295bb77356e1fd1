"""Lists and single records of the other files of a store, with the parameters of their pages (DESIGN §10)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest
from ninja import Field, Query, Router

from stores.api.base import asker
from stores.api.records import Details, RecordOut, RecordPage, Wanted, detail, page
from stores.formats.orchestkit import flows, foreign, graph_items, mem0, memory_md, preferences, session_events, solutions
from stores.lists.specs import EVENTS, FLOWS, GRAPH_LINES, MEM0, MEMORY_FILES, OTHERS, PREFERENCES, SOLUTIONS
from stores.models import Flow, ForeignRecord, GraphItem, Mem0Operation, MemoryMd, PreferenceFile, ProblemSolution, SessionEvent
from stores.selectors.record_detail import find_record, text_of

router = Router(tags=["records"])


class WantedFlows(Wanted):
    """Filters of flows."""

    pattern: list[str] = []
    standing: list[str] = Field([], description="last, earlier. Without it both, other than on the page, which begins with the last ones.")


class WantedEvents(Wanted):
    """Filters of events."""

    event_type: list[str] = []
    outcome: list[str] = Field([], description="success, failure, or empty where an event does not say it.")
    name: list[str] = []


class WantedSolutions(Wanted):
    """Filters of solutions."""

    tool: list[str] = []
    project: list[str] = []


class WantedMem0(Wanted):
    """Filters of operations of the retired queue."""

    standing: list[str] = Field([], description="waiting, duplicate.")
    category: list[str] = []


class WantedPreferences(Wanted):
    """Filters of preference files."""

    form: list[str] = Field([], description="tools, workflows, foreign.")


class WantedMemoryFiles(Wanted):
    """Filters of Markdown files."""

    form: list[str] = Field([], description="index, topic, rules, note.")
    agent: list[str] = []


class WantedGraphLines(Wanted):
    """Filters of lines of the graph."""

    what: list[str] = Field([], description="entity, relation, foreign.")
    item_type: list[str] = []


class WantedOthers(Wanted):
    """Filters of other records."""

    form: list[str] = []


class FlowOut(RecordOut):
    """A flow."""

    session: str
    pattern: str
    standing: str
    actions: int
    reads: int
    writes: int
    tests: int
    builds: int
    agent_spawns: int
    success_rate: float | None
    started_at: str | None


class EventOut(RecordOut):
    """An event of a session."""

    event_type: str
    name: str
    session: str
    said_by: str
    machine: str
    identity_source: str
    outcome: str
    duration_ms: int | None
    shape: str = Field(description="Who wrote it: tracker, hook, foreign.")


class SolutionOut(RecordOut):
    """What was taken for the solution of a problem."""

    problem_id: str
    tool: str
    project: str
    session: str
    confidence: float | None
    entities: int | None


class Mem0Out(RecordOut):
    """An operation of the retired queue."""

    standing: str
    user_id: str
    type: str
    category: str
    project: str
    confidence: float | None


class PreferenceOut(RecordOut):
    """A preference file."""

    form: str
    samples: int


class MemoryFileOut(RecordOut):
    """A Markdown file."""

    form: str
    agent: str
    topic_type: str
    lines: int
    characters: int
    not_loaded: int = Field(description="Lines behind what an agent loads of an index.")
    long_lines: int


class GraphLineOut(RecordOut):
    """A line of the graph."""

    what: str
    item_type: str
    start: str
    end: str
    observations: int


class OtherOut(RecordOut):
    """A record of another tool or an older version."""

    form: str
    session: str


class FlowDetailOut(FlowOut, Details):
    """One flow."""


class EventDetailOut(EventOut, Details):
    """One event."""


class SolutionDetailOut(SolutionOut, Details):
    """One solution."""


class Mem0DetailOut(Mem0Out, Details):
    """One operation of the retired queue."""


class PreferenceDetailOut(PreferenceOut, Details):
    """One preference file."""


class MemoryFileDetailOut(MemoryFileOut, Details):
    """One Markdown file."""


class GraphLineDetailOut(GraphLineOut, Details):
    """One line of the graph."""


class OtherDetailOut(OtherOut, Details):
    """One other record."""


@router.get("/flows/", response=RecordPage[FlowOut], summary="Flows")
def flow_list(request: HttpRequest, wanted: Query[WantedFlows]) -> dict[str, Any]:
    """Flows of all stores that the account sees, newest first."""
    return page(request, FLOWS)


@router.get("/sessions/", response=RecordPage[EventOut], summary="Events of sessions")
def event_list(request: HttpRequest, wanted: Query[WantedEvents]) -> dict[str, Any]:
    """Events of the sessions of all stores that the account sees, newest first."""
    return page(request, EVENTS)


@router.get("/solutions/", response=RecordPage[SolutionOut], summary="Solutions")
def solution_list(request: HttpRequest, wanted: Query[WantedSolutions]) -> dict[str, Any]:
    """Solutions of all stores that the account sees, newest first."""
    return page(request, SOLUTIONS)


@router.get("/mem0/", response=RecordPage[Mem0Out], summary="Operations of the retired queue")
def mem0_list(request: HttpRequest, wanted: Query[WantedMem0]) -> dict[str, Any]:
    """Operations for a retired service of all stores that the account sees, newest first."""
    return page(request, MEM0)


@router.get("/preferences/", response=RecordPage[PreferenceOut], summary="Preference files")
def preference_list(request: HttpRequest, wanted: Query[WantedPreferences]) -> dict[str, Any]:
    """Files of preferences of all stores that the account sees."""
    return page(request, PREFERENCES)


@router.get("/memory-files/", response=RecordPage[MemoryFileOut], summary="Markdown files")
def memory_file_list(request: HttpRequest, wanted: Query[WantedMemoryFiles]) -> dict[str, Any]:
    """Markdown files of all stores that the account sees."""
    return page(request, MEMORY_FILES)


@router.get("/graph/", response=RecordPage[GraphLineOut], summary="Lines of the graph")
def graph_item_list(request: HttpRequest, wanted: Query[WantedGraphLines]) -> dict[str, Any]:
    """Lines of the graph files of all stores that the account sees."""
    return page(request, GRAPH_LINES)


@router.get("/other/", response=RecordPage[OtherOut], summary="Other records")
def other_list(request: HttpRequest, wanted: Query[WantedOthers]) -> dict[str, Any]:
    """Records of other tools and older versions of all stores that the account sees, newest first."""
    return page(request, OTHERS)


@router.get("/flows/{int:pk}/", response=FlowDetailOut, summary="One flow")
def flow_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """A flow with its steps."""
    record = find_record(asker(request), Flow, pk)
    return detail(record, asdict(flows.flow_detail(bytes(text_of(record).raw))))


@router.get("/sessions/events/{int:pk}/", response=EventDetailOut, summary="One event")
def event_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """An event with its input, output and identity."""
    record = find_record(asker(request), SessionEvent, pk)
    return detail(record, asdict(session_events.event_detail(bytes(text_of(record).raw))))


@router.get("/solutions/{int:pk}/", response=SolutionDetailOut, summary="One solution")
def solution_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """A pair of problem and solution."""
    record = find_record(asker(request), ProblemSolution, pk)
    return detail(record, asdict(solutions.solution_detail(bytes(text_of(record).raw))))


@router.get("/mem0/{int:pk}/", response=Mem0DetailOut, summary="One operation of the retired queue")
def mem0_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """An operation with its text."""
    record = find_record(asker(request), Mem0Operation, pk)
    return detail(record, asdict(mem0.mem0_detail(bytes(text_of(record).raw))))


@router.get("/preferences/{int:pk}/", response=PreferenceDetailOut, summary="One preference file")
def preference_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """A file of preferences with its counts and what follows from them."""
    record = find_record(asker(request), PreferenceFile, pk)
    return detail(record, asdict(preferences.preference_detail(bytes(text_of(record).raw))))


@router.get("/memory-files/{int:pk}/", response=MemoryFileDetailOut, summary="One Markdown file")
def memory_file_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """A Markdown file with what OrchestKit wrote into it; its lines stand in `raw`."""
    record = find_record(asker(request), MemoryMd, pk)
    content = asdict(memory_md.memory_md_detail(bytes(text_of(record).raw)))
    # A secret that goes over several lines is masked only where the whole text is seen.
    content.pop("lines")
    return detail(record, content)


@router.get("/graph/{int:pk}/", response=GraphLineDetailOut, summary="One line of the graph")
def graph_item_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """A line of the graph with its observations."""
    record = find_record(asker(request), GraphItem, pk)
    return detail(record, asdict(graph_items.graph_detail(bytes(text_of(record).raw))))


@router.get("/other/{int:pk}/", response=OtherDetailOut, summary="One other record")
def other_detail(request: HttpRequest, pk: int) -> dict[str, Any]:
    """A record of another tool, field by field."""
    record = find_record(asker(request), ForeignRecord, pk)
    return detail(record, asdict(foreign.foreign_detail(bytes(text_of(record).raw))))
