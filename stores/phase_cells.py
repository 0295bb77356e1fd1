"""Cells, states and tails of the lists of phase-memory records (stores/tables.py makes the rest)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from stores import display
from stores.formats.phase_memory.vocabulary import DURABLE
from stores.formats.secrets import find_secrets
from stores.memory_words import id_text, spaced, value_of
from stores.models import Activation, AuditRecord, Edge, Event, MemoryPath, MirroredRecord, Node

ATTRS: dict[str, dict[str, str]] = {
    "kind": {"class": "short"},
    "phase": {"class": "short"},
    "state": {"class": "short"},
    "decision": {"class": "short"},
    "review": {"class": "short"},
    "source": {"class": "short mono", "data-word": "from"},
    "target": {"class": "short mono", "data-word": "to"},
    "path_id": {"class": "short mono quiet"},
    "parent_path_id": {"class": "short mono quiet", "data-word": "off"},
    "merge_target": {"class": "short mono quiet", "data-word": "into"},
    "summary_id": {"class": "short mono quiet"},
    "subject_id": {"class": "short mono quiet", "data-word": "about"},
    "schema_version": {"class": "short mono quiet"},
    **{
        name: {"class": "num quiet", "data-word": word}
        for name, word in (
            ("strength", "strength"),
            ("weight", "weight"),
            ("activation_count", "activated"),
            ("event_count", "events"),
            ("node_count", "chosen"),
            ("omitted_count", "passed over"),
            ("used_items", "items used"),
            ("used_tokens", "tokens used"),
            ("update_count", "changed"),
            ("sequence", "no."),
        )
    },
}
STATES = {
    "active": "current",
    "stale": "stale",
    "superseded": "superseded",
    "compacted": "superseded",
    "archived": "muted",
    "delete_requested": "late",
    "merged": "applied",
    "abandoned": "muted",
}
"""State of a node, an edge or a path -> the shape that stands for it."""
DECISIONS = {
    "applied": "applied",
    "approved": "approved",
    "rejected": "rejected",
    "denied": "rejected",
    "skipped": "note",
    "failed": "failed",
    "acknowledged": "note",
}
"""Decision of an audit record -> the shape that stands for it."""
REVIEWS = {"reviewed": "approved", "never": "late"}


def state_of_record(record: MirroredRecord) -> tuple[str, str]:
    """Give the state whose shape stands before a live record, and the word for it where no cell says it; "" for no opinion."""
    if isinstance(record, Node | Edge | Activation | MemoryPath) and record.unreadable_since is not None:
        return "unavailable", ""
    if isinstance(record, Node | Edge | MemoryPath):
        return STATES.get(record.state, "unmeasured"), ""
    if isinstance(record, AuditRecord):
        return DECISIONS.get(record.decision, "superseded"), ""
    if isinstance(record, Event):
        return ("late", "") if record.standing else ("current", "counts")
    return "", ""


def tail_of_record(record: MirroredRecord) -> tuple[str, str]:
    """Give the words behind the title of a live record, and the state that colours them; "" for none."""
    if getattr(record, "unreadable_since", None) is not None:
        return "cannot be read any more", "failing"
    if getattr(record, "is_duplicate", False):
        return "another file counts in its place", "late"
    if isinstance(record, Event) and record.standing:
        return record.standing, "late"
    return "", ""


def lifecycle_word(state: str) -> SafeString:
    """Give the state of a node, an edge or a path as a word in its colour."""
    return format_html('<span class="state-word" data-state="{}">{}</span>', STATES.get(state, "unmeasured"), value_of(spaced(state)))


def phase_word(phase: str, *, assumed: bool = False) -> SafeString:
    """Give a phase; durable ones stand out, one that the record does not name is said to be assumed."""
    if assumed:
        return format_html('{} <span class="least">assumed</span>', value_of(phase))
    return format_html("<b>{}</b>", value_of(phase)) if phase in DURABLE else value_of(phase)


def review_word(review: str) -> SafeString:
    """Say whether a durable node was ever reviewed."""
    if not review:
        return format_html('<span class="least">{}</span>', "not durable")
    return format_html('<span class="state-word" data-state="{}">{}</span>', REVIEWS.get(review, "note"), review)


def _state(record: Any, cells: Any) -> SafeString:
    return lifecycle_word(record.state)


def _phase(record: Node, cells: Any) -> SafeString:
    return phase_word(record.phase, assumed=record.phase_assumed)


def _review(record: Node, cells: Any) -> SafeString:
    return review_word(record.review)


def _decision(record: AuditRecord, cells: Any) -> SafeString:
    if not record.decision.strip():
        return format_html('<span class="least">{}</span>', "not given")
    return format_html(
        '<span class="state-word" data-state="{}">{}</span>', DECISIONS.get(record.decision, "note"), value_of(record.decision)
    )


def _id(record: Any, cells: Any, column: str) -> SafeString:
    return id_text(getattr(record, column))


def _path(record: Any, cells: Any) -> SafeString:
    """Give the path of a record as a link to the same list, of that path only."""
    if not record.path_id.strip() or find_secrets(record.path_id):
        return id_text(record.path_id)
    query = urlencode({"store": cells.stores[record.store_id].slug, "path_id": record.path_id})
    return format_html('<a class="quiet" href="{}?{}">{}</a>', reverse(f"{cells.spec.name}_list"), query, id_text(record.path_id))


def _share(record: Any, cells: Any, column: str) -> SafeString | str:
    value = getattr(record, column)
    return format_html('<span class="least">{}</span>', "not given") if value is None else f"{value:.2f}"


def _measure(record: Any, cells: Any, column: str) -> SafeString | str:
    """Give a quantity that a record may not state."""
    value = getattr(record, column)
    if value is None:
        return format_html('<span class="least">{}</span>', "not given")
    return display.number(value) if value else format_html('<span class="zero">{}</span>', "0")


def _tokens(record: Activation, cells: Any) -> SafeString | str:
    if record.used_tokens is None or record.max_tokens is None:
        return _measure(record, cells, "used_tokens")
    words = f"{display.number(record.used_tokens)} of {display.number(record.max_tokens)}"
    if record.used_tokens <= record.max_tokens:
        return words
    return format_html('<span class="state-word" data-state="late">{}</span>', words)


MAKERS: dict[str, Callable[[Any, Any], object]] = {
    "state": _state,
    "phase": _phase,
    "review": _review,
    "decision": _decision,
    "path_id": _path,
    "used_tokens": _tokens,
    **{
        name: partial(_id, column=name)
        for name in ("source", "target", "parent_path_id", "merge_target", "summary_id", "subject_id", "review_id", "schema_version")
    },
    **{name: partial(_share, column=name) for name in ("strength", "weight")},
    **{
        name: partial(_measure, column=name)
        for name in ("activation_count", "event_count", "node_count", "omitted_count", "used_items", "update_count", "sequence")
    },
}
"""Column -> what makes its cell."""
