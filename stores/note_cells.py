"""What people noted beside records, as cells of lists (stores/tables.py makes the rest) and as facts of a page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from stores import display, markup, memory_words
from stores.models import MirroredRecord, Problem, RecordNote
from stores.record_facts import Fact
from stores.selectors.noted import OVERDUE, SOON, Noted, is_open, today_utc
from stores.shapes import state_of

ATTRS: dict[str, dict[str, str]] = {
    "owner": {"class": "short", "data-word": "owner"},
    "due": {"class": "num", "data-word": "due"},
    "standing": {"class": "short"},
    "tags": {"class": "short"},
}
BAR_WIDTH = 40
NAME_LENGTH = 24
TAGS_SHOWN = 3


def end_of(day: date | None) -> datetime | None:
    """Give the moment at which a day (UTC) ends."""
    return None if day is None else datetime.combine(day + timedelta(days=1), time.min, tzinfo=UTC)


def meter(since: datetime, full_at: datetime, now: datetime) -> SafeString:
    """Give the bar that is full when a time is over."""
    whole = (full_at - since).total_seconds()
    share = (now - since).total_seconds() / whole if whole > 0 else 2.0
    return format_html(
        '<svg class="meter" viewBox="0 0 {} 6" aria-hidden="true"><rect class="{}" width="{}" height="6"/>'
        '<rect class="meter-box" x="0.5" y="0.5" width="{}" height="5"/></svg>',
        BAR_WIDTH,
        "meter-late" if share > 1 else "meter-used",
        f"{max(0.0, min(share, 1.0)) * BAR_WIDTH:.1f}",
        BAR_WIDTH - 1,
    )


def due_words(due_on: date, today: date) -> str:
    """Give how far off a day is: "in 3 d", "today", "2 d over"."""
    days = (due_on - today).days
    if days == 0:
        return "today"
    return f"in {display.number(days)} d" if days > 0 else f"{display.number(-days)} d over"


def due_told(record: MirroredRecord, noted: Noted) -> SafeString:
    """Give the day by which a problem is to be seen to, coloured where it is near or over and the problem open."""
    if noted.due_on is None:
        return _NOTHING
    today = today_utc()
    words = due_words(noted.due_on, today) if is_open(record) else noted.due_on.isoformat()
    state = {OVERDUE: "late", SOON: "note"}.get(noted.due(today), "") if is_open(record) else ""
    day = noted.due_on.isoformat()
    if state:
        return format_html(
            '<span class="state-word" data-state="{}"><time datetime="{}" title="{}">{}</time></span>', state, day, day, words
        )
    return format_html('<time datetime="{}" title="{}">{}</time>', day, day, words)


def tag_list(tags: tuple[str, ...], shown: int) -> SafeString:
    """Give tags, each leading to the decisions that have it; one that holds a secret leads nowhere, as it would stand in an address."""
    named = format_html_join(" ", "{}", ((_tag(tag),) for tag in tags[:shown]))
    return format_html('{} <span class="least">and {} more</span>', named, len(tags) - shown) if len(tags) > shown else named


def _tag(tag: str) -> SafeString:
    words = memory_words.short(tag, NAME_LENGTH)
    if memory_words.plain(tag) != tag:
        return format_html('<span class="tag">{}</span>', words)
    return format_html('<a class="tag" href="{}">{}</a>', f"{reverse('decision_list')}?{urlencode({'tag': tag})}", words)


def _owner(record: MirroredRecord, noted: Noted) -> SafeString:
    return memory_words.short(noted.owner_label, NAME_LENGTH) if noted.owner else _NOTHING


def _standing(record: MirroredRecord, noted: Noted) -> SafeString:
    if noted.standing == "current":
        return format_html('<span class="quiet">{}</span>', "current")
    word = format_html('<span class="state-word" data-state="{}">{}</span>', state_of(noted.standing), noted.standing)
    if noted.standing != "superseded" or noted.successor_id is None:
        return word
    return format_html(
        '<a href="{}" title="{}">{}</a>', reverse("decision_detail", args=[noted.successor_id]), memory_words.plain(noted.successor), word
    )


def _tags(record: MirroredRecord, noted: Noted) -> SafeString:
    return tag_list(noted.tags, TAGS_SHOWN) if noted.tags else _NOTHING


_NOTHING = format_html('<span class="zero">{}</span>', "–")
MAKERS: dict[str, Callable[[Any, Noted], object]] = {"owner": _owner, "due": due_told, "standing": _standing, "tags": _tags}


def facts_of(record: MirroredRecord, note: RecordNote | None) -> list[Fact]:
    """Give what is noted beside a problem or a decision as facts of its page; none where nothing ever was."""
    if note is None or not note.revision:
        return []
    noted = Noted.of(note)
    facts: list[Fact] = []
    if isinstance(record, Problem):
        facts.append({"label": "Owner", "value": memory_words.value_of(noted.owner_label) if noted.owner else "nobody"})
        facts.append({"label": "Due", "value": due_told(record, noted) if noted.due_on else "no day set"})
    else:
        facts.append({"label": "Standing", "value": _standing(record, noted)})
        facts.append({"label": "Tags", "value": tag_list(noted.tags, len(noted.tags)) if noted.tags else "none"})
    if noted.note:
        facts.append({"label": "Note", "value": format_html('<span class="note-text">{}</span>', markup.memory_text(noted.note))})
    by = note.changed_by.label if note.changed_by else "an account that is gone"
    facts.append({"label": "Noted", "value": format_html("{} by {}", markup.ago(note.changed_at), memory_words.value_of(by))})
    return facts
