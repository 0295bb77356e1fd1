"""The page of a flow: what a session did, step by step."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString

from stores import display, markup
from stores.addresses import search_url
from stores.formats.orchestkit.flows import FlowDetail, Step
from stores.memory_words import short, value_of
from stores.models import Flow
from stores.record_facts import Fact, others
from stores.record_parts.base import Content, Link, Part, Said, company_parts, fields, shown
from stores.record_parts.cells import LEAD, NUM, NUM_QUIET, SHORT_QUIET, TOP, WRAP, worded
from stores.selectors import wording
from stores.selectors.memory_sessions import Company
from stores.table_view import Head, Row, TableView

STEPS_SHOWN = 500
RESULT_STATES = {"success": "ok", "failure": "warning", "partial": "late"}


def content(record: Flow, detail: FlowDetail, versions: list[Flow], company: Company) -> Content:
    """Put the page together."""
    left_out = detail.left_out + max(0, len(detail.steps) - STEPS_SHOWN)
    steps = Part(
        "Steps",
        fact=wording.counted(len(detail.steps), "step"),
        note="" if detail.steps else "The record names no step.",
        view=steps_table(detail) if detail.steps else None,
        after=f"{wording.counted(left_out, 'more step')} {'is' if left_out == 1 else 'are'} counted, and not shown here."
        if left_out
        else "",
    )
    return Content(
        title=format_html("Flow {}, {}", value_of(record.pattern or "without a pattern"), wording.counted(record.actions, "step")),
        tab_title=f"Flow {record.pattern}",
        said=_said(record),
        main=(
            steps,
            *company_parts(company),
        ),
        side=(
            Part("Flow", facts=_facts(record, detail)),
            Part(
                "Same session, other versions",
                fact=str(len(versions)) if versions else "none",
                note="OrchestKit notes a session anew at the end of each turn: the last line counts." if versions else "",
                links=[_version(one) for one in versions],
            ),
        ),
        others=others(detail.other),
    )


def _said(record: Flow) -> list[Said]:
    said = [
        Said("earlier version of its session", "superseded")
        if record.standing == "earlier"
        else Said("last version of its session", "current"),
    ]
    if record.success_rate is not None:
        said.append(Said(f"{display.percent(record.success_rate)} succeeded"))
    if record.started_ms and record.at_ms >= record.started_ms:
        said.append(Said(f"took {display.span((record.at_ms - record.started_ms) / 1000)}"))
    return [*said, Said(markup.clock(record.at_ms))]


def _facts(record: Flow, detail: FlowDetail) -> list[Fact]:
    return [
        {"label": "Session", "value": value_of(record.session), "mono": True, "url": search_url(record.session)},
        {"label": "Pattern", "value": value_of(record.pattern)},
        {"label": "Began", "value": markup.clock(record.started_ms)},
        {"label": "Last step", "value": markup.clock(record.at_ms)},
        *fields(detail.stats),
    ]


def _version(flow: Flow) -> Link:
    place = format_html("{}, line {}", value_of(flow.file.path), display.number(flow.line))
    return Link(
        wording.counted(flow.actions, "step"),
        flow.get_absolute_url(),
        "current" if flow.standing == "last" else "superseded",
        place,
        markup.clock(flow.at_ms),
    )


def steps_table(detail: FlowDetail) -> TableView:
    """Give the steps in their order, each with the time since the one before."""
    heads = (
        Head("Tool", LEAD),
        Head("What", WRAP),
        Head("File", WRAP),
        Head("Kind", SHORT_QUIET),
        Head("Since before", NUM_QUIET),
        Head("Exit", NUM),
        Head("Result", TOP),
    )
    rows = []
    before = 0
    for number, step in enumerate(detail.steps[:STEPS_SHOWN], 1):
        rows.append(_step_row(number, step, before))
        before = step.at_ms or before
    return TableView("Steps in their order", heads, rows)


def _step_row(number: int, step: Step, before: int) -> Row:
    state = RESULT_STATES.get(step.result, "superseded")
    result = format_html('<span class="state-word" data-state="{}">{}</span>', state, short(step.result, 40))
    cells = (
        (LEAD, format_html('<span><span class="least">{}</span> {}</span>', number, short(step.tool, 60))),
        (WRAP, shown(step.summary) if step.summary else ""),
        (WRAP, format_html('<span class="mono">{}</span>', shown(step.file)) if step.file else ""),
        (SHORT_QUIET, short(step.category, 40)),
        (NUM_QUIET, _since(step.at_ms, before)),
        (worded("exit"), short(step.exit_code, 12) if step.exit_code else ""),
        (TOP, result),
    )
    return Row(cells, state)


def _since(at_ms: int, before: int) -> SafeString | str:
    if not at_ms:
        return format_html('<span class="least">{}</span>', display.NOT_KNOWN)
    if not before:
        return ""
    gap = at_ms - before
    return f"{display.milliseconds(-gap)} before" if gap < 0 else f"+{display.milliseconds(gap)}"
