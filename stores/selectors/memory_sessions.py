"""Sessions of agents as their events tell of them: which there were, one after the other, and what else the store holds of each."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from django.urls import reverse
from django.utils.http import urlencode

from stores.errors import NotFound
from stores.models import Decision, Flow, Problem, SessionEvent, SourceFile, Store
from stores.selectors.walks import Row, at_once

EVENTS_READ = 10_000
"""Newest events of a store from which its sessions are put together, and events of one session that are counted."""
DECISIONS_READ = 50_000
EVENTS_A_PAGE = 200
BESIDE = 20
"""Decisions and problems that are shown beside a session, and other versions of its flow."""
AFTER_MS = 10 * 60_000
"""What is written so soon after the last sign of a session still belongs to it."""


class SessionRow(NamedTuple):
    """One session of a store."""

    session: str
    """"" for events that name none."""
    events: int
    failures: int
    first_ms: int
    last_ms: int
    people: tuple[str, ...]
    decisions: int | None
    """Decisions that the store got while it ran; None where that is not known."""


class Sessions(NamedTuple):
    """The sessions of a store, the newest first."""

    rows: list[SessionRow]
    capped: bool
    """There are more events than were looked at, so the last row may be a part."""


class Event(NamedTuple):
    """One event of a session, as far as its timeline counts it."""

    id: int
    at_ms: int
    outcome: str
    duration_ms: int | None
    shape: str
    natural_id: str
    said_by: str
    machine: str
    file_id: int


class Timeline(NamedTuple):
    """One session."""

    session: str
    events: list[Event]
    """In the order of their times, at most EVENTS_READ."""
    capped: bool
    repeated: frozenset[str]
    """Ids that several events have."""

    @property
    def first_ms(self) -> int:
        """When it began; 0 where no event has a time."""
        return next((one.at_ms for one in self.events if one.at_ms), 0)

    @property
    def last_ms(self) -> int:
        """When it was heard of last; 0 where no event has a time."""
        return self.events[-1].at_ms

    @property
    def failed(self) -> list[Event]:
        """The events that failed."""
        return [one for one in self.events if one.outcome == "failure"]

    @property
    def duplicates(self) -> int:
        """How many events have an id that another has too."""
        return sum(one.natural_id in self.repeated for one in self.events)

    @property
    def writers(self) -> Counter[str]:
        """How many events each writer made."""
        return Counter(one.shape for one in self.events)


class Beside(NamedTuple):
    """A record of the same session, or of the same time."""

    id: int
    title: str
    at_ms: int
    same_session: bool
    """It names the session; otherwise it was only written while the session ran."""


class Company(NamedTuple):
    """What else the store holds of a session."""

    decisions: list[Beside]
    problems: list[Beside]


def timeline_url(slug: str, session: str) -> str:
    """Give the page of one session of a store."""
    return f"{reverse('session_timeline', args=[slug])}?{urlencode({'id': session})}"


def sessions_of(store: Store) -> Sessions:
    """Give the sessions of a store's newest events. Two queries."""
    found = list(
        SessionEvent.objects.filter(store=store, gone_at__isnull=True)
        .order_by("-at_ms", "-id")
        .values_list("session", "at_ms", "outcome", "said_by")[: EVENTS_READ + 1]
    )
    of_session: dict[str, list[tuple[str, int, str, str]]] = {}
    for row in found[:EVENTS_READ]:
        of_session.setdefault(row[0], []).append(row)
    rows = [_session_row(session, events) for session, events in of_session.items()]
    return Sessions(_with_decisions(store, rows), len(found) > EVENTS_READ)


def _session_row(session: str, events: Sequence[tuple[str, int, str, str]]) -> SessionRow:
    times = [event[1] for event in events if event[1]]
    return SessionRow(
        session=session,
        events=len(events),
        failures=sum(event[2] == "failure" for event in events),
        first_ms=min(times, default=0),
        last_ms=max(times, default=0),
        people=tuple(dict.fromkeys(event[3] for event in events if event[3])),
        decisions=None,
    )


