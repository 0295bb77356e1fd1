"""Reads `tool-preferences.json` and `workflow-preferences.json`: what OrchestKit counted, and what it concluded from the counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stores.formats import storable
from stores.formats.base import FileSpec, Severity
from stores.formats.orchestkit import columns
from stores.formats.orchestkit.judged import Judged, Oddity, WholeJsonReader, bare_title, no_object
from stores.formats.orchestkit.queue import shown
from stores.formats.orchestkit.values import fields, items, leaves, mapping, parse_raw, whole_number
from stores.formats.search_text import search_text

TOOLS_PATH: Final = "tool-preferences.json"
WORKFLOWS_PATH: Final = "workflow-preferences.json"
FEEDBACK_PATH: Final = ".claude/feedback/tool-preferences.json"
TOOLS: Final = "tools"
WORKFLOWS: Final = "workflows"
FOREIGN: Final = "foreign"
ENOUGH: Final = 10
"""Uses from which on the number itself speaks for a tool as much as it can."""
LEAST_CONFIDENCE: Final = 0.3
LEAST_COUNT: Final = 2
_NEARLY: Final = 0.001


@dataclass(frozen=True, slots=True)
class ToolBar:
    """How often one tool was used for one kind of work."""

    category: str
    tool: str
    count: int
    total: int
    """Uses of all tools for this kind of work."""
    confidence: float | None
    """By the formula; None where it is too low to prefer the tool."""
    most_used: bool
    chosen: bool
    """The file itself says that agents should prefer it."""
    own_confidence: float | None
    """What the file itself says, of a chosen tool."""

    @property
    def share(self) -> float:
        """Part of all uses, 0 to 1."""
        return self.count / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class WorkflowBar:
    """How often sessions went one way, and with what success."""

    pattern: str
    count: int
    total: int
    success: float | None
    """Mean of the kept successes, 0 to 1."""
    samples: int
    """Successes that are kept, at most the last 20."""
    own_frequency: float | None = None
    own_success: float | None = None

    @property
    def share(self) -> float:
        """Part of all counts, 0 to 1."""
        return self.count / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class PreferenceDetail:
    """Everything that one file of preferences says."""

    form: str = FOREIGN
    tools: tuple[ToolBar, ...] = ()
    workflows: tuple[WorkflowBar, ...] = ()
    stops: int = 0
    """What a file of workflows calls sessions: ends of turns."""
    updated: str = ""
    unlike: tuple[str, ...] = ()
    """Kinds of work, or patterns, of which the file concludes something else than its counts give."""
    other: tuple[tuple[str, str], ...] = ()


def confidence(count: int, total: int) -> float | None:
    """Say how sure OrchestKit is of a tool that was used so often; None where it would name no preference."""
    if count < LEAST_COUNT or total < count:
        return None
    sure = 0.4 * min(1.0, count / ENOUGH) + 0.6 * count / total
    return None if sure < LEAST_CONFIDENCE else sure


def tool_bars(value: object) -> tuple[ToolBar, ...]:
    """Give the tools of every kind of work, most used first."""
    found: list[ToolBar] = []
    preferences = mapping(mapping(value).get("preferences"))
    for category, used in mapping(mapping(value).get("usage")).items():
        counts = {tool: whole_number(number) for tool, number in mapping(used).items()}
        total = sum(number for number in counts.values() if number > 0)
        most = max(counts.values(), default=0)
        own = mapping(preferences.get(category))
        for tool, number in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
            chosen = own.get("preferred_tool") == tool
            found.append(
                ToolBar(
                    category=storable.text(category),
                    tool=storable.text(tool),
                    count=number,
                    total=total,
                    confidence=confidence(number, total),
                    most_used=number == most > 0,
                    chosen=chosen,
                    own_confidence=storable.number(own.get("confidence")) if chosen else None,
                )
            )
    return tuple(found)


def workflow_bars(value: object) -> tuple[WorkflowBar, ...]:
    """Give the ways of working, most frequent first."""
    file = mapping(value)
    counts = {pattern: whole_number(number) for pattern, number in mapping(file.get("pattern_counts")).items()}
    total = sum(number for number in counts.values() if number > 0)
    rates = mapping(file.get("pattern_success_rates"))
    own = {storable.text(mapping(one).get("pattern")): mapping(one) for one in items(file.get("preferences"))}
    found: list[WorkflowBar] = []
    for pattern, number in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
        kept = [rate for rate in map(storable.number, items(rates.get(pattern))) if rate is not None]
        said = own.get(storable.text(pattern), {})
        found.append(
            WorkflowBar(
                pattern=storable.text(pattern),
                count=number,
                total=total,
                success=sum(kept) / len(kept) if kept else None,
                samples=len(kept),
                own_frequency=storable.number(said.get("frequency")),
                own_success=storable.number(said.get("avg_success_rate")),
            )
        )
    return tuple(found)


def unlike_tools(value: object) -> tuple[str, ...]:
    """Name the kinds of work of which the file concludes something else than its own counts give."""
    own = mapping(mapping(value).get("preferences"))
    bars: dict[str, list[ToolBar]] = {}
    for bar in tool_bars(value):
        bars.setdefault(bar.category, []).append(bar)
    return tuple(storable.text(category) for category, said in own.items() if _differs(said, bars.get(storable.text(category), [])))


def _differs(said: object, bars: list[ToolBar]) -> bool:
    best = max((bar.confidence for bar in bars if bar.most_used and bar.confidence is not None), default=None)
    if said is None or best is None:
        return (said is None) != (best is None)
    chosen = next((bar for bar in bars if bar.chosen), None)
    if chosen is None or not chosen.most_used or chosen.own_confidence is None:
        return True
    return abs(chosen.own_confidence - best) > _NEARLY


def unlike_workflows(value: object) -> tuple[str, ...]:
    """Name the ways of working whose frequency or success the file gives otherwise than its own counts do."""
    total = whole_number(mapping(value).get("total_sessions"))
    found: list[str] = []
    for bar in workflow_bars(value):
        frequency = bar.count / total if total > 0 else None
        for own, counted in ((bar.own_frequency, frequency), (bar.own_success, bar.success)):
            if own is not None and counted is not None and abs(own - counted) > _NEARLY and bar.pattern not in found:
                found.append(bar.pattern)
    return tuple(found)


def form_of(value: object) -> str:
    """Say which of the two files a value is."""
    file = mapping(value)
    if isinstance(file.get("usage"), dict):
        return TOOLS
    return WORKFLOWS if isinstance(file.get("pattern_counts"), dict) else FOREIGN


class PreferenceReader(WholeJsonReader):
    """Reads a file of counted preferences."""

    lost = "OrchestKit takes it for empty, and its next count overwrites everything"
    subject_type = "preference_file"

    def judge(self, value: object) -> Judged:
        """Read the file's counts, and compare what it concluded from them."""
        form = form_of(value)
        tools = tool_bars(value) if form == TOOLS else ()
        ways = workflow_bars(value) if form == WORKFLOWS else ()
        title = bare_title(value) if not isinstance(value, dict) else storable.title(next(iter(leaves(value)), ""))
        if form == TOOLS:
            chosen = ", ".join(f"{bar.tool} for {bar.category.replace('_', ' ')}" for bar in tools if bar.chosen)
            title = f"Prefers {chosen}" if chosen else "No preference yet"
        elif form == WORKFLOWS:
            title = ", ".join(f"{bar.pattern} {bar.share:.0%}" for bar in ways if bar.count > 0) or "Nothing counted yet"
        unlike = unlike_tools(value) if form == TOOLS else unlike_workflows(value)
        samples = sum(max(0, number) for number in [*(bar.count for bar in tools), *(bar.count for bar in ways)])
        odd = no_object(value, "file of preferences")
        if isinstance(value, dict) and form == FOREIGN:
            odd = (Oddity("foreign_shape", Severity.INFO, "Not in OrchestKit's form: it counts neither tools nor ways of working"),)
        if unlike:
            message = f"{len(unlike)} of its conclusions {'is' if len(unlike) == 1 else 'are'} not what its own counts give"
            odd = (*odd, Oddity("figure_differs", Severity.INFO, message, {"of": [shown(name) for name in unlike[:20]]}))
        names = [
            *mapping(mapping(value).get("usage")),
            *(bar.tool for bar in tool_bars(value)),
            *(bar.pattern for bar in workflow_bars(value)),
        ]
        values = (form, storable.title(title), min(samples, (1 << 31) - 1), *storable.moment(mapping(value).get("updated_at")))
        return Judged(values, "", search_text(*(names or leaves(value))), odd)


