"""Reads `completed-flows.jsonl` and `flows/*.json`: how sessions went about their work, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stores.formats import storable
from stores.formats.base import FileSpec, Severity
from stores.formats.orchestkit import columns
from stores.formats.orchestkit.judged import Judged, JudgedLineReader, Oddity, WholeJsonReader, bare_title, no_object
from stores.formats.orchestkit.values import fields, items, leaves, mapping, parse_raw, whole_number
from stores.formats.search_text import search_text

PATH: Final = "completed-flows.jsonl"
FILES: Final = "flows/*.json"
LAST: Final = "last"
EARLIER: Final = "earlier"
STEPS_KEPT: Final = 100
"""Of a longer session, a file under `flows/` holds only the last steps."""
_KNOWN: Final = ("session_id", "actions", "started_at", "last_action_at", "stats", "inferred_pattern")
_STEP: Final = ("tool", "file", "timestamp", "summary", "result", "exit_code", "category")


@dataclass(frozen=True, slots=True)
class Step:
    """One action of a session."""

    tool: str = ""
    file: str = ""
    summary: str = ""
    result: str = ""
    """success, failure or partial."""
    category: str = ""
    exit_code: str = ""
    timestamp: str = ""
    at_ms: int = 0
    """0 when not known."""
    other: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class FlowDetail:
    """Everything that one flow says."""

    session: str = ""
    pattern: str = ""
    started: str = ""
    last_action: str = ""
    steps: tuple[Step, ...] = ()
    stats: tuple[tuple[str, str], ...] = ()
    success_rate: float | None = None
    """As the record says it."""
    other: tuple[tuple[str, str], ...] = ()

    @property
    def left_out(self) -> int:
        """Steps that the figures count and the record no longer holds."""
        total = next((text for key, text in self.stats if key == "total_actions"), "")
        return max(0, int(total) - len(self.steps)) if total.isascii() and total.isdigit() and len(total) < 10 else 0


def judge(value: object) -> Judged:
    """Say what one flow holds; that a later line of the same session makes it an earlier one, only the whole file shows."""
    flow = mapping(value)
    stats = mapping(flow.get("stats"))
    actions = [mapping(action) for action in items(flow.get("actions"))]
    is_flow = isinstance(flow.get("actions"), list) and isinstance(flow.get("session_id"), str)
    started_ms, started_state = storable.moment(flow.get("started_at"))
    summaries = [storable.title(action.get("summary") or action.get("tool")) for action in actions[:STEPS_KEPT]]
    values = (
        storable.name(flow.get("session_id")),
        storable.name(flow.get("inferred_pattern")),
        LAST,
        storable.title(", ".join(filter(None, summaries))) if flow else bare_title(value),
        whole_number(stats.get("total_actions", len(actions))),
        whole_number(stats.get("reads")),
        whole_number(stats.get("writes")),
        whole_number(stats.get("tests")),
        whole_number(stats.get("builds")),
        whole_number(stats.get("agent_spawns")),
        storable.number(stats.get("success_rate")),
        started_ms if started_state in ("ok", "naive") else None,
        *storable.moment(flow.get("last_action_at")),
    )
    odd = no_object(value, "flow")
    if isinstance(value, dict) and not is_flow:
        odd = (Oddity("foreign_shape", Severity.INFO, "Not in OrchestKit's form: it has no session or no actions"),)
    texts = [text for action in actions for key in ("summary", "file", "tool") for text in leaves(action.get(key))]
    known = (*leaves(flow.get("session_id")), *leaves(flow.get("inferred_pattern")))
    search = search_text(*known, *texts) if is_flow or not flow else search_text(*leaves(flow))
    return Judged(values, storable.name(flow.get("session_id")), search, odd)


class FlowReader(JudgedLineReader):
    """Reads the archive of flows line by line."""

    lost = "what the session did is missing from the archive"
    subject_type = "flow"

    def judge(self, value: object) -> Judged:
        """Read one flow."""
        return judge(value)


class FlowFileReader(WholeJsonReader):
    """Reads the flow of one session."""

    lost = "OrchestKit begins the session's flow anew"
    subject_type = "flow"

    def judge(self, value: object) -> Judged:
        """Read the flow."""
        return judge(value)


def flow_detail(raw: bytes) -> FlowDetail:
    """Take one flow apart, given its line's or its file's bytes; nothing is raised."""
    flow = mapping(parse_raw(raw).value)
    stats = mapping(flow.get("stats"))
    steps = items(flow.get("actions"))
    return FlowDetail(
        session=storable.text(flow.get("session_id")),
        pattern=storable.text(flow.get("inferred_pattern")),
        started=storable.text(flow.get("started_at")),
        last_action=storable.text(flow.get("last_action_at")),
        steps=tuple(map(_step, steps)),
        stats=fields(stats),
        success_rate=storable.number(stats.get("success_rate")),
        other=fields(flow, [key for key in _KNOWN if key not in ("actions", "stats") or isinstance(flow.get(key), list | dict)]),
    )


def _step(value: object) -> Step:
    if not isinstance(value, dict):
        return Step(summary=storable.text(value))
    text = {key: storable.text(value.get(key)) for key in _STEP}
    at_ms, at_state = storable.moment(value.get("timestamp"))
    return Step(
        tool=text["tool"],
        file=text["file"],
        summary=text["summary"],
        result=text["result"],
        category=text["category"],
        exit_code=text["exit_code"],
        timestamp=text["timestamp"],
        at_ms=at_ms if at_state in ("ok", "naive") else 0,
        other=fields(value, _STEP),
    )


SPECS: Final = (
    FileSpec(path=PATH, record_type="flow", append_only=True, columns=columns.FLOW, reader=FlowReader),
    FileSpec(path=FILES, record_type="flow", append_only=False, columns=columns.FLOW, reader=FlowFileReader, whole=True),
)
