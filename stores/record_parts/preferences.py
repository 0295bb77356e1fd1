"""The page of a file of preferences: what was counted, as bars, and what was concluded from it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter

from django.utils.html import format_html
from django.utils.safestring import SafeString

from stores import display
from stores.formats.orchestkit.preferences import FOREIGN, PreferenceDetail, ToolBar, WorkflowBar
from stores.formats.storable import number as finite
from stores.memory_words import short, spaced, title_of
from stores.models import PreferenceFile
from stores.record_facts import moment, others
from stores.record_parts.base import Content, Part, Said
from stores.record_parts.cells import LEAD, NUM, SHORT, TOP, least, share_bar, worded
from stores.selectors import wording
from stores.table_view import Group, Head, Row, TableView

ROWS_SHOWN = 500
NEARLY = 0.001
FORMS = {"tools": "counts of tools", "workflows": "counts of ways of working", "foreign": "another form"}


def content(record: PreferenceFile, detail: PreferenceDetail) -> Content:
    """Put the page together."""
    unlike = wording.counted(len(detail.unlike), "conclusion")
    said = [Said(FORMS.get(record.form, record.form)), Said(wording.counted(record.samples, "sample")), Said(moment(record))]
    if detail.unlike:
        said.insert(0, Said(f"{unlike} {'is' if len(detail.unlike) == 1 else 'are'} not what the counts give", "warning"))
    parts = []
    if detail.tools:
        parts.append(
            Part(
                "Tools by kind of work",
                fact=_left(len(detail.tools)),
                note="Counts of calls, no statement of anybody. Confidence is worked out here from the counts: four tenths for ten uses, six "
                "tenths for the share; below 0.30, or with one use, there is no preference.",
                view=tools_table(detail),
            )
        )
    if detail.workflows:
        stops = f"{detail.stops:,} ends of turns, which the file calls sessions" if detail.stops else ""
        parts.append(
            Part(
                "Ways of working",
                fact=stops,
                note="Success is the mean of what the file keeps of each way, at most the last 20.",
                view=ways_table(detail),
            )
        )
    if not parts:
        words = (
            "The file is no OrchestKit file of preferences; it is shown below as it is."
            if detail.form == FOREIGN
            else "Nothing was counted yet."
        )
        parts.append(Part("Counts", note=words))
    return Content(title=title_of(record.title), tab_title=record.title, said=said, main=parts, others=others(detail.other))


def _left(rows: int) -> str:
    return f"the first {ROWS_SHOWN:,} of {rows:,} rows" if rows > ROWS_SHOWN else ""


def tools_table(detail: PreferenceDetail) -> TableView:
    """Give the tools of each kind of work, the most used first, with the confidence beside the file's own."""
    heads = (
        Head("Tool", LEAD),
        Head("Share", SHORT),
        Head("Uses", NUM),
        Head("Confidence", NUM),
        Head("In the file", NUM),
        Head("", TOP),
    )
    rows: list[Row] = []
    for category, bars in groupby(detail.tools[:ROWS_SHOWN], key=attrgetter("category")):
        rows += _tools_of(category, list(bars), category in detail.unlike)
    return TableView("Tools by kind of work", heads, rows)


def _tools_of(category: str, bars: list[ToolBar], differs: bool) -> Iterable[Row]:
    facts = [wording.counted(bars[0].total, "use")]
    if differs:
        facts.append("the file concludes something else than its counts give")
    group = Group(short(spaced(category), 60), tuple(facts))
    for place, bar in enumerate(bars):
        yield Row(_tool_cells(bar), _tool_state(bar, differs), group=group if place == 0 else None)


def _tool_state(bar: ToolBar, differs: bool) -> str:
    if bar.chosen:
        return "warning" if differs else "ok"
    return "note" if bar.most_used and bar.confidence is not None else "superseded"


def _tool_cells(bar: ToolBar) -> tuple[tuple[SafeString, object], ...]:
    word = "preferred" if bar.chosen else "most used" if bar.most_used and bar.confidence is not None else ""
    own = least("no preference") if bar.own_confidence is None else _figure(bar.own_confidence, bar.confidence)
    return (
        (LEAD, short(bar.tool, 60)),
        (SHORT, share_bar(bar.share, f"{bar.share:.0%}")),
        (worded("uses"), display.number(bar.count)),
        (worded("confidence"), least("too low") if bar.confidence is None else f"{bar.confidence:.2f}"),
        (worded("in the file"), own if bar.chosen else ""),
        (TOP, word),
    )


def _figure(own: float, counted: float | None) -> SafeString | str:
    """Give the file's own figure, marked where the counts give another."""
    words = f"{own:.2f}" if abs(own) < 1000 else f"{own:.3g}"
    if counted is not None and abs(own - counted) <= NEARLY:
        return words
    return format_html('<span class="state-word" data-state="{}">{} differs</span>', "warning", words)


def ways_table(detail: PreferenceDetail) -> TableView:
    """Give the ways of working, the most frequent first."""
    heads = (
        Head("Way", LEAD),
        Head("Share", SHORT),
        Head("Times", NUM),
        Head("Success", NUM),
        Head("Samples", NUM),
        Head("Frequency, file", NUM),
        Head("Success, file", NUM),
    )
    return TableView("Ways of working", heads, [_way_row(bar, detail) for bar in detail.workflows[:ROWS_SHOWN]])


def _way_row(bar: WorkflowBar, detail: PreferenceDetail) -> Row:
    frequency = bar.count / detail.stops if detail.stops > 0 else None
    cells = (
        (LEAD, short(bar.pattern, 60)),
        (SHORT, share_bar(bar.share, f"{bar.share:.0%}")),
        (worded("times"), display.number(bar.count)),
        (worded("success"), least("not known") if bar.success is None else display.percent(bar.success)),
        (worded("samples"), display.number(bar.samples)),
        (worded("frequency in the file"), _own(bar.own_frequency, frequency)),
        (worded("success in the file"), _own(bar.own_success, bar.success)),
    )
    return Row(cells, "warning" if bar.pattern in detail.unlike else "superseded")


def _own(own: float | None, counted: float | None) -> SafeString | str:
    if own is None or finite(own) is None:
        return least("not given")
    return _figure(own, counted)