def _with_decisions(store: Store, rows: Sequence[SessionRow]) -> list[SessionRow]:
    """Count the decisions of the time of each session: the ids of its folders are not those that decisions name."""
    since = min((row.first_ms for row in rows if row.first_ms), default=0)
    if not since:
        return list(rows)
    until = max(row.last_ms for row in rows) + AFTER_MS
    newest = (
        Decision.objects.filter(store=store, gone_at__isnull=True, at_ms__gte=since, at_ms__lte=until)
        .order_by("-at_ms", "-id")
        .values_list("at_ms", flat=True)[: DECISIONS_READ + 1]
    )
    times = sorted(newest)
    known_since = times[0] + 1 if len(times) > DECISIONS_READ else since
    return [row._replace(decisions=_between(times, row)) if row.first_ms >= known_since else row for row in rows]


def _between(times: Sequence[int], row: SessionRow) -> int:
    return bisect_right(times, row.last_ms + AFTER_MS) - bisect_left(times, row.first_ms)


def timeline(store: Store, session: str) -> Timeline:
    """Give one session of a store; raises NotFound. One query."""
    found = (
        SessionEvent.objects.filter(store=store, session=session, gone_at__isnull=True)
        .order_by("at_ms", "id")
        .values_list("id", "at_ms", "outcome", "duration_ms", "shape", "natural_id", "said_by", "machine", "file_id")[: EVENTS_READ + 1]
    )
    events = [Event(*row) for row in found]
    if not events:
        raise NotFound("No event of this store names such a session, or they are gone from disk.")
    events, capped = events[:EVENTS_READ], len(events) > EVENTS_READ
    times_named = Counter(one.natural_id for one in events if one.natural_id)
    return Timeline(session, events, capped, frozenset(name for name, number in times_named.items() if number > 1))


def events_of(listed: Sequence[Event], page: int) -> list[SessionEvent]:
    """Give the events of one page of a timeline or of a part of it, whole. One query."""
    start = (max(1, page) - 1) * EVENTS_A_PAGE
    by_id = SessionEvent.objects.in_bulk([one.id for one in listed[start : start + EVENTS_A_PAGE]])
    return sorted(by_id.values(), key=lambda event: (event.at_ms, event.pk))


def broken_files(told: Timeline) -> list[SourceFile]:
    """Give those files of a session that hold a line which cannot be read. One query."""
    files = SourceFile.objects.filter(SourceFile.TROUBLED, pk__in={one.file_id for one in told.events})
    return [file for file in files.order_by("path") if file.corrupt_lines]


def company(store: Store, session: str, since_ms: int, until_ms: int) -> Company:
    """Give decisions and problems that were written while a session ran or soon after, those that name it first. One query."""
    if not until_ms:
        return Company([], [])
    found = at_once([_written(model, store, since_ms, until_ms + AFTER_MS) for model in (Decision, Problem)])
    decisions, problems = ([_beside(row, session) for row in rows] for rows in found)
    return Company(_named_first(decisions), _named_first(problems))


def _written(model: type[Decision] | type[Problem], store: Store, since_ms: int, until_ms: int) -> tuple[str, list[object]]:
    live = model._default_manager.filter(store=store, gone_at__isnull=True, at_ms__gte=since_ms, at_ms__lte=until_ms)
    sql, parameters = live.order_by("-at_ms", "-id").values_list("pk", "title", "at_ms", "session")[:200].query.sql_with_params()
    return sql, list(parameters)


def _beside(row: Row, session: str) -> Beside:
    return Beside(row[0], row[1], row[2], bool(session) and row[3] == session)


def _named_first(found: list[Beside]) -> list[Beside]:
    return sorted(found, key=lambda one: (not one.same_session, -one.at_ms, -one.id))[:BESIDE]


def versions_of(flow: Flow) -> list[Flow]:
    """Give the other live flows of the same session, the newest first. One query."""
    if not flow.session:
        return []
    same = Flow.objects.filter(store_id=flow.store_id, session=flow.session, gone_at__isnull=True).exclude(pk=flow.pk)
    return list(same.select_related("file").order_by("-at_ms", "-id")[:BESIDE])