def preference_detail(raw: bytes) -> PreferenceDetail:
    """Take a file of preferences apart, given its bytes; nothing is raised."""
    value = parse_raw(raw).value
    file = mapping(value)
    form = form_of(value)
    known = {TOOLS: ("usage", "preferences", "updated_at"), FOREIGN: ("updated_at",)}.get(
        form, ("pattern_counts", "pattern_success_rates", "total_sessions", "preferences", "updated_at")
    )
    return PreferenceDetail(
        form=form,
        tools=tool_bars(value) if form == TOOLS else (),
        workflows=workflow_bars(value) if form == WORKFLOWS else (),
        stops=whole_number(file.get("total_sessions")),
        updated=storable.text(file.get("updated_at")),
        unlike=unlike_tools(value) if form == TOOLS else unlike_workflows(value),
        other=fields(file, known),
    )


def _spec(path: str, anchor: str = "") -> FileSpec:
    return FileSpec(
        path=path,
        record_type="preference_file",
        append_only=False,
        columns=columns.PREFERENCE_FILE,
        reader=PreferenceReader,
        whole=True,
        anchor=anchor,
    )


SPECS: Final = (_spec(TOOLS_PATH), _spec(WORKFLOWS_PATH), _spec(FEEDBACK_PATH, "project"))
