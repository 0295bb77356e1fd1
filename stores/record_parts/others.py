"""Pages of solutions, of the retired queue, of lines of the graph, and of records that other tools wrote."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.html import format_html

from stores import charts, display, markup
from stores.addresses import list_url, search_url
from stores.formats.orchestkit.foreign import COUNTER, METRICS, ForeignDetail, MetricsPoint
from stores.formats.orchestkit.graph_items import ENTITY, RELATION, GraphDetail
from stores.formats.orchestkit.mem0 import Mem0Detail
from stores.formats.orchestkit.solutions import SolutionDetail
from stores.memory_words import short, title_of, value_of
from stores.models import ForeignRecord, GraphItem, Mem0Operation, Problem, ProblemSolution
from stores.record_facts import Fact, moment, others
from stores.record_parts.base import Chart, Content, Link, Part, Said, fields, session_url, shown, tags
from stores.selectors import wording

ITEMS_SHOWN = 100
MARKS = 4


def solution_content(record: ProblemSolution, detail: SolutionDetail, problem: Problem | None) -> Content:
    """Put the page of a pair of problem and solution together."""
    facts: list[Fact] = [
        {"label": "Tool", "value": value_of(record.tool), "url": list_url("solution_list", tool=record.tool)},
        {"label": "File", "value": shown(detail.file), "mono": True},
        {"label": "Confidence", "value": "not given" if record.confidence is None else f"{display.percent(record.confidence)}, claimed"},
        {"label": "Paired", "value": moment(record)},
        {"label": "Project", "value": value_of(record.project), "url": list_url("solution_list", project=record.project)},
        {"label": "Session", "value": value_of(record.session), "mono": True},
    ]
    if problem is None:
        about = Part(
            "Its problem",
            note=format_html("No record of the store has the id {}.", value_of(record.problem_id))
            if record.problem_id
            else "It names none.",
        )
    else:
        link = Link(title_of(problem.title), problem.get_absolute_url(), problem.status, end=markup.clock(problem.at_ms))
        about = Part("Its problem", fact=value_of(problem.status), links=[link])
    side = [Part("Pair", facts=facts)]
    if detail.entities:
        side.append(Part("Entities", fact=display.number(len(detail.entities)), tags=tags(detail.entities)))
    return Content(
        title=title_of(record.title),
        tab_title=record.title,
        said=[Said(format_html("paired by the output of {}", value_of(record.tool))), Said(moment(record))],
        main=(Part("Problem", text=shown(detail.problem)), Part("What was taken for its solution", text=shown(detail.solution)), about),
        side=side,
        others=others(detail.other),
    )


def mem0_content(record: Mem0Operation, detail: Mem0Detail) -> Content:
    """Put the page of an operation of the retired queue together."""
    words = (
        "queued again later: only the newer one would be sent" if record.standing == "duplicate" else "waits, and nothing takes it any more"
    )
    facts: list[Fact] = [
        {"label": "Meant for", "value": shown(detail.user_id)},
        {"label": "Queued", "value": moment(record)},
        *fields(detail.metadata),
    ]
    side = [Part("Operation", facts=facts)]
    if detail.entities:
        side.append(Part("Entities", fact=display.number(len(detail.entities)), tags=tags(detail.entities)))
    return Content(
        title=title_of(record.title),
        tab_title=record.title,
        said=[Said(words, record.standing), Said(markup.ago(record.at_ms))],
        main=(Part("Text", text=shown(detail.text)),),
        side=side,
        others=others(detail.other),
    )


def graph_content(record: GraphItem, detail: GraphDetail) -> Content:
    """Put the page of a line of the graph together."""
    main: list[Part] = []
    if detail.what == ENTITY:
        sentences: list[Fact] = [
            {"label": short(one.timestamp, 40) if one.timestamp else f"{number:,}", "value": shown(one.text)}
            for number, one in enumerate(detail.observations[:ITEMS_SHOWN], 1)
        ]
        left = len(detail.observations) - ITEMS_SHOWN
        main.append(
            Part(
                "Observations",
                fact=display.number(len(detail.observations)),
                note="" if sentences else "It has none.",
                facts=sentences,
                after=f"{left:,} more stand in the raw line." if left > 0 else "",
            )
        )
        facts: list[Fact] = [{"label": "Entity", "value": shown(detail.name), "mono": True, "url": search_url(detail.name)}]
    elif detail.what == RELATION:
        facts = [
            {"label": "From", "value": shown(detail.start), "mono": True, "url": search_url(detail.start)},
            {"label": "To", "value": shown(detail.end), "mono": True, "url": search_url(detail.end)},
        ]
    else:
        facts = []
    facts.append({"label": "Type", "value": shown(detail.type), "url": list_url("graph_item_list", item_type=record.item_type)})
    kind = "neither entity nor relation: the memory server drops it when it saves" if detail.what not in (ENTITY, RELATION) else detail.what
    main.insert(0, Part("Line of the graph", facts=facts))
    return Content(title_of(record.title), record.title, said=[Said(kind)], main=main, others=others(detail.other))


def foreign_content(record: ForeignRecord, detail: ForeignDetail, history: Sequence[MetricsPoint]) -> Content:
    """Put the page of a record of another tool together."""
    main: list[Part] = []
    if len(history) > 1:
        fact = f"{wording.counted(len(history), 'count')} of this log"
        main.append(
            Part("History", fact=fact, id="history", note="What OrchestKit counted at the start of each session.", charts=_history(history))
        )
    main.append(
        Part(
            "Record",
            fact=wording.counted(len(detail.fields), "field") if detail.fields else "",
            text="" if detail.fields or detail.items else shown(detail.text),
            facts=fields(detail.fields),
        )
    )
    if detail.items:
        rows: list[Fact] = [{"label": f"{number:,}", "value": shown(text)} for number, text in enumerate(detail.items[:ITEMS_SHOWN], 1)]
        main.append(Part("Items", fact=display.number(len(detail.items)), facts=rows))
    # A counter lies in its session's folder; what other records call a session, no event need know.
    where = session_url(record, record.session) if record.form == COUNTER else search_url(record.session)
    facts: list[Fact] = [
        {"label": "What it is", "value": value_of(record.form), "url": list_url("other_list", form=record.form)},
        {"label": "When", "value": moment(record)},
        {"label": "Session", "value": value_of(record.session), "mono": True, "url": where},
    ]
    words = "counted by OrchestKit" if record.form == METRICS else "shown as it is, never rewritten"
    return Content(
        title=title_of(record.title),
        tab_title=record.title,
        said=[Said(value_of(record.form)), Said(words)],
        main=main,
        side=(Part("What is known", facts=facts),),
    )


def _history(points: Sequence[MetricsPoint]) -> list[Chart]:
    since, last = points[0].at_ms, points[-1].at_ms
    if since >= last:
        return []
    # The newest count holds on a little, else it would not be seen.
    until = last + (last - since) // 40 + 1
    marks = [(since + (until - since) * step // (MARKS - 1), "") for step in range(MARKS)]
    named = [(at, _day(at)) for at, _ in marks]
    series = (
        ("Decisions", [point.decisions for point in points]),
        ("Operations waiting", [point.queue_depth for point in points]),
        ("Flows", [point.completed_flows for point in points]),
        ("Sessions", [point.sessions for point in points]),
    )
    drawn = []
    for name, values in series:
        steps = [(point.at_ms, float(max(0, value))) for point, value in zip(points, values, strict=True)]
        label = f"{name}: {values[0]:,} on {_day(since)}, {values[-1]:,} on {_day(last)}, at most {max(values):,}"
        drawn.append(Chart(name, display.number(values[-1]), charts.step_chart(steps, since=since, until=until, marks=named), label))
    return drawn


def _day(at_ms: int) -> str:
    at = display.moment_of(at_ms)
    return display.NOT_KNOWN if at is None else f"{at.day} {at:%b %Y}"
