"""Facts of single records as pages list them: each a label and a value that is fit to be shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from stores import display, markup
from stores.addresses import list_url, search_url
from stores.formats.orchestkit import DecisionDetail, ProblemDetail, QueueDetail
from stores.memory_words import LABEL_LENGTH, label_of, plain, short, spaced, value_of
from stores.models import Decision, MirroredRecord, Problem
from stores.selectors.record_detail import RecordPage

VALUE_LENGTH = 2_000


class Fact(TypedDict, total=False):
    """One row of a list of facts."""

    label: str
    value: SafeString | str
    url: str
    mono: bool
    state: str


def told(detail: DecisionDetail) -> list[Fact]:
    """What a decision says besides its headline; a part that it does not have is left out."""
    parts: list[tuple[str, Sequence[str]]] = [
        ("Why", [detail.why] if detail.why else []),
        ("Resolution", [detail.resolution] if detail.resolution else []),
        ("Lost to it", detail.alternatives),
        ("Constraints", detail.constraints),
        ("Trade-offs", detail.tradeoffs),
    ]
    facts: list[Fact] = [{"label": label, "value": _joined(texts)} for label, texts in parts if texts]
    facts += [
        {"label": "Relation", "value": _joined([f"{relation.start} {relation.type} {relation.end}"])} for relation in detail.relations[:50]
    ]
    return facts


def others(fields: Iterable[tuple[str, str]]) -> list[Fact]:
    """Fields that the format does not name, as they are."""
    return [
        {"label": plain(name)[:LABEL_LENGTH] or "(no name)", "value": short(value, VALUE_LENGTH), "mono": True}
        for name, value in list(fields)[:100]
    ]


def on_disk(page: RecordPage) -> list[Fact]:
    """Where the record stands in its store."""
    record = page.record
    facts: list[Fact] = [
        {
            "label": "Place",
            "value": markup.memory_text(record.file_path if page.is_file else f"{record.file_path}:{record.line}"),
            "url": page.raw_url,
            "mono": True,
        },
        {"label": "Bytes", "value": f"{record.offset:,} – {page.last_byte:,}, {display.size(record.length)}"},
        {"label": "sha256", "value": markup.fingerprint(bytes(record.sha256).hex())},
        {"label": "First seen", "value": markup.clock(record.first_seen_at)},
    ]
    if record.gone_at is not None:
        facts.append(
            {
                "label": "Gone",
                "value": format_html("{}, {}", markup.clock(record.gone_at), record.gone_reason or "not known why"),
                "state": "muted",
            }
        )
    return facts


def origin(record: Decision, detail: DecisionDetail) -> list[Fact]:
    """Who said a decision, where, and how sure its writer claims to be."""
    named = dict(detail.identity) | dict(detail.metadata)
    facts: list[Fact] = [
        {
            "label": "Said by",
            "value": value_of(record.said_by),
            "url": list_url("decision_list", said_by=record.said_by),
        },
        {"label": "Machine", "value": value_of(record.machine)},
        {"label": "Session", "value": value_of(record.session), "mono": True, "url": search_url(record.session)},
        {"label": "Project", "value": value_of(record.project)},
        {"label": "Source", "value": value_of(spaced(record.source))},
        {"label": "When", "value": moment(record)},
        {"label": "Confidence", "value": "not given" if record.confidence is None else f"{record.confidence:.0%}, claimed"},
        {"label": "Scope", "value": value_of(record.scope)},
    ]
    if record.importance:
        facts.append({"label": "Importance", "value": value_of(record.importance)})
    for name in ("anonymous_id", "team_id", "is_generalizable"):
        if named.get(name):
            facts.append({"label": label_of(name), "value": value_of(named[name]), "mono": name == "anonymous_id"})
    return facts


def problem_facts(record: Problem, detail: ProblemDetail) -> list[Fact]:
    """What is known of a problem."""
    facts: list[Fact] = [
        {"label": "Status", "value": value_of(record.status), "state": record.status if record.status in ("open", "solved") else ""},
        {"label": "Since", "value": format_html("{}, {}", moment(record), markup.ago(record.at_ms)) if record.at_ms else display.NOT_KNOWN},
        {
            "label": "Project",
            "value": value_of(record.project),
            "url": list_url("problem_list", project=record.project),
        },
        {"label": "Session", "value": value_of(record.session), "mono": True, "url": search_url(record.session)},
        {"label": "Confidence", "value": "not given" if record.confidence is None else f"{record.confidence:.0%}, claimed"},
    ]
    if record.solved_at_ms:
        facts.append({"label": "Solved", "value": markup.clock(record.solved_at_ms)})
    return facts


def solution(detail: ProblemDetail) -> list[Fact]:
    """What is written of a problem's solution."""
    return [{"label": label_of(name), "value": short(value, VALUE_LENGTH)} for name, value in detail.solution[:50]]


def queue_facts(record: MirroredRecord, detail: QueueDetail) -> list[Fact]:
    """What a queue operation asks for and since when it waits."""
    return [
        {"label": "Operation", "value": value_of(detail.operation), "mono": True},
        {"label": "Would write", "value": value_of(detail.would_write) if detail.would_write else "nothing"},
        {
            "label": "Waits since",
            "value": format_html("{}, {}", moment(record), markup.ago(record.at_ms)) if record.at_ms else display.NOT_KNOWN,
        },
    ]


def moment(record: MirroredRecord) -> SafeString | str:
    """When a record was written by its own word."""
    if record.at_state == "missing":
        return "not given"
    if record.at_state == "odd":
        return "written in a form that is no time"
    stamp = markup.clock(record.at_ms)
    return format_html('{} <span class="least">no zone given</span>', stamp) if record.at_state == "naive" else stamp


def _joined(texts: Sequence[str]) -> SafeString:
    return format_html_join(" · ", "{}", ((short(text, 2 * VALUE_LENGTH),) for text in texts[:50]))
