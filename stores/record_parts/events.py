"""Pages of sessions: one event, the events of a session in order, the sessions of a store."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.html import format_html
from django.utils.safestring import SafeString

from stores import display, markup
from stores.addresses import list_url
from stores.formats.orchestkit.session_events import FOREIGN, HOOK, TRACKER, EventDetail
from stores.formats.secrets import find_secrets
from stores.memory_words import short, title_of, value_of
from stores.models import SessionEvent, Store
from stores.pager import Pager
from stores.record_facts import Fact, moment, others
from stores.record_parts.base import Content, Part, Said, fields, session_url, shown
from stores.record_parts.cells import LEAD, NUM, NUM_QUIET, SHORT_QUIET, TOP, TOP_NUM, WRAP, least, worded
from stores.selectors import wording
from stores.selectors.memory_sessions import SessionRow, Timeline, timeline_url
from stores.table_view import Head, Row, TableView
from stores.tables import OUTCOME_STATES

WRITERS = {TRACKER: "session tracker", HOOK: "runner of hooks", FOREIGN: "another writer"}


def content(record: SessionEvent, detail: EventDetail) -> Content:
    """Put the page of one event together."""
    state = OUTCOME_STATES.get(record.outcome, "superseded")
    said = [Said(detail.outcome or "no outcome given", state), Said(value_of(detail.type))]
    if record.duration_ms is not None:
        said.append(Said(f"took {display.milliseconds(record.duration_ms)}"))
    url = session_url(record, record.session)
    parts = [Part("What happened", text=shown(detail.context) if detail.context else "", facts=_facts(record, detail))]
    for name, given in (("Input", detail.input), ("Output", detail.output)):
        if given:
            parts.append(Part(name, facts=fields(given)))
    return Content(
        title=title_of(record.title),
        tab_title=record.title,
        said=[*said, Said(moment(record))],
        main=parts,
        side=(Part("Who and where", fact="the whole session" if url else "", url=url, facts=_identity(record, detail)),),
        others=others(detail.other),
    )


def _facts(record: SessionEvent, detail: EventDetail) -> list[Fact]:
    facts: list[Fact] = [
        {"label": "Type", "value": value_of(record.event_type), "url": list_url("event_list", event_type=record.event_type)},
        {"label": "Name", "value": shown(detail.name), "url": list_url("event_list", name=record.name)},
        {"label": "Outcome", "value": value_of(detail.outcome), "state": OUTCOME_STATES.get(record.outcome, "")},
    ]
    if detail.duration_ms:
        facts.append({"label": "Took", "value": format_html("{} ms", short(detail.duration_ms, 40))})
    if detail.confidence:
        facts.append({"label": "Confidence", "value": format_html("{}, claimed", short(detail.confidence, 40))})
    return facts


def _identity(record: SessionEvent, detail: EventDetail) -> list[Fact]:
    return [
        {"label": "Session", "value": value_of(record.session), "mono": True, "url": session_url(record, record.session)},
        {"label": "Writer", "value": WRITERS.get(record.shape, record.shape)},
        *fields((name, value) for name, value in detail.identity if name != "session_id"),
    ]


def timeline_table(told: Timeline, events: Iterable[SessionEvent], pager: Pager) -> TableView:
    """Give events of a session in order; what has the id of another is said so."""
    heads = (
        Head("Type", LEAD),
        Head("Event", WRAP),
        Head("Writer", SHORT_QUIET),
        Head("Took", NUM_QUIET),
        Head("After", NUM_QUIET),
        Head("Outcome", TOP),
    )
    return TableView("Events in their order", heads, [_event_row(told, event) for event in events], pager)


def _event_row(told: Timeline, event: SessionEvent) -> Row:
    state = OUTCOME_STATES.get(event.outcome, "superseded")
    link = format_html('<a class="row-link" href="{}">{}</a>', event.get_absolute_url(), short(event.event_type or "no type", 60))
    title = title_of(event.title)
    if event.natural_id in told.repeated:
        title = format_html('{} <span class="second">same id as another event: two hooks counted at once</span>', title)
    outcome = (
        format_html('<span class="state-word" data-state="{}">{}</span>', state, event.outcome) if event.outcome else least("not given")
    )
    cells = (
        (LEAD, link),
        (WRAP, title),
        (SHORT_QUIET, WRITERS.get(event.shape, event.shape)),
        (worded("took", quiet=True), least("not given") if event.duration_ms is None else display.milliseconds(event.duration_ms)),
        (NUM_QUIET, _after(told.first_ms, event.at_ms)),
        (TOP, outcome),
    )
    return Row(cells, state)


def _after(first_ms: int, at_ms: int) -> SafeString | str:
    """Say how long after the begin of its session, the exact time on hover."""
    at = display.moment_of(at_ms)
    return least(display.NOT_KNOWN) if at is None else markup.time_tag(at, f"+{display.milliseconds(max(0, at_ms - first_ms))}")


def timeline_figures(told: Timeline) -> list[Fact]:
    """Give what stands above the events of a session."""
    number = f"more than {display.number(len(told.events))}" if told.capped else display.number(len(told.events))
    people = list(dict.fromkeys(one.said_by for one in told.events if one.said_by))
    machines = list(dict.fromkeys(one.machine for one in told.events if one.machine))
    writers = wording.listed([f"{count:,} by the {WRITERS.get(shape, shape)}" for shape, count in told.writers.most_common()])
    facts: list[Fact] = [
        {"label": "Events", "value": number},
        {"label": "Failed", "value": display.number(len(told.failed))},
        {"label": "Began", "value": markup.clock(told.first_ms)},
        {"label": "Went on for", "value": display.span((told.last_ms - told.first_ms) / 1000) if told.first_ms else display.NOT_KNOWN},
        {"label": "Person", "value": _names(people)},
        {"label": "Machine", "value": _names(machines)},
        {"label": "Written", "value": writers},
    ]
    if told.duplicates:
        facts.append({"label": "Share an id", "value": wording.counted(told.duplicates, "event")})
    return facts


def _names(names: list[str]) -> SafeString:
    return short(wording.listed(names), 200) if names else value_of("")


def sessions_table(store: Store, rows: Iterable[SessionRow], pager: Pager) -> TableView:
    """Give the sessions of a store, the newest first."""
    heads = (
        Head("Session", LEAD),
        Head("Person", WRAP),
        Head("Events", NUM),
        Head("Failed", NUM),
        Head("Decisions then", NUM),
        Head("Went on for", NUM_QUIET),
        Head("Last sign", TOP_NUM),
    )
    return TableView("Sessions, the newest first", heads, [_session_row(store, row) for row in rows], pager)


def _session_row(store: Store, row: SessionRow) -> Row:
    name = short(row.session, 80) if row.session.strip() else least("no session named")
    failed = format_html("{}", display.number(row.failures)) if row.failures else zero()
    if not find_secrets(row.session):
        url = timeline_url(store.slug, row.session)
        name = format_html('<a class="row-link mono" href="{}">{}</a>', url, name)
        failed = format_html('<a href="{}&outcome=failure">{}</a>', url, failed) if row.failures else failed
    cells = (
        (LEAD, name),
        (WRAP, _names(list(row.people))),
        (worded("events"), display.number(row.events)),
        (worded("failed"), failed),
        (
            worded("decisions then"),
            least(display.NOT_KNOWN) if row.decisions is None else display.number(row.decisions) if row.decisions else zero(),
        ),
        (
            worded("went on for", quiet=True),
            display.span((row.last_ms - row.first_ms) / 1000) if row.first_ms else least(display.NOT_KNOWN),
        ),
        (TOP_NUM, markup.day(row.last_ms)),
    )
    return Row(cells, "warning" if row.failures else "ok" if row.decisions else "superseded")


def zero() -> SafeString:
    """Give a nought."""
    return format_html('<span class="zero">{}</span>', "0")
